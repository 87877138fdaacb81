"""Accounts own bots, and come in by sessions and tokens; a bot may be kept out for a time; webhooks.

Revision: 0005
After: 0004
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0005"
down_revision: str | None = "0004"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    with op.batch_alter_table("bots") as bots:
        bots.add_column(sa.Column("owner_id", sa.Integer(), nullable=True))
        bots.add_column(sa.Column("until", sa.BigInteger(), nullable=True))
        bots.add_column(sa.Column("paused", sa.Integer(), server_default=sa.text("0"), nullable=False))
        bots.add_column(sa.Column("limits", sa.Text(), server_default="", nullable=False))
        bots.create_foreign_key(op.f("fk_bots_owner_id"), "owners", ["owner_id"], ["id"])
        bots.create_index(op.f("ix_bots_owner_id"), ["owner_id"])
    op.create_table(
        "access",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("owner_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("scopes", sa.String(), nullable=False),
        sa.Column("address", sa.String(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_access")),
        sa.ForeignKeyConstraint(["owner_id"], ["owners.id"], name=op.f("fk_access_owner_id")),
        sa.UniqueConstraint("digest", name=op.f("uq_access_digest")),
    )
    op.create_index(op.f("ix_access_owner_id"), "access", ["owner_id"])
    op.create_table(
        "webhooks",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("owner_id", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.Integer(), nullable=True),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("secret", sa.String(), nullable=False),
        sa.Column("events", sa.String(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("stopped_at", sa.BigInteger(), nullable=True),
        sa.Column("why", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhooks")),
        sa.ForeignKeyConstraint(["owner_id"], ["owners.id"], name=op.f("fk_webhooks_owner_id")),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_webhooks_bot_id")),
    )
    op.create_index(op.f("ix_webhooks_owner_id"), "webhooks", ["owner_id"])


def downgrade() -> None:
    op.drop_table("webhooks")
    op.drop_table("access")
    with op.batch_alter_table("bots") as bots:
        bots.drop_index(op.f("ix_bots_owner_id"))
        bots.drop_constraint(op.f("fk_bots_owner_id"), type_="foreignkey")
        for name in ("limits", "paused", "until", "owner_id"):
            bots.drop_column(name)
