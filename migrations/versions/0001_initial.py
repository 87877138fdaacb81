"""The first schema.

Revision: 0001
After:
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0001"
down_revision: str | None = None
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_table(
        "bots",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("name_key", sa.String(), nullable=False),
        sa.Column("password", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), server_default="", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bots")),
        sa.UniqueConstraint("name", name=op.f("uq_bots_name")),
        sa.UniqueConstraint("name_key", name=op.f("uq_bots_name_key")),
    )
    op.create_table(
        "owners",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("name_key", sa.String(), nullable=False),
        sa.Column("password", sa.String(), nullable=False),
        sa.Column("admin", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), server_default="active", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_owners")),
        sa.UniqueConstraint("name", name=op.f("uq_owners_name")),
        sa.UniqueConstraint("name_key", name=op.f("uq_owners_name_key")),
    )
    op.create_table(
        "server",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_server")),
    )
    op.create_table(
        "venues",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("fixed", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_venues")),
        sa.UniqueConstraint("name", name=op.f("uq_venues_name")),
    )
    op.create_table(
        "rounds",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("venue_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("policy", sa.String(), nullable=False),
        sa.Column("method", sa.String(), nullable=False),
        sa.Column("options", sa.Text(), nullable=False),
        sa.Column("seed", sa.String(), nullable=False),
        sa.Column("inputs", sa.Text(), nullable=False),
        sa.Column("sits_out", sa.Text(), nullable=False),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rounds")),
        sa.UniqueConstraint("venue_id", "number", name=op.f("uq_rounds_venue_id_number")),
        sa.ForeignKeyConstraint(["venue_id"], ["venues.id"], name=op.f("fk_rounds_venue_id")),
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_tokens_bot_id")),
    )
    op.create_index(op.f("ix_tokens_bot_id"), "tokens", ["bot_id"])

    op.create_table(
        "versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("wire_name", sa.String(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_versions")),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_versions_bot_id")),
        sa.UniqueConstraint("wire_name", name=op.f("uq_versions_wire_name")),
    )
    op.create_index(op.f("ix_versions_bot_id"), "versions", ["bot_id"])

    op.create_table(
        "connections",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("venue_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("address", sa.String(), nullable=False),
        sa.Column("client", sa.String(), nullable=False),
        sa.Column("opened_at", sa.BigInteger(), nullable=False),
        sa.Column("closed_at", sa.BigInteger(), nullable=True),
        sa.Column("reason", sa.String(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_connections")),
        sa.ForeignKeyConstraint(["venue_id"], ["venues.id"], name=op.f("fk_connections_venue_id")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_connections_version_id")),
    )
    op.create_index(op.f("ix_connections_version_id_id"), "connections", ["version_id", "id"])

    op.create_table(
        "games",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("venue_id", sa.Integer(), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=True),
        sa.Column("black_id", sa.Integer(), nullable=False),
        sa.Column("white_id", sa.Integer(), nullable=False),
        sa.Column("black_label", sa.String(), nullable=False),
        sa.Column("white_label", sa.String(), nullable=False),
        sa.Column("terms", sa.Text(), nullable=False),
        sa.Column("start", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column("winner", sa.Integer(), nullable=True),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("margin2", sa.Integer(), nullable=True),
        sa.Column("detail", sa.String(), server_default="", nullable=False),
        sa.Column("result", sa.String(), nullable=True),
        sa.Column("black_told", sa.Integer(), server_default=sa.text("2"), nullable=False),
        sa.Column("white_told", sa.Integer(), server_default=sa.text("2"), nullable=False),
        sa.Column("plies", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_games")),
        sa.ForeignKeyConstraint(["venue_id"], ["venues.id"], name=op.f("fk_games_venue_id")),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_games_round_id")),
        sa.ForeignKeyConstraint(["black_id"], ["versions.id"], name=op.f("fk_games_black_id")),
        sa.ForeignKeyConstraint(["white_id"], ["versions.id"], name=op.f("fk_games_white_id")),
    )
    op.create_index(op.f("ix_games_black_id_id_venue_id"), "games", ["black_id", "id", "venue_id"])
    op.create_index(
        "ix_games_black_untold",
        "games",
        ["black_id", "ended_at"],
        sqlite_where=sa.text("black_told < 2"),
        postgresql_where=sa.text("black_told < 2"),
    )
    op.create_index("ix_games_results", "games", ["venue_id", "reason", "black_id", "white_id", "plies"])
    op.create_index(
        "ix_games_unfinished",
        "games",
        ["id"],
        sqlite_where=sa.text("result IS NULL"),
        postgresql_where=sa.text("result IS NULL"),
    )
    op.create_index(op.f("ix_games_venue_id_id"), "games", ["venue_id", "id"])
    op.create_index(op.f("ix_games_white_id_id_venue_id"), "games", ["white_id", "id", "venue_id"])
    op.create_index(
        "ix_games_white_untold",
        "games",
        ["white_id", "ended_at"],
        sqlite_where=sa.text("white_told < 2"),
        postgresql_where=sa.text("white_told < 2"),
    )

    op.create_table(
        "ratings",
        sa.Column("venue_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("system", sa.String(), nullable=False),
        sa.Column("version_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("mean", sa.Float(), nullable=False),
        sa.Column("spread", sa.Float(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("provisional", sa.Integer(), nullable=False),
        sa.Column("anchor", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("venue_id", "system", "version_id", name=op.f("pk_ratings")),
        sa.ForeignKeyConstraint(["venue_id"], ["venues.id"], name=op.f("fk_ratings_venue_id")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_ratings_version_id")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "analysis",
        sa.Column("game_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("ply", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("game_id", "ply", name=op.f("pk_analysis")),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_analysis_game_id")),
    )
    op.create_table(
        "ledger",
        sa.Column("venue_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("game_id", sa.Integer(), nullable=True),
        sa.Column("version_id", sa.Integer(), nullable=True),
        sa.Column("black_id", sa.Integer(), nullable=True),
        sa.Column("white_id", sa.Integer(), nullable=True),
        sa.Column("score2", sa.Integer(), nullable=True),
        sa.Column("value", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("venue_id", "seq", name=op.f("pk_ledger")),
        sa.ForeignKeyConstraint(["venue_id"], ["venues.id"], name=op.f("fk_ledger_venue_id")),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_ledger_game_id")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_ledger_version_id")),
        sa.ForeignKeyConstraint(["black_id"], ["versions.id"], name=op.f("fk_ledger_black_id")),
        sa.ForeignKeyConstraint(["white_id"], ["versions.id"], name=op.f("fk_ledger_white_id")),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_ledger_game",
        "ledger",
        ["game_id"],
        unique=True,
        sqlite_where=sa.text("kind = 'game'"),
        postgresql_where=sa.text("kind = 'game'"),
    )

    op.create_table(
        "moves",
        sa.Column("game_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("ply", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("move", sa.String(), nullable=False),
        sa.Column("main_us", sa.BigInteger(), nullable=False),
        sa.Column("period_us", sa.BigInteger(), nullable=False),
        sa.Column("quota", sa.Integer(), nullable=False),
        sa.Column("bank_us", sa.BigInteger(), nullable=False),
        sa.Column("used_us", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("game_id", "ply", name=op.f("pk_moves")),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_moves_game_id")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "pairings",
        sa.Column("game_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("high_id", sa.Integer(), nullable=False),
        sa.Column("low_id", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("colors", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("game_id", name=op.f("pk_pairings")),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_pairings_game_id")),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_pairings_round_id")),
        sa.ForeignKeyConstraint(["high_id"], ["versions.id"], name=op.f("fk_pairings_high_id")),
        sa.ForeignKeyConstraint(["low_id"], ["versions.id"], name=op.f("fk_pairings_low_id")),
    )
    op.create_index(op.f("ix_pairings_round_id"), "pairings", ["round_id"])

    op.create_table(
        "rating_changes",
        sa.Column("venue_id", sa.Integer(), nullable=False),
        sa.Column("system", sa.String(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("before_mean", sa.Float(), nullable=False),
        sa.Column("before_spread", sa.Float(), nullable=False),
        sa.Column("after_mean", sa.Float(), nullable=False),
        sa.Column("after_spread", sa.Float(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("venue_id", "seq", "system", "version_id", name=op.f("pk_rating_changes")),
        sa.ForeignKeyConstraint(
            ["venue_id", "seq"], ["ledger.venue_id", "ledger.seq"], name=op.f("fk_rating_changes_venue_id_seq")
        ),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_rating_changes_version_id")),
        sqlite_with_rowid=False,
    )
    op.create_index(
        op.f("ix_rating_changes_version_id_venue_id_seq"), "rating_changes", ["version_id", "venue_id", "seq"]
    )


def downgrade() -> None:
    for table in (
        "rating_changes",
        "pairings",
        "moves",
        "ledger",
        "analysis",
        "ratings",
        "games",
        "connections",
        "versions",
        "tokens",
        "rounds",
        "venues",
        "server",
        "owners",
        "bots",
        "audit",
    ):
        op.drop_table(table)
