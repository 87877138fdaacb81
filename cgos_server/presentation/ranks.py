"""How sure ranks are, in words: for a version, and for standings as a whole.

Plain functions of their arguments. Must not know: the database, HTTP, how ranks are computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from cgos_protocol.api.messages import RankSummary, Standing
from cgos_server.core.rating.ranks import MOST_TURNED

GROUPS_NAMED: Final = 5
"""So many runs are named in a sentence."""


class Alike(NamedTuple):
    """What standings show of a version beside its neighbors.

    :ivar first: place of the first one from which it cannot be told apart
    :ivar last: and of the last one
    :ivar apart: True where it is known to be stronger than the next one
    """

    first: int
    last: int
    apart: bool


def interval(row: Standing) -> str:
    """``2–5``, ``3`` where that is sure, empty where nothing is said."""
    if row.rank_lower is None or row.rank_upper is None:
        return ""
    return str(row.rank_lower) if row.rank_lower == row.rank_upper else f"{row.rank_lower}–{row.rank_upper}"


def odds(row: Standing) -> str:
    """``2 to 5 with 95 %; the best with 12 %, among the first three with 71 %``; empty where nothing is said."""
    if row.rank_lower is None or row.best is None or row.first_three is None:
        return ""
    ends = f"{row.rank_lower} to {row.rank_upper}" if row.rank_lower != row.rank_upper else f"{row.rank_lower}"
    return f"{ends} with 95 %; the best with {percent(row.best)}, among the first three with {percent(row.first_three)}"


def percent(share: float) -> str:
    """``12 %``; what is not quite nothing or everything is ``under 1 %`` or ``over 99 %``."""
    return "under 1 %" if share < 0.01 else "over 99 %" if share > 0.99 else f"{100 * share:.0f} %"


def alike(summary: RankSummary, by_place: Sequence[str]) -> dict[str, Alike]:
    """For each version from whom it cannot be told apart.

    :param by_place: the versions that are listed, the best first; of runs whose ends are not among them nothing is said
    """
    place = {name: at for at, name in enumerate(by_place, 1)}
    first, last = list(range(1, len(by_place) + 1)), list(range(1, len(by_place) + 1))
    joined = [False] * len(by_place)
    for group in summary.groups:
        begin, end = place.get(group.first), place.get(group.last)
        if begin is None or end is None:
            continue
        for at in range(begin, end + 1):
            first[at - 1], last[at - 1] = min(first[at - 1], begin), max(last[at - 1], end)
            joined[at - 1] |= at < end
    rows = zip(by_place, first, last, joined, strict=True)
    return {name: Alike(begin, end, not with_next and end < len(by_place)) for name, begin, end, with_next in rows}


def sentences(summary: RankSummary) -> list[str]:
    """What is said below standings."""
    if summary.versions < 2:
        return []
    lines = [
        f"Of {summary.neighbors} {_plural('pair', summary.neighbors)} of neighbors {summary.apart} "
        f"{'has' if summary.apart == 1 else 'have'} an order that is known with 95 % one-sided "
        f"({100 * summary.apart / summary.neighbors:.0f} %)."
    ]
    if summary.turned is not None:
        many = summary.turned > MOST_TURNED
        lines.append(
            f"{f'More than {MOST_TURNED}' if many else summary.turned} {_plural('result', summary.turned)} turned "
            f"round would put another than {summary.leader} first."
        )
    if summary.groups:
        named = [f"{group.first} to {group.last} ({group.versions})" for group in summary.groups[:GROUPS_NAMED]]
        more = len(summary.groups) - len(named)
        behind = f", and {more} more such {_plural('run', more)} of neighbors" if more else ""
        lines.append(f"These cannot be told apart: {'; '.join(named)}{behind}.")
    return lines


def _plural(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"
