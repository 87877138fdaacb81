"""Tie-breakers: what separates those with equal points, each by a word; and standings by any order of such words.

Sums are whole half or quarter points inside and become points at the end, which floats hold exactly. Sources: FIDE
Handbook C.02.13 (2020) for Buchholz, direct encounter, AROC and Sonneborn-Berger; Vuorinen (2010), sections 4.2 and
6.1, for MMS, SOS, SOSOS, SODOS and CUSS. Must not know: pairing, files.

What did not come to a game, wherever a function does not say otherwise: a game without a result adds nothing yet. A
forfeit that was never started, and a void game, count as no game. In a round of several games for each, a bye counts as
often as there are games.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import fsum
from types import MappingProxyType
from typing import Final

from cgos_protocol.errors import Code, Invalid
from cgos_server.tournaments.base import WIN, Event, Standings
from cgos_server.tournaments.chance import Lots
from cgos_server.tournaments.ledger import Line, ledger
from cgos_server.tournaments.standings.gotha_sums import GOTHA_SUMS
from cgos_server.tournaments.standings.mms import Absences, course, is_absence, mms
from cgos_server.tournaments.standings.performance import performance
from cgos_server.tournaments.standings.places import ranked
from cgos_server.tournaments.standings.tiebreak_record import Record, Values


def points(record: Record) -> Values:
    """Points of games, forfeits and byes."""
    return {id_: line.score / 2 for id_, line in record.lines.items()}


def mcmahon(record: Record) -> Values:
    """McMahon score (MMS): starting points, points, and half a point for each absence, rounded down; without starting
    points the same as points."""
    return {id_: score / 2 for id_, score in record.own.items()}


def game_points(record: Record) -> Values:
    """Points of games really played; what Go calls number of wins, a draw being half a win."""
    return {id_: sum(entry.points for entry in games) / 2 for id_, games in record.games.items()}


def wins(record: Record) -> Values:
    """Number of wins; those by forfeit and byes worth a win count (FIDE 2020)."""
    return {id_: float(sum(entry.points // 2 for entry in line.entries)) for id_, line in record.lines.items()}


def wins_black(record: Record) -> Values:
    """Games really won with Black."""
    return {
        id_: float(sum(entry.points // 2 for entry in games if entry.white is False))
        for id_, games in record.games.items()
    }


def games_black(record: Record) -> Values:
    """Games really played with Black."""
    return {id_: float(line.blacks) for id_, line in record.lines.items()}


def byes(record: Record) -> Values:
    """Byes given because the field was odd; fewer is better."""
    return {id_: float(line.byes) for id_, line in record.lines.items()}


def buchholz(record: Record) -> Values:
    """Sum of the opponents' points.

    A bye, a forfeit and a void game count as a virtual opponent, who had as many points as the player before that
    round, takes what the player did not get in it, and draws every later round (FIDE 2020). Absences,
    announced or not, and rounds before somebody entered have no virtual opponent (our choice).
    """
    return _buchholz(record, 0, 0)


def buchholz_cut1(record: Record) -> Values:
    """Buchholz without the lowest opponent, real or virtual."""
    return _buchholz(record, 1, 0)


def buchholz_cut2(record: Record) -> Values:
    """Buchholz without the two lowest opponents."""
    return _buchholz(record, 2, 0)


def median_buchholz(record: Record) -> Values:
    """Buchholz without the lowest and the highest opponent."""
    return _buchholz(record, 1, 1)


def sonneborn_berger(record: Record) -> Values:
    """Sum of the points of opponents beaten, half of those drawn with; each game of several counts."""
    return {
        id_: sum(entry.points * record.lines[entry.other].score for entry in games) / 4
        for id_, games in record.games.items()
    }


def sos(record: Record) -> Values:
    """Sum of opponents' scores: McMahon scores where there are starting points, else points.

    Byes, absences, forfeits, void games and rounds before somebody entered add the own score, so that every round adds
    something (for byes Vuorinen 2010, for the others our choice).
    """
    return {id_: total / 2 for id_, total in _sos(record).items()}


def sosos(record: Record) -> Values:
    """Sum of opponents' SOS; the own SOS where SOS adds the own score (our choice)."""
    sums = _sos(record)
    return {id_: total / 2 for id_, total in _over_rounds(record, sums, sums).items()}


def sodos(record: Record) -> Values:
    """Sum of the scores of defeated opponents, half for a draw (our choice); scores as in SOS."""
    return {
        id_: sum(entry.points * record.seen[entry.other] for entry in games) / 4 for id_, games in record.games.items()
    }


def cuss(record: Record) -> Values:
    """Cumulative score: the sum of the scores that one had after each round, starting points included."""
    rounds, absences = len(record.event.rounds), record.start is not None and record.absences == "all"
    start = dict.fromkeys(record.lines, 0) if record.start is None else record.start
    return {id_: sum(course(line, start[id_], rounds, absences)[1:]) / 2 for id_, line in record.lines.items()}


def direct(record: Record) -> Values:
    """Direct encounter: points in the games among those who are equal in all words before, where each of them has
    really played each other; else it does not apply (FIDE 2020).

    It is evaluated once: those whom it leaves equal go on to the next word.
    """
    values: Values = dict.fromkeys(record.lines)
    for tied in record.tied:
        among = set(tied)
        games = {id_: [entry for entry in record.games[id_] if entry.opponent in among] for id_ in tied}
        if all(len({entry.opponent for entry in games[id_]}) == len(tied) - 1 for id_ in tied):
            values.update({id_: sum(entry.points for entry in games[id_]) / 2 for id_ in tied})
    return values


def aroc(record: Record) -> Values:
    """Average rating of opponents without the lowest; 0 where fewer than two have a rating (FIDE 2020, AROC cut)."""
    ratings = {one.id: one.rating for one in record.event.entrants}
    values: Values = {}
    for id_, games in record.games.items():
        theirs = [ratings[entry.other] for entry in games]
        values[id_] = _mean(sorted([rating for rating in theirs if rating is not None])[1:])
    return values


def performances(record: Record) -> Values:
    """Performance rating of the games without handicap against opponents with a rating (Elo 1978, logistic form)."""
    ratings = {one.id: one.rating for one in record.event.entrants}
    values: Values = {}
    for id_, games in record.games.items():
        even = [(ratings[entry.other], min(entry.points, WIN)) for entry in games if not entry.handicap]
        rated = [(rating, made) for rating, made in even if rating is not None]
        values[id_] = performance([rating for rating, _ in rated], sum(made for _, made in rated) / 2)
    return values


def rating(record: Record) -> Values:
    """The rating with which somebody entered."""
    return {one.id: one.rating for one in record.event.entrants}


def seed(record: Record) -> Values:
    """Order of registration, the first being best."""
    return {one.id: float(at) for at, one in enumerate(record.event.entrants, 1)}


def lots(record: Record) -> Values:
    """By lot: drawn once from the event's seed, with purpose ``standings`` and the id as key."""
    drawn = Lots(record.event.seed, 0)
    return {id_: drawn.unit("standings", id_) for id_ in record.lines}


TIE_BREAKERS: Final[Mapping[str, Callable[[Record], Values]]] = MappingProxyType(
    {
        "points": points,
        "mms": mcmahon,
        "game-points": game_points,
        "wins": wins,
        "wins-black": wins_black,
        "games-black": games_black,
        "byes": byes,
        "buchholz": buchholz,
        "buchholz-cut1": buchholz_cut1,
        "buchholz-cut2": buchholz_cut2,
        "median-buchholz": median_buchholz,
        "sonneborn-berger": sonneborn_berger,
        "sos": sos,
        "sosos": sosos,
        "sodos": sodos,
        "cuss": cuss,
        "direct": direct,
        "aroc": aroc,
        "performance": performances,
        "rating": rating,
        "seed": seed,
        "lots": lots,
        **GOTHA_SUMS,
    }
)
"""Words of an order of standings. The first paragraph of each docstring says what it is."""

ASCENDING: Final = ("byes", "seed")
"""Of these less is better."""


def description(word: str) -> str:
    """What a word compares, in a sentence. Raises Refused where it is unknown."""
    _require(word)
    text = TIE_BREAKERS[word].__doc__ or ""
    return " ".join(text.split("\n\n")[0].split())


def standings_by(
    event: Event,
    order: Sequence[str],
    start: Mapping[int, int] | None = None,
    absences: Absences = "all",
    given: Mapping[str, Mapping[int, float | None]] = MappingProxyType({}),
) -> Standings:
    """The standings by these words, the first one first.

    :param start: half points that everybody (by id) begins with in a McMahon event, where absences give points too;
        None: in all other events
    :param absences: whose score absence points count in
    :param given: word -> id -> value, in place of what is read off the record, such as seeds that a system has drawn
    :raises Refused: where a word is unknown; the sentence lists the choices
    """
    for word in order:
        _require(word)
    record = record_of(event, start, absences)
    values: dict[str, Mapping[int, float | None]] = {}
    tied: tuple[tuple[int, ...], ...] = (tuple(record.lines),) if len(record.lines) > 1 else ()
    for word in order:
        if word not in values:
            values[word] = given[word] if word in given else TIE_BREAKERS[word](replace(record, tied=tied))
            tied = tuple(part for group in tied for part in _parts(group, values[word]))
    return ranked(event, order, values, ASCENDING)


def record_of(event: Event, start: Mapping[int, int] | None = None, absences: Absences = "all") -> Record:
    """What :data:`TIE_BREAKERS` take. Parameters as for :func:`standings_by`."""
    lines = ledger(event).lines
    games = {id_: [entry for entry in line.entries if entry.kind == "game"] for id_, line in lines.items()}
    length = [1] * len(event.rounds)
    for line in lines.values():
        numbers = [entry.round for entry in line.entries]
        if len(set(numbers)) < len(numbers):
            for number, count in Counter(numbers).items():
                length[number - 1] = max(length[number - 1], count)
    if start is None:
        own = seen = {id_: line.score for id_, line in lines.items()}
    else:
        seen = {id_: mms(line, start[id_], absences=absences != "none") for id_, line in lines.items()}
        own = (
            seen
            if absences != "pairing"
            else {id_: mms(line, start[id_], absences=False) for id_, line in lines.items()}
        )
    return Record(
        event=event, lines=lines, games=games, length=tuple(length), start=start, own=own, seen=seen, absences=absences
    )


def _require(word: str) -> None:
    if word not in TIE_BREAKERS:
        raise Invalid(Code.TIE_BREAKER, f"There is no tie-breaker {word!r}. Choose from: {', '.join(TIE_BREAKERS)}.")


def _parts(group: Sequence[int], values: Mapping[int, float | None]) -> list[tuple[int, ...]]:
    """Those of a group who stay equal, where there are at least two."""
    equal: defaultdict[float | None, list[int]] = defaultdict(list)
    for id_ in group:
        equal[values[id_]].append(id_)
    return [tuple(part) for part in equal.values() if len(part) > 1]


def _buchholz(record: Record, lowest: int, highest: int) -> Values:
    values: Values = {}
    for id_, line in record.lines.items():
        scores: list[int] = []
        for entry in line.entries:
            if entry.kind == "game":
                scores.append(record.lines[entry.other].score)
            elif entry.kind in ("bye", "requested") and not is_absence(entry):
                scores += [_virtual(record, line, entry.round)] * record.length[entry.round - 1]
            elif entry.kind in ("forfeit", "void", "no-contest"):
                scores.append(_virtual(record, line, entry.round))
        scores.sort()
        values[id_] = sum(scores[lowest : len(scores) - highest]) / 2
    return values


def _virtual(record: Record, line: Line, number: int) -> int:
    """Half points in the end of the virtual opponent of a round."""
    made = sum(entry.points for entry in line.entries if entry.round == number)
    left = max(0, 2 * record.length[number - 1] - made)
    return line.score_before(number) + left + sum(record.length[number:])


def _sos(record: Record) -> dict[int, int]:
    return _over_rounds(record, record.own, record.seen)


def _over_rounds(record: Record, own: Mapping[int, int], others: Mapping[int, int]) -> dict[int, int]:
    """By id: the sum over games of the opponent's value, and of the own one for what was no game."""
    totals: dict[int, int] = {}
    rounds = range(1, len(record.event.rounds) + 1)
    plain = len(rounds) if set(record.length) == {1} else -1
    for id_, line in record.lines.items():
        games = record.games[id_]
        if len(games) == plain:  # one in each round
            totals[id_] = sum([others[entry.other] for entry in games])
            continue
        total = 0
        missed = set(rounds).difference([entry.round for entry in line.entries])
        for entry in line.entries:
            if entry.kind == "game":
                total += others[entry.other]
            elif entry.kind in ("forfeit", "void", "no-contest"):
                total += own[id_]
            elif entry.kind != "open":
                total += own[id_] * record.length[entry.round - 1]
        totals[id_] = total + own[id_] * sum(record.length[number - 1] for number in missed)
    return totals


def _mean(numbers: Sequence[float]) -> float:
    return fsum(numbers) / len(numbers) if numbers else 0.0
