"""Elements of OpenGotha's XML files: what they are called and what their attributes say, with limits.

A file with a document type declaration is refused, so that no entity can be declared, let alone expanded or fetched.
Must not know: events, systems, files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final
from xml.parsers import expat

from cgos_protocol.errors import Code
from cgos_protocol.lines.misread import Misread

MOST_BYTES: Final = 32 << 20
MOST_ELEMENTS: Final = 200_000
DEEPEST: Final = 16

_fault: Final = partial(Misread, Code.OPENGOTHA)


@dataclass(frozen=True, slots=True)
class Element:
    """:ivar path: names of the elements around it and its own, with slashes between
    :ivar line: where it begins, 1 = the first
    """

    path: str
    line: int
    values: Mapping[str, str]

    def fault(self, problem: str, remedy: str) -> Misread:
        """The error about this element."""
        return _fault(self.line, 1, problem, remedy)

    def whole(self, name: str, default: int, least: int, most: int) -> int:
        """An attribute that is a whole number. Raises Misread where it is none, or outside the limits."""
        text = self.values.get(name, "").strip() or str(default)
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 9 and least <= int(text) <= most):
            raise self.fault(f"{name} is {text!r}", f"Give a whole number from {least} to {most}")
        return int(text)

    def flag(self, name: str, default: bool) -> bool:
        return self.values.get(name, str(default)).strip().lower() == "true"


@dataclass(slots=True)
class _Reader:
    """What the parser calls; names as in :mod:`xml.parsers.expat`."""

    parser: expat.XMLParserType
    open: list[str] = field(default_factory=list)
    elements: list[Element] = field(default_factory=list)

    def start(self, name: str, values: dict[str, str]) -> None:
        self.open.append(name)
        line = self.parser.CurrentLineNumber
        if len(self.open) > DEEPEST:
            raise _fault(line, 1, f"elements are nested more than {DEEPEST} deep", "Give OpenGotha's file")
        if len(self.elements) >= MOST_ELEMENTS:
            raise _fault(line, 1, f"there are more than {MOST_ELEMENTS} elements", "Give a smaller file")
        self.elements.append(Element("/".join(self.open), line, values))

    def end(self, _name: str) -> None:
        self.open.pop()

    def doctype(self, *_: object) -> None:
        line = self.parser.CurrentLineNumber
        raise _fault(line, 1, "the file declares a document type", "Take <!DOCTYPE ...> out")


def elements(data: bytes) -> list[Element]:
    """All elements in their order.

    :raises Misread: where it is no XML, or of another kind, or too large
    """
    if len(data) > MOST_BYTES:
        raise _fault(1, 1, f"the file has more than {MOST_BYTES} bytes", "Give a smaller file")
    parser = expat.ParserCreate()
    reader = _Reader(parser)
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.StartDoctypeDeclHandler = reader.doctype
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError, LookupError) as problem:  # the latter two: unknown encodings
        line, column = getattr(problem, "lineno", 1), getattr(problem, "offset", 0) + 1
        what = expat.ErrorString(problem.code) if isinstance(problem, expat.ExpatError) else str(problem)
        raise _fault(line, column, f"this is no XML: {what}", "Save it anew") from problem
    root = reader.elements[0]
    if root.path != "Tournament":
        wrong = f"the file is XML of another kind (<{root.path[:40]}>), not a tournament of OpenGotha"
        raise _fault(root.line, 1, wrong, "Give OpenGotha's own file")
    return reader.elements
