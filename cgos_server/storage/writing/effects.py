"""What each kind of record does to the tables: which table, which columns, and whether a row is added or changed.

The order of `KINDS` is the order in which the kinds of one batch are applied. It is the order of their foreign keys,
and of the only dependencies between kinds: a row is added before it is changed, a game has its moves before its
verdict, and its verdict before anybody was told of it. Records of one kind keep their order, so the later of two
changes to one row wins. `STATEMENTS` is SQLite's SQL for them, compiled once from SQLAlchemy Core; PostgreSQL's is in
`postgres.statements`. Must not know: threads, transactions, when anything is written.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Table, bindparam, delete, func, select, update
from sqlalchemy.dialects import sqlite

from cgos_server.storage import tables
from cgos_server.storage.writing import asking, erasing, records, refitting

_KEY = "key_"
"""Prefix of the parameter that finds the row to change: Core keeps the bare column names for the new values."""


class How(enum.Enum):
    """What a record does to its table."""

    ADD = "add"
    REPLACE = "replace"
    """Add, or take the place of the row with the same primary key."""
    CHANGE = "change"
    """Set the columns of the row with the record's key, which its last fields are: mostly `id`."""
    FORGET = "forget"
    """Remove the row that has what the record has: its primary key."""


class Effect(NamedTuple):
    """What one kind of record does.

    :ivar columns: the column for each field of the record, in the order of its fields
    :ivar counts_moves: it also sets the game's `plies` to the number of its moves
    """

    how: How
    table: Table
    columns: tuple[str, ...]
    counts_moves: bool = False

    @property
    def keys(self) -> list[str]:
        """The columns by which the row is known."""
        return [column.name for column in self.table.primary_key.columns]


def _adds(kind: type, table: Table, how: How = How.ADD) -> tuple[type, Effect]:
    return kind, Effect(how, table, _fields(kind))


def _changes(kind: type, table: Table, counts_moves: bool = False, **columns: str) -> tuple[type, Effect]:
    """`columns` renames fields."""
    return kind, Effect(How.CHANGE, table, tuple(columns.get(name, name) for name in _fields(kind)), counts_moves)


def _fields(kind: type) -> tuple[str, ...]:
    names: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    return names


KINDS: Mapping[type, Effect] = dict(
    [
        _adds(records.VenueAdded, tables.venues),
        _adds(records.OwnerAdded, tables.owners),
        _changes(records.OwnerChanged, tables.owners),
        _adds(records.BotAdded, tables.bots),
        _changes(records.BotPassword, tables.bots),
        _changes(records.BotState, tables.bots),
        _changes(records.BotOwner, tables.bots),
        _changes(records.BotWishes, tables.bots),
        _changes(records.BotFamily, tables.bots),
        _adds(records.VersionAdded, tables.versions),
        _changes(records.VersionDescribed, tables.versions),
        _adds(records.TokenAdded, tables.tokens),
        _changes(records.TokenRevoked, tables.tokens),
        _adds(records.AccessAdded, tables.access),
        _changes(records.AccessRevoked, tables.access),
        _adds(records.AccessForgotten, tables.access, How.FORGET),
        _adds(records.WebhookAdded, tables.webhooks),
        _changes(records.WebhookStopped, tables.webhooks),
        _adds(records.ConnectionOpened, tables.connections),
        _changes(records.ConnectionClosed, tables.connections),
        _changes(records.ConnectionAddress, tables.connections),
        _adds(records.ConnectionForgotten, tables.connections, How.FORGET),
        _adds(records.RoundAdded, tables.rounds),
        _changes(records.RoundInputs, tables.rounds),
        _adds(records.GameAdded, tables.games),
        _adds(records.PairingAdded, tables.pairings),
        _adds(records.MoveAdded, tables.moves),
        _adds(records.AnalysisAdded, tables.analysis),
        _adds(records.AnalysisForgotten, tables.analysis, How.FORGET),
        _changes(records.GameEnded, tables.games, counts_moves=True),
        _changes(records.BlackTold, tables.games, progress="black_told"),
        _changes(records.WhiteTold, tables.games, progress="white_told"),
        _adds(records.LedgerAdded, tables.ledger),
        _adds(records.RatingMoved, tables.rating_changes),
        _adds(records.RatingNow, tables.ratings, How.REPLACE),
        _adds(records.SuspensionNow, tables.suspensions, How.REPLACE),
        _adds(records.BuildSeen, tables.builds, How.REPLACE),
        _adds(refitting.RefitAdded, tables.refits),
        _adds(refitting.RefitMoved, tables.refit_points),
        _adds(refitting.RankMoved, tables.rank_points),
        _adds(refitting.RanksSummed, tables.rank_summaries),
        _adds(refitting.RefitMoveForgotten, tables.refit_points, How.FORGET),
        _adds(refitting.RankMoveForgotten, tables.rank_points, How.FORGET),
        _adds(refitting.RankSumForgotten, tables.rank_summaries, How.FORGET),
        _adds(records.StateSaved, tables.rating_states, How.REPLACE),
        _adds(records.RatingPluginSeen, tables.rating_plugins, How.REPLACE),
        _adds(records.CorrectionAdded, tables.corrections),
        _adds(records.EventAdded, tables.events),
        _changes(records.EventPhase, tables.events),
        _adds(records.EventLogged, tables.event_log),
        _adds(records.EventEntrant, tables.event_entrants),
        _adds(records.EventGame, tables.event_games),
        _adds(asking.QuestionAdded, tables.questions),
        _changes(asking.QuestionMoved, tables.questions),
        _adds(asking.QuestionVersion, tables.question_versions),
        _adds(asking.QuestionGame, tables.question_games),
        _changes(asking.QuestionGameEnded, tables.question_games),
        _adds(records.AuditAdded, tables.audit),
        _adds(records.AuditForgotten, tables.audit, How.FORGET),
        _changes(erasing.BotReworded, tables.bots),
        _changes(erasing.VersionReworded, tables.versions),
        _changes(erasing.TokenReworded, tables.tokens),
        _changes(erasing.AccessReworded, tables.access),
        _changes(erasing.WebhookReworded, tables.webhooks),
        _changes(erasing.ConnectionReworded, tables.connections),
        _changes(erasing.SuspensionReworded, tables.suspensions),
        _changes(erasing.RoundReworded, tables.rounds),
        _changes(erasing.PairingReworded, tables.pairings),
        _changes(erasing.GameReworded, tables.games),
        _changes(erasing.AnalysisReworded, tables.analysis),
        _changes(erasing.CorrectionReworded, tables.corrections),
        _changes(erasing.AuditReworded, tables.audit),
        _changes(erasing.EventReworded, tables.event_log),
        _changes(erasing.OwnerErased, tables.owners),
        _changes(erasing.BotErased, tables.bots),
        _changes(erasing.VersionErased, tables.versions),
        _adds(erasing.TokenForgotten, tables.tokens, How.FORGET),
        _adds(erasing.WebhookForgotten, tables.webhooks, How.FORGET),
    ]
)
"""Every kind of record, in the order in which a batch applies them."""


class Statement(NamedTuple):
    """One kind's SQL on SQLite with positional parameters in the order of the record's fields.

    :ivar text: for one record
    :ivar row: the parenthesis of one record's parameters where `text` can take many records, else empty
    """

    text: str
    row: str

    @functools.cache  # noqa: B019 - a few statements, a few sizes
    def many(self, count: int) -> str:
        """The SQL that takes `count` records at once; only where `row` is not empty. The same object each time."""
        return self.text.replace(self.row, ", ".join([self.row] * count), 1)


_plies: ColumnElement[int] = (
    select(func.count())
    .select_from(tables.moves)
    .where(tables.moves.c.game_id == tables.games.c.id)
    .correlate(tables.games)
    .scalar_subquery()
)


def _statement(effect: Effect) -> Statement:
    columns, table = effect.columns, effect.table
    if effect.how is How.CHANGE:
        keys = effect.keys
        values: dict[str, Any] = {name: bindparam(name) for name in columns if name not in keys}
        if effect.counts_moves:
            values["plies"] = _plies
        change = update(table).where(*(table.c[name] == bindparam(_KEY + name) for name in keys)).values(values)
        return Statement(_compiled(change, columns), row="")
    if effect.how is How.FORGET:
        its_key = (table.c[name] == bindparam(name) for name in columns)
        return Statement(_compiled(delete(table).where(*its_key), columns), row="")
    add = sqlite.insert(table).values({name: bindparam(name) for name in columns})
    if effect.how is How.REPLACE:
        rest = {name: add.excluded[name] for name in columns if name not in effect.keys}
        add = add.on_conflict_do_update(index_elements=list(table.primary_key.columns), set_=rest)
    return Statement(_compiled(add, columns), row=f"({', '.join('?' * len(columns))})")


def _compiled(statement: Any, columns: tuple[str, ...]) -> str:
    compiled = statement.compile(dialect=sqlite.dialect(paramstyle="qmark"))
    positions: list[str] = compiled.positiontup
    if tuple(name.removeprefix(_KEY) for name in positions) != columns:
        raise TypeError(f"a record has the fields {columns}, but its statement takes {positions}")
    return " ".join(str(compiled).split())


STATEMENTS: Mapping[type, Statement] = {kind: _statement(effect) for kind, effect in KINDS.items()}
"""Every kind of record, in the order in which a batch applies them."""
