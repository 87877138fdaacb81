"""What a named option may be: a word, a flag, a number, a time. Values come from files and command lines.

Must not know: whose options they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from cgos_server.errors import Code, Invalid

MICROSECONDS = 1_000_000


class Option(Protocol):
    """What one option may be."""

    def read(self, value: Any) -> Any:
        """The value as its user wants it. Raises ValueError with the end of a sentence: what it may be."""


class Choice(NamedTuple):
    """One of several words."""

    words: Sequence[str]

    def read(self, value: Any) -> str:
        if not isinstance(value, str) or value not in self.words:
            raise ValueError(f"Choose one of: {', '.join(self.words)}.")
        return str(value)


class Flag(NamedTuple):
    """True or false."""

    def read(self, value: Any) -> bool:
        if value is not True and value is not False:
            raise ValueError("Choose one of: true, false.")
        return bool(value)


class Number(NamedTuple):
    """A number from `least` to `most`."""

    least: float
    most: float
    whole: bool = False

    def read(self, value: Any) -> float:
        known = isinstance(value, int | float) and not isinstance(value, bool)
        if not known or not self.least <= value <= self.most or (self.whole and value != int(value)):
            kind = "whole number" if self.whole else "number"
            raise ValueError(f"Give a {kind} from {self.least:.10g} to {self.most:.10g}.")
        return int(value) if self.whole else float(value)


class Seconds(NamedTuple):
    """A time; seconds outside, microseconds inside."""

    least: float
    most: float

    def read(self, value: Any) -> int:
        return round(Number(self.least, self.most).read(value) * MICROSECONDS)


def read(what: str, key: str, option: Option, value: Any, code: Code) -> Any:
    """`value` as its user wants it.

    :param what: whose option it is, for the sentence
    :param code: of the refusal
    :raises Invalid: where it is not possible; the sentence lists what is
    """
    try:
        return option.read(value)
    except ValueError as problem:
        raise Invalid(code, f"{what}: {key} cannot be {value!r}. {problem}") from problem
