"""How words and sentences are written on the CGOS lines, so that every client reads them as what they are.

Clients read lines as Tcl lists: braces, quotes and backslashes there can end the program, brackets, `$` and `;` are
harmless in a list and dangerous where a line is evaluated. None of them is worth the risk. Must not know: which lines
there are, who reads them.
"""

from __future__ import annotations

import re
from typing import Final

TEXT_MAX: Final = 500
"""Characters of a sentence."""

_SAFE: Final = dict.fromkeys([*range(32), *range(127, 256)], "?") | {
    ord(old): new for old, new in zip('{}[]"\\;$\t\n\r', "()()'/,?   ", strict=True)
}
_UNFIT_IN_WORD: Final = re.compile(r"[\s()]")
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.?+-]+")


def safe_text(text: str) -> str:
    """`text` as printable ASCII in one line that every client can read, without blanks at the ends; may be empty."""
    return text[:TEXT_MAX].encode("latin-1", "replace").decode("latin-1").translate(_SAFE).strip()


def safe_word(text: str) -> str:
    """`text` as exactly one word, without parentheses."""
    if (text.isalnum() and text.isascii()) or _PLAIN.fullmatch(text):
        return text
    return _UNFIT_IN_WORD.sub("?", safe_text(text)) or "?"


def seat(name: str, label: str) -> str:
    """One player of a game with its rating: ``Alpha(1800?)``."""
    return f"{safe_word(name)}({safe_word(label)})"


def whole_ms(milliseconds: int) -> int:
    """What is negative is written as 0."""
    return milliseconds if milliseconds > 0 else 0


def error_line(sentence: str) -> str:
    """Why the server closes the connection, with its line end."""
    return f"Error: {safe_text(sentence) or 'The server closes this connection.'}\n"
