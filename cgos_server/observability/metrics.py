"""Every metric of the game process: plain integer accumulators, turned into Prometheus families at a scrape.

A move costs two list or attribute increments here, never a lock or a label lookup. Gauges are read from the live
state at scrape time, through callables handed in. Labels come from small closed sets: no metric carries a bot's name.
Must not know: sockets, games, the store. Everything here belongs to the thread of the event loop.
"""

from __future__ import annotations

import enum
import platform
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypedDict, Unpack, cast

from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    InfoMetricFamily,
    Metric,
)

from cgos_protocol.verdict import Reason
from cgos_server.core.venue import Policy
from cgos_server.observability.backup_meter import BackupMeter
from cgos_server.observability.meters import SECOND, Meter, RefusalTally, counter, histogram, labeled

LATENCY_BOUNDS_US = (*(step * 10**power for power in range(1, 6) for step in (10, 25, 50)), 10 * SECOND)
"""Relay, commit, pairing and loop lag: 0.1 ms to 10 s."""

WAIT_BOUNDS_US = tuple(s * SECOND for s in (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_800))
"""Waiting for a game: 1 s to half an hour."""

BATCH_BOUNDS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
"""Records in one commit."""

REFIT_KINDS = ("warm", "cold")

RATING_WARNINGS = ("anchor", "watch", "flagged")
"""What a check of a venue's ratings may find: an anchor that does not play like its number, a version whose results
break with its past, which is on watch or, where that is surer, flagged."""


class CloseReason(enum.StrEnum):
    """Why a bot's connection ended."""

    QUIT = "quit"
    """The bot said so."""
    PEER = "peer"
    """The peer closed its side without a word."""
    LOST = "lost"
    """Reset, timed out, or keep-alive was not answered."""
    REFUSED = "refused"
    """Sign-in was refused."""
    VIOLATION = "violation"
    """The peer broke the protocol."""
    SLOW = "slow"
    """The peer did not read what it was sent."""
    DISMISSED = "dismissed"
    """An operator or a policy ended it after sign-in."""
    SHUTDOWN = "shutdown"
    """The server stops."""


class LoginOutcome(enum.StrEnum):
    """How a sign-in ended. Why one was refused is counted by code."""

    ACCEPTED = "accepted"
    REGISTERED = "registered"
    """Accepted, and the name is new."""
    REFUSED = "refused"
    ABANDONED = "abandoned"
    """The peer was gone before the answer."""


class CommitMeter:
    """The writer's commits.

    :ivar failures: attempts to commit that failed and are made again
    """

    __slots__ = ("failures", "latency", "records")

    def __init__(self) -> None:
        self.failures = 0
        self.latency = Meter(LATENCY_BOUNDS_US)
        self.records = Meter(BATCH_BOUNDS)

    def committed(self, records: int, latency_us: int) -> None:
        """One transaction with so many records, from hand-over to the database thread to its return."""
        self.records.observe(records)
        self.latency.observe(latency_us)


class VenueMeter:
    """What is counted for one venue; whoever knows of a thing adds it.

    :ivar moves: committed moves so far
    :ivar wait: how long bots waited for a new game after they became ready
    :ivar logins: sign-ins that were answered, or whose peer was gone
    :ivar started_games: games that were committed and set up
    :ivar information_bits: expected information of these games
    :ivar ended_by: committed verdicts
    :ivar refit_failures: refits of the ratings that could not be computed
    """

    def __init__(self, name: str, refusals: RefusalTally) -> None:
        self._refusals = refusals
        self.name = name
        self.moves = 0
        self.relay = Meter(LATENCY_BOUNDS_US)
        self.wait = Meter(WAIT_BOUNDS_US)
        self.pairing = Meter(LATENCY_BOUNDS_US)
        self.rounds: dict[str, int] = dict.fromkeys(Policy, 0)
        self.logins = dict.fromkeys(LoginOutcome, 0)
        self.started_games = 0
        self.information_bits = 0.0
        self.ended_by = dict.fromkeys(Reason, 0)
        self.rated_changes = 0
        self.refits = dict.fromkeys(REFIT_KINDS, 0)
        self.refits_us = dict.fromkeys(REFIT_KINDS, 0)
        self.refit_failures = 0
        self.warnings = dict.fromkeys(RATING_WARNINGS, 0)

    def moved(self, latency_us: int) -> None:
        """A committed move was passed on, `latency_us` microseconds (>= 0) after its receipt. The hot path."""
        self.moves += 1
        relay = self.relay
        relay.counts[bisect_left(LATENCY_BOUNDS_US, latency_us)] += 1
        relay.total += latency_us

    def refused(self, code: str) -> None:
        """Policy said no; `code` as in :class:`cgos_protocol.errors.Refused`."""
        self._refusals.add(code)

    def paired(self, policy: str, duration_us: int) -> None:
        """A pairing pass was computed within `duration_us`; `policy` is a word of `Policy`."""
        self.rounds[policy] += 1
        self.pairing.observe(duration_us)

    def rated(self, changes: int) -> None:
        """So many ratings changed."""
        self.rated_changes += changes

    def refitted(self, cold: bool, took_us: int) -> None:
        """A refit of the ratings is in place that took so long."""
        kind = REFIT_KINDS[cold]
        self.refits[kind] += 1
        self.refits_us[kind] += took_us


class Live(TypedDict, total=False):
    """What is read from the live state. A number that nobody knows yet is None.

    :ivar ready: True while `/readyz` says so
    :ivar connections: open connections of bots
    :ivar bots: (venue, state) -> signed-in bots; state is ``idle``, ``playing``, ``owing`` or ``suspended``
    :ivar games: venue -> running games
    :ivar events: (venue, phase or ``paused``) -> events that are not over
    :ivar event_games: (venue, ``due`` or ``running``) -> games of events without a result
    :ivar event_games_begun: venue -> games of events that began since the start
    :ivar questions: (venue, kind) -> questions that have not ended
    :ivar questions_ended: (venue, how) -> questions that ended since the start
    :ivar question_games_begun: venue -> games of questions that began since the start
    :ivar question_games_over: venue -> games of questions that have a result
    :ivar question_slot_seconds: (venue, ``questions`` or ``all``) -> seconds of the slots of bots
    :ivar commit_queue: groups of records that wait for a commit
    :ivar commit_failing: True while commits fail or do not return
    :ivar password_queue: password checks that wait for a worker
    :ivar database_size: part (``database``, ``log``) -> bytes
    :ivar disk_free: bytes that the server may still write in the file system of the data directory
    :ivar disk_size: bytes of that file system
    :ivar transcripts_size: bytes
    :ivar log_events: level (``warning``, ``error``) -> log events so far
    :ivar transcripts_dropped: lines of transcripts that were not written down
    :ivar certificate_expiry: listener -> when its certificate expires, Unix time in seconds
    :ivar certificate_reload_failures: changed files of the certificate that could not be used
    :ivar cluster_role: as :func:`roles` gives it, of a node of a cluster
    """

    ready: Callable[[], bool]
    connections: Callable[[], int]
    bots: Callable[[], Mapping[tuple[str, str], int]]
    games: Callable[[], Mapping[str, int]]
    events: Callable[[], Mapping[tuple[str, str], int]]
    event_games: Callable[[], Mapping[tuple[str, str], int]]
    event_games_begun: Callable[[], Mapping[str, int]]
    questions: Callable[[], Mapping[tuple[str, str], int]]
    questions_ended: Callable[[], Mapping[tuple[str, str], int]]
    question_games_begun: Callable[[], Mapping[str, int]]
    question_games_over: Callable[[], Mapping[str, int]]
    question_slot_seconds: Callable[[], Mapping[tuple[str, str], float]]
    commit_queue: Callable[[], int]
    commit_failing: Callable[[], bool]
    password_queue: Callable[[], int]
    database_size: Callable[[], Mapping[str, int]]
    disk_free: Callable[[], int | None]
    disk_size: Callable[[], int | None]
    transcripts_size: Callable[[], int | None]
    log_events: Callable[[], Mapping[str, int]]
    transcripts_dropped: Callable[[], int]
    certificate_expiry: Callable[[], Mapping[str, int]]
    certificate_reload_failures: Callable[[], int]
    cluster_role: Callable[[], Mapping[str, int]]


_Family = tuple[str, str, tuple[str, ...], str]
"""Name, text, labels, and the word of :class:`Live`, which gives a number; numbers by the label's word where there is a
label, or by the words of several."""

_GAUGES: Final[tuple[_Family, ...]] = (
    ("cgos_ready", "1 while /readyz says that the server is ready.", (), "ready"),
    ("cgos_connections", "Open connections of bots.", (), "connections"),
    ("cgos_password_queue_length", "Password checks that wait for a worker.", (), "password_queue"),
    ("cgos_commit_queue_length", "Groups of records that wait for a commit.", (), "commit_queue"),
    ("cgos_commit_failing", "1 while commits fail or do not return.", (), "commit_failing"),
    ("cgos_database_size_bytes", "Size of the database.", ("part",), "database_size"),
    ("cgos_disk_free_bytes", "What may still be written beside the data directory.", (), "disk_free"),
    ("cgos_disk_size_bytes", "File system of the data directory.", (), "disk_size"),
    ("cgos_transcripts_size_bytes", "Files of the transcripts.", (), "transcripts_size"),
    ("cgos_bots", "Signed-in bots, by venue and state.", ("venue", "state"), "bots"),
    ("cgos_games_running", "Games without a verdict.", ("venue",), "games"),
    ("cgos_events", "Events that are not over, by phase.", ("venue", "phase"), "events"),
    ("cgos_event_games", "Games of events without a result.", ("venue", "state"), "event_games"),
    ("cgos_questions_open", "Questions that have not ended.", ("venue", "kind"), "questions"),
    (
        "cgos_certificate_expiry_timestamp_seconds",
        "When the certificate of a listener expires.",
        ("listener",),
        "certificate_expiry",
    ),
    ("cgos_cluster_role", "1 for what this node of a cluster is.", ("role",), "cluster_role"),
)

_COUNTERS: Final[tuple[_Family, ...]] = (
    ("cgos_event_games_started_total", "Games of events begun.", ("venue",), "event_games_begun"),
    ("cgos_questions_ended_total", "Questions that have ended.", ("venue", "state"), "questions_ended"),
    ("cgos_question_games_started_total", "Games of questions begun.", ("venue",), "question_games_begun"),
    ("cgos_question_games_ended_total", "Games of questions with a result.", ("venue",), "question_games_over"),
    (
        "cgos_question_slot_seconds_total",
        "Time of the slots of bots: that of questions, and all.",
        ("venue", "of"),
        "question_slot_seconds",
    ),
    ("cgos_log_events_total", "Log events of level warning and above, by level.", ("level",), "log_events"),
    ("cgos_transcript_lines_dropped_total", "Lines that were not written to transcripts.", (), "transcripts_dropped"),
    (
        "cgos_certificate_reload_failures_total",
        "Certificates that could not be used.",
        (),
        "certificate_reload_failures",
    ),
)

_VENUE_COUNTERS: Final = (
    ("cgos_games_started_total", "Games begun.", "started_games"),
    ("cgos_game_information_bits_total", "Expected information of the games begun, in bits.", "information_bits"),
    ("cgos_moves_total", "Committed moves, passes included.", "moves"),
    ("cgos_rating_updates_total", "Changes of ratings.", "rated_changes"),
    ("cgos_refit_failures_total", "Refits that failed.", "refit_failures"),
)
"""Name, text, and the field of :class:`VenueMeter`."""

_VENUE_TALLIES: Final = (
    (CounterMetricFamily, "cgos_games_ended_total", "Games ended, by verdict.", "reason", "ended_by"),
    (CounterMetricFamily, "cgos_rounds_total", "Pairing passes.", "policy", "rounds"),
    (CounterMetricFamily, "cgos_logins_total", "Sign-ins, by outcome.", "outcome", "logins"),
    (CounterMetricFamily, "cgos_refits_total", "Refits of ratings in place.", "kind", "refits"),
    (CounterMetricFamily, "cgos_refit_seconds_total", "Time refits took.", "kind", "refits_us"),
    (GaugeMetricFamily, "cgos_rating_warnings", "Doubts about ratings.", "kind", "warnings"),
)
"""The same with the label that the field's keys are, besides that of the venue."""

_VENUE_HISTOGRAMS: Final = (
    ("cgos_relay_latency_seconds", "From the receipt of a move to its writing to the opponent.", "relay"),
    ("cgos_game_wait_seconds", "From a bot's readiness to the setup of its next game.", "wait"),
    ("cgos_pairing_duration_seconds", "Time one pairing pass took to compute.", "pairing"),
)


class Metrics:
    """All of it. Registers itself and the process's own figures with `registry`, which must be fresh."""

    def __init__(self, registry: CollectorRegistry, version: str) -> None:
        self.commits = CommitMeter()
        self.backups = BackupMeter()
        self.loop_lag = Meter(LATENCY_BOUNDS_US)
        self._version = version
        self._venues: dict[str, VenueMeter] = {}
        self._opened = 0
        self._closed = dict.fromkeys(CloseReason, 0)
        self._refusals = RefusalTally()
        self._ignored = 0
        self._web_restarts = 0
        self._facts_dropped = 0
        self._pruned: Counter[str] = Counter()
        self._tls_handshake_failures = 0
        self._live: dict[str, Callable[[], Any]] = {}
        registry.register(self)
        ProcessCollector(registry=registry)
        GCCollector(registry=registry)

    def watch(self, **live: Unpack[Live]) -> None:
        """Where live state is read from at scrape time. May be called by several owners, each with its own part."""
        self._live.update(cast(dict[str, Callable[[], Any]], live))

    def venue(self, name: str) -> VenueMeter:
        """The venue's counters, made on the first call."""
        meter = self._venues.get(name)
        if meter is None:
            meter = self._venues[name] = VenueMeter(name, self._refusals)
        return meter

    @property
    def moves(self) -> int:
        """Committed moves of all venues since the start."""
        return sum(venue.moves for venue in self._venues.values())

    @property
    def ended(self) -> dict[str, int]:
        """Verdict word -> games of all venues that ended since the start; words without a game are left out."""
        sums = {reason.value: sum(v.ended_by[reason] for v in self._venues.values()) for reason in Reason}
        return {word: games for word, games in sums.items() if games}

    def connection_opened(self) -> None:
        """A bot's connection was accepted."""
        self._opened += 1

    def connection_closed(self, reason: CloseReason) -> None:
        """A bot's connection ended."""
        self._closed[reason] += 1

    def refused(self, code: str) -> None:
        """Policy said no outside any venue; `code` as in :class:`cgos_protocol.errors.Refused`."""
        self._refusals.add(code)

    def line_ignored(self) -> None:
        """A bot sent a line that means nothing in its present state."""
        self._ignored += 1

    def web_restarted(self) -> None:
        """The web process had died and was started again."""
        self._web_restarts += 1

    def facts_dropped(self, facts: int) -> None:
        """So many facts were dropped because the web process reads too slowly; it gets a `Missed` in their place."""
        self._facts_dropped += facts

    def pruned(self, kind: str, rows: int) -> None:
        """So many rows of a kind were removed, as they are kept no longer."""
        self._pruned[kind] += rows

    def tls_handshake_failed(self) -> None:
        """A connection to a port of TLS ended before its handshake was done."""
        self._tls_handshake_failures += 1

    def describe(self) -> Iterable[Metric]:
        """Tells the registry that nothing needs to be collected to register this."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """The families, for the registry."""
        yield InfoMetricFamily(
            "cgos_build", "Versions of the program.", {"version": self._version, "python": platform.python_version()}
        )
        yield from self._collect_live(GaugeMetricFamily, _GAUGES)
        yield from self._collect_live(CounterMetricFamily, _COUNTERS)
        yield from self._collect_counters()
        for name, text, meter, unit in (
            ("cgos_loop_lag_seconds", "How late the event loop ran what was due.", self.loop_lag, SECOND),
            ("cgos_commit_latency_seconds", "Time one commit took.", self.commits.latency, SECOND),
            ("cgos_commit_batch_records", "Records in one commit.", self.commits.records, 1),
        ):
            yield histogram(name, text, {"": meter}, unit=unit)
        yield from self.backups.collect()
        yield from self._collect_venues(list(self._venues.values()))

    def _collect_live(self, kind: Callable[..., Any], families: Sequence[_Family]) -> Iterator[Metric]:
        for name, text, labels, word in families:
            value = self._live[word]() if word in self._live else None
            values = value if labels else {(): value}
            yield labeled(kind(name, text, labels=labels), _samples(values or {}))

    def _collect_counters(self) -> Iterator[Metric]:
        for name, text, count in (
            ("cgos_connections_opened_total", "Connections of bots accepted.", self._opened),
            ("cgos_lines_ignored_total", "Lines that meant nothing in the bot's present state.", self._ignored),
            ("cgos_web_restarts_total", "Times the web process died and was started again.", self._web_restarts),
            ("cgos_facts_dropped_total", "Facts that the web process read too slowly to be told.", self._facts_dropped),
            ("cgos_tls_handshake_failures_total", "Handshakes of TLS that failed.", self._tls_handshake_failures),
            ("cgos_commit_failures_total", "Attempts to commit that failed.", self.commits.failures),
        ):
            yield CounterMetricFamily(name, text, value=count)
        for name, text, label, counts in (
            ("cgos_connections_closed_total", "Connections of bots ended, by reason.", "reason", self._closed),
            ("cgos_refusals_total", "Requests that policy refused, by code.", "code", self._refusals.counts),
            ("cgos_pruned_rows_total", "Rows removed that are kept no longer, by kind.", "kind", self._pruned),
        ):
            yield counter(name, text, label, counts)

    def _collect_venues(self, venues: list[VenueMeter]) -> Iterator[Metric]:
        for name, text, field in _VENUE_COUNTERS:
            yield counter(name, text, "venue", {venue.name: getattr(venue, field) for venue in venues})
        for family, name, text, label, field in _VENUE_TALLIES:
            counts = [(venue.name, word, n) for venue in venues for word, n in getattr(venue, field).items()]
            unit = SECOND if "seconds" in name else 1
            yield labeled(
                family(name, text, labels=("venue", label)),
                (((venue, str(word)), count / unit) for venue, word, count in counts),
            )
        for name, text, field in _VENUE_HISTOGRAMS:
            meters = {venue.name: getattr(venue, field) for venue in venues}
            yield histogram(name, text, meters, label="venue", unit=SECOND)


ROLES: Final = ("owner", "standby", "web")
"""What a process of a cluster may be: it holds venues, it stands by, it serves pages alone."""


def roles(role: str) -> dict[str, int]:
    """What a process of a cluster is: each of :data:`ROLES` -> 1 for that, 0 for the others."""
    return {each: int(each == role) for each in ROLES}


def _samples(values: Mapping[Any, Any]) -> Iterator[tuple[tuple[str, ...], float]]:
    """Those that are known."""
    for words, value in values.items():
        if value is not None:
            yield (words,) if isinstance(words, str) else words, float(value)
