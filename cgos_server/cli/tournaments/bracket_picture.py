"""A cup's bracket as a picture: a column a round, every match with its two sides and what they made.

An SVG that stands alone. Winners are in bold, so that it can be read without colors. Must not know: how a bracket is
drawn up, files.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from cgos_server.cli.tournaments.crosstable_picture import NAME, plain, points_text, shortened, svg, width_of
from cgos_server.tournaments.base import Event
from cgos_server.tournaments.systems.bracket import NOBODY, Standing

_ROW: Final = 19
_BOX: Final = 2 * _ROW
_PITCH: Final = _BOX + 12
_GAP: Final = 26
_LEFT: Final = 8
_TOP: Final = 62
_FAINT: Final = "#777777"
_LINE: Final = "#999999"


class _Place(Struct, frozen=True):
    """Left end and middle of a match's box."""

    x: int
    y: float


def bracket_svg(event: Event, matches: Sequence[Standing]) -> str:
    """The picture of these matches, those of the record with the points of their games.

    :param matches: of whole rounds; that for the third place has number 0
    """
    names = event.names
    wide = 56 + round(7.4 * max((min(width_of(name), 2 * NAME) for name in names.values()), default=8))
    places = _places(matches, wide)
    width = max((place.x + wide + 10 for place in places.values()), default=300)
    height = round(max((place.y for place in places.values()), default=_TOP)) + _BOX + 10
    points = _points(event)
    boxes = (
        part
        for each in matches
        for part in _match(each, places[each.round, each.number], wide=wide, names=names, points=points)
    )
    lines = f'<path fill="none" stroke="{_LINE}" d="{"".join(_lines(places, wide))}"/>'
    parts = (*_heads(matches, wide), lines, *boxes)
    return svg(parts, width, height, font=13, title=event.name or "Bracket", text=_description(matches, names))


def _places(matches: Sequence[Standing], wide: int) -> dict[tuple[int, int], _Place]:
    """By round and number: each match in the middle of the two before it."""
    places: dict[tuple[int, int], _Place] = {}
    for each in sorted(matches, key=lambda each: (each.round, each.number)):
        if each.number:
            step = _PITCH * 2 ** (each.round - 1)
            y = _TOP + (each.number - 0.5) * step + _BOX / 2
            places[each.round, each.number] = _Place(_LEFT + (each.round - 1) * (wide + _GAP), y)
    for each in matches:
        if not each.number:  # for the third place, below everything
            lowest = max((place.y for place in places.values()), default=_TOP)
            final = places.get((each.round, 1), _Place(_LEFT, _TOP))
            places[each.round, 0] = _Place(final.x, max(lowest, final.y) + _PITCH)
    return places


def _lines(places: Mapping[tuple[int, int], _Place], wide: int) -> Iterator[str]:
    """From each match to the one that its winner plays."""
    for (number, match), place in places.items():
        following = places.get((number + 1, (match + 1) // 2))
        if match and following is not None:
            middle = place.x + wide + _GAP // 2
            yield f"M{place.x + wide} {place.y:g}H{middle}V{following.y:g}H{following.x}"


def _heads(matches: Sequence[Standing], wide: int) -> Iterator[str]:
    rounds = max((each.round for each in matches), default=0)
    for number in range(1, rounds + 1):
        left = rounds - number
        head = ("Final", "Semifinals", "Quarterfinals")[left] if left < 3 else f"Round {number}"
        x = _LEFT + (number - 1) * (wide + _GAP)
        yield f'<text x="{x}" y="50" fill="{_FAINT}">{head}</text>'


def _match(
    each: Standing, place: _Place, wide: int, names: Mapping[int, str], points: Mapping[tuple[int, int, int], str]
) -> Iterator[str]:
    top = place.y - _BOX / 2
    yield (
        f'<rect x="{place.x}" y="{top:g}" width="{wide}" height="{_BOX}" rx="3" fill="#ffffff" stroke="{_LINE}"/>'
        f'<path stroke="#dddddd" d="M{place.x} {place.y:g}h{wide}"/>'
    )
    if not each.number:
        yield f'<text x="{place.x}" y="{top - 5:g}" fill="{_FAINT}">Third place</text>'
    for at, id_ in enumerate(each.sides):
        if id_ is None:
            continue
        y = top + at * _ROW + 14
        if id_ == NOBODY:
            yield f'<text x="{place.x + 6}" y="{y:g}" fill="{_FAINT}">nobody</text>'
            continue
        weight = ' font-weight="bold"' if id_ == each.winner else ""
        other = each.sides[1 - at] or NOBODY
        made = points.get((each.round, id_, other), "")
        yield f'<text x="{place.x + 6}" y="{y:g}"{weight}>{plain(shortened(names[id_]))}</text>'
        if made:
            yield f'<text x="{place.x + wide - 6}" y="{y:g}"{weight} text-anchor="end">{made}</text>'


def _points(event: Event) -> dict[tuple[int, int, int], str]:
    """Round, id, opponent -> points of all their games of that round, those by forfeit too."""
    halves: defaultdict[tuple[int, int, int], int] = defaultdict(int)
    for each in event.rounds:
        for game in each.games:
            if game.result is not None and game.how not in ("void", "no-contest"):
                halves[each.number, game.white, game.black] += game.result.white
                halves[each.number, game.black, game.white] += game.result.black
    return {key: points_text(made) for key, made in halves.items()}


def _description(matches: Sequence[Standing], names: Mapping[int, str]) -> str:
    words = f"A bracket of {len(matches)} matches; winners are in bold."
    final = max((each for each in matches if each.number), key=lambda each: each.round, default=None)
    if final is not None and final.winner is not None:
        return plain(f"{words} {names.get(final.winner, 'There is no winner: nobody')} has won it.")
    return words + " It has not been won yet."
