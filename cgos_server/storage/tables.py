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
from sqlalchemy.types import TypeEngine

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


def _filled(**kinds: type[TypeEngine[Any]] | str) -> list[Column[Any]]:
    """Columns that hold a value in every row: of a type, or the number of a row of the table that is named."""
    return [Column(name, *_kind(kind), nullable=False) for name, kind in kinds.items()]


def _optional(**kinds: type[TypeEngine[Any]] | str) -> list[Column[Any]]:
    """Columns that may be empty, otherwise likewise."""
    return [Column(name, *_kind(kind)) for name, kind in kinds.items()]


def _kind(kind: type[TypeEngine[Any]] | str) -> tuple[Any, ...]:
    return (Integer, ForeignKey(f"{kind}.id")) if isinstance(kind, str) else (kind,)


server = Table(
    "server",
    metadata,
    Column("id", Integer, primary_key=True),
    *_filled(created_at=BigInteger, created_by=String),
)
"""One row: when this database was made, and by which version of the program."""

venues = Table(
    "venues",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False, unique=True),
    *_filled(fixed=Text, created_at=BigInteger),
)

owners = Table(
    "owners",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False, unique=True),
    Column("name_key", String, nullable=False, unique=True),
    *_filled(password=String, admin=Integer),
    Column("state", String, nullable=False, server_default="active"),
    Column("created_at", BigInteger, nullable=False),
)

bots = Table(
    "bots",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False, unique=True),
    Column("name_key", String, nullable=False, unique=True),
    *_filled(password=String, state=String),
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
    *_filled(digest=String, label=String, created_at=BigInteger),
    Column("revoked_at", BigInteger),
)

access = Table(
    "access",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", Integer, ForeignKey("owners.id"), nullable=False, index=True),
    Column("kind", String, nullable=False),
    Column("digest", String, nullable=False, unique=True),
    *_filled(label=String, scopes=String, address=String, created_at=BigInteger),
    *_optional(expires_at=BigInteger, revoked_at=BigInteger),
)
"""What lets a person in: sessions of the pages, tokens of the API. `digest` is the hexadecimal SHA-256 of its text."""

webhooks = Table(
    "webhooks",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", Integer, ForeignKey("owners.id"), nullable=False, index=True),
    Column("bot_id", Integer, ForeignKey("bots.id")),
    *_filled(url=Text, secret=String, events=String, created_at=BigInteger),
    Column("stopped_at", BigInteger),
    Column("why", Text, nullable=False, server_default=""),
)

connections = Table(
    "connections",
    metadata,
    Column("id", Integer, primary_key=True),
    *_filled(venue_id="venues", version_id="versions", address=String, client=String, opened_at=BigInteger),
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
    *_filled(venue_id="venues", number=Integer, at=BigInteger, policy=String, method=String),
    *_filled(options=Text, seed=String, inputs=Text, sits_out=Text, notes=Text),
    Column("total", BigInteger),
    UniqueConstraint("venue_id", "number"),
)

games = Table(
    "games",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("venue_id", Integer, ForeignKey("venues.id"), nullable=False),
    Column("round_id", Integer, ForeignKey("rounds.id")),
    *_filled(black_id="versions", white_id="versions", black_label=String, white_label=String),
    *_filled(terms=Text, start=Text, started_at=BigInteger),
    *_optional(ended_at=BigInteger, winner=Integer, reason=String, margin2=Integer),
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
    Index("ix_games_black_untold", "black_id", "ended_at", **_rows_with("black_told < 2")),
    Index("ix_games_white_untold", "white_id", "ended_at", **_rows_with("white_told < 2")),
)
"""`plies` is the number of moves, filled in with the verdict; None while the game is unfinished. `opening` is the name
of the one it began with, empty for none."""

pairings = Table(
    "pairings",
    metadata,
    Column("game_id", Integer, ForeignKey("games.id"), primary_key=True, autoincrement=False),
    Column("round_id", Integer, ForeignKey("rounds.id"), nullable=False, index=True),
    *_filled(high_id="versions", low_id="versions", reason=Text, colors=Text, detail=Text),
)

# Short rows in the order of their key: 20 bytes a move instead of 35 with a hidden row number and an index.
moves = Table(
    "moves",
    metadata,
    *_filled(game_id="games", ply=Integer, move=String, main_us=BigInteger, period_us=BigInteger),
    *_filled(quota=Integer, bank_us=BigInteger, used_us=BigInteger, at=BigInteger),
    PrimaryKeyConstraint("game_id", "ply"),
    sqlite_with_rowid=False,
)

# Rows of a kilobyte and more: SQLite keeps such rows better in an ordinary table beside its index.
analysis = Table(
    "analysis",
    metadata,
    *_filled(game_id="games", ply=Integer, text=Text),
    PrimaryKeyConstraint("game_id", "ply"),
)

ledger = Table(
    "ledger",
    metadata,
    *_filled(venue_id="venues", seq=Integer, at=BigInteger, kind=String),
    *_optional(game_id="games", version_id="versions", black_id="versions", white_id="versions", score2=Integer),
    *_optional(value=Float, sd=Float, other_id="versions", was2=Integer),
    Column("repeat", Integer, nullable=False, server_default=text("0")),
    Column("digest", BigInteger),
    PrimaryKeyConstraint("venue_id", "seq"),
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
    *_filled(venue_id=Integer, system=String, seq=Integer, version_id="versions"),
    *_filled(before_mean=Float, before_spread=Float, after_mean=Float, after_spread=Float, games=Integer),
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
    *_filled(venue_id="venues", system=String, version_id="versions", mean=Float, spread=Float),
    *_filled(games=Integer, provisional=Integer, anchor=Integer, seq=Integer),
    PrimaryKeyConstraint("venue_id", "system", "version_id"),
    sqlite_with_rowid=False,
)

setbacks = Table(
    "setbacks",
    metadata,
    *_filled(venue_id="venues", version_id="versions", spoilt=Integer, set_aside=Integer, reason=Text, at=BigInteger),
    PrimaryKeyConstraint("venue_id", "version_id"),
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
    *_filled(venue_id="venues", system=String, number=Integer, included=Integer),
    *_filled(base=Integer, applied=Integer, cold=Integer, notes=Text),
    Column("build", String, ForeignKey("builds.id"), nullable=False),
    *_filled(at=BigInteger, took_us=BigInteger),
    PrimaryKeyConstraint("venue_id", "system", "number"),
    # The latest one by an entry: both numbers grow together.
    Index(None, "venue_id", "system", "applied", "number"),
)

# Short rows in the order of one version's graph.
refit_points = Table(
    "refit_points",
    metadata,
    *_filled(venue_id=Integer, system=String, version_id="versions"),
    *_filled(number=Integer, applied=Integer, mean=Float, spread=Float),
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
    *_filled(venue_id="venues", system=String, seq=Integer, refit=Integer, at=BigInteger, state=LargeBinary),
    PrimaryKeyConstraint("venue_id", "system"),
)

rating_plugins = Table(
    "rating_plugins",
    metadata,
    *_filled(venue_id="venues", system=String, plugin=String, seq=Integer),
    PrimaryKeyConstraint("venue_id", "system", "plugin"),
)
"""See :class:`cgos_server.storage.writing.records.RatingPluginSeen`."""

corrections = Table(
    "corrections",
    metadata,
    Column("id", Integer, primary_key=True),
    *_filled(game_id="games", at=BigInteger),
    Column("seq", Integer),
    *_filled(actor=String, reason=String),
    Column("winner", Integer),
    Column("result", String, nullable=False),
    Index(None, "game_id", "id"),
)

audit = Table(
    "audit",
    metadata,
    Column("id", Integer, primary_key=True),
    *_filled(at=BigInteger, actor=String, action=String, subject=String, detail=Text),
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
    *_filled(holder=BigInteger, batch=BigInteger),
)
"""One row: the number of the last batch that was committed, and a number of the writer's that may commit the next one.
It tells whether a batch was committed when the connection broke before the answer."""
