"""`cgos-server cluster`: the nodes of a cluster, as the database knows them. Must not know: the live server."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import click

from cgos_protocol.errors import Code, Conflict, NotFound
from cgos_server.cli.commands.asking import ask_server
from cgos_server.cli.common import Setup, caller, configured, json_option
from cgos_server.cli.output import print_json, print_table, say
from cgos_server.cli.progress import progress_bar
from cgos_server.net import node_control
from cgos_server.service.commands.registry import ask
from cgos_server.service.commands.server import HandOver
from cgos_server.storage import schema
from cgos_server.storage.location import PostgresUrl

if TYPE_CHECKING:
    from cgos_server.storage.postgres.groups import GroupRow

_TURN_S: Final = 0.5
_TURNS: Final = 60


@click.group()
def cluster() -> None:
    """Several nodes on one database in PostgreSQL."""


@cluster.command()
@json_option
@configured
def status(setup: Setup, as_json: bool) -> None:
    """Which node holds the venues.

    The database is asked, so that it works on any machine that reaches it, and while no node lives.
    """
    rows, ttl_s = _groups(setup), setup.config.cluster.ttl_s
    if as_json:
        print_json(
            [
                {
                    "group": row.group,
                    "held": row.held(ttl_s),
                    "node": row.node,
                    "address": row.address,
                    "control": row.control,
                    "build": row.build,
                    "seen_s": row.seen_s,
                    "batch": row.batch,
                }
                for row in rows
            ]
        )
        return
    print_table(
        ("group", "held", "node", "address", "build", "seen (s ago)", "batch"),
        [
            (
                row.group,
                "yes" if row.held(ttl_s) else "no",
                row.node or None,
                row.address or None,
                row.build or None,
                None if row.seen_s is None else f"{row.seen_s:.1f}",
                row.batch,
            )
            for row in rows
        ],
    )


@cluster.command()
@click.argument("group")
@configured
def handover(setup: Setup, group: str) -> None:
    """Have another node go on with GROUP.

    The node that has it lets go at once, with every game as it stands, and exits with 75; a node that stands by takes
    the group, and bots resume their games there. It needs a node that stands by.
    """
    row = next((row for row in _groups(setup) if row.group == group), None)
    cluster = setup.config.cluster
    if row is None or not row.held(cluster.ttl_s):
        raise NotFound(Code.NO_GROUP, f"No node has a group {group} just now. See: cgos-server cluster status")
    assert isinstance(setup.database, PostgresUrl)
    from cgos_server.storage.postgres.groups import standing_by

    if not asyncio.run(standing_by(setup.database)):
        raise Conflict(
            Code.NO_STANDBY, "No node stands by, so nobody would go on. Start one with: cgos-server serve --standby"
        )
    command = HandOver(group=group, actor=caller())
    if row.node == cluster.node:
        say(ask_server(setup, command).sentence)
    elif cluster.key is not None and row.control:
        context = node_control.client_context(cluster.key)
        say(asyncio.run(ask(functools.partial(node_control.call, row.control, context), command)).sentence)
    else:
        raise Conflict(
            Code.NO_CONTROL,
            f"Node {row.node} takes no commands from other machines. Give this one at {row.address}, or set "
            "cluster.control_port and cluster.key on all nodes.",
        )
    with progress_bar("handover") as bar:
        _until_taken(setup, row, bar)


def _until_taken(setup: Setup, before: GroupRow, bar: Callable[[int, int, str], None]) -> None:
    """Wait until another node has the group. Raises Refused where none takes it."""
    for turn in range(_TURNS):
        bar(turn, _TURNS, "waiting for the other node")
        now = next(row for row in _groups(setup) if row.group == before.group)
        if now.node != before.node and now.held(setup.config.cluster.ttl_s):
            say(f"Node {now.node} at {now.address} has the group {now.group}.")
            return
        time.sleep(_TURN_S)
    raise Conflict(
        Code.NO_STANDBY,
        f"No node has taken the group {before.group} within {_TURNS * _TURN_S:g} seconds. See: cgos-server cluster "
        "status",
    )


def _groups(setup: Setup) -> list[GroupRow]:
    """All groups, as the database has them."""
    if not isinstance(setup.database, PostgresUrl):
        raise Conflict(
            Code.NO_CLUSTER, f"The database {setup.database} is SQLite: one process uses it, and no cluster can."
        )
    schema.check(setup.database)
    from cgos_server.storage.postgres.groups import groups  # its driver is an extra that need not be installed

    return asyncio.run(groups(setup.database))
