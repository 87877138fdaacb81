"""Parameters that several operations of the API take: each a type with its bounds and its sentence.

Must not know: operations, how a parameter is read.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta

from cgos_protocol.ids import GameId
from cgos_protocol.names import NAME_PATTERN
from cgos_server.web.api.typed import Query

MOMENT: Final = "Unix time in milliseconds."

Name = Annotated[str, Meta(min_length=1, max_length=64, pattern=NAME_PATTERN)]
"""Of a venue, a bot, a version or an account."""
Words = Annotated[str, Meta(min_length=1, max_length=64)]
"""Any text that is not long."""
VenueName = Annotated[Name, Meta(description="Name of a venue.")]
BotName = Annotated[Name, Meta(description="Name of a bot.")]
VersionName = Annotated[Name, Meta(description="Name of a version.")]
OtherVersionName = Annotated[Name, Meta(description="Name of another version.")]
AccountName = Annotated[Name, Meta(description="Name of a person's account.")]
GameNumber = Annotated[GameId, Meta(ge=1, description="Number of a game.")]
RoundNumber = Annotated[int, Meta(ge=1, description="Number of a round.")]

OnlyVenue = Annotated[Name | None, Meta(description="Only in the venue of this name.")]
RatedVenue = Annotated[Name | None, Meta(description="In this venue; needed where the version is rated in several.")]
System = Annotated[
    str | None,
    Meta(min_length=1, max_length=64, description="A rating system; without it the venue's headline."),
]
Before = Annotated[int | None, Meta(ge=1, description="Only those before this number: `next` of the page before.")]
PageSize = Annotated[int, Meta(ge=1, description="How many at most.")]
"""The most that may be asked for is the operation's to add."""


class GameFilters(Query, frozen=True, kw_only=True):
    """Which games are meant: those of which all of this is true."""

    venue: OnlyVenue = None
    bot: Annotated[Name | None, Meta(description="Played by this bot or version.")] = None
    opponent: Annotated[Name | None, Meta(description="Against this bot or version; together with `bot`.")] = None
    reason: Annotated[
        Literal["score", "resignation", "time", "illegal move", "forfeit", "void", "abort"] | None,
        Meta(description="How it ended."),
    ] = None
    result: Annotated[Literal["B", "W", "draw", "none"] | None, Meta(description="Who won.")] = None
    min_moves: Annotated[int | None, Meta(description="At least so many moves.")] = None
    max_moves: Annotated[int | None, Meta(description="At most so many moves.")] = None
    since: Annotated[int | None, Meta(description=f"Begun at this time or later. {MOMENT}")] = None
    until: Annotated[int | None, Meta(description=f"Begun before this time. {MOMENT}")] = None
