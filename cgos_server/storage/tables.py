"""The database's tables as SQLAlchemy Core metadata: columns carry the names of the records' fields.

The migrations make the same schema; a test holds the two together. A new column stands last in its table, as a
migration can only add it there. Times are Unix milliseconds (``*_at``, ``at``) or microseconds of a clock (``*_us``).
Must not know: who writes, who reads, how it is opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import sqlalchemy as sa

metadata = sa.MetaData(
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
    return {"sqlite_where": sa.text(condition), "postgresql_where": sa.text(condition)}


def _filled(**kinds: type[sa.types.TypeEngine[Any]] | str) -> list[sa.Column[Any]]:
    """Columns that hold a value in every row: of a type, or the number of a row of the table that is named."""
    return [sa.Column(name, *_kind(kind), nullable=False) for name, kind in kinds.items()]


def _optional(**kinds: type[sa.types.TypeEngine[Any]] | str) -> list[sa.Column[Any]]:
    """Columns that may be empty, otherwise likewise."""
    return [sa.Column(name, *_kind(kind)) for name, kind in kinds.items()]


def _kind(kind: type[sa.types.TypeEngine[Any]] | str) -> tuple[Any, ...]:
    return (sa.Integer, sa.ForeignKey(f"{kind}.id")) if isinstance(kind, str) else (kind,)


server = sa.Table(
    "server",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    *_filled(created_at=sa.BigInteger, created_by=sa.String),
    sa.Column("incarnation", sa.String, nullable=False, server_default=""),
    sa.Column("numbers_above", sa.Integer, nullable=False, server_default=sa.text("0")),
)
"""One row: when this database was made, and by which version of the program. See :mod:`.incarnation` for the rest."""

venues = sa.Table(
    "venues",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String, nullable=False, unique=True),
    *_filled(fixed=sa.Text, created_at=sa.BigInteger),
)

owners = sa.Table(
    "owners",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String, nullable=False, unique=True),
    sa.Column("name_key", sa.String, nullable=False, unique=True),
    *_filled(password=sa.String, admin=sa.Integer),
    sa.Column("state", sa.String, nullable=False, server_default="active"),
    sa.Column("created_at", sa.BigInteger, nullable=False),
)

bots = sa.Table(
    "bots",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String, nullable=False, unique=True),
    sa.Column("name_key", sa.String, nullable=False, unique=True),
    *_filled(password=sa.String, state=sa.String),
    sa.Column("reason", sa.String, nullable=False, server_default=""),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    # Deferrable, because a copy may bring a bot before the one that leads its family.
    sa.Column("family_id", sa.Integer, sa.ForeignKey("bots.id", deferrable=True)),
    sa.Column("owner_id", sa.Integer, sa.ForeignKey("owners.id"), index=True),
    sa.Column("until", sa.BigInteger),
    sa.Column("paused", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.Column("limits", sa.Text, nullable=False, server_default=""),
)
"""`until`: when a disabled one may play again, None for never. `limits`: JSON of what its owner allows, or empty."""

versions = sa.Table(
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

tokens = sa.Table(
    "tokens",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("bot_id", sa.Integer, sa.ForeignKey("bots.id"), nullable=False, index=True),
    *_filled(digest=sa.String, label=sa.String, created_at=sa.BigInteger),
    sa.Column("revoked_at", sa.BigInteger),
)

access = sa.Table(
    "access",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("owner_id", sa.Integer, sa.ForeignKey("owners.id"), nullable=False, index=True),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("digest", sa.String, nullable=False, unique=True),
    *_filled(label=sa.String, scopes=sa.String, address=sa.String, created_at=sa.BigInteger),
    *_optional(expires_at=sa.BigInteger, revoked_at=sa.BigInteger),
)
"""What lets a person in: sessions of the pages, tokens of the API. `digest` is the hexadecimal SHA-256 of its text."""

webhooks = sa.Table(
    "webhooks",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("owner_id", sa.Integer, sa.ForeignKey("owners.id"), nullable=False, index=True),
    sa.Column("bot_id", sa.Integer, sa.ForeignKey("bots.id")),
    *_filled(url=sa.Text, secret=sa.String, events=sa.String, created_at=sa.BigInteger),
    sa.Column("stopped_at", sa.BigInteger),
    sa.Column("why", sa.Text, nullable=False, server_default=""),
)

connections = sa.Table(
    "connections",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    *_filled(venue_id="venues", version_id="versions", address=sa.String, client=sa.String, opened_at=sa.BigInteger),
    sa.Column("closed_at", sa.BigInteger),
    sa.Column("reason", sa.String, nullable=False, server_default=""),
    sa.Index(None, "version_id", "id"),
    sa.Index(None, "venue_id", "id"),
    sa.Index(None, "address", "id"),
    sa.Index("ix_connections_open", "id", **_rows_with("closed_at IS NULL")),
)

rounds = sa.Table(
    "rounds",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    *_filled(venue_id="venues", number=sa.Integer, at=sa.BigInteger, policy=sa.String, method=sa.String),
    *_filled(options=sa.Text, seed=sa.String, inputs=sa.Text, sits_out=sa.Text, notes=sa.Text),
    sa.Column("total", sa.BigInteger),
    sa.UniqueConstraint("venue_id", "number"),
)

games = sa.Table(
    "games",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("venue_id", sa.Integer, sa.ForeignKey("venues.id"), nullable=False),
    sa.Column("round_id", sa.Integer, sa.ForeignKey("rounds.id")),
    *_filled(black_id="versions", white_id="versions", black_label=sa.String, white_label=sa.String),
    *_filled(terms=sa.Text, start=sa.Text, started_at=sa.BigInteger),
    *_optional(ended_at=sa.BigInteger, winner=sa.Integer, reason=sa.String, margin2=sa.Integer),
    sa.Column("detail", sa.String, nullable=False, server_default=""),
    sa.Column("result", sa.String),
    sa.Column("black_told", sa.Integer, nullable=False, server_default=sa.text("2")),
    sa.Column("white_told", sa.Integer, nullable=False, server_default=sa.text("2")),
    sa.Column("plies", sa.Integer),
    sa.Column("opening", sa.Text, nullable=False, server_default=""),
    # All that games are looked for by, behind what finds them in their order, so that those that are not wanted need
    # not be read.
    sa.Index("ix_games_venue", "venue_id", "id", "reason", "winner", "plies", "started_at"),
    sa.Index("ix_games_black", "black_id", "id", "venue_id", "white_id", "reason", "winner", "plies", "started_at"),
    sa.Index("ix_games_white", "white_id", "id", "venue_id", "black_id", "reason", "winner", "plies", "started_at"),
    # How many games of a version began since then, in the index alone.
    sa.Index("ix_games_black_started", "black_id", "started_at", "venue_id"),
    sa.Index("ix_games_white_started", "white_id", "started_at", "venue_id"),
    # As above, of one verdict, and all that is counted over many games.
    sa.Index(
        "ix_games_verdict", *("venue_id", "reason", "winner", "id", "plies", "started_at", "black_id", "white_id")
    ),
    # Who has played which opening with which colors, in the index alone.
    sa.Index(
        "ix_games_opening",
        *("venue_id", "black_id", "white_id", "opening", "reason", "started_at"),
        **_rows_with("opening <> ''"),
    ),
    sa.Index("ix_games_unfinished", "id", **_rows_with("result IS NULL")),
    sa.Index("ix_games_black_untold", "black_id", "ended_at", **_rows_with("black_told < 2")),
    sa.Index("ix_games_white_untold", "white_id", "ended_at", **_rows_with("white_told < 2")),
)
"""`plies` is the number of moves, filled in with the verdict; None while the game is unfinished. `opening` is the name
of the one it began with, empty for none."""

pairings = sa.Table(
    "pairings",
    metadata,
    sa.Column("game_id", sa.Integer, sa.ForeignKey("games.id"), primary_key=True, autoincrement=False),
    sa.Column("round_id", sa.Integer, sa.ForeignKey("rounds.id"), nullable=False, index=True),
    *_filled(high_id="versions", low_id="versions", reason=sa.Text, colors=sa.Text, detail=sa.Text),
)

# Short rows in the order of their key: 20 bytes a move instead of 35 with a hidden row number and an index.
moves = sa.Table(
    "moves",
    metadata,
    *_filled(game_id="games", ply=sa.Integer, move=sa.String, main_us=sa.BigInteger, period_us=sa.BigInteger),
    *_filled(quota=sa.Integer, bank_us=sa.BigInteger, used_us=sa.BigInteger, at=sa.BigInteger),
    sa.PrimaryKeyConstraint("game_id", "ply"),
    sqlite_with_rowid=False,
)

# Rows of a kilobyte and more: SQLite keeps such rows better in an ordinary table beside its index.
analysis = sa.Table(
    "analysis",
    metadata,
    *_filled(game_id="games", ply=sa.Integer, text=sa.Text),
    sa.PrimaryKeyConstraint("game_id", "ply"),
)

ledger = sa.Table(
    "ledger",
    metadata,
    *_filled(venue_id="venues", seq=sa.Integer, at=sa.BigInteger, kind=sa.String),
    *_optional(game_id="games", version_id="versions", black_id="versions", white_id="versions", score2=sa.Integer),
    *_optional(value=sa.Float, sd=sa.Float, other_id="versions", was2=sa.Integer),
    sa.Column("repeat", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.Column("digest", sa.BigInteger),
    sa.Column("surely", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.PrimaryKeyConstraint("venue_id", "seq"),
    # No game is rated twice.
    sa.Index("ix_ledger_game", "game_id", unique=True, **_rows_with("kind = 'game'")),
    sa.Index("ix_ledger_correction", "game_id", "seq", **_rows_with("kind = 'correction'")),
    # All that is said of a version besides its games: a few entries each.
    sa.Index("ix_ledger_version", "version_id", "venue_id", "seq", **_rows_with("version_id IS NOT NULL")),
    # The same game played again.
    sa.Index("ix_ledger_digest", "black_id", "white_id", "digest", **_rows_with("digest IS NOT NULL")),
    sqlite_with_rowid=False,
)

rating_changes = sa.Table(
    "rating_changes",
    metadata,
    *_filled(venue_id=sa.Integer, system=sa.String, seq=sa.Integer, version_id="versions"),
    *_filled(before_mean=sa.Float, before_spread=sa.Float),
    *_filled(after_mean=sa.Float, after_spread=sa.Float, games=sa.Integer),
    *_optional(before_lower=sa.Float, before_upper=sa.Float, after_lower=sa.Float, after_upper=sa.Float),
    # By entry first: rows are appended in this order, and one game's changes lie together.
    sa.PrimaryKeyConstraint("venue_id", "seq", "system", "version_id"),
    sa.ForeignKeyConstraint(["venue_id", "seq"], ["ledger.venue_id", "ledger.seq"]),
    # The graph of a version's rating, in the index alone.
    sa.Index("ix_rating_changes_version", "version_id", "venue_id", "seq", "system", "after_mean"),
    sqlite_with_rowid=False,
)

ratings = sa.Table(
    "ratings",
    metadata,
    *_filled(venue_id="venues", system=sa.String, version_id="versions", mean=sa.Float, spread=sa.Float),
    *_filled(games=sa.Integer, provisional=sa.Integer, anchor=sa.Integer, seq=sa.Integer),
    *_optional(lower=sa.Float, upper=sa.Float),
    sa.PrimaryKeyConstraint("venue_id", "system", "version_id"),
    sqlite_with_rowid=False,
)
"""`lower` and `upper` are the ends of the 95 % interval, here and in the tables of changes: empty where the system has
none, and in rows of before there were such columns."""

suspensions = sa.Table(
    "suspensions",
    metadata,
    *_filled(venue_id="venues", version_id="versions", spoilt=sa.Integer, suspended=sa.Integer),
    *_filled(reason=sa.Text, at=sa.BigInteger),
    sa.PrimaryKeyConstraint("venue_id", "version_id"),
    sqlite_with_rowid=False,
)

builds = sa.Table(
    "builds",
    metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("text", sa.Text, nullable=False),
)
"""What computed ratings: see :class:`cgos_server.storage.writing.records.BuildSeen`."""

refits = sa.Table(
    "refits",
    metadata,
    *_filled(venue_id="venues", system=sa.String, number=sa.Integer, included=sa.Integer),
    *_filled(base=sa.Integer, applied=sa.Integer, cold=sa.Integer, notes=sa.Text),
    sa.Column("build", sa.String, sa.ForeignKey("builds.id"), nullable=False),
    *_filled(at=sa.BigInteger, took_us=sa.BigInteger),
    sa.PrimaryKeyConstraint("venue_id", "system", "number"),
    # The latest one by an entry: both numbers grow together.
    sa.Index(None, "venue_id", "system", "applied", "number"),
)

# Short rows in the order of one version's graph.
refit_points = sa.Table(
    "refit_points",
    metadata,
    *_filled(venue_id=sa.Integer, system=sa.String, version_id="versions"),
    *_filled(number=sa.Integer, applied=sa.Integer, mean=sa.Float, spread=sa.Float),
    *_optional(lower=sa.Float, upper=sa.Float),
    sa.PrimaryKeyConstraint("venue_id", "system", "version_id", "number"),
    sa.ForeignKeyConstraint(["venue_id", "system", "number"], ["refits.venue_id", "refits.system", "refits.number"]),
    # All that one refit moved.
    sa.Index(None, "venue_id", "system", "number"),
    sqlite_with_rowid=False,
)

# Short rows in the order of one version's history.
rank_points = sa.Table(
    "rank_points",
    metadata,
    *_filled(venue_id=sa.Integer, system=sa.String, version_id="versions", number=sa.Integer),
    *_optional(rank_lower=sa.Integer, rank_upper=sa.Integer, best=sa.Float, first_three=sa.Float),
    sa.PrimaryKeyConstraint("venue_id", "system", "version_id", "number"),
    sa.ForeignKeyConstraint(["venue_id", "system", "number"], ["refits.venue_id", "refits.system", "refits.number"]),
    # All that one refit changed.
    sa.Index(None, "venue_id", "system", "number"),
    sqlite_with_rowid=False,
)

rank_summaries = sa.Table(
    "rank_summaries",
    metadata,
    *_filled(venue_id=sa.Integer, system=sa.String, number=sa.Integer, leader_id="versions"),
    *_filled(versions=sa.Integer, apart=sa.Integer),
    *_optional(turned=sa.Integer),
    sa.Column("groups", sa.Text, nullable=False),
    sa.PrimaryKeyConstraint("venue_id", "system", "number"),
    sa.ForeignKeyConstraint(["venue_id", "system", "number"], ["refits.venue_id", "refits.system", "refits.number"]),
    sqlite_with_rowid=False,
)

# Up to megabytes in a row: SQLite keeps such rows better in an ordinary table beside its index.
rating_states = sa.Table(
    "rating_states",
    metadata,
    *_filled(venue_id="venues", system=sa.String, seq=sa.Integer, refit=sa.Integer),
    *_filled(at=sa.BigInteger, state=sa.LargeBinary),
    sa.PrimaryKeyConstraint("venue_id", "system"),
)

rating_plugins = sa.Table(
    "rating_plugins",
    metadata,
    *_filled(venue_id="venues", system=sa.String, plugin=sa.String, seq=sa.Integer),
    sa.PrimaryKeyConstraint("venue_id", "system", "plugin"),
)
"""See :class:`cgos_server.storage.writing.records.RatingPluginSeen`."""

corrections = sa.Table(
    "corrections",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    *_filled(game_id="games", at=sa.BigInteger),
    sa.Column("seq", sa.Integer),
    *_filled(actor=sa.String, reason=sa.String),
    sa.Column("winner", sa.Integer),
    sa.Column("result", sa.String, nullable=False),
    sa.Index(None, "game_id", "id"),
)

audit = sa.Table(
    "audit",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    *_filled(at=sa.BigInteger, actor=sa.String, action=sa.String, subject=sa.String, detail=sa.Text),
    sa.Index(None, "actor", "id"),
    sa.Index(None, "action", "id"),
    sa.Index(None, "subject", "id"),
)

events = sa.Table(
    "events",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String, nullable=False, unique=True),
    *_filled(venue_id="venues", created_at=sa.BigInteger, phase=sa.String),
)
"""Tournaments that the server holds. `phase` says which of them are over without reading their logs."""

event_log = sa.Table(
    "event_log",
    metadata,
    *_filled(event_id="events", seq=sa.Integer, at=sa.BigInteger, actor=sa.String, kind=sa.String, body=sa.Text),
    sa.PrimaryKeyConstraint("event_id", "seq"),
)
"""All that an event is follows from its log: see :mod:`cgos_server.tournaments.running.log`. `body` is JSON."""

event_games = sa.Table(
    "event_games",
    metadata,
    sa.Column("game_id", sa.Integer, sa.ForeignKey("games.id"), primary_key=True, autoincrement=False),
    *_filled(event_id="events", round=sa.Integer, number=sa.Integer),
    sa.Index(None, "event_id", "number"),
)
"""Games that were played in an event: in which round, and under which number of the event."""

event_entrants = sa.Table(
    "event_entrants",
    metadata,
    *_filled(event_id="events", entrant=sa.Integer, version_id="versions", bot_id="bots"),
    sa.PrimaryKeyConstraint("event_id", "entrant"),
    sa.Index(None, "bot_id", "event_id"),
    sa.Index(None, "version_id", "event_id"),
)
"""Who ever entered an event: by whom its events are found."""

questions = sa.Table(
    "questions",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    *_filled(venue_id="venues"),
    sa.Column("owner_id", sa.Integer, sa.ForeignKey("owners.id"), index=True),
    *_filled(kind=sa.String, asked=sa.Text, asked_at=sa.BigInteger, priority=sa.Integer, state=sa.String),
    sa.Column("ended_at", sa.BigInteger),
    *_filled(why=sa.Text, answer=sa.Text),
    sa.Index("ix_questions_open", "id", **_rows_with("ended_at IS NULL")),
    sa.Index(None, "venue_id", "id"),
)
"""What owners ask by games: see :mod:`cgos_server.core.questions.asked`, of which `asked` is JSON. `owner_id` is empty
where an operator asks. `answer`: JSON of what was known at the end, in a gauntlet after each game; else empty."""

question_versions = sa.Table(
    "question_versions",
    metadata,
    *_filled(question_id="questions", version_id="versions"),
    sa.PrimaryKeyConstraint("question_id", "version_id"),
    sa.Index(None, "version_id", "question_id"),
)
"""By whom questions are found."""

question_games = sa.Table(
    "question_games",
    metadata,
    sa.Column("game_id", sa.Integer, sa.ForeignKey("games.id"), primary_key=True, autoincrement=False),
    *_filled(question_id="questions", pair=sa.Integer, opening=sa.String),
    sa.Column("digest", sa.BigInteger),
    sa.Index(None, "question_id", "pair"),
)
"""Games that were played for a question: in which pair, from which opening of the venue (empty: none). `digest` tells
the same game played again; it is filled in with the result."""

NUMBERED: Final[Mapping[str, sa.Table]] = MappingProxyType(
    {
        "owner": owners,
        "bot": bots,
        "version": versions,
        "token": tokens,
        "connection": connections,
        "round": rounds,
        "game": games,
        "access": access,
        "webhook": webhooks,
        "event": events,
        "question": questions,
    }
)
"""Whose numbers the server gives out itself, by what they are called in :class:`.reading.stored.NextIds`."""

postgres_metadata = sa.MetaData(naming_convention=metadata.naming_convention)
"""What a PostgreSQL database has besides."""

writer = sa.Table(
    "writer",
    postgres_metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    *_filled(holder=sa.BigInteger, batch=sa.BigInteger),
    *_filled(name=sa.String),
    sa.Column("seen", sa.DateTime(timezone=True)),
    *_optional(node=sa.String, address=sa.String, build=sa.String, control=sa.String),
    sa.UniqueConstraint("name"),
)
"""One row a group of venues, `main` for all of them: the number of the last batch that was committed, and a number of
the writer's that may commit the next one. It tells whether a batch was committed when the connection broke before the
answer. The rest is empty but where a node of a cluster owns the group: which node, where, of which build (its id),
where it takes commands, and when it last wrote by PostgreSQL's own clock; `seen` is empty again where it has let go of
it."""

number_blocks = sa.Table(
    "number_blocks",
    postgres_metadata,
    *_filled(kind=sa.String, first=sa.Integer, last=sa.Integer),
    sa.Column("group_id", sa.Integer, sa.ForeignKey(writer.c.id), nullable=False),
    sa.PrimaryKeyConstraint("kind", "first"),
)
"""Numbers that were given to a group for its games, connections and so on, both ends inclusive. Those of before the
first block of a kind were one process's, which was alone."""

group_venues = sa.Table(
    "group_venues",
    postgres_metadata,
    sa.Column("venue_id", sa.Integer, sa.ForeignKey(venues.c.id), primary_key=True, autoincrement=False),
    sa.Column("group_id", sa.Integer, sa.ForeignKey(writer.c.id), nullable=False),
)
"""Which group had a venue last; none where one process has always been alone."""

families_to_apply = sa.Table(
    "families_to_apply",
    postgres_metadata,
    sa.Column("group_id", sa.Integer, sa.ForeignKey(writer.c.id), nullable=False),
    sa.Column("bot_id", sa.Integer, sa.ForeignKey(bots.c.id), nullable=False),
    sa.Column("was", sa.Integer),
    sa.PrimaryKeyConstraint("group_id", "bot_id"),
)
"""Bots whose family has changed, and the ledgers of the group's venues do not say so yet; `was`: the bot that led the
family in which they have it, empty for its own."""

nodes = sa.Table(
    "nodes",
    postgres_metadata,
    sa.Column("name", sa.String, primary_key=True),
    *_filled(control=sa.String),
    sa.Column("overtaken_at", sa.DateTime(timezone=True)),
)
"""Every node that ever had a group: where it takes commands (empty for nowhere), and since when another one has its
group."""

webhook_outcomes = sa.Table(
    "webhook_outcomes",
    postgres_metadata,
    sa.Column("webhook_id", sa.Integer, primary_key=True, autoincrement=False),
    *_filled(outcome=sa.Text),
)
"""What became of the messages of each webhook (JSON), as the web node that sends them says."""

webhook_notes = sa.Table(
    "webhook_notes",
    postgres_metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    *_filled(since=sa.BigInteger, until=sa.BigInteger),
)
"""One row: when those outcomes begin, and until when everything was told or stands in a line."""
