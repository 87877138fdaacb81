"""The initial schema.

Revision: 0001_initial
After:

The tables as they were when this was made; it stays as it is when `storage.tables` moves on.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision: str = "0001_initial"
down_revision: str | None = None
branch_labels: str | None = None
depends_on: str | None = None

LOSES: str | None = "Everything."
IRREVERSIBLE: str | None = "Nothing comes before the initial schema."


def rows_with(condition: str) -> dict[str, Any]:
    """What makes an index one of some rows only."""
    return {"sqlite_where": sa.text(condition), "postgresql_where": sa.text(condition)}


def filled(**kinds: type[sa.types.TypeEngine[Any]] | str) -> list[sa.Column[Any]]:
    """Columns that hold a value in every row: of a type, or the number of a row of the table that is named."""
    return [sa.Column(name, *_kind(kind), nullable=False) for name, kind in kinds.items()]


def optional(**kinds: type[sa.types.TypeEngine[Any]] | str) -> list[sa.Column[Any]]:
    """Columns that may be empty, otherwise likewise."""
    return [sa.Column(name, *_kind(kind)) for name, kind in kinds.items()]


def _kind(kind: type[sa.types.TypeEngine[Any]] | str) -> tuple[Any, ...]:
    return (sa.Integer, sa.ForeignKey(f"{kind}.id")) if isinstance(kind, str) else (kind,)


def upgrade() -> None:
    metadata = sa.MetaData(
        naming_convention={
            "pk": "pk_%(table_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        }
    )
    sa.Table(
        "server",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        *filled(created_at=sa.BigInteger, created_by=sa.String),
    )
    sa.Table(
        "venues",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String, nullable=False, unique=True),
        *filled(fixed=sa.Text, created_at=sa.BigInteger),
    )
    sa.Table(
        "owners",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String, nullable=False, unique=True),
        sa.Column("name_key", sa.String, nullable=False, unique=True),
        *filled(password=sa.String, admin=sa.Integer),
        sa.Column("state", sa.String, nullable=False, server_default="active"),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
    sa.Table(
        "bots",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String, nullable=False, unique=True),
        sa.Column("name_key", sa.String, nullable=False, unique=True),
        *filled(password=sa.String, state=sa.String),
        sa.Column("reason", sa.String, nullable=False, server_default=""),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("family_id", sa.Integer, sa.ForeignKey("bots.id", deferrable=True)),
        sa.Column("owner_id", sa.Integer, sa.ForeignKey("owners.id"), index=True),
        sa.Column("until", sa.BigInteger),
        sa.Column("paused", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("limits", sa.Text, nullable=False, server_default=""),
    )
    sa.Table(
        "versions",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("bot_id", sa.Integer, sa.ForeignKey("bots.id"), nullable=False),
        sa.Column("wire_name", sa.String, nullable=False, unique=True),
        sa.Column("wire_key", sa.String, nullable=False, unique=True),
        sa.Column("label", sa.String, nullable=False, server_default=""),
        sa.Column("engine", sa.String, nullable=False, server_default=""),
        sa.Column("parameters", sa.Text, nullable=False, server_default=""),
        sa.Column("author", sa.String, nullable=False, server_default=""),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.UniqueConstraint("bot_id", "label"),
    )
    sa.Table(
        "tokens",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("bot_id", sa.Integer, sa.ForeignKey("bots.id"), nullable=False, index=True),
        *filled(digest=sa.String, label=sa.String, created_at=sa.BigInteger),
        sa.Column("revoked_at", sa.BigInteger),
    )
    sa.Table(
        "access",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("owner_id", sa.Integer, sa.ForeignKey("owners.id"), nullable=False, index=True),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("digest", sa.String, nullable=False, unique=True),
        *filled(label=sa.String, scopes=sa.String, address=sa.String, created_at=sa.BigInteger),
        *optional(expires_at=sa.BigInteger, revoked_at=sa.BigInteger),
    )
    sa.Table(
        "webhooks",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("owner_id", sa.Integer, sa.ForeignKey("owners.id"), nullable=False, index=True),
        sa.Column("bot_id", sa.Integer, sa.ForeignKey("bots.id")),
        *filled(url=sa.Text, secret=sa.String, events=sa.String, created_at=sa.BigInteger),
        sa.Column("stopped_at", sa.BigInteger),
        sa.Column("why", sa.Text, nullable=False, server_default=""),
    )
    sa.Table(
        "connections",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        *filled(venue_id="venues", version_id="versions", address=sa.String, client=sa.String, opened_at=sa.BigInteger),
        sa.Column("closed_at", sa.BigInteger),
        sa.Column("reason", sa.String, nullable=False, server_default=""),
        sa.Index(None, "version_id", "id"),
        sa.Index(None, "venue_id", "id"),
        sa.Index(None, "address", "id"),
        sa.Index("ix_connections_open", "id", **rows_with("closed_at IS NULL")),
    )
    sa.Table(
        "rounds",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        *filled(venue_id="venues", number=sa.Integer, at=sa.BigInteger, policy=sa.String, method=sa.String),
        *filled(options=sa.Text, seed=sa.String, inputs=sa.Text, sits_out=sa.Text, notes=sa.Text),
        sa.Column("total", sa.BigInteger),
        sa.UniqueConstraint("venue_id", "number"),
    )
    sa.Table(
        "games",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("venue_id", sa.Integer, sa.ForeignKey("venues.id"), nullable=False),
        sa.Column("round_id", sa.Integer, sa.ForeignKey("rounds.id")),
        *filled(black_id="versions", white_id="versions", black_label=sa.String, white_label=sa.String),
        *filled(terms=sa.Text, start=sa.Text, started_at=sa.BigInteger),
        *optional(ended_at=sa.BigInteger, winner=sa.Integer, reason=sa.String, margin2=sa.Integer),
        sa.Column("detail", sa.String, nullable=False, server_default=""),
        sa.Column("result", sa.String),
        sa.Column("black_told", sa.Integer, nullable=False, server_default=sa.text("2")),
        sa.Column("white_told", sa.Integer, nullable=False, server_default=sa.text("2")),
        sa.Column("plies", sa.Integer),
        sa.Column("opening", sa.Text, nullable=False, server_default=""),
        sa.Index("ix_games_venue", "venue_id", "id", "reason", "winner", "plies", "started_at"),
        sa.Index("ix_games_black", "black_id", "id", "venue_id", "white_id", "reason", "winner", "plies", "started_at"),
        sa.Index("ix_games_white", "white_id", "id", "venue_id", "black_id", "reason", "winner", "plies", "started_at"),
        sa.Index("ix_games_black_started", "black_id", "started_at", "venue_id"),
        sa.Index("ix_games_white_started", "white_id", "started_at", "venue_id"),
        sa.Index(
            "ix_games_verdict", *("venue_id", "reason", "winner", "id", "plies", "started_at", "black_id", "white_id")
        ),
        sa.Index(
            "ix_games_opening",
            *("venue_id", "black_id", "white_id", "opening", "reason", "started_at"),
            **rows_with("opening <> ''"),
        ),
        sa.Index("ix_games_unfinished", "id", **rows_with("result IS NULL")),
        sa.Index("ix_games_black_untold", "black_id", "ended_at", **rows_with("black_told < 2")),
        sa.Index("ix_games_white_untold", "white_id", "ended_at", **rows_with("white_told < 2")),
    )
    sa.Table(
        "pairings",
        metadata,
        sa.Column("game_id", sa.Integer, sa.ForeignKey("games.id"), primary_key=True, autoincrement=False),
        sa.Column("round_id", sa.Integer, sa.ForeignKey("rounds.id"), nullable=False, index=True),
        *filled(high_id="versions", low_id="versions", reason=sa.Text, colors=sa.Text, detail=sa.Text),
    )
    sa.Table(
        "moves",
        metadata,
        *filled(game_id="games", ply=sa.Integer, move=sa.String, main_us=sa.BigInteger, period_us=sa.BigInteger),
        *filled(quota=sa.Integer, bank_us=sa.BigInteger, used_us=sa.BigInteger, at=sa.BigInteger),
        sa.PrimaryKeyConstraint("game_id", "ply"),
        sqlite_with_rowid=False,
    )
    sa.Table(
        "analysis",
        metadata,
        *filled(game_id="games", ply=sa.Integer, text=sa.Text),
        sa.PrimaryKeyConstraint("game_id", "ply"),
    )
    sa.Table(
        "ledger",
        metadata,
        *filled(venue_id="venues", seq=sa.Integer, at=sa.BigInteger, kind=sa.String),
        *optional(game_id="games", version_id="versions", black_id="versions", white_id="versions", score2=sa.Integer),
        *optional(value=sa.Float, sd=sa.Float, other_id="versions", was2=sa.Integer),
        sa.Column("repeat", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("digest", sa.BigInteger),
        sa.PrimaryKeyConstraint("venue_id", "seq"),
        sa.Index("ix_ledger_game", "game_id", unique=True, **rows_with("kind = 'game'")),
        sa.Index("ix_ledger_correction", "game_id", "seq", **rows_with("kind = 'correction'")),
        sa.Index("ix_ledger_version", "version_id", "venue_id", "seq", **rows_with("version_id IS NOT NULL")),
        sa.Index("ix_ledger_digest", "black_id", "white_id", "digest", **rows_with("digest IS NOT NULL")),
        sqlite_with_rowid=False,
    )
    sa.Table(
        "rating_changes",
        metadata,
        *filled(venue_id=sa.Integer, system=sa.String, seq=sa.Integer, version_id="versions"),
        *filled(before_mean=sa.Float, before_spread=sa.Float),
        *filled(after_mean=sa.Float, after_spread=sa.Float, games=sa.Integer),
        sa.PrimaryKeyConstraint("venue_id", "seq", "system", "version_id"),
        sa.ForeignKeyConstraint(["venue_id", "seq"], ["ledger.venue_id", "ledger.seq"]),
        sa.Index("ix_rating_changes_version", "version_id", "venue_id", "seq", "system", "after_mean"),
        sqlite_with_rowid=False,
    )
    sa.Table(
        "ratings",
        metadata,
        *filled(venue_id="venues", system=sa.String, version_id="versions", mean=sa.Float, spread=sa.Float),
        *filled(games=sa.Integer, provisional=sa.Integer, anchor=sa.Integer, seq=sa.Integer),
        sa.PrimaryKeyConstraint("venue_id", "system", "version_id"),
        sqlite_with_rowid=False,
    )
    sa.Table(
        "suspensions",
        metadata,
        *filled(venue_id="venues", version_id="versions", spoilt=sa.Integer, suspended=sa.Integer),
        *filled(reason=sa.Text, at=sa.BigInteger),
        sa.PrimaryKeyConstraint("venue_id", "version_id"),
        sqlite_with_rowid=False,
    )
    sa.Table(
        "builds",
        metadata,
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
    )
    sa.Table(
        "refits",
        metadata,
        *filled(venue_id="venues", system=sa.String, number=sa.Integer, included=sa.Integer),
        *filled(base=sa.Integer, applied=sa.Integer, cold=sa.Integer, notes=sa.Text),
        sa.Column("build", sa.String, sa.ForeignKey("builds.id"), nullable=False),
        *filled(at=sa.BigInteger, took_us=sa.BigInteger),
        sa.PrimaryKeyConstraint("venue_id", "system", "number"),
        sa.Index(None, "venue_id", "system", "applied", "number"),
    )
    sa.Table(
        "refit_points",
        metadata,
        *filled(venue_id=sa.Integer, system=sa.String, version_id="versions"),
        *filled(number=sa.Integer, applied=sa.Integer, mean=sa.Float, spread=sa.Float),
        sa.PrimaryKeyConstraint("venue_id", "system", "version_id", "number"),
        sa.ForeignKeyConstraint(
            ["venue_id", "system", "number"], ["refits.venue_id", "refits.system", "refits.number"]
        ),
        sa.Index(None, "venue_id", "system", "number"),
        sqlite_with_rowid=False,
    )
    sa.Table(
        "rating_states",
        metadata,
        *filled(venue_id="venues", system=sa.String, seq=sa.Integer, refit=sa.Integer),
        *filled(at=sa.BigInteger, state=sa.LargeBinary),
        sa.PrimaryKeyConstraint("venue_id", "system"),
    )
    sa.Table(
        "rating_plugins",
        metadata,
        *filled(venue_id="venues", system=sa.String, plugin=sa.String, seq=sa.Integer),
        sa.PrimaryKeyConstraint("venue_id", "system", "plugin"),
    )
    sa.Table(
        "corrections",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        *filled(game_id="games", at=sa.BigInteger),
        sa.Column("seq", sa.Integer),
        *filled(actor=sa.String, reason=sa.String),
        sa.Column("winner", sa.Integer),
        sa.Column("result", sa.String, nullable=False),
        sa.Index(None, "game_id", "id"),
    )
    sa.Table(
        "audit",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        *filled(at=sa.BigInteger, actor=sa.String, action=sa.String, subject=sa.String, detail=sa.Text),
        sa.Index(None, "actor", "id"),
        sa.Index(None, "action", "id"),
        sa.Index(None, "subject", "id"),
    )
    # On PostgreSQL alone: which batch was committed last, and whose the next one is.
    postgres = op.get_bind().dialect.name == "postgresql"
    if postgres:
        writer = sa.Table(
            "writer",
            metadata,
            sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
            *filled(holder=sa.BigInteger, batch=sa.BigInteger),
        )
    metadata.create_all(op.get_bind(), checkfirst=False)
    if postgres:
        op.bulk_insert(writer, [{"id": 1, "holder": 0, "batch": 0}])


def downgrade() -> None:
    raise NotImplementedError("Nothing comes before the initial schema. Remove the database instead.")
