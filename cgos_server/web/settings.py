"""What the pages must know of the server besides its database, and how it travels on the child's command line.

Must not know: configuration files, the live server.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import msgspec

from cgos_server.core.rating.base import RatingSystem
from cgos_server.core.rating.registry import rating_system
from cgos_server.core.venue import Venue
from cgos_server.storage import DATABASE
from cgos_server.storage.location import Location, PostgresUrl


class Rated(msgspec.Struct, frozen=True):
    """How a venue is rated: what is needed to read its saved states.

    :ivar systems: the headline first, then the views
    :ivar options: system -> its own options
    """

    systems: tuple[str, ...] = ("bayes",)
    initial: float = 1800.0
    options: dict[str, dict[str, bool | int | float | str]] = {}

    @classmethod
    def of(cls, venue: Venue) -> Rated:
        """As the venue is configured."""
        options = {name: dict(chosen) for name, chosen in venue.rating_options.items() if chosen}
        return cls((venue.rating, *venue.views), venue.initial, options)

    def system(self, name: str) -> RatingSystem:
        """The rating system with its options here. Raises Refused."""
        return rating_system(name, self.initial, self.options.get(name, {}))


@dataclass(frozen=True, slots=True)
class WebSettings:
    """What the pages say that no table holds.

    :ivar server_name: what the server calls itself
    :ivar ports: venue -> the port where its bots connect, in the order in which venues are shown
    :ivar bots_host: the name or address for bots to connect to; empty: the host by which the page was asked for
    :ivar registration: ``open``, ``approval`` or ``closed``
    :ivar refresh_s: seconds after which pages about what happens now load themselves again; 0: never
    :ivar websocket: the port where bots of all venues connect by WebSocket; 0 where there is none
    :ivar rated: venue -> how it is rated
    """

    server_name: str = "cgos-server"
    ports: Mapping[str, int] = field(default_factory=dict)
    bots_host: str = ""
    registration: str = "open"
    refresh_s: int = 10
    websocket: int = 0
    rated: Mapping[str, Rated] = field(default_factory=dict)


DATABASE_VARIABLE = "CGOS_SERVER__DATABASE"
"""The environment variable with the URL of a database in PostgreSQL; empty for the file in the data directory. Not an
argument, because those can be read by every user of the machine."""


class Arguments(NamedTuple):
    """The child's command line.

    :ivar data: the server's data directory
    :ivar listen_fd: the inherited listening socket
    :ivar pipe_fd: the inherited end of the pipe whose closing ends the process
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
        *(f"--server-name={settings.server_name}", f"--bots-host={settings.bots_host}"),
        *(f"--registration={settings.registration}", f"--refresh={settings.refresh_s}"),
        f"--websocket={settings.websocket}",
        *(f"--venue={name}={port}" for name, port in settings.ports.items()),
        *(f"--rated={name}={msgspec.json.encode(rated).decode()}" for name, rated in settings.rated.items()),
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
    parser.add_argument("--server-name", default=WebSettings().server_name, help="what the server calls itself")
    parser.add_argument(
        "--venue", type=_venue, action="append", default=[], metavar="NAME=PORT", help="where bots connect"
    )
    parser.add_argument(
        "--rated", type=_rated, action="append", default=[], metavar="NAME=JSON", help="how a venue is rated"
    )
    parser.add_argument("--bots-host", default="", help="host for bots; without it the one the page was asked by")
    parser.add_argument("--registration", choices=("open", "approval", "closed"), default="open")
    parser.add_argument("--refresh", type=int, default=WebSettings().refresh_s, help="seconds; 0 for never")
    parser.add_argument("--websocket", type=int, default=0, help="port for bots by WebSocket; 0 for none")
    parser.add_argument("--log-format", choices=("auto", "text", "json"), default="auto")
    parser.add_argument("--log-level", choices=("debug", "info", "warning", "error"), default="info")
    given = parser.parse_args(arguments)
    settings = WebSettings(
        given.server_name,
        dict(given.venue),
        given.bots_host,
        given.registration,
        max(0, given.refresh),
        given.websocket,
        dict(given.rated),
    )
    return Arguments(given.data, given.listen_fd, given.pipe_fd, given.log_format, given.log_level, settings)


def _venue(text: str) -> tuple[str, int]:
    name, _, port = text.rpartition("=")
    if not name or not port.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=PORT")
    return name, int(port)


def _rated(text: str) -> tuple[str, Rated]:
    name, _, values = text.partition("=")
    try:
        return name, msgspec.json.decode(values, type=Rated)
    except msgspec.DecodeError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=JSON: {error}") from error
