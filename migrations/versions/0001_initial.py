"""The initial schema.

Revision: 0001_initial
After:
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision: str = "0001_initial"
down_revision: str | None = None
branch_labels: str | None = None
depends_on: str | None = None


def rows_with(condition: str) -> dict[str, Any]:
    """What makes an index one of some rows only."""
    return {"sqlite_where": sa.text(condition), "postgresql_where": sa.text(condition)}


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
    op.create_index(op.f("ix_audit_action_id"), "audit", ["action", "id"])
    op.create_index(op.f("ix_audit_actor_id"), "audit", ["actor", "id"])
    op.create_index(op.f("ix_audit_subject_id"), "audit", ["subject", "id"])
    op.create_table(
        "builds",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_builds")),
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
        sa.ForeignKeyConstraint(["owner_id"], ["owners.id"], name=op.f("fk_access_owner_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_access")),
        sa.UniqueConstraint("digest", name=op.f("uq_access_digest")),
    )
    op.create_index(op.f("ix_access_owner_id"), "access", ["owner_id"])
    op.create_table(
        "bots",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("name_key", sa.String(), nullable=False),
        sa.Column("password", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), server_default="", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("family_id", sa.Integer(), nullable=True),
        sa.Column("owner_id", sa.Integer(), nullable=True),
        sa.Column("until", sa.BigInteger(), nullable=True),
        sa.Column("paused", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("limits", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["family_id"], ["bots.id"], name=op.f("fk_bots_family_id"), deferrable=True),
        sa.ForeignKeyConstraint(["owner_id"], ["owners.id"], name=op.f("fk_bots_owner_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bots")),
        sa.UniqueConstraint("name", name=op.f("uq_bots_name")),
        sa.UniqueConstraint("name_key", name=op.f("uq_bots_name_key")),
    )
    op.create_index(op.f("ix_bots_owner_id"), "bots", ["owner_id"])
    op.create_table(
        "rating_plugins",
        sa.Column("venue_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("system", sa.String(), nullable=False),
        sa.Column("plugin", sa.String(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["venue_id"], ["venues.id"], name=op.f("fk_rating_plugins_venue_id")),
        sa.PrimaryKeyConstraint("venue_id", "system", "plugin", name=op.f("pk_rating_plugins")),
    )
    op.create_table(
        "rating_states",
        sa.Column("venue_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("system", sa.String(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("refit", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["venue_id"], ["venues.id"], name=op.f("fk_rating_states_venue_id")),
        sa.PrimaryKeyConstraint("venue_id", "system", name=op.f("pk_rating_states")),
    )
    op.create_table(
        "refits",
        sa.Column("venue_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("system", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("included", sa.Integer(), nullable=False),
        sa.Column("base", sa.Integer(), nullable=False),
        sa.Column("applied", sa.Integer(), nullable=False),
        sa.Column("cold", sa.Integer(), nullable=False),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.Column("build", sa.String(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("took_us", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["build"], ["builds.id"], name=op.f("fk_refits_build")),
        sa.ForeignKeyConstraint(["venue_id"], ["venues.id"], name=op.f("fk_refits_venue_id")),
        sa.PrimaryKeyConstraint("venue_id", "system", "number", name=op.f("pk_refits")),
    )
    op.create_index(
        op.f("ix_refits_venue_id_system_applied_number"), "refits", ["venue_id", "system", "applied", "number"]
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
        sa.Column("total", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["venue_id"], ["venues.id"], name=op.f("fk_rounds_venue_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rounds")),
        sa.UniqueConstraint("venue_id", "number", name=op.f("uq_rounds_venue_id_number")),
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_tokens_bot_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
    )
    op.create_index(op.f("ix_tokens_bot_id"), "tokens", ["bot_id"])
    op.create_table(
        "versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("wire_name", sa.String(), nullable=False),
        sa.Column("wire_key", sa.String(), nullable=False),
        sa.Column("label", sa.String(), server_default="", nullable=False),
        sa.Column("engine", sa.String(), server_default="", nullable=False),
        sa.Column("parameters", sa.Text(), server_default="", nullable=False),
        sa.Column("author", sa.String(), server_default="", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_versions_bot_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_versions")),
        sa.UniqueConstraint("bot_id", "label", name=op.f("uq_versions_bot_id_label")),
        sa.UniqueConstraint("wire_key", name=op.f("uq_versions_wire_key")),
        sa.UniqueConstraint("wire_name", name=op.f("uq_versions_wire_name")),
    )
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
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_webhooks_bot_id")),
        sa.ForeignKeyConstraint(["owner_id"], ["owners.id"], name=op.f("fk_webhooks_owner_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhooks")),
    )
    op.create_index(op.f("ix_webhooks_owner_id"), "webhooks", ["owner_id"])
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
        sa.ForeignKeyConstraint(["venue_id"], ["venues.id"], name=op.f("fk_connections_venue_id")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_connections_version_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_connections")),
    )
    op.create_index(op.f("ix_connections_address_id"), "connections", ["address", "id"])
    op.create_index("ix_connections_open", "connections", ["id"], **rows_with("closed_at IS NULL"))
    op.create_index(op.f("ix_connections_venue_id_id"), "connections", ["venue_id", "id"])
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
        sa.Column("opening", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["black_id"], ["versions.id"], name=op.f("fk_games_black_id")),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_games_round_id")),
        sa.ForeignKeyConstraint(["venue_id"], ["venues.id"], name=op.f("fk_games_venue_id")),
        sa.ForeignKeyConstraint(["white_id"], ["versions.id"], name=op.f("fk_games_white_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_games")),
    )
    op.create_index(
        "ix_games_black", "games", ["black_id", "id", "venue_id", "white_id", "reason", "winner", "plies", "started_at"]
    )
    op.create_index("ix_games_black_started", "games", ["black_id", "started_at", "venue_id"])
    op.create_index("ix_games_black_untold", "games", ["black_id", "ended_at"], **rows_with("black_told < 2"))
    op.create_index(
        "ix_games_opening",
        "games",
        ["venue_id", "black_id", "white_id", "opening", "reason", "started_at"],
        **rows_with("opening <> ''"),
    )
    op.create_index("ix_games_unfinished", "games", ["id"], **rows_with("result IS NULL"))
    op.create_index("ix_games_venue", "games", ["venue_id", "id", "reason", "winner", "plies", "started_at"])
    op.create_index(
        "ix_games_verdict",
        "games",
        ["venue_id", "reason", "winner", "id", "plies", "started_at", "black_id", "white_id"],
    )
    op.create_index(
        "ix_games_white", "games", ["white_id", "id", "venue_id", "black_id", "reason", "winner", "plies", "started_at"]
    )
    op.create_index("ix_games_white_started", "games", ["white_id", "started_at", "venue_id"])
    op.create_index("ix_games_white_untold", "games", ["white_id", "ended_at"], **rows_with("white_told < 2"))
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
        sa.ForeignKeyConstraint(["venue_id"], ["venues.id"], name=op.f("fk_ratings_venue_id")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_ratings_version_id")),
        sa.PrimaryKeyConstraint("venue_id", "system", "version_id", name=op.f("pk_ratings")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "refit_points",
        sa.Column("venue_id", sa.Integer(), nullable=False),
        sa.Column("system", sa.String(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("applied", sa.Integer(), nullable=False),
        sa.Column("mean", sa.Float(), nullable=False),
        sa.Column("spread", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["venue_id", "system", "number"],
            ["refits.venue_id", "refits.system", "refits.number"],
            name=op.f("fk_refit_points_venue_id_system_number"),
        ),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_refit_points_version_id")),
        sa.PrimaryKeyConstraint("venue_id", "system", "version_id", "number", name=op.f("pk_refit_points")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_refit_points_venue_id_system_number"), "refit_points", ["venue_id", "system", "number"])
    op.create_table(
        "setbacks",
        sa.Column("venue_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("version_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("spoilt", sa.Integer(), nullable=False),
        sa.Column("set_aside", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["venue_id"], ["venues.id"], name=op.f("fk_setbacks_venue_id")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_setbacks_version_id")),
        sa.PrimaryKeyConstraint("venue_id", "version_id", name=op.f("pk_setbacks")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "analysis",
        sa.Column("game_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("ply", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_analysis_game_id")),
        sa.PrimaryKeyConstraint("game_id", "ply", name=op.f("pk_analysis")),
    )
    op.create_table(
        "corrections",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("game_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=True),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("winner", sa.Integer(), nullable=True),
        sa.Column("result", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_corrections_game_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_corrections")),
    )
    op.create_index(op.f("ix_corrections_game_id_id"), "corrections", ["game_id", "id"])
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
        sa.Column("sd", sa.Float(), nullable=True),
        sa.Column("other_id", sa.Integer(), nullable=True),
        sa.Column("was2", sa.Integer(), nullable=True),
        sa.Column("repeat", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("digest", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["black_id"], ["versions.id"], name=op.f("fk_ledger_black_id")),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_ledger_game_id")),
        sa.ForeignKeyConstraint(["other_id"], ["versions.id"], name=op.f("fk_ledger_other_id")),
        sa.ForeignKeyConstraint(["venue_id"], ["venues.id"], name=op.f("fk_ledger_venue_id")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_ledger_version_id")),
        sa.ForeignKeyConstraint(["white_id"], ["versions.id"], name=op.f("fk_ledger_white_id")),
        sa.PrimaryKeyConstraint("venue_id", "seq", name=op.f("pk_ledger")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_ledger_correction", "ledger", ["game_id", "seq"], **rows_with("kind = 'correction'"))
    op.create_index("ix_ledger_digest", "ledger", ["black_id", "white_id", "digest"], **rows_with("digest IS NOT NULL"))
    op.create_index("ix_ledger_game", "ledger", ["game_id"], unique=True, **rows_with("kind = 'game'"))
    op.create_index(
        "ix_ledger_version", "ledger", ["version_id", "venue_id", "seq"], **rows_with("version_id IS NOT NULL")
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
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_moves_game_id")),
        sa.PrimaryKeyConstraint("game_id", "ply", name=op.f("pk_moves")),
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
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_pairings_game_id")),
        sa.ForeignKeyConstraint(["high_id"], ["versions.id"], name=op.f("fk_pairings_high_id")),
        sa.ForeignKeyConstraint(["low_id"], ["versions.id"], name=op.f("fk_pairings_low_id")),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_pairings_round_id")),
        sa.PrimaryKeyConstraint("game_id", name=op.f("pk_pairings")),
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
        sa.ForeignKeyConstraint(
            ["venue_id", "seq"], ["ledger.venue_id", "ledger.seq"], name=op.f("fk_rating_changes_venue_id_seq")
        ),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_rating_changes_version_id")),
        sa.PrimaryKeyConstraint("venue_id", "seq", "system", "version_id", name=op.f("pk_rating_changes")),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_rating_changes_version", "rating_changes", ["version_id", "venue_id", "seq", "system", "after_mean"]
    )

    if op.get_bind().dialect.name == "postgresql":
        writer = op.create_table(
            "writer",
            sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
            sa.Column("holder", sa.BigInteger(), nullable=False),
            sa.Column("batch", sa.BigInteger(), nullable=False),
            sa.PrimaryKeyConstraint("id", name=op.f("pk_writer")),
        )
        op.bulk_insert(writer, [{"id": 1, "holder": 0, "batch": 0}])


def downgrade() -> None:
    raise NotImplementedError("Nothing comes before the initial schema. Remove the database instead.")
