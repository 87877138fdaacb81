"""The read side's answers about how much room the tables take.

Reads the whole database: for operators, not for pages. Must not know: what is kept how long, how an answer is shown.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from sqlalchemy import column, func, select, table

from cgos_protocol.errors import StoreError
from cgos_server.storage import tables
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.reading.source import Subject


class TableSize(NamedTuple):
    """A table with its indexes. `bytes`: None where this SQLite was built without what tells (``dbstat``)."""

    table: str
    rows: int
    bytes: int | None


_stat = table("dbstat", column("name"), column("pgsize"))
_master = table("sqlite_master", column("name"), column("tbl_name"))
_PAGES: Final = (
    select(_master.c.tbl_name.label("name"), func.sum(_stat.c.pgsize).label("bytes"))
    .join_from(_stat, _master, _master.c.name == _stat.c.name)
    .group_by(_master.c.tbl_name)
)


class Sizes(Subject):
    """Room."""

    async def tables(self) -> list[TableSize]:
        """Every table, the largest first."""
        sized = await self._bytes()
        sizes = []
        for each in tables.metadata.sorted_tables:
            (row,) = await self._source.rows(select(func.count().label("rows")).select_from(each))
            sizes.append(TableSize(str(each.name), row["rows"], sized.get(each.name)))
        return sorted(sizes, key=lambda size: -(size.bytes or 0))

    async def _bytes(self) -> dict[str, int]:
        """Name of a table -> bytes, its indexes included; empty where nobody can say."""
        if isinstance(self._source.location, PostgresUrl):
            names = [each.name for each in tables.metadata.sorted_tables]
            (row,) = await self._source.rows(select(*(func.pg_total_relation_size(n).label(n) for n in names)))
            return dict(row)
        try:
            return {row["name"]: row["bytes"] for row in await self._source.rows(_PAGES)}
        except StoreError as error:
            if "no such table: dbstat" not in str(error):
                raise
            return {}
