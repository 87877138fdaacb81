"""Whether Tcl can read a line as a list, because the oldest clients read every line so.

After the rules of the Tcl manual (``Tcl(n)``, ``lindex(n)``): words are separated by white space; braces nest and keep
what they hold; quotes hold until the next one; a backslash takes the meaning from the next character. Must not know:
what the words mean.
"""

from __future__ import annotations

import re
from typing import Final

_SPACE: Final = " \t\n\v\f\r"
_BARE: Final = re.compile(r"(?:[^ \t\n\v\f\r\\]|\\\n[ \t]*|\\.?)+", re.DOTALL)
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BRACE: Final = re.compile(r"\\.|[{}]", re.DOTALL)


def list_fault(text: str) -> str | None:
    """Why a Tcl program that reads `text` as a list ends with an error, in Tcl's words; None where it does not."""
    at = 0
    while at < len(text):
        if text[at] in _SPACE:
            at += 1
            continue
        kind, end = _word_end(text, at)
        if end is None:
            return f"unmatched open {kind} in list"
        if kind and end < len(text) and text[end] not in _SPACE:
            return f"list element in {kind}s followed by {text[end]!r} instead of space"
        at = end
    return None


def _word_end(text: str, at: int) -> tuple[str, int | None]:
    """What the word at `at` stands in, ``brace``, ``quote`` or nothing, and where it ends; None where it does not."""
    if text[at] == "{":
        depth = 0
        for piece in _BRACE.finditer(text, at):
            depth += {"{": 1, "}": -1}.get(piece[0], 0)
            if not depth:
                return "brace", piece.end()
        return "brace", None
    pattern, kind = (_QUOTED, "quote") if text[at] == '"' else (_BARE, "")
    word = pattern.match(text, at)
    return kind, None if word is None else word.end()
