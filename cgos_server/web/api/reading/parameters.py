"""Parameters that several operations of the API take: each a type with its bounds and its sentence.

Must not know: operations, how a parameter is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

from cgos_protocol.api.route import LARGEST
from cgos_protocol.ids import GameId, QuestionId
from cgos_protocol.names import EVENT_NAME_PATTERN, NAME_PATTERN
from cgos_protocol.options import Number, Text, UnixTime
from cgos_server.web.api.typed import Query

MOMENT: Final = "Unix time in milliseconds; one in seconds or microseconds is refused."


def up_to(most: int) -> Number:
    """A whole number from 1 to this one."""
    return Number(1, most, whole=True)


Name = Annotated[str, Text(1, 64, pattern=NAME_PATTERN)]
"""Of a venue, a bot, a version or an account."""
Words = Annotated[str, Text(1, 64)]
"""Any text that is not long."""
EventName = Annotated[str, Text(1, 64, pattern=EVENT_NAME_PATTERN), "Name of an event."]
VenueName = Annotated[Name, "Name of a venue."]
BotName = Annotated[Name, "Name of a bot."]
VersionName = Annotated[Name, "Name of a version."]
OtherVersionName = Annotated[Name, "Name of another version."]
AccountName = Annotated[Name, "Name of a person's account."]
GameNumber = Annotated[GameId, up_to(LARGEST), "Number of a game."]
QuestionNumber = Annotated[QuestionId, up_to(LARGEST), "Number of a question."]
RoundNumber = Annotated[int, up_to(LARGEST), "Number of a round."]

OnlyVenue = Annotated[Name | None, "Only in the venue of this name."]
RatedVenue = Annotated[Name | None, "In this venue; needed where the version is rated in several."]
System = Annotated[Words | None, "A rating system; without it the venue's headline."]
Before = Annotated[int | None, up_to(LARGEST), "Only those before this number: `next` of the page before."]
PageSize = Annotated[int, "How many at most."]
"""The most that may be asked for is the operation's to add."""

IN_PATHS: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "venue": VenueName,
        "bot": BotName,
        "version": VersionName,
        "game": GameNumber,
        "event": EventName,
        "number": Annotated[int, up_to(LARGEST), "Number of a game in the event."],
        "question": QuestionNumber,
        "token": Annotated[int, up_to(LARGEST), "Number of a token."],
        "webhook": Annotated[int, up_to(LARGEST), "Number of a webhook."],
        "account": AccountName,
        "right": Annotated[Literal["admin"], "What an account may be given."],
    }
)
"""Name -> type of the parameters in the paths of commands."""


class Cursor(Query, frozen=True, kw_only=True):
    """Where to go on."""

    after: Annotated[int, "Only what has a number above this one."] = 0
    incarnation: Annotated[Words | None, "What came with `after`. Another one than the database's is refused."] = None


class GameFilters(Query, frozen=True, kw_only=True):
    """Which games are meant: those of which all of this is true."""

    venue: OnlyVenue = None
    bot: Annotated[Name | None, "Played by this bot or version."] = None
    opponent: Annotated[Name | None, "Against this bot or version; together with `bot`."] = None
    reason: Annotated[
        Literal["score", "resignation", "time", "illegal move", "forfeit", "void", "abort"] | None,
        "How it ended.",
    ] = None
    result: Annotated[Literal["B", "W", "draw", "none"] | None, "Who won."] = None
    event: Annotated[str | None, Text(1, 64, pattern=EVENT_NAME_PATTERN), "Played in the event of this name."] = None
    min_moves: Annotated[int | None, "At least so many moves."] = None
    max_moves: Annotated[int | None, "At most so many moves."] = None
    since: Annotated[int | None, UnixTime(), f"Begun at this time or later. {MOMENT}"] = None
    until: Annotated[int | None, UnixTime(), f"Begun before this time. {MOMENT}"] = None
