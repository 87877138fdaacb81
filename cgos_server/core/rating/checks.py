"""What an entry of the ledger must say to make sense to any rating system; the sentences where it does not.

Must not know: what a system makes of it, which versions have entered.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from cgos_protocol.errors import OurFault
from cgos_protocol.ids import VersionId
from cgos_server.core.rating.base import Entry

_RESULTS = (0, 1, 2)


class Corrected(NamedTuple):
    """Two versions that met, and what the game counted and counts as, in half points for Black (None: not)."""

    black: VersionId
    white: VersionId
    was2: int | None
    score2: int | None


def result(entry: Entry) -> tuple[VersionId, VersionId, int]:
    """Black, White and the score of the game that a GAME is about. Raises OurFault."""
    black, white, score2 = entry.black, entry.white, entry.score2
    if black is None or white is None or black == white or score2 is None or score2 not in _RESULTS:
        raise OurFault(f"Ledger entry {entry.seq} is no game between two versions with a result.")
    return black, white, score2


def correction(entry: Entry) -> Corrected:
    """What a CORRECTION changes; raises OurFault."""
    black, white, was2, score2 = entry.black, entry.white, entry.was2, entry.score2
    fit = all(half is None or half in _RESULTS for half in (was2, score2))
    if black is None or white is None or black == white or not fit or (was2 is None and score2 is None):
        raise OurFault(f"Ledger entry {entry.seq} corrects no game between two versions.")
    return Corrected(black, white, was2, score2)


def version(entry: Entry) -> VersionId:
    """The version that the entry is about; raises OurFault where there is none."""
    if entry.version is None:
        raise OurFault(f"Ledger entry {entry.seq} ({entry.kind}) names no version.")
    return entry.version


def newcomer(entry: Entry, known: bool) -> VersionId:
    """The version that an ENTER is about; raises OurFault where it is `known` already."""
    entering = version(entry)
    if known:
        raise OurFault(f"Ledger entry {entry.seq} enters version {entering}, which has entered already.")
    if entry.other == entering:
        raise OurFault(f"Ledger entry {entry.seq} makes version {entering} its own successor.")
    return entering


def predecessor(entry: Entry) -> VersionId:
    """The version that a LINK or UNLINK names beside its own; raises OurFault where it names none."""
    if entry.other is None or entry.other == version(entry):
        raise OurFault(f"Ledger entry {entry.seq} ({entry.kind}) names no other version.")
    return entry.other


def value(entry: Entry) -> float:
    """The rating in the entry; raises OurFault where there is none, or none that is finite."""
    if entry.value is None or not math.isfinite(entry.value):
        raise OurFault(f"Ledger entry {entry.seq} ({entry.kind}) carries no usable rating: {entry.value}.")
    return float(entry.value)


def deviation(entry: Entry, default: float) -> float:
    """The standard deviation in the entry, or `default`; raises OurFault where it is not above 0 and finite."""
    if entry.sd is None:
        return default
    if not (math.isfinite(entry.sd) and entry.sd > 0):
        raise OurFault(f"Ledger entry {entry.seq} ({entry.kind}) carries no usable standard deviation: {entry.sd}.")
    return float(entry.sd)
