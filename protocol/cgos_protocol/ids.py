"""Types of the server's own numbers, so that one kind cannot be taken for another without anybody noticing.

Decides which kinds are told apart; while a program runs each is a plain int. A number gets its kind where it is born,
where it comes out of the database, and where a request brings it. Must not know: who gives out numbers, where they are
kept, what they are for.
"""

from __future__ import annotations

from typing import NewType

VenueId = NewType("VenueId", int)
"""A venue, on one server."""

BotId = NewType("BotId", int)
"""A bot: what signs in."""

VersionId = NewType("VersionId", int)
"""A version of a bot: what is paired and rated."""

GameId = NewType("GameId", int)
"""A game, whatever its venue."""

EventId = NewType("EventId", int)
"""A tournament that the server holds."""

QuestionId = NewType("QuestionId", int)
"""What an owner asks by games."""

ConnectionId = NewType("ConnectionId", int)
"""A signed-in connection in one venue."""
