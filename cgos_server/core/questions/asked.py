"""What can be asked by games, as values: a test, a gauntlet, a challenge.

Whoever is meant is a version, by its number. Must not know: who asks, when games are played, what follows from them.
"""

from __future__ import annotations

import enum
from typing import ClassVar, Final, TypeAlias

import msgspec
from msgspec import Struct

from cgos_protocol.api.questions import Kind
from cgos_protocol.errors import Code, Invalid, OurFault
from cgos_protocol.ids import VersionId
from cgos_server.core.sequential import Hypotheses, Scale


class State(enum.StrEnum):
    """Where a question stands."""

    OPEN = "open"
    """Games are played for it, or will be."""
    ACCEPTED = "accepted"
    """A test: the version is stronger by the upper bound, as far as the error rates go."""
    REJECTED = "rejected"
    """A test: it is not stronger by more than the lower bound, likewise."""
    ANSWERED = "answered"
    """A gauntlet has its precision, or a challenge its games."""
    NOT_ANSWERED = "not answered"
    """It ended before that: its games or its time are used up, or somebody is gone."""
    STOPPED = "stopped"
    """Its owner or an operator has stopped it; it can go on."""


class Change(enum.StrEnum):
    """What happens to a question."""

    ASKED = "asked"
    RESULT = "result"
    """A game of it has ended."""
    PRIORITIZED = "prioritized"
    """It comes before other ones of its owner, or behind them."""
    RESUMED = "resumed"
    """It goes on, after it was stopped."""
    ENDED = "ended"


ENDED: Final = frozenset(State) - {State.OPEN}


class _Asked(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """What all have.

    :ivar version: whose strength is asked about
    :ivar most_games: its budget
    :ivar ends_at: Unix milliseconds; None: no end but the budget's
    :ivar rated: whether its games count for the ratings, as far as the venue's do
    :ivar foreign: opponents of other owners, who have agreed, and may take that back; none where an operator asks
    """

    version: VersionId
    most_games: int
    ends_at: int | None = None
    rated: bool = False
    foreign: tuple[VersionId, ...] = ()


class Test(_Asked, frozen=True, kw_only=True, tag="test"):
    """Is the version stronger than another one?

    :ivar lower: Elo of the hypothesis that is kept when the test rejects; see :class:`Hypotheses`
    :ivar upper: of the one that is accepted
    :ivar alpha: probability of accepting where the first one is true, at most
    :ivar beta: of rejecting where the second one is true
    """

    __test__ = False  # pytest, this is none of yours
    kind: ClassVar[Kind] = "test"
    against: VersionId
    scale: Scale = Scale.NORMALIZED
    lower: float = 0.0
    upper: float = 50.0
    alpha: float = 0.05
    beta: float = 0.05

    @property
    def hypotheses(self) -> Hypotheses:
        """What is tested."""
        return Hypotheses(scale=self.scale, lower=self.lower, upper=self.upper, alpha=self.alpha, beta=self.beta)


class Opponent(Struct, frozen=True, kw_only=True):
    """Of a gauntlet. `rating`: Elo in the venue when the question was asked."""

    version: VersionId
    rating: float


class Gauntlet(_Asked, frozen=True, kw_only=True, tag="gauntlet"):
    """Where does the version stand among these?

    :ivar within: half of the 95 % interval that is wanted, Elo
    :ivar joint: the interval takes the opponents and the first move as the venue knows them at each answer. False in
        gauntlets that earlier servers began: the opponents' ratings count as known, the first move as worth nothing
    :ivar draws: the share of their games, 0..1 (below 1), that equals drew in the venue when the question was asked, by
        its ratings; it counts as known from then on
    """

    kind: ClassVar[Kind] = "gauntlet"
    field: tuple[Opponent, ...]
    within: float = 50.0
    draws: float = 0.0
    joint: bool = False


class Challenge(_Asked, frozen=True, kw_only=True, tag="challenge"):
    """How does the version fare in so many games (`most_games`) against another one?

    :ivar against: None: whoever is there and accepts
    """

    kind: ClassVar[Kind] = "challenge"
    against: VersionId | None = None


Asked: TypeAlias = Test | Gauntlet | Challenge


def opponents_of(asked: Asked) -> tuple[VersionId, ...]:
    """Those that are named; none of a challenge to whoever accepts."""
    if isinstance(asked, Gauntlet):
        return tuple(opponent.version for opponent in asked.field)
    return () if asked.against is None else (asked.against,)


def require_askable(asked: Asked) -> None:
    """Raises Refused (``question``, ``bounds``) for what cannot be asked of any server."""
    opponents = opponents_of(asked)
    if asked.version in opponents:
        raise Invalid(Code.QUESTION, "A version cannot play against itself. Name two versions.")
    if len(set(opponents)) < len(opponents):
        raise Invalid(Code.QUESTION, "An opponent is named twice. Name each once.")
    if asked.most_games < 2 or asked.most_games % 2:
        raise Invalid(
            Code.QUESTION, f"Games come in pairs with colors swapped, so {asked.most_games} cannot be played."
        )
    if isinstance(asked, Gauntlet) and not (asked.field and asked.within > 0):
        raise Invalid(Code.QUESTION, "A gauntlet needs opponents, and an interval that is wider than 0 Elo.")
    if isinstance(asked, Test):
        _ = asked.hypotheses


_DECODER: Final = msgspec.json.Decoder(Test | Gauntlet | Challenge)


def encode_asked(asked: Asked) -> str:
    """As JSON."""
    return msgspec.json.encode(asked).decode()


def decode_asked(text: str) -> Asked:
    """What :func:`encode_asked` gave. Raises OurFault."""
    try:
        asked: Asked = _DECODER.decode(text)
    except msgspec.MsgspecError as error:
        raise OurFault(f"a question cannot be read: {error}") from error
    return asked
