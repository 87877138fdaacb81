"""A batch of records as PostgreSQL statements: few of them, because each one is a round trip.

The rows of one kind travel as one array a column (``unnest``). Kinds that touch different tables share a statement, as
parts of a WITH. The first statement of a batch also moves the batch's number on in the table `writer`, and every part
of it takes its rows together with that one row: where it is not as expected nothing at all is written. A batch of one
statement is a transaction of its own. Must not know: connections, when anything is written.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Column, Float, Integer, LargeBinary, String

from cgos_server.storage.parameters import without_nul
from cgos_server.storage.writing.effects import KINDS, Effect, How
from cgos_server.storage.writing.group_commit import Group

_TYPES: tuple[tuple[type, str], ...] = (
    (BigInteger, "int8"),
    (Integer, "int4"),
    (Float, "float8"),
    (String, "text"),
    (LargeBinary, "bytea"),
)

FENCE = "UPDATE writer SET batch = $1 WHERE id = 1 AND holder = $2 AND batch = $1 - 1 RETURNING id"
"""That of a process alone, whose row is the first."""

_OWNERS_FENCE = (
    "UPDATE writer SET batch = $1, seen = clock_timestamp() "
    "WHERE id = {group} AND holder = $2 AND batch = $1 - 1 RETURNING id"
)


class Step(NamedTuple):
    """One statement. The first one of a batch takes the batch's number and the holder's before `arguments`.

    It returns one row with the number 1; the first one of a batch 0 where it was not let in.
    """

    sql: str
    arguments: list[Any]


class Plan(NamedTuple):
    """What to do for one batch of so many records."""

    steps: list[Step]
    records: int


def plan(batch: Sequence[Group], fence: str = FENCE) -> Plan:
    """The statements for a batch; none where there is nothing to write. Raises TypeError where no table takes a record.

    :param fence: moves the batch's number on
    """
    kinds: dict[type, list[Sequence[Any]]] = defaultdict(list)
    for group in batch:
        for record in group.records:
            kinds[type(record)].append(record)
    if not KINDS.keys() >= kinds.keys():
        raise TypeError(f"no table takes {', '.join(k.__name__ for k in kinds.keys() - KINDS.keys())}")
    steps: list[Step] = []
    for kinds_together in _split(tuple(kind for kind in KINDS if kind in kinds)):
        sql = _statement(kinds_together, "" if steps else fence)
        steps.append(Step(sql, [array for kind in kinds_together for array in _arrays(KINDS[kind], kinds[kind])]))
    return Plan(steps, sum(map(len, kinds.values())))


@functools.cache
def _split(kinds: tuple[type, ...]) -> tuple[tuple[type, ...], ...]:
    """Runs of kinds that may share a statement: what one of them writes, no other one of them reads or writes."""
    runs: list[list[type]] = []
    touched: set[str] = set()
    for kind in kinds:
        effect = KINDS[kind]
        mine = {effect.table.name, *(("moves",) if effect.counts_moves else ())}
        if not runs or touched & mine:
            runs.append([])
            touched = set()
        runs[-1].append(kind)
        touched |= mine
    return tuple(map(tuple, runs))


@functools.cache
def owners_fence(group: int) -> str:
    """That of a node that owns the group with this row: it also says that it lives."""
    return _OWNERS_FENCE.format(group=group)


def sign_of_life(fence: str) -> Plan:
    """A batch without a record, by which a group's owner says that it lives."""
    return Plan([Step(_statement((), fence), [])], 0)


@functools.cache
def _statement(kinds: tuple[type, ...], fence: str) -> str:
    parts = [f"fence AS ({fence})"] if fence else []
    place = 3 if fence else 1
    for number, kind in enumerate(kinds):
        effect = KINDS[kind]
        parts.append(f"part{number} AS ({_part(effect, place, bool(fence))})")
        place += len(effect.columns)
    return f"WITH {', '.join(parts)} SELECT {'count(*)::int FROM fence' if fence else '1'}"


def _part(effect: Effect, place: int, fenced: bool) -> str:
    table = effect.table
    names = [f'"{name}"' for name in effect.columns]
    arrays = ", ".join(f"${place + at}::{_type(table.c[name])}[]" for at, name in enumerate(effect.columns))
    rows = f"{'fence, ' if fenced else ''}unnest({arrays}) AS u({', '.join(names)})"
    if effect.how is How.CHANGE:
        keys = [f'"{name}"' for name in effect.keys]
        values = [f"{name} = u.{name}" for name in names if name not in keys]
        if effect.counts_moves:
            values.append("plies = (SELECT count(*) FROM moves WHERE moves.game_id = games.id)")
        of_key = " AND ".join(f"{table.name}.{name} = u.{name}" for name in keys)
        return f"UPDATE {table.name} SET {', '.join(values)} FROM {rows} WHERE {of_key}"
    if effect.how is How.FORGET:
        its_key = " AND ".join(f"{table.name}.{name} = u.{name}" for name in names)
        return f"DELETE FROM {table.name} USING {rows} WHERE {its_key}"
    sql = f"INSERT INTO {table.name} ({', '.join(names)}) SELECT {', '.join(f'u.{name}' for name in names)} FROM {rows}"
    if effect.how is How.REPLACE:
        rest = ", ".join(f'"{name}" = excluded."{name}"' for name in effect.columns if name not in effect.keys)
        sql += f" ON CONFLICT ({', '.join(effect.keys)}) DO UPDATE SET {rest}"
    return sql


def _type(column: Column[Any]) -> str:
    return next(name for kind, name in _TYPES if isinstance(column.type, kind))


def _arrays(effect: Effect, rows: list[Sequence[Any]]) -> list[Any]:
    """One array a column. Of several changes to one row only the last one: a statement may touch a row once."""
    if effect.how is not How.ADD and len(rows) > 1:
        keys = [effect.columns.index(name) for name in effect.keys]
        rows = list({tuple(row[at] for at in keys): row for row in rows}.values())
    return [
        _cleaned(column) if _type(effect.table.c[name]) == "text" else column
        for name, column in zip(effect.columns, zip(*rows, strict=True), strict=True)
    ]


def _cleaned(values: Sequence[Any]) -> Sequence[Any]:
    """A peer that sends what PostgreSQL cannot hold stops nothing."""
    if any(isinstance(value, str) and "\0" in value for value in values):
        return [without_nul(value) for value in values]
    return values
