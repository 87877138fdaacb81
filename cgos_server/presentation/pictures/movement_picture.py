"""The bubble's way up its list as a picture: a row an entrant, the best of the old list above, a column a step.

Who is in the active set, who is parked, who has not come yet and who is ranked for good are told apart by darkness.
Must not know: how a step is decided, files, addresses.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from cgos_server.presentation.pictures.svg import plain, shortened, svg, width_of
from cgos_server.tournaments.base import Event
from cgos_server.tournaments.systems.bubble import old_ranking

CELL: Final = 16
MOST_STEPS: Final = 120
"""Steps that are shown, the latest."""

_TOP: Final = 62
_ACTIVE, _PARKED, _RANKED = "#1f5c99", "#9cc3e0", "#e3e3e3"
_FILLS: Final = {"active": _ACTIVE, "parked": _PARKED, "ranked": _RANKED}
_WORDS: Final = {"active": "in the active set", "parked": "parked", "ranked": "ranked, or withdrawn"}


def movement_svg(event: Event, trace: Sequence[Mapping[str, Any]]) -> str:
    """The picture of these steps, as a part of a page.

    :param trace: of :meth:`cgos_server.tournaments.systems.bubble.Bubble.trace`
    """
    names = event.names
    order = sorted(names, key=old_ranking(event.entrants).__getitem__)
    columns = list(_columns(trace))[-MOST_STEPS:]
    first = len(trace) - len(columns)
    left = 40 + round(7.4 * max((width_of(shortened(name)) for name in names.values()), default=8))
    width = max(left + CELL * len(columns) + 10, 420)
    height = _TOP + CELL * len(order) + 40
    squares: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for at, states in enumerate(columns):
        for row, id_ in enumerate(order):
            if id_ in states:
                squares[states[id_]].append((at, row))
    parts = [f'<g text-anchor="end">{"".join(_numbers(len(order)))}</g>']
    parts += [f'<text x="34" y="{_middle(row)}">{plain(shortened(names[id_]))}</text>' for row, id_ in enumerate(order)]
    parts += [
        f'<text class="faint" x="{left + CELL * at + CELL // 2}" y="{_TOP - 6}" font-size="10" text-anchor="middle">'
        f"{first + at + 1}</text>"
        for at in range(len(columns))
        if not (first + at + 1) % 5 or not first + at
    ]
    for state, places in sorted(squares.items()):
        drawn = "".join(
            f"M{left + CELL * at} {_TOP + CELL * row}h{CELL - 1}v{CELL - 1}h{1 - CELL}z" for at, row in places
        )
        parts.append(f'<path class="{state}" fill="{_FILLS[state]}" d="{drawn}"/>')
    parts += _legend(height - 14)
    return svg(
        parts, width, height, font=12, title=event.name or "Bubble", text=_description(columns, names), inline=True
    )


def _columns(trace: Sequence[Mapping[str, Any]]) -> Iterator[dict[int, str]]:
    """After each step: id -> ``active``, ``parked`` or ``ranked``; who has not come yet is not in it."""
    states: dict[int, str] = {}
    for move in trace:
        for id_ in move.get("active", ()):
            states[id_] = "active"
        who = move.get("who")
        if who is not None:
            states[who] = "parked" if move["event"] == "park" else "ranked"
        if move.get("replacement") is not None:
            states[move["replacement"]] = "active"
        if move["event"] == "finish":
            states |= dict.fromkeys(states, "ranked")
        yield dict(states)


def _middle(row: int) -> int:
    return _TOP + CELL * row + 12


def _numbers(count: int) -> Iterator[str]:
    for row in range(count):
        yield f'<text class="faint" x="28" y="{_middle(row)}">{row + 1}</text>'


def _legend(y: int) -> Iterator[str]:
    x = 8
    for state, words in _WORDS.items():
        yield f'<rect class="{state}" x="{x}" y="{y - 11}" width="13" height="13" fill="{_FILLS[state]}"/>'
        yield f'<text x="{x + 19}" y="{y}">{words}</text>'
        x += 40 + round(6.2 * len(words))


def _description(columns: Sequence[Mapping[int, str]], names: Mapping[int, str]) -> str:
    last = columns[-1] if columns else {}
    active = [names[id_] for id_, state in last.items() if state == "active"]
    playing = f" Active now: {', '.join(active)}." if active else " All are ranked."
    return plain(f"The bubble after {len(columns)} steps of the list of {len(names)}.{playing}")
