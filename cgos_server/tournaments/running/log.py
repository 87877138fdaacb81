"""What an event's log can say: one class a kind of entry, as values.

All that an event is follows from its log (:mod:`cgos_server.tournaments.running.state`). Nothing in it is ever changed
or removed: what is undone is said too. Must not know: what follows from an entry, who writes it, tables.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias, Union

import msgspec
from msgspec import Struct

from cgos_protocol.errors import OurFault
from cgos_protocol.ids import BotId, GameId, VersionId
from cgos_server.tournaments.base import Result, Round
from cgos_server.tournaments.running.settings import Apart, EventSettings


class _Said(Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="kind"):
    """One entry's words."""


class Announced(_Said, frozen=True, kw_only=True, tag="announced"):
    """The event exists, or is announced otherwise than before; only before it starts."""

    settings: EventSettings


class Opened(_Said, frozen=True, tag="opened"):
    """Versions may enter."""


class Entered(_Said, frozen=True, kw_only=True, tag="entered"):
    """A version is in, or waits for a place.

    :ivar entrant: its number in the event
    :ivar owner: number of the owner's account; None: it has none
    :ivar family: the bot that leads its family
    :ivar rating: in the venue, as it was then; None: it has none yet
    :ivar waits: True where all places are taken
    """

    entrant: int
    version: VersionId
    bot: BotId
    name: str
    family: BotId
    owner: int | None = None
    rating: float | None = None
    waits: bool = False


class Admitted(_Said, frozen=True, kw_only=True, tag="admitted"):
    """Who waited for a place has it."""

    entrant: int


class CheckedIn(_Said, frozen=True, kw_only=True, tag="checked-in"):
    """An entrant says that it will be there.

    :ivar signed_in: it did not say so: it is signed in on the CGOS lines, which have no word for it
    """

    entrant: int
    signed_in: bool = False


Party: TypeAlias = Literal["server", "bot", "owner", "operator"]
"""Who takes a version out of an event. What one did, it can undo itself, and so can those after it."""

PARTIES: Final[tuple[Party, ...]] = Party.__args__  # type: ignore[attr-defined]
"""In the same order."""


class Withdrawn(_Said, frozen=True, kw_only=True, tag="withdrawn"):
    """An entrant plays no more: before the start its entry is taken back, afterwards its open games are forfeited."""

    entrant: int
    reason: str = ""
    by: Party = "server"


class Rejoined(_Said, frozen=True, kw_only=True, tag="rejoined"):
    """Who withdrew after the start is paired again."""

    entrant: int


class ByeAsked(_Said, frozen=True, kw_only=True, tag="bye-asked"):
    """An entrant sits out a round that has not begun, for so many half points."""

    entrant: int
    round: int
    points: int = 0


class ByeCancelled(_Said, frozen=True, kw_only=True, tag="bye-cancelled"):
    """An entrant plays in a round that has not begun, which it was to sit out."""

    entrant: int
    round: int
    reason: str = ""


class Forbidden(_Said, frozen=True, kw_only=True, tag="forbidden"):
    """Who must not meet in rounds that are paired from now on.

    :ivar entrants: none of these meets another one; empty: see `same`
    :ivar same: nor do those who have this in common, whoever comes later included
    """

    entrants: tuple[int, ...] = ()
    same: Apart | None = None
    reason: str


class Lifted(_Said, frozen=True, kw_only=True, tag="lifted"):
    """What was forbidden so is allowed again; fields as of :class:`Forbidden`."""

    entrants: tuple[int, ...] = ()
    same: Apart | None = None
    reason: str


class Struck(_Said, frozen=True, kw_only=True, tag="struck"):
    """An entry was a mistake: who has been in no round goes from the record of the tournament."""

    entrant: int
    reason: str


class Closed(_Said, frozen=True, kw_only=True, tag="closed"):
    """Nobody enters any more but latecomers; ratings are taken: entrant -> rating, of those who have one."""

    ratings: dict[int, float]


class Started(_Said, frozen=True, tag="started"):
    """Games are paired from now on. Who did not check in where that was asked is out."""


class Paired(_Said, frozen=True, kw_only=True, tag="paired"):
    """A round, or further games of one, with its reasons; the games' numbers follow from the order."""

    round: Round


class Began(_Said, frozen=True, kw_only=True, tag="began"):
    """A game of the event began as a game of the server.

    :ivar game: its number in the event
    :ivar played_as: its number on the server
    :ivar given: moves that it began with, which neither side made
    """

    game: int
    played_as: GameId
    given: int = 0


class Ended(_Said, frozen=True, kw_only=True, tag="ended"):
    """A game has its first result.

    :ivar why: a sentence where it was not played to its end
    """

    game: int
    result: Result
    why: str = ""


class Ruled(_Said, frozen=True, kw_only=True, tag="ruled"):
    """The operator gives a game another result; void: it is played again, by the rules of the system.

    :ivar result: None: the game has none any more, and is played again under its own number
    :ivar with_results: games that were paired by the old result go too, though they have been played
    """

    game: int
    result: Result | None
    reason: str
    with_results: bool = False


class TakenBack(_Said, frozen=True, kw_only=True, tag="taken-back"):
    """The last round goes, to be paired again.

    :ivar with_results: though games of it have results
    """

    reason: str
    with_results: bool = False


class Paused(_Said, frozen=True, kw_only=True, tag="paused"):
    """Nothing is paired and no game begins; games that run go on."""

    reason: str = ""


class Resumed(_Said, frozen=True, tag="resumed"):
    """It goes on."""


class Extended(_Said, frozen=True, kw_only=True, tag="extended"):
    """It has another number of rounds, or another grace, from now on.

    :ivar rounds: None: as before
    :ivar grace_s: None: as before
    """

    rounds: int | None = None
    grace_s: int | None = None
    reason: str = ""


class Finished(_Said, frozen=True, kw_only=True, tag="finished"):
    """Nothing is left to pair, and every game has its result; or the operator ends it as it stands, and says why."""

    reason: str = ""


class Cancelled(_Said, frozen=True, kw_only=True, tag="cancelled"):
    """There is no event any more; what was played stays on record."""

    reason: str


Why: TypeAlias = Literal["again", "playoff"]
"""Why an event follows another: it is the next one of the series, or the playoff for the first place."""


class Followed(_Said, frozen=True, kw_only=True, tag="followed"):
    """Another event follows from this one and has been announced.

    :ivar by: its name
    """

    by: str
    why: Why


class Decided(_Said, frozen=True, kw_only=True, tag="decided"):
    """The playoff is over, or undecided again since a ruling has it go on.

    :ivar entrants: of this event, who won; several where the first place stays shared; empty: nobody has
    :ivar by: the playoff's name
    """

    entrants: tuple[int, ...]
    by: str


Said: TypeAlias = Union[  # noqa: UP007 - msgspec takes a union of many classes by this form
    Announced,
    Opened,
    Entered,
    Admitted,
    CheckedIn,
    Withdrawn,
    Rejoined,
    ByeAsked,
    ByeCancelled,
    Forbidden,
    Lifted,
    Struck,
    Closed,
    Started,
    Paired,
    Began,
    Ended,
    Ruled,
    TakenBack,
    Paused,
    Resumed,
    Extended,
    Finished,
    Cancelled,
    Followed,
    Decided,
]

KINDS: Final[Annotated[tuple[type[Struct], ...], "every kind of entry"]] = Said.__args__  # type: ignore[attr-defined]


class LogEntry(NamedTuple):
    """One line of the log.

    :ivar seq: 1, 2, 3...
    :ivar at: Unix ms
    :ivar actor: who did it: an account, ``bot NAME``, ``operator``, ``server``
    """

    seq: int
    at: int
    actor: str
    said: Said


_SAID: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(Said)


def kind_of(said: Said) -> str:
    """Its word."""
    return str(said.__struct_config__.tag)


def encode(said: Said) -> str:
    """As JSON, for the store."""
    return msgspec.json.encode(said).decode()


def decode(text: str) -> Said:
    """The inverse of :func:`encode`. Raises OurFault where `text` is no such JSON."""
    try:
        said: Said = _SAID.decode(text)
    except msgspec.DecodeError as error:
        raise OurFault(f"An event's log cannot be read ({error}): {text[:100]}") from error
    return said
