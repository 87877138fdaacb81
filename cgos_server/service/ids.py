"""Gives out the server's own numbers: one counter a kind, continued from what the database holds.

Must not know: what the numbers are for.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import TypeVar

from cgos_protocol.ids import BotId, ConnectionId, EventId, GameId, VersionId
from cgos_server.storage.reading.stored import NextIds

Id = TypeVar("Id")


class Ids:
    """Counters. Each call returns a number that was never returned before on this database.

    :param kept: the highest number of a bot of whom files are kept: an older backup that was restored may not have that
        bot, and its number must not become another bot's, whose owner would read those files
    """

    def __init__(self, start: NextIds, *, kept: int = 0) -> None:
        self.owner = count(start.owner).__next__
        self.bot = _counted(max(start.bot, kept + 1), BotId)
        self.version = _counted(start.version, VersionId)
        self.token = count(start.token).__next__
        self.connection = _counted(start.connection, ConnectionId)
        self.round = count(start.round).__next__
        self.game = _counted(start.game, GameId)
        self.access = count(start.access).__next__
        self.webhook = count(start.webhook).__next__
        self.event = _counted(start.event, EventId)


def _counted(start: int, kind: Callable[[int], Id]) -> Callable[[], Id]:
    return map(kind, count(start)).__next__
