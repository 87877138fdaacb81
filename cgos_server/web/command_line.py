"""How the web process is started: its command line, which carries the settings, and its environment.

Must not know: configuration files, the live server, what the settings say.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from cgos_server.net.tls.certificates import TlsFiles
from cgos_server.presentation.settings import WebSettings
from cgos_server.storage import DATABASE
from cgos_server.storage.location import Location, PostgresUrl

T = TypeVar("T")

DATABASE_VARIABLE = "CGOS_SERVER__DATABASE"
"""The environment variable with the URL of a database in PostgreSQL; empty for the file in the data directory. Not an
argument, because those can be read by every user of the machine."""


class Cluster(msgspec.Struct, frozen=True, kw_only=True):
    """Where the pages are those of a cluster: facts come by the database, commands go to the nodes.

    :ivar name: of the process, among those that use the database
    :ivar node: the node whose pages these are; empty where they are no node's
    :ivar key: file with the cluster's key; empty: commands reach that node alone
    :ivar ttl_s: seconds after which a node that has written nothing counts as dead
    """

    name: str
    node: str = ""
    key: str = ""
    ttl_s: float = 5.0


class Arguments(NamedTuple):
    """The child's command line.

    :ivar data: the server's data directory
    :ivar listen_fd: the inherited listening socket
    :ivar redirect_fd: the inherited one that leads visitors to it; None where there is none
    :ivar pipe_fd: the inherited end of the pipe through which facts come, and whose closing ends the process
    :ivar scrape_fd: the inherited socket through which this process is asked for its metrics
    :ivar cluster: None where the server is alone
    """

    data: Path
    listen_fd: int
    pipe_fd: int
    scrape_fd: int
    log_format: str
    log_level: str
    settings: WebSettings
    redirect_fd: int | None = None
    tls: TlsFiles | None = None
    cluster: Cluster | None = None


def command(
    data: Path,
    settings: WebSettings,
    *,
    log_format: str,
    log_level: str,
    tls: TlsFiles | None = None,
    cluster: Cluster | None = None,
) -> list[str]:
    """How to execute the web process, but for the descriptors that whoever starts it adds.

    :param tls: what it speaks TLS with; None where it does not
    :param cluster: None where the server is alone
    """
    # In one word with their options: a server may well be called "-x".
    return [
        *(sys.executable, "-m", "cgos_server.web"),
        *(f"--data={data}", f"--log-format={log_format}", f"--log-level={log_level}"),
        f"--settings={msgspec.json.encode(settings).decode()}",
        *([] if tls is None else [f"--tls={msgspec.json.encode(tls).decode()}"]),
        *([] if cluster is None else [f"--cluster={msgspec.json.encode(cluster).decode()}"]),
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
    parser.add_argument("--scrape-fd", type=int, required=True, help="descriptor of the socket that asks for metrics")
    parser.add_argument("--redirect-fd", type=int, help="descriptor of a listening socket that leads to https")
    parser.add_argument("--settings", type=_settings, default=WebSettings(), metavar="JSON", help="what pages show")
    parser.add_argument("--tls", type=_tls_files, metavar="JSON", help="certificate and key")
    parser.add_argument("--cluster", type=_cluster, metavar="JSON", help="where the pages are those of a cluster")
    parser.add_argument("--log-format", choices=("auto", "text", "json"), default="auto")
    parser.add_argument("--log-level", choices=("debug", "info", "warning", "error"), default="info")
    return Arguments(**vars(parser.parse_args(arguments)))


def _settings(text: str) -> WebSettings:
    return _decoded(text, WebSettings)


def _tls_files(text: str) -> TlsFiles:
    return _decoded(text, TlsFiles)


def _cluster(text: str) -> Cluster:
    return _decoded(text, Cluster)


def _decoded(text: str, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.DecodeError as error:
        raise argparse.ArgumentTypeError(f"these are no settings: {error}") from error
