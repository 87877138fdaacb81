"""A bot has versions that describe themselves; when a version's games began is found by an index. PostgreSQL gets its
row about the writer.

Revision: 0002
After: 0001
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: str | None = None
depends_on: str | None = None

NEW = ("wire_key", "label", "engine", "parameters", "author")


def on_postgres() -> bool:
    return op.get_bind().dialect.name == "postgresql"


def rebuilding() -> dict[str, Any]:
    """SQLite cannot alter a table like this: it is copied, and its columns are put in order while at it."""
    if on_postgres():
        return {}
    return {"recreate": "always", "partial_reordering": [("wire_name", *NEW, "created_at")]}


def upgrade() -> None:
    op.add_column("versions", sa.Column("wire_key", sa.String(), nullable=True))
    op.add_column("versions", sa.Column("label", sa.String(), server_default="", nullable=False))
    op.add_column("versions", sa.Column("engine", sa.String(), server_default="", nullable=False))
    op.add_column("versions", sa.Column("parameters", sa.Text(), server_default="", nullable=False))
    op.add_column("versions", sa.Column("author", sa.String(), server_default="", nullable=False))
    op.execute("UPDATE versions SET wire_key = lower(wire_name)")
    # A version that does not carry its bot's name is told from its sisters by its own.
    op.execute(
        "UPDATE versions SET label = wire_name WHERE wire_name <> (SELECT name FROM bots WHERE bots.id = bot_id)"
    )
    op.drop_index(op.f("ix_versions_bot_id"), "versions")
    with op.batch_alter_table("versions", **rebuilding()) as batch:
        batch.alter_column("wire_key", existing_type=sa.String(), nullable=False)
        batch.create_unique_constraint(op.f("uq_versions_wire_key"), ["wire_key"])
        batch.create_unique_constraint(op.f("uq_versions_bot_id_label"), ["bot_id", "label"])
    op.create_index("ix_games_black_started", "games", ["black_id", "started_at", "venue_id"])
    op.create_index("ix_games_white_started", "games", ["white_id", "started_at", "venue_id"])
    if on_postgres():
        writer = op.create_table(
            "writer",
            sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
            sa.Column("holder", sa.BigInteger(), nullable=False),
            sa.Column("batch", sa.BigInteger(), nullable=False),
            sa.PrimaryKeyConstraint("id", name=op.f("pk_writer")),
        )
        op.bulk_insert(writer, [{"id": 1, "holder": 0, "batch": 0}])


def downgrade() -> None:
    if on_postgres():
        op.drop_table("writer")
    op.drop_index("ix_games_white_started", "games")
    op.drop_index("ix_games_black_started", "games")
    with op.batch_alter_table("versions") as batch:
        batch.drop_constraint(op.f("uq_versions_bot_id_label"), type_="unique")
        batch.drop_constraint(op.f("uq_versions_wire_key"), type_="unique")
        for name in NEW:
            batch.drop_column(name)
    op.create_index(op.f("ix_versions_bot_id"), "versions", ["bot_id"])
