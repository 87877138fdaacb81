"""Refits say how sure ranks are.

Revision: 0003_ranks
After: 0002_intervals

Two tables more, empty at first: the server fills them when it starts, for every system that says something of ranks.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0003_ranks"
down_revision: str | None = "0002_intervals"
branch_labels: str | None = None
depends_on: str | None = None

LOSES: str | None = "What refits said of ranks."

_KEY = ["venue_id", "system", "number"]


def _points() -> tuple[sa.schema.SchemaItem, ...]:
    return (
        sa.Column("venue_id", sa.Integer(), nullable=False),
        sa.Column("system", sa.String(), nullable=False),
        sa.Column(
            "version_id", sa.Integer(), sa.ForeignKey("versions.id", name="fk_rank_points_version_id"), nullable=False
        ),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("rank_lower", sa.Integer()),
        sa.Column("rank_upper", sa.Integer()),
        sa.Column("best", sa.Float()),
        sa.Column("first_three", sa.Float()),
        sa.ForeignKeyConstraint(
            _KEY, [f"refits.{column}" for column in _KEY], name="fk_rank_points_venue_id_system_number"
        ),
        sa.PrimaryKeyConstraint("venue_id", "system", "version_id", "number", name="pk_rank_points"),
    )


def _summaries() -> tuple[sa.schema.SchemaItem, ...]:
    return (
        sa.Column("venue_id", sa.Integer(), nullable=False),
        sa.Column("system", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column(
            "leader_id", sa.Integer(), sa.ForeignKey("versions.id", name="fk_rank_summaries_leader_id"), nullable=False
        ),
        sa.Column("versions", sa.Integer(), nullable=False),
        sa.Column("apart", sa.Integer(), nullable=False),
        sa.Column("turned", sa.Integer()),
        sa.Column("groups", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            _KEY, [f"refits.{column}" for column in _KEY], name="fk_rank_summaries_venue_id_system_number"
        ),
        sa.PrimaryKeyConstraint(*_KEY, name="pk_rank_summaries"),
    )


def upgrade() -> None:
    op.create_table("rank_points", *_points(), sqlite_with_rowid=False)
    op.create_index("ix_rank_points_venue_id_system_number", "rank_points", _KEY)
    op.create_table("rank_summaries", *_summaries(), sqlite_with_rowid=False)


def downgrade() -> None:
    op.drop_table("rank_summaries")
    op.drop_table("rank_points")
