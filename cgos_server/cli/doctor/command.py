"""`cgos-server doctor`: the findings for people or programs, and the exit code.

Must not know: what is checked.
"""

from __future__ import annotations

import functools
import os
import platform
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click
import msgspec

import cgos_protocol
from cgos_protocol.compatibility import mismatch
from cgos_protocol.errors import CgosError, ConfigError, Invalid, NotFound, OurFault, StoreError
from cgos_server import __version__
from cgos_server.assembly.listeners import count_listeners
from cgos_server.cli.common import Setup, config_option, data_option, json_option, load_setup
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
from cgos_server.cli.doctor.findings import Finding, Level, ok, unknown, wrong
from cgos_server.cli.doctor.observing import certificates as shown_certificates
from cgos_server.cli.doctor.observing import machine, processes, transcripts
from cgos_server.cli.doctor.observing import ports as listened_ports
from cgos_server.cli.doctor.observing import server as running_server
from cgos_server.cli.output import print_json, shown
from cgos_server.cli.reading import now_ms, read
from cgos_server.cli.server.fitting import check_database, check_owner_reads
from cgos_server.config.schema import Config
from cgos_server.net.control_socket import SOCKET
from cgos_server.net.limits import SPARE_FILES
from cgos_server.observability.transcript_files import FOLDER
from cgos_server.presentation.words import count
from cgos_server.service.plugin_report import plugin_report
from cgos_server.storage import schema
from cgos_server.storage.backups import folder
from cgos_server.storage.backups.names import last_due
from cgos_server.storage.condition import PostgresCondition, SqliteCondition, sqlite_condition
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.lock import lock_path
from cgos_server.storage.reading.answers import Lately
from cgos_server.storage.writing.causes import Cause, cause_of

_NEWEST_GAMES = 20_000
"""By which the pace of the last week is told: some milliseconds to read."""


@dataclass(frozen=True, kw_only=True)
class Installation:
    """What is examined. What several checks look at is looked at once.

    :ivar deep: have all pages of the database checked
    :ivar now_ms: this machine's clock
    """

    setup: Setup
    deep: bool
    now_ms: int

    @property
    def config(self) -> Config:
        return self.setup.config

    @property
    def data(self) -> Path:
        return self.config.server.data

    @functools.cached_property
    def user(self) -> tuple[int, str]:
        """Number and name of who runs the server, or is to: the owner of the data directory. Raises OSError."""
        number = processes.owner(self.server.pid) if self.server.pid else None
        if number is None:
            number = self.data.stat().st_uid if self.data.exists() else os.getuid()
        return number, machine.user(number)

    @functools.cached_property
    def server(self) -> answering.Answering:
        return running_server.look(self.data)

    @functools.cached_property
    def condition(self) -> SqliteCondition | PostgresCondition:
        """Of the database. Raises StoreError, Refused."""
        location = self.setup.database
        if isinstance(location, PostgresUrl):
            # Only where it is configured: its driver is an extra that need not be installed.
            from cgos_server.storage.postgres.condition import postgres_condition

            return postgres_condition(location)
        if not location.exists():
            raise _Absent
        return sqlite_condition(location, deep=self.deep)

    @functools.cached_property
    def lately(self) -> Lately:
        """Raises StoreError, Refused."""
        return read(self.setup, lambda history: history.server.lately(_NEWEST_GAMES))

    @property
    def growth(self) -> databases.Growth | None:
        """None where it cannot be told."""
        try:
            return databases.growth(self.lately, self.condition.database_bytes, self.now_ms)
        except (CgosError, _Absent):
            return None


class _Absent(Exception):
    """There is no database yet, and nothing to say of it."""


Check = Callable[[Installation], list[Finding]]


def examine(installation: Installation) -> list[Finding]:
    """All findings, in the order of the checks."""
    return [finding for name, check in CHECKS.items() for finding in _run(name, check, installation)]


def _run(name: str, check: Check, installation: Installation) -> list[Finding]:
    try:
        findings = check(installation)
    except _Absent:
        findings = [ok("there is no database yet: the first start makes it")]
    except ConfigError as problem:
        findings = config_findings(problem)
    except (CgosError, OSError) as error:
        cause = cause_of(error)
        if cause is Cause.DAMAGED:
            findings = [wrong(f"{_reason(error)}.", cause.value)]
        else:
            refused = cause is Cause.ACCESS or isinstance(error, PermissionError)
            findings = [unknown(f"this cannot be seen: {_reason(error)}", _OTHER_USER if refused else "")]
    except Exception as error:
        fault = OurFault(f"this check failed itself ({type(error).__name__}: {error})")
        findings = [unknown(f"{fault}.", "That is a fault of cgos-server: please report it with this line.")]
    return [msgspec.structs.replace(finding, check=name) for finding in findings]


_OTHER_USER = "Run this command as the server's user or as root."


def _reason(error: Exception) -> str:
    return f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)


def config_findings(problem: ConfigError) -> list[Finding]:
    """What is wrong with a configuration, a finding a fault."""
    problems = getattr(problem, "problems", (problem,))
    return [wrong(f"{each.place}: {each.problem}.", each.remedy) for each in problems]


def _configuration(installation: Installation) -> list[Finding]:
    try:
        there = check_database(installation.setup)
    except CgosError as error:
        if isinstance(error, ConfigError):
            raise
        there = False  # the check of the database says why
    agrees = ", and agrees with the database" if there else ""
    return [ok(f"{installation.setup.origin} can be used{agrees}")]


def _program(installation: Installation) -> list[Finding]:
    disagreement = mismatch("cgos-server", __version__, cgos_protocol.__version__)
    problems = plugin_report().problems
    findings = programs.judge_program(platform.python_version(), __version__, disagreement, problems)
    if isinstance(installation.setup.database, Path):
        findings.append(programs.judge_sqlite(sqlite3.sqlite_version_info))
    return findings


def _server(installation: Installation) -> list[Finding]:
    return answering.judge(installation.server, __version__)


def _ports(installation: Installation) -> list[Finding]:
    server = installation.server
    own: frozenset[int] | None = processes.family(server.pid) if server.pid else frozenset()
    if not server.pid and server.state is not answering.State.ABSENT:
        own = None
    config = installation.config
    if server.venues:  # of a node of a cluster perhaps not all
        venues = tuple(venue for venue in config.venue if venue.name in server.venues)
        config = msgspec.structs.replace(config, venue=venues)
    seen = listened_ports.look(config, standing_by=bool(server.standing_by))
    return ports.judge(seen, own, config.listen.next_free_port)


def _clock(installation: Installation) -> list[Finding]:
    latest = ahead = None
    try:
        condition = installation.condition
        if isinstance(condition, PostgresCondition):
            ahead = condition.ahead_ms
        latest = installation.lately.latest_at
    except (CgosError, _Absent):
        pass  # the check of the database says why
    return clocks.judge(machine.clock(), installation.now_ms, latest, ahead)


def _disk(installation: Installation) -> list[Finding]:
    in_files = isinstance(installation.setup.database, Path)
    disk = machine.disk(installation.data, "data directory", holds_sqlite=in_files)
    pace = installation.growth if in_files else None
    return disks.judge(disk, None if pace is None else pace.bytes_a_day)


def _limits(installation: Installation) -> list[Finding]:
    config, pid = installation.config, installation.server.pid
    others = SPARE_FILES + count_listeners(config)
    return [
        *limits.judge_files(processes.open_files(pid or None), config.limits.connections, others),
        *limits.judge_backlog(processes.most_waiting(), config.listen.backlog),
    ]


def _durability(installation: Installation) -> list[Finding]:
    condition, promised = installation.condition, installation.config.server.durability
    if isinstance(condition, PostgresCondition):
        return durability.judge_postgres(condition, promised)
    return durability.judge_sqlite(condition, promised)


def _exposure(installation: Installation) -> list[Finding]:
    return exposure.judge(installation.config)


def _certificates(installation: Installation) -> list[Finding]:
    config, files = installation.config, installation.config.tls.files
    urls = shown_certificates.public_addresses(config)
    findings = certificates.judge([shown_certificates.shown_by(url) for url in urls], installation.now_ms)
    if files is not None:
        try:
            own = shown_certificates.own(files)
            check_owner_reads(files, config.server.data)
        except Invalid as refusal:
            sentence, _, remedy = refusal.sentence.partition(". ")
            findings.append(wrong(f"{sentence}.", remedy))
        else:
            findings += certificates.judge_own(own, shown_certificates.own_hosts(config), installation.now_ms)
    return findings or [ok("no certificate is configured")]


def _backups(installation: Installation) -> list[Finding]:
    where, minute = installation.config.backups, installation.config.backup.at.minute
    there = folder.listed(where)
    kept = backups.Backups(
        folder=str(where),
        around=next(iter(machine.entries([where])), None),
        latest_at=next((each.at for each in there if each.at <= installation.now_ms), None),
        files=tuple(machine.entries([Path(backup.file) for backup in there])),
    )
    due_at = None if minute is None else last_due(installation.now_ms, minute)
    return backups.judge(kept, due_at, installation.now_ms, installation.user)


def _database(installation: Installation) -> list[Finding]:
    location = installation.setup.database
    try:
        schema.check(location)
    except NotFound as refusal:
        if schema.current(location) is None and not installation.server.pid:
            raise _Absent from refusal
        raise
    except StoreError as error:
        return [wrong(f"{error}.", "Look at the file and its disk, or at PostgreSQL and the way to it.")]
    except CgosError as refusal:
        sentence, _, remedy = str(refusal).partition(". ")
        return [wrong(f"{sentence}.", remedy)]
    condition = installation.condition
    pace = installation.growth
    size = databases.judge_size(condition.database_bytes, installation.lately.games, pace)
    if isinstance(condition, PostgresCondition):
        return [size, *databases.judge_postgres(condition)]
    pid = installation.server.pid
    own = processes.family(pid) if pid else frozenset[int]()
    assert isinstance(location, Path)
    others = {each: command for each, command in processes.readers(location).items() if each not in own}
    others.pop(os.getpid(), None)
    return [size, *databases.judge_sqlite(condition, bool(pid), others)]


def _permissions(installation: Installation) -> list[Finding]:
    data = installation.data
    if not data.exists():
        return [ok(f"{data} is made at the first start")]
    names = [data / SOCKET]
    location = installation.setup.database
    if isinstance(location, Path):
        names += [location, *(location.with_name(location.name + end) for end in ("-wal", "-shm")), lock_path(location)]
    files = machine.entries(names)
    (directory,) = machine.entries([data])
    directory = msgspec.structs.replace(directory, path=str(data))
    owners = {entry.owner: machine.user(entry.owner) for entry in (directory, *files)}
    return permissions.judge(directory, files, installation.user, owners)


def _transcripts(installation: Installation) -> list[Finding]:
    settings = installation.config.transcripts
    seen = transcripts.look(installation.data / FOLDER)
    return programs.judge_transcripts(seen, settings.days, settings.bytes_per_bot, installation.now_ms)


CHECKS: dict[str, Check] = {
    "configuration": _configuration,
    "program": _program,
    "server": _server,
    "ports": _ports,
    "clock": _clock,
    "disk": _disk,
    "limits": _limits,
    "durability": _durability,
    "exposure": _exposure,
    "certificates": _certificates,
    "database": _database,
    "permissions": _permissions,
    "backups": _backups,
    "transcripts": _transcripts,
}


_WIDTH = max(map(len, Level))


@click.command()
@click.option("--deep", is_flag=True, help="Have SQLite check all pages of the database, too: reads all of it.")
@json_option
@config_option
@data_option
def doctor(config_path: Path | None, data: Path | None, deep: bool, as_json: bool) -> None:
    """Say what is wrong around a server, and what to do.

    Looks, whether it runs or not, at configuration, program, ports, clock, disk, limits, durability, proxies,
    certificates, database, permissions and backups. Changes nothing. Exit code 1 where something is
    wrong; warnings alone are 0.
    """
    try:
        setup = load_setup(config_path, data)
    except ConfigError as problem:
        findings = [_of_configuration(finding) for finding in config_findings(problem)]
    else:
        findings = examine(Installation(setup=setup, deep=deep, now_ms=now_ms()))
    if as_json:
        print_json(findings)
    else:
        _show(findings)
    sys.exit(any(finding.level is Level.WRONG for finding in findings))


def _of_configuration(finding: Finding) -> Finding:
    return Finding(level=finding.level, sentence=finding.sentence, remedy=finding.remedy, check="configuration")


def _show(findings: list[Finding]) -> None:
    for finding in findings:
        click.echo(f"{finding.level:<{_WIDTH}}  {finding.check}: {shown(finding.sentence)}")
        if finding.remedy:
            click.echo(f"{'':<{_WIDTH}}  -> {shown(finding.remedy)}")
    levels = Counter(finding.level for finding in findings)
    click.echo(
        f"{levels[Level.WRONG]} wrong, {count(levels[Level.WARNING], 'warning')}, {levels[Level.UNKNOWN]} unknown, "
        f"{levels[Level.OK]} ok"
    )
