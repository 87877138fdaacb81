"""Venues may be in several groups, each with a node of its own.

Revision: 0006_groups
After: 0005_nodes

On PostgreSQL a column for where a node takes commands, and three tables more, empty at first: which numbers were given
to which group, which venue is in which, and what a group has still to apply of changed families. On SQLite nothing
changes.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0006_groups"
down_revision: str | None = "0005_nodes"
branch_labels: str | None = None
depends_on: str | None = None

LOSES: str | None = None


def _group(table: str) -> sa.Column[int]:
    key = sa.ForeignKey("writer.id", name=f"fk_{table}_group_id")
    return sa.Column("group_id", sa.Integer(), key, nullable=False)


def upgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    op.add_column("writer", sa.Column("control", sa.String()))
    op.create_table(
        "number_blocks",
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("first", sa.Integer(), nullable=False),
        sa.Column("last", sa.Integer(), nullable=False),
        _group("number_blocks"),
        sa.PrimaryKeyConstraint("kind", "first", name="pk_number_blocks"),
    )
    op.create_table(
        "group_venues",
        sa.Column(
            "venue_id",
            sa.Integer(),
            sa.ForeignKey("venues.id", name="fk_group_venues_venue_id"),
            autoincrement=False,
            nullable=False,
        ),
        _group("group_venues"),
        sa.PrimaryKeyConstraint("venue_id", name="pk_group_venues"),
    )
    op.create_table(
        "families_to_apply",
        _group("families_to_apply"),
        sa.Column("bot_id", sa.Integer(), sa.ForeignKey("bots.id", name="fk_families_to_apply_bot_id"), nullable=False),
        sa.Column("was", sa.Integer()),
        sa.PrimaryKeyConstraint("group_id", "bot_id", name="pk_families_to_apply"),
    )


def downgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    op.drop_table("families_to_apply")
    op.drop_table("group_venues")
    op.drop_table("number_blocks")
    op.drop_column("writer", "control")
    op.execute("DELETE FROM writer WHERE id <> 1")
