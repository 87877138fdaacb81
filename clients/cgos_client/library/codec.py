"""How messages of ``cgos.v2`` are written: JSON in text frames or MessagePack in binary ones.

Lenient to a newer server: a message of a kind that this client does not know is no error. Must not know: sockets, what
follows from a message.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from cgos_client.errors import ServerFault
from cgos_protocol.v2 import messages as ws

ANALYSIS_LIMIT = 60_000
"""Bytes of analysis that are passed on with a move."""


class Encoding(enum.StrEnum):
    """How messages are written."""

    JSON = "json"
    MSGPACK = "msgpack"

    @property
    def subprotocol(self) -> str:
        """The WebSocket subprotocol that stands for it."""
        return "cgos.v2" if self is Encoding.JSON else "cgos.v2.msgpack"


class Codec:
    """Reads and writes messages in one encoding."""

    def __init__(self, encoding: Encoding) -> None:
        self._binary = encoding is Encoding.MSGPACK
        self._decoder: msgspec.msgpack.Decoder[ws.ServerMessage] | msgspec.json.Decoder[ws.ServerMessage]
        if self._binary:
            self._decoder = msgspec.msgpack.Decoder(ws.ServerMessage)
        else:
            self._decoder = msgspec.json.Decoder(ws.ServerMessage)

    def encode(self, message: ws.ClientMessage) -> str | bytes:
        """`message` as the content of a frame."""
        if not self._binary:
            return msgspec.json.encode(message).decode()
        if isinstance(message, ws.Move) and isinstance(message.analysis, Raw):
            again = msgspec.msgpack.encode(msgspec.json.decode(message.analysis))
            message = msgspec.structs.replace(message, analysis=Raw(again))
        return msgspec.msgpack.encode(message)

    def decode(self, frame: str | bytes) -> ws.ServerMessage | None:
        """The message of a frame; None where this client does not know its kind. Raises ServerFault."""
        if isinstance(frame, str) is self._binary:
            raise ServerFault(f"the server sent a {'text' if self._binary else 'binary'} frame")
        data = frame.encode() if isinstance(frame, str) else frame
        try:
            return self._decoder.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            if self._is_of_another_kind(data):
                return None
            raise ServerFault(f"the server's message cannot be read: {error}") from None

    def _is_of_another_kind(self, data: bytes) -> bool:
        try:
            loose = msgspec.msgpack.decode(data) if self._binary else msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return False
        kind = loose.get("type") if isinstance(loose, dict) else None
        return isinstance(kind, str) and kind not in _KINDS


_KINDS = frozenset(str(kind.__struct_config__.tag) for kind in ws.ServerMessage.__args__)


def analysis_of(analysis: ws.Analysis | Mapping[str, Any] | str | None) -> tuple[Raw | UnsetType, str]:
    """An analysis as it is sent with a move, and a clause that says why it is left out, where it is.

    :param analysis: CGOS's fields as an object or a mapping, or as a text of JSON
    """
    if analysis is None:
        return UNSET, ""
    try:
        if isinstance(analysis, str):
            raw = json.dumps(json.loads(analysis), separators=(",", ":")).encode()
        else:
            raw = msgspec.json.encode(analysis)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        return UNSET, f"is not JSON ({error})"
    if len(raw) > ANALYSIS_LIMIT:
        return UNSET, f"has {len(raw)} bytes, more than {ANALYSIS_LIMIT}"
    try:
        msgspec.json.decode(raw, type=ws.Analysis)
    except (msgspec.DecodeError, RecursionError) as error:
        return UNSET, f"does not have the fields of an analysis ({error})"
    return Raw(raw), ""
