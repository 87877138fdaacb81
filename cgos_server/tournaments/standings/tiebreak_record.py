"""What a tie-breaker reads of an event, and what it answers. Must not know: which tie-breakers there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from cgos_server.tournaments.base import Event
from cgos_server.tournaments.ledger import Entry, Line
from cgos_server.tournaments.standings.mms import Absences

Values: TypeAlias = dict[int, float | None]
"""By id, in points; None: does not apply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What tie-breakers read.

    :ivar games: id -> entries of games really played
    :ivar length: [r - 1]: most games that anybody had in round r, at least 1
    :ivar start: half points that a McMahon entrant began with; None: not such an event
    :ivar own: id -> half points that count as somebody's own final score
    :ivar seen: id -> half points that opponents' sums take of somebody: with absence points in a McMahon event
    :ivar absences: whose score absence points count in: see :data:`Absences`
    :ivar tied: groups of ids, two or more, that are equal in all that was compared before
    """

    event: Event
    lines: Mapping[int, Line]
    games: Mapping[int, list[Entry]]
    length: tuple[int, ...]
    start: Mapping[int, int] | None
    own: Mapping[int, int]
    seen: Mapping[int, int]
    absences: Absences
    tied: tuple[tuple[int, ...], ...] = ()
