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
    rf"^%[^\n]*|;[^\n]*|\{{[^}}]*(?P<closed>\}}(?:[^%;{{()\[]*\{{[^}}]*\}})*+)?|[()]"
    rf'|{_NAME}(?:\s*"(?:(?P<quoted>(?:[^"\\\n]|\\.)*)"\s*\]|(?P<nested>[^\n]*?)"[ \t]*\](?=[ \t]*(?:\[|$)))'
    r'|[ \t]+(?P<bare>[^"\[\]\n]+)\])|\[',
    re.MULTILINE,
)
"""What may matter. Comments with nothing but moves between them are one token, since there may be one for each move."""
_COMMENTS: Final = re.compile(r"\{[^}]*\}")
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
    counted = end = depth = opened_at = 0
    moves = ""  # the last text that is neither tag nor comment, with the blanks after it
    for token in _TOKEN.finditer(text):
        start, kind = token.start(), token[0][0]
        plain = text[end:start]
        if kind == "{":
            if token["closed"] is None:
                raise _fault(text.count("\n", 0, start) + 1, 1, "a comment in braces is not closed", "Close it with }")
            plain += _COMMENTS.sub("", token[0])
        if plain:
            moves = moves + plain if plain.isspace() else plain
        if kind in "{;%":
            end = token.end()
            continue
        line, counted = line + text.count("\n", counted, start), start
        if kind in "()":
            opened_at = opened_at if depth else line
            depth = depth + 1 if kind == "(" else max(depth - 1, 0)
            moves = kind
        else:
            last = moves.rstrip()
            at_line = "\n" in moves[len(last) :]
            may_begin = not last or last.endswith(_RESULTS)
            is_tag = not depth and (may_begin or (at_line and not token["bare"]))
            if is_tag and token["name"] is None and _UNREADABLE.match(text, start):
                raise _fault(line, 1, "a header cannot be read", 'Write it as [White "Alder"], in one line')
            if not is_tag or token["name"] is None:  # text of the moves
                moves, end = kind, start + 1
                continue
            name = token["name"].lower()
            if tags and (last or name in tags):
                yield game_line, tags
                tags = {}
            if not tags:
                game_line = line
            value = next(value for value in (token["quoted"], token["nested"], token["bare"]) if value is not None)
            tags[name] = _ESCAPED.sub(r"\1", value).strip()
            moves = ""
        end = token.end()
    if depth:
        raise _fault(opened_at, 1, "a variation is not closed", "Close it with )")
    if tags:
        yield game_line, tags
