"""Grades of Go as numbers, and the points with which everybody starts a McMahon event.

Knows nothing of pairing, and nobody's results.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from cgos_protocol.errors import Code, Invalid
from cgos_server.tournaments.base import Entrant, Event

GRADES: Final = (*(f"{kyu}k" for kyu in range(30, 0, -1)), *(f"{dan}d" for dan in range(1, 10)))
"""Of amateurs, weakest first. Each is one step of 1 point, or of 100 rating points."""

FLOOR: Final = "20k"
"""The usual floor: this grade and weaker ones start with nothing."""

_STEP: Final = 100
_LEAST_RATING: Final = 100
_PROFESSIONAL: Final = 27
_GRADE: Final = re.compile(r"\s*([1-9][0-9]?)\s*([kdp])[a-z]*\s*", re.IGNORECASE)
_MOST: Final[Mapping[str, int]] = MappingProxyType({"k": 30, "d": 9, "p": 9})
_REMEDY: Final = "Write one such as 12k, 4d or 3p."


def grade_index(grade: str) -> int:
    """How many steps a grade is above 20 kyu: k kyu is 20 - k, d dan 19 + d (Vuorinen 2010, section 4.1.1).

    All professionals have the step above 7 dan (our choice; their own grades are of another scale).

    :param grade: ``30k`` to ``1k``, ``1d`` to ``9d``, ``1p`` to ``9p``; ``4 dan`` and ``4D`` are read too
    :raises Refused: where it is none of these
    """
    index = _index(grade)
    if index is None:
        raise Invalid(Code.GRADE, f"{grade!r} is not a grade. {_REMEDY}")
    return index


def nominal_rating(grade: str) -> int:
    """The rating (GoR) in the middle of a grade: 20k and weaker 100, then 100 more for each step (Vuorinen 2010,
    section 2.2)."""
    return max(_LEAST_RATING, _LEAST_RATING + _STEP * grade_index(grade))


def rating_of(one: Entrant) -> float | None:
    """An entrant's rating, else the one in the middle of its grade; None without either."""
    if one.rating is not None:
        return one.rating
    return float(nominal_rating(one.grade)) if one.grade else None


def starting_points(event: Event, floor: str = FLOOR, bar: str | None = None) -> Mapping[int, int]:
    """What everybody who ever entered starts with: id -> half points, 0 or more, in the order of registration.

    An entrant's own `start` is taken as it is. Else points are ``max(0, min(g, bar) - floor)`` in steps of grades
    (Vuorinen 2010, section 4.1.1; the scheme of the European Go Congress). Who has no grade counts as many steps above
    the floor as ``(rating - rating of the floor) / 100``, halves rounded up, within floor and bar; who has neither
    starts at the floor (both our choice).

    :param floor: grade of those who start with nothing, and everybody weaker
    :param bar: grade of the top group, and everybody stronger; None: no bar
    :raises Refused: where a grade cannot be read, or the bar is under the floor
    """
    least = grade_index(floor)
    most = None if bar is None else grade_index(bar)
    if most is not None and most < least:
        raise Invalid(
            Code.MCMAHON_BAR, f"The bar ({bar}) is under the floor ({floor}). Give a higher bar or a lower floor."
        )
    return {one.id: _start(one, least, most) for one in event.entrants}


def _start(one: Entrant, least: int, most: int | None) -> int:
    index = _index(one.grade) if one.grade else None
    if one.grade and index is None:
        raise Invalid(Code.GRADE, f"{one.name} has the grade {one.grade!r}, which is none. {_REMEDY}")
    if one.start is not None:
        return one.start
    if index is None:
        above = 0.0 if one.rating is None else (one.rating - _LEAST_RATING) / _STEP - least
        index = least + math.floor(above + 0.5)
    return 2 * max(0, (index if most is None else min(index, most)) - least)


def _index(grade: str) -> int | None:
    parts = _GRADE.fullmatch(grade)
    if parts is None:
        return None
    number, kind = int(parts[1]), parts[2].lower()
    if number > _MOST[kind]:
        return None
    return 20 - number if kind == "k" else 19 + number if kind == "d" else _PROFESSIONAL
