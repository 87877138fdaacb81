"""What a question is expected to cost, before it is asked; and which budgets are hopeless.

Must not know: who asks, how games are played.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log10, sqrt
from typing import Final, NamedTuple

from cgos_protocol.api.questions import QuestionCost
from cgos_protocol.errors import Code, Invalid
from cgos_server.core.questions.asked import Asked, Challenge, Gauntlet, Test
from cgos_server.core.questions.course import beyond_games
from cgos_server.core.questions.place import information, place
from cgos_server.core.questions.tally import Tally
from cgos_server.core.rating.base import Z95, Outcome
from cgos_server.core.rating.together import JointRatings
from cgos_server.core.sequential import Scale, expected, pair_distribution
from cgos_server.core.sequential.hypotheses import elo_of, score_of, t_of

_FARTHEST: Final = 4_000.0
"""Elo: no bound of a test lies farther off, however many games are drawn."""

_HALVINGS: Final = 60
_NOTHING: Final = 0.01
"""Elo that make no difference."""


class Pace(NamedTuple):
    """How fast games of a question are played.

    :ivar game_s: how long a game takes, seconds; None where nobody knows
    :ivar share: of the time of its bots that it gets, 0 to 1
    :ivar slots: games at once
    """

    game_s: float | None
    share: float
    slots: int = 1

    @classmethod
    def of(cls, lengths: Sequence[float], share: float) -> Pace:
        """As fast as games that lasted so many seconds each."""
        return cls(sum(lengths) / len(lengths) if lengths else None, share)

    def hours(self, games: float) -> float | None:
        """That so many games take; None where nobody knows."""
        return (
            None
            if self.game_s is None or self.share <= 0.0
            else games * self.game_s / (3600.0 * self.share * self.slots)
        )


class Model(NamedTuple):
    """What the venue's ratings say of games between two. `advantage`: of the first move, Elo; `draws`: their share.
    `ratings`: of a gauntlet's opponents."""

    advantage: float = 0.0
    draws: float = 0.0
    ratings: JointRatings | None = None


def model_of(as_black: Outcome, as_white: Outcome) -> Model:
    """From what is expected of the two games of a pair: with the version as Black, and with its opponent as Black."""
    scores = [min(max(outcome.score, 1e-6), 1.0 - 1e-6) for outcome in (as_black, as_white)]
    leads = [400.0 * log10(score / (1.0 - score)) for score in scores]
    return Model(sum(leads) / 2.0, (as_black.draw + as_white.draw) / 2.0)


def costs(asked: Asked, pace: Pace, model: Model = Model()) -> list[QuestionCost]:  # noqa: B008 - a value
    """What it costs on average, in the cases that there are. Raises Refused (``question-budget``) where no number of
    games makes a gauntlet as precise as is asked."""
    if isinstance(asked, Test):
        return _of_test(asked, pace, model)
    games = float(asked.most_games) if isinstance(asked, Challenge) else _of_gauntlet(asked, model)
    case = "all games" if isinstance(asked, Challenge) else "opponents of about its strength"
    return [QuestionCost(case=case, difference=None, games=games, hours=pace.hours(games), accepted=None)]


def require_hopeful(asked: Asked, expected_costs: Sequence[QuestionCost], now_ms: int) -> None:
    """Raises Refused (``question-budget``) where no case is expected to be answered within the games and the time."""
    least = min(expected_costs, key=lambda cost: cost.games)
    if least.games > asked.most_games:
        raise Invalid(
            Code.QUESTION_BUDGET,
            f"It takes {least.games:.0f} games on average even in the best case, and may have {asked.most_games}. "
            "Allow more games, or ask less precisely: with bounds that lie farther apart, or within more Elo.",
        )
    if asked.ends_at is None:
        return
    left_h = (asked.ends_at - now_ms) / 3_600_000
    if left_h <= 0:
        raise Invalid(Code.QUESTION_BUDGET, "Its end is past. Give a time to come, such as now+2d.")
    if least.hours is not None and least.hours > left_h:
        raise Invalid(
            Code.QUESTION_BUDGET,
            f"It takes {least.hours:.1f} hours on average even in the best case, and ends in {left_h:.1f} hours. "
            "Let it end later, or ask less precisely.",
        )


def _of_test(asked: Test, pace: Pace, model: Model) -> list[QuestionCost]:
    lower, upper = (_strength(bound, asked.scale, model) for bound in (asked.lower, asked.upper))
    cases = [("at the lower bound", lower), ("between the bounds", (lower + upper) / 2), ("at the upper bound", upper)]
    cases = [(case, strength) for case, strength in cases if abs(strength) > _NOTHING]
    return [
        _of_case(asked, case, strength, pace=pace, model=model) for case, strength in [("no difference", 0.0), *cases]
    ]


def _of_case(asked: Test, case: str, strength: float, *, pace: Pace, model: Model) -> QuestionCost:
    pairs = _Pairs.of(strength, model)
    cost = expected(asked.hypotheses, None, pairs.shares)
    games = 2.0 * cost.pairs
    difference = round(elo_of(pairs.mean) or 0.0, 2) + 0.0
    return QuestionCost(case=case, difference=difference, games=games, hours=pace.hours(games), accepted=cost.accepted)


class _Pairs(NamedTuple):
    """The results of pairs of games, 0 to 1, between two of whom one is stronger by so much by the pool's model."""

    shares: Sequence[float]
    mean: float
    sd: float

    @staticmethod
    def of(strength: float, model: Model) -> _Pairs:
        shares = pair_distribution(strength, advantage=model.advantage, draws=model.draws)
        mean = sum(cell / 4.0 * share for cell, share in enumerate(shares))
        variance = sum((cell / 4.0 - mean) ** 2 * share for cell, share in enumerate(shares))
        return _Pairs(shares, mean, sqrt(variance))


def _strength(bound: float, scale: Scale, model: Model) -> float:
    """By how much one is stronger, by the pool's model, whose results have so many Elo of the scale: where games are
    drawn, a point of strength is less of the points."""
    low, high = -_FARTHEST, _FARTHEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        pairs = _Pairs.of(middle, model)
        if scale is Scale.NORMALIZED:
            is_less = (pairs.mean - 0.5) / pairs.sd < t_of(bound, 5)
        else:
            is_less = pairs.mean < score_of(bound)
        low, high = (middle, high) if is_less else (low, middle)
    return (low + high) / 2.0


def _of_gauntlet(asked: Gauntlet, model: Model) -> float:
    """Games until the interval is narrow enough, against opponents of whom nobody is far off."""
    least = place(asked, Tally(), model.ratings).least_half_width
    if least >= asked.within:
        sentence = f"{beyond_games(least)} Allow more Elo (within), or name more opponents, or some with more games."
        raise Invalid(Code.QUESTION_BUDGET, sentence)
    return Z95**2 / (asked.within**2 - least**2) / information(model.advantage, asked.draws)
