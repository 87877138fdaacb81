"""The configuration as types: every key with its type, its default, what it means and what values make sense.

Field names are the keys; their sentences become ``docs/configuration.md`` and the file that ``cgos-server init``
writes. Must not know: where values come from, what they start.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from cgos_protocol.clock import TimeSystem
from cgos_protocol.games.base import Ko
from cgos_protocol.options import Number, Text
from cgos_server.config.cluster import ClusterConfig
from cgos_server.config.operating import BackupConfig, RetentionConfig, TlsConfig
from cgos_server.config.pairing import PairingConfig
from cgos_server.config.questions import QuestionsConfig
from cgos_server.config.system_keys import rating_keys, with_keys
from cgos_server.config.values import (
    Count,
    Networks,
    NotNegative,
    Options,
    Port,
    Positive,
    PublicAddress,
    Span,
    VenueName,
    WebSocketUrl,
    Words,
)
from cgos_server.service.people.accounts import Registration
from cgos_server.storage import DATABASE
from cgos_server.storage.location import Location, PostgresUrl
from cgos_server.storage.node import MAIN
from cgos_server.storage.sqlite.connections import Durability

LogFormat = Literal["auto", "text", "json"]
LogLevel = Literal["debug", "info", "warning", "error"]
WebMode = Literal["process", "inline", "off"]
AccountsMode = Literal["open", "closed"]


class ServerConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The server as a whole."""

    name: Annotated[str, Text(1, 60), "What the server calls itself."] = "cgos-server"
    data: Annotated[
        Path,
        "Directory of the database, the lock and the control socket. A relative path in a file counts from the "
        "file's directory, elsewhere from the working directory.",
    ] = Path("cgos-data")
    database: Annotated[
        PostgresUrl | None,
        "Empty: SQLite, a file in the data directory. Or PostgreSQL: `postgresql://user:password@host:port/name`; "
        "what the URL leaves out is found as libpq does (`PGPASSWORD`, `~/.pgpass`). The password is never shown.",
    ] = None
    families: Annotated[
        str,
        "Naming convention by which bots of the CGOS lines are versions of one engine: a regular expression with a "
        "group `family` that the whole name must match, such as `(?P<family>.+)-[0-9.]+`. A new bot then begins "
        "where its predecessor stands. Empty: none; `cgos-server family` does it by hand.",
    ] = ""
    registration: Annotated[
        Registration,
        "What happens when a bot signs in under a new name: `open` registers it at once, `approval` keeps it "
        "waiting for `cgos-server approve`, `closed` refuses it.",
    ] = Registration.OPEN
    durability: Annotated[
        Durability,
        "What a move survives once the opponent has seen it: `process` the death of the server, `power` a power "
        "cut too (every commit waits for the disk).",
    ] = "process"
    commit_timeout_s: Annotated[
        Positive, "When the database has refused to commit for so long the server stops, with nothing lost."
    ] = 10.0
    drain_limit_s: Annotated[
        NotNegative, "How long running games may go on after SIGTERM or `cgos-server drain` before they are suspended."
    ] = 60.0
    log_format: Annotated[
        LogFormat, "`text` for people, `json` for machines, `auto`: text on a terminal, else JSON."
    ] = "auto"
    log_level: Annotated[LogLevel, "The least severe lines that are logged."] = "info"

    @property
    def location(self) -> Location:
        """Where the database is."""
        return self.database or self.data / DATABASE


class ListenConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where bots connect."""

    bots_host: Annotated[
        str, "Address of the venues' ports; empty means every address of the machine, IPv4 and IPv6."
    ] = ""
    proxies: Annotated[
        Networks,
        "Addresses or networks of proxies through which bots may come (`10.0.0.0/8`): what they say of a bot's "
        "address is believed, and a silent connection behind one gives way to a new sign-in.",
    ] = Networks()
    proxy_protocol: Annotated[
        bool,
        "Whether these proxies begin connections with the header of the PROXY protocol, version 2: on the venues' "
        "ports each of theirs must, on the WebSocket port one may. From all other addresses no header is taken.",
    ] = False
    backlog: Annotated[Count, "Connections that may wait to be accepted (the system may cap it)."] = 4096
    next_free_port: Annotated[
        bool, "Where a port is busy: `true` takes the next free one, `false` refuses. Holds for every port."
    ] = False


class WebSocketConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The WebSocket port: `cgos.v2` for bots of all venues and for watchers, and the CGOS lines at `/<venue>`."""

    enabled: Annotated[bool, "Whether there is a WebSocket port."] = True
    host: Annotated[str, "Its address; empty means every address of the machine, IPv4 and IPv6."] = ""
    port: Annotated[Port, "Its port; 0 takes any free one."] = 6868
    tls: Annotated[bool, "Whether it speaks TLS (`wss`), with the certificate of `[tls]`."] = False
    public_url: Annotated[
        WebSocketUrl,
        "The address by which bots reach it, such as `wss://bots.example.org` where a proxy speaks TLS; empty: "
        "`ws://` or `wss://` with the host of the venues' ports and this port. Shown wherever people are told how "
        "to connect.",
    ] = WebSocketUrl()
    compression: Annotated[
        bool, "Whether clients may compress messages; costs more processor time than it saves for single moves."
    ] = False
    max_message_bytes: Annotated[
        int, Number(65_536, 16_777_216, whole=True), "Longest message of a client, analysis of a move included."
    ] = 262_144
    ping_s: Annotated[Positive, "Seconds between two pings, by which each bot's way to the server is measured."] = 20.0
    pong_timeout_s: Annotated[
        Positive, "When a ping is not answered for so long the connection is lost; the clock goes on."
    ] = 40.0


class WebConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The pages for people."""

    host: Annotated[str, Text(1), "Address of the pages."] = "127.0.0.1"
    port: Annotated[Port, "Port of the pages; 0 takes any free one."] = 8080
    tls: Annotated[bool, "Whether that port speaks TLS (`https`), with the certificate of `[tls]`."] = False
    redirect_port: Annotated[
        Port | None,
        "With `tls`: a port without it, which sends visitors on to `https`, such as 80; without the key there is none.",
    ] = None
    hsts_days: Annotated[
        NotNegative,
        "With `tls`: days for which browsers are told to come by `https` alone (`Strict-Transport-Security`); 0: not.",
    ] = 0.0
    mode: Annotated[
        WebMode,
        "`process`: in a process of their own, so that visitors never slow a game; `inline`: in the game "
        "process; `off`: no pages.",
    ] = "process"
    public_url: Annotated[
        str,
        "The address by which people reach the pages, such as `https://cgos.example.org`; empty: the one that a "
        "page was asked by. With `https` sessions are kept in secure cookies.",
    ] = ""
    proxies: Annotated[
        Networks, "Addresses or networks of proxies before the pages: whom they name in `X-Forwarded-For` is believed."
    ] = Networks()
    accounts: Annotated[
        AccountsMode, "Who may make an account on the pages, to own bots: `open`: everybody, `closed`: nobody."
    ] = "open"
    session_days: Annotated[Positive, "Days that a sign-in on the pages lasts."] = 30.0
    requests_per_minute: Annotated[
        Count, "Pages and API answers that one address may ask for in a minute; files of the pages do not count."
    ] = 600
    streams_per_address: Annotated[
        Count, "Live streams that one address may hold open at once; all addresses together ten times as many."
    ] = 100
    exports_at_once: Annotated[Count, "Bulk downloads at once, for all; half of them for one address."] = 8
    webhooks_to: Annotated[
        Networks,
        "Loopback and private networks to which webhooks may be sent all the same (`10.0.0.0/8`); public "
        "addresses always are allowed.",
    ] = Networks()

    @property
    def enabled(self) -> bool:
        """True where there are pages at all."""
        return self.mode != "off"


class TranscriptsConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What bots and server said to each other, for the bots' owners: files in the data directory, passwords masked."""

    days: Annotated[NotNegative, "Days that what was said is kept; 0 keeps nothing."] = 7.0
    bytes_per_bot: Annotated[
        int, Number(65_536, 1_073_741_824, whole=True), "Bytes for one bot; its oldest lines make room for new ones."
    ] = 8_388_608


class HealthConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The listener with `/livez`, `/readyz`, `/metrics` and `/metrics/web`."""

    host: Annotated[str, Text(1), "Address of the listener."] = "127.0.0.1"
    port: Annotated[Port, "Its port; 0 takes any free one."] = 9809
    tls: Annotated[bool, "Whether it speaks TLS, with the certificate of `[tls]`."] = False


class AdminConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Operators who sign in on a venue's port like a bot, with an account that has the right `admin`."""

    networks: Annotated[
        Networks, "Addresses or networks from which they may; from anywhere else the name is only taken."
    ] = Networks.parse("127.0.0.0/8, ::1/128")


class LimitsConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one peer, or all of them, may take."""

    connections: Annotated[Count, "Bots' connections at once, over all venues."] = 10_000
    connections_per_address: Annotated[Count, "Bots' connections at once from one address."] = 2_000
    login_timeout_s: Annotated[
        Positive, "How long a connection may take to sign in; the server's own time is not counted."
    ] = 30.0
    failed_logins: Annotated[
        Count, "Wrong passwords for one name from one address within a minute before the pause begins."
    ] = 10
    failed_login_pause_s: Annotated[
        NotNegative, "How long that address is then refused for that name without a look at its password."
    ] = 60.0
    outbox_bytes: Annotated[
        int,
        Number(65_536, 1_073_741_824, whole=True),
        "Bytes that may wait for a peer that does not read before its connection is dropped.",
    ] = 1_048_576
    ignored_lines_per_minute: Annotated[
        Count, "Lines that nobody asked for, a minute and connection, before the connection is dropped."
    ] = 120
    password_queue: Annotated[
        Count,
        "Password checks that may wait, at most half of them from one address; sign-ins beyond it are asked to try "
        "again.",
    ] = 2_000


class TimeConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The time control. Fixed by the venue's first start."""

    system: Annotated[TimeSystem, "The time system."] = TimeSystem.ABSOLUTE
    main: Annotated[Span, "Main time (absolute, fischer, byoyomi, canadian)."] = Span(0)
    increment: Annotated[Span, "Added after each move (fischer)."] = Span(0)
    period: Annotated[Span, "Length of a period (byoyomi, canadian), or time for each move (fixed)."] = Span(0)
    periods: Annotated[int, Number(0, 1000, whole=True), "Number of periods (byoyomi)."] = 0
    stones: Annotated[int, Number(0, 1000, whole=True), "Moves to make in a period (canadian)."] = 0
    lag_s: Annotated[NotNegative, "Seconds of each move that are not charged, for the network."] = 0.25
    lag_bank_s: Annotated[
        NotNegative | None,
        "Unused lag credit is saved up to this many seconds; without the key it is lost, as on CGOS.",
    ] = None


@with_keys(rating_keys())
class RatingConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How results become ratings."""

    system: Annotated[
        str,
        "The headline, which bots are told and paired by: `bayes`, `whole-history`, `cgos-elo`, `gor`, `egf2021` "
        "or `glicko2`. Another one is computed from all results at the next start.",
    ] = "bayes"
    views: Annotated[
        Words, "Further systems whose ratings are kept beside it, from the same results; a new one is filled from them."
    ] = Words()
    options: Annotated[
        Options, "Options of systems that [plug-ins](plugins.md) bring, in a table for each: `steady-elo = { k = 24 }`."
    ] = Options()


class VenueConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One venue: a pool in which ratings are comparable, with a port of its own. One table for each."""

    name: Annotated[VenueName, "The venue's name: letters, digits, `_`, `.` and `-`."]
    port: Annotated[Port, "The port where its bots connect; 0 takes any free one."]
    group: Annotated[
        VenueName,
        "The group of venues that it belongs to. [A node of a cluster](cluster.md) has one group at a time, and plays "
        "all of its venues.",
    ] = MAIN
    public_address: Annotated[
        PublicAddress,
        "Where bots reach that port, such as `cgos.example.org:6809`; empty: `listen.bots_host`, or else the host "
        "of the pages, and the port. Shown wherever people are told how to connect.",
    ] = PublicAddress()
    tls_port: Annotated[
        Port | None,
        "A second port for the same lines inside TLS, with the certificate of `[tls]`; 0 takes any free one; without "
        "the key there is none.",
    ] = None
    public_tls_address: Annotated[
        PublicAddress,
        "Where bots reach it by TLS, such as `cgos.example.org:6810`, be it `tls_port` or a proxy before `port`; "
        "empty: the host of `public_address` and `tls_port`.",
    ] = PublicAddress()
    game: Annotated[str, "What is played: `go`. Fixed by the first start."] = "go"
    size: Annotated[int, Number(1, 1000, whole=True), "Board size (Go: 2 to 25). Fixed by the first start."]
    komi: Annotated[float, "White's compensation, a multiple of 0.5. Fixed by the first start."] = 7.5
    ko: Annotated[
        Ko, "Forbidden repetitions: positional or situational superko, or simple ko. Fixed by the first start."
    ] = Ko.POSITIONAL
    suicide: Annotated[bool, "Whether a move may take its own chain's last liberty. Fixed by the first start."] = False
    time: TimeConfig
    move_limit: Annotated[
        Count | None, "Moves after which a game is scored as it stands; without the key 3 times the points."
    ] = None
    first_move_limit_s: Annotated[
        Positive | None,
        "How long a side may take for its first move before the game is aborted; without the key its main time.",
    ] = None
    ready_limit_s: Annotated[
        Positive, "How long after `gameover` a bot may take to say `ready` before it is told that it must."
    ] = 60.0
    return_grace_s: Annotated[
        NotNegative, "After a restart: how long the side to move may stay away before its clock runs."
    ] = 120.0
    void_after_s: Annotated[
        Positive, "After a restart: how long both sides may stay away before their game is void."
    ] = 900.0
    initial: Annotated[
        float,
        Number(-10_000, 10_000),
        "The rating with which a new version begins. By `bayes` and `whole-history`, later ones begin at the "
        "pool's mean.",
    ] = 1800.0
    rated: Annotated[bool, "`false` makes it a sandbox: its results change no rating."] = True
    delay_s: Annotated[
        NotNegative,
        "How long after it was played a move of a running game is shown to anybody but the players, in seconds.",
    ] = 0.0
    pairing: PairingConfig = PairingConfig()
    rating: RatingConfig = RatingConfig()


def _classic(name: str, port: int, size: int, komi: float, minutes: int) -> VenueConfig:
    return VenueConfig(name=name, port=port, size=size, komi=komi, time=TimeConfig(main=Span(minutes * 60_000_000)))


CLASSIC_VENUES = (
    _classic("9x9", 6809, size=9, komi=7.0, minutes=5),
    _classic("13x13", 6813, size=13, komi=7.5, minutes=10),
    _classic("19x19", 6819, size=19, komi=7.5, minutes=15),
)
"""What runs where nothing is configured: CGOS's three boards on their ports."""


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that can be configured."""

    server: ServerConfig = ServerConfig()
    listen: ListenConfig = ListenConfig()
    websocket: WebSocketConfig = WebSocketConfig()
    web: WebConfig = WebConfig()
    transcripts: TranscriptsConfig = TranscriptsConfig()
    backup: BackupConfig = BackupConfig()
    retention: RetentionConfig = RetentionConfig()
    health: HealthConfig = HealthConfig()
    admin: AdminConfig = AdminConfig()
    limits: LimitsConfig = LimitsConfig()
    questions: QuestionsConfig = QuestionsConfig()
    tls: TlsConfig = TlsConfig()
    cluster: ClusterConfig = ClusterConfig()
    venue: tuple[VenueConfig, ...] = CLASSIC_VENUES

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups of the venues, each once, in their order."""
        return tuple(dict.fromkeys(venue.group for venue in self.venue))

    def of_group(self, group: str) -> Config:
        """As it is for a node that has this group: with the group's venues alone."""
        return msgspec.structs.replace(self, venue=tuple(venue for venue in self.venue if venue.group == group))

    @property
    def backups(self) -> Path:
        """The folder of backups."""
        return self.server.data / self.backup.folder.expanduser()

    @property
    def tls_listeners(self) -> tuple[str, ...]:
        """Which listeners speak TLS themselves: ``lines``, ``websocket``, ``web``, ``health``."""
        speak = {
            "lines": any(venue.tls_port is not None for venue in self.venue),
            "websocket": self.websocket.enabled and self.websocket.tls,
            "web": self.web.enabled and self.web.tls,
            "health": self.health.tls,
        }
        return tuple(name for name, speaks in speak.items() if speaks)
