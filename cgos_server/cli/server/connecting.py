"""`cgos-server connect`: how a bot comes to this very server, as the page "Connect a bot" says it.

Must not know: the live server.
"""

from __future__ import annotations

from typing import Any

import click
import msgspec

from cgos_server.cli.common import Setup, configured, json_option, one_venue
from cgos_server.cli.output import print_json, say
from cgos_server.cli.ratings.figures import stored_venues
from cgos_server.cli.reading import venue_terms
from cgos_server.presentation.connecting import (
    Commands,
    bots_host,
    commands,
    lines_address,
    place_of,
    tls_address,
    websocket_address,
)

_TITLES = {
    "install": "The client, from the package's file (python3 -m build makes it from the source)",
    "secret": "A file with the password",
    "engine": "GNU Go",
    "try_out": "A built-in bot, to see whether it works",
    "check": "Whether an engine is fit, without any server",
    "versions": "By WebSocket, each version with a rating of its own",
    "program": "A bot of your own in Python",
    "by_hand": "By hand",
    "dialogue": "What is then said",
}


@click.command()
@click.argument("venue", required=False)
@click.option("--host", metavar="NAME", help="How bots reach this machine; without it as it is configured.")
@json_option
@configured
def connect(setup: Setup, venue: str | None, host: str | None, as_json: bool) -> None:
    """Commands by which a bot comes to this server.

    Ready to copy, for VENUE or the first one. Ports are those of the configuration.
    """
    where = one_venue(setup, venue) if venue is not None else setup.config.venue[0].name
    commands = _commands(setup, where, host)
    if as_json:
        print_json({"venue": where} | commands._asdict())
        return
    for name, text in commands._asdict().items():
        if text:
            click.echo(f"# {_TITLES[name]}")
            click.echo(f"{text}\n")
    say("A name that is new here is the bot's from its first sign-in on, where registration is open.")


def _commands(setup: Setup, venue: str, host: str | None) -> Commands:
    config = setup.config
    reached = bots_host(host or config.listen.bots_host, config.web.public_url, "")
    (chosen,) = [each for each in config.venue if each.name == venue]
    fixed: Any = next((row.fixed for row in stored_venues(setup) if row.name == venue), None)
    if fixed is None:
        fixed = _configured(setup, venue)
    shown = (chosen.public_address, chosen.public_tls_address, config.websocket.public_url)
    public_lines, public_tls, public_url = ("", "", "") if host else map(str, shown)
    port = config.websocket.port if config.websocket.enabled else 0
    place = place_of(
        lines_address(public_lines, reached, chosen.port),
        websocket_address(public_url, reached, port, tls=config.websocket.tls),
        venue,
        fixed,
        lines_tls=tls_address(public_tls, public_lines, reached, chosen.tls_port or 0),
    )
    return commands(place)


def _configured(setup: Setup, venue: str) -> dict[str, Any]:
    """What the first start would fix."""
    terms = venue_terms(setup, venue)
    return {**msgspec.to_builtins(terms.rules), "time": msgspec.to_builtins(terms.time)}
