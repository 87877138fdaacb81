"""Tournament reports from events: fresh ones, and those that were read with only that rewritten which has changed.

Fresh files are TRF16 with the lines of TRF(x) and TRF-2026 that other programs need to go on: ``XXR`` and ``142``, and
``XXZ`` and ``240`` for who is not there in the next round. Fields that the format has no place for go into a comment,
see :class:`cgos_server.tournaments.files.trf_records.Extra`; explanations and reasons are left out.

A void game that was played again is left out: its replay stands in the cell. What a report cannot hold at all is
refused: two games of a player in a round, ids above 9999, points that are not among those its results give. A round
with games that have no result yet is written with blank results, which pairing programs refuse to read. Must not know:
systems, files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from cgos_protocol.errors import Code, Invalid
from cgos_server.core.tournaments.base import WIN, Bye, Entrant, Event, Game, How, Result
from cgos_server.core.tournaments.ledger import counting, ledger
from cgos_server.tournaments.files import trf
from cgos_server.tournaments.files.trf import CELL, FIRST_CELL, ID_MAX, POINTS_MAX, ROUND_MAX, Document, Line, Player
from cgos_server.tournaments.files.trf_event import (
    code_points,
    country_column,
    name_column,
    rating_column,
    to_event,
)
from cgos_server.tournaments.files.trf_records import (
    EXTRA,
    Extra,
    ExtraEntrant,
    ExtraGame,
    Records,
    records,
)

Grid = dict[int, list[str]]
"""Cells of ten columns by id and round; blank: absent."""

BLANK: Final = " " * CELL
_PAIRS: Final = (("1", "0"), ("=", "="), ("0", "1"), ("0", "0"), ("=", "0"), ("0", "="))
_FORFEITS: Final = (("+", "-"), ("-", "+"), ("-", "-"))
_CODES: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("round-robin", "double-round-robin"), "CUSTOM_ROUNDROBIN"),
        **dict.fromkeys(("cup", "double-elimination"), "CUSTOM_KNOCKOUT"),
    }
)
"""Of the Tournament Type Code Table (FIDE Handbook C.02.03, annex C); all others come nearest to CUSTOM_SWISS. None of
our systems pairs by FIDE's rules, so none has a code of FIDE's."""

_BYES: Final = (("F", "FPB"), ("H", "HPB"), ("Z", "ZPB"))


def from_event(event: Event, places: Mapping[int, int] | None = None) -> Document:
    """A fresh report.

    :param places: by id; None: by points, then by the order of registration
    :raises Refused: what a report cannot hold
    """
    found = Records()
    if event.bye_points != WIN:
        found.points["PAB"] = 5 * event.bye_points
    places = places or _places(event)
    grid, given = cells(event, found)
    head = [f"012 {_plain(event.name)}", f"062 {len(event.entrants)}", f"092 {_plain(event.system)}"]
    head.append(f"192 {_CODES.get(event.system, 'CUSTOM_SWISS')}")
    head.append(_comment(event, grid, given))
    if event.planned is not None:
        head += [f"142 {event.planned}", f"XXR {event.planned}"]
    if event.bye_points != WIN:
        points = f"{event.bye_points / 2:.1f}"
        head += [f"162  P{points:>4}", f"XXS PAB={points}"]
    scores = ledger(event).lines
    body = [_player_line(one, scores[one.id].score, places[one.id], grid[one.id]) for one in event.entrants]
    tail = [*_pair_lines(event.forbidden), *_absence_lines(event, found.points)]
    order = [one.id for one in event.entrants]
    if order != list(range(1, len(order) + 1)):  # with gaps too: bbpPairings refuses them otherwise
        head.append("XXC rank")
    return trf.document(Line(text, "\r\n") for text in (*head, *body, *tail) if text)


def with_event(document: Document, event: Event, places: Mapping[int, int] | None = None) -> Document:
    """The report with what has changed since it was read: cells, points, ranks, players, and lines about the whole.

    All else stays as it was, lines of unknown codes included. An event that :func:`to_event` gives changes nothing; any
    other leaves our comment in the file, with system and seed, so that the file alone tells how to pair on.

    :param places: by id; None: by points, then by the order of registration
    :raises Refused: what a report cannot hold
    """
    before = to_event(document, event.system)
    if before == event:
        return document
    found = records(document)
    if before.bye_points != event.bye_points:
        raise Invalid(Code.TRF_POINTS, "What a bye gives cannot be changed in a file that was read. Write a new file.")
    gone = {one.id for one in before.entrants} - {one.id for one in event.entrants}
    if gone:
        raise Invalid(Code.TRF_ENTRANTS, f"Player {min(gone)} of the file is no longer in the event. Write a new file.")
    places = places or _places(event)
    grid, given = cells(event, found)
    scores = ledger(event).lines
    texts: list[str | None] = [line.text for line in document.lines]
    _rewrite_players(document, found, events=(before, event), grid=grid, places=places, texts=texts)
    known = {one.id for one in document.players}
    fresh = [
        _player_line(one, scores[one.id].score, places[one.id], grid[one.id])
        for one in event.entrants
        if one.id not in known
    ]
    added = _rewrite_whole(document, found, (before, event), texts)
    comment = _comment(event, grid, given)
    if found.extra_line is None:
        added.append(comment)
    elif _extra(event, grid, given) != found.extra:
        texts[found.extra_line] = comment
    after = max((one.line for one in document.players), default=len(texts) - 1)
    lines: list[Line | str] = [
        *_kept(document, texts, 0, after + 1),
        *fresh,
        *_kept(document, texts, after + 1, len(texts)),
        *added,
    ]
    return trf.document(_ended(lines, document.end), document.encoding, marked=document.marked)


def cells(event: Event, found: Records) -> tuple[Grid, list[tuple[int, int]]]:
    """Every cell of the rounds that have begun, and (round, id) of byes by the pairing that are not written as ``U``.

    :raises Refused: what cells cannot hold
    """
    if len(event.rounds) > ROUND_MAX:
        raise Invalid(
            Code.TRF_ROUNDS,
            f"The event has {len(event.rounds)} rounds, and a report holds up to {ROUND_MAX}. Write JSON.",
        )
    grid: Grid = {one.id: [BLANK] * len(event.rounds) for one in event.entrants}
    given = []

    def put(id_: int, number: int, text: str) -> None:
        if grid[id_][number - 1] != BLANK:
            raise Invalid(
                Code.TRF_GAMES,
                f"Player {id_} is twice in round {number}, and a tournament report holds one game a round. Write JSON.",
            )
        grid[id_][number - 1] = text

    for each in event.rounds:
        for game in counting(each):
            first, second = _codes(game, found.points, each.number)
            put(game.white, each.number, f"{game.black:4d} w {first}  ")
            put(game.black, each.number, f"{game.white:4d} b {second}  ")
        for bye in each.byes:
            code = _bye_code(bye, found.points, each.number)
            put(bye.entrant, each.number, f"0000 - {code}  ")
            if code != "U" and not bye.requested:
                given.append((each.number, bye.entrant))
    return grid, given


def _codes(game: Game, points: Mapping[str, int], number: int) -> tuple[str, str]:
    """Result codes of White and Black."""
    result = game.result
    if result is None:
        return " ", " "
    for first, second in _PAIRS if result.how == "played" else _FORFEITS:
        gives = code_points(points, first, white=True), code_points(points, second, white=False)
        if gives == (5 * result.white, 5 * result.black):
            return first, second
    raise Invalid(
        Code.TRF_RESULT,
        f"Round {number} has a game of {game.white} and {game.black} with {result.white / 2:g} : {result.black / 2:g} "
        f"points ({result.how}), which no result of a tournament report gives. Write JSON.",
    )


def _bye_code(bye: Bye, points: Mapping[str, int], number: int) -> str:
    if not bye.requested and 5 * bye.points == points["PAB"]:
        return "U"
    for code, key in _BYES:
        if 5 * bye.points == points[key]:
            return code
    raise Invalid(
        Code.TRF_RESULT,
        f"Round {number} has a bye of {bye.entrant} with {bye.points / 2:g} points, which no code of a tournament "
        "report gives. Write JSON.",
    )


def _places(event: Event) -> dict[int, int]:
    scores = ledger(event).lines
    order = sorted((one.id for one in event.entrants), key=lambda id_: -scores[id_].score)
    return {id_: place for place, id_ in enumerate(order, 1)}


def _plain(text: str) -> str:
    """In one line."""
    return " ".join(text.split())


def _points(score: int) -> str:
    if not 0 <= 5 * score <= POINTS_MAX:
        raise Invalid(Code.TRF_POINTS, f"A player has {score / 2:g} points, and a report holds up to 99.9. Write JSON.")
    return f"{score / 2:4.1f}"


def _rating(rating: float | None) -> str:
    return f"{rating_column(rating) or '':>4}"


def _player_line(one: Entrant, score: int, place: int, row: list[str]) -> str:
    if one.id > ID_MAX:
        raise Invalid(
            Code.TRF_ID, f"{one.name} has the number {one.id}, and a report holds up to {ID_MAX}. Write JSON."
        )
    name, country = name_column(one.name), country_column(one.country)
    fixed = f"001 {one.id:4d}      {name:33} {_rating(one.rating)} {country:3} {'':11} {'':10} "
    return f"{fixed}{_points(score)} {place:4d}  {''.join(row)}".rstrip()


def _extra(event: Event, grid: Grid, given: Iterable[tuple[int, int]]) -> Extra:
    entrants = {}
    for one in event.entrants:
        row = grid[one.id]
        first = next((number for number, text in enumerate(row, 1) if text != BLANK), len(row) + 1)
        fits = one.rating is None or (one.rating != 0 and rating_column(one.rating) == one.rating)
        extra = ExtraEntrant(
            name="" if name_column(one.name) == one.name else one.name,
            rating=None if fits else one.rating,
            country="" if country_column(one.country) == one.country else one.country,
            start=one.start,
            grade=one.grade,
            club=one.club,
            joined=None if one.joined == first else one.joined,
        )
        if extra != ExtraEntrant():
            entrants[str(one.id)] = extra
    games = tuple(
        ExtraGame(
            round=each.number,
            white=game.white,
            black=game.black,
            handicap=game.handicap,
            void=_is(game, "void"),
            no_contest=_is(game, "no-contest"),
        )
        for each in event.rounds
        for game in counting(each)
        if game.handicap or _is(game, "void") or _is(game, "no-contest")
    )
    return Extra(
        system=event.system,
        options=event.options,
        seed=event.seed,
        tie_breakers=event.tie_breakers,
        withdrawn=event.withdrawn,
        entrants=entrants,
        games=games,
        given=tuple(given),
    )


def _is(game: Game, how: How) -> bool:
    return game.result is not None and game.result.how == how


def _comment(event: Event, grid: Grid, given: Iterable[tuple[int, int]]) -> str:
    return EXTRA + msgspec.json.encode(_extra(event, grid, given)).decode()


def _to_come(event: Event) -> set[tuple[int, int, int]]:
    """(round, id, half points) of everybody who will not be there."""
    begun = len(event.rounds)
    absent = {(one.round, one.entrant, one.points) for one in event.requests if one.round > begun}
    asked = {id_ for number, id_, _ in absent if number == begun + 1}
    if event.planned is None or begun < event.planned:
        absent |= {(begun + 1, id_, 0) for id_ in event.withdrawn if id_ not in asked}
    return absent


def _absence_lines(event: Event, points: Mapping[str, int]) -> Iterator[str]:
    """Of the next round for JaVaFo, which knows no 240 lines, and of all rounds to come for others."""
    absent = _to_come(event)
    following = sorted(id_ for number, id_, _ in absent if number == len(event.rounds) + 1)
    if following:
        yield "XXZ " + " ".join(map(str, following))
    for number, given in sorted({(number, given) for number, _, given in absent}):
        ids = sorted(id_ for other, id_, gives in absent if (other, gives) == (number, given))
        code = next((code for code, key in _BYES if points[key] == 5 * given), None)
        if code is None:
            raise Invalid(
                Code.TRF_RESULT,
                f"Player {ids[0]} asked for a bye of {given / 2:g} points, which no code gives. Write JSON.",
            )
        yield f"240 {code} {number:3d} " + " ".join(f"{id_:4d}" for id_ in ids)


def _pair_lines(pairs: Iterable[tuple[int, int]]) -> Iterator[str]:
    return (f"XXP {one} {other}" for one, other in pairs)


def _rewrite_players(
    document: Document,
    found: Records,
    events: tuple[Event, Event],
    grid: Grid,
    places: Mapping[int, int],
    texts: list[str | None],
) -> None:
    """Lets the texts of player lines say what the second event says, where the first says otherwise."""
    before, after = events
    old_grid, _ = cells(before, found)
    old_scores, scores = ledger(before).lines, ledger(after).lines
    old_entrants, entrants = ({one.id: one for one in event.entrants} for event in events)
    to_come = {(number, id_) for number, id_, _ in _to_come(after)}
    rows = {one.id: _rows(one, old_grid[one.id], grid[one.id], to_come) for one in document.players}
    ended = _ended_games(before) != _ended_games(after)
    for one in document.players:
        text = _with_fields(document.lines[one.line].text, one, old_entrants[one.id], entrants[one.id])
        for number, (old, new) in enumerate(zip(*rows[one.id], strict=True)):
            if old != new:
                text = _put(text, FIRST_CELL + one.shift + CELL * number, new)
        if scores[one.id].score != old_scores[one.id].score:
            text = _put(text, 80 + one.shift, _points(scores[one.id].score))
        if ended:
            text = _put(text, 85 + one.shift, f"{places[one.id]:4d}")
        texts[one.line] = text if text == document.lines[one.line].text else text.rstrip()


def _ended_games(event: Event) -> set[tuple[int, int, int, Result]]:
    """What ranks follow from; to pair a round changes none."""
    return {
        (each.number, game.white, game.black, game.result)
        for each in event.rounds
        for game in each.games
        if game.result is not None
    }


def _rows(player: Player, old: list[str], new: list[str], to_come: set[tuple[int, int]]) -> tuple[list[str], list[str]]:
    """Cells before and after, of the same number: byes for rounds to come stay as long as they are asked for."""
    size = max(len(old), len(new), len(player.cells))
    old, new = ([*row, *[BLANK] * (size - len(row))] for row in (old, new))
    for number, cell in enumerate(player.cells, 1):
        if not cell.is_blank and old[number - 1] == BLANK:
            old[number - 1] = "asked for"
            if new[number - 1] == BLANK and (number, player.id) in to_come:
                new[number - 1] = "asked for"
    return old, new


def _with_fields(text: str, player: Player, old: Entrant, new: Entrant) -> str:
    shift = player.shift
    if old.name != new.name:
        width = 33 + shift
        text = _put(text, 14, f"{name_column(new.name)[:width]:{width}}")
    if old.rating != new.rating:
        text = _put(text, 48 + shift, _rating(new.rating))
    if old.country != new.country:
        text = _put(text, 53 + shift, f"{country_column(new.country):3}")
    return text


def _put(text: str, at: int, part: str) -> str:
    return text[:at].ljust(at) + part + text[at + len(part) :]


def _rewrite_whole(
    document: Document, found: Records, events: tuple[Event, Event], texts: list[str | None]
) -> list[str]:
    """The same for lines about the whole tournament; what is to be added."""
    before, after = events
    added: list[str] = []
    codes = [line.text[:3] for line in document.lines]
    if before.name != after.name:
        _replace(texts, codes, wanted=("012",), value=_plain(after.name), added=added)
    if len(before.entrants) != len(after.entrants):
        count = re.compile(rf"(062 +){len(before.entrants)}\b")
        for at, line in enumerate(document.lines):
            if line.text.startswith("062"):
                texts[at] = count.sub(rf"\g<1>{len(after.entrants)}", line.text, count=1)
    if before.planned != after.planned:
        _replace(
            texts, codes, wanted=("142", "XXR"), value="" if after.planned is None else str(after.planned), added=added
        )
    if set(before.forbidden) != set(after.forbidden):
        pairs = [pair for pair in after.forbidden if pair not in before.forbidden]
        if not set(before.forbidden) <= set(after.forbidden):
            _drop(texts, (one.line for one in found.forbidden))
            pairs = list(after.forbidden)
        added += _pair_lines(pairs)
    if _to_come(before) != _to_come(after):
        _drop(texts, (at for at, _ in found.absent))
        _drop(texts, (one.line for one in found.byes if one.round > len(after.rounds)))
        added += _absence_lines(after, found.points)
    return added


def _replace(texts: list[str | None], codes: list[str], wanted: tuple[str, ...], value: str, added: list[str]) -> None:
    there = [at for at, code in enumerate(codes) if code in wanted]
    for at in there:
        texts[at] = f"{codes[at]} {value}" if value else None
    if value and not there:
        added.append(f"{wanted[-1]} {value}")


def _drop(texts: list[str | None], lines: Iterable[int]) -> None:
    for at in lines:
        texts[at] = None


def _kept(document: Document, texts: list[str | None], start: int, stop: int) -> Iterator[Line]:
    for line, text in zip(document.lines[start:stop], texts[start:stop], strict=True):
        if text is not None:
            yield Line(text, line.end)


def _ended(lines: Iterable[Line | str], end: str) -> Iterator[Line]:
    """As lines, each with an end but for the last one if it has none."""
    every = [line if isinstance(line, Line) else Line(line, end) for line in lines]
    for at, line in enumerate(every, 1):
        yield line if line.end or at == len(every) else Line(line.text, end)
