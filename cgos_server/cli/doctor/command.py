"""`cgos-server doctor`: the findings for people or programs, and the exit code.

Must not know: what is checked.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import click

from cgos_protocol.errors import ConfigError
from cgos_server.cli.common import config_option, data_option, json_option, load_setup
from cgos_server.cli.doctor.examination import Installation, config_findings, examine
from cgos_server.cli.doctor.findings import Finding, Level
from cgos_server.cli.output import print_json, shown
from cgos_server.cli.reading import now_ms
from cgos_server.presentation.words import count

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
