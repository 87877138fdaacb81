"""How messages look on the two wires: server-sent events (WHATWG HTML, "Server-sent events") and NDJSON.

Must not know: what the messages say.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import msgspec

from cgos_protocol.api.live import Live

RETRY_MS: Final = 2000
"""After so long a browser connects again."""


END: Final = "end"
"""The identity of a game's last message: whoever comes back with it has had everything."""

PORTION: Final = 262_144
"""Bytes that are handed to a connection at once. Whoever does not read holds so much memory and no more."""


class Form(enum.Enum):
    """The two wires, by their media types."""

    SSE = "text/event-stream"
    NDJSON = "application/x-ndjson"


class Message(NamedTuple):
    """A message, encoded once.

    :ivar event: its tag
    :ivar data: JSON in one line
    :ivar id: by which a stream goes on after it; empty for none
    """

    event: str
    data: bytes
    id: str = ""


def message(live: Live, identity: str = "") -> Message:
    """`live` encoded."""
    tag = live.__struct_config__.tag
    assert isinstance(tag, str)
    return Message(tag, msgspec.json.encode(live), identity)


def portion(messages: Sequence[Message]) -> int:
    """How many of them, from the first on, go out at once: one at least, where there is one."""
    size = 0
    for number, one in enumerate(messages):
        size += len(one.data)
        if size > PORTION and number:
            return number
    return len(messages)


def framed(messages: Iterable[Message], form: Form) -> bytes:
    """As they go out."""
    if form is Form.NDJSON:
        return b"".join(one.data + b"\n" for one in messages)
    return b"".join(
        (f"id: {one.id}\n" if one.id else "").encode() + f"event: {one.event}\ndata: ".encode() + one.data + b"\n\n"
        for one in messages
    )


def opening(form: Form) -> bytes:
    """What comes before the first message: so that a proxy lets the answer through, and when to come again."""
    return f"retry: {RETRY_MS}\n\n".encode() if form is Form.SSE else b""


def heartbeat(form: Form) -> bytes:
    """Says that the connection lives: a comment, or an empty line."""
    return b": here\n\n" if form is Form.SSE else b"\n"


def remark(words: str, form: Form) -> bytes:
    """The last words of a stream, for whoever reads them; NDJSON has no place for any."""
    return f": {words}\n\n".encode() if form is Form.SSE else b""
