"""Which version of a plug-in computed a venue's ratings.

Revision: 0007
After: 0006
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0007"
down_revision: str | None = "0006"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.create_table(
        "rating_plugins",
        sa.Column("venue_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("system", sa.String(), nullable=False),
        sa.Column("plugin", sa.String(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("venue_id", "system", "plugin", name=op.f("pk_rating_plugins")),
        sa.ForeignKeyConstraint(["venue_id"], ["venues.id"], name=op.f("fk_rating_plugins_venue_id")),
    )


def downgrade() -> None:
    op.drop_table("rating_plugins")
