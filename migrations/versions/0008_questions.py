"""Owners ask by games: tests, gauntlets and challenges.

Revision: 0008_questions
After: 0007_web_nodes

Three tables more, empty at first.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0008_questions"
down_revision: str | None = "0007_web_nodes"
branch_labels: str | None = None
depends_on: str | None = None

LOSES: str | None = "All questions of owners, and which games were played for them. The games stay."


def _number(name: str, table: str, of: str, filled: bool = True) -> sa.Column[int]:
    key = sa.ForeignKey(f"{of}.id", name=f"fk_{table}_{name}")
    return sa.Column(name, sa.Integer(), key, nullable=not filled)


def _filled(kind: sa.types.TypeEngine[int] | sa.types.TypeEngine[str], *names: str) -> list[sa.Column[object]]:
    return [sa.Column(name, kind, nullable=False) for name in names]


def upgrade() -> None:
    op.create_table(
        "questions",
        sa.Column("id", sa.Integer(), nullable=False),
        _number("venue_id", "questions", "venues"),
        _number("owner_id", "questions", "owners", filled=False),
        *_filled(sa.String(), "kind"),
        *_filled(sa.Text(), "asked"),
        *_filled(sa.BigInteger(), "asked_at"),
        *_filled(sa.Integer(), "priority"),
        *_filled(sa.String(), "state"),
        sa.Column("ended_at", sa.BigInteger()),
        *_filled(sa.Text(), "why", "answer"),
        sa.PrimaryKeyConstraint("id", name="pk_questions"),
    )
    op.create_index("ix_questions_owner_id", "questions", ["owner_id"])
    still_open = sa.text("ended_at IS NULL")
    op.create_index("ix_questions_open", "questions", ["id"], sqlite_where=still_open, postgresql_where=still_open)
    op.create_index("ix_questions_venue_id_id", "questions", ["venue_id", "id"])
    op.create_table(
        "question_versions",
        _number("question_id", "question_versions", "questions"),
        _number("version_id", "question_versions", "versions"),
        sa.PrimaryKeyConstraint("question_id", "version_id", name="pk_question_versions"),
    )
    op.create_index("ix_question_versions_version_id_question_id", "question_versions", ["version_id", "question_id"])
    op.create_table(
        "question_games",
        sa.Column(
            "game_id",
            sa.Integer(),
            sa.ForeignKey("games.id", name="fk_question_games_game_id"),
            autoincrement=False,
            nullable=False,
        ),
        _number("question_id", "question_games", "questions"),
        *_filled(sa.Integer(), "pair"),
        *_filled(sa.String(), "opening"),
        sa.Column("digest", sa.BigInteger()),
        sa.PrimaryKeyConstraint("game_id", name="pk_question_games"),
    )
    op.create_index("ix_question_games_question_id_pair", "question_games", ["question_id", "pair"])


def downgrade() -> None:
    for table in ("question_games", "question_versions", "questions"):
        op.drop_table(table)
