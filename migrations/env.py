"""Runs the migrations: on the connection that the program hands over, or for Alembic's own commands on a database
given by ``-x database=PATH``.

Changes of the schema are transactions too, and tables are rebuilt where SQLite cannot alter them (batch mode).
"""

from __future__ import annotations

from pathlib import Path

from alembic import context
from sqlalchemy import Connection

from cgos_server.storage.schema import open_for_migration
from cgos_server.storage.tables import metadata


def run(connection: Connection) -> None:
    """Run what Alembic was asked for on an open connection."""
    context.configure(connection=connection, target_metadata=metadata, render_as_batch=True, transactional_ddl=True)
    with context.begin_transaction():
        context.run_migrations()


given: Connection | None = context.config.attributes.get("connection")
if given is not None:
    run(given)
else:
    with open_for_migration(Path(context.get_x_argument(as_dictionary=True)["database"])) as opened:
        run(opened)
