"""How a question goes on: which game is wanted next, and when it has ended.

Values in, values out. Must not know: who is signed in, how games begin, clocks.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from hashlib import blake2b
from math import gcd
from types import MappingProxyType
from typing import Final, NamedTuple

from cgos_protocol.games.base import Color
from cgos_protocol.ids import QuestionId, VersionId
from cgos_server.core.questions.asked import Asked, Challenge, Gauntlet, State, Test
from cgos_server.core.questions.place import information, place
from cgos_server.core.questions.tally import Tally
from cgos_server.core.rating.together import JointRatings
from cgos_server.core.sequential import Decision, standing

REPEATS: Final = 3
"""So many pairs in a row that say nothing new end a question which has no fresh opening: the engines are deterministic.
One alone may be chance, in short games."""

_STATES: Final = MappingProxyType({Decision.ACCEPTED: State.ACCEPTED, Decision.REJECTED: State.REJECTED})


class Wanted(NamedTuple):
    """A game that is to be played.

    :ivar color: of the version whose strength is asked about
    :ivar opening: name of one of the venue's, empty for none
    """

    pair: int
    opponent: VersionId
    color: Color
    opening: str


class Ended(NamedTuple):
    """A question has ended; `why` is a sentence without names."""

    state: State
    why: str


def missing_games(tally: Tally) -> list[Wanted]:
    """Games that are missing of pairs that have begun, the earliest pair first."""
    return [Wanted(pair.number, pair.opponent, color, pair.opening) for pair, color in tally.halves_wanted()]


def next_pair(
    asked: Asked, tally: Tally, question: QuestionId, *, openings: Sequence[str], able: Collection[VersionId]
) -> Wanted | None:
    """The first game of a new pair; None where no pair is wanted, or nobody of whom it could be played is able.

    :param openings: names of the venue's
    :param able: opponents that could play now; of a challenge to whoever accepts these are all that there are
    """
    if tally.begun + sum(1 for _ in tally.halves_wanted()) + 2 > asked.most_games:
        return None
    opponent = _opponent(asked, tally, able)
    if opponent is None:
        return None
    number = max(tally.pairs, default=0) + 1
    color = Color.BLACK if number % 2 else Color.WHITE
    return Wanted(number, opponent, color, _opening(question, number, openings))


def ended(
    asked: Asked, tally: Tally, *, openings: int, now_ms: int, ratings: JointRatings | None = None
) -> Ended | None:
    """Whether the question has ended, and how.

    :param openings: how many the venue has
    :param ratings: of a gauntlet's opponents: see :func:`cgos_server.core.questions.place.place`
    """
    answer = _answer(asked, tally, ratings)
    if answer is not None:
        return answer
    if asked.ends_at is not None and now_ms >= asked.ends_at:
        return Ended(State.NOT_ANSWERED, "Its time is up.")
    if tally.lately_repeated >= REPEATS and len(tally.pairs) >= openings + REPEATS:
        return Ended(
            State.NOT_ANSWERED,
            "The engines repeat their games move by move, and all openings of the venue have been played: more games "
            "would say nothing new.",
        )
    if tally.begun >= asked.most_games and not tally.running:
        return Ended(State.NOT_ANSWERED, f"Its {asked.most_games} games are played, and they did not decide.")
    return None


def _answer(asked: Asked, tally: Tally, ratings: JointRatings | None) -> Ended | None:
    if isinstance(asked, Test):
        decision = standing(tally.counts(), asked.hypotheses).decision
        return None if decision is None else Ended(_STATES[decision], "The log-likelihood ratio reached its bound.")
    if isinstance(asked, Gauntlet):
        stands = place(asked, tally, ratings)
        if stands.half_width <= asked.within:
            return Ended(State.ANSWERED, f"It is known to {asked.within:g} Elo.")
        out_of_reach = stands.least_half_width > asked.within
        return Ended(State.NOT_ANSWERED, beyond_games(stands.least_half_width)) if out_of_reach else None
    if tally.begun >= asked.most_games and not tally.running:
        return Ended(State.ANSWERED, f"All {asked.most_games} games are played.")
    return None


def beyond_games(least_half_width: float) -> str:
    """Why a gauntlet cannot become as precise as is asked, a sentence."""
    return (
        f"No number of games makes it more precise than {least_half_width:.0f} Elo: the ratings of its opponents "
        "are not known better."
    )


def _opponent(asked: Asked, tally: Tally, able: Collection[VersionId]) -> VersionId | None:
    if isinstance(asked, Gauntlet):
        return _most_telling(asked, tally, able)
    if isinstance(asked, Challenge) and asked.against is None:
        return min(able, key=lambda version: (tally.pairs_with(version), version), default=None)
    return asked.against if asked.against in able else None


def _most_telling(asked: Gauntlet, tally: Tally, able: Collection[VersionId]) -> VersionId | None:
    """Whose game tells most of where the version stands, divided by the pairs that they have had: what one opponent
    alone says is true of that opponent alone."""
    stands = place(asked, tally).elo

    def worth(version: VersionId, rating: float) -> float:
        return information(stands - rating, asked.draws) / (1 + tally.pairs_with(version))

    free = [opponent for opponent in asked.field if opponent.version in able]
    best = max(free, key=lambda opponent: (worth(opponent.version, opponent.rating), -opponent.version), default=None)
    return None if best is None else best.version


def _opening(question: QuestionId, number: int, openings: Sequence[str]) -> str:
    """Each once before any comes again, in an order of the question's own: by a step without a common divisor."""
    if not openings:
        return ""
    cycle, at = divmod(number - 1, len(openings))
    digest = blake2b(f"{question} {cycle}".encode(), digest_size=16).digest()
    step, start = (int.from_bytes(half, "big") for half in (digest[:8], digest[8:]))
    while gcd(step, len(openings)) > 1:
        step += 1
    return openings[(start + step * at) % len(openings)]
