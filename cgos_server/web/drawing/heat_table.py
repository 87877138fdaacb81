"""A crosstable as the rows of an HTML table whose cells are colored by how far a score was from what was expected.

Written in Python and not as a template, since a table of fifty has 2 500 cells. Pure; colors are classes that the
style sheet fills. Must not know: where records come from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple
from urllib.parse import quote

from markupsafe import Markup, escape

from cgos_server.presentation.words import shade

_CAUTION: Final = 10
"""So many games as expected are added before a score is colored, so that a single game shouts nothing: our choice."""

_STEPS: Final = (0.03, 0.09, 0.17, 0.27, 0.39)
"""From which distance on, in points a game, a cell takes each of the five shades of a side: our choice."""


class Cell(NamedTuple):
    """What the version of a row had of the one of a column.

    :ivar expected: a game, 0..1
    """

    points: float
    games: int
    expected: float


def heat(cell: Cell) -> str:
    """The class of a color: ``m5`` (far below what was expected) over ``m0`` to ``q5`` (far above)."""
    off = (cell.points - cell.games * cell.expected) / (cell.games + _CAUTION)
    step = sum(abs(off) >= limit for limit in _STEPS)
    return shade(step if off > 0 else -step)


def heat_rows(
    names: Sequence[str], cells: Mapping[tuple[str, str], Cell], address: str, bots: Mapping[str, str]
) -> Markup:
    """The table's rows in the order of `names`.

    :param address: of the page of two, to which their names are added
    :param bots: version -> address of its page
    """
    safe = {name: str(escape(name)) for name in names}
    coded = {name: quote(name, safe="") for name in names}
    written: list[str] = []
    for place, row in enumerate(names, 1):
        written.append(
            f'<tr><th scope="row"><span class="soft">{place}</span> <a href="{escape(bots[row])}">{safe[row]}</a></th>'
        )
        for column in names:
            cell = cells.get((row, column))
            if row == column:
                written.append('<td class="self"></td>')
            elif cell is None or not cell.games:
                written.append("<td></td>")
            else:
                written.append(
                    f'<td class="{heat(cell)}"><a href="{escape(address)}?a={coded[row]}&amp;b={coded[column]}" title="'
                    f"{safe[row]} scored {cell.points:g} of {cell.games} against {safe[column]}; "
                    f'{cell.games * cell.expected:.1f} expected">{100 * cell.points / cell.games:.0f}'
                    f"<small>{cell.games}</small></a></td>"
                )
        written.append("</tr>\n")
    return Markup("".join(written))
