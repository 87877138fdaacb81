"""What is printed in T. Vuorinen (2010), Enhancing Go tournament pairings in Europe: values of its tables
from chapter 3 on; those of chapter 2 are where :mod:`cgos_server.lab.gor` recomputes them.

Facts only; what the tables mean, and where they are wrong, is said where they are recomputed. Must not know: anything
else.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

ROUND_ROBIN: Final = (
    ((1, 2, 3, 4, 5), (6, 7, 8, 9, 10)),
    ((1, 6, 2, 3, 4), (7, 8, 9, 10, 5)),
    ((1, 7, 6, 2, 3), (8, 9, 10, 5, 4)),
    ((1, 8, 7, 6, 2), (9, 10, 5, 4, 3)),
)
"""Table 3.1, rounds 1 to 4: the numbers of the upper and of the lower row."""

CUP_WINNERS: Final = (2, 3, 6, 7, 3, 7, 7)
"""Table 3.2: who wins, match by match; the bold print that says so is lost in the text that there is, but whoever is
named again in the next round has won."""

GROUPS: Final = (
    (10, 20, 1, 4),
    (15, 30, 3, 6),
    (25, 50, 5, 8),
    (45, 70, 6, 10),
    (65, 90, 9, 12),
    (85, 110, 10, 15),
    (100, 150, 11, 20),
    (140, 200, 12, 25),
    (170, None, 20, None),
)
"""Table 4.1: entrants from, to; groups of a McMahon event of five rounds from, to; None: and more."""

STARTS: Final[Mapping[str, int]] = MappingProxyType({"20k": 0, "19k": 1, "1k": 19, "1d": 20, "2d": 21})
"""Section 4.1.1: points with which one starts at the European Go Congress."""

DOUBLE_FOLDED: Final = ((1, 8), (2, 7), (3, 6), (4, 5), (9, 16), (10, 15), (11, 14), (12, 13))
"""Section 4.2.3: who meets whom by double folding, in its example of 16."""

ERRORS: Final = (0.14, 0.42)
"""Tables 7.1 to 7.4: the smallest and the largest total error."""
