"""What in a client's words is its move: one rule for every wire. A move is one word; what follows it is no part of it.

Must not know: rules of games, what else a wire may say with a move.
"""

from __future__ import annotations

from typing import Final

from cgos_protocol.lines.words import safe_text

MOVE_MAX: Final = 64
"""Characters kept of a move's text: enough to show in an error what was sent."""


def first_word(text: bytes) -> tuple[str, bytes]:
    """The first word of `text` and what follows it, without the blanks between.

    White space is that of ASCII. The word is printable ASCII, cut after `MOVE_MAX` characters, and empty only where
    `text` is blank. Whether it is a move is the referee's business.
    """
    if text.isalnum() and len(text) <= MOVE_MAX:
        return text.decode(), b""
    words = text.split(None, 1)
    word = safe_text(words[0][:MOVE_MAX].decode("latin-1")) if words else ""
    return word, words[1] if len(words) > 1 else b""
