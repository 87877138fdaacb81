"""What the pages must know of the server besides its database, and how it travels on the child's command line.

Must not know: configuration files, the live server.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import NamedTuple

import msgspec

from cgos_server.core.rating.base import RatingSystem
from cgos_server.core.rating.registry import rating_system, systems
from cgos_server.core.venue import Venue
from cgos_server.storage import DATABASE
from cgos_server.storage.location import Location, PostgresUrl

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
        found = set(there)
        order = dict.fromkeys((*self.systems, *systems().names))
        return [*(system for system in order if system in found), *sorted(found - set(order))]


class VenueSettings(msgspec.Struct, frozen=True):
    """A venue as it is configured now; what its first game fixed is in the database.

    :ivar port: where its bots connect
    :ivar public_address: by which host and port they reach it; empty: by that port
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
    set_aside: int = 0
    counts: bool = True
    public_address: str = ""

    @classmethod
    def of(cls, venue: Venue, port: int, public_address: str = "") -> VenueSettings:
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
            set_aside=pairing.set_aside,
            counts=venue.rated,
            public_address=public_address,
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
    :ivar websocket_url: by which they reach it; empty: by that port
    :ivar public_url: the pages' address for people, without a slash at its end; empty: by which a page was asked for
    :ivar proxies: networks whose ``X-Forwarded-For`` is believed
    :ivar accounts: whether people may make accounts: ``open`` or ``closed``
    :ivar requests_per_minute: for one address
    :ivar streams_per_address: for one address; ten times as many for all
    :ivar exports_at_once: for all
    :ivar webhooks_to: private networks where webhooks may go
    :ivar transcript_days: how long transcripts are kept; 0: there are none
    """

    server_name: str = "cgos-server"
    venues: dict[str, VenueSettings] = {}
    bots_host: str = ""
    registration: str = "open"
    refresh_s: int = 10
    websocket: int = 0
    websocket_url: str = ""
    public_url: str = ""
    proxies: tuple[str, ...] = ()
    accounts: str = "open"
    requests_per_minute: int = 600
    streams_per_address: int = 100
    exports_at_once: int = 8
    webhooks_to: tuple[str, ...] = ()
    transcript_days: float = 7.0

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


DATABASE_VARIABLE = "CGOS_SERVER__DATABASE"
"""The environment variable with the URL of a database in PostgreSQL; empty for the file in the data directory. Not an
argument, because those can be read by every user of the machine."""


class Arguments(NamedTuple):
    """The child's command line.

    :ivar data: the server's data directory
    :ivar listen_fd: the inherited listening socket
    :ivar pipe_fd: the inherited end of the pipe through which facts come, and whose closing ends the process
    """

    data: Path
    listen_fd: int
    pipe_fd: int
    log_format: str
    log_level: str
    settings: WebSettings


def command(data: Path, settings: WebSettings, log_format: str, log_level: str) -> list[str]:
    """How to execute the web process, but for the two descriptors that whoever starts it adds."""
    # In one word with their options: a server may well be called "-x".
    return [
        *(sys.executable, "-m", "cgos_server.web"),
        *(f"--data={data}", f"--log-format={log_format}", f"--log-level={log_level}"),
        f"--settings={msgspec.json.encode(settings).decode()}",
    ]


def environment(database: PostgresUrl | None) -> dict[str, str]:
    """What else whoever starts the web process must give it, as environment variables."""
    return {DATABASE_VARIABLE: "" if database is None else database.dsn}


def database_of(data: Path, variables: Mapping[str, str]) -> Location:
    """The database by the data directory and the environment. Raises ValueError where that is no URL."""
    text = variables.get(DATABASE_VARIABLE, "")
    return PostgresUrl.parse(text) if text else data / DATABASE


def parse(arguments: Sequence[str]) -> Arguments:
    """The inverse of :func:`command`; exits with a usage message where it cannot be."""
    parser = argparse.ArgumentParser(
        prog="python -m cgos_server.web",
        description="Serve the pages on an inherited socket until the inherited pipe closes. Started by the server.",
    )
    parser.add_argument("--data", type=Path, required=True, help="the server's data directory")
    parser.add_argument("--listen-fd", type=int, required=True, help="descriptor of the listening socket")
    parser.add_argument("--pipe-fd", type=int, required=True, help="descriptor of the pipe's reading end")
    parser.add_argument("--settings", type=_settings, default=WebSettings(), metavar="JSON", help="what pages show")
    parser.add_argument("--log-format", choices=("auto", "text", "json"), default="auto")
    parser.add_argument("--log-level", choices=("debug", "info", "warning", "error"), default="info")
    given = parser.parse_args(arguments)
    return Arguments(
        data=given.data,
        listen_fd=given.listen_fd,
        pipe_fd=given.pipe_fd,
        log_format=given.log_format,
        log_level=given.log_level,
        settings=given.settings,
    )


def _settings(text: str) -> WebSettings:
    try:
        return msgspec.json.decode(text, type=WebSettings)
    except msgspec.DecodeError as error:
        raise argparse.ArgumentTypeError(f"these are no settings: {error}") from error
