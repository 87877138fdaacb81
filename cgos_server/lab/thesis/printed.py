"""What is printed in T. Vuorinen (2010), Enhancing Go tournament pairings in Europe: values of its tables.

Facts only; what the tables mean, and where they are wrong, is said where they are recomputed. Must not know: anything
else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

CON: Final = (
    116,
    110,
    105,
    100,
    95,
    90,
    85,
    80,
    75,
    70,
    65,
    60,
    55,
    51,
    47,
    43,
    39,
    35,
    31,
    27,
    24,
    21,
    18,
    15,
    13,
    11,
    10,
)
"""Table 2.1: con at 100, 200 ... 2700."""

RATINGS: Final[Mapping[str, int]] = MappingProxyType({"A": 509, "B": 902, "C": 464, "D": 800, "E": 340, "F": 646})
"""Of the six players of tables 2.2 and 2.3."""

WINS: Final[Mapping[str, Sequence[float]]] = MappingProxyType(
    {
        "AB": (0.10126, 0.89874),
        "AC": (0.5615, 0.4385),
        "AD": (0.16567, 0.83433),
        "AE": (0.71073, 0.28927),
        "AF": (0.31841, 0.68159),
        "BC": (0.91733, 0.08267),
        "BD": (0.6498, 0.3502),
        "BE": (0.95209, 0.04791),
        "BF": (0.79604, 0.20396),
        "CD": (0.13633, 0.86367),
        "CE": (0.65916, 0.34084),
        "CF": (0.26894, 0.73106),
        "DE": (0.92033, 0.07967),
        "DF": (0.70893, 0.29107),
        "EF": (0.16415, 0.83585),
    }
)
"""Table 2.2: how likely each of a pair is to win."""

TERMS: Final[Mapping[str, Sequence[float]]] = MappingProxyType(
    {
        "AB": (0.33455, 0.13843),
        "AC": (0.46753, 0.52153),
        "AD": (0.42968, 0.21802),
        "AE": (0.35012, 0.51765),
        "AF": (0.52571, 0.37694),
        "BC": (0.1142, 0.29732),
        "BD": (0.40413, 0.53011),
        "BE": (0.06744, 0.21001),
        "BF": (0.26197, 0.46781),
        "CD": (0.39192, 0.18262),
        "CE": (0.39635, 0.52927),
        "CF": (0.50955, 0.33039),
        "DE": (0.11023, 0.29078),
        "DF": (0.35183, 0.51827),
        "EF": (0.42792, 0.21622),
    }
)
"""Table 2.3: -p log2 p of each of a pair, bits."""

WRONG: Final = "BF"
"""The pair that is computed wrongly in table 2.2, and hence in table 2.3."""

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
