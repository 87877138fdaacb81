"""McMahon scores: where somebody started, what the games gave, and something for rounds in which one was not there.

After Vuorinen (2010), sections 4.2 and 6.1. Must not know: how starting points are found, pairing, tie-breakers.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from cgos_server.tournaments.ledger import Entry, Line

Absences: TypeAlias = Literal["all", "pairing", "none"]
"""Where absence points count: in everybody's score; only for pairing and in the sums of opponents (as EPM does:
Vuorinen 2010, 6.1); nowhere."""


def is_absence(entry: Entry) -> bool:
    """Whether this is a round that gives absence points: not there, or a bye asked for that gives nothing itself."""
    return entry.kind == "absent" or (entry.kind == "requested" and not entry.points)


def mms(line: Line, start: int, rounds: int | None = None, absences: bool = True) -> int:
    """The McMahon score, in half points: start, points of games and byes, and half a point for each absence, the sum
    of the latter rounded down to whole points (Vuorinen 2010; that their sum is rounded and not each is our choice).

    Rounds before somebody entered are no absences; those after a withdrawal are.

    :param start: half points
    :param rounds: count only the first so many; None: all
    :param absences: False: without absence points, as EPM counts everybody's own final score (Vuorinen 2010, 6.1)
    """
    entries = [entry for entry in line.entries if rounds is None or entry.round <= rounds]
    missed = sum(map(is_absence, entries)) if absences else 0
    return start + sum(entry.points for entry in entries) + missed // 2 * 2
