"""McMahon scores: where somebody started, what the games gave, and something for rounds in which one was not there.

After Vuorinen (2010), sections 4.2 and 6.1. Must not know: how starting points are found, pairing, tie-breakers.
"""

from __future__ import annotations

from itertools import accumulate
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
    if rounds is None:
        missed = sum(map(is_absence, line.entries)) if absences and line.idle else 0
        return start + line.score + missed // 2 * 2
    return course(line, start, rounds, absences)[rounds]


def course(line: Line, start: int, rounds: int, absences: bool = True) -> list[int]:
    """The McMahon score before the first round, then after each of the first `rounds`; else as :func:`mms`."""
    gained = [0] * (rounds + 1)
    missed = [0] * (rounds + 1)
    gained[0] = start
    for entry in line.entries:
        if entry.round <= rounds:
            gained[entry.round] += entry.points
            if absences and line.idle:
                missed[entry.round] += is_absence(entry)
    scores = list(accumulate(gained))
    if line.idle:
        scores = [score + number // 2 * 2 for score, number in zip(scores, accumulate(missed), strict=True)]
    return scores
