"""Brings a connection's bot into several venues at once: one check of its password, all venues or none.

Must not know: wire formats, what happens in a lobby.
"""

from __future__ import annotations

from collections.abc import Mapping

from cgos_protocol.errors import Code, Invalid, NotFound
from cgos_protocol.session import Credentials, PlayerSession, Wish
from cgos_server.live.signing_in.arrivals import Arrivals
from cgos_server.live.venue.elsewhere import Elsewhere
from cgos_server.service.people.accounts import Operator


class MultiVenueSignIn:
    """The :class:`~cgos_protocol.session.MultiVenueReception` of the server."""

    def __init__(self, arrivals: Mapping[str, Arrivals], elsewhere: Elsewhere | None = None) -> None:
        self._arrivals = arrivals
        self._elsewhere = elsewhere or Elsewhere()

    def sign_in(self, sessions: Mapping[str, PlayerSession], credentials: Credentials, wish: Wish) -> None:
        """See :class:`~cgos_protocol.session.MultiVenueReception`. `sessions` holds at least one."""
        for venue in sessions:
            if venue not in self._arrivals:
                refusal = self._elsewhere.refusal(venue) or NotFound(
                    Code.NO_VENUE, f"There is no venue {venue} here. The venues are: {', '.join(self._arrivals)}."
                )
                next(iter(sessions.values())).refused(refusal.code, refusal.sentence)
                return
        places = [(self._arrivals[venue], session) for venue, session in sessions.items()]
        places[0][0].bring_in(places, credentials, wish, _refuse)


def _refuse(operator: Operator) -> None:
    raise Invalid(
        Code.OPERATOR, f"{operator.name} is an operator's account: use the command line, or a venue's CGOS port."
    )
