"""A cup's bracket as a picture: a column a round, every match with its two sides and what they made.

An SVG that stands alone, or a part of a page: then its grounds and inks are classes that the page's sheet may fill, and
matches lead to games. Winners are in bold, so that it can be read without colors. Must not know: how a bracket is drawn
up, files, addresses.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from cgos_server.presentation.pictures.svg import (
    NAME,
    linked,
    plain,
    points_text,
    shortened,
    svg,
    width_of,
)
from cgos_server.tournaments.base import Event, pair_of
from cgos_server.tournaments.systems.bracket import NOBODY, Standing

ROW: Final = 19
BOX: Final = 2 * ROW
PITCH: Final = BOX + 12
GAP: Final = 26
LEFT: Final = 8
TOP: Final = 62
FAINT: Final = "#777777"
LINE: Final = "#999999"

MatchLinks = Mapping[tuple[int, int, int], str]
"""(Round, smaller id, larger id) -> where the match leads."""


class Place(NamedTuple):
    """Left end and middle of a match's box."""

    x: int
    y: float


class Side(NamedTuple):
    """One of the two of a match. `made`: its points, as text; `faint`: it is nobody's name."""

    name: str
    made: str = ""
    won: bool = False
    faint: bool = False


def bracket_svg(event: Event, matches: Sequence[Standing], links: MatchLinks | None = None) -> str:
    """The picture of these matches, those of the record with the points of their games.

    :param matches: of whole rounds; that for the third place has number 0
    :param links: where matches lead, for a picture that is a part of a page; None: it stands alone
    """
    names = event.names
    wide = width_for(names.values())
    places = _places(matches, wide)
    width = max((place.x + wide + 10 for place in places.values()), default=300)
    height = round(max((place.y for place in places.values()), default=TOP)) + BOX + 10
    points = points_of(event)
    boxes = (
        part
        for each in matches
        for part in _match(each, places[each.round, each.number], wide, names=names, points=points, links=links or {})
    )
    lines = f'<path class="way" fill="none" stroke="{LINE}" d="{"".join(_lines(places, wide))}"/>'
    parts = (*_heads(matches, wide), lines, *boxes)
    text = _description(matches, names)
    return svg(parts, width, height, font=13, title=event.name or "Bracket", text=text, inline=links is not None)


def width_for(names: Iterable[str]) -> int:
    """Of a box, so that each name fits."""
    return 56 + round(7.4 * max((min(width_of(name), 2 * NAME) for name in names), default=8))


def box(place: Place, wide: int, sides: Sequence[Side | None], link: str | None = None) -> Iterator[str]:
    """A match, or a pass: one row for each side; None: not known yet."""
    parts = "\n".join(_box(place, wide, sides))
    if link is None:
        yield parts
        return
    said = " against ".join(f"{side.name} {side.made}".strip() for side in sides if side is not None)
    yield linked(link, f"<title>{plain(said)}</title>{parts}")


def _box(place: Place, wide: int, sides: Sequence[Side | None]) -> Iterator[str]:
    top, tall = place.y - BOX / 2, ROW * len(sides)
    yield (
        f'<rect class="box" x="{place.x}" y="{top:g}" width="{wide}" height="{tall}" rx="3" fill="#ffffff" '
        f'stroke="{LINE}"/>'
    )
    if len(sides) > 1:
        yield f'<path class="line" stroke="#dddddd" d="M{place.x} {place.y:g}h{wide}"/>'
    for at, side in enumerate(sides):
        if side is None:
            continue
        y = top + at * ROW + 14
        weight = ' font-weight="bold"' if side.won else ""
        ink = f' class="faint" fill="{FAINT}"' if side.faint else ""
        yield f'<text x="{place.x + 6}" y="{y:g}"{weight}{ink}>{plain(shortened(side.name))}</text>'
        if side.made:
            yield f'<text x="{place.x + wide - 6}" y="{y:g}"{weight} text-anchor="end">{side.made}</text>'


def head(x: int, y: int, text: str) -> str:
    """Words above a column or a box."""
    return f'<text class="faint" x="{x}" y="{y}" fill="{FAINT}">{plain(text)}</text>'


def points_of(event: Event) -> dict[tuple[int, int, int], str]:
    """Round, id, opponent -> points of all their games of that round, those by forfeit too."""
    halves: defaultdict[tuple[int, int, int], int] = defaultdict(int)
    for each in event.rounds:
        for game in each.games:
            if game.result is not None and game.how not in ("void", "no-contest"):
                halves[each.number, game.white, game.black] += game.result.white
                halves[each.number, game.black, game.white] += game.result.black
    return {key: points_text(made) for key, made in halves.items()}


def _places(matches: Sequence[Standing], wide: int) -> dict[tuple[int, int], Place]:
    """By round and number: each match in the middle of the two before it."""
    places: dict[tuple[int, int], Place] = {}
    for each in sorted(matches, key=lambda each: (each.round, each.number)):
        if each.number:
            step = PITCH * 2 ** (each.round - 1)
            y = TOP + (each.number - 0.5) * step + BOX / 2
            places[each.round, each.number] = Place(LEFT + (each.round - 1) * (wide + GAP), y)
    for each in matches:
        if not each.number:  # for the third place, below everything
            lowest = max((place.y for place in places.values()), default=TOP)
            final = places.get((each.round, 1), Place(LEFT, TOP))
            places[each.round, 0] = Place(final.x, max(lowest, final.y) + PITCH)
    return places


def _lines(places: Mapping[tuple[int, int], Place], wide: int) -> Iterator[str]:
    """From each match to the one that its winner plays."""
    for (number, match), place in places.items():
        following = places.get((number + 1, (match + 1) // 2))
        if match and following is not None:
            middle = place.x + wide + GAP // 2
            yield f"M{place.x + wide} {place.y:g}H{middle}V{following.y:g}H{following.x}"


def _heads(matches: Sequence[Standing], wide: int) -> Iterator[str]:
    rounds = max((each.round for each in matches), default=0)
    for number in range(1, rounds + 1):
        left = rounds - number
        word = ("Final", "Semifinals", "Quarterfinals")[left] if left < 3 else f"Round {number}"
        yield head(LEFT + (number - 1) * (wide + GAP), 50, word)


def _match(
    each: Standing,
    place: Place,
    wide: int,
    names: Mapping[int, str],
    points: Mapping[tuple[int, int, int], str],
    links: MatchLinks,
) -> Iterator[str]:
    if not each.number:
        yield head(place.x, round(place.y - BOX / 2 - 5), "Third place")
    sides: list[Side | None] = []
    for at, id_ in enumerate(each.sides):
        if id_ is None:
            sides.append(None)
        elif id_ == NOBODY:
            sides.append(Side("nobody", faint=True))
        else:
            other = each.sides[1 - at] or NOBODY
            sides.append(Side(names[id_], points.get((each.round, id_, other), ""), id_ == each.winner))
    pair = pair_of(each.sides[0] or NOBODY, each.sides[1] or NOBODY)
    yield from box(place, wide, sides, links.get((each.round, *pair)))


def _description(matches: Sequence[Standing], names: Mapping[int, str]) -> str:
    words = f"A bracket of {len(matches)} matches; winners are in bold."
    final = max((each for each in matches if each.number), key=lambda each: each.round, default=None)
    if final is not None and final.winner is not None:
        return plain(f"{words} {names.get(final.winner, 'There is no winner: nobody')} has won it.")
    return words + " It has not been won yet."
