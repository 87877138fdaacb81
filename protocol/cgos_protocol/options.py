"""What a named setting may be, what it is unless given, what it means. Values come from files, commands and requests.

Rating systems, matchmakers and tournament systems describe their options in these words alone. The keys of the
configuration and the parameters of the API are types that carry them: ``Annotated[float, Number(0, 1), "what it is
for"]``. Must not know: whose settings they are, what they are called.
"""

from __future__ import annotations

import enum
import math
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Protocol, Union, get_args, get_origin, runtime_checkable

from cgos_protocol.errors import Code, Invalid

MICROSECONDS = 1_000_000
LATEST_MS = 253_402_300_799_000
"""The last second of the year 9999 as a Unix time in milliseconds."""


@runtime_checkable
class Option(Protocol):
    """What one option may be."""

    @property
    def default(self) -> Any:
        """What it is unless given, as people give it; None where that depends on other options."""

    @property
    def meaning(self) -> str:
        """What it is for: half a sentence for people, with the unit."""

    @property
    def possible(self) -> str:
        """What it may be: ``a number from 0 to 1``."""

    def read(self, value: Any) -> Any:
        """The value as its user wants it. Raises ValueError with the end of a sentence: what it may be."""


class Choice(NamedTuple):
    """One of several words: texts, or the members of an enumeration of texts, of which one is the value then."""

    words: Sequence[str]
    default: str | None = None
    meaning: str = ""

    @property
    def possible(self) -> str:
        return f"one of {', '.join(self.words)}"

    def read(self, value: Any) -> str:
        for word in self.words:
            if isinstance(value, str) and value == word:
                return word
        raise ValueError(f"Choose one of: {', '.join(self.words)}.")


class Flag(NamedTuple):
    """True or false."""

    default: bool | None = None
    meaning: str = ""

    @property
    def possible(self) -> str:
        return "true or false"

    def read(self, value: Any) -> bool:
        if value is not True and value is not False:
            raise ValueError("Choose one of: true, false.")
        return bool(value)


class Number(NamedTuple):
    """A finite number from `least` to `most`.

    :ivar above: `least` itself is not possible
    """

    least: float = -math.inf
    most: float = math.inf
    whole: bool = False
    default: float | None = None
    meaning: str = ""
    above: bool = False

    @property
    def possible(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        if not (math.isfinite(self.least) and math.isfinite(self.most)):
            return kind
        start, end = ("above", "up to") if self.above else ("from", "to")
        return f"{kind} {start} {self.least:.10g} {end} {self.most:.10g}"

    def read(self, value: Any) -> float:
        try:
            known = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        except OverflowError:
            known = False
        if (
            not known
            or not self.least <= value <= self.most
            or (self.above and value == self.least)
            or (self.whole and value != int(value))
        ):
            raise ValueError(f"Give {self.possible}.")
        return int(value) if self.whole else float(value)


class UnixTime(NamedTuple):
    """A Unix time in milliseconds. 0 is possible and means the beginning; seconds or microseconds are refused."""

    default: int | None = None
    meaning: str = ""

    @property
    def possible(self) -> str:
        return "a Unix time in milliseconds, such as 1767225600000 for 2026-01-01"

    def read(self, value: Any) -> int:
        # As milliseconds, seconds of these centuries lie before 1973, and microseconds after the year 9999.
        if not isinstance(value, int) or not (value == 0 or 100_000_000_000 <= value <= LATEST_MS):
            raise ValueError(f"Give {self.possible}.")
        return value


class Seconds(NamedTuple):
    """A time; seconds outside, microseconds inside."""

    least: float
    most: float
    default: float | None = None
    meaning: str = ""

    @property
    def possible(self) -> str:
        return Number(self.least, self.most).possible

    def read(self, value: Any) -> int:
        return round(Number(self.least, self.most).read(value) * MICROSECONDS)


class Text(NamedTuple):
    """A text of `least` to `most` characters; without `most` of any length.

    :ivar pattern: what a text looks like that there can be, for programs: nothing is refused by it
    """

    least: int = 0
    most: int | None = None
    default: str | None = None
    meaning: str = ""
    pattern: str = ""

    @property
    def possible(self) -> str:
        if self.most is not None:
            return f"text of {self.least} to {self.most} characters"
        return "text that is not empty" if self.least else "text"

    def read(self, value: Any) -> str:
        if not isinstance(value, str) or len(value) < self.least or (self.most is not None and len(value) > self.most):
            raise ValueError(f"Give {self.possible}.")
        return value


class Several(NamedTuple):
    """A list of one to `most` texts."""

    each: Text
    most: int
    default: Sequence[str] | None = None
    meaning: str = ""

    @property
    def possible(self) -> str:
        return f"a list of 1 to {self.most}, each {self.each.possible}"

    def read(self, value: Any) -> list[str]:
        if not isinstance(value, list) or not 1 <= len(value) <= self.most:
            raise ValueError(f"Give {self.possible}.")
        return [self.each.read(text) for text in value]


class Parsed(NamedTuple):
    """Anything else that is written as text, a number or a table.

    :ivar parse: the value as its user wants it; raises ValueError where there is none
    """

    parse: Callable[[Any], Any]
    possible: str
    default: Any = None
    meaning: str = ""

    def read(self, value: Any) -> Any:
        try:
            return self.parse(value)
        except ValueError as error:
            raise ValueError(f"Give {self.possible}.") from error


def plain_type(hint: Any) -> Any:
    """The type that carries a setting, without its annotations and without None."""
    if get_origin(hint) is Annotated:
        return plain_type(get_args(hint)[0])
    if get_origin(hint) in (Union, types.UnionType):
        return plain_type(next(arg for arg in get_args(hint) if arg is not type(None)))
    return hint


def carried(hint: Any, by_type: Mapping[Any, Option]) -> Option | None:
    """The option that a type carries, the outermost; without one what its type says by itself, None where it does not.

    :param by_type: types without annotations, besides enumerations of texts and `Literal`
    """
    kind = plain_type(hint)
    for each in _annotations(hint):
        if isinstance(each, Option):
            return each
    if get_origin(kind) is Literal:
        return Choice(get_args(kind))
    return Choice(tuple(kind)) if isinstance(kind, enum.EnumType) else by_type.get(kind)


def sentence(hint: Any) -> str:
    """What a type says that its setting means; empty where it does not."""
    return next((each for each in _annotations(hint) if isinstance(each, str)), "")


def _annotations(hint: Any) -> Iterator[Any]:
    """Every annotation of a type, outer ones first."""
    if get_origin(hint) is Annotated:
        inner, *own = get_args(hint)
        yield from reversed(own)
        yield from _annotations(inner)
    elif get_origin(hint) in (Union, types.UnionType):
        for arg in get_args(hint):
            yield from _annotations(arg)


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


def check_known(
    what: str,
    given: Iterable[str],
    options: Mapping[str, Option],
    code: Code,
    hint: Callable[[str], str] = lambda _: "",
) -> None:
    """Refuse what is no option.

    :param what: whose options they are, for the sentence
    :param hint: where else there is an option of that name: nothing, or a sentence with a space before it
    :raises Invalid: the sentence lists the options
    """
    for key in given:
        if key not in options:
            choices = ", ".join(options) or "it has none"
            raise Invalid(code, f"{what} has no option {key!r}.{hint(key)} Choose from: {choices}.")
