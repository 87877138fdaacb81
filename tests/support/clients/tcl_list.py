"""The words of lists as Tcl reads them, for doubles of the oldest clients, which read every line so.

After the rules of the Tcl manual (``Tcl(n)``, ``lindex(n)``): words are separated by white space; braces nest and keep
what they hold; quotes hold until the next one; a backslash takes the meaning from the next character. Must not know:
what the words mean.
"""

from __future__ import annotations

from typing import Final

_SPACE: Final = " \t\n\v\f\r"
_LETTERS: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_CODES: Final = {"x": 2, "u": 4, "U": 8}
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_OCTAL: Final = frozenset("01234567")


class NotAList(ValueError):
    """A Tcl program that reads the text as a list ends with this error."""


def split(text: str) -> list[str]:
    """The words of `text`. Raises NotAList, with Tcl's reason."""
    words: list[str] = []
    at = 0
    while True:
        while at < len(text) and text[at] in _SPACE:
            at += 1
        if at == len(text):
            return words
        if text[at] == "{":
            word, at = _braced(text, at + 1)
        elif text[at] == '"':
            word, at = _quoted(text, at + 1)
        else:
            word, at = _bare(text, at)
        words.append(word)


def _braced(text: str, at: int) -> tuple[str, int]:
    """The word after an opening brace, and where it ends."""
    start, depth = at, 1
    while at < len(text):
        match text[at]:
            case "\\":
                at += 1
            case "{":
                depth += 1
            case "}":
                depth -= 1
                if not depth:
                    return text[start:at], _ended(text, at + 1, "braces")
        at += 1
    raise NotAList("unmatched open brace in list")


def _quoted(text: str, at: int) -> tuple[str, int]:
    word = ""
    while at < len(text):
        match text[at]:
            case '"':
                return word, _ended(text, at + 1, "quotes")
            case "\\":
                letter, at = _escaped(text, at)
                word += letter
            case letter:
                word += letter
                at += 1
    raise NotAList("unmatched open quote in list")


def _bare(text: str, at: int) -> tuple[str, int]:
    word = ""
    while at < len(text) and text[at] not in _SPACE:
        if text[at] == "\\":
            letter, at = _escaped(text, at)
            word += letter
        else:
            word += text[at]
            at += 1
    return word, at


def _ended(text: str, at: int, kind: str) -> int:
    if at < len(text) and text[at] not in _SPACE:
        raise NotAList(f"list element in {kind} followed by {text[at]!r} instead of space")
    return at


def _escaped(text: str, at: int) -> tuple[str, int]:
    """What the backslash at `at` stands for with what follows it, and where that ends."""
    at += 1
    if at == len(text):
        return "\\", at
    letter = text[at]
    if letter in _LETTERS:
        return _LETTERS[letter], at + 1
    if letter in _CODES:
        digits = _run(text, at + 1, _HEX, _CODES[letter])
        if not digits:
            return letter, at + 1
        code = int(digits, 16)
        return chr(code) if code < 0x110000 else "\ufffd", at + 1 + len(digits)
    if letter in _OCTAL:
        digits = _run(text, at, _OCTAL, 3)
        return chr(int(digits, 8) & 0xFF), at + len(digits)
    if letter == "\n":
        at += 1
        while at < len(text) and text[at] in " \t":
            at += 1
        return " ", at
    return letter, at + 1


def _run(text: str, at: int, allowed: frozenset[str], most: int) -> str:
    end = at
    while end < min(len(text), at + most) and text[end] in allowed:
        end += 1
    return text[at:end]
