"""Writes events as plain tables (:mod:`~cgos_server.tournaments.files.csv_table`): fresh ones, or those that were read
with only that rewritten which has changed.

Must not know: systems, files.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from cgos_protocol.errors import Code, Invalid
from cgos_server.tournaments.base import WIN, Event, Game
from cgos_server.tournaments.files.csv_table import FIELDS, ID_MAX, ROUND_MAX, Table, to_event
from cgos_server.tournaments.files.halves import sign_of
from cgos_server.tournaments.ledger import ledger

_DERIVED: Final = ("points", "place")
_ALWAYS: Final = ("id", "name", "rating", "points", "place")


def from_event(event: Event, places: Mapping[int, int]) -> bytes:
    """A fresh table, with the columns that somebody needs.

    :param places: by id
    :raises Refused: what a table cannot hold
    """
    values = fields(event, places)
    used = {name for row in values.values() for name, text in row.items() if text}
    last = max((int(name[1:]) for name in used if name not in FIELDS), default=0)
    names: list[str] = [name for name in FIELDS if name in used or name in _ALWAYS]
    names += [f"r{number}" for number in range(1, max(last, len(event.rounds)) + 1)]
    return _text([names, *([row.get(name, "") for name in names] for row in values.values())], ",", "\r\n").encode()


def with_event(table: Table, data: bytes, event: Event, places: Mapping[int, int]) -> bytes:
    """The table's bytes with what has changed since it was read; other columns stay.

    :param data: what the table was read from
    :param places: by id
    :raises Refused: what a table cannot hold
    """
    old, new = fields(to_event(table, event.system), {}), fields(event, places)
    if [*new][: len(old)] != [*old]:
        raise Invalid(
            Code.CSV_ENTRANTS, "Players of the file are no longer in the event, or elsewhere. Write a new file."
        )
    if _stated(old) == _stated(new):
        return data
    names = [*table.names, *_needed(table, old, new)]
    columns = {**table.columns, **{name: at for at, name in enumerate(names) if at >= len(table.names)}}
    lines = [names]
    for row, id_ in zip([*table.rows, *[None] * (len(new) - len(old))], new, strict=True):
        cells = list(row.cells) if row else []
        cells += [""] * (len(names) - len(cells))
        for name, at in columns.items():
            before, after = old.get(id_, {}).get(name), new[id_].get(name)
            if before != after or name in _DERIVED or name not in table.columns:
                cells[at] = after or ""
        lines.append(cells)
    mark = "\N{ZERO WIDTH NO-BREAK SPACE}" if table.marked else ""
    return (mark + _text(lines, table.delimiter, table.end)).encode("utf-8", "replace")


def _stated(values: Mapping[int, Mapping[str, str]]) -> dict[int, dict[str, str]]:
    """Without what follows from the rest."""
    return {id_: {name: text for name, text in row.items() if name not in _DERIVED} for id_, row in values.items()}


def _needed(table: Table, old: Mapping[int, Mapping[str, str]], new: Mapping[int, Mapping[str, str]]) -> list[str]:
    """Names of columns that the file has not but somebody needs."""
    counted = [*new] == [*range(1, len(new) + 1)]
    needed = {
        name
        for id_, row in _stated(new).items()
        for name, text in row.items()
        if name not in table.columns and text and (text != old.get(id_, {}).get(name) or name == "id")
    } - ({"id"} if counted else set())
    rounds = sorted(int(name[1:]) for name in needed if name not in FIELDS)
    return [*(name for name in FIELDS if name in needed), *(f"r{number}" for number in rounds)]


def fields(event: Event, places: Mapping[int, int]) -> dict[int, dict[str, str]]:
    """What each player's cells say, by id and lower-case name of the column.

    :raises Refused: what cells cannot hold
    """
    if len(event.rounds) > ROUND_MAX:
        raise Invalid(
            Code.CSV_ROUNDS,
            f"The event has {len(event.rounds)} rounds, and a table holds up to {ROUND_MAX}. Write JSON.",
        )
    scores = ledger(event).lines
    forbidden = defaultdict(list)
    for first, second in event.forbidden:
        forbidden[first].append(second)
    rounds = _rounds(event)
    values = {}
    for one in event.entrants:
        if one.id > ID_MAX:
            raise Invalid(
                Code.CSV_ID, f"{one.name} has the number {one.id}, and a table holds up to {ID_MAX}. Write JSON."
            )
        values[one.id] = {
            "id": str(one.id),
            "name": one.name.strip() or f"Player {one.id}",
            "rating": "" if one.rating is None else _plain(one.rating),
            "grade": one.grade,
            "country": one.country,
            "club": one.club,
            "start": "" if one.start is None else _plain(one.start / 2),
            "status": "withdrawn" if one.id in event.withdrawn else "",
            "forbidden": " ".join(map(str, forbidden[one.id])),
            "points": _plain(scores[one.id].score / 2),
            "place": str(places.get(one.id, "")),
            **rounds[one.id],
        }
    return values


def _plain(value: float) -> str:
    return f"{value:.0f}" if value == round(value) else repr(value)


def _rounds(event: Event) -> dict[int, dict[str, str]]:
    """The text of each player's rounds; of a round to come only what was asked for."""
    texts: dict[int, dict[str, str]] = {one.id: {} for one in event.entrants}
    for each in event.rounds:
        parts = defaultdict(list)
        for game in each.games:
            parts[game.white].append(_half(game, each.number, white=True))
            parts[game.black].append(_half(game, each.number, white=False))
        for bye in each.byes:
            parts[bye.entrant].append(("off" if bye.requested else "bye") + _of_bye(bye.points, each.number))
        for one in event.entrants:
            absent = "--" if one.joined <= each.number else ""
            texts[one.id][f"r{each.number}"] = ",".join(parts[one.id]) or absent
    for request in event.requests:
        if request.round > len(event.rounds) and request.entrant in texts:
            texts[request.entrant][f"r{request.round}"] = "off" + _of_bye(request.points, request.round)
    return texts


def _half(game: Game, number: int, *, white: bool) -> str:
    opponent = game.black if white else game.white
    result, forfeit = game.result, ""
    if result is None:
        sign = "?"
    elif result.how in ("void", "no-contest"):
        sign = "x" if result.how == "void" else "n"
    else:
        sign = _sign(result.white if white else result.black, number)
        forfeit = "!" if result.how == "forfeit" else ""
    return f"{opponent}{sign}{'w' if white else 'b'}{game.handicap or ''}{forfeit}"


def _of_bye(points: int, number: int) -> str:
    """A bye can give what a match of two won games gives."""
    return "++" if points == 2 * WIN else _sign(points, number)


def _sign(points: int, number: int) -> str:
    return sign_of(points, number, Code.CSV_POINTS, "a table")


def _text(rows: Sequence[Sequence[str]], delimiter: str, end: str) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator=end).writerows(rows)
    return out.getvalue()
