"""What a told move survives here, and whether the database keeps that promise."""

from __future__ import annotations

from cgos_server.cli.doctor.findings import Finding, ok, warning, wrong
from cgos_server.storage.condition import PostgresCondition, SqliteCondition
from cgos_server.storage.sqlite.connections import Durability

_OLDEST_SERVED = 14
"""The oldest major version of PostgreSQL that still gets corrections, or got them until November 2026."""

_SURVIVES: dict[Durability, str] = {
    "process": "a told move survives the death of the server; a power cut may cost the last moments",
    "power": "a told move survives a power cut",
}


def judge_sqlite(seen: SqliteCondition, durability: Durability) -> list[Finding]:
    findings = [ok(f"durability {durability}: {_SURVIVES[durability]}")]
    if seen.journal_mode != "wal":
        findings.append(
            wrong(
                f"the database's journal is {seen.journal_mode}, not wal: readers and the writer hold each other up.",
                "The next start of the server sets it; if it stays so, the file system refuses shared memory.",
            )
        )
    if seen.faults is None:
        return findings
    if seen.faults:
        findings.append(
            wrong(
                f"the database is damaged: {'; '.join(seen.faults)}.",
                "Stop the server, keep a copy of all files of the data directory, and restore the newest backup; see "
                "why the disk lost what was written (dmesg, smartctl).",
            )
        )
    else:
        findings.append(ok("the database's pages are whole"))
    return findings


def judge_postgres(seen: PostgresCondition, durability: Durability) -> list[Finding]:
    waits = "on" if durability == "power" else "off"
    findings = [
        ok(
            f"durability {durability}: {_SURVIVES[durability]} (PostgreSQL {seen.version}, our commits have "
            f"synchronous_commit = {waits})"
        )
    ]
    for setting, is_on, danger in (
        ("fsync", seen.fsync, "a crash of its machine may destroy the whole database"),
        ("full_page_writes", seen.full_page_writes, "a crash of its machine may leave torn pages"),
    ):
        if not is_on:
            findings.append(
                wrong(
                    f"PostgreSQL runs with {setting} = off: {danger}, whatever server.durability says.",
                    f"Set {setting} = on in postgresql.conf and have it read again: SELECT pg_reload_conf().",
                )
            )
    if int(seen.version.split(".")[0]) < _OLDEST_SERVED:
        findings.append(
            warning(
                f"PostgreSQL {seen.version} gets no corrections any more.",
                f"Upgrade it to {_OLDEST_SERVED + 1} or later, which is what this program is tested on.",
            )
        )
    return findings
