"""How many candidates Birk's method draws: one of its four formulas by name, or an own one in whole numbers.

An own formula is read once into a tree of Python's grammar, of which only arithmetic is accepted; no name but those
listed ever reaches an evaluator. Must not know: candidates, who is paired.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from math import isqrt
from types import MappingProxyType
from typing import Any, NamedTuple

FORMULAS: Mapping[str, Callable[[int], int]] = MappingProxyType(
    {
        "half": lambda avail: 1 + avail // 2,
        "fifth": lambda avail: 1 + avail // 5,
        "sqrt": lambda avail: 1 + isqrt(avail - 1),
        "one": lambda _avail: 1,
    }
)
"""How many of `avail` (>= 1) unpaired others are drawn. Christoph Birk, computer-go list, 5 October 2006."""

MOST_TEXT = 200
"""Characters an own formula may have."""
MOST_VALUE = 10**12
"""Whatever a part of an own formula comes to, beyond this it is cut off."""
MOST_POWER = 4
"""The largest exponent."""


class Formula(NamedTuple):
    """The option: a name of FORMULAS or an own formula."""

    default: str | None = None
    meaning: str = ""

    @property
    def possible(self) -> str:
        return f"one of {_CHOICES}"

    def read(self, value: Any) -> str:
        """`value` itself. Raises ValueError with the end of a sentence: what it may be."""
        if not isinstance(value, str):
            raise ValueError(f"Choose one of: {_CHOICES}.")
        compiled(value)
        return str(value)


def compiled(formula: str) -> Callable[[int, int], int]:
    """`count(avail, np)`: how many are drawn of `avail` (>= 1) unpaired others when `np` versions were active at the
    beginning; 1 to `avail`.

    :param formula: a name of FORMULAS, or arithmetic in `avail` and `np` with whole numbers: + - * // % **, min, max,
        isqrt (the root, rounded down) and brackets. A quotient by 0 and the root of a negative number count as 0
    :raises ValueError: with the end of a sentence that says what is wrong
    """
    if formula in FORMULAS:
        named = FORMULAS[formula]
        return lambda avail, _np: min(named(avail), avail)
    evaluate = _evaluator(formula)
    return lambda avail, np: max(1, min(avail, evaluate({"avail": avail, "np": np})))


_CHOICES = (
    f"{', '.join(FORMULAS)}, or arithmetic in avail and np such as '1 + avail // 3' (whole numbers, + - * // % **, min,"
    " max, isqrt)"
)
_Values = Mapping[str, int]
_Evaluate = Callable[[_Values], int]


def _evaluator(text: str) -> _Evaluate:
    if len(text) > MOST_TEXT:
        raise ValueError(f"A formula has at most {MOST_TEXT} characters. Choose one of: {_CHOICES}.")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ValueError(f"It is no formula. Choose one of: {_CHOICES}.") from error
    return _read(tree.body)


def _cut(value: int) -> int:
    return max(-MOST_VALUE, min(MOST_VALUE, value))


def _power(base: int, exponent: int) -> int:
    return int(base ** max(0, min(MOST_POWER, exponent)))


_BINARY: Mapping[type[ast.operator], Callable[[int, int], int]] = MappingProxyType(
    {
        ast.Add: lambda a, b: a + b,
        ast.Sub: lambda a, b: a - b,
        ast.Mult: lambda a, b: a * b,
        ast.FloorDiv: lambda a, b: a // b if b else 0,
        ast.Mod: lambda a, b: a % b if b else 0,
        ast.Pow: _power,
    }
)
_CALLS: Mapping[str, tuple[int, int, Callable[..., int]]] = MappingProxyType(
    {"min": (2, 9, min), "max": (2, 9, max), "isqrt": (1, 1, lambda a: isqrt(max(0, a)))}
)
"""Name -> (fewest arguments, most arguments, function)."""


def _read(node: ast.expr) -> _Evaluate:
    """One node of the tree as a function of the variables."""
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool) and abs(value) <= MOST_VALUE:
            return lambda _values: value
        case ast.Name(id=("avail" | "np") as name):
            return lambda values: values[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _read(operand)
            return lambda values: -inner(values)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            do, one, other = _BINARY[type(op)], _read(left), _read(right)
            return lambda values: _cut(do(one(values), other(values)))
        case ast.Call(func=ast.Name(id=called), args=arguments, keywords=[]) if called in _CALLS:
            fewest, most, function = _CALLS[called]
            if not fewest <= len(arguments) <= most:
                raise ValueError(f"{called} takes {f'{fewest} to {most} numbers' if fewest < most else '1 number'}.")
            parts = [_read(argument) for argument in arguments]
            return lambda values: _cut(function(*(part(values) for part in parts)))
    raise ValueError(f"{ast.unparse(node)!r} is not allowed in it. Choose one of: {_CHOICES}.")
