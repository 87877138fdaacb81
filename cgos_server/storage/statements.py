"""What each kind of record does to the tables: one SQL statement a kind, compiled once from SQLAlchemy Core.

The order of `STATEMENTS` is the order in which the kinds of one batch are applied. It is the order of their foreign
keys, and of the only dependencies between kinds: a row is added before it is changed, a game has its moves before its
verdict, and its verdict before anybody was told of it. Records of one kind keep their order, so the later of two
changes to one row wins. Must not know: threads, transactions, when anything is written.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Table, bindparam, func, select, update
from sqlalchemy.dialects import sqlite
from sqlalchemy.sql.expression import ClauseElement

from cgos_server.storage import records, tables

_KEY = "key_"
"""Prefix of the parameter that finds the row to change: Core keeps the bare column names for the new values."""


class Statement(NamedTuple):
    """One kind's SQL with positional parameters in the order of the record's fields.

    :ivar text: for one record
    :ivar row: the parenthesis of one record's parameters where `text` can take many records, else empty
    """

    text: str
    row: str

    @functools.cache  # noqa: B019 - a few statements, a few sizes
    def many(self, count: int) -> str:
        """The SQL that takes `count` records at once; only where `row` is not empty. The same object each time."""
        return self.text.replace(self.row, ", ".join([self.row] * count), 1)


_Entry = tuple[type, Statement]


def _fields(kind: type) -> tuple[str, ...]:
    names: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    return names


def _compile(kind: type, statement: ClauseElement, row: str) -> _Entry:
    compiled = statement.compile(dialect=sqlite.dialect(paramstyle="qmark"))
    positions: list[str] = compiled.positiontup  # type: ignore[attr-defined]
    if tuple(name.removeprefix(_KEY) for name in positions) != _fields(kind):
        raise TypeError(f"{kind.__name__} has the fields {_fields(kind)}, but its statement takes {positions}")
    return kind, Statement(" ".join(str(compiled).split()), row)


def _adds(kind: type, table: Table, replaces: bool = False) -> _Entry:
    """An insert. With `replaces` it takes the place of an older row with the same key."""
    fields = _fields(kind)
    statement = sqlite.insert(table).values({name: bindparam(name) for name in fields})
    if replaces:
        keys = table.primary_key.columns
        rest = {name: statement.excluded[name] for name in fields if name not in keys}
        statement = statement.on_conflict_do_update(index_elements=list(keys), set_=rest)
    return _compile(kind, statement, row=f"({', '.join('?' * len(fields))})")


def _changes(kind: type, table: Table, also: Mapping[str, Any] | None = None, **columns: str) -> _Entry:
    """An update of the row with the record's `id`. `also` sets further columns; `columns` renames fields."""
    values: dict[str, Any] = {columns.get(name, name): bindparam(name) for name in _fields(kind) if name != "id"}
    statement = update(table).where(table.c.id == bindparam(_KEY + "id")).values(values | dict(also or {}))
    return _compile(kind, statement, row="")


_plies: ColumnElement[int] = (
    select(func.count())
    .select_from(tables.moves)
    .where(tables.moves.c.game_id == tables.games.c.id)
    .correlate(tables.games)
    .scalar_subquery()
)

STATEMENTS: Mapping[type, Statement] = dict(
    [
        _adds(records.VenueAdded, tables.venues),
        _adds(records.OwnerAdded, tables.owners),
        _changes(records.OwnerChanged, tables.owners),
        _adds(records.BotAdded, tables.bots),
        _changes(records.BotPassword, tables.bots),
        _changes(records.BotState, tables.bots),
        _adds(records.VersionAdded, tables.versions),
        _changes(records.VersionDescribed, tables.versions),
        _adds(records.TokenAdded, tables.tokens),
        _changes(records.TokenRevoked, tables.tokens),
        _adds(records.ConnectionOpened, tables.connections),
        _changes(records.ConnectionClosed, tables.connections),
        _adds(records.RoundAdded, tables.rounds),
        _adds(records.GameAdded, tables.games),
        _adds(records.PairingAdded, tables.pairings),
        _adds(records.MoveAdded, tables.moves),
        _adds(records.AnalysisAdded, tables.analysis),
        _changes(records.GameEnded, tables.games, {"plies": _plies}),
        _changes(records.BlackTold, tables.games, told="black_told"),
        _changes(records.WhiteTold, tables.games, told="white_told"),
        _adds(records.LedgerAdded, tables.ledger),
        _adds(records.RatingMoved, tables.rating_changes),
        _adds(records.RatingNow, tables.ratings, replaces=True),
        _adds(records.AuditAdded, tables.audit),
    ]
)
"""Every kind of record, in the order in which a batch applies them."""
