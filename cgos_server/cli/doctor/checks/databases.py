"""Whether the database fits the program, how large it is, and how it grows."""

from __future__ import annotations

import msgspec

from cgos_server.cli.doctor.findings import Finding, ok, warning, wrong
from cgos_server.presentation.sizes import size
from cgos_server.storage.condition import PostgresCondition, SqliteCondition
from cgos_server.storage.reading.answers import Lately

_DAY_MS = 86_400_000
_WEEK_MS = 7 * _DAY_MS
_MIB = 1 << 20
_LONG_LOG, _VERY_LONG_LOG = 128 * _MIB, 1024 * _MIB
"""The server itself keeps it below 64 MiB, unless readers hold it."""
_MUCH_FREE = 256 * _MIB
_FEW_GAMES = 100
"""From fewer nothing can be said of a game's size."""


class Growth(msgspec.Struct, frozen=True, kw_only=True):
    """At the pace of the last week.

    :ivar bytes_a_game: of the whole database, divided by all games
    """

    games_a_day: float
    bytes_a_game: float

    @property
    def bytes_a_day(self) -> float:
        return self.games_a_day * self.bytes_a_game


def growth(lately: Lately, total: int, now_ms: int) -> Growth | None:
    """None where there are too few games, or none in the last week.

    :param total: bytes of the database
    """
    week = [at for at in lately.started if now_ms - _WEEK_MS <= at <= now_ms]
    if lately.games < _FEW_GAMES or not week:
        return None
    # All that were read may be of the last hour.
    span = _WEEK_MS if len(week) < len(lately.started) else max(now_ms - min(week), _DAY_MS // 24)
    # A database that is younger than a week has had less time.
    span = min(span, max(now_ms - lately.created_at, _DAY_MS // 24))
    return Growth(games_a_day=len(week) * _DAY_MS / span, bytes_a_game=total / lately.games)


def judge_size(total: int, games: int, pace: Growth | None) -> Finding:
    sentence = f"the database has {size(total)}, about {games} games"
    if games >= _FEW_GAMES:
        sentence += f"; a million games are {size(total / games * 1e6)}"
    if pace is not None:
        sentence += f"; {pace.games_a_day:.0f} games a day lately, {size(pace.bytes_a_day)}"
    return ok(sentence)


def judge_sqlite(seen: SqliteCondition, running: bool, readers: dict[int, str]) -> list[Finding]:
    """:param readers: processes besides the server's that have the file open, number -> command"""
    findings = []
    if seen.log_bytes > _LONG_LOG:
        who = ", ".join(f"{command} (process {pid})" for pid, command in readers.items())
        sentence = f"the write-ahead log has {size(seen.log_bytes)}"
        if not running:
            findings.append(warning(f"{sentence}, and no server runs.", "The next start moves it into the database."))
        else:
            level = wrong if seen.log_bytes > _VERY_LONG_LOG else warning
            sentence += f": a reader holds it{f', perhaps {who}' if who else ', or the disk is too slow'}."
            remedy = "End a program that has kept a transaction on the database open for long; the server then moves "
            findings.append(level(sentence, f"{remedy}the log, and truncates it, by itself. Nothing is lost by it."))
    free = seen.free_pages * seen.page_bytes
    if free > _MUCH_FREE and free > seen.database_bytes / 2:
        findings.append(
            warning(
                f"{size(free)} of the database's {size(seen.database_bytes)} are empty pages.",
                "New games use them. To give the room back: stop the server, then `cgos-server db compact`, which "
                "needs as much room again for a while.",
            )
        )
    return findings


def judge_postgres(seen: PostgresCondition) -> list[Finding]:
    if seen.connections < 0.8 * seen.max_connections:
        return []
    return [
        warning(
            f"PostgreSQL has {seen.connections} of {seen.max_connections} connections in use.",
            "The server needs about ten: raise max_connections, or see who holds them (pg_stat_activity).",
        )
    ]
