"""Pages may be served by processes of their own, on any machine.

Revision: 0007_web_nodes
After: 0006_groups

On PostgreSQL three tables more, empty at first: which nodes there are, what became of the messages of webhooks, and
until when. On SQLite nothing changes.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0007_web_nodes"
down_revision: str | None = "0006_groups"
branch_labels: str | None = None
depends_on: str | None = None

LOSES: str | None = "What became of the messages of webhooks, where a cluster keeps that."


def upgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    op.create_table(
        "nodes",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("control", sa.String(), nullable=False),
        sa.Column("overtaken_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("name", name="pk_nodes"),
    )
    op.create_table(
        "webhook_outcomes",
        sa.Column("webhook_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("webhook_id", name="pk_webhook_outcomes"),
    )
    op.create_table(
        "webhook_notes",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_notes"),
    )


def downgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    op.drop_table("webhook_notes")
    op.drop_table("webhook_outcomes")
    op.drop_table("nodes")
