"""`cgos-server init`, `check` and `db`: before a server runs.

Must not know: the live server, what is in the tables beyond the venues.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import click
import msgspec

from cgos_protocol import clock
from cgos_protocol.errors import Code, Conflict, Invalid
from cgos_protocol.ids import VenueId
from cgos_server.cli.commands.perform import perform
from cgos_server.cli.common import Setup, caller, configured, json_option
from cgos_server.cli.files import whole
from cgos_server.cli.output import print_json, print_table, say, show_plugins
from cgos_server.cli.progress import progress_bar
from cgos_server.cli.reading import now_ms, read
from cgos_server.cli.server.backups import backup, backups, drill, restore, verify_backup
from cgos_server.cli.server.fitting import check_certificate, check_database
from cgos_server.config.keys import keys_markdown, plain, template
from cgos_server.config.schema import Config
from cgos_server.config.venues import venue_value
from cgos_server.core.rating.registry import rating_system
from cgos_server.presentation.words import count
from cgos_server.service.commands.server import Prune
from cgos_server.service.plugin_report import plugin_report
from cgos_server.service.pruning import TABLES, would_go
from cgos_server.service.ratings.models import earlier_model
from cgos_server.storage import copying, schema
from cgos_server.storage.backups import changing
from cgos_server.storage.backups.changing import Plan
from cgos_server.storage.location import Location, PostgresUrl, location_of
from cgos_server.storage.lock import DatabaseLock
from cgos_server.storage.reading.history import History
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


_dry_run_option = click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
_backup_option = click.option("--no-backup", is_flag=True, help="Do not take a backup first.")


@click.command()
@_dry_run_option
@_backup_option
@json_option
@configured
def upgrade(setup: Setup, dry_run: bool, no_backup: bool, as_json: bool) -> None:
    """Bring an older database to this program's schema.

    The server must be stopped. A backup is taken first, into the folder of backups, and verified; then the schema is
    changed in one transaction. Says the way back.
    """
    _change(setup, changing.plan_upgrade, dry_run=dry_run, no_backup=no_backup, as_json=as_json)


@click.command()
@click.option("--to", metavar="REVISION", help="To this schema; without it to the one before the last upgrade.")
@_dry_run_option
@_backup_option
@json_option
@configured
def downgrade(setup: Setup, to: str | None, dry_run: bool, no_backup: bool, as_json: bool) -> None:
    """Take the database back to an earlier schema, for an older program.

    By the newer program, which knows the way. The server must be stopped. A backup is taken first, into the folder of
    backups, and verified; then the schema is changed in one transaction. Says what is lost by it.
    """
    _change(
        setup,
        lambda location: changing.plan_downgrade(location, to),
        dry_run=dry_run,
        no_backup=no_backup,
        as_json=as_json,
    )


def _change(setup: Setup, look: Callable[[Location], Plan], *, dry_run: bool, no_backup: bool, as_json: bool) -> None:
    location, backup = setup.database, None
    if dry_run:
        _announce(setup, look(location), no_backup, as_json)
        return
    plan = look(location)  # before the lock, which makes the directory
    with DatabaseLock(location, f"cgos-server db {plan.change}"):
        plan = look(location)
        if plan.steps:
            if not no_backup:
                backup = _back_up(setup, plan)
            changing.carry_out(location, plan, caller(), backup)
    if as_json:
        print_json({**msgspec.structs.asdict(plan), "backup": backup})
    else:
        for sentence in _done(plan, backup):
            say(sentence)


def _back_up(setup: Setup, plan: Plan) -> str:
    with progress_bar("backup") as bar:
        return changing.back_up(
            setup.database,
            plan,
            setup.config.backups,
            at_ms=now_ms(),
            progress=lambda what, done, total: bar(done, total, what),
        )


def _announce(setup: Setup, plan: Plan, no_backup: bool, as_json: bool) -> None:
    """What would be done, on standard output."""
    room = changing.room(setup.database, setup.config.backups) if plan.steps and not no_backup else None
    if as_json:
        print_json({**msgspec.structs.asdict(plan), "room": room})
        return
    if not plan.steps:
        say(_already(plan))
        return
    click.echo(f"database  {plan.database}")
    click.echo(f"schema    {plan.before} becomes {plan.after}")
    if room is None:
        click.echo("backup    none")
    else:
        least = f"{room.needed_bytes / 1e6:.1f} MB at most, {room.free_bytes / 1e6:.1f} MB are free"
        click.echo(f"backup    into {room.folder}: {least}")
    click.echo()
    rows = [(step.revision, step.does, step.irreversible or step.loses or "nothing is lost") for step in plan.steps]
    heading = "going back later loses" if plan.change == "upgrade" else "going back loses"
    print_table(("revision", "what it does", heading), rows)


def _done(plan: Plan, backup: str | None) -> Iterator[str]:
    if not plan.steps:
        yield _already(plan)
        return
    yield f"{plan.database}: schema {plan.before} became {plan.after}."
    lost = [f"{step.revision}: {step.loses}" for step in plan.steps if step.loses is not None]
    if backup is not None:
        yield f"The database of before is {backup}."
    restored = "" if backup is None else f"`cgos-server db restore {backup}`, which loses what is recorded from now on"
    if plan.change == "downgrade":
        for sentence in lost:
            yield f"Lost with {sentence}"
        yield "Start the older program now. The way back up: `cgos-server db upgrade` with this program" + (
            f", or {restored}." if restored else "."
        )
        return
    final = [step for step in plan.steps if step.irreversible is not None]
    ways = [] if final else [f"`cgos-server db downgrade --to {plan.before}` with this program"]
    ways += [restored] if restored else []
    yield f"The way back: {', or '.join(ways) or 'none'}."
    for step in final:
        yield f"No downgrade goes back over {step.revision}: {step.irreversible}"
    for sentence in lost if not final else ():
        yield f"A downgrade loses with {sentence}"


def _already(plan: Plan) -> str:
    return f"{plan.database} has the schema {plan.after} already."


@click.command()
@click.argument("path", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True), default="cgos.toml")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
def init(path: Path, force: bool) -> None:
    """Write a commented configuration.

    To PATH, which is cgos.toml unless given; - is standard output.
    """
    if str(path) == "-":
        click.echo(template(), nl=False)
        return
    if path.exists() and not force:
        raise Conflict(Code.EXISTS, f"{path} is there already. Give another path, or --force to replace it.")
    with whole(path, overwrite=force) as file:
        file.write(template().encode())
    say(f"Wrote {path}. Check it with: cgos-server check --config {path}")


@click.command()
@click.option("--keys", is_flag=True, help="Print every key with its values, its default and what it means.")
@json_option
@configured
def check(setup: Setup, keys: bool, as_json: bool) -> None:
    """Check the configuration.

    Says everything that is wrong with it, or what it would run.
    """
    if keys:
        click.echo(keys_markdown())
        return
    there = check_database(setup)
    check_certificate(setup)
    config = setup.config
    of_before = read(setup, partial(_of_earlier_models, config)) if there else []
    if as_json:
        print_json(plain(config))
        return
    click.echo(f"configuration  {setup.origin}")
    click.echo(f"database       {setup.database} ({'there' if there else 'made at the first start'})")
    click.echo(f"names          registration {config.server.registration}")
    click.echo(f"durability     {config.server.durability}")
    click.echo(f"bots           {config.listen.bots_host or 'every address'}, ports as below")
    click.echo(f"websocket      {_websocket(config)}")
    click.echo(f"pages          {_where(config) if config.web.enabled else 'off'}")
    click.echo(f"health         {_http(config.health.tls)}://{_host(config.health.host)}:{config.health.port}")
    show_plugins(*plugin_report())
    click.echo()
    _print_venues(config)
    for sentence in of_before:
        say(sentence)


@click.group()
def db() -> None:
    """The database: its schema, its place, its backups."""


for command in (upgrade, downgrade, backup, backups, verify_backup, restore, drill, prune, compact, size):
    db.add_command(command)


@db.command("copy")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@json_option
def copy_database(source: str, target: str, as_json: bool) -> None:
    """Move a server's database to another place, and compare.

    FROM and TO are each a data directory, a SQLite file, or postgresql://user@host/name (put the password into
    PGPASSWORD or ~/.pgpass: other users see what a command is called with). TO must be empty; FROM stays as it is. The
    server must be stopped. Prints the number of rows and the SHA-256 of each table, the same on both sides.
    """
    here, there = _location(source), _location(target)
    with progress_bar("looking") as progress:
        copied = copying.copy(here, there, lambda what, done, total: progress(done, total, what))
    if as_json:
        rows = [table._asdict() for table in copied]
        print_json({"from": str(here), "to": str(there), "tables": rows})
        return
    print_table(("table", "rows", "sha256"), copied)
    say(f"{there} has all that {here} has. Name it in the server's configuration, and start the server.")


def _location(text: str) -> Location:
    try:
        return location_of(text)
    except ValueError:
        raise Invalid(
            Code.LOCATION,
            "What has :// in it must be a URL of a PostgreSQL database, such as postgresql://user@host:5432/name.",
        ) from None


def _print_venues(config: Config) -> None:
    tls = any(venue.tls_port for venue in config.venue)
    rows = []
    for venue in config.venue:
        value = venue_value(venue, VenueId(0))
        pairing = f"{value.pairing.policy} {value.pairing.method}"
        rows.append(
            (
                venue.name,
                venue.port,
                *((venue.tls_port or "-",) if tls else ()),
                venue.game,
                venue.size,
                venue.komi,
                clock.describe(value.time),
                venue.ko.value,
                pairing,
                value.rating if venue.rated else "none",
            )
        )
    ports = ("port", "TLS") if tls else ("port",)
    print_table(("venue", *ports, "game", "size", "komi", "time", "ko", "pairing", "rating"), rows)


async def _of_earlier_models(config: Config, history: History) -> list[str]:
    """Which ratings the next start will fill again, as sentences."""
    sentences = []
    there = {venue.name for venue in await history.server.venues()}
    for venue in config.venue:
        value = venue_value(venue, VenueId(0))
        for name in (value.rating, *value.views) if venue.rated and venue.name in there else ():
            system = rating_system(name, value.initial, value.rating_options.get(name, {}))
            earlier = await earlier_model(history, venue.name, system)
            if earlier is not None and earlier.until is None:
                entries = await history.ledger.last_entry(venue.name)
                sentences.append(
                    f"{venue.name}: the ratings by {name} were computed by an earlier model ({earlier.model}). The "
                    f"next start fills them again from {count(entries, 'result')}; what was published stays."
                )
    return sentences


def _websocket(config: Config) -> str:
    where = config.websocket
    return (
        f"{where.host or 'every address'}, port {where.port}, all venues{', TLS' if where.tls else ''}"
        if where.enabled
        else "off"
    )


def _where(config: Config) -> str:
    return f"{_http(config.web.tls)}://{_host(config.web.host)}:{config.web.port} ({config.web.mode})"


def _http(tls: bool) -> str:
    return "https" if tls else "http"


def _host(host: str) -> str:
    return f"[{host}]" if ":" in host else host
