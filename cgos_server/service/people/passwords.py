"""Slow hashes of passwords in a thread, in turns by address, and random tokens that need no slow hash.

Passwords are kept as argon2id (RFC 9106; the cost is OWASP's least: 19 MiB, two passes, about 10-20 ms), tokens as
SHA-256. Must not know: whose they are, where they are kept.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Self, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import HashingError, InvalidHashError, VerificationError, VerifyMismatchError

from cgos_protocol.errors import Code, Unavailable
from cgos_server.core.addresses import party

T = TypeVar("T")

TOKEN_PREFIX: Final = "cgos_"
SESSION_PREFIX: Final = "cgosweb_"
ACCESS_PREFIX: Final = "cgosapi_"
SIGNING_PREFIX: Final = "cgoshook_"
_RANDOM_LENGTH = 43
_TOKEN_LENGTH = len(TOKEN_PREFIX) + _RANDOM_LENGTH


def new_token(prefix: str = TOKEN_PREFIX) -> str:
    """A token: `prefix` (``cgos_`` for bots) and 256 random bits in 43 url-safe characters."""
    return prefix + secrets.token_urlsafe(32)


def lets_people_in(secret: str) -> bool:
    """True where `secret` has the form of a session or of a token of the API."""
    return any(
        secret.startswith(prefix) and len(secret) == len(prefix) + _RANDOM_LENGTH
        for prefix in (SESSION_PREFIX, ACCESS_PREFIX)
    )


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
    """Hashes and checks, one at a time and never on the event loop.

    Each address stands in a line of its own; one of each line is served in turn. A line holds at most half of all
    places, so that no address can take them all.

    :param queue: how many may wait or run at once; whoever comes then is refused at once and may try again
    """

    def __init__(self, queue: int, hasher: PasswordHasher | None = None) -> None:
        self._queue = queue
        self._line_length = max(1, queue // 2)
        self._hasher = hasher or standard_hasher()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="passwords")
        self._lines: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        """The places of each address, the next address first. A place's future is done when its turn has come."""
        self._turn: asyncio.Future[None] | None = None
        self._waiting = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def waiting(self) -> int:
        """How many wait or run now."""
        return self._waiting

    async def hash(self, password: str, whose: str = "") -> str:
        """The argon2id hash with its salt and cost.

        :param whose: the peer's address; empty for commands
        :raises Refused: (``busy``) where the queue is full, or this address holds half of it
        """
        return await self._run(whose, lambda: self._hasher.hash(password))

    async def verify(self, stored: str, password: str, whose: str = "") -> bool:
        """Whether `password` is the one behind `stored`. `whose` and what is raised: as for :meth:`hash`."""
        return await self._run(whose, lambda: self._verify(stored, password))

    def close(self) -> None:
        """Wait for what is running and forget what is waiting."""
        for line in self._lines.values():
            for place in line:
                place.cancel()
        self._pool.shutdown(cancel_futures=True)

    def _verify(self, stored: str, password: str) -> bool:
        try:
            return self._hasher.verify(stored, password)
        except (VerifyMismatchError, InvalidHashError):
            return False

    async def _run(self, whose: str, work: Callable[[], T]) -> T:
        whose = party(whose)
        place = self._enter(whose)
        try:
            await place
            return await asyncio.get_running_loop().run_in_executor(self._pool, work)
        except (HashingError, VerificationError) as error:
            raise Unavailable(
                Code.BUSY, f"The server cannot check passwords now ({error}). Please try again."
            ) from error
        finally:
            self._leave(whose, place)

    def _enter(self, whose: str) -> asyncio.Future[None]:
        if self._waiting >= self._queue:
            raise _too_many("at once")
        line = self._lines.get(whose, deque())
        if len(line) >= self._line_length:
            raise _too_many("from your address at once")
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        line.append(place)
        self._lines[whose] = line
        self._waiting += 1
        self._next()
        return place

    def _leave(self, whose: str, place: asyncio.Future[None]) -> None:
        line = self._lines[whose]
        line.remove(place)
        self._waiting -= 1
        if self._turn is place:
            self._turn = None
            self._lines.move_to_end(whose)  # now, not when its turn began: whoever has come since is before it
        if not line:
            del self._lines[whose]
        self._next()

    def _next(self) -> None:
        if self._turn is None and self._lines:
            self._turn = next(iter(self._lines.values()))[0]
            if not self._turn.done():  # a cancelled one leaves by itself in a moment
                self._turn.set_result(None)


def _too_many(how: str) -> Unavailable:
    return Unavailable(Code.BUSY, f"Too many bots are signing in {how}. Please try again in half a minute.", 30.0)
