"""Runs the migrations: on the connection that the program hands over, or for Alembic's own commands on a database
given by ``-x database=PATH`` or ``-x database=postgresql://...``.

Changes of the schema are transactions too, and tables are rebuilt where SQLite cannot alter them (batch mode).
"""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection

from cgos_server.storage.location import location_of
from cgos_server.storage.schema import on_connection
from cgos_server.storage.tables import metadata, postgres_metadata


def run(connection: Connection) -> None:
    """Run what Alembic was asked for on an open connection."""
    postgres = connection.dialect.name == "postgresql"
    context.configure(
        connection=connection,
        target_metadata=[metadata, postgres_metadata] if postgres else metadata,
        render_as_batch=True,
        transactional_ddl=True,
    )
    with context.begin_transaction():
        context.run_migrations()


given: Connection | None = context.config.attributes.get("connection")
if given is not None:
    run(given)
else:
    on_connection(location_of(context.get_x_argument(as_dictionary=True)["database"]), run)
