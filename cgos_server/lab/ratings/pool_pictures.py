"""Pictures of a pool that :class:`~cgos_server.core.rating.BradleyTerry` rates: ratings with their intervals, and who
is stronger than whom.

>>> from cgos_server.core.rating import BradleyTerry
>>> pool = BradleyTerry()
>>> pool.beat("Alder", "Birch", games=3)
>>> [picture.title for picture in pictures(pool)]
['Ratings with 95 % intervals', 'Probability that the row is stronger than the column']

Must not know: where results come from, how strengths are estimated, how a picture is drawn.
"""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Final

from cgos_server.core.rating import BradleyTerry
from cgos_server.core.rating.library.findings import remark_on_groups
from cgos_server.lab.drawing import draw, require_drawable
from cgos_server.lab.report import Chart, Heat, Line, Picture, Report

MOST_RATINGS: Final = 40
MOST_COMPARED: Final = 20
"""Of the strongest: of more nothing could be read."""


def plot(pool: BradleyTerry, path: Path) -> None:
    """Draw the pictures of a pool into a file (.svg or .png); it needs matplotlib, which the extra ``[lab]`` brings.

    :raises Refused: where the file has another ending or no folder, matplotlib is not installed, or the pool is empty
    """
    require_drawable(path)
    draw(Report(tables=(), pictures=pictures(pool)), path)


def pictures(pool: BradleyTerry) -> tuple[Picture, ...]:
    """Of the strongest names: ratings with their intervals, and, where there are two, a map of superiority."""
    standings = list(pool.standings().items())
    if not standings:
        return ()
    rated, names = standings[:MOST_RATINGS], [name for name, _ in standings[:MOST_COMPARED]]
    ratings = Chart(
        key="ratings",
        title="Ratings with 95 % intervals" + _of_more(len(rated), len(standings)),
        x_label=remark_on_groups(pool.groups()),
        y_label="Elo",
        lines=(
            Line(
                name="rating",
                x=tuple(map(float, range(len(rated)))),
                y=tuple(rating.mean for _, rating in rated),
                low=tuple(rating.lower for _, rating in rated),
                high=tuple(rating.upper for _, rating in rated),
                points=True,
            ),
        ),
        names=tuple(_label(name) for name, _ in rated),
    )
    if len(names) < 2:
        return (ratings,)
    superior = pool.superiority_matrix(names).tolist()
    for at, row in enumerate(superior):
        row[at] = None
    compared = Heat(
        key="superiority",
        title="Probability that the row is stronger than the column" + _of_more(len(names), len(standings)),
        rows=tuple(f"{place} {_label(name)}" for place, name in enumerate(names, 1)),
        columns=tuple(str(place) for place in range(1, len(names) + 1)),
        values=tuple(map(tuple, superior)),
        label="probability",
        digits=2,
    )
    return ratings, compared


def _label(name: Hashable) -> str:
    """Dollars would begin a formula."""
    return str(name).replace("$", r"\$")


def _of_more(shown: int, everybody: int) -> str:
    return f", the first {shown} of {everybody}" if shown < everybody else ""
