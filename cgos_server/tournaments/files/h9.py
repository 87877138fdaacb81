"""Events as result tables of the European Go Federation (EGF), which its database takes: H9, as OpenGotha calls it.

One line a player, by places: place, name, grade, country, club, scores, and one word a round. Everything behind a
semicolon is a comment; OpenGotha and others have the name of the event (``; EV[...]``) and the names of the scores (``;
Pl Name``) there. Fields are parted by blanks. A round's word:

- ``12+/w0``: won with White against the player at place 12, no handicap; ``-`` lost, ``=`` drawn, ``?`` no result yet;
  behind the color the stones that Black received; ``12+`` alone: the color is not known;
- ``12+!w0``: by forfeit, never started;
- ``0+``, ``0=``, ``0-``: no opponent; a point, half a point, none.

Of players a table has places only, so places are their numbers; where some share a place or have a blank one, the
players are numbered by lines, as OpenGotha does. A number behind a bar at the end of a line (EGF's own of the player)
is skipped. Tables of the French federation (``.tou``, whose head begins ``;Num Nom``) have a license, which may be
missing, in place of the country, and no scores. ``0+`` is read as a bye given because the field was odd, ``0=``
as one that was asked for, ``0-`` as an absence, before the first other word as not entered yet. Where the first score
is ``MMS``, what a player's McMahon score (MMS) has besides points is taken as starting points, so that scores are those
of the file. Must not know: systems, files.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from msgspec.structs import replace

from cgos_protocol.errors import Code, Invalid, Refused
from cgos_protocol.lines.misread import CONTROL, Misread, one_line, text_of
from cgos_server.tournaments.base import DRAW, Bye, Entrant, Event, Game, Round, Standings, pair_of
from cgos_server.tournaments.files.halves import POINTS, Half, game_of, requests_in, sign_of
from cgos_server.tournaments.ledger import ledger
from cgos_server.tournaments.standings.grades import GRADES, grade_index
from cgos_server.tournaments.standings.mms import mms

NAME_WIDTH: Final = 30
MOST_PLAYERS: Final = 9999
MOST_ROUNDS: Final = 100
SCORES: Final = 4
"""So many columns there are at least."""

_NO_COUNTRY: Final = "XX"
_NO_CLUB: Final = "xxxx"
_LINE: Final = re.compile(r"\s*(?:([0-9]{1,4})\s+)?(\S.*)\s([0-9]{1,2})([kdpKDP])(?:yu|an)?\s(.*)", re.ASCII)
_WORD: Final = re.compile(r"([0-9]{1,4})([-+=?])([/!]?)([wbWB?]?)([0-9]{0,2})", re.ASCII)
_GRADE: Final = re.compile(r"[0-9]{1,2}[kdpKDP]", re.ASCII)
_SCORE: Final = re.compile(r"-?[0-9]{1,6}(?:[.,][0-9]{1,3})?", re.ASCII)
_NAMED: Final = re.compile(r";\s*EV\[(.*)\]\s*$|^\s*;name=(.*)")
_COLUMNS: Final = re.compile(r";\s*Pl\s+Name\b.*?\bClub\s*(.*)", re.IGNORECASE)
_LICENSES: Final = re.compile(r"\s*;\s*Num\s+Nom\b", re.IGNORECASE)
_PIN: Final = re.compile(r"\|\s*[0-9]+$")
_fault: Final = partial(Misread, Code.H9)


class _Row(NamedTuple):
    """A player's line, 1 = the first of the file; `place` is 0 where the line has none. `score` is of its first column
    only, None without a number. Opponents of its rounds are places, 0 where there is none."""

    line: int
    place: int
    name: str
    grade: str
    country: str
    club: str
    score: float | None
    rounds: tuple[Half, ...]


def looks_alike(text: str) -> bool:
    """Whether this is the beginning of such a table: a line of a player with at least one round."""
    lines = (line.partition(";")[0].rstrip() for line in text.splitlines())
    first = next((line for line in lines if line.strip()), "")
    found = _LINE.fullmatch(_PIN.sub("", first))
    return bool(found and found[1] and _WORD.fullmatch(found[5].split()[-1]))


def to_event(data: bytes, system: str | None) -> Event:
    """The event of a file's bytes.

    :param system: its word; None: ``mcmahon`` where the first score is MMS, else ``swiss``
    :raises Misread: where it cannot be understood, or lines contradict each other
    """
    text, _ = text_of(Code.H9, data)
    name, first_score, rows, has_licenses = "", "", [], False
    for number, line in enumerate(text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}").splitlines(), 1):
        if named := _NAMED.search(line):
            name = name or CONTROL.sub(" ", named[1] or named[2] or "").strip()
        if columns := _COLUMNS.search(line):
            first_score = columns[1][:4].strip().upper()
        has_licenses = has_licenses or _LICENSES.match(line) is not None
        body = _PIN.sub("", line.partition(";")[0].rstrip()).rstrip()
        if body.strip():
            rows.append(_row(number, body, has_licenses))
    if not rows:
        raise _fault(1, 1, "the file has no players", "Give a line for each")
    if len(rows) > MOST_PLAYERS:
        raise _fault(rows[MOST_PLAYERS].line, 1, f"there are more than {MOST_PLAYERS} players", "Leave some out")
    count = len(rows[0].rounds)
    for row in rows:
        if len(row.rounds) != count:
            problem = f"there are {len(row.rounds)} rounds, but {count} in line {rows[0].line}"
            raise _fault(row.line, 1, problem, "Let every line have a word for each round")
    if len({row.place for row in rows} - {0}) < len(rows):
        rows = [row._replace(place=at) for at, row in enumerate(rows, 1)]
    by_mms = first_score == "MMS"
    event = _event(rows, system or ("mcmahon" if by_mms else "swiss"), name)
    return _with_starts(event, rows) if by_mms else event


def _row(number: int, line: str, has_licenses: bool) -> _Row:
    parts = _LINE.fullmatch(line)
    if parts is None:
        remedy = "Give place, name, grade such as 4k, country, club, scores and rounds"
        raise _fault(number, 1, "this is no line of a player", remedy)
    if parts[1] and not int(parts[1]):
        raise _fault(number, 1, "0 is no place", "Count places from 1")
    grade = f"{int(parts[3])}{parts[4].lower()}"
    try:
        grade_index(grade)
    except Refused as refused:
        raise _fault(number, parts.start(3) + 1, f"{grade!r} is no grade", "Give such as 4k or 2d") from refused
    fields = list(re.finditer(r"\S+", line[parts.start(5) :]))
    rounds = _halves(fields, parts.start(5) + 1)
    if len(rounds) > MOST_ROUNDS:
        raise _fault(number, 1, f"there are more than {MOST_ROUNDS} rounds", "Leave those beyond out")
    scores = []
    while fields and _SCORE.fullmatch(fields[-1][0]) and len(fields) > 2:
        scores.append(fields.pop()[0])
    if len(fields) > 2:
        problem = f"{fields[2][0]!r} is neither a score nor a round"
        raise _fault(number, parts.start(5) + fields[2].start() + 1, problem, "Give such as 12+/w0, 3-/b2 or 0=")
    words = [CONTROL.sub(" ", field[0]) for field in fields]
    if has_licenses:
        words = ["", *(word for word in words if not word.isdigit())]
    country, club = (*words, "", "")[:2]
    return _Row(
        line=number,
        place=int(parts[1] or 0),
        name=one_line(parts[2]),
        grade=grade,
        country="" if country == _NO_COUNTRY else country,
        club="" if club == _NO_CLUB else club,
        score=float(scores[-1].replace(",", ".")) if scores else None,
        rounds=rounds,
    )


def _halves(fields: list[re.Match[str]], column: int) -> tuple[Half, ...]:
    """Takes the words of rounds from the end of a line's fields.

    :param column: of the first field, 1 = the first
    """
    halves: list[Half] = []
    while fields and (word := _WORD.fullmatch(fields[-1][0])):
        opponent, sign, way, color, stones = word.groups()
        half = Half(
            opponent=int(opponent),
            sign=sign,
            color=color.lower().strip("?"),
            stones=int(stones or 0),
            forfeit=way == "!",
            column=column + fields.pop().start(),
        )
        halves.append(half)
    return tuple(reversed(halves))


def _event(rows: Sequence[_Row], system: str, name: str) -> Event:
    by_place = {row.place: row for row in rows}
    last = len(rows[0].rounds)
    rounds = tuple(_round(by_place, number) for number in range(1, last + 1))
    entrants = tuple(
        Entrant(
            id=row.place,
            name=row.name,
            grade=row.grade,
            country=row.country,
            club=row.club,
            joined=next((number for number, half in enumerate(row.rounds, 1) if not _is_absent(half)), last + 1),
        )
        for row in rows
    )
    return Event(system=system, entrants=entrants, name=name, rounds=rounds, requests=requests_in(rounds))


def _is_absent(half: Half) -> bool:
    return half.opponent == 0 and half.sign in "-?"


def _round(by_place: Mapping[int, _Row], number: int) -> Round:
    games: list[Game] = []
    byes: list[Bye] = []
    for place, row in by_place.items():
        half = row.rounds[number - 1]
        if half.opponent == 0:
            if not _is_absent(half):
                byes.append(Bye(place, POINTS[half.sign], requested=half.sign == "="))
            continue
        other = by_place.get(half.opponent)
        if other is None or other is row:
            raise _fault(row.line, half.column, f"round {number} has no opponent {half.opponent}", "Name a place")
        facing = other.rounds[number - 1]
        meet = facing.opponent == place
        if meet and place > half.opponent:
            continue
        game = game_of(place, half, facing) if meet else None
        if game is None:
            problem = (
                f"round {number} of {place} and {half.opponent} is another in line {other.line}"
                if meet
                else f"in round {number} {place} meets {half.opponent}, but not the other way round (line {other.line})"
            )
            raise _fault(row.line, half.column, problem, "Let both lines say the same")
        games.append(game)
    return Round(number=number, games=tuple(games), byes=tuple(byes))


def _with_starts(event: Event, rows: Sequence[_Row]) -> Event:
    """With the starting points that make scores those of the file. Where scores are whole although somebody has an odd
    number of ``0=``, halves of absences are rounded down there: then ``0=`` is an absence, as McMahon systems count."""
    scores = {row.place: row.score for row in rows if row.score is not None}
    halves = {row.place: sum(half.opponent == 0 and half.sign == "=" for half in row.rounds) for row in rows}
    drawn = Counter(id_ for _, game in event.games if game.result and game.result.white == DRAW for id_ in game.pair)
    odd = [place for place in scores if halves[place] % 2]
    if odd and all(round(2 * scores[place]) % 2 == drawn[place] % 2 for place in odd):
        absent = tuple(replace(one, points=0) for one in event.requests)
        rounds = tuple(
            replace(each, byes=tuple(replace(bye, points=0) if bye.requested else bye for bye in each.byes))
            for each in event.rounds
        )
        event = replace(event, requests=absent, rounds=rounds)
    lines = ledger(event).lines
    entrants = tuple(
        one if one.id not in scores else replace(one, start=round(2 * scores[one.id]) - mms(lines[one.id], 0))
        for one in event.entrants
    )
    return replace(event, entrants=entrants)


def renumbered(event: Event, standings: Standings) -> Event:
    """The event as a table can number its players: by place, those who share one in the order of the standings."""
    number = {row.entrant: at for at, row in enumerate(standings.rows, 1)}
    by_id = event.by_id
    return replace(
        event,
        entrants=tuple(replace(by_id[row.entrant], id=number[row.entrant]) for row in standings.rows),
        rounds=tuple(
            replace(
                each,
                games=tuple(replace(game, white=number[game.white], black=number[game.black]) for game in each.games),
                byes=tuple(replace(bye, entrant=number[bye.entrant]) for bye in each.byes),
            )
            for each in event.rounds
        ),
        withdrawn=tuple(number[id_] for id_ in event.withdrawn),
        requests=tuple(replace(one, entrant=number[one.entrant]) for one in event.requests),
        forbidden=tuple(pair_of(number[one], number[other]) for one, other in event.forbidden),
        changes=tuple(
            replace(one, entrants=tuple(number[id_] for id_ in one.entrants if id_ in number)) for one in event.changes
        ),
    )


def write(event: Event, standings: Standings) -> bytes:
    """A table of the event, in UTF-8. A game that counts for nothing is written as none.

    :param standings: of that event; their first values become the scores
    :raises Refused: what a table cannot hold
    """
    if len(event.entrants) > MOST_PLAYERS or len(event.rounds) > MOST_ROUNDS:
        raise Invalid(Code.H9_SIZE, f"H9 holds {MOST_PLAYERS} players and {MOST_ROUNDS} rounds. Write JSON.")
    placed = renumbered(event, standings)
    words = _words(placed)
    columns = [_short(word) for word in standings.order[:SCORES]]
    head = f"; Pl {'Name':{NAME_WIDTH}} Rk Co Club" + "".join(f" {column:>4}" for column in columns)
    lines = [f"; EV[{_plain(event.name)}]", ";", head]
    for one, row in zip(placed.entrants, standings.rows, strict=True):
        name = _plain(one.name)[:NAME_WIDTH].strip() or f"Player {one.id}"
        values = [_value(value) for value in row.values[:SCORES]]
        values += ["0"] * (SCORES - len(values))
        fixed = f"{one.id:4d} {name:{NAME_WIDTH}} {_grade(one):>3} {_country(one):2} {_club(one):>4}"
        lines.append(
            fixed + "".join(f" {value:>4}" for value in values) + "".join(f" {text:>8}" for text in words[one.id])
        )
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


def _words(event: Event) -> dict[int, list[str]]:
    sign = partial(sign_of, code=Code.H9_POINTS, holder="H9")
    words = {one.id: ["0-"] * len(event.rounds) for one in event.entrants}
    for each in event.rounds:
        busy = Counter(id_ for game in each.games for id_ in game.pair) + Counter(bye.entrant for bye in each.byes)
        for id_, count in busy.items():
            if count > 1:
                raise Invalid(
                    Code.H9_GAMES,
                    f"Player {id_} is {count} times in round {each.number}, and H9 holds one game a round. Write JSON.",
                )
        for bye in each.byes:
            words[bye.entrant][each.number - 1] = f"0{sign(bye.points, each.number)}"
        for game in each.games:
            if game.how in ("void", "no-contest"):
                continue
            if game.handicap > 9:
                raise Invalid(
                    Code.H9_STONES, f"Round {each.number} has {game.handicap} stones; H9 holds 9. Write JSON."
                )
            way = "!" if game.how == "forfeit" else "/"
            made = (game.result.white, game.result.black) if game.result is not None else ()
            signs = [sign(points, each.number) for points in made] or ["?", "?"]
            words[game.white][each.number - 1] = f"{game.black}{signs[0]}{way}w{game.handicap}"
            words[game.black][each.number - 1] = f"{game.white}{signs[1]}{way}b{game.handicap}"
    return words


def _plain(text: str) -> str:
    """In one line, without what begins or ends a comment's field."""
    return one_line(text.replace(";", ",").replace("]", ")"))


def _grade(one: Entrant) -> str:
    """The entrant's grade, else that of its rating (GoR: 2100 is 1d), else the lowest."""
    if one.grade:
        index = grade_index(one.grade)
        if one.grade.strip().lower()[-1:] == "p":
            return one.grade.strip().upper()
    elif one.rating is not None:
        index = math.floor((one.rating - 100) / 100 + 0.5)
    else:
        return GRADES[0].upper()
    lowest = grade_index(GRADES[0])
    return GRADES[min(max(index - lowest, 0), len(GRADES) - 1)].upper()


def _country(one: Entrant) -> str:
    return one.country.upper() if re.fullmatch(r"[A-Za-z]{2}", one.country, re.ASCII) else _NO_COUNTRY


def _club(one: Entrant) -> str:
    club = "".join(_plain(one.club).split())[:4]
    return (
        club if club and not (_SCORE.fullmatch(club) or _WORD.fullmatch(club) or _GRADE.fullmatch(club)) else _NO_CLUB
    )


def _short(word: str) -> str:
    return word.replace("-", "").upper()[:4]


def _value(value: float | None) -> str:
    text = "0" if value is None else f"{value:g}"
    return text if len(text) <= 4 else f"{value:.0f}"
