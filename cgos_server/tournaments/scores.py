"""Results in words: as people say them, and as command lines, files and the API write them, White's points first.

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


def result_words(result: Result, black: str = "Black", white: str = "White") -> str:
    """A result as people say it: ``Black wins``, ``White wins by forfeit``, ``Void``.

    :param black: what to call Black
    :param white: what to call White
    """
    if result.how == "void":
        return "Void"
    if result.how == "no-contest":
        return "No contest"
    by = " by forfeit" if result.how == "forfeit" else ""
    match result.black, result.white:
        case (2, 0):
            return f"{black} wins{by}"
        case (0, 2):
            return f"{white} wins{by}"
        case (1, 1):
            return f"Draw{by}"
        case (0, 0):
            return "Both forfeit" if by else "Both lose"
    return f"{black} {result.black / 2:g}, {white} {result.white / 2:g}{by}"
