"""How the old Tcl programs read a line: as a list."""

from __future__ import annotations

_BLANK = " \t\n\v\f\r"


class ClientStops(AssertionError):
    """A client of the field would not survive this line."""


def tcl_list(text: str) -> list[str]:
    """The elements of a Tcl list, backslash sequences left as they are. Raises where Tcl does."""
    words: list[str] = []
    at, end = 0, len(text)
    while True:
        while at < end and text[at] in _BLANK:
            at += 1
        if at == end:
            return words
        opening = text[at]
        begin = at
        if opening == "{":
            depth = 0
            while at < end:
                if text[at] == "\\":
                    at += 1
                elif text[at] == "{":
                    depth += 1
                elif text[at] == "}":
                    depth -= 1
                    if depth == 0:
                        break
                at += 1
            if at >= end:
                raise ClientStops(f"unmatched open brace in list: {text!r}")
        elif opening == '"':
            at += 1
            while at < end and text[at] != '"':
                at += 2 if text[at] == "\\" else 1
            if at >= end:
                raise ClientStops(f"unmatched open quote in list: {text!r}")
        else:
            while at < end and text[at] not in _BLANK:
                at += 2 if text[at] == "\\" else 1
            at = min(at, end)
            words.append(text[begin:at])
            continue
        words.append(text[begin + 1 : at])
        at += 1
        if at < end and text[at] not in _BLANK:
            raise ClientStops(f"list element followed by {text[at]!r} instead of space: {text!r}")
