"""Results in the words of command lines, files and the API: White's points first.

Must not know: events, files.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from cgos_server.tournaments.base import NO_CONTEST, VOID, Result

RESULTS: Final[Mapping[str, Result]] = MappingProxyType(
    {
        "1-0": Result(0, 2),
        "0-1": Result(2, 0),
        "1/2-1/2": Result(1, 1),
        "0-0": Result(0, 0),
        "+/-": Result(0, 2, "forfeit"),
        "-/+": Result(2, 0, "forfeit"),
        "-/-": Result(0, 0, "forfeit"),
        "void": VOID,
        "no-contest": NO_CONTEST,
    }
)
"""White's points first; with a slash between signs the game was never started."""


def score_of(result: Result | None) -> str | None:
    """As a command line takes a result; None: none yet. Points that no word stands for come as numbers."""
    if result is None:
        return None
    return next(
        (word for word, other in RESULTS.items() if other == result), f"{result.white / 2:g}-{result.black / 2:g}"
    )
