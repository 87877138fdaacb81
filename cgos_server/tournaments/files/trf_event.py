"""Events from tournament reports: starting ranks are the ids and, but for ``XXC rank``, the order of registration.

========================  ==============================================================================================
1 0 =, W L D              a game, also one of less than a move
\\+ -                      a forfeit; two - : both lost by it
opponent, blank or *      a game without a result yet
U, and + without opponent the bye of the pairing, `Event.bye_points`
F H Z (0000 with = -)     a bye of full, half or no points that was asked for, and the request
blank                     absent; blanks from round 1 on: joined later
a column with byes only   requests for the round that is to be paired next, as are XXZ and 240
XXP, 260                  forbidden, where it holds for the next round
142, XXR                  planned
162, XXS, BBW to BBU      points; a game gives what they say, in whole half points
========================  ==============================================================================================

A report shows a withdrawal only as rounds without an entry; whoever withdrew is therefore written as absent from the
next round, and named in our comment. A forfeit of which nobody says the colors is recorded as if the smaller id had
White: nothing follows from it. What the format cannot hold comes from our comment
(:class:`~cgos_server.tournaments.files.trf_records.Extra`) or is not there: system, options, seed, tie-breakers,
handicaps, voids, withdrawals, grades, clubs, starting points. Explanations and reasons are in no report. Must not know:
systems, files.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Final

from cgos_protocol.lines.misread import CONTROL, Misread
from cgos_server.tournaments.base import NO_CONTEST, VOID, Bye, Entrant, Event, Game, Request, Result, Round
from cgos_server.tournaments.checking import numbered
from cgos_server.tournaments.files.halves import requests_in
from cgos_server.tournaments.files.trf import PROGRAM_ROUNDS, Cell, Document, Player, fault
from cgos_server.tournaments.files.trf_records import STANDARD_POINTS, ExtraEntrant, ExtraGame, Records, records
from cgos_server.tournaments.registry import words

DEFAULT_SYSTEM: Final = "dutch"
NAME_WIDTH: Final = 33
COUNTRY_WIDTH: Final = 3
RATING_MAX: Final = 9999
RATING_COLUMN: Final = 49
_CODED: Final = (
    (re.compile(r"FIDE_DUTCH(_20[0-9]{2})?(_BAKU)?", re.ASCII), "dutch"),
    (re.compile(r"FIDE_BURSTEIN(_BAKU)?"), "burstein"),
    (re.compile(r"(FIDE|BERGER)_DOUBLEROUNDROBIN|BERGER_ROUNDROBIN_G2"), "double-round-robin"),
    (re.compile(r"(FIDE|BERGER)_ROUNDROBIN|BERGER_ROUNDROBIN_G1"), "round-robin"),
)
"""Codes of the Tournament Type Code Table (FIDE Handbook C.02.03, annex C) that a system of ours comes near to."""

_MWM: Final = re.compile(r"MWM ([a-z0-9]+) \(no system of FIDE\)")
"""How our own files say it in words."""

MOST_PAIRS: Final = 500_000
"""Forbidden ones: a list of a thousand players."""

_NO_GAME: Final = {"+": "U", "=": "H", "-": "Z", "U": "U", "H": "H", "F": "F", "Z": "Z", " ": "Z"}
_PLAYED: Final = {"1": "W", "W": "W", "=": "D", "D": "D", "0": "L", "L": "L"}
_OPEN: Final = {" ", "*"}
_BYE_POINTS: Final = {"F": "FPB", "H": "HPB", "Z": "ZPB", "U": "PAB"}


def to_event(document: Document, system: str | None = None) -> Event:
    """The event of a report.

    :param system: its word; None: what the report says, or ``dutch``
    :raises Misread: where lines contradict each other, or a result gives points that are not whole half points
    """
    general = records(document)
    halves = _halves(general)
    players = list(document.players) if general.by_rank else sorted(document.players, key=lambda one: one.id)
    begun = rounds_begun(document)
    _require_known(document, general)
    extra = general.extra
    rounds = numbered(tuple(_rounds(document, general, halves, begun)))
    entrants = tuple(_entrant(one, extra.entrants.get(str(one.id)), begun) for one in players)
    ids = {one.id for one in players}
    return Event(
        system=system or system_said(general) or DEFAULT_SYSTEM,
        entrants=entrants,
        name=_plain(general.name),
        options=dict(extra.options) if system in (None, extra.system) else {},
        planned=general.rounds,
        seed=extra.seed,
        rounds=rounds,
        withdrawn=tuple(id_ for id_ in extra.withdrawn if id_ in ids),
        requests=(*requests_in(rounds), *_requests(document, general, halves, begun)),
        forbidden=() if general.of_teams else _forbidden(general, begun + 1),
        bye_points=halves["PAB"],
        tie_breakers=extra.tie_breakers,
    )


def system_said(general: Records) -> str | None:
    """The word of the system that a report names; None: none, or one that we have not."""
    if general.extra.system:
        return general.extra.system
    coded = general.coded.upper()
    ours = _MWM.match(general.type)
    if ours is not None and ours[1] in words():
        return ours[1]
    by_code = next((word for code, word in _CODED if code.fullmatch(coded)), None)
    return by_code or (general.type if general.type in words() else None)


def hindrances(general: Records) -> Iterator[str]:
    """Why our systems must not pair the next round of such a report, in sentences."""
    if general.of_teams:
        yield "The file is of a team tournament. Only tournaments of single players are paired here."
    usual = {**STANDARD_POINTS, "PAB": general.points["PAB"]}
    if general.points != usual:
        other = ", ".join(f"{key} {value / 10:.1f}" for key, value in general.points.items() if usual[key] != value)
        yield (
            f"The file gives other points than 1, one half and 0 ({other}; words as for XXS). Its standings can be "
            "shown, but its rounds cannot be paired here."
        )
    if general.abnormal:
        yield "The file gives points that do not follow from results (299). Its rounds cannot be paired here."


def remarks(general: Records) -> Iterator[str]:
    """What of such a report is kept but has no effect here, in sentences."""
    word = system_said(general)
    if general.coded and not general.extra.system and not general.of_teams:
        if word is None and not general.coded.upper().startswith("CUSTOM_"):
            yield f"The file names {general.coded}, which is no system of this program."
        elif word not in (None, general.type):
            alike = f"The system {word} of this program pairs alike, but not by FIDE's rules."
            yield f"The file names {general.coded}. {alike}"
    if general.team_lines and not general.of_teams:
        yield "The file names teams, but is of a tournament of single players: teams have no effect here."
    if general.accelerations or general.coded.upper().endswith("_BAKU"):
        yield "The acceleration is kept in the file but has no effect here."
    if general.color:
        yield "The initial color is kept in the file but has no effect here."
    to_the_end = min(general.rounds or PROGRAM_ROUNDS, PROGRAM_ROUNDS)
    if any(one.first > 1 or one.last < to_the_end for one in general.forbidden):
        yield "Pairs forbidden for some rounds are taken as forbidden where the next round is one of them."


def cut_lines(document: Document) -> Iterator[str]:
    """Sentences where a player's line seems to be cut short: in its rating, or before points that other lines have."""
    have_points = any(one.points is not None for one in document.players)
    for one in document.players:
        length = len(document.lines[one.line].text.rstrip())
        in_rating = RATING_COLUMN <= length - one.shift < RATING_COLUMN + 3
        if in_rating or (have_points and one.points is None):
            where = "inside the rating" if in_rating else "before the points that other lines have"
            yield f"Line {one.line + 1} (player {one.id}) ends in column {length}, {where}. It may be cut short."


def check_scores(document: Document) -> Iterator[str]:
    """Sentences where the points column does not follow from the results.

    As bbpPairings has it, the column may also contain the fictitious points of the next round, the points of byes for
    the next round, or both.
    """
    general = records(document)
    begun = rounds_begun(document)
    fictitious = general.fictitious((one.id for one in document.players), begun + 1)
    for one in document.players:
        if one.points is None:
            continue
        points = sum(_tenths(general.points, cell) for cell in one.cells[:begun])
        more = fictitious.get(one.id, 0)
        requested = sum(_tenths(general.points, cell) for cell in one.cells[begun : begun + 1])
        if one.points not in (points, points + more, points + requested, points + more + requested):
            yield (
                f"Line {one.line + 1}, column {81 + one.shift}: player {one.id} has {one.points / 10:.1f} points, "
                f"but the results give {points / 10:.1f}."
            )


def rounds_begun(document: Document) -> int:
    """How many rounds have been paired: columns up to the last with a game or a bye of the pairing; a column of other
    byes for everybody counts too, if it follows."""
    players = document.players
    cells = (cell for one in players for cell in enumerate(one.cells, 1))
    begun = max((number for number, cell in cells if cell.opponent or cell.result in ("U", "+")), default=0)
    while players and all(len(one.cells) > begun and not one.cells[begun].is_blank for one in players):
        begun += 1
    return begun


def code_points(points: Mapping[str, int], code: str, *, white: bool) -> int:
    """What a code of a game gives, in the unit of `points`."""
    if code in "+-":
        return points["FW" if code == "+" else "FL"]
    return points[("W" if white else "B") + _PLAYED[code]]


def _tenths(points: Mapping[str, int], cell: Cell) -> int:
    if cell.is_blank:
        return 0
    if cell.opponent == 0:
        return points[_BYE_POINTS[_NO_GAME.get(cell.result, "Z")]]
    return code_points(points, cell.result, white=cell.color == "w") if cell.result in "10=+-WDL" else 0


def _halves(general: Records) -> dict[str, int]:
    for key, value in general.points.items():
        if value % 5:
            problem = f"a result gives {value / 10:.1f} points ({key})"
            raise fault(general.points_line, 4, problem, "Only whole and half points can be counted here")
    return {key: value // 5 for key, value in general.points.items()}


def _require_known(document: Document, general: Records) -> None:
    """Raises Misread where a line names a player that there is not."""
    if general.of_teams:
        return
    ids = {one.id for one in document.players}
    named = [(at, id_) for at, absent in general.absent for id_ in absent]
    named += [(one.line, id_) for one in general.byes for id_ in one.ids]
    named += [(one.line, id_) for one in general.forbidden for id_ in one.ids]
    for at, id_ in named:
        if id_ not in ids:
            text = document.lines[at].text
            column = text.find(str(id_), 3) + 1
            raise fault(at, column, f"there is no player {id_}", "Name starting ranks of 001 lines")


def _entrant(player: Player, extra: ExtraEntrant | None, begun: int) -> Entrant:
    extra = extra or ExtraEntrant()
    first = next((number for number, cell in enumerate(player.cells[:begun], 1) if not cell.is_blank), begun + 1)
    same_rating = extra.rating is not None and rating_column(extra.rating) == (player.rating or 0)
    same_name = extra.name and name_column(extra.name) == player.name
    same_country = extra.country and country_column(extra.country) == player.federation
    return Entrant(
        id=player.id,
        name=extra.name if same_name else _plain(player.name) or f"Player {player.id}",
        rating=extra.rating if same_rating else player.rating,
        start=extra.start,
        grade=extra.grade,
        country=extra.country if same_country else _plain(player.federation),
        club=extra.club,
        joined=min(extra.joined or first, first),
    )


def _plain(text: str) -> str:
    """With blanks for control characters."""
    return CONTROL.sub(" ", text).strip()


def rating_column(rating: float | None) -> int:
    """What the column of ratings holds: 0 for unknown and for what does not fit."""
    rounded = round(rating or 0)
    return rounded if 0 <= rounded <= RATING_MAX else 0


def name_column(name: str) -> str:
    """What the column of names holds: one line, cut to its width."""
    return " ".join(name.split())[:NAME_WIDTH].strip()


def country_column(country: str) -> str:
    """What the column of countries holds: one line, cut to its width."""
    return " ".join(country.split())[:COUNTRY_WIDTH].strip()


def _rounds(document: Document, general: Records, halves: Mapping[str, int], begun: int) -> Iterator[Round]:
    players = {one.id: one for one in document.players}
    given = set(general.extra.given)
    more = {(one.round, one.white, one.black): one for one in general.extra.games}
    games: list[list[Game]] = [[] for _ in range(begun)]
    byes: list[list[Bye]] = [[] for _ in range(begun)]
    for id_, one in sorted(players.items()):
        for number, cell in enumerate(one.cells[:begun], 1):
            if cell.is_blank:
                continue
            if cell.opponent == 0:
                code = _bye_code(one, cell)
                requested = code != "U" and (number, id_) not in given
                byes[number - 1].append(Bye(id_, halves[_BYE_POINTS[code]], requested))
                continue
            other = players.get(cell.opponent)
            if other is None or other is one:
                raise fault(one.line, cell.column, f"round {number} has no opponent {cell.opponent}", "Name a player")
            facing = other.cells[number - 1] if number <= len(other.cells) else None
            if facing is None or facing.opponent != id_:
                problem = f"in round {number} player {id_} meets {other.id}, but not the other way round (line"
                raise fault(one.line, cell.column, f"{problem} {other.line + 1})", "Let both lines say the same")
            if id_ < other.id:
                games[number - 1].append(_game(one, cell, facing=facing, number=number, halves=halves, more=more))
    for number in range(1, begun + 1):
        yield Round(number=number, games=tuple(games[number - 1]), byes=tuple(byes[number - 1]))


def _bye_code(player: Player, cell: Cell) -> str:
    if cell.color != "-" or cell.result not in _NO_GAME:
        what = f"{cell.color} {cell.result}".strip("- ")
        raise fault(player.line, cell.column, f"{what} without an opponent", "Name the opponent, or give U H F or Z")
    return _NO_GAME[cell.result]


def _game(
    player: Player,
    cell: Cell,
    facing: Cell,
    number: int,
    halves: Mapping[str, int],
    more: Mapping[tuple[int, int, int], ExtraGame],
) -> Game:
    """The game of `player`, whose id is the smaller one, and an opponent whose cell is `facing`."""

    def contradiction(offset: int, what: str) -> Misread:
        problem = f"round {number} of {player.id} and {cell.opponent} has {what}"
        return fault(player.line, cell.column + offset, problem, "Let both lines say the same")

    colors = {cell.color, facing.color} - {"-"}
    codes = cell.result, facing.result
    is_forfeit = set(codes) <= {"+", "-"}
    if (not colors and not is_forfeit) or (colors and cell.color == facing.color):
        raise contradiction(5, "not one White and one Black")
    is_white = not colors or cell.color == "w" or facing.color == "b"
    white, black = (player.id, cell.opponent) if is_white else (cell.opponent, player.id)
    extra = more.get((number, white, black)) or ExtraGame(round=number, black=black, white=white)
    if set(codes) <= _OPEN:
        return Game(black=black, white=white, result=None, handicap=extra.handicap)
    kinds = [_PLAYED.get(code, code) for code in codes]
    unknown = not is_forfeit and not set(codes) <= set(_PLAYED)
    if unknown or codes == ("+", "+") or ("W" in kinds and "L" not in kinds):
        raise contradiction(7, f"the results {codes[0]!r} and {codes[1]!r}")
    mine, theirs = code_points(halves, codes[0], white=is_white), code_points(halves, codes[1], white=not is_white)
    first, second = (mine, theirs) if is_white else (theirs, mine)
    result = Result(second, first, "forfeit" if is_forfeit else "played")
    if (extra.void or extra.no_contest) and codes == ("-", "-"):
        result = VOID if extra.void else NO_CONTEST
    return Game(black=black, white=white, result=result, handicap=extra.handicap)


def _requests(document: Document, general: Records, halves: Mapping[str, int], begun: int) -> Iterator[Request]:
    """Requests for rounds that are to come, each once: by column, then 240, then XXZ."""
    requested: dict[tuple[int, int], int] = {}
    for one in document.players:
        for number, cell in enumerate(one.cells, 1):
            if number > begun and not cell.is_blank:
                requested[(one.id, number)] = halves[_BYE_POINTS[_bye_code(one, cell)]]
    if not general.of_teams:
        for byes in general.byes:
            for id_ in byes.ids:
                if byes.round > begun:
                    requested.setdefault((id_, byes.round), halves[_BYE_POINTS[byes.kind]])
        for _, ids in general.absent:
            for id_ in ids:
                requested.setdefault((id_, begun + 1), 0)
    gone = set(general.extra.withdrawn)
    for (id_, number), points in requested.items():
        if not (id_ in gone and number == begun + 1 and points == 0):
            yield Request(id_, number, points)


def _forbidden(general: Records, number: int) -> tuple[tuple[int, int], ...]:
    """Pairs that must not meet in round `number`, each once, smaller id first."""
    pairs: dict[tuple[int, int], None] = {}
    for one in general.forbidden:
        if one.first <= number <= one.last:
            ids = sorted(set(one.ids))
            if len(pairs) + len(ids) * (len(ids) - 1) // 2 > MOST_PAIRS:
                raise fault(one.line, 4, f"more than {MOST_PAIRS} pairs are forbidden", "Forbid fewer")
            pairs.update(dict.fromkeys(itertools.combinations(ids, 2)))
    return tuple(pairs)
