"""A server may be one node of several.

Revision: 0005_nodes
After: 0004_events

On PostgreSQL the writer's row gets the name of its group, and room for the node that owns it, empty at first. On SQLite
nothing changes.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0005_nodes"
down_revision: str | None = "0004_events"
branch_labels: str | None = None
depends_on: str | None = None

LOSES: str | None = None

_NODE = ("node", "address", "build")


def upgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    op.add_column("writer", sa.Column("name", sa.String(), nullable=False, server_default="main"))
    op.alter_column("writer", "name", server_default=None)
    op.create_unique_constraint("uq_writer_name", "writer", ["name"])
    op.add_column("writer", sa.Column("seen", sa.DateTime(timezone=True)))
    for column in _NODE:
        op.add_column("writer", sa.Column(column, sa.String()))


def downgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    for column in (*_NODE, "seen", "name"):
        op.drop_column("writer", column)
