"""The configuration as types: every key with its type, its default, what it means and what values make sense.

Field names are the keys; the sentences in ``doc(...)`` become ``docs/configuration.md`` and the file that
``cgos-server init`` writes. Must not know: where values come from, what they start.
"""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import msgspec

from cgos_protocol.clock import TimeSystem
from cgos_protocol.games.base import Ko
from cgos_server.config.pairing import PairingConfig
from cgos_server.config.values import (
    Count,
    Networks,
    NotNegative,
    Options,
    Port,
    Positive,
    PublicAddress,
    Span,
    WebSocketUrl,
    Words,
    doc,
)
from cgos_server.service.accounts import Registration
from cgos_server.storage import DATABASE
from cgos_server.storage.location import Location, PostgresUrl


class Durability(enum.StrEnum):
    """What a committed move survives."""

    PROCESS = "process"
    POWER = "power"


class LogFormat(enum.StrEnum):
    """How log lines look."""

    AUTO = "auto"
    TEXT = "text"
    JSON = "json"


class LogLevel(enum.StrEnum):
    """The least severe lines that are written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class WebMode(enum.StrEnum):
    """Where the pages run."""

    PROCESS = "process"
    INLINE = "inline"
    OFF = "off"


class ServerConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The server as a whole."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=60), doc("What the server calls itself.")] = (
        "cgos-server"
    )
    data: Annotated[
        Path,
        doc(
            "Directory of the database, the lock and the control socket. A relative path in a file counts from the "
            "file's directory, elsewhere from the working directory."
        ),
    ] = Path("cgos-data")
    database: Annotated[
        PostgresUrl | None,
        doc(
            "Empty: SQLite, a file in the data directory. Or PostgreSQL: `postgresql://user:password@host:port/name`; "
            "what the URL leaves out is found as libpq does (`PGPASSWORD`, `~/.pgpass`). The password is never shown."
        ),
    ] = None
    families: Annotated[
        str,
        doc(
            "Naming convention by which bots of the CGOS lines are versions of one engine: a regular expression with a "
            "group `family` that the whole name must match, such as `(?P<family>.+)-[0-9.]+`. A new bot then begins "
            "where its predecessor stands. Empty: none; `cgos-server family` does it by hand."
        ),
    ] = ""
    registration: Annotated[
        Registration,
        doc(
            "What happens when a bot signs in under a new name: `open` registers it at once, `approval` keeps it "
            "waiting for `cgos-server approve`, `closed` refuses it."
        ),
    ] = Registration.OPEN
    durability: Annotated[
        Durability,
        doc(
            "What a move survives once the opponent has seen it: `process` the death of the server, `power` a power "
            "cut too (every commit waits for the disk)."
        ),
    ] = Durability.PROCESS
    commit_timeout_s: Annotated[
        Positive, doc("When the database has refused to commit for so long the server stops, with nothing lost.")
    ] = 10.0
    drain_limit_s: Annotated[
        NotNegative,
        doc("How long running games may go on after SIGTERM or `cgos-server drain` before they are suspended."),
    ] = 60.0
    log_format: Annotated[
        LogFormat, doc("`text` for people, `json` for machines, `auto`: text on a terminal, else JSON.")
    ] = LogFormat.AUTO
    log_level: Annotated[LogLevel, doc("The least severe lines that are logged.")] = LogLevel.INFO

    @property
    def location(self) -> Location:
        """Where the database is."""
        return self.database or self.data / DATABASE


class ListenConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where bots connect."""

    bots_host: Annotated[
        str, doc("Address of the venues' ports; empty means every address of the machine, IPv4 and IPv6.")
    ] = ""
    proxies: Annotated[
        Networks,
        doc(
            "Addresses or networks of proxies through which bots may come (`10.0.0.0/8`): what they say of a bot's "
            "address is believed, and a silent connection behind one gives way to a new sign-in."
        ),
    ] = Networks()
    backlog: Annotated[Count, doc("Connections that may wait to be accepted (the system may cap it).")] = 4096
    next_free_port: Annotated[
        bool,
        doc("Where a port is busy: `true` takes the next free one, `false` refuses. Holds for every port."),
    ] = False


class WebSocketConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The WebSocket port: `cgos.v2` for bots of all venues and for watchers, and the CGOS lines at `/<venue>`."""

    enabled: Annotated[bool, doc("Whether there is a WebSocket port.")] = True
    host: Annotated[
        str, doc("Its address; empty means every address of the machine, IPv4 and IPv6. TLS is a proxy's work.")
    ] = ""
    port: Annotated[Port, doc("Its port; 0 takes any free one.")] = 6868
    public_url: Annotated[
        WebSocketUrl,
        doc(
            "The address by which bots reach it, such as `wss://bots.example.org` where a proxy speaks TLS; empty: "
            "`ws://` with the host of the venues' ports and this port. Shown wherever people are told how to connect."
        ),
    ] = WebSocketUrl()
    compression: Annotated[
        bool, doc("Whether clients may compress messages; costs more processor time than it saves for single moves.")
    ] = False
    max_message_bytes: Annotated[
        int,
        msgspec.Meta(ge=65_536, le=16_777_216),
        doc("Longest message of a client, analysis of a move included."),
    ] = 262_144
    ping_s: Annotated[
        Positive, doc("Seconds between two pings, by which each bot's way to the server is measured.")
    ] = 20.0
    pong_timeout_s: Annotated[
        Positive, doc("When a ping is not answered for so long the connection is lost; the clock goes on.")
    ] = 40.0


class AccountsMode(enum.StrEnum):
    """Who may make an account on the pages."""

    OPEN = "open"
    CLOSED = "closed"


class WebConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The pages for people."""

    host: Annotated[str, msgspec.Meta(min_length=1), doc("Address of the pages.")] = "127.0.0.1"
    port: Annotated[Port, doc("Port of the pages; 0 takes any free one.")] = 8080
    mode: Annotated[
        WebMode,
        doc(
            "`process`: in a process of their own, so that visitors never slow a game; `inline`: in the game "
            "process; `off`: no pages."
        ),
    ] = WebMode.PROCESS
    public_url: Annotated[
        str,
        doc(
            "The address by which people reach the pages, such as `https://cgos.example.org`; empty: the one that a "
            "page was asked by. With `https` sessions are kept in secure cookies."
        ),
    ] = ""
    proxies: Annotated[
        Networks,
        doc("Addresses or networks of proxies before the pages: whom they name in `X-Forwarded-For` is believed."),
    ] = Networks()
    accounts: Annotated[
        AccountsMode,
        doc("Who may make an account on the pages, to own bots: `open`: everybody, `closed`: nobody."),
    ] = AccountsMode.OPEN
    session_days: Annotated[Positive, doc("Days that a sign-in on the pages lasts.")] = 30.0
    requests_per_minute: Annotated[
        Count, doc("Pages and API answers that one address may ask for in a minute; files of the pages do not count.")
    ] = 600
    streams_per_address: Annotated[
        Count, doc("Live streams that one address may hold open at once; all addresses together ten times as many.")
    ] = 100
    exports_at_once: Annotated[Count, doc("Bulk downloads at once, for all; half of them for one address.")] = 8
    webhooks_to: Annotated[
        Networks,
        doc(
            "Loopback and private networks to which webhooks may be sent all the same (`10.0.0.0/8`); public "
            "addresses always are allowed."
        ),
    ] = Networks()

    @property
    def enabled(self) -> bool:
        """True where there are pages at all."""
        return self.mode is not WebMode.OFF


class TranscriptsConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What bots and server said to each other, for the bots' owners: files in the data directory, passwords masked."""

    days: Annotated[NotNegative, doc("Days that what was said is kept; 0 keeps nothing.")] = 7.0
    bytes_per_bot: Annotated[
        int,
        msgspec.Meta(ge=65_536, le=1_073_741_824),
        doc("Bytes for one bot; its oldest lines make room for new ones."),
    ] = 8_388_608


class HealthConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The listener with `/livez`, `/readyz` and `/metrics`."""

    host: Annotated[str, msgspec.Meta(min_length=1), doc("Address of the listener.")] = "127.0.0.1"
    port: Annotated[Port, doc("Its port; 0 takes any free one.")] = 9809


class AdminConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Operators who sign in on a venue's port like a bot, with an account that has the right `admin`."""

    networks: Annotated[
        Networks, doc("Addresses or networks from which they may; from anywhere else the name is only taken.")
    ] = Networks.parse("127.0.0.0/8, ::1/128")


class LimitsConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one peer, or all of them, may take."""

    connections: Annotated[Count, doc("Bots' connections at once, over all venues.")] = 10_000
    connections_per_address: Annotated[Count, doc("Bots' connections at once from one address.")] = 2_000
    login_timeout_s: Annotated[
        Positive, doc("How long a connection may take to sign in; the server's own time is not counted.")
    ] = 30.0
    failed_logins: Annotated[
        Count, doc("Wrong passwords for one name from one address within a minute before the pause begins.")
    ] = 10
    failed_login_pause_s: Annotated[
        NotNegative, doc("How long that address is then refused for that name without a look at its password.")
    ] = 60.0
    outbox_bytes: Annotated[
        int,
        msgspec.Meta(ge=65_536, le=1_073_741_824),
        doc("Bytes that may wait for a peer that does not read before its connection is dropped."),
    ] = 1_048_576
    ignored_lines_per_minute: Annotated[
        Count, doc("Lines that nobody asked for, a minute and connection, before the connection is dropped.")
    ] = 120
    password_queue: Annotated[
        Count,
        doc(
            "Password checks that may wait, at most half of them from one address; sign-ins beyond it are asked to try "
            "again."
        ),
    ] = 2_000


class TimeConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The time control. Fixed by the venue's first start."""

    system: Annotated[TimeSystem, doc("The time system.")] = TimeSystem.ABSOLUTE
    main: Annotated[Span, doc("Main time (absolute, fischer, byoyomi, canadian).")] = Span(0)
    increment: Annotated[Span, doc("Added after each move (fischer).")] = Span(0)
    period: Annotated[Span, doc("Length of a period (byoyomi, canadian), or time for each move (fixed).")] = Span(0)
    periods: Annotated[int, msgspec.Meta(ge=0, le=1000), doc("Number of periods (byoyomi).")] = 0
    stones: Annotated[int, msgspec.Meta(ge=0, le=1000), doc("Moves to make in a period (canadian).")] = 0
    lag_s: Annotated[NotNegative, doc("Seconds of each move that are not charged, for the network.")] = 0.25
    lag_bank_s: Annotated[
        NotNegative | None,
        doc("Unused lag credit is saved up to this many seconds; without the key it is lost, as on CGOS."),
    ] = None


class RatingConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How results become ratings."""

    system: Annotated[
        str,
        doc(
            "The headline, which bots are told and paired by: `bayes`, `whole-history`, `cgos-elo`, `gor`, `egf2021` "
            "or `glicko2`. Another one is computed from all results at the next start."
        ),
    ] = "bayes"
    views: Annotated[
        Words,
        doc("Further systems whose ratings are kept beside it, from the same results; a new one is filled from them."),
    ] = Words()
    provisional: Annotated[
        Positive,
        doc(
            "`bayes`, `whole-history`, `glicko2`: a rating is provisional while half of its 95 % interval is above "
            "this, Elo."
        ),
    ] = 100.0
    learned: Annotated[
        bool,
        doc("`bayes`: the distribution of strengths is learned from the pool; `false`: it is normal with `prior_sd`."),
    ] = True
    prior_sd: Annotated[
        Positive,
        doc("`bayes` with `learned = false`, `whole-history`: standard deviation of strengths about `initial`, Elo."),
    ] = 500.0
    anchor_sd: Annotated[
        Positive,
        doc("`bayes`, `whole-history`: how exactly an anchor is known unless it says so itself, Elo."),
    ] = 1.0
    lineage_sd: Annotated[
        Positive,
        doc("`bayes`, `whole-history`: how far a new version's strength is from its predecessor's, Elo."),
    ] = 150.0
    advantage_sd: Annotated[
        NotNegative, doc("`bayes`: how much the first move may be worth before results say so, Elo; 0: nothing.")
    ] = 50.0
    drift: Annotated[
        NotNegative, doc("`whole-history`: how far strength drifts, Elo per square root of a day; 0: not at all.")
    ] = 3.0
    gor_variant: Annotated[str, doc("`gor`: the reading of its rules: `egf_half_eps`, `egf` or `thesis`.")] = (
        "egf_half_eps"
    )
    gor_eps: Annotated[
        NotNegative, doc("`gor`: how much both expectancies together fall short of 1; it inflates a pool.")
    ] = 0.0
    egf_bonus: Annotated[bool, doc("`egf2021`: whether every game gives both a bonus; it inflates a pool.")] = False
    glicko_tau: Annotated[Positive, doc("`glicko2`: how fast volatility may change.")] = 0.5
    glicko_deviation: Annotated[Positive, doc("`glicko2`: standard deviation of a newcomer's rating, Elo.")] = 350.0
    glicko_volatility: Annotated[Positive, doc("`glicko2`: a newcomer's volatility.")] = 0.06
    glicko_period_games: Annotated[Positive, doc("`glicko2`: a version's games that make a rating period.")] = 15.0
    compat: Annotated[bool, doc("`cgos-elo`: exactly as CGOS, where games among newcomers alone change nothing.")] = (
        False
    )
    min_k: Annotated[Positive, doc("`cgos-elo`: K of a settled version.")] = 3.0
    max_k: Annotated[Positive, doc("`cgos-elo`: K of a new version.")] = 200.0
    provisional_k: Annotated[Positive, doc("`cgos-elo`: a rating is provisional while its K is above this.")] = 16.0
    options: Annotated[
        Options,
        doc("Options of systems that [plug-ins](plugins.md) bring, in a table for each: `steady-elo = { k = 24 }`."),
    ] = Options()


class VenueConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One venue: a pool in which ratings are comparable, with a port of its own. One table for each."""

    name: Annotated[
        str,
        msgspec.Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9_.-]{0,31}\Z"),
        doc("The venue's name: letters, digits, `_`, `.` and `-`."),
    ]
    port: Annotated[Port, doc("The port where its bots connect; 0 takes any free one.")]
    public_address: Annotated[
        PublicAddress,
        doc(
            "Where bots reach that port, such as `cgos.example.org:6809`; empty: `listen.bots_host`, or else the host "
            "of the pages, and the port. Shown wherever people are told how to connect."
        ),
    ] = PublicAddress()
    game: Annotated[str, doc("What is played: `go`. Fixed by the first start.")] = "go"
    size: Annotated[int, msgspec.Meta(ge=1, le=1000), doc("Board size (Go: 2 to 25). Fixed by the first start.")]
    komi: Annotated[float, doc("White's compensation, a multiple of 0.5. Fixed by the first start.")] = 7.5
    ko: Annotated[
        Ko, doc("Forbidden repetitions: positional or situational superko, or simple ko. Fixed by the first start.")
    ] = Ko.POSITIONAL
    suicide: Annotated[bool, doc("Whether a move may take its own chain's last liberty. Fixed by the first start.")] = (
        False
    )
    time: TimeConfig
    move_limit: Annotated[
        Count | None, doc("Moves after which a game is scored as it stands; without the key 3 times the points.")
    ] = None
    first_move_limit_s: Annotated[
        Positive | None,
        doc("How long a side may take for its first move before the game is aborted; without the key its main time."),
    ] = None
    ready_limit_s: Annotated[
        Positive, doc("How long after `gameover` a bot may take to say `ready` before it is told that it must.")
    ] = 60.0
    return_grace_s: Annotated[
        NotNegative, doc("After a restart: how long the side to move may stay away before its clock runs.")
    ] = 120.0
    void_after_s: Annotated[
        Positive, doc("After a restart: how long both sides may stay away before their game is void.")
    ] = 900.0
    initial: Annotated[
        float, msgspec.Meta(ge=-10_000, le=10_000), doc("The rating with which a new version begins.")
    ] = 1800.0
    rated: Annotated[bool, doc("`false` makes it a sandbox: its results change no rating.")] = True
    delay_s: Annotated[
        NotNegative,
        doc("How long after it was played a move of a running game is shown to anybody but the players, in seconds."),
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
    health: HealthConfig = HealthConfig()
    admin: AdminConfig = AdminConfig()
    limits: LimitsConfig = LimitsConfig()
    venue: tuple[VenueConfig, ...] = CLASSIC_VENUES
