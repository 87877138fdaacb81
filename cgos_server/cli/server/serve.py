"""`cgos-server serve`: run the server in the foreground until SIGTERM or Ctrl-C.

Decides only how the process is set up; everything else is :mod:`cgos_server.app`'s.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import click
import msgspec
import structlog

from cgos_protocol.errors import ConfigError, StoreError
from cgos_server.app import App
from cgos_server.assembly.handover import CHECK
from cgos_server.assembly.launching import launched
from cgos_server.assembly.listeners import connection_room
from cgos_server.cli.common import config_option, data_option, load_setup
from cgos_server.cli.server.fitting import check_node, fitness
from cgos_server.net.loop import PollClock, new_loop
from cgos_server.observability import logs
from cgos_server.service.plugin_report import plugin_report

log = structlog.get_logger(__name__)


@click.command()
@config_option
@data_option
@click.option("--next-free-ports", is_flag=True, default=None, help="Where a port is busy, take the next free one.")
@click.option("--standby", is_flag=True, help="Wait while another node of the cluster lives, and then take over.")
@click.option(CHECK, is_flag=True, help="Only say whether this program could take over from the running one; JSON.")
def serve(
    config_path: Path | None, data: Path | None, next_free_ports: bool | None, standby: bool, check_handover: bool
) -> None:
    """Run the server.

    Without a configuration: 9x9, 13x13 and 19x19 on ports 6809, 6813 and 6819, all of them by WebSocket on port 6868,
    data in ./cgos-data, pages on port 8080 and metrics on port 9809 of this machine. The first SIGTERM or Ctrl-C lets
    running games end, the second one does not; either way unfinished games go on after the next start. SIGHUP reads the
    configuration again, as `cgos-server reload` does.

    With --standby a node of a cluster (cluster.node) serves once no other one does; until then it listens for health
    and metrics alone.
    """
    given = {"listen.next_free_port": next_free_ports}
    config, origin = setup = load_setup(config_path, data, given)
    if standby and not config.cluster.node:
        raise ConfigError("--standby", "this process is no node of a cluster", "Set cluster.node to its name.")
    if check_handover:
        click.echo(msgspec.json.encode(fitness(setup)))
        return
    counts = logs.configure(config.server.log_format, config.server.log_level, sys.stderr)
    for problem in plugin_report().problems:
        log.warning("a plug-in is left out", reason=problem)
    launch = launched(standby)
    connection_room(config)
    if config.cluster.node:
        try:
            check_node(setup)
        except StoreError as error:
            if not standby:
                raise
            log.warning("whether this node could take over is not known yet; it stands by", why=str(error))
    clock = PollClock()
    app = App(
        config=config,
        clock=clock,
        logs=counts,
        origin=origin,
        started=_greet,
        reread=lambda: load_setup(config_path, data, given).config,
        launch=launch,
    )
    with asyncio.Runner(loop_factory=lambda: new_loop(clock)) as runner:
        code = runner.run(app.run())
    if app.handover.successor is not None:
        app.handover.successor.execute()
    sys.exit(code)


def _greet(app: App) -> None:
    """Where to go, for the person who started this."""
    for name, venue in app.venues.items():
        by_tls = f", by TLS to {venue.tls_port}" if venue.tls_port else ""
        click.echo(f"venue {name}: bots connect to port {venue.port}{by_tls}", err=True)
    addresses = app.addresses
    if addresses.websocket:
        click.echo(f"all venues by WebSocket (cgos.v2): {addresses.websocket}", err=True)
    if addresses.web:
        click.echo(f"pages: {addresses.web}", err=True)
    click.echo(f"health and metrics: {addresses.health}/readyz {addresses.health}/metrics", err=True)
