"""`cgos-server db upgrade` and `db downgrade`: the database's schema to this program's, and back to an earlier one.

Must not know: the live server, what the migrations do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import click
import msgspec

from cgos_server.cli.common import Setup, caller, configured, json_option
from cgos_server.cli.output import print_json, print_table, say
from cgos_server.cli.progress import progress_bar
from cgos_server.cli.reading import now_ms
from cgos_server.storage.backups import changing
from cgos_server.storage.backups.changing import Plan
from cgos_server.storage.location import Location
from cgos_server.storage.lock import DatabaseLock

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
