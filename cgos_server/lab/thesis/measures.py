"""Tie-breakers (section 4.2) and the total error (equation 7.1) of Vuorinen (2010), on events small enough for a hand.

Ours are the server's standings and measures. Must not know: how an event is paired, terminals.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from cgos_server.lab.report import Check, Column, Mean, Report, Table, close, joined
from cgos_server.tournaments.base import BLACK_WINS, DRAWN, WHITE_WINS, Bye, Entrant, Event, Game, Round
from cgos_server.tournaments.standings.total_error import TotalError, relative_strengths, total_error
from cgos_server.tournaments.systems.mcmahon import McMahon

_RESULTS: Final = {"+": BLACK_WINS, "-": WHITE_WINS, "=": DRAWN}

HAND: Final = (("A+B", "C+D", "E=F", "G"), ("C-A", "D+B", "G-E", "F"), ("A+E", "F+D", "B+G"))
"""By rounds: Black, what came of it for Black, White; or who has a free round. Who is not named is absent."""

HAND_STARTS: Final = {"A": 2, "B": 2, "C": 2, "D": 1, "E": 1, "F": 0, "G": 0}

WORDS: Final = ("mms", "sos", "sodos", "cuss")

BY_HAND: Final = (
    ("A", 5.0, 8.5, 8.5, 12.0),
    ("B", 3.0, 8.0, 1.0, 7.0),
    ("C", 3.0, 10.0, 2.0, 9.0),
    ("D", 2.0, 8.5, 3.0, 5.0),
    ("E", 2.5, 8.5, 2.25, 6.5),
    ("F", 2.5, 7.0, 3.25, 4.5),
    ("G", 1.0, 6.5, 0.0, 3.0),
)
"""Computed by hand: this project's example, not the source's."""

CUSS: Final = (("X+a", "Y-e"), ("X+b", "Y-f"), ("X+c", "Y+g"), ("X-d", "Y+h"), ("X-e", "Y+a"))
"""Who wins three rounds and then loses two, and who does the reverse: 12 and 6 points of CUSS in section 4.2.2."""

GIVEN: Final = {"A": 3.0, "B": 1.0, "C": 1.5, "D": 0.5, "E": 0.25, "F": 0.0, "G": -1.0}
"""Strengths for the errors of :data:`HAND`: their squares of differences sum to 20.9375."""

FITTED: Final = {"A": 1.7740366591, "B": -0.8030296534, "C": 0.3825372837, "D": -0.4896334471, "G": -1.6879576209}
"""Relative strengths of :data:`HAND`, found by another implementation of the same reconstruction."""

EXACT: Final = 1e-9


def measures() -> Report:
    """Tie-breakers and equation 7.1."""
    return joined((tie_breakers(), equation_7_1()))


def event_of(rounds: Sequence[Sequence[str]], starts: Mapping[str, int]) -> Event:
    """A McMahon event.

    :param rounds: as :data:`HAND`
    :param starts: name -> points
    """
    ids = {name: at for at, name in enumerate(starts, 1)}
    entrants = tuple(Entrant(id=ids[name], name=name, start=2 * points) for name, points in starts.items())
    return Event(
        system=McMahon.name,
        entrants=entrants,
        rounds=tuple(
            Round(
                number=number,
                games=tuple(
                    Game(black=ids[word[0]], white=ids[word[2]], result=_RESULTS[word[1]], id=10 * number + at)
                    for at, word in enumerate(words)
                    if len(word) > 1
                ),
                byes=tuple(Bye(ids[word]) for word in words if len(word) == 1),
            )
            for number, words in enumerate(rounds, 1)
        ),
    )


def tie_breakers() -> Report:
    """By the server's standings."""
    standings = McMahon().standings(event_of(HAND, HAND_STARTS))
    ours = {row.name: dict(zip(standings.order, row.values, strict=True)) for row in standings.rows}
    rows = tuple(
        (name, *(cell for at, word in enumerate(WORDS) for cell in (by_hand[at], ours[name][word])))
        for name, *by_hand in BY_HAND
    )
    apart = max(
        abs((ours[name][word] or 0.0) - by_hand[at]) for name, *by_hand in BY_HAND for at, word in enumerate(WORDS)
    )
    names = dict.fromkeys(("X", "Y", *"abcdefgh"), 0)
    of_cuss = McMahon(absences="none").standings(event_of(CUSS, names))
    cuss = {row.name: row.values[of_cuss.order.index("cuss")] or 0.0 for row in of_cuss.rows}
    table = Table(
        key="tie-breakers",
        title="Section 4.2: tie-breakers of an event of seven (this project's example), by hand and by the server",
        columns=(
            Column(name="player"),
            *(Column(name=name, digits=2) for word in WORDS for name in (f"{word.upper()} by hand", "ours")),
        ),
        rows=rows,
    )
    return Report(
        tables=(table,),
        checks=(
            close("4.2: largest difference of tie-breakers", Mean(apart), 0.0, 0.0),
            close("4.2.2: CUSS of three wins, then two losses", Mean(cuss["X"]), 12.0, 0.0),
            close("4.2.2: CUSS of two losses, then three wins", Mean(cuss["Y"]), 6.0, 0.0),
        ),
    )


def equation_7_1() -> Report:
    """The total error of the example, and of fields in which all who meet are equally far apart."""
    event = event_of(HAND, HAND_STARTS)
    error = total_error(event, {one.id: GIVEN[one.name] for one in event.entrants})
    players, rounds, squares = len(event.entrants), len(event.rounds), 20.9375
    fitted = {event.names[id_]: strength for id_, strength in relative_strengths(event).items()}
    apart = max(abs(fitted[name] - strength) for name, strength in FITTED.items())
    rows = []
    for size in (34, 64, 128, 250, 712):
        each = _evenly(size, 5, 1.0)
        rows.append((size, each.e_total, each.inside_root_reading, each.rms_per_game, 0.5 / math.sqrt(5 * size)))
    off = max(abs(row[1] - row[4]) for row in rows)
    table = Table(
        key="equation-7-1",
        title="Equation 7.1 where all who meet in five rounds are 1 apart: as printed it falls with the field",
        columns=(
            Column(name="players"),
            Column(name="as printed", digits=4),
            Column(name="factor inside the root", digits=4),
            Column(name="root mean square of a game", digits=4),
            Column(name="1/(2 sqrt(kN))", digits=4),
        ),
        rows=tuple(rows),
    )
    return Report(
        tables=(table,),
        checks=(
            close("7.1 of the example, as printed", Mean(error.e_total), _by_hand(players, rounds, squares)[0], EXACT),
            close(
                "7.1 of the example, inside the root",
                Mean(error.inside_root_reading),
                _by_hand(players, rounds, squares)[1],
                EXACT,
            ),
            close("root mean square of a game of it", Mean(error.rms_per_game), math.sqrt(squares / 9), EXACT),
            close("7.1: largest distance from d/(2 sqrt(kN))", Mean(off), 0.0, EXACT),
            close("relative strengths of it: largest difference", Mean(apart), 0.0, EXACT),
            Check(
                claim="7.1: inside the root it does not depend on the field's size",
                holds=max(row[2] for row in rows) - min(row[2] for row in rows) < EXACT,
                measured=Mean(rows[0][2]),
            ),
        ),
    )


def _evenly(size: int, rounds: int, apart: float) -> TotalError:
    """Of a field of even size in which strengths alternate, and everybody always meets one of the other kind."""
    half = size // 2
    event = Event(
        system=McMahon.name,
        entrants=tuple(Entrant(id=at, name=f"player-{at}") for at in range(1, size + 1)),
        rounds=tuple(
            Round(
                number=number,
                games=tuple(
                    Game(black=2 * at + 1, white=2 * ((at + number) % half) + 2, result=DRAWN) for at in range(half)
                ),
            )
            for number in range(1, rounds + 1)
        ),
    )
    return total_error(event, {one.id: apart * (one.id % 2) for one in event.entrants})


def _by_hand(players: int, rounds: int, squares: float) -> tuple[float, float]:
    """Both readings, from the sum of squares over games: each is in the sum twice."""
    factor = 1.0 / (2 * rounds * players)
    return factor * math.sqrt(2 * squares), math.sqrt(factor * 2 * squares)
