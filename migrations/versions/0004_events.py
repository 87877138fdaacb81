"""The server holds tournaments.

Revision: 0004_events
After: 0003_ranks

Four tables more, empty at first.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0004_events"
down_revision: str | None = "0003_ranks"
branch_labels: str | None = None
depends_on: str | None = None

LOSES: str | None = "All tournaments of the server: their logs, entrants, and which games they had. The games stay."


def _number(name: str, table: str, of: str) -> sa.Column[int]:
    key = sa.ForeignKey(f"{of}.id", name=f"fk_{table}_{name}")
    return sa.Column(name, sa.Integer(), key, nullable=False)


def _filled(kind: sa.types.TypeEngine[int] | sa.types.TypeEngine[str], *names: str) -> list[sa.Column[object]]:
    return [sa.Column(name, kind, nullable=False) for name in names]


def upgrade() -> None:
    op.create_table(
        "events",
        sa.Column("id", sa.Integer(), nullable=False),
        *_filled(sa.String(), "name"),
        _number("venue_id", "events", "venues"),
        *_filled(sa.BigInteger(), "created_at"),
        *_filled(sa.String(), "phase"),
        sa.PrimaryKeyConstraint("id", name="pk_events"),
        sa.UniqueConstraint("name", name="uq_events_name"),
    )
    op.create_table(
        "event_log",
        _number("event_id", "event_log", "events"),
        *_filled(sa.Integer(), "seq"),
        *_filled(sa.BigInteger(), "at"),
        *_filled(sa.String(), "actor", "kind"),
        *_filled(sa.Text(), "body"),
        sa.PrimaryKeyConstraint("event_id", "seq", name="pk_event_log"),
    )
    op.create_table(
        "event_games",
        sa.Column(
            "game_id",
            sa.Integer(),
            sa.ForeignKey("games.id", name="fk_event_games_game_id"),
            autoincrement=False,
            nullable=False,
        ),
        _number("event_id", "event_games", "events"),
        *_filled(sa.Integer(), "round", "number"),
        sa.PrimaryKeyConstraint("game_id", name="pk_event_games"),
    )
    op.create_index("ix_event_games_event_id_number", "event_games", ["event_id", "number"])
    op.create_table(
        "event_entrants",
        _number("event_id", "event_entrants", "events"),
        *_filled(sa.Integer(), "entrant"),
        _number("version_id", "event_entrants", "versions"),
        _number("bot_id", "event_entrants", "bots"),
        sa.PrimaryKeyConstraint("event_id", "entrant", name="pk_event_entrants"),
    )
    op.create_index("ix_event_entrants_bot_id_event_id", "event_entrants", ["bot_id", "event_id"])
    op.create_index("ix_event_entrants_version_id_event_id", "event_entrants", ["version_id", "event_id"])


def downgrade() -> None:
    for table in ("event_entrants", "event_games", "event_log", "events"):
        op.drop_table(table)
