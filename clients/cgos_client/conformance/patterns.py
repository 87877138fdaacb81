"""Expected lines with gaps: what matches, and what the gaps held.

Must not know: where lines come from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

Variables = Mapping[str, str]

KINDS: Final = {
    "ms": r"\d+",
    "int": r"\d+",
    "rating": r"\d+\??",
    "date": r"\d{4}-\d\d-\d\d",
    "time": r"\d\d:\d\d(?::\d\d)?",
    "komi": r"-?\d+\.\d+",
    "result": r"[BW]\+\S+|Draw|Abort",
    "word": r"\S+",
    "text": r".*",
}
"""What a gap such as ``<ms>`` may hold."""

_PIECE = re.compile(r"\$(?P<variable>[a-z]+(?:\.[a-z]+)*)|<(?P<kind>[a-z]+)(?::(?P<name>[a-z]+))?>|(?P<blank>\s+)")
_REPEAT = re.compile(r"\{(.)\*(\d+)\}")
_VARIABLE = re.compile(r"\$([a-z]+(?:\.[a-z]+)*)")


class BadPattern(ValueError):
    """A transcript asks for something that this language does not have. The text says what."""


class Made(NamedTuple):
    """A move of the game so far, and the milliseconds that its player was told to have left after it."""

    move: str
    left: str


def check(pattern: str) -> None:
    """Raises BadPattern where `pattern` names an unknown kind of gap or is no regular expression."""
    for piece in _PIECE.finditer(pattern):
        if piece["kind"] is not None and piece["kind"] not in KINDS and piece["kind"] != "moves":
            raise BadPattern(f"<{piece['kind']}> is no kind of gap: there are {', '.join(sorted([*KINDS, 'moves']))}")
    if is_regular(pattern):
        try:
            re.compile(pattern[1:-1])
        except re.error as error:
            raise BadPattern(f"{pattern}: {error}") from None


def is_regular(pattern: str) -> bool:
    """True for ``/regular expressions/``, which are held against the line byte for byte."""
    return len(pattern) > 2 and pattern[0] == pattern[-1] == "/"


def fits(pattern: str, line: str, variables: Variables, moves: Sequence[Made] = ()) -> dict[str, str] | None:
    """Hold `line` against `pattern`; runs of white space count as one blank, white space at the end as none.

    :param variables: known values; an unknown ``$name`` fits one word and is found
    :param moves: the game so far, for ``<moves>``: each with the very time that was told when it was made, whatever the
        time system
    :returns: what the gaps with a name held; None where the line does not fit
    """
    if is_regular(pattern):
        expression = _VARIABLE.sub(lambda name: re.escape(variables.get(name[1], name[0])), pattern[1:-1])
        return {} if re.fullmatch(expression, line) else None
    if pattern == "*":
        return {}
    rest = pattern.endswith(" *")
    if rest:
        pattern = pattern[:-1].rstrip()
    names: list[str] = []
    expression = _expression(pattern, variables, moves, names)
    fit = re.fullmatch(expression + (r"(?:\s.*)?" if rest else r"\s*"), line, re.DOTALL)
    if fit is None:
        return None
    return dict(zip(names, fit.groups(), strict=True))


def _expression(pattern: str, variables: Variables, moves: Sequence[Made], names: list[str]) -> str:
    """`pattern` as a regular expression; its groups are called `names`."""
    expression, at = "", 0
    for piece in _PIECE.finditer(pattern):
        expression += re.escape(pattern[at : piece.start()])
        at = piece.end()
        if piece["blank"]:
            expression += r"\s+"
        elif (variable := piece["variable"]) is not None:
            value = variables.get(variable)
            if value is None:
                names.append(variable)
                expression += r"([^\s()]+)"
            else:
                expression += re.escape(value)
        elif piece["kind"] == "moves":
            spelled = r"\s+".join(rf"(?i:{re.escape(made.move)})\s+{made.left}" for made in moves)
            expression = expression.removesuffix(r"\s+") + (rf"\s+{spelled}" if moves else "")
        elif piece["name"] is not None:
            names.append(piece["name"])
            expression += f"({KINDS[piece['kind']]})"
        else:
            expression += f"(?:{KINDS[piece['kind']]})"
    return expression + re.escape(pattern[at:])


def fill(template: str, variables: Variables) -> str:
    """`template` with every ``$name`` replaced and ``{x*5}`` written out as ``xxxxx``. Raises BadPattern."""

    def value(name: re.Match[str]) -> str:
        if name[1] not in variables:
            raise BadPattern(f"{name[0]} has no value here")
        return variables[name[1]]

    return _REPEAT.sub(lambda repeat: repeat[1] * int(repeat[2]), _VARIABLE.sub(value, template))


def to_bytes(text: str) -> bytes:
    r"""`text` as bytes; ``\r``, ``\n``, ``\t``, ``\\`` and ``\x00`` mean what they mean in Python."""
    if "\\" not in text:
        return text.encode("latin-1")
    return text.encode("latin-1").decode("unicode_escape").encode("latin-1")
