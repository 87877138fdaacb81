"""Games begin with openings, a round says what its pairs are worth together, and a version that spoilt its games is set
aside.

Revision: 0004
After: 0003
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0004"
down_revision: str | None = "0003"
branch_labels: str | None = None
depends_on: str | None = None

WITH_OPENING = sa.text("opening <> ''")


def upgrade() -> None:
    # Neither database rewrites the table for a column with a constant default.
    op.add_column("games", sa.Column("opening", sa.Text(), server_default="", nullable=False))
    op.create_index(
        "ix_games_opening",
        "games",
        ["venue_id", "black_id", "white_id", "opening", "reason", "started_at"],
        sqlite_where=WITH_OPENING,
        postgresql_where=WITH_OPENING,
    )
    op.add_column("rounds", sa.Column("total", sa.BigInteger(), nullable=True))
    op.create_table(
        "setbacks",
        sa.Column("venue_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("version_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("spoilt", sa.Integer(), nullable=False),
        sa.Column("set_aside", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("venue_id", "version_id", name=op.f("pk_setbacks")),
        sa.ForeignKeyConstraint(["venue_id"], ["venues.id"], name=op.f("fk_setbacks_venue_id")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_setbacks_version_id")),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    op.drop_table("setbacks")
    op.drop_column("rounds", "total")
    op.drop_index("ix_games_opening", "games")
    op.drop_column("games", "opening")
