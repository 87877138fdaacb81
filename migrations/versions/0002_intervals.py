"""Ratings have both ends of their interval, links say whether they are sure.

Revision: 0002_intervals
After: 0001_initial

Columns that may be empty, or have a constant for rows of before: neither database rewrites a table for them. Rows of
before have no ends; where their system says standard deviations, whoever reads takes those of a normal distribution.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0002_intervals"
down_revision: str | None = "0001_initial"
branch_labels: str | None = None
depends_on: str | None = None

LOSES: str | None = "Both ends of the intervals of ratings, and which links are sure."

_ENDS = {
    "rating_changes": ("before_lower", "before_upper", "after_lower", "after_upper"),
    "ratings": ("lower", "upper"),
    "refit_points": ("lower", "upper"),
}


def upgrade() -> None:
    for table, columns in _ENDS.items():
        for column in columns:
            op.add_column(table, sa.Column(column, sa.Float()))
    op.add_column("ledger", sa.Column("surely", sa.Integer(), nullable=False, server_default=sa.text("0")))


def downgrade() -> None:
    for table, columns in {**_ENDS, "ledger": ("surely",)}.items():
        for column in columns:
            op.drop_column(table, column)
