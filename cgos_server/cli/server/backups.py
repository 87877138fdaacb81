"""`cgos-server db backup`, `backups`, `verify`, `restore` and `drill`.

Must not know: the live server, how a backup is taken or put back.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from cgos_server.cli.common import Setup, configured, json_option
from cgos_server.cli.output import print_json, print_list, print_table, say, when
from cgos_server.cli.progress import progress_bar
from cgos_server.cli.ratings.rate import replay_published, verdict
from cgos_server.cli.reading import now_ms, read_from
from cgos_server.observability.transcript_files import FOLDER, highest_number
from cgos_server.presentation.words import count, moment
from cgos_server.storage import DATABASE, schema
from cgos_server.storage.backups import folder, restoring, taking
from cgos_server.storage.backups.comparing import compare
from cgos_server.storage.backups.files import temporary_folder
from cgos_server.storage.backups.verifying import Verified, verify
from cgos_server.storage.copying import Progress

T = TypeVar("T")

NICENESS = 10
"""A server may run on this machine, and its games go first."""

_file = click.Path(path_type=Path, dir_okay=False)
_ratings_option = click.option("--ratings", is_flag=True, help="Also compute all published ratings again and compare.")


@click.command()
@click.argument("file", type=_file, required=False)
@json_option
@configured
def backup(setup: Setup, file: Path | None, as_json: bool) -> None:
    """Write a backup of the database, while the server runs or not.

    One file with all that was committed before. To FILE, which must not be there; without it into the folder of
    backups, from which those that are out of date are then removed.
    """
    _stand_back()
    with progress_bar("backup") as bar:
        progress = _steps(bar)
        if file is None:
            keep = setup.config.backup.keep
            taken = folder.take_into(setup.config.backups, setup.database, keep, at_ms=now_ms(), progress=progress)
        else:
            taken = taking.take(setup.database, file.absolute(), now_ms(), progress)
    if as_json:
        print_json(taken)
        return
    say(f"{taken.file} has all of {setup.database} up to {moment(taken.at)} UTC: {_mb(taken.size_bytes)}.")


@click.command()
@json_option
@configured
def backups(setup: Setup, as_json: bool) -> None:
    """List the backups in the folder of backups."""
    rows = folder.listed(setup.config.backups)
    if not rows and not as_json:
        say(f"There is no backup in {setup.config.backups}. `cgos-server db backup` makes one.")
        return
    columns: dict[str, Callable[[folder.Listed], object]] = {
        "taken (UTC)": lambda row: when(row.at),
        "MB": lambda row: round(row.size_bytes / 1e6, 1),
        "file": lambda row: row.file,
    }
    print_list(rows, columns, as_json=as_json)


@click.command("verify")
@click.argument("file", type=_file)
@_ratings_option
@json_option
@configured
def verify_backup(setup: Setup, file: Path, ratings: bool, as_json: bool) -> None:
    """Check a backup, and say what is in it.

    All pages, all references, the schema. Exits with 1 where something is wrong.
    """
    with progress_bar("verify") as bar:
        verified = verify(file, _steps(bar))
    verdicts = _replayed(setup, file) if ratings else None
    if as_json:
        print_json({**msgspec.structs.asdict(verified), **({} if verdicts is None else {"ratings": verdicts})})
    else:
        _show(verified)
        for line in verdicts or ():
            click.echo(f"ratings   {line['venue']}, {line['system']}: {line['verdict']}")
    if verdicts and not all(line["agrees"] for line in verdicts):
        sys.exit(1)


@click.command()
@click.argument("file", type=_file)
@json_option
@configured
def restore(setup: Setup, file: Path, as_json: bool) -> None:
    """Put a backup in the place of the database. The server must be stopped.

    FILE is verified first. The earlier database is kept under another name; one in PostgreSQL must be empty. New games,
    bots and so on get numbers that nothing after the backup can have had, and so do unfinished games.
    """
    with progress_bar("restore") as bar:
        restored = restoring.restore(
            file,
            setup.database,
            now_ms(),
            _steps(bar),
            kept=[Path(row.file) for row in folder.listed(setup.config.backups)],
            highest=highest_number(setup.config.server.data / FOLDER),
        )
    if as_json:
        print_json(restored)
        return
    until = "nothing was recorded" if restored.backup.latest is None else f"up to {moment(restored.backup.latest)} UTC"
    say(f"{restored.database} is restored from {file}: {count(restored.backup.rows['games'], 'game')}, {until}.")
    if restored.aside is not None:
        say(f"The database of before is {restored.aside}. `cgos-server db restore` with that file takes this back.")
    if restored.backup.upgrade:
        say(f"It has the older schema {restored.backup.schema}: run `cgos-server db upgrade`, then start the server.")


@click.command()
@click.option("--from", "source", type=_file, metavar="FILE", help="This backup, instead of a new one.")
@json_option
@configured
def drill(setup: Setup, source: Path | None, as_json: bool) -> None:
    """Rehearse a restore: back up, restore elsewhere, check, compare.

    Takes a backup, restores it beside the backups, computes the ratings again, compares the counts with the database
    as it was then, and removes all of it. Exits with 1 where something differs.
    """
    _stand_back()
    timed = _Steps()
    with temporary_folder(setup.config.backups) as here, progress_bar("") as bar:
        progress = _steps(bar)
        place = here / "data" / DATABASE
        taken = source or here / "backup" / DATABASE
        if source is None:
            timed.step("backup", lambda: taking.take(setup.database, taken, now_ms(), progress))
        rehearse = partial(restoring.restore, renumber=False)  # the comparison goes by numbers
        restored = timed.step("verify and restore", lambda: rehearse(taken, place, now_ms(), progress))
        if restored.backup.upgrade:
            timed.step("upgrade", lambda: schema.upgrade(place, "cgos-server db drill"))
        verdicts = timed.step("replay of ratings", lambda: _replayed(setup, place))
        compared = timed.step("comparison", lambda: compare(place, setup.database))
    agrees = all(line["agrees"] for line in verdicts) and all(each.backup == each.running for each in compared)
    if as_json:
        print_json(
            {
                "seconds": timed.seconds,
                "latest": restored.backup.latest,
                "ratings": verdicts,
                "counts": compared,
                "agrees": agrees,
            }
        )
    else:
        print_table(("step", "seconds"), [(step, f"{seconds:.1f}") for step, seconds in timed.seconds.items()])
        click.echo()
        rows = [(each.what, each.backup, each.running) for each in compared]
        print_table(("what", "restored", "database"), rows)
        for line in verdicts:
            click.echo(f"ratings   {line['venue']}, {line['system']}: {line['verdict']}")
        say("What was restored is what the database had." if agrees else "What was restored DIFFERS from the database.")
    if not agrees:
        sys.exit(1)


class _Steps:
    """How long each step took, in seconds."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def step(self, name: str, work: Callable[[], T]) -> T:
        began = time.monotonic()
        result = work()
        self.seconds[name] = round(time.monotonic() - began, 3)
        return result


def _replayed(setup: Setup, file: Path) -> list[dict[str, Any]]:
    replays = read_from(file, lambda history: replay_published(setup, history))
    return [
        {"venue": venue, "system": done.system, "verdict": verdict(done), "agrees": done.agrees}
        for venue, each in replays.items()
        for done, _names in each
    ]


def _show(verified: Verified) -> None:
    click.echo(f"file      {verified.file} ({_mb(verified.size_bytes)})")
    click.echo(f"schema    {verified.schema}{', older: `cgos-server db upgrade` after a restore' * verified.upgrade}")
    click.echo(f"latest    {when(verified.latest) or 'nothing was recorded'}")
    for table in ("games", "moves", "versions", "ledger"):
        click.echo(f"{table:<9} {verified.rows[table]}")


def _steps(bar: Callable[[int, int, str], None]) -> Progress:
    return lambda what, done, total: bar(done, total, what)


def _stand_back() -> None:
    with suppress(OSError):
        os.nice(NICENESS)


def _mb(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
