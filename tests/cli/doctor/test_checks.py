"""What the doctor makes of observed values: each fault by itself, beside values where nothing is wrong."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
import pytest

from cgos_server.cli.doctor.checks import (
    answering,
    backups,
    certificates,
    clocks,
    databases,
    disks,
    durability,
    exposure,
    limits,
    permissions,
    ports,
    programs,
)
from cgos_server.cli.doctor.checks.answering import Answering, State
from cgos_server.cli.doctor.findings import Finding, Level
from cgos_server.config.loader import load
from cgos_server.storage.condition import PostgresCondition, SqliteCondition
from cgos_server.storage.reading.answers import Lately

DAY = 86_400_000
NOW = 1_800_000_000_000
GIB = 1 << 30

PORT = ports.Port(whose="pages", key="web.port", host="127.0.0.1", number=8080, problem="", busy=False, holders={})
ALIVE = Answering(
    state=State.ANSWERS,
    directory="/data",
    pid=7,
    version="1.0",
    health="http://localhost:9809",
    livez=(200, "alive\n"),
    readyz=(200, "ready\n"),
)
DISK = disks.Disk(
    what="data directory", path="/data", free=100 * GIB, size=200 * GIB, inodes=10**6, kind="ext4", read_only=False,
    holds_sqlite=True,
)  # fmt: skip
FILES = limits.OpenFiles(whose="the server", soft=20_000, hard=20_000, used=60)
SQLITE = SqliteCondition(
    database_bytes=GIB, log_bytes=4096, page_bytes=4096, free_pages=0, journal_mode="wal", faults=None
)
POSTGRES = PostgresCondition(
    database_bytes=GIB, version="15.4", fsync=True, full_page_writes=True, connections=9, max_connections=100,
    ahead_ms=3,
)  # fmt: skip
KEPT = clocks.Kept(synchronized=True, error_us=4_000)
DIRECTORY = permissions.Entry(path="/data", mode=0o700, owner=1000)
DATABASE = permissions.Entry(path="cgos.sqlite", mode=0o600, owner=1000)
NAMES = {0: "root", 1000: "cgos"}
CGOS = (1000, "cgos")
HOUR = DAY // 24
OWN = certificates.OwnCertificate(
    where="/a.pem",
    key="/a.key",
    key_mode=0o640,
    names=("a.example", "*.c.example"),
    from_ms=NOW - DAY,
    until_ms=NOW + 60 * DAY,
)
BACKUPS = backups.Backups(
    folder="/b",
    around=permissions.Entry(path="b", mode=0o700, owner=1000),
    latest_at=NOW - HOUR // 2,
    files=(permissions.Entry(path="/b/cgos.sqlite", mode=0o600, owner=1000),),
)
TRANSCRIPTS = programs.Kept(total=4096, largest=4096, bots=1, oldest_ms=NOW - DAY)

change = msgspec.structs.replace


def the_fault(findings: list[Finding], level: Level = Level.WRONG) -> str:
    """The sentence of the only finding that is not ok; it says what to do."""
    (fault,) = (finding for finding in findings if finding.level is not Level.OK)
    assert fault.level is level
    assert fault.remedy or level is Level.UNKNOWN
    return fault.sentence


def configured(**keys: Any) -> Any:
    return load(None, {}, {key.replace("__", "."): value for key, value in keys.items()})


@pytest.mark.parametrize(
    "findings",
    [
        ports.judge([PORT], frozenset(), False),
        ports.judge([change(PORT, busy=True, holders={7: "serve"})], frozenset({7}), False),
        ports.judge([change(PORT, busy=True)], frozenset({7}), False),
        answering.judge(ALIVE, "1.0"),
        answering.judge(Answering(state=State.ABSENT, directory="/data"), "1.0"),
        answering.judge(change(ALIVE, standing_by="node b holds the venues", livez=None, readyz=None), "1.0"),
        clocks.judge(KEPT, NOW, NOW, 3),
        clocks.judge(KEPT, NOW, None, None),
        disks.judge(DISK, 1e6),
        disks.judge(change(DISK, kind="nfs4", holds_sqlite=False, inodes=None), None),
        limits.judge_files(FILES, 10_000, 500),
        limits.judge_files(change(FILES, soft=None, hard=None), 10_000, 500),
        limits.judge_files(change(FILES, soft=64, used=None), 10_000, 500),
        limits.judge_backlog(4096, 4096),
        durability.judge_sqlite(SQLITE, "process"),
        durability.judge_sqlite(change(SQLITE, faults=()), "power"),
        durability.judge_postgres(POSTGRES, "power"),
        exposure.judge(configured()),
        exposure.judge(configured(web__public_url="https://a.example", web__proxies="127.0.0.1", web__host="0.0.0.0")),
        exposure.judge(
            configured(
                web__public_url="https://a.example",
                web__tls=True,
                web__host="0.0.0.0",
                tls__certificate="/a.pem",
                tls__key="/a.key",
            )
        ),
        certificates.judge_own(OWN, ["a.example", "b.c.example"], NOW),
        backups.judge(BACKUPS, NOW - HOUR, NOW, CGOS),
        backups.judge(BACKUPS, None, NOW, CGOS),
        backups.judge(change(BACKUPS, latest_at=NOW - 25 * HOUR), NOW - HOUR, NOW, CGOS),
        certificates.judge([certificates.Certificate(where="https://a.example", until_ms=NOW + 60 * DAY)], NOW),
        databases.judge_sqlite(SQLITE, True, {}),
        databases.judge_postgres(POSTGRES),
        permissions.judge(DIRECTORY, [DATABASE], CGOS, NAMES),
        programs.judge_program("3.13.1", "1.0", None, []),
        [programs.judge_sqlite((3, 51, 3)), programs.judge_sqlite((3, 44, 6)), programs.judge_sqlite((3, 50, 7))],
        programs.judge_transcripts(TRANSCRIPTS, 7, 65_536, NOW),
        programs.judge_transcripts(None, 0, 65_536, NOW),
    ],
)  # fmt: skip
def test_nothing_is_wrong_where_nothing_is(findings: list[Finding]) -> None:
    assert {finding.level for finding in findings} <= {Level.OK}


TAKEN = change(PORT, busy=True, holders={9: "nginx"})


@pytest.mark.parametrize("own", [frozenset(), frozenset({7})])
def test_a_port_of_another_program_is_wrong_and_names_it(own: frozenset[int]) -> None:
    assert "port 8080 of 127.0.0.1 (pages) is held by nginx (process 9)" in the_fault(ports.judge([TAKEN], own, False))


def test_a_port_whose_holder_cannot_be_compared_is_unknown() -> None:
    the_fault(ports.judge([TAKEN], None, False), Level.UNKNOWN)


def test_a_server_that_does_not_listen_where_it_is_configured_was_started_otherwise() -> None:
    assert "is not listened on" in the_fault(ports.judge([PORT], frozenset({7}), False))


def test_an_address_that_the_machine_has_not_is_wrong() -> None:
    refused = change(PORT, problem="Cannot assign requested address")
    assert "cannot be had" in the_fault(ports.judge([refused], frozenset(), False))


def test_a_port_that_only_the_service_may_have_is_unknown_to_others() -> None:
    low = change(PORT, number=80, problem="Permission denied", forbidden=True)
    (finding,) = ports.judge([low], frozenset(), False)
    assert finding.level is Level.UNKNOWN
    assert "CAP_NET_BIND_SERVICE" in finding.remedy
    assert "is not listened on" in the_fault(ports.judge([low], frozenset({7}), False))


@pytest.mark.parametrize(
    ("seen", "level", "words"),
    [
        (Answering(state=State.SILENT, directory="/d", pid=7, process_state="T"), Level.WRONG, "stopped by a signal"),
        (Answering(state=State.SILENT, directory="/d", pid=7, process_state="D"), Level.WRONG, "waits for a disk"),
        (Answering(state=State.SILENT, directory="/d"), Level.WRONG, "its loop does not turn"),
        (Answering(state=State.ABSENT, directory="/d", pid=7), Level.WRONG, "listens on no control socket"),
        (Answering(state=State.UNKNOWN, directory="/d", reason="another user's"), Level.UNKNOWN, "another user's"),
        (change(ALIVE, version="0.9"), Level.WARNING, "runs version 0.9, and 1.0 is installed"),
        (change(ALIVE, draining=True), Level.WARNING, "draining"),
        (change(ALIVE, livez=(None, "timed out")), Level.WRONG, "/livez does not answer: timed out"),
        (change(ALIVE, readyz=(503, "not ready\nstore: commits fail\n")), Level.WRONG, "store: commits fail"),
        (change(ALIVE, errors=3), Level.WARNING, "errors since its start: 3"),
    ],
)  # fmt: skip
def test_a_server_that_is_not_well(seen: Answering, level: Level, words: str) -> None:
    assert words in the_fault(answering.judge(seen, "1.0"), level)


def test_clocks() -> None:
    judge, off = partial(clocks.judge, now_ms=NOW), change(KEPT, error_us=2_000_000)
    assert "unsynchronized" in the_fault(
        judge(change(KEPT, synchronized=False), latest_ms=None, ahead_ms=None), Level.WARNING
    )
    assert "off by 2.0 s" in the_fault(judge(off, latest_ms=NOW, ahead_ms=0), Level.WARNING)
    assert "has a record of" in the_fault(judge(KEPT, latest_ms=NOW + DAY, ahead_ms=0))
    assert "5.0 s behind" in the_fault(judge(KEPT, latest_ms=NOW, ahead_ms=-5_000), Level.WARNING)
    assert "90.0 s ahead of" in the_fault(judge(KEPT, latest_ms=NOW, ahead_ms=90_000))
    the_fault(judge("only Linux tells that", latest_ms=NOW, ahead_ms=None), Level.UNKNOWN)


def test_disks() -> None:
    assert "free in /data" in the_fault(disks.judge(change(DISK, free=GIB // 8), None))
    the_fault(disks.judge(change(DISK, free=GIB // 2), None), Level.WARNING)
    assert "enough for 2.0 days" in the_fault(disks.judge(DISK, 50 * GIB))
    assert "enough for 20 days" in the_fault(disks.judge(DISK, 5 * GIB), Level.WARNING)
    assert "room for 3 more files" in the_fault(disks.judge(change(DISK, inodes=3), None))
    assert "can only be read" in the_fault(disks.judge(change(DISK, read_only=True), None))
    assert "SQLite's write-ahead log" in the_fault(disks.judge(change(DISK, kind="nfs4"), None))
    assert "gone with a restart" in the_fault(disks.judge(change(DISK, kind="tmpfs"), None))
    assert "container" in the_fault(disks.judge(change(DISK, kind="overlay"), None), Level.WARNING)


def test_limits() -> None:
    few = change(FILES, soft=64, hard=64, used=20)
    assert "may open 64 files: that is room for 1 of 10000" in the_fault(limits.judge_files(few, 10_000, 500))
    some = limits.judge_files(change(FILES, soft=4096), 10_000, 500)
    assert "room for 3596" in the_fault(some, Level.WARNING)
    assert "has 19000 of 20000" in the_fault(limits.judge_files(change(FILES, used=19_000), 10_000, 500))
    the_fault(limits.judge_files("no such process", 10_000, 500), Level.UNKNOWN)
    assert "128 connections wait" in the_fault(limits.judge_backlog(128, 4096), Level.WARNING)
    the_fault(limits.judge_backlog("no /proc", 4096), Level.UNKNOWN)


def test_durability() -> None:
    assert "delete" in the_fault(durability.judge_sqlite(change(SQLITE, journal_mode="delete"), "process"))
    damaged = change(SQLITE, faults=("Tree 3 page 7: btreeInitPage",))
    assert "Tree 3 page 7" in the_fault(durability.judge_sqlite(damaged, "power"))
    assert "fsync = off" in the_fault(durability.judge_postgres(change(POSTGRES, fsync=False), "power"))
    torn = change(POSTGRES, full_page_writes=False)
    assert "full_page_writes = off" in the_fault(durability.judge_postgres(torn, "process"))
    old = change(POSTGRES, version="11.22")
    assert "no corrections" in the_fault(durability.judge_postgres(old, "process"), Level.WARNING)


@pytest.mark.parametrize(
    ("keys", "level", "words"),
    [
        ({"web__public_url": "https://a.example"}, Level.WRONG, "web.proxies names no proxy"),
        ({"websocket__public_url": "wss://a.example"}, Level.WRONG, "listen.proxies names no proxy"),
        ({"web__proxies": "0.0.0.0/0"}, Level.WRONG, "web.proxies trusts 0.0.0.0/0"),
        ({"listen__proxies": "127.0.0.1, ::/0"}, Level.WRONG, "listen.proxies trusts ::/0"),
        ({"admin__networks": "0.0.0.0/0"}, Level.WARNING, "clear text"),
        ({"web__host": "0.0.0.0"}, Level.WARNING, "anybody may make an account"),
        ({"health__host": "::"}, Level.WARNING, "health and metrics are open"),
    ],
)
def test_exposure(keys: dict[str, str], level: Level, words: str) -> None:
    assert words in the_fault(exposure.judge(configured(**keys)), level)


@pytest.mark.parametrize(
    ("host", "public"),
    [("", True), ("0.0.0.0", True), ("::", True), ("8.8.8.8", True), ("cgos.example", True)]
    + [(host, False) for host in ("127.0.0.1", "::1", "10.0.0.7", "localhost", "192.168.1.1")],
)
def test_which_addresses_the_world_may_reach(host: str, public: bool) -> None:
    assert exposure.is_public(host) is public


def test_certificates() -> None:
    shown = certificates.Certificate(where="https://a.example")
    judge = partial(certificates.judge, now_ms=NOW)
    assert "ends in 20 days" in the_fault(judge([change(shown, until_ms=NOW + 20 * DAY)]), Level.WARNING)
    assert "ends in 2 days" in the_fault(judge([change(shown, until_ms=NOW + 2 * DAY)]))
    assert "ended 4 days ago" in the_fault(judge([change(shown, until_ms=NOW - 4 * DAY)]))
    assert "certificate has expired" in the_fault(judge([change(shown, refused="certificate has expired")]))
    assert "refused" in the_fault(judge([change(shown, unreachable="Connection refused")]), Level.WARNING)


def test_own_certificates() -> None:
    judge = partial(certificates.judge_own, now_ms=NOW)
    assert "/a.pem: its certificate ends in 20 days" in the_fault(
        judge(change(OWN, until_ms=NOW + 20 * DAY), []), Level.WARNING
    )
    assert "ended 1 day ago" in the_fault(judge(change(OWN, until_ms=NOW - DAY), []))
    assert "not valid yet" in the_fault(judge(change(OWN, from_ms=NOW + DAY), []))
    for host in ("c.example", "d.b.c.example", "example"):
        assert the_fault(judge(OWN, ["A.example", host])).endswith(f"a.example, *.c.example, and not for {host}.")
    assert "may read or write /a.key" in the_fault(judge(change(OWN, key_mode=0o644), []))


def test_backups() -> None:
    due = NOW - 3 * HOUR
    late = change(BACKUPS, latest_at=due - DAY)
    assert "the latest backup in /b is of" in the_fault(backups.judge(late, due, NOW, CGOS))
    none = backups.Backups(folder="/b")
    assert "no backup in /b yet" in the_fault(backups.judge(none, due, NOW, CGOS), Level.WARNING)
    assert "no backup is scheduled, and none" in the_fault(backups.judge(none, None, NOW, CGOS), Level.WARNING)
    old = change(BACKUPS, latest_at=NOW - 8 * DAY)
    assert "no backup is scheduled, and the latest" in the_fault(backups.judge(old, None, NOW, CGOS), Level.WARNING)
    open_to_all = change(BACKUPS, files=tuple(permissions.Entry(path=f"/b/{n}", mode=0o640, owner=1) for n in range(5)))
    assert "/b/0, /b/1, /b/2 and 2 more" in the_fault(backups.judge(open_to_all, None, NOW, CGOS))
    of_root = change(BACKUPS, around=permissions.Entry(path="b", mode=0o755, owner=0))
    assert "another user than cgos" in the_fault(backups.judge(of_root, due, NOW, CGOS))
    assert backups.judge(of_root, None, NOW, CGOS) == backups.judge(BACKUPS, None, NOW, CGOS)
    assert len(backups.judge(of_root, due, NOW, (0, "root"))) == 1


def test_databases() -> None:
    judge = databases.judge_sqlite
    long = change(SQLITE, log_bytes=GIB // 2)
    held = the_fault(judge(long, True, {9: "sqlite3"}), Level.WARNING)
    assert "512 MiB: a reader holds it, perhaps sqlite3 (process 9)" in held
    the_fault(judge(change(SQLITE, log_bytes=2 * GIB), True, {}))
    assert "no server runs" in the_fault(judge(long, False, {}), Level.WARNING)
    empty = change(SQLITE, free_pages=200_000)
    assert "are empty pages" in the_fault(judge(empty, True, {}), Level.WARNING)
    crowded = databases.judge_postgres(change(POSTGRES, connections=99))
    assert "99 of 100 connections" in the_fault(crowded, Level.WARNING)


def test_growth_is_the_last_weeks_games_times_bytes_a_game() -> None:
    def lately(started: list[int], games: int = 1000) -> Lately:
        return Lately(games=games, started=started, created_at=NOW - 100 * DAY, latest_at=NOW)

    week = [NOW - DAY] * 70 + [NOW - 30 * DAY] * 100
    pace = databases.growth(lately(week), 1_000_000, NOW)
    assert pace is not None
    assert (pace.games_a_day, pace.bytes_a_game, pace.bytes_a_day) == (10.0, 1000.0, 10_000.0)
    # All that were read are of the last two days.
    busy = databases.growth(lately([NOW - DAY] * 100 + [NOW - 2 * DAY] * 100), 1_000_000, NOW)
    assert busy is not None
    assert busy.games_a_day == 100.0
    assert databases.growth(lately([NOW - 30 * DAY]), 1_000_000, NOW) is None
    assert databases.growth(lately(week, games=99), 1_000_000, NOW) is None
    assert "a million games are 954 MiB; 10 games a day" in databases.judge_size(1_000_000, 1000, pace).sentence


def test_a_database_younger_than_a_week_has_had_less_time() -> None:
    young = Lately(games=200, started=[NOW - DAY] * 100, created_at=NOW - 2 * DAY, latest_at=NOW)
    old_games = msgspec.structs.replace(young, started=[NOW - DAY] * 100 + [NOW - 9 * DAY])
    pace = databases.growth(old_games, 1_000, NOW)
    assert pace is not None
    assert pace.games_a_day == 50.0


def test_permissions() -> None:
    judge = partial(permissions.judge, server=(1000, "cgos"), names=NAMES)
    open_to_all = judge(change(DIRECTORY, mode=0o755), [change(DATABASE, mode=0o644)])
    assert "all users of this machine can look into /data (mode 0755), where they may read" in the_fault(open_to_all)
    the_fault(judge(change(DIRECTORY, mode=0o750), [DATABASE]), Level.WARNING)
    assert "cgos.sqlite to root" in the_fault(judge(DIRECTORY, [change(DATABASE, owner=0)]))


def test_programs() -> None:
    assert "WAL-reset" in the_fault([programs.judge_sqlite((3, 40, 1))], Level.WARNING)
    the_fault([programs.judge_sqlite((3, 51, 2)), programs.judge_sqlite((3, 52, 0))], Level.WARNING)
    apart = "cgos-server 0.2 needs cgos-protocol 0.2, and 0.1 is installed. Install it."
    assert "and 0.1 is installed" in the_fault(programs.judge_program("3.12", "0.2", apart, []))
    assert "clash" in the_fault(programs.judge_program("3.12", "0.2", None, ["two clash"]), Level.WARNING)
    judge = partial(programs.judge_transcripts, days=7, bytes_per_bot=65_536, now_ms=NOW)
    assert "of one bot have 9.8 MiB" in the_fault(judge(change(TRANSCRIPTS, largest=10**7 + 300_000)), Level.WARNING)
    assert "20 days ago" in the_fault(judge(change(TRANSCRIPTS, oldest_ms=NOW - 20 * DAY)), Level.WARNING)
