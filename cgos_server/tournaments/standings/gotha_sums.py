"""Sums of opponents' scores as OpenGotha counts them, for events that come from there.

Facts of OpenGotha 3.5 by L. Vannier (its user's guide, and its files); they differ from Vuorinen's (2010) sums in
:mod:`cgos_server.tournaments.standings.tiebreaks` in what a round without an opponent adds, and in handicaps. Must not
know: pairing, files, other tie-breakers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from cgos_server.tournaments.ledger import Entry, Line
from cgos_server.tournaments.standings.tiebreak_record import Record, Values

_PAIRED: Final = ("game", "forfeit", "open")

_MCMAHON: Final = (
    "McMahon scores, with the stones that White gave added and those that Black received subtracted; a round without "
    "an opponent adds the own starting points"
)
_POINTS: Final = "points; a round without an opponent adds nothing"
_HALF: Final = "; of opponents each round that was not really played counts half a point"


def _scores(record: Record, *, by_mms: bool, half: bool) -> dict[int, int]:
    """Half points that sums take of everybody."""
    if not half:
        return dict(record.seen) if by_mms else {id_: line.score for id_, line in record.lines.items()}
    rounds = len(record.event.rounds)
    scores = {}
    for id_, line in record.lines.items():
        games = [entry for entry in line.entries if entry.kind == "game"]
        unplayed = rounds - len({entry.round for entry in games})
        scores[id_] = (_start(record, id_) if by_mms else 0) + sum(entry.points for entry in games) + unplayed
    return scores


def _start(record: Record, id_: int) -> int:
    return record.start[id_] if record.start is not None else 0


def _terms(record: Record, line: Line, own: int, scores: Mapping[int, int], *, stones: bool) -> list[tuple[int, int]]:
    """(half points that a round adds, half points that the player made in it) of every round.

    :param own: what a round without an opponent adds
    :param stones: whether handicaps count
    """
    terms = []
    for number in range(1, len(record.event.rounds) + 1):
        paired = [entry for entry in line.entries if entry.round == number and entry.kind in _PAIRED]
        terms += [(scores[entry.other] + (_stones(entry) if stones else 0), entry.points) for entry in paired]
        if not paired:
            terms.append((own, 0))
    return terms


def _stones(entry: Entry) -> int:
    """In half points."""
    return 2 * entry.handicap if entry.white else -2 * entry.handicap


def _sum(*, by_mms: bool, half: bool, without: int = 0) -> Callable[[Record], Values]:
    def values(record: Record) -> Values:
        scores = _scores(record, by_mms=by_mms, half=half)
        sums: Values = {}
        for id_, line in record.lines.items():
            own = _start(record, id_) if by_mms else 0
            terms = sorted(term for term, _ in _terms(record, line, own, scores, stones=by_mms))
            sums[id_] = sum(terms[without:]) / 2
        return sums

    less = ("", " without the lowest", " without the two lowest")[without]
    values.__doc__ = f"OpenGotha's SOS{less}: {_MCMAHON if by_mms else _POINTS}{_HALF if half else ''}."
    return values


def _defeated(*, by_mms: bool, half: bool) -> Callable[[Record], Values]:
    def values(record: Record) -> Values:
        scores = _scores(record, by_mms=by_mms, half=half)
        return {
            id_: sum(term * made for term, made in _terms(record, line, 0, scores, stones=by_mms)) / 4
            for id_, line in record.lines.items()
        }

    kind = "McMahon scores, with handicaps as in `sosm`" if by_mms else "points"
    values.__doc__ = (
        f"OpenGotha's SODOS, opponents beaten by forfeit included, half for a draw: {kind}{_HALF if half else ''}."
    )
    return values


def _twice(*, by_mms: bool, half: bool) -> Callable[[Record], Values]:
    def values(record: Record) -> Values:
        sums = {id_: round(2 * (value or 0)) for id_, value in _sum(by_mms=by_mms, half=half)(record).items()}
        totals: Values = {}
        for id_, line in record.lines.items():
            own = _start(record, id_) * len(record.event.rounds) if by_mms else 0
            totals[id_] = sum(term for term, _ in _terms(record, line, own, sums, stones=False)) / 2
        return totals

    own = "the own starting points times the number of rounds" if by_mms else "nothing"
    word = f"`sos{'m' if by_mms else 'w'}{'-half' if half else ''}`"
    values.__doc__ = f"OpenGotha's SOSOS: sum of opponents' {word}; a round without an opponent adds {own}."
    return values


def _words(letter: str, *, by_mms: bool, half: bool) -> dict[str, Callable[[Record], Values]]:
    end = "-half" if half else ""
    words: dict[str, Callable[[Record], Values]] = {
        f"sos{letter}{('', '-1', '-2')[without]}{end}": _sum(by_mms=by_mms, half=half, without=without)
        for without in range(3)
    }
    words[f"sosos{letter}{end}"] = _twice(by_mms=by_mms, half=half)
    words[f"sodos{letter}{end}"] = _defeated(by_mms=by_mms, half=half)
    return words


GOTHA_SUMS: Final[Mapping[str, Callable[[Record], Values]]] = MappingProxyType(
    {
        word: of
        for half in (False, True)
        for letter, by_mms in (("m", True), ("w", False))
        for word, of in _words(letter, by_mms=by_mms, half=half).items()
    }
)
"""By OpenGotha's own names in lower case; ``-half`` where it counts games that were not played as half points."""
