"""`cgos-server web`: serve the pages of a cluster in the foreground until SIGTERM or Ctrl-C.

Decides only how the process is set up; everything else is :mod:`cgos_server.assembly.web_node`'s.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import click
import structlog

from cgos_server.assembly.launching import launched
from cgos_server.assembly.web_node import WebNode
from cgos_server.cli.common import config_option, data_option, load_setup
from cgos_server.net.limits import AcceptingLoop
from cgos_server.observability import logs
from cgos_server.service.plugin_report import plugin_report

log = structlog.get_logger(__name__)


@click.command()
@config_option
@data_option
@click.option("--next-free-ports", is_flag=True, default=None, help="Where a port is busy, take the next free one.")
def web(config_path: Path | None, data: Path | None, next_free_ports: bool | None) -> None:
    """Serve the pages of a cluster.

    On any machine that reaches the database in PostgreSQL, and as many as there shall be. The configuration is that of
    the nodes, with the address of these pages in [web] and of health and metrics in [health]. With cluster.key people
    can sign in and act; without it they can only read.
    """
    config, _ = load_setup(config_path, data, {"listen.next_free_port": next_free_ports})
    counts = logs.configure(config.server.log_format, config.server.log_level, sys.stderr)
    for problem in plugin_report().problems:
        log.warning("a plug-in is left out", reason=problem)
    with asyncio.Runner(loop_factory=AcceptingLoop) as runner:
        runner.run(WebNode(config, launched(standby=False), counts, _greet).run())


def _greet(pages: str, health: str) -> None:
    click.echo(f"pages: {pages}", err=True)
    click.echo(f"health and metrics: {health}/readyz {health}/metrics {health}/metrics/web", err=True)
