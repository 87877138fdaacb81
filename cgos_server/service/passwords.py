"""Slow hashes of passwords in a bounded pool of threads, and random tokens that need no slow hash.

Passwords are kept as argon2id (RFC 9106; the cost is OWASP's least: 19 MiB, two passes, about 10-20 ms), tokens as
SHA-256. Must not know: whose they are, where they are kept.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Self, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import HashingError, InvalidHashError, VerificationError, VerifyMismatchError

from cgos_server.errors import Refused

T = TypeVar("T")

TOKEN_PREFIX = "cgos_"
_TOKEN_LENGTH = len(TOKEN_PREFIX) + 43


def new_token() -> str:
    """A token: ``cgos_`` and 256 random bits in 43 url-safe characters."""
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


def looks_like_token(secret: str) -> bool:
    """True where `secret` has the form of a token, so that a slow check would be wasted on it."""
    return len(secret) == _TOKEN_LENGTH and secret.startswith(TOKEN_PREFIX)


def digest(token: str) -> str:
    """What is stored of a token: its SHA-256 in hexadecimal. Enough, because a token cannot be guessed."""
    return hashlib.sha256(token.encode()).hexdigest()


def standard_hasher() -> PasswordHasher:
    """The cost with which passwords are hashed."""
    return PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


class Passwords:
    """Hashes and checks, never on the event loop.

    :param queue: how many may wait or run at once; whoever comes then is refused at once and may try again
    :param threads: how many run at once
    """

    def __init__(self, queue: int, threads: int = 1, hasher: PasswordHasher | None = None) -> None:
        self._queue = queue
        self._hasher = hasher or standard_hasher()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="passwords")
        self._waiting = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def waiting(self) -> int:
        """How many wait or run now."""
        return self._waiting

    async def hash(self, password: str) -> str:
        """The argon2id hash with its salt and cost. Raises Refused (``busy``) where the queue is full."""
        return await self._run(lambda: self._hasher.hash(password))

    async def verify(self, stored: str, password: str) -> bool:
        """Whether `password` is the one behind `stored`. Raises Refused (``busy``) where the queue is full."""
        return await self._run(lambda: self._verify(stored, password))

    def close(self) -> None:
        """Wait for what is running and forget what is waiting."""
        self._pool.shutdown(cancel_futures=True)

    def _verify(self, stored: str, password: str) -> bool:
        try:
            return self._hasher.verify(stored, password)
        except (VerifyMismatchError, InvalidHashError):
            return False

    async def _run(self, work: Callable[[], T]) -> T:
        if self._waiting >= self._queue:
            raise Refused("busy", "Too many bots are signing in at once. Please try again in half a minute.")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, work)
        except (HashingError, VerificationError) as error:
            raise Refused("busy", f"The server cannot check passwords now ({error}). Please try again.") from error
        finally:
            self._waiting -= 1
