"""The two encodings of ``cgos.v2``: bytes of a message to a typed value and back, and in words what is wrong with them.

Whatever the bytes are, the answer is a value, never an exception. Must not know: connections, what messages mean.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, NamedTuple, Protocol

import msgspec
from msgspec import Raw

from cgos_protocol.errors import Code
from cgos_protocol.v2.analysis import UNWRITABLE, Unfit, compact, misfit
from cgos_protocol.v2.messages import Analysis, ClientMessage, Move, ServerMessage

TEXT_MAX: Final = 300
"""Characters of the words about a fault."""


class Malformed(NamedTuple):
    """What came is no message. `fatal`: it breaks WebSocket itself, so that the connection has to go."""

    code: str
    text: str
    fatal: bool = False


class _Reader(Protocol):
    def decode(self, buf: bytes, /) -> Any: ...


class Codec:
    """One encoding.

    :ivar subprotocol: its name in the opening handshake
    :ivar binary: True where its frames are binary ones
    :ivar encode: a message as the payload of one frame
    """

    __slots__ = ("_analyses", "_messages", "_what", "binary", "encode", "subprotocol")

    def __init__(self, subprotocol: str, binary: bool) -> None:
        self.subprotocol = subprotocol
        self.binary = binary
        self._what = "MessagePack" if binary else "JSON"
        encoding: Any = msgspec.msgpack if binary else msgspec.json
        self._messages: _Reader = encoding.Decoder(ClientMessage)
        self._analyses: _Reader = encoding.Decoder(Analysis)
        self.encode: Callable[[ServerMessage], bytes] = encoding.Encoder().encode

    def decode(self, data: bytes) -> ClientMessage | Malformed:
        """The message in the payload of one frame. A key that is given twice counts once."""
        try:
            message: ClientMessage = self._messages.decode(data)
            return message
        except msgspec.ValidationError as error:
            return Malformed(Code.INVALID, _cut(str(error)))
        except UnicodeDecodeError as error:
            return Malformed("utf-8", f"Text is UTF-8 here: {error.reason}.", fatal=not self.binary)
        except msgspec.DecodeError as error:
            if not self.binary and not _is_utf8(data):
                return Malformed("utf-8", "A text frame holds UTF-8.", fatal=True)
            return self._move_alone(data) or Malformed("malformed", _cut(f"This is no {self._what} message: {error}"))
        except RecursionError:
            return Malformed("malformed", "The message is nested too deeply.")

    def _move_alone(self, data: bytes) -> ClientMessage | None:
        """A move whose analysis holds NaN or Infinity, which many programs write and JSON has not: it is not to be lost
        for that. Its analysis is, and the client hears so."""
        if self.binary or b'"analysis"' not in data:
            return None
        try:
            value = json.loads(data)
            if not isinstance(value, dict) or value.get("type") != "move" or "analysis" not in value:
                return None
            analysis = Raw(json.dumps(value.pop("analysis")))
            message: Move = self._messages.decode(msgspec.json.encode(value))
            return msgspec.structs.replace(message, analysis=analysis)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return None

    def analysis(self, raw: Raw) -> str | Unfit:
        """What came with a move as compact JSON of an :class:`~cgos_protocol.v2.messages.Analysis`."""
        data = bytes(raw)
        try:
            analysis: Analysis = self._analyses.decode(data)
        except UNWRITABLE as error:
            return misfit(error, data, self.binary)
        return compact(analysis)


JSON: Final = Codec("cgos.v2", binary=False)
MSGPACK: Final = Codec("cgos.v2.msgpack", binary=True)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _cut(text: str) -> str:
    """`text` without what a terminal should not see; keys come from the peer."""
    text = text[:TEXT_MAX]
    return text if text.isprintable() else "".join(char if char.isprintable() else "?" for char in text)
