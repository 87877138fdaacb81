"""`cgos-server cluster`: the nodes of a cluster, as the database knows them. Must not know: the live server."""

from __future__ import annotations

import asyncio

import click

from cgos_protocol.errors import Code, Conflict
from cgos_server.cli.common import Setup, configured, json_option
from cgos_server.cli.output import print_json, print_table
from cgos_server.storage import schema
from cgos_server.storage.location import PostgresUrl


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
    if not isinstance(setup.database, PostgresUrl):
        raise Conflict(
            Code.NO_CLUSTER, f"The database {setup.database} is SQLite: one process uses it, and no cluster can."
        )
    schema.check(setup.database)
    from cgos_server.storage.postgres.groups import groups  # its driver is an extra that need not be installed

    ttl_s = setup.config.cluster.ttl_s
    rows = asyncio.run(groups(setup.database))
    if as_json:
        print_json(
            [
                {
                    "group": row.group,
                    "held": row.held(ttl_s),
                    "node": row.node,
                    "address": row.address,
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
