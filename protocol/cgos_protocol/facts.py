"""Facts: things that happened and are committed. What travels on the bus, as msgspec values.

A fact is published only after its commit. Versions go by their wire name, venues by name, times are Unix seconds.
"""

from __future__ import annotations

import msgspec

from cgos_protocol.ids import GameId, QuestionId


class Fact(msgspec.Struct, frozen=True, tag_field="fact", tag=True):
    """Base of all facts; the tag is the class name."""


class GameStarted(Fact, frozen=True, kw_only=True):
    """Two versions were paired and their game exists. Labels are their ratings as shown: ``1800`` or ``1800?``."""

    venue: str
    game: GameId
    black: str
    white: str
    at: float
    black_label: str = ""
    white_label: str = ""


class MovePlayed(Fact, frozen=True, kw_only=True):
    """A move was committed. `left_ms` is the mover's time after it, as the wire shows it."""

    venue: str
    game: GameId
    ply: int
    move: str
    left_ms: int


class GameEnded(Fact, frozen=True, kw_only=True):
    """A verdict was committed. `result` as in :attr:`cgos_protocol.verdict.Verdict.text`. `*_used_ms` is how
    far each side's clock fell, as the wire shows it."""

    venue: str
    game: GameId
    result: str
    reason: str
    at: float
    black_used_ms: int = 0
    white_used_ms: int = 0


class RatingChanged(Fact, frozen=True, kw_only=True):
    """A rating moved because of entry `seq` of the venue's ledger. `lower` and `upper` are the ends of its 95 %
    interval after it, where it has one, and `plus_minus` is half of that."""

    venue: str
    seq: int
    version: str
    before: float
    after: float
    plus_minus: float | None = None
    lower: float | None = None
    upper: float | None = None


class BotArrived(Fact, frozen=True):
    """A version signed in."""

    venue: str
    version: str


class BotLeft(Fact, frozen=True):
    """A version's connection is gone."""

    venue: str
    version: str


class EventMoved(Fact, frozen=True, kw_only=True):
    """An entry of an event's log was committed, of this kind; what it says is in the log.

    :ivar event: its name
    :ivar seq: number of the entry, or of a later one where several were committed together
    :ivar phase: of the event, then
    :ivar round: how many rounds have begun
    """

    venue: str
    event: str
    seq: int
    kind: str
    phase: str
    round: int
    at: float


class QuestionMoved(Fact, frozen=True, kw_only=True):
    """What was committed of a question: that it was asked, a result, or that it stands otherwise. Results come at most
    once a second, as one fact for all of them.

    :ivar kind: ``test``, ``gauntlet``, ``challenge``
    :ivar what: ``asked``, ``result``, ``prioritized``, ``resumed``, ``ended``
    :ivar state: ``open``, or how it has ended
    :ivar version: whose strength is asked about
    :ivar against: the opponent, where one is named; else empty
    :ivar games: how many of its games are over
    :ivar llr: a test's log-likelihood ratio
    """

    venue: str
    question: QuestionId
    kind: str
    what: str
    state: str
    version: str
    against: str
    games: int
    at: float
    llr: float | None = None


VenueFact = GameStarted | MovePlayed | GameEnded | RatingChanged | BotArrived | BotLeft
"""What watchers of a venue are told."""

AnyFact = VenueFact | EventMoved | QuestionMoved


class NamesErased(Fact, frozen=True):
    """Somebody was erased: what was kept of names may be so no more."""


class Missed(msgspec.Struct, frozen=True, tag_field="fact", tag=True):
    """Facts were left out here, because whoever reads them was slower than they came. No fact itself: it stands
    between facts on their way to another process and is never published."""


_CARRIED = msgspec.json.Decoder(AnyFact | NamesErased | Missed)


def encode(fact: Fact | Missed) -> bytes:
    """`fact` as JSON, as it travels between processes: ``{"fact": "MovePlayed", ...}``."""
    return msgspec.json.encode(fact)


def carried(data: bytes) -> AnyFact | None:
    """What :func:`encode` made; None where facts are missing here (:class:`Missed`) or what was known before may be so
    no more (:class:`NamesErased`): everything is to be read anew. Fields that this version does not know are left out.

    :raises msgspec.DecodeError: `data` is nothing that this version knows
    """
    fact: AnyFact | NamesErased | Missed = _CARRIED.decode(data)
    return None if isinstance(fact, NamesErased | Missed) else fact
