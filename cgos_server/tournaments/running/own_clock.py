"""The clock that an event's games are played by: the venue's, or one of its own.

Must not know: other terms of games, venues.
"""

from __future__ import annotations

from cgos_protocol.clock import TimeControl, TimeSystem
from cgos_protocol.errors import Code, Invalid
from cgos_server.tournaments.running.settings import Play

_US = 1_000_000


def own_clock(of_venue: TimeControl, play: Play) -> TimeControl:
    """The clock of games that are played so. Raises Refused where nobody can play by it."""
    if play.main_s is None:
        return of_venue
    if not 1 <= play.main_s <= 604_800 or not 0 <= (play.increment_s or 0) <= 3_600:
        raise Invalid(Code.EVENT_SETTING, "Give 1 to 604800 seconds a game, and 0 to 3600 seconds more a move.")
    system = TimeSystem.FISCHER if play.increment_s else TimeSystem.ABSOLUTE
    return TimeControl(
        system=system,
        main=round(play.main_s * _US),
        increment=round((play.increment_s or 0) * _US),
        lag=of_venue.lag,
        lag_bank=of_venue.lag_bank,
    )
