"""Tournament reports from events: fresh ones, and those that were read with only that rewritten which has changed.

Fresh files are TRF16 with the lines of TRF(x) and TRF-2026 that other programs need to go on: ``XXR`` and ``142``, and
``XXZ`` and ``240`` for who is not there in the next round; or TRF-2026 with its own lines alone, but for ``XXC rank``,
which it has nothing for. Only TRF-2026 has the coded type ``192``: programs that pair by FIDE's rules refuse a file
with a type that they do not know. Fields that the format has no place for go into a comment, see
:class:`cgos_server.tournaments.files.trf_records.Extra`; explanations and reasons are left out. No file says that a
round was paired by FIDE's rules which was paired here: where a file of another program did, its type is replaced.

A void game that was played again is left out: its replay stands in the cell. What a report cannot hold at all is
refused: two games of a player in a round, ids above 9999, points that are not among those its results give. A round
with games that have no result yet is written with blank results, which pairing programs refuse to read. Must not know:
systems, files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, Literal

import msgspec

from cgos_protocol.errors import Code, Invalid
from cgos_protocol.lines.misread import one_line
from cgos_server.tournaments.base import WIN, Bye, Entrant, Event, Game, Result
from cgos_server.tournaments.files import trf
from cgos_server.tournaments.files.trf import (
    CELL,
    FIRST_CELL,
    ID_MAX,
    POINTS_MAX,
    PROGRAM_ROUNDS,
    ROUND_MAX,
    Document,
    Line,
    Player,
)
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
from cgos_server.tournaments.ledger import counting, ledger
from cgos_server.tournaments.registry import known, shown_name, words

Grid = dict[int, list[str]]
"""Cells of ten columns by id and round; blank: absent."""

BLANK: Final = " " * CELL
_PAIRS: Final = (("1", "0"), ("=", "="), ("0", "1"), ("0", "0"), ("=", "0"), ("0", "="))
_OF_FIDE: Final = re.compile(r"fide|dutch|dubov|burstein|lim\b", re.IGNORECASE)
_FORFEITS: Final = (("+", "-"), ("-", "+"), ("-", "-"))
_CODES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "round-robin": "CUSTOM_ROUNDROBIN",
        **dict.fromkeys(("cup", "double-elimination"), "CUSTOM_KNOCKOUT"),
    }
)
"""Of the Tournament Type Code Table (FIDE Handbook C.02.03, annex C); all others come nearest to CUSTOM_SWISS. None of
our systems pairs by FIDE's rules, so none has a code of FIDE's."""

_BYES: Final = (("F", "FPB"), ("H", "HPB"), ("Z", "ZPB"))


Edition = Literal["trf16", "trf-2026"]


def from_event(event: Event, places: Mapping[int, int] | None = None, edition: Edition = "trf16") -> Document:
    """A fresh report.

    :param places: by id; None: by points, then by the order of registration
    :param edition: the standard by which it is written
    :raises Refused: what a report cannot hold
    """
    general = Records()
    if event.bye_points != WIN:
        general.points["PAB"] = 5 * event.bye_points
    places = places or _places(event)
    grid, given = cells(event, general)
    is_new = edition == "trf-2026"
    head = [f"012 {one_line(event.name)}", f"062 {len(event.entrants)}", f"092 {type_words(event)}"]
    if is_new:
        head.append(f"192 {_coded(event)}")
    head.append(_comment(event, grid, given))
    if event.planned is not None:
        head += [f"142 {event.planned}", "" if is_new else f"XXR {event.planned}"]
    if event.bye_points != WIN:
        points = f"{event.bye_points / 2:.1f}"
        head += [f"162  P{points:>4}", "" if is_new else f"XXS PAB={points}"]
    scores = ledger(event).lines
    body = [_player_line(one, scores[one.id].score, places[one.id], grid[one.id]) for one in event.entrants]
    tail = [*(_new_pair_lines(event) if is_new else _pair_lines(event.forbidden))]
    tail += _absence_lines(event, general.points, with_next=not is_new)
    order = [one.id for one in event.entrants]
    if order != list(range(1, len(order) + 1)):  # with gaps too: bbpPairings refuses them otherwise
        head.append("XXC rank")
    return trf.document(Line(text, "\r\n") for text in (*head, *body, *tail) if text)


def type_words(event: Event) -> str:
    """The type of the tournament in words. Orders of pairing that share a name with systems of FIDE say whose they are,
    and that they are none of those."""
    name = one_line(shown_name(event.system, event.options))
    return f"{name} (no system of FIDE)" if _word(event) == "mwm" else name


def _coded(event: Event) -> str:
    return _CODES.get(_word(event), "CUSTOM_SWISS")


def _word(event: Event) -> str:
    """The registry's word for its system, where it is not unknown here."""
    return known(event.system)[0] if event.system in words() else event.system


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
    if before.bye_points != event.bye_points:
        raise Invalid(Code.TRF_POINTS, "What a bye gives cannot be changed in a file that was read. Write a new file.")
    gone = {one.id for one in before.entrants} - {one.id for one in event.entrants}
    if gone:
        raise Invalid(Code.TRF_ENTRANTS, f"Player {min(gone)} of the file is no longer in the event. Write a new file.")
    return _Rewriting(document, before, event, places or _places(event)).document()


def cells(event: Event, general: Records) -> tuple[Grid, list[tuple[int, int]]]:
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
                f"{_more_games(event, number)}: player {id_} is twice in round {number}, and a tournament report holds "
                "one game a round. Write JSON.",
            )
        grid[id_][number - 1] = text

    for each in event.rounds:
        for game in counting(each):
            first, second = _codes(game, general.points, each.number)
            put(game.white, each.number, f"{game.black:4d} w {first}  ")
            put(game.black, each.number, f"{game.white:4d} b {second}  ")
        for bye in each.byes:
            code = _bye_code(bye, general.points, each.number)
            put(bye.entrant, each.number, f"0000 - {code}  ")
            if code != "U" and not bye.requested:
                given.append((each.number, bye.entrant))
    return grid, given


def _more_games(event: Event, number: int) -> str:
    """What of an event a report cannot hold where somebody is twice in a round."""
    word = _word(event)
    if word == "bubble":
        return "The bubble moves by matches, not by rounds"
    if word in ("cup", "double-elimination"):
        return f"A match of round {number} was played again after a draw"
    return f"Two who met in round {number} played several games"


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
            black=game.black,
            white=game.white,
            handicap=game.handicap,
            void=game.how == "void",
            no_contest=game.how == "no-contest",
        )
        for each in event.rounds
        for game in counting(each)
        if game.handicap or game.how in ("void", "no-contest")
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


def _comment(event: Event, grid: Grid, given: Iterable[tuple[int, int]]) -> str:
    return EXTRA + msgspec.json.encode(_extra(event, grid, given)).decode()


def _to_come(event: Event) -> set[tuple[int, int, int]]:
    """(round, id, half points) of everybody who will not be there."""
    begun = len(event.rounds)
    absent = {(one.round, one.entrant, one.points) for one in event.requests if one.round > begun}
    requested = {id_ for number, id_, _ in absent if number == begun + 1}
    if event.planned is None or begun < event.planned:
        absent |= {(begun + 1, id_, 0) for id_ in event.withdrawn if id_ not in requested}
    return absent


def _absence_lines(event: Event, points: Mapping[str, int], *, with_next: bool = True) -> Iterator[str]:
    """Of the next round for JaVaFo, which knows no 240 lines, and of all rounds to come for others.

    :param with_next: whether those for JaVaFo are wanted
    """
    absent = _to_come(event)
    following = sorted(id_ for number, id_, _ in absent if number == len(event.rounds) + 1)
    if following and with_next:
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


def _new_pair_lines(event: Event) -> Iterator[str]:
    """Pairs that must not meet from now on."""
    last = max(event.planned or PROGRAM_ROUNDS, len(event.rounds) + 1)
    return (f"260 {1:3d} {last:3d} {one:4d} {other:4d}" for one, other in event.forbidden)


def _pair_lines(pairs: Iterable[tuple[int, int]]) -> Iterator[str]:
    return (f"XXP {one} {other}" for one, other in pairs)


def _ended_games(event: Event) -> set[tuple[int, int, int, Result]]:
    """What ranks follow from; to pair a round changes none."""
    return {(number, game.white, game.black, game.result) for number, game in event.games if game.result is not None}


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


class _Rewriting:
    """A report that is to say what an event says now, line by line where the event that it held says otherwise.

    :ivar texts: of the lines that were read; None: the line goes
    :ivar added: lines at the end
    """

    def __init__(self, report: Document, before: Event, after: Event, places: Mapping[int, int]) -> None:
        self.report, self.before, self.after, self.places = report, before, after, places
        self.general = records(report)
        self.grid, self.given = cells(after, self.general)
        self.texts: list[str | None] = [line.text for line in report.lines]
        self.added: list[str] = []

    def document(self) -> Document:
        """The report, rewritten."""
        report, event = self.report, self.after
        scores = ledger(event).lines
        self._players()
        known = {one.id for one in report.players}
        fresh = [
            _player_line(one, scores[one.id].score, self.places[one.id], self.grid[one.id])
            for one in event.entrants
            if one.id not in known
        ]
        self._whole()
        at = self.general.extra_line
        if at is None:
            self.added.append(_comment(event, self.grid, self.given))
        elif _extra(event, self.grid, self.given) != self.general.extra:
            self.texts[at] = _comment(event, self.grid, self.given)
        stop = 1 + max((one.line for one in report.players), default=len(self.texts) - 1)
        kept = [
            None if text is None else Line(text, line.end) for text, line in zip(self.texts, report.lines, strict=True)
        ]
        new, added = ([Line(text, report.end) for text in texts] for texts in (fresh, self.added))
        lines = [line for line in (*kept[:stop], *new, *kept[stop:], *added) if line is not None]
        # Every line has an end, but for the last one if it has none.
        ended = [*(line._replace(end=line.end or report.end) for line in lines[:-1]), *lines[-1:]]
        return trf.document(ended, report.encoding, marked=report.marked)

    def _players(self) -> None:
        """Lines of players."""
        before, after = self.before, self.after
        old_grid, _ = cells(before, self.general)
        old_scores, scores = ledger(before).lines, ledger(after).lines
        old_entrants, entrants = before.by_id, after.by_id
        to_come = {(number, id_) for number, id_, _ in _to_come(after)}
        rows = {one.id: _rows(one, old_grid[one.id], self.grid[one.id], to_come) for one in self.report.players}
        ended = _ended_games(before) != _ended_games(after)
        for one in self.report.players:
            line = self.report.lines[one.line].text
            text = _with_fields(line, one, old_entrants[one.id], entrants[one.id])
            for number, (old, new) in enumerate(zip(*rows[one.id], strict=True)):
                if old != new:
                    text = _put(text, FIRST_CELL + one.shift + CELL * number, new)
            if scores[one.id].score != old_scores[one.id].score:
                text = _put(text, 80 + one.shift, _points(scores[one.id].score))
            if ended:
                text = _put(text, 85 + one.shift, f"{self.places[one.id]:4d}")
            self.texts[one.line] = text if text == line else text.rstrip()

    def _whole(self) -> None:
        """Lines about the whole tournament."""
        before, after = self.before, self.after
        if before.name != after.name:
            self._replace(("012",), one_line(after.name))
        if len(before.entrants) != len(after.entrants):
            count = re.compile(rf"(062 +){len(before.entrants)}\b")
            for at, line in enumerate(self.report.lines):
                if line.text.startswith("062"):
                    self.texts[at] = count.sub(rf"\g<1>{len(after.entrants)}", line.text, count=1)
        if any(each.explanation.summary for each in after.rounds[len(before.rounds) :]):
            self._paired_here()
        if before.planned != after.planned:
            self._replace(("142", "XXR"), "" if after.planned is None else str(after.planned))
        if set(before.forbidden) != set(after.forbidden):
            pairs = [pair for pair in after.forbidden if pair not in before.forbidden]
            if not set(before.forbidden) <= set(after.forbidden):
                self._drop(one.line for one in self.general.forbidden)
                pairs = list(after.forbidden)
            self.added += _pair_lines(pairs)
        if _to_come(before) != _to_come(after):
            self._drop(at for at, _ in self.general.absent)
            self._drop(one.line for one in self.general.byes if one.round > len(after.rounds))
            self.added += _absence_lines(after, self.general.points)

    def _paired_here(self) -> None:
        """A round was paired that FIDE's rules did not pair: the file may not name a system of theirs any more."""
        if self.general.coded:
            for at, line in enumerate(self.report.lines):
                if line.text.startswith("192"):
                    self.texts[at] = f"192 {_coded(self.after)}"
                elif line.text.startswith("092"):
                    self.texts[at] = f"092 {type_words(self.after)}"
        elif _OF_FIDE.search(self.general.type):
            self._replace(("092",), type_words(self.after))

    def _replace(self, codes: tuple[str, ...], value: str) -> None:
        """What the lines of these codes say; empty: they go. Where there is none, one of the last code is added."""
        there = [(at, line.text[:3]) for at, line in enumerate(self.report.lines) if line.text[:3] in codes]
        for at, code in there:
            self.texts[at] = f"{code} {value}" if value else None
        if value and not there:
            self.added.append(f"{codes[-1]} {value}")

    def _drop(self, lines: Iterable[int]) -> None:
        for at in lines:
            self.texts[at] = None
