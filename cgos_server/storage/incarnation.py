"""Gives a copy of a database a name of its own, and numbers that no other copy gives out.

The server numbers games, bots and so on; clients, feeds and webhooks remember these numbers. A restored backup does not
know which ones were given out after it was taken. It goes on above all that are known, and leaves out
:data:`LEFT_OUT` more. Its unfinished games get new numbers too, because they may have ended otherwise meanwhile.
Entries of ledgers and of events' logs have no gaps: the incarnation tells the same number in two copies apart.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from sqlalchemy import Table

from cgos_server.storage import tables
from cgos_server.storage.copy_ends import End, names

LEFT_OUT: Final = 1_000_000
"""Numbers of each kind."""

RESTORED: Final = "db restore"
"""The action in the audit by which a backup of an older schema tells its upgrade where numbers begin."""


def new_incarnation() -> str:
    """Return a random word, different for each copy of a database."""
    return secrets.token_hex(4)


async def highest_number(end: End, tables_there: Collection[str]) -> int:
    """Return the highest number of any kind that a database has given out or left out. Raises StoreError."""
    numbered = [table.name for table in tables.NUMBERED.values() if table.name in tables_there]
    rows = [row for name in numbered for row in await end.ask(f"SELECT coalesce(max(id), 0) FROM {name}")]
    # The last column is `numbers_above`, which older schemas do not have.
    rows += [tuple(row)[4:] for row in await end.ask("SELECT * FROM server")]
    return max((number for row in rows for number in row), default=0)


async def begin_incarnation(end: End, every: Sequence[Table], *, highest: int, renumber: bool) -> None:
    """Make another incarnation of a database that was just copied. Raises StoreError.

    :param every: its tables
    :param highest: the highest number that was given out elsewhere, as far as that is known
    :param renumber: also give unfinished games new numbers
    """
    by_name = {table.name: table for table in every}
    above = max(highest, await highest_number(end, by_name)) + LEFT_OUT
    if "incarnation" in by_name["server"].columns:
        await end.ask(f"UPDATE server SET incarnation = '{new_incarnation()}', numbers_above = {above}")
    else:
        ((last,),) = await end.ask("SELECT coalesce(max(id), 0) FROM audit")
        note = json.dumps({"numbers_above": above})
        row = (last + 1, int(time.time() * 1000), "cgos-server", RESTORED, "database", note)
        await end.write(by_name["audit"], [row])
    if renumber:
        await _renumber_unfinished_games(end, by_name, above)


async def _renumber_unfinished_games(end: End, by_name: Mapping[str, Table], above: int) -> None:
    ((first,),) = await end.ask("SELECT coalesce(min(id), 0) FROM games WHERE result IS NULL")
    if not first:
        return
    shift = above + 1 - first
    old = f"result IS NULL AND id <= {above}"
    if "event_games" in by_name:
        await _rename_in_event_logs(end, old, shift)
    values = ", ".join(name for name in names(by_name["games"]) if name != '"id"')
    await end.ask(f'INSERT INTO games ("id", {values}) SELECT id + {shift}, {values} FROM games WHERE {old}')
    for table in by_name.values():
        for key in table.foreign_keys:
            if key.column.table.name == "games":
                column = key.parent.name
                await end.ask(
                    f"UPDATE {table.name} SET {column} = {column} + {shift} "
                    f"WHERE {column} IN (SELECT id FROM games WHERE {old})"
                )
    await end.ask(f"DELETE FROM games WHERE {old}")


async def _rename_in_event_logs(end: End, old: str, shift: int) -> None:
    """Have the logs of events name the new numbers: `played_as` of the entry that says that a game began."""
    played = f"SELECT game_id, event_id FROM event_games WHERE game_id IN (SELECT id FROM games WHERE {old})"
    for game, event in await end.ask(played):
        body = "body"
        for after in ",}":
            body = f"replace({body}, '\"played_as\":{game}{after}', '\"played_as\":{game + shift}{after}')"
        await end.ask(f"UPDATE event_log SET body = {body} WHERE event_id = {event} AND kind = 'began'")
