"""`cgos-server init`, `check` and `db`: before a server runs.

Must not know: the live server, what is in the tables beyond the venues.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from cgos_protocol import clock
from cgos_protocol.errors import Code, Conflict, Invalid
from cgos_protocol.ids import VenueId
from cgos_server.cli.common import Setup, configured, json_option
from cgos_server.cli.files import whole
from cgos_server.cli.output import print_json, print_table, say, show_plugins
from cgos_server.cli.progress import progress_bar
from cgos_server.cli.reading import read
from cgos_server.cli.server.backups import backup, backups, drill, restore, verify_backup
from cgos_server.cli.server.changing import downgrade, upgrade
from cgos_server.cli.server.fitting import check_certificate, check_database
from cgos_server.cli.server.keeping import compact, prune, size
from cgos_server.config.keys import keys_markdown, plain, template
from cgos_server.config.schema import Config
from cgos_server.config.venues import venue_value
from cgos_server.core.rating.registry import rating_system
from cgos_server.presentation.words import count
from cgos_server.service.plugin_report import plugin_report
from cgos_server.service.ratings.models import earlier_model
from cgos_server.storage import copying
from cgos_server.storage.location import Location, location_of
from cgos_server.storage.reading.history import History


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
