"""A double elimination as a picture: a column a round, the unbeaten above, those with one loss below.

Lines lead from each match to where its two play next, dashed for who lost. Winners are in bold, so that it can be read
without colors. Must not know: how a round is paired, files, addresses.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from cgos_server.presentation.pictures.bracket_picture import (
    BOX,
    LEFT,
    LINE,
    PITCH,
    ROW,
    TOP,
    MatchLinks,
    Place,
    Side,
    box,
    head,
    points_of,
    width_for,
)
from cgos_server.presentation.pictures.svg import plain, svg
from cgos_server.tournaments.base import Event, pair_of
from cgos_server.tournaments.standings.branches import BranchMatch

_GAP: Final = 52
"""Between two columns: room for lines that cross."""

_PASSES: Final = 16
"""What the word for a pass takes more than a score."""

_BETWEEN: Final = 34
"""From the unbeaten to the head of those with one loss."""


def branches_svg(event: Event, matches: Sequence[BranchMatch], links: MatchLinks | None = None) -> str:
    """The picture of these matches, with the points of their games.

    :param matches: of whole rounds, in order
    :param links: where matches lead, for a picture that is a part of a page; None: it stands alone
    """
    names = event.names
    wide = width_for(names.values()) + _PASSES
    split = TOP + 18 + PITCH * _most(matches, upper=True) + _BETWEEN
    places = _places(matches, wide, split)
    rounds = max((each.round for each in matches), default=0)
    width = max(LEFT + rounds * (wide + _GAP), 360)
    height = round(max((place.y for place in places.values()), default=TOP)) + BOX
    points = points_of(event)
    heads = [head(LEFT + at * (wide + _GAP), 50, f"Round {at + 1}") for at in range(rounds)]
    heads.append(head(LEFT, TOP + 8, "Unbeaten"))
    if any(not _is_upper(each) for each in matches):
        heads.append(head(LEFT, split - 6, "With one loss"))
    boxes = [
        part for each in matches for part in box(places[each], wide, _sides(each, names, points), _link(each, links))
    ]
    title, text = event.name or "Double elimination", _description(event, matches)
    return svg(
        (*heads, *_lines(matches, places, wide), *boxes),
        width,
        height,
        font=13,
        title=title,
        text=text,
        inline=links is not None,
    )


def _is_upper(each: BranchMatch) -> bool:
    return each.losses == 0 or each.is_final


def _most(matches: Sequence[BranchMatch], upper: bool) -> int:
    """How many of a branch one column has at most."""
    return max(Counter(each.round for each in matches if _is_upper(each) is upper).values(), default=0)


def _places(matches: Sequence[BranchMatch], wide: int, split: int) -> dict[BranchMatch, Place]:
    """Each match below the one of its branch before it, as near as can be to where its sides played last."""
    places: dict[BranchMatch, Place] = {}
    last: dict[int, float] = {}
    by_column: defaultdict[tuple[int, bool], list[BranchMatch]] = defaultdict(list)
    for each in matches:
        by_column[each.round, _is_upper(each)].append(each)
    for (number, upper), column in sorted(by_column.items(), key=lambda item: (item[0][0], not item[0][1])):
        middles = {each: [last[side] for side in each.sides if side in last] for each in column}
        column.sort(key=lambda each: sum(middles[each]) / len(middles[each]) if middles[each] else 0.0)
        top = TOP + 18 if upper else split
        for at, each in enumerate(column):
            y = top + at * PITCH + BOX / 2
            places[each] = Place(LEFT + (number - 1) * (wide + _GAP), y)
        last |= {side: places[each].y for each in column for side in each.sides}
    return places


def _lines(matches: Sequence[BranchMatch], places: Mapping[BranchMatch, Place], wide: int) -> Iterator[str]:
    """The way of each entrant from one match to the next; dashed after a loss."""
    before: dict[int, tuple[int, float, bool]] = {}
    for each in matches:
        place = places[each]
        for at, side in enumerate(each.sides):
            y = place.y - BOX / 2 + (at + 0.5) * ROW
            if side in before and before[side][0] < place.x:
                left, from_y, lost = before[side]
                end, middle = left + wide, (left + wide + place.x) / 2
                dashed = ' stroke-dasharray="3 3"' if lost else ""
                curve = f"M{end} {from_y:g}C{middle:g} {from_y:g} {middle:g} {y:g} {place.x} {y:g}"
                yield f'<path class="way" fill="none" stroke="{LINE}"{dashed} d="{curve}"/>'
            before[side] = (place.x, y, len(each.sides) > 1 and side != each.winner)


def _sides(
    each: BranchMatch, names: Mapping[int, str], points: Mapping[tuple[int, int, int], str]
) -> list[Side | None]:
    if len(each.sides) == 1:
        return [Side(names[each.sides[0]], "passes")]
    one, other = each.sides
    return [
        Side(names[one], points.get((each.round, one, other), ""), one == each.winner),
        Side(names[other], points.get((each.round, other, one), ""), other == each.winner),
    ]


def _link(each: BranchMatch, links: MatchLinks | None) -> str | None:
    if links is None or len(each.sides) == 1:
        return None
    return links.get((each.round, *pair_of(*each.sides)))


def _description(event: Event, matches: Sequence[BranchMatch]) -> str:
    played = sum(len(each.sides) > 1 for each in matches)
    rounds = len({each.round for each in matches})
    so_far = f"{played} matches in {rounds} rounds so far; winners are in bold."
    return plain(f"A double elimination of {len(event.entrants)}: {so_far}")
