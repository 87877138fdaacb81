"""Indexes that answer what pages ask of a million games without reading the games.

Revision: 0006
After: 0005
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0006"
down_revision: str | None = "0005"
branch_labels: str | None = None
depends_on: str | None = None

STILL_OPEN = sa.text("closed_at IS NULL")


def upgrade() -> None:
    for name in ("ix_games_venue_id_id", "ix_games_black_id_id_venue_id", "ix_games_white_id_id_venue_id"):
        op.drop_index(op.f(name), "games")
    op.drop_index("ix_games_results", "games")
    verdict = ["reason", "winner", "plies", "started_at"]
    op.create_index("ix_games_venue", "games", ["venue_id", "id", *verdict])
    op.create_index("ix_games_black", "games", ["black_id", "id", "venue_id", "white_id", *verdict])
    op.create_index("ix_games_white", "games", ["white_id", "id", "venue_id", "black_id", *verdict])
    op.create_index(
        "ix_games_verdict",
        "games",
        ["venue_id", "reason", "winner", "id", "plies", "started_at", "black_id", "white_id"],
    )
    op.drop_index(op.f("ix_rating_changes_version_id_venue_id_seq"), "rating_changes")
    op.create_index(
        "ix_rating_changes_version", "rating_changes", ["version_id", "venue_id", "seq", "system", "after_mean"]
    )
    op.create_index(op.f("ix_connections_venue_id_id"), "connections", ["venue_id", "id"])
    op.create_index(op.f("ix_connections_address_id"), "connections", ["address", "id"])
    op.create_index("ix_connections_open", "connections", ["id"], sqlite_where=STILL_OPEN, postgresql_where=STILL_OPEN)
    for name in ("actor", "action", "subject"):
        op.create_index(op.f(f"ix_audit_{name}_id"), "audit", [name, "id"])


def downgrade() -> None:
    for name in ("actor", "action", "subject"):
        op.drop_index(op.f(f"ix_audit_{name}_id"), "audit")
    for name in ("ix_connections_open", "ix_connections_address_id", "ix_connections_venue_id_id"):
        op.drop_index(op.f(name), "connections")
    op.drop_index("ix_rating_changes_version", "rating_changes")
    op.create_index(
        op.f("ix_rating_changes_version_id_venue_id_seq"), "rating_changes", ["version_id", "venue_id", "seq"]
    )
    for name in ("ix_games_verdict", "ix_games_white", "ix_games_black", "ix_games_venue"):
        op.drop_index(name, "games")
    op.create_index("ix_games_results", "games", ["venue_id", "reason", "black_id", "white_id", "plies"])
    op.create_index(op.f("ix_games_white_id_id_venue_id"), "games", ["white_id", "id", "venue_id"])
    op.create_index(op.f("ix_games_black_id_id_venue_id"), "games", ["black_id", "id", "venue_id"])
    op.create_index(op.f("ix_games_venue_id_id"), "games", ["venue_id", "id"])
