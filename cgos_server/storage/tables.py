"""The database's tables as SQLAlchemy Core metadata: columns carry the names of the records' fields.

The migrations make the same schema; a test holds the two together. A new column stands last in its table, as a
migration can only add it there. Times are Unix milliseconds (``*_at``, ``at``) or microseconds of a clock (``*_us``).
Must not know: who writes, who reads, how it is opened.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)


def _rows_with(condition: str) -> dict[str, Any]:
    """What makes an index one of some rows only."""
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}


server = Table(
    "server",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("created_at", BigInteger, nullable=False),
    Column("created_by", String, nullable=False),
)
"""One row: when this database was made, and by which version of the program."""

venues = Table(
    "venues",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False, unique=True),
    Column("fixed", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
)

owners = Table(
    "owners",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False, unique=True),
    Column("name_key", String, nullable=False, unique=True),
    Column("password", String, nullable=False),
    Column("admin", Integer, nullable=False),
    Column("state", String, nullable=False, server_default="active"),
    Column("created_at", BigInteger, nullable=False),
)

bots = Table(
    "bots",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False, unique=True),
    Column("name_key", String, nullable=False, unique=True),
    Column("password", String, nullable=False),
    Column("state", String, nullable=False),
    Column("reason", String, nullable=False, server_default=""),
    Column("created_at", BigInteger, nullable=False),
    # Deferrable, because a copy may bring a bot before the one that leads its family.
    Column("family_id", Integer, ForeignKey("bots.id", deferrable=True)),
    Column("owner_id", Integer, ForeignKey("owners.id"), index=True),
    Column("until", BigInteger),
    Column("paused", Integer, nullable=False, server_default=text("0")),
    Column("limits", Text, nullable=False, server_default=""),
)
"""`until`: when a disabled one may play again, None for never. `limits`: JSON of what its owner allows, or empty."""

versions = Table(
    "versions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("bot_id", Integer, ForeignKey("bots.id"), nullable=False),
    Column("wire_name", String, nullable=False, unique=True),
    Column("wire_key", String, nullable=False, unique=True),
    Column("label", String, nullable=False, server_default=""),
    Column("engine", String, nullable=False, server_default=""),
    Column("parameters", Text, nullable=False, server_default=""),
    Column("author", String, nullable=False, server_default=""),
    Column("created_at", BigInteger, nullable=False),
    UniqueConstraint("bot_id", "label"),
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("bot_id", Integer, ForeignKey("bots.id"), nullable=False, index=True),
    Column("digest", String, nullable=False),
    Column("label", String, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("revoked_at", BigInteger),
)

access = Table(
    "access",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", Integer, ForeignKey("owners.id"), nullable=False, index=True),
    Column("kind", String, nullable=False),
    Column("digest", String, nullable=False, unique=True),
    Column("label", String, nullable=False),
    Column("scopes", String, nullable=False),
    Column("address", String, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger),
    Column("revoked_at", BigInteger),
)
"""What lets a person in: sessions of the pages, tokens of the API. `digest` is the hexadecimal SHA-256 of its text."""

webhooks = Table(
    "webhooks",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", Integer, ForeignKey("owners.id"), nullable=False, index=True),
    Column("bot_id", Integer, ForeignKey("bots.id")),
    Column("url", Text, nullable=False),
    Column("secret", String, nullable=False),
    Column("events", String, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("stopped_at", BigInteger),
    Column("why", Text, nullable=False, server_default=""),
)

connections = Table(
    "connections",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("venue_id", Integer, ForeignKey("venues.id"), nullable=False),
    Column("version_id", Integer, ForeignKey("versions.id"), nullable=False),
    Column("address", String, nullable=False),
    Column("client", String, nullable=False),
    Column("opened_at", BigInteger, nullable=False),
    Column("closed_at", BigInteger),
    Column("reason", String, nullable=False, server_default=""),
    Index(None, "version_id", "id"),
    Index(None, "venue_id", "id"),
    Index(None, "address", "id"),
    Index("ix_connections_open", "id", **_rows_with("closed_at IS NULL")),
)

rounds = Table(
    "rounds",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("venue_id", Integer, ForeignKey("venues.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("policy", String, nullable=False),
    Column("method", String, nullable=False),
    Column("options", Text, nullable=False),
    Column("seed", String, nullable=False),
    Column("inputs", Text, nullable=False),
    Column("sits_out", Text, nullable=False),
    Column("notes", Text, nullable=False),
    Column("total", BigInteger),
    UniqueConstraint("venue_id", "number"),
)

games = Table(
    "games",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("venue_id", Integer, ForeignKey("venues.id"), nullable=False),
    Column("round_id", Integer, ForeignKey("rounds.id")),
    Column("black_id", Integer, ForeignKey("versions.id"), nullable=False),
    Column("white_id", Integer, ForeignKey("versions.id"), nullable=False),
    Column("black_label", String, nullable=False),
    Column("white_label", String, nullable=False),
    Column("terms", Text, nullable=False),
    Column("start", Text, nullable=False),
    Column("started_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger),
    Column("winner", Integer),
    Column("reason", String),
    Column("margin2", Integer),
    Column("detail", String, nullable=False, server_default=""),
    Column("result", String),
    Column("black_told", Integer, nullable=False, server_default=text("2")),
    Column("white_told", Integer, nullable=False, server_default=text("2")),
    Column("plies", Integer),
    Column("opening", Text, nullable=False, server_default=""),
    # All that games are looked for by, behind what finds them in their order, so that those that are not wanted need
    # not be read.
    Index("ix_games_venue", "venue_id", "id", "reason", "winner", "plies", "started_at"),
    Index("ix_games_black", "black_id", "id", "venue_id", "white_id", "reason", "winner", "plies", "started_at"),
    Index("ix_games_white", "white_id", "id", "venue_id", "black_id", "reason", "winner", "plies", "started_at"),
    # How many games of a version began since then, in the index alone.
    Index("ix_games_black_started", "black_id", "started_at", "venue_id"),
    Index("ix_games_white_started", "white_id", "started_at", "venue_id"),
    # As above, of one verdict, and all that is counted over many games.
    Index("ix_games_verdict", *("venue_id", "reason", "winner", "id", "plies", "started_at", "black_id", "white_id")),
    # Who has played which opening with which colors, in the index alone.
    Index(
        "ix_games_opening",
        *("venue_id", "black_id", "white_id", "opening", "reason", "started_at"),
        **_rows_with("opening <> ''"),
    ),
    Index("ix_games_unfinished", "id", **_rows_with("result IS NULL")),
    Index(
        "ix_games_black_untold",
        "black_id",
        "ended_at",
        sqlite_where=text("black_told < 2"),
        postgresql_where=text("black_told < 2"),
    ),
    Index(
        "ix_games_white_untold",
        "white_id",
        "ended_at",
        sqlite_where=text("white_told < 2"),
        postgresql_where=text("white_told < 2"),
    ),
)
"""`plies` is the number of moves, filled in with the verdict; None while the game is unfinished. `opening` is the name
of the one it began with, empty for none."""

pairings = Table(
    "pairings",
    metadata,
    Column("game_id", Integer, ForeignKey("games.id"), primary_key=True, autoincrement=False),
    Column("round_id", Integer, ForeignKey("rounds.id"), nullable=False, index=True),
    Column("high_id", Integer, ForeignKey("versions.id"), nullable=False),
    Column("low_id", Integer, ForeignKey("versions.id"), nullable=False),
    Column("reason", Text, nullable=False),
    Column("colors", Text, nullable=False),
    Column("detail", Text, nullable=False),
)

# Short rows in the order of their key: 20 bytes a move instead of 35 with a hidden row number and an index.
moves = Table(
    "moves",
    metadata,
    Column("game_id", Integer, ForeignKey("games.id"), primary_key=True, autoincrement=False),
    Column("ply", Integer, primary_key=True, autoincrement=False),
    Column("move", String, nullable=False),
    Column("main_us", BigInteger, nullable=False),
    Column("period_us", BigInteger, nullable=False),
    Column("quota", Integer, nullable=False),
    Column("bank_us", BigInteger, nullable=False),
    Column("used_us", BigInteger, nullable=False),
    Column("at", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

# Rows of a kilobyte and more: SQLite keeps such rows better in an ordinary table beside its index.
analysis = Table(
    "analysis",
    metadata,
    Column("game_id", Integer, ForeignKey("games.id"), primary_key=True, autoincrement=False),
    Column("ply", Integer, primary_key=True, autoincrement=False),
    Column("text", Text, nullable=False),
)

ledger = Table(
    "ledger",
    metadata,
    Column("venue_id", Integer, ForeignKey("venues.id"), primary_key=True, autoincrement=False),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("at", BigInteger, nullable=False),
    Column("kind", String, nullable=False),
    Column("game_id", Integer, ForeignKey("games.id")),
    Column("version_id", Integer, ForeignKey("versions.id")),
    Column("black_id", Integer, ForeignKey("versions.id")),
    Column("white_id", Integer, ForeignKey("versions.id")),
    Column("score2", Integer),
    Column("value", Float),
    Column("sd", Float),
    Column("other_id", Integer, ForeignKey("versions.id")),
    Column("was2", Integer),
    Column("repeat", Integer, nullable=False, server_default=text("0")),
    Column("digest", BigInteger),
    # No game is rated twice.
    Index("ix_ledger_game", "game_id", unique=True, **_rows_with("kind = 'game'")),
    Index("ix_ledger_correction", "game_id", "seq", **_rows_with("kind = 'correction'")),
    # All that is said of a version besides its games: a few entries each.
    Index("ix_ledger_version", "version_id", "venue_id", "seq", **_rows_with("version_id IS NOT NULL")),
    # The same game played again.
    Index("ix_ledger_digest", "black_id", "white_id", "digest", **_rows_with("digest IS NOT NULL")),
    sqlite_with_rowid=False,
)

rating_changes = Table(
    "rating_changes",
    metadata,
    Column("venue_id", Integer, nullable=False),
    Column("system", String, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("version_id", Integer, ForeignKey("versions.id"), nullable=False),
    Column("before_mean", Float, nullable=False),
    Column("before_spread", Float, nullable=False),
    Column("after_mean", Float, nullable=False),
    Column("after_spread", Float, nullable=False),
    Column("games", Integer, nullable=False),
    # By entry first: rows are appended in this order, and one game's changes lie together.
    PrimaryKeyConstraint("venue_id", "seq", "system", "version_id"),
    ForeignKeyConstraint(["venue_id", "seq"], ["ledger.venue_id", "ledger.seq"]),
    # The graph of a version's rating, in the index alone.
    Index("ix_rating_changes_version", "version_id", "venue_id", "seq", "system", "after_mean"),
    sqlite_with_rowid=False,
)

ratings = Table(
    "ratings",
    metadata,
    Column("venue_id", Integer, ForeignKey("venues.id"), primary_key=True, autoincrement=False),
    Column("system", String, primary_key=True),
    Column("version_id", Integer, ForeignKey("versions.id"), primary_key=True, autoincrement=False),
    Column("mean", Float, nullable=False),
    Column("spread", Float, nullable=False),
    Column("games", Integer, nullable=False),
    Column("provisional", Integer, nullable=False),
    Column("anchor", Integer, nullable=False),
    Column("seq", Integer, nullable=False),
    sqlite_with_rowid=False,
)

setbacks = Table(
    "setbacks",
    metadata,
    Column("venue_id", Integer, ForeignKey("venues.id"), primary_key=True, autoincrement=False),
    Column("version_id", Integer, ForeignKey("versions.id"), primary_key=True, autoincrement=False),
    Column("spoilt", Integer, nullable=False),
    Column("set_aside", Integer, nullable=False),
    Column("reason", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

builds = Table(
    "builds",
    metadata,
    Column("id", String, primary_key=True),
    Column("text", Text, nullable=False),
)
"""What computed ratings: see :class:`cgos_server.storage.writing.records.BuildSeen`."""

refits = Table(
    "refits",
    metadata,
    Column("venue_id", Integer, ForeignKey("venues.id"), primary_key=True, autoincrement=False),
    Column("system", String, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("included", Integer, nullable=False),
    Column("base", Integer, nullable=False),
    Column("applied", Integer, nullable=False),
    Column("cold", Integer, nullable=False),
    Column("notes", Text, nullable=False),
    Column("build", String, ForeignKey("builds.id"), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("took_us", BigInteger, nullable=False),
    # The latest one by an entry: both numbers grow together.
    Index(None, "venue_id", "system", "applied", "number"),
)

# Short rows in the order of one version's graph.
refit_points = Table(
    "refit_points",
    metadata,
    Column("venue_id", Integer, nullable=False),
    Column("system", String, nullable=False),
    Column("version_id", Integer, ForeignKey("versions.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("applied", Integer, nullable=False),
    Column("mean", Float, nullable=False),
    Column("spread", Float, nullable=False),
    PrimaryKeyConstraint("venue_id", "system", "version_id", "number"),
    ForeignKeyConstraint(["venue_id", "system", "number"], ["refits.venue_id", "refits.system", "refits.number"]),
    # All that one refit moved.
    Index(None, "venue_id", "system", "number"),
    sqlite_with_rowid=False,
)

# Up to megabytes in a row: SQLite keeps such rows better in an ordinary table beside its index.
rating_states = Table(
    "rating_states",
    metadata,
    Column("venue_id", Integer, ForeignKey("venues.id"), primary_key=True, autoincrement=False),
    Column("system", String, primary_key=True),
    Column("seq", Integer, nullable=False),
    Column("refit", Integer, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("state", LargeBinary, nullable=False),
)

rating_plugins = Table(
    "rating_plugins",
    metadata,
    Column("venue_id", Integer, ForeignKey("venues.id"), primary_key=True, autoincrement=False),
    Column("system", String, primary_key=True),
    Column("plugin", String, primary_key=True),
    Column("seq", Integer, nullable=False),
)
"""See :class:`cgos_server.storage.writing.records.RatingPluginSeen`."""

corrections = Table(
    "corrections",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("game_id", Integer, ForeignKey("games.id"), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("seq", Integer),
    Column("actor", String, nullable=False),
    Column("reason", String, nullable=False),
    Column("winner", Integer),
    Column("result", String, nullable=False),
    Index(None, "game_id", "id"),
)

audit = Table(
    "audit",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("actor", String, nullable=False),
    Column("action", String, nullable=False),
    Column("subject", String, nullable=False),
    Column("detail", Text, nullable=False),
    Index(None, "actor", "id"),
    Index(None, "action", "id"),
    Index(None, "subject", "id"),
)

postgres_metadata = MetaData(naming_convention=metadata.naming_convention)
"""What a PostgreSQL database has besides."""

writer = Table(
    "writer",
    postgres_metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("holder", BigInteger, nullable=False),
    Column("batch", BigInteger, nullable=False),
)
"""One row: the number of the last batch that was committed, and a number of the writer's that may commit the next one.
It tells whether a batch was committed when the connection broke before the answer."""
