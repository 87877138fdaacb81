"""`cgos-server db prune`, `db compact` and `db size`: what the database need not keep any longer, and how much room
everything takes.

Must not know: how rows are removed.
"""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from cgos_server.cli.commands.perform import perform
from cgos_server.cli.common import Setup, configured, json_option
from cgos_server.cli.output import print_json, print_table, say
from cgos_server.cli.reading import now_ms, read
from cgos_server.presentation.words import count
from cgos_server.service.commands.server import Prune
from cgos_server.service.pruning import TABLES, would_go
from cgos_server.storage import schema
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.lock import DatabaseLock
from cgos_server.storage.sqlite.compacting import compact as write_anew


@click.command()
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@json_option
@configured
def prune(setup: Setup, dry_run: bool, as_json: bool) -> None:
    """Remove what the configuration keeps no longer.

    See [retention] there. A running server does it every hour by itself; told by this command it begins at once, in the
    background.
    """
    days = setup.config.retention.days()
    if dry_run:
        counted = read(setup, lambda history: would_go(history.keeping, days, now_ms()))
        rows, in_background = {kind.value: number for kind, number in counted.items()}, False
    else:
        answer = perform(setup, Prune())
        rows, in_background = answer.rows, answer.in_background
    if as_json:
        print_json({"dry_run": dry_run, "in_background": in_background, "rows": rows})
    elif in_background:
        say("The server removes it from now on, beside its games; its log says when it is done.")
    elif not rows:
        say("Everything is kept for ever: the configuration says nothing else in [retention].")
    else:
        kept = {kind.value: number for kind, number in days.items()}
        print_table(
            ("kind", "kept", "would go" if dry_run else "removed"),
            [(kind, count(round(kept[kind]), "day"), number) for kind, number in rows.items()],
        )


@click.command()
@json_option
@configured
def compact(setup: Setup, as_json: bool) -> None:
    """Write the SQLite file anew, without what was removed. The server must be stopped.

    The file gives back the room that it does not use, and no byte of it has what was removed or erased. It needs up to
    twice its size for a while. Killed, it has changed nothing.
    """
    location = setup.database
    if isinstance(location, PostgresUrl):
        say(f"{location} does this by itself (autovacuum); at once by its owner: VACUUM FULL.")
        return
    schema.check(location)
    with DatabaseLock(location, "cgos-server db compact"):
        before, after = write_anew(location)
    if as_json:
        print_json({"database": str(location), "before_bytes": before, "after_bytes": after})
    else:
        say(f"{location} is written anew: {_megabytes(before)} MB became {_megabytes(after)} MB.")


_FEWEST_ROWS = 20
"""Rows below which a table's size is mostly that of the pages which an empty table has, too."""


class _Size(msgspec.Struct, kw_only=True):
    """A table.

    :ivar bytes: with its indexes; None where this SQLite cannot say
    :ivar row_bytes: of them for each row
    :ivar million_games_bytes: as much for a million games as for those that there are; None of too few rows
    :ivar kept_days: how long its rows are kept, None for ever
    """

    table: str
    rows: int
    bytes: int | None
    row_bytes: float | None
    million_games_bytes: int | None
    kept_days: float | None


@click.command()
@json_option
@configured
def size(setup: Setup, as_json: bool) -> None:
    """How much room everything takes, and would take for a million games.

    Tables with their indexes, and what lies in the data directory. It reads the whole database, which may take a while.
    """
    sizes = _sizes(setup)
    files = _files(setup.config.server.data)
    if as_json:
        print_json({"tables": sizes, "files": files})
        return
    print_table(
        ("table", "rows", "MB", "bytes a row", "MB a million games", "kept"),
        [
            (
                each.table,
                each.rows,
                _megabytes(each.bytes),
                None if each.row_bytes is None else round(each.row_bytes),
                _megabytes(each.million_games_bytes),
                "for ever" if each.kept_days is None else f"{each.kept_days:g} days",
            )
            for each in sizes
        ],
    )
    click.echo()
    print_table(("in the data directory", "MB"), [(name, _megabytes(number)) for name, number in files.items()])


def _sizes(setup: Setup) -> list[_Size]:
    measured = read(setup, lambda history: history.sizes.tables())
    games = next(each.rows for each in measured if each.table == "games")
    days = setup.config.retention.days()
    return [
        _Size(
            table=each.table,
            rows=each.rows,
            bytes=each.bytes,
            row_bytes=each.bytes / each.rows if each.bytes and each.rows else None,
            million_games_bytes=(
                each.bytes * 1_000_000 // games if each.bytes and games and each.rows >= _FEWEST_ROWS else None
            ),
            kept_days=days.get(TABLES[each.table]) if each.table in TABLES else None,
        )
        for each in measured
    ]


def _files(directory: Path) -> dict[str, int]:
    """Name -> bytes, of what lies in the directory, the largest first."""
    sizes = {
        path.name: sum(each.lstat().st_size for each in (path, *path.rglob("*")) if each.is_file())
        for path in directory.iterdir()
    }
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))


def _megabytes(number: int | None) -> str | None:
    return None if number is None else f"{number / 1e6:.1f}"
