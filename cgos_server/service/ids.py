"""Gives out the server's own numbers: one counter a kind, continued from what the database holds.

Must not know: what the numbers are for.
"""

from __future__ import annotations

from itertools import count

from cgos_server.storage.reading.stored import NextIds


class Ids:
    """Counters. Each call returns a number that was never returned before on this database."""

    def __init__(self, start: NextIds) -> None:
        self.owner = count(start.owner).__next__
        self.bot = count(start.bot).__next__
        self.version = count(start.version).__next__
        self.token = count(start.token).__next__
        self.connection = count(start.connection).__next__
        self.round = count(start.round).__next__
        self.game = count(start.game).__next__
        self.access = count(start.access).__next__
        self.webhook = count(start.webhook).__next__
