"""What pages and commands that show the same must know of the server besides its database.

Must not know: configuration files, the live server.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network

import msgspec

from cgos_server.core.rating.base import RatingSystem
from cgos_server.core.rating.registry import rating_system, systems
from cgos_server.core.venue import Venue

Value = bool | int | float | str
Networks = tuple[IPv4Network | IPv6Network, ...]


class Rated(msgspec.Struct, frozen=True):
    """How a venue is rated: what is needed to read its saved states.

    :ivar systems: the headline first, then the views
    :ivar options: system -> its own options
    """

    systems: tuple[str, ...] = ("bayes",)
    initial: float = 1800.0
    options: dict[str, dict[str, Value]] = {}

    def system(self, name: str) -> RatingSystem:
        """The rating system with its options here. Raises Refused."""
        return rating_system(name, self.initial, self.options.get(name, {}))

    def order(self, there: Iterable[str]) -> list[str]:
        """Rating systems that have published something, the headline first."""
        published = set(there)
        order = dict.fromkeys((*self.systems, *systems().names))
        return [*(system for system in order if system in published), *sorted(published - set(order))]


class VenueSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A venue as it is configured now; what its first game fixed is in the database.

    :ivar port: where its bots connect
    :ivar public_address: by which host and port they reach it; empty: by that port
    :ivar tls_port: where they connect by TLS; 0 where there is none
    :ivar public_tls_address: as `public_address`, for TLS
    :ivar delay_s: how long after it was played a move of a running game may be shown
    :ivar policy: when it pairs, a value of :class:`cgos_server.core.venue.Policy`
    :ivar method: how it pairs, with `pairing`: the options that differ from the method's defaults
    :ivar openings: how many openings there are, of which `openings_share` of the new pairs get one
    :ivar counts: False for a sandbox
    """

    port: int = 0
    rated: Rated = Rated()
    delay_s: float = 0.0
    policy: str = "rolling"
    method: str = "information"
    pairing: dict[str, Value] = {}
    interval_s: float = 1.0
    openings: int = 0
    openings_share: float = 1.0
    move_limit: int = 0
    first_move_s: float = 0.0
    ready_s: float = 0.0
    return_grace_s: float = 0.0
    void_after_s: float = 0.0
    suspend_after: int = 0
    counts: bool = True
    public_address: str = ""
    tls_port: int = 0
    public_tls_address: str = ""

    @classmethod
    def of(cls, venue: Venue, port: int) -> VenueSettings:
        """As the venue is configured."""
        options = {name: dict(chosen) for name, chosen in venue.rating_options.items() if chosen}
        pairing = venue.pairing
        return cls(
            port=port,
            rated=Rated((venue.rating, *venue.views), venue.initial, options),
            delay_s=venue.delay / 1e6,
            policy=pairing.policy.value,
            method=pairing.method,
            pairing=dict(pairing.options),
            interval_s=pairing.interval / 1e6,
            openings=len(pairing.openings.openings),
            openings_share=pairing.openings_share,
            move_limit=venue.move_limit,
            first_move_s=venue.first_move_limit / 1e6,
            ready_s=venue.ready_limit / 1e6,
            return_grace_s=venue.return_grace / 1e6,
            void_after_s=venue.void_after / 1e6,
            suspend_after=pairing.suspend_after,
            counts=venue.rated,
        )


class WebSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the pages say, and what they allow, that no table holds.

    :ivar server_name: what the server calls itself
    :ivar venues: in the order in which they are shown
    :ivar bots_host: the name or address for bots to connect to; empty: the host by which the page was asked for
    :ivar registration: of bots: ``open``, ``approval`` or ``closed``
    :ivar refresh_s: seconds after which pages about what happens now load themselves again where nothing runs in the
        browser; 0: never
    :ivar websocket: the port where bots of all venues connect by WebSocket; 0 where there is none
    :ivar websocket_tls: whether it speaks TLS
    :ivar websocket_url: by which they reach it; empty: by that port
    :ivar public_url: the pages' address for people, without a slash at its end; empty: by which a page was asked for
    :ivar hsts_s: seconds for which browsers that came by our own TLS are to come by `https` alone; 0: they are not told
    :ivar proxies: networks whose ``X-Forwarded-For`` is believed
    :ivar accounts: whether people may make accounts: ``open`` or ``closed``
    :ivar requests_per_minute: for one address
    :ivar streams_per_address: for one address; ten times as many for all
    :ivar exports_at_once: for all
    :ivar webhooks_to: private networks where webhooks may go
    :ivar transcript_days: how long transcripts are kept; 0: there are none
    :ivar questions_share: of its bots' time that a question gets, 0 to 1
    :ivar several_groups: whether venues are in several groups, each with numbers of its own for games
    """

    server_name: str = "cgos-server"
    venues: dict[str, VenueSettings] = {}
    bots_host: str = ""
    registration: str = "open"
    refresh_s: int = 10
    websocket: int = 0
    websocket_tls: bool = False
    websocket_url: str = ""
    public_url: str = ""
    hsts_s: int = 0
    proxies: tuple[str, ...] = ()
    accounts: str = "open"
    requests_per_minute: int = 600
    streams_per_address: int = 100
    exports_at_once: int = 8
    webhooks_to: tuple[str, ...] = ()
    transcript_days: float = 7.0
    several_groups: bool = False
    questions_share: float = 0.5

    @property
    def ports(self) -> dict[str, int]:
        """Venue -> the port where its bots connect."""
        return {name: venue.port for name, venue in self.venues.items()}

    @property
    def sandboxes(self) -> frozenset[str]:
        """Venues whose results change no rating."""
        return frozenset(name for name, venue in self.venues.items() if not venue.counts)

    def rated(self, venue: str) -> Rated:
        """How a venue is rated; as by default for one that is not configured any more."""
        return self.venues.get(venue, VenueSettings()).rated

    def delay_ms(self, venue: str) -> int:
        """How long after it was played a move of a running game may be shown."""
        return round(1000 * self.venues.get(venue, VenueSettings()).delay_s)


def networks(words: Sequence[str]) -> Networks:
    """Networks from their text in the settings."""
    return tuple(ip_network(word, strict=False) for word in words)
