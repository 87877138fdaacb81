"""Asks the web process for its metrics, when somebody scrapes them, through a socket that both processes hold.

A question is one byte, a :class:`~cgos_server.observability.exposition.Form`; an answer is its length in four bytes
(big-endian) and so many bytes. Of each form at most one question is under way: whoever asks meanwhile waits for the
same answer, and one that comes too late for all of them is read and dropped, so that questions and answers never get
out of step. Must not know: what the metrics are, who scrapes.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from typing import Final

import structlog

from cgos_protocol.errors import Code, Unavailable
from cgos_server.observability.exposition import Form

log = structlog.get_logger(__name__)

LIMIT_S: Final = 2.0
"""How long whoever scrapes waits."""

LARGEST: Final = 4 << 20
"""Bytes of an answer; what is larger is no answer of ours."""

_HEAD: Final = 4
_CHUNK: Final = 1 << 18

_AWAY: Final = "The web process does not run just now. It is being started: please try again in some seconds."
_SLOW: Final = f"The web process did not answer within {LIMIT_S:g} s. It may be overloaded: please try again."


class ScrapeChannel:
    """One a server; its socket is the living child's.

    :param limit_s: seconds that whoever asks waits
    """

    def __init__(self, limit_s: float = LIMIT_S) -> None:
        self._limit_s = limit_s
        self._descriptor = -1
        self._answers: dict[Form, asyncio.Future[bytes | None]] = {}
        self._questions: deque[Form] = deque()
        self._read = bytearray()

    def opened(self, descriptor: int) -> None:
        """A child answers at the other end of the socket `descriptor`, which stays its owner's and is made
        non-blocking."""
        self.closed()
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        asyncio.get_running_loop().add_reader(descriptor, self._readable)

    def closed(self) -> None:
        """The child is gone: whoever waits for its answer is told. Does nothing where there is none."""
        if self._descriptor >= 0:
            asyncio.get_running_loop().remove_reader(self._descriptor)
        self._descriptor = -1
        self._questions.clear()
        self._read.clear()
        for answer in self._answers.values():
            if not answer.done():
                answer.set_result(None)
        self._answers.clear()

    async def ask(self, form: Form) -> bytes:
        """The web process's metrics as they are now. Raises Unavailable where it does not answer in time."""
        answer = self._answers.get(form) or self._put(form)
        try:
            async with asyncio.timeout(self._limit_s):
                body = await asyncio.shield(answer)
        except TimeoutError as error:
            raise Unavailable(Code.NO_SERVER, _SLOW) from error
        if body is None:
            raise Unavailable(Code.NO_SERVER, _AWAY)
        return body

    def _put(self, form: Form) -> asyncio.Future[bytes | None]:
        """Put the question; its answer, None where the child is gone before."""
        answer: asyncio.Future[bytes | None] = asyncio.get_running_loop().create_future()
        try:
            if self._descriptor < 0:
                raise ConnectionError
            os.write(self._descriptor, form.value)  # a byte for each form at most waits there: there is room
        except OSError:
            answer.set_result(None)
            return answer
        self._answers[form] = answer
        self._questions.append(form)
        return answer

    def _readable(self) -> None:
        try:
            data = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.closed()  # whoever started the child will notice
            return
        self._read += data
        while len(self._read) >= _HEAD:
            length = int.from_bytes(self._read[:_HEAD], "big")
            if length > LARGEST or not self._questions:
                log.warning("the web process answers a scrape with what is none; it is asked no more", length=length)
                self.closed()
                return
            if len(self._read) < _HEAD + length:
                return
            answer = self._answers.pop(self._questions.popleft())
            if not answer.done():
                answer.set_result(bytes(self._read[_HEAD : _HEAD + length]))
            del self._read[: _HEAD + length]
