"""One simulated tournament: players with true strengths and published ratings, games by a model, and what the final
ranking is worth.

Everything follows from the plan and the tournament's seed. Must not know: how many are simulated, processes, any single
system.

After Sauer, Cseh & Lenzner (2022): strengths are uniform in a range, a published rating is the strength and normal
noise drawn once for the event, games are decided by the true strengths, systems see ratings only.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from cgos_protocol.errors import Code, Invalid
from cgos_server.tournaments.base import (
    BLACK_WINS,
    DRAWN,
    WHITE_WINS,
    Entrant,
    Event,
    Floats,
    Game,
    Ints,
    OptionValue,
    Round,
    System,
)
from cgos_server.tournaments.chance import Lots, ManyLots
from cgos_server.tournaments.event import begin, open_games
from cgos_server.tournaments.registry import system
from cgos_server.tournaments.simulation.milvang import chances_of, rating_sd
from cgos_server.tournaments.standings.quality import (
    colors,
    float_pairs,
    kendall,
    ndcg,
    spearman,
    strength_difference,
    unforeseen,
)
from cgos_server.tournaments.systems.by_rounds import ByRounds
from cgos_server.tournaments.tournament import lots

Model: TypeAlias = Literal["milvang", "elo"]
"""Milvang's, with draws and White's advantage, or Elo's logistic curve without either."""

Chances: TypeAlias = Callable[[Game], tuple[float, float]]
"""How likely White is to win a game, and not to lose it."""

Shape: TypeAlias = Literal["uniform", "normal", "exponential", "groups"]
"""How true strengths are distributed. All have the mean and the standard deviation of the uniform distribution from
:attr:`Plan.low` to :attr:`Plan.high`. Exponential: many weak players, few strong ones. Groups: half of them in each of
two normal ones."""

GROUP_MEAN, GROUP_SD = 0.96, 0.28
"""Of two groups: how far their means are from the middle, and their own standard deviation, in standard deviations of
all (0.96² + 0.28² = 1)."""

MOST_ROUNDS = 10_000
"""An event that goes on longer will not end."""

BETA = 2
"""Largest difference of colors that the strength difference is measured by, where the system has no such option."""

MOST_STRENGTH = 100_000.0
"""In Elo; sums of ratings stay exact."""

RATING_STEPS = 1024.0
"""So many ratings there can be in one Elo."""

STONE = 100.0
"""Elo that a handicap stone is worth: a grade, as in the European ratings (our choice)."""


class Plan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is simulated.

    :ivar system: word of the registry
    :ivar rounds: None: as many as the system takes, or until it is over by itself
    :ivar low: least true strength, in Elo, where strengths are uniform; see :data:`Shape`
    :ivar high: largest
    :ivar differences: the strength difference is measured too, which takes about as long as all the rest
    """

    system: str
    players: int
    rounds: int | None = None
    low: float = 1000.0
    high: float = 1800.0
    options: dict[str, OptionValue] = field(default_factory=dict)
    model: Model = "milvang"
    shape: Shape = "uniform"
    differences: bool = False


class Measures(Struct, frozen=True, kw_only=True):
    """What one tournament was worth; see :mod:`cgos_server.tournaments.standings.quality`.

    :ivar kendall: normalized tau of the final ranking, which equal places do not have: they go by rating, then by order
        of registration
    :ivar float_pairs: pairs of different scores, in all rounds
    :ivar color_difference: sum of all players' \\|whites - blacks\\| after a round, the mean over all rounds
    :ivar largest_color_difference: of one player after any round
    :ivar unforeseen: share of games that the weaker one won
    :ivar draws: share of games
    :ivar best_first: 1 where the strongest player is ranked first, else 0
    :ivar rounds: how many were played
    :ivar games: how many were played
    :ivar strength_difference: share of what was possible; None: not measured
    """

    kendall: float
    spearman: float
    ndcg: float
    float_pairs: float
    color_difference: float
    largest_color_difference: float
    unforeseen: float
    draws: float
    best_first: float
    rounds: float
    games: float
    strength_difference: float | None = None


class Simulated(Struct, frozen=True, kw_only=True):
    """A tournament that was simulated.

    :ivar strength: true, by id
    :ivar order: ids by the final ranking, best first
    """

    event: Event
    strength: dict[int, float]
    order: tuple[int, ...]
    measures: Measures


def seed_of(seed: int, index: int) -> int:
    """The seed of tournament number `index` of a series; the same players and ratings for every system."""
    return int(Lots(seed, 0).unit("tournament", index) * 2.0**53)


def check(plan: Plan) -> System:
    """The plan's system. Raises Refused where a tournament by that plan cannot be."""
    if plan.players < 2:
        raise Invalid(
            Code.SIMULATION, f"A tournament of {plan.players} has nothing to measure. Take 2 players or more."
        )
    for strength in (plan.low, plan.high):
        if not abs(strength) <= MOST_STRENGTH:
            raise Invalid(
                Code.SIMULATION,
                f"{strength:g} can be no strength in Elo. Stay between -{MOST_STRENGTH:g} and {MOST_STRENGTH:g}.",
            )
    if not plan.low <= plan.high:
        raise Invalid(
            Code.SIMULATION, f"Strengths from {plan.low:g} to {plan.high:g} are no range. Give the lower number first."
        )
    method = system(plan.system, plan.options)
    event = Event(system=plan.system, entrants=entrants_of(np.zeros(plan.players)), options=plan.options)
    if plan.rounds is None and isinstance(method, ByRounds) and method.length(event) is None:
        raise Invalid(Code.SIMULATION, f"{plan.system} takes any number of rounds. Say how many are to be played.")
    return method


def simulate(plan: Plan, seed: int, by: System | None = None) -> Simulated:
    """One whole tournament.

    :param seed: the event's; a simulation itself draws ``normal`` and ``angle`` for the ratings, ``strength`` and, for
        normal strengths, ``strength-angle`` before the first round (each by id), and in each round ``outcome`` (by
        White's and Black's id, and from the second game on the number of the game, where the same two have several with
        the same colors)
    :param by: who pairs and ranks in place of the plan's system; None: that one does
    :raises Refused: where the plan cannot be, or the system refuses to go on
    """
    own = check(plan)
    method = by or own
    strengths, ratings = (each[0] for each in drawn(plan, [seed]))
    event = Event(
        system=plan.system, entrants=entrants_of(ratings), options=plan.options, planned=plan.rounds, seed=seed
    )
    event = play(method, event, chances_by(plan.model, strengths))
    strength = dict(enumerate(strengths.tolist(), 1))
    order = final_order(method, event)
    return Simulated(event=event, strength=strength, order=order, measures=measures(plan, event, strength, order))


def play(method: System, event: Event, chances: Chances) -> Event:
    """The event played to its end; see :func:`simulate` for the lots.

    :raises Refused: where the system refuses to go on
    """
    while not method.is_over(event):
        for part in method.ready_games(event, lots(event)):
            event = begin(event, part)
        if not open_games(event):
            break  # there is nothing left that this system would pair
        if len(event.rounds) > MOST_ROUNDS:
            raise Invalid(
                Code.SIMULATION,
                f"{event.system} was not over after {MOST_ROUNDS} rounds. Say how many are to be played.",
            )
        event = replace(event, rounds=tuple(played(each, event.seed, chances) for each in event.rounds))
    return event


def chances_by(model: Model, strengths: Floats) -> Chances:
    """What decides the games of entrants 1, 2... with these strengths."""
    wins, holds = (each.tolist() for each in game_chances(model, strengths[:, None], strengths))

    def chances(game: Game) -> tuple[float, float]:
        white, black = game.white - 1, game.black - 1
        if game.handicap:
            helped = strengths[black] + STONE * game.handicap
            helped_wins, helped_holds = game_chances(model, strengths[white], helped)
            return float(helped_wins), float(helped_holds)
        return wins[white][black], holds[white][black]

    return chances


def played(each: Round, seed: int, chances: Chances) -> Round:
    """The round with results of all its games, by the lots of the event with this seed."""
    if each.is_complete:
        return each
    rng = Lots(seed, each.number)
    before: Counter[tuple[int, int]] = Counter()
    games = []
    for game in each.games:
        again = before[(game.white, game.black)]
        before[(game.white, game.black)] += 1
        if game.result is None:
            keys = (game.white, game.black, again) if again else (game.white, game.black)
            number = rng.unit("outcome", *keys)
            wins, holds = chances(game)
            game = replace(game, result=WHITE_WINS if number < wins else DRAWN if number < holds else BLACK_WINS)
        games.append(game)
    return replace(each, games=tuple(games))


def drawn(plan: Plan, seeds: Sequence[int]) -> tuple[Floats, Floats]:
    """True strengths and published ratings, each (b, n), of the tournaments with these seeds."""
    ids = np.arange(1, plan.players + 1)
    before = ManyLots(seeds, 0)
    strengths = _strengths(plan, before, ids)
    noise = _normal(before.units("normal", ids), before.units("angle", ids))
    # So many bits only, so that sums of ratings are exact in any order.
    ratings = np.rint((strengths + rating_sd(strengths) * noise) * RATING_STEPS) / RATING_STEPS
    return strengths, ratings


def _strengths(plan: Plan, before: ManyLots, ids: Ints) -> Floats:
    units = before.units("strength", ids)
    if plan.shape == "uniform":
        return plan.low + (plan.high - plan.low) * units
    if plan.shape == "exponential":
        standard = -np.log(1.0 - units) - 1.0
    elif plan.shape == "normal":
        standard = _normal(units, before.units("strength-angle", ids))
    else:
        # The half that a number is in says the group; where it is in that half is as good a number.
        side = np.where(units < 0.5, -GROUP_MEAN, GROUP_MEAN)
        standard = side + GROUP_SD * _normal((2.0 * units) % 1.0, before.units("strength-angle", ids))
    return (plan.low + plan.high) / 2.0 + (plan.high - plan.low) / math.sqrt(12.0) * standard


def _normal(units: Floats, angles: Floats) -> Floats:
    """Normal numbers of two uniform ones each (Box & Muller 1958)."""
    numbers: Floats = np.sqrt(-2.0 * np.log(1.0 - units)) * np.cos(2.0 * math.pi * angles)
    return numbers


def entrants_of(ratings: Floats) -> tuple[Entrant, ...]:
    """Entrants 1, 2... with these ratings."""
    return tuple(Entrant(id=at, name=f"player-{at}", rating=rating) for at, rating in enumerate(ratings.tolist(), 1))


def game_chances(model: Model, white: Floats, black: Floats) -> tuple[Floats, Floats]:
    """Probabilities that White wins, and that White does not lose, of many games: arrays of one shape."""
    if model == "milvang":
        wins, draws, _ = chances_of(white, black)
        return wins, wins + draws
    wins = 1.0 / (1.0 + 10.0 ** ((black - white) / 400.0))
    return wins, wins


def final_order(method: System, event: Event) -> tuple[int, ...]:
    """Ids by the standings; those who share a place by rating, then by order of registration."""
    rating = {one.id: (-one.rating if one.rating is not None else math.inf) for one in event.entrants}
    seat = {one.id: at for at, one in enumerate(event.entrants)}
    rows = method.standings(event).rows
    return tuple(
        row.entrant for row in sorted(rows, key=lambda row: (row.place, rating[row.entrant], seat[row.entrant]))
    )


def measures(plan: Plan, event: Event, strength: Mapping[int, float], order: Sequence[int]) -> Measures:
    """What the tournament was worth.

    :param order: ids, best first
    """
    seen = colors(event)
    games = [game for _, game in event.games]
    upset = unforeseen(event, strength)
    draws = sum(game.result == DRAWN for game in games)
    strongest = min(order, key=lambda id_: (-strength[id_], id_))
    beta = int(event.options.get("beta", BETA))
    return Measures(
        kendall=kendall(order, strength),
        spearman=spearman(order, strength),
        ndcg=ndcg(order, strength),
        float_pairs=float(float_pairs(event)),
        color_difference=sum(seen.differences) / max(1, len(seen.differences)),
        largest_color_difference=float(seen.largest),
        unforeseen=upset.share,
        draws=draws / max(1, len(games)),
        best_first=float(order[0] == strongest),
        rounds=float(len(event.rounds)),
        games=float(len(games)),
        strength_difference=strength_difference(event, strength, beta).share if plan.differences else None,
    )
