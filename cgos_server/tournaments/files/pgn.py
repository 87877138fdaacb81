"""The header tags of games in PGN (Edwards, 1994). Moves, comments and variations are skipped.

A tag in a comment or in a variation is text of that comment. Common faults in a tag's spelling are understood: quotes
inside quotes, a backslash before the last quote, no quotes at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Final

from cgos_protocol.errors import Code
from cgos_protocol.lines.misread import Misread

_NAME: Final = r'\[\s*(?P<name>\w[^\s"\[\]]*)'
_TOKEN: Final = re.compile(
    rf"(?P<skip>^%[^\n]*|;[^\n]*)|(?P<comment>\{{[^}}]*(?P<closed>\}})?)|(?P<depth>[()])"
    rf'|{_NAME}(?:\s*"(?:(?P<quoted>(?:[^"\\\n]|\\.)*)"\s*\]|(?P<nested>[^\n]*?)"[ \t]*\](?=[ \t]*(?:\[|$)))'
    r'|[ \t]+(?P<bare>[^"\[\]\n]+)\])|\[',
    re.MULTILINE,
)
_BEGIN: Final = re.compile(
    r"(?:\s|%[^\n]*|;[^\n]*|\{[^}]*\}|(?:1-0|0-1|1/2-1/2|\*)(?=\s))*+"
    rf'{_NAME}(?:\s*"|[ \t]+[^"\[\]\n]+\][ \t]*$)',
    re.MULTILINE,
)
_UNREADABLE: Final = re.compile(rf'{_NAME}\s*"')
_ESCAPED: Final = re.compile(r'\\(["\\])')
_RESULTS: Final = ("1-0", "0-1", "1/2-1/2", "*")
_fault: Final = partial(Misread, Code.RESULTS)


def begins_with_header(text: str) -> bool:
    """Tell whether a header is the first thing in the text, apart from comments."""
    return _BEGIN.match(text) is not None


def headers(text: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield for each game the line of its first tag, 1 = the first, and its tags by their names in small letters.

    Moves between two tags, or the same tag again, begin another game.

    :param text: with LF at the end of lines
    :raises Misread: where a header cannot be read, or a comment or a variation is not closed
    """
    tags: dict[str, str] = {}
    game_line = line = 1
    counted = end = moves_end = depth = opened_at = 0
    moves = ""
    for token in _TOKEN.finditer(text):
        start = token.start()
        line, counted = line + text.count("\n", counted, start), start
        if not text[end:start].isspace() and end < start:
            moves = text[end:start].rstrip()
            moves_end = end + len(moves)
        if token["depth"]:
            opened_at = opened_at if depth else line
            depth = depth + 1 if token["depth"] == "(" else max(depth - 1, 0)
            moves, moves_end = token["depth"], token.end()
        elif token["comment"] and not token["closed"]:
            raise _fault(line, 1, "a comment in braces is not closed", "Close it with }")
        elif text[start] == "[":
            at_line = "\n" in text[moves_end:start]
            may_begin = not moves or moves.endswith(_RESULTS)
            if depth or not (may_begin or (at_line and not token["bare"])):
                continue  # text of the moves
            if token["name"] is None:
                if _UNREADABLE.match(text, start):
                    raise _fault(line, 1, "a header cannot be read", 'Write it as [White "Alder"], in one line')
                continue
            name = token["name"].lower()
            if tags and (moves or name in tags):
                yield game_line, tags
                tags = {}
            if not tags:
                game_line = line
            value = next(value for value in (token["quoted"], token["nested"], token["bare"]) if value is not None)
            tags[name] = _ESCAPED.sub(r"\1", value).strip()
            moves, moves_end = "", token.end()
        end = token.end()
    if depth:
        raise _fault(opened_at, 1, "a variation is not closed", "Close it with )")
    if tags:
        yield game_line, tags
