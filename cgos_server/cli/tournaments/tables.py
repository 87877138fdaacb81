"""Tables and pictures of a tournament that files and events of the server share.

Must not know: where the tournament comes from.
"""

from __future__ import annotations

from pathlib import Path

from cgos_server.cli.files import write
from cgos_server.cli.output import print_table, say
from cgos_server.presentation.pictures.brackets import bracket_of
from cgos_server.presentation.pictures.crosstable_picture import crosstable_svg
from cgos_server.tournaments.base import Event, Standings
from cgos_server.tournaments.standings.crosstable import Crosstable


def print_standings(table: Standings, title: str) -> None:
    """Places, with everything that is compared; the remark goes to standard error."""
    rows = [(row.place, row.name, *(None if v is None else round(v, 2) for v in row.values)) for row in table.rows]
    print_table(("place", "name", *table.order), rows, title)
    if table.remark:
        say(table.remark)


def print_crosstable(table: Crosstable, title: str) -> None:
    """By rounds, or pair by pair where everybody has met everybody."""
    by_pair = table.everybody_met
    columns, text = (table.matrix_columns, table.matrix_text) if by_pair else (table.columns, table.text)
    print_table(columns, text, title)


def write_picture(event: Event, table: Crosstable, target: Path) -> None:
    """The bracket of a system that has one, else the crosstable. Raises Refused where it cannot be written."""
    write(target, (bracket_of(event) or crosstable_svg(table)).encode())
