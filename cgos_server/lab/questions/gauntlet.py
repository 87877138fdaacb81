"""Games until a newcomer is known to 50 Elo: by a gauntlet, and by the ladder's matchmaker and ratings.

The versions of a pool are known to 20 Elo. A gauntlet plays against some of them until half of its own 95 % interval
is at most 50 Elo; on the ladder the newcomer plays whomever the matchmaker gives it until half of the ladder's interval
is. Must not know: how either finds its opponents, how it rates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.random import Generator

from cgos_protocol.ids import GameId, QuestionId, VersionId
from cgos_server.core.questions.asked import Gauntlet, Opponent
from cgos_server.core.questions.course import Wanted, ended, missing_games, next_pair
from cgos_server.core.questions.place import place
from cgos_server.core.questions.tally import Tally
from cgos_server.core.rating.base import Z95
from cgos_server.lab.questions.asked import Asked, Game, grouped, share_of
from cgos_server.lab.questions.ladders import MATCHMAKER, SYSTEM
from cgos_server.lab.ratings.matchmakers import Rounds
from cgos_server.lab.ratings.newcomers import KNOWN_SD, LOGIT, often
from cgos_server.lab.ratings.pools import POOLS, Colors, Floats, anchors, generator
from cgos_server.lab.ratings.runs import Driven
from cgos_server.lab.report import Chart, Check, Column, Mean, Report, Table, line_of, mean_of

STUDY: Final = "gauntlet"

LADDER: Final = "ladder"

GUESS_SD: Final = 100.0
"""How well an owner knows where the newcomer will stand, Elo, where it chooses opponents nearby."""

FIELDS: Final[Mapping[str, tuple[int, bool]]] = MappingProxyType(
    {
        "4 nearby": (4, True),
        "8 nearby": (8, True),
        "16 nearby": (16, True),
        "8 of all ranks": (8, False),
        "16 of all ranks": (16, False),
    }
)
"""Word -> how many opponents, whether those nearest to the owner's guess; else evenly from the first to the last."""

PER_FIELD: Final = 8
"""So many more newcomers of each field than on the ladder, where each takes a hundred times as long."""

LEAST_INSIDE: Final = 0.92
"""So many intervals hold the strength at least; those of gauntlets leave out how well their opponents are known."""

MOST: Final = 20_000
"""Games of a newcomer, at most."""


class Task(Struct, frozen=True, kw_only=True):
    """Newcomers in one pool, one at a time.

    :ivar way: of FIELDS, or LADDER
    """

    study: str = STUDY
    way: str
    newcomers: int
    versions: int
    within: float
    game: Game
    seed: int
    replicate: int


class Known(NamedTuple):
    """A newcomer of whom enough is known.

    :ivar error: its rating minus its strength, Elo
    """

    games: int
    error: float
    half_width: float


def tasks(asked: Asked, seed: int) -> list[Task]:
    """All newcomers; the ladder comes first, as it takes longest."""
    return [
        Task(
            way=way,
            newcomers=1 if way == LADDER else PER_FIELD,
            versions=asked.versions,
            within=asked.within,
            game=asked.game,
            seed=seed,
            replicate=replicate,
        )
        for way in (LADDER, *FIELDS)
        for replicate in range(asked.ladders)
    ]


def answer(task: Task) -> list[Known]:
    """Each newcomer until it is known. The pool, and the first newcomer, are the same in all ways."""
    ((_, center, sd),) = POOLS["normal"].groups
    draw = generator(task.seed, STUDY, "truth", task.replicate)
    truth = draw.normal(center, sd, task.versions)
    known = truth + draw.normal(0.0, KNOWN_SD, task.versions)
    strengths = draw.normal(center, sd, task.newcomers).tolist()
    rng = generator(task.seed, STUDY, task.way, task.replicate)
    pool = _Pool(truth=truth, known=known, within=task.within, game=task.game, rng=rng)
    if task.way == LADDER:
        return [_on_the_ladder(pool, strength) for strength in strengths]
    return [_in_a_gauntlet(pool, strength, *FIELDS[task.way]) for strength in strengths]


class _Pool(NamedTuple):
    """Those who are there, as they are and as they are known; `within`: half of the interval that is wanted."""

    truth: Floats
    known: Floats
    within: float
    game: Game
    rng: Generator


def _in_a_gauntlet(pool: _Pool, strength: float, opponents: int, nearby: bool) -> Known:
    order = np.argsort(pool.known, kind="stable")
    opponents = min(opponents, len(order))
    if nearby:
        guess = strength + float(pool.rng.normal(0.0, GUESS_SD))
        chosen = np.argsort(np.abs(pool.known - guess), kind="stable")[:opponents]
    else:
        chosen = order[np.rint(np.linspace(0, len(order) - 1, opponents)).astype(np.int64)]
    asked = Gauntlet(
        version=VersionId(len(order)),
        most_games=MOST,
        field=tuple(Opponent(version=VersionId(at), rating=float(pool.known[at])) for at in chosen.tolist()),
        within=pool.within,
        draws=pool.game.draws,
    )
    able, tally = frozenset(opponent.version for opponent in asked.field), Tally()
    while ended(asked, tally, openings=0, now_ms=0) is None:
        first = next_pair(asked, tally, QuestionId(1), openings=(), able=able)
        assert first is not None, "the budget is not used up, and all are able"
        points = pool.game.on_one_opening(pool.rng, strength - float(pool.truth[first.opponent]), 2)
        _play(tally, first, points[0])
        for second in missing_games(tally):
            _play(tally, second, points[1])
    stands = place(asked, tally)
    return Known(tally.begun, stands.elo - strength, stands.half_width)


def _play(tally: Tally, wanted: Wanted, score2: int) -> None:
    """A game of the gauntlet; none repeats another one."""
    game = GameId(tally.begun + 1)
    tally.began(game, wanted.pair, wanted.opponent, opening=wanted.opening, color=wanted.color)
    tally.ended(game, score2, digest=game)


def _on_the_ladder(pool: _Pool, strength: float) -> Known:
    """All take part in rounds, but only the newcomer's games count: the others are known as they are."""
    driven, colors, new = Driven(SYSTEM), Colors(pool.rng), len(pool.truth)
    fixed = anchors(pool.truth)
    for number, value in enumerate(pool.known.tolist()):
        if number in fixed:
            driven.enter(value, KNOWN_SD)
        else:
            driven.enter_known(value, KNOWN_SD)
    driven.refit(cold=True)
    driven.enter()
    meetings, games = Rounds(MATCHMAKER, {}, pool.rng), 0
    while games < MOST:
        for pair in meetings.pairs(driven):
            first, second = colors.first(*pair)
            meetings.began(first, second)
            if new not in pair:
                continue
            sign, other = (1.0, second) if first == new else (-1.0, first)
            (score2,) = pool.game.on_one_opening(pool.rng, sign * (strength - float(pool.truth[other])), 1)
            driven.game(first, second, score2)
            games += 1
            if often(games):
                driven.refit(cold=False)
        mean, lower, upper = driven.rating(new)
        if games and upper - lower <= 2.0 * pool.within:
            break
    return Known(games, float(mean - strength), float(0.5 * (upper - lower)))


def report(answers: Mapping[Task, list[Known]]) -> Report:
    """Games and how true the ratings are, by how they came about; intervals are checked."""
    within = next(iter(answers)).within
    by_way = {
        way: [known for each in those.values() for known in each]
        for way, those in grouped(answers, lambda task: task.way).items()
    }
    return Report(
        tables=(_table(by_way, within),),
        checks=tuple(_check(way, those) for way, those in by_way.items()),
        pictures=(_chart(by_way, within),),
        notes=(
            f"Against equals of known strength, who never draw, half of the 95 % interval is {within:g} Elo after "
            f"{_least(within):.0f} games.",
            f"Opponents are known to {KNOWN_SD:g} Elo. The ladder's interval counts that in, a gauntlet's does not.",
        ),
    )


def _inside(those: Sequence[Known]) -> Mean:
    return share_of(np.array([abs(known.error) <= known.half_width for known in those]))


def _check(way: str, those: Sequence[Known]) -> Check:
    inside = _inside(those)
    allowed = 2.0 * (inside.error or 0.0)
    return Check(
        claim=f"{way}: 95 % intervals hold the strength in {LEAST_INSIDE:.0%} of cases or more",
        holds=inside.mean >= LEAST_INSIDE - allowed,
        measured=inside,
        expected=LEAST_INSIDE,
        allowed=allowed,
    )


def _table(by_way: Mapping[str, Sequence[Known]], within: float) -> Table:
    return Table(
        key="gauntlet",
        title=f"Newcomers until half of the 95 % interval is {within:g} Elo",
        columns=(
            Column(name="against"),
            Column(name="newcomers"),
            Column(name="games", digits=0),
            Column(name="95 % take at most", digits=0),
            Column(name="RMSE (Elo)", digits=1),
            Column(name="mean error (Elo)", digits=1, signed=True),
            Column(name="intervals that hold the strength", digits=1, percent=True),
        ),
        rows=tuple(
            (
                "whom the ladder's matchmaker gives" if way == LADDER else way,
                len(those),
                mean_of([float(known.games) for known in those]),
                float(np.quantile([known.games for known in those], 0.95)),
                _root([known.error for known in those]),
                mean_of([known.error for known in those]),
                _inside(those),
            )
            for way, those in by_way.items()
        ),
    )


def _root(errors: Sequence[float]) -> Mean:
    """Of the mean square, with its standard error."""
    square = mean_of([error**2 for error in errors])
    root = float(np.sqrt(square.mean))
    return Mean(root, None if square.error is None else square.error / (2.0 * root))


def _chart(by_way: Mapping[str, Sequence[Known]], within: float) -> Chart:
    x = range(len(by_way))
    games = [mean_of([float(known.games) for known in those]) for those in by_way.values()]
    return Chart(
        key="gauntlet",
        title=f"Games of a newcomer until half of the 95 % interval is {within:g} Elo",
        x_label="opponents",
        y_label="games",
        lines=(
            line_of("simulated", x, games, errors=2.0, points=True),
            line_of("against known equals", x, [Mean(_least(within))] * len(by_way), errors=2.0, dashed=True),
        ),
        names=tuple(by_way),
    )


def _least(within: float) -> float:
    """Games of a newcomer against equals of known strength, who never draw."""
    return float(Z95**2 / within**2 / (LOGIT**2 / 4.0))
