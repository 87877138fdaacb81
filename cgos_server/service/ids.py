"""Gives out the server's own numbers: one counter a kind, continued from what the database holds.

Must not know: what the numbers are for.
"""

from __future__ import annotations

from cgos_server.storage.store import NextIds


class Ids:
    """Counters. Each call returns a number that was never returned before on this database."""

    __slots__ = (
        "_access", "_bot", "_connection", "_game", "_owner", "_round", "_token", "_version", "_webhook",
    )  # fmt: skip

    def __init__(self, start: NextIds) -> None:
        (
            self._owner, self._bot, self._version, self._token, self._connection, self._round, self._game,
            self._access, self._webhook,
        ) = start  # fmt: skip

    def owner(self) -> int:
        self._owner += 1
        return self._owner - 1

    def bot(self) -> int:
        self._bot += 1
        return self._bot - 1

    def version(self) -> int:
        self._version += 1
        return self._version - 1

    def token(self) -> int:
        self._token += 1
        return self._token - 1

    def connection(self) -> int:
        self._connection += 1
        return self._connection - 1

    def round(self) -> int:
        self._round += 1
        return self._round - 1

    def game(self) -> int:
        self._game += 1
        return self._game - 1

    def access(self) -> int:
        self._access += 1
        return self._access - 1

    def webhook(self) -> int:
        self._webhook += 1
        return self._webhook - 1
