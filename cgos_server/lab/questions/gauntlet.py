"""Games until a newcomer is known to 50 Elo: by a gauntlet, and by the ladder's matchmaker and ratings.

The versions of a pool are known to 20 Elo. A gauntlet plays against some of them until half of its 95 % interval is at
most 50 Elo; on the ladder the newcomer plays whomever the matchmaker gives it until half of the ladder's interval is.
Besides, whether a gauntlet's intervals hold the strength where opponents are hardly known, or the first move is worth
much. Must not know: how either finds its opponents, how it rates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import hypot, inf
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.random import Generator

from cgos_protocol.games.base import Color
from cgos_protocol.ids import GameId, QuestionId, VersionId
from cgos_server.core.questions.asked import Gauntlet, Opponent
from cgos_server.core.questions.course import Wanted, ended, missing_games, next_pair
from cgos_server.core.questions.place import Place, place
from cgos_server.core.questions.tally import Tally
from cgos_server.core.rating.base import Z95
from cgos_server.core.rating.bayes.likelihood import draw_parameter, log_likelihood
from cgos_server.core.rating.together import JointRatings
from cgos_server.lab.questions.asked import Asked, Game, Ints, grouped, share_of
from cgos_server.lab.questions.ladders import MATCHMAKER, SYSTEM
from cgos_server.lab.ratings.matchmakers import Rounds
from cgos_server.lab.ratings.newcomers import KNOWN_SD, LOGIT, often
from cgos_server.lab.ratings.pools import POOLS, Colors, Floats, anchors, generator
from cgos_server.lab.ratings.runs import Driven
from cgos_server.lab.report import Chart, Check, Column, Mean, Report, Table, close, line_of, mean_of

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

CASES: Final[Mapping[str, tuple[float, float, float, float]]] = MappingProxyType(
    {
        "four known to 40": (40.0, 0.0, 0.0, 0.0),
        "four known to 80": (80.0, 0.0, 0.0, 0.0),
        "a common error of 40": (0.0, 40.0, 0.0, 0.0),
        "first move worth 200, 200 above": (0.0, 0.0, 200.0, 200.0),
        "first move worth 200, equals": (0.0, 0.0, 200.0, 0.0),
    }
)
"""Four opponents -> how well each is known by itself and all are together, standard deviations; what the first move is
worth; how far the newcomer is above them. Elo. Games are played until they alone would leave the interval asked for."""

FIELD_SD: Final = 50.0
"""Elo, of the ratings of those four."""

FIRST_MOVE_SD: Final = 10.0
"""Elo: how well the worth of the first move is known."""

NEAR_COVERAGE: Final = 0.02
"""So far the share of intervals that hold the strength may be from 95 %."""

WIDEST: Final = 1.1
"""So many times as wide as the posterior's own interval one is at most, on average."""

_DRAWS: Final = 500
"""Of all that is not known besides the newcomer's strength, for the posterior's own interval."""

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
    :ivar own: half of the posterior's own interval
    """

    games: int
    error: float
    half_width: float
    own: float = inf


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
        for way in (LADDER, *FIELDS, *CASES)
        for replicate in range(asked.ladders)
    ]


def answer(task: Task) -> list[Known]:
    """Each newcomer until it is known. The pool, and the first newcomer, are the same in all ways but CASES."""
    if task.way in CASES:
        rng = generator(task.seed, STUDY, task.way, task.replicate)
        return [_play_case(task, rng) for _ in range(task.newcomers)]
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
    return _play_gauntlet(pool, strength, chosen, JointRatings(pool.known[chosen], KNOWN_SD**2 * np.eye(opponents)))


def _play_case(task: Task, rng: Generator) -> Known:
    apart, common, worth, ahead = CASES[task.way]
    ratings = JointRatings(rng.normal(0.0, FIELD_SD, 4), apart**2 * np.eye(4) + common**2, worth, FIRST_MOVE_SD)
    pool = _Pool(
        truth=rng.multivariate_normal(ratings.means, ratings.covariance),
        known=ratings.means,
        within=hypot(task.within, Z95 * apart / 2.0, Z95 * common),
        game=replace(task.game, first_move=rng.normal(worth, FIRST_MOVE_SD)),
        rng=rng,
    )
    return _play_gauntlet(pool, ahead, np.arange(4), ratings)


def _play_gauntlet(pool: _Pool, strength: float, chosen: Ints, ratings: JointRatings) -> Known:
    asked = Gauntlet(
        version=VersionId(len(pool.known)),
        most_games=MOST,
        field=tuple(Opponent(version=VersionId(at), rating=float(pool.known[at])) for at in chosen.tolist()),
        within=pool.within,
        draws=pool.game.draws,
    )
    able, tally = frozenset(opponent.version for opponent in asked.field), Tally()
    while ended(asked, tally, openings=0, now_ms=0, ratings=ratings) is None:
        first = next_pair(asked, tally, QuestionId(1), openings=(), able=able)
        assert first is not None, "the budget is not used up, and all are able"
        points = pool.game.on_one_opening(pool.rng, strength - float(pool.truth[first.opponent]), 2)
        _play(tally, first, points[first.color])
        for second in missing_games(tally):
            _play(tally, second, points[second.color])
    stands = place(asked, tally, ratings)
    own = _exact_half_width(asked, tally, stands=stands, ratings=ratings, rng=pool.rng)
    return Known(tally.begun, stands.elo - strength, stands.half_width, own)


def _exact_half_width(asked: Gauntlet, tally: Tally, *, stands: Place, ratings: JointRatings, rng: Generator) -> float:
    """Of the posterior itself: over strengths of the newcomer, averaged over draws of all else that is not known."""
    strengths = stands.elo + stands.half_width * np.linspace(-3.0, 3.0, 121)
    opponents = rng.multivariate_normal(ratings.means, ratings.covariance, _DRAWS)
    first_moves = rng.normal(ratings.first_move, ratings.first_move_sd, _DRAWS)
    logs = np.zeros((_DRAWS, len(strengths)))
    for opponent, theirs in zip(asked.field, opponents.T, strict=True):
        for color, ours in zip(Color, (first_moves - theirs, -first_moves - theirs), strict=True):
            wins, draws, losses = tally.score(opponent.version, color)
            ahead, nu = strengths + ours[:, None], draw_parameter(asked.draws)
            logs += log_likelihood(ahead, wins, draws=draws, losses=losses, draw=nu).value
    shares = np.cumsum(np.exp(logs - logs.max()).sum(axis=0))
    lower, upper = np.interp([0.025 * shares[-1], 0.975 * shares[-1]], shares, strengths)
    return float(upper - lower) / 2.0


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
    all_ways = {
        way: [known for each in those.values() for known in each]
        for way, those in grouped(answers, lambda task: task.way).items()
    }
    by_case = {way: all_ways.pop(way) for way in CASES if way in all_ways}
    return Report(
        tables=(
            _table(STUDY, f"Newcomers until half of the 95 % interval is {within:g} Elo", all_ways),
            _table("coverage", f"Gauntlets against four until games alone would leave {within:g} Elo", by_case),
        ),
        checks=tuple(check for way, those in (all_ways | by_case).items() for check in _checks(way, those)),
        pictures=(_chart(all_ways, within),),
        notes=(
            f"Against equals of known strength, who never draw, half of the 95 % interval is {within:g} Elo after "
            f"{_least(within):.0f} games.",
            f"Opponents of the first table are known to {KNOWN_SD:g} Elo. All intervals count in what is not known.",
        ),
    )


def _inside(those: Sequence[Known]) -> Mean:
    return share_of(np.array([abs(known.error) <= known.half_width for known in those]))


def _checks(way: str, those: Sequence[Known]) -> list[Check]:
    inside = close(f"{way}: 95 % intervals hold the strength", _inside(those), 0.95, NEAR_COVERAGE, errors=2.0)
    if way == LADDER:
        return [inside]
    wider = _relative_width(those)
    sentence = f"{way}: intervals are at most {WIDEST:g} times as wide as the posterior's own"
    return [inside, Check(claim=sentence, holds=wider.mean <= WIDEST, measured=wider, expected=WIDEST)]


def _relative_width(those: Sequence[Known]) -> Mean:
    return mean_of([known.half_width / known.own for known in those])


def _table(key: str, title: str, by_way: Mapping[str, Sequence[Known]]) -> Table:
    return Table(
        key=key,
        title=title,
        columns=(
            Column(name="against"),
            Column(name="newcomers"),
            Column(name="games", digits=0),
            Column(name="95 % take at most", digits=0),
            Column(name="RMSE (Elo)", digits=1),
            Column(name="mean error (Elo)", digits=1, signed=True),
            Column(name="intervals that hold the strength", digits=1, percent=True),
            Column(name="half of an interval (Elo)", digits=1),
            Column(name="times the posterior's own", digits=3),
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
                mean_of([known.half_width for known in those]),
                None if way == LADDER else _relative_width(those),
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
