"""Chapters 3 and 4 of Vuorinen (2010), value by value: round robin, cup, double elimination, McMahon's starts, groups.

Ours are rounds and standings by the server's systems. Must not know: ratings' formulas, terminals.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from cgos_server.lab.ratings.pools import generator
from cgos_server.lab.report import Check, Column, Mean, Report, Table, close, joined, mean_of
from cgos_server.lab.thesis.fields import field_of
from cgos_server.lab.thesis.printed import CUP_WINNERS, DOUBLE_FOLDED, GROUPS, ROUND_ROBIN, STARTS
from cgos_server.tournaments.base import Entrant, Event, Game, System
from cgos_server.tournaments.chance import Lots
from cgos_server.tournaments.ledger import ledger
from cgos_server.tournaments.pairing.groups import pairs_of
from cgos_server.tournaments.simulation.one_event import play
from cgos_server.tournaments.standings.grades import starting_points
from cgos_server.tournaments.systems.cup import Cup
from cgos_server.tournaments.systems.double_elimination import DoubleElimination
from cgos_server.tournaments.systems.mcmahon import McMahon
from cgos_server.tournaments.systems.round_robin import RoundRobin

FIELDS: Final = 10
"""Drawn for each row of table 4.1."""

NARROW_FLOOR: Final = "10k"
NARROW_BAR: Final = "3d"
"""Of a second column beside table 4.1."""


def chapters_3_and_4(seed: int) -> Report:
    """Tables 3.1 to 4.1, starting points, seeding. Only the groups beside table 4.1 depend on the seed."""
    return joined((table_3_1(), table_3_2(), double_elimination(), starts(), seedings(), table_4_1(seed)))


def table_3_1() -> Report:
    """A round robin of ten."""
    event = _decided(RoundRobin(colors="literal"), 10, operator.lt)
    made = [tuple(tuple(each.explanation.details[row]) for row in ("upper", "lower")) for each in event.rounds]
    rows = []
    for number, (upper, lower) in enumerate(made, 1):
        printed = _row(ROUND_ROBIN[number - 1]) if number <= len(ROUND_ROBIN) else None
        rows.append((number, printed, _row((upper, lower))))
    met = Counter(game.pair for _, game in event.games)
    balance = {color: _off(color, 10) for color in ("literal", "balanced")}
    equal = sum(ours == printed for ours, printed in zip(made, ROUND_ROBIN, strict=False))
    return Report(
        tables=(
            Table(
                key="table-3-1",
                title="Table 3.1: a round robin of ten, upper row / lower row (rounds of which the text has numbers)",
                columns=(Column(name="round"), Column(name="printed"), Column(name="ours")),
                rows=tuple(rows),
            ),
            Table(
                key="colors",
                title="Ten in a round robin: the most games with one color over the other",
                columns=(Column(name="colors"), Column(name="largest difference")),
                rows=tuple(balance.items()),
            ),
        ),
        checks=(
            close("table 3.1: rounds that are as printed, of 4", Mean(equal), 4.0, 0.0),
            Check(
                claim="table 3.1: all 45 pairs meet once",
                holds=len(met) == math.comb(10, 2) and set(met.values()) == {1},
                measured=Mean(len(met)),
            ),
        ),
    )


def _row(rows: Sequence[Sequence[int]]) -> str:
    return " / ".join(" ".join(map(str, row)) for row in rows)


def _off(colors: str, size: int) -> int:
    event = _decided(RoundRobin(colors=colors), size, operator.lt)
    return max(abs(line.balance) for line in ledger(event).lines.values())


def _decided(system: System, size: int, white_wins: Callable[[int, int], bool]) -> Event:
    """An event of entrants 1, 2..., played to its end.

    :param white_wins: whether White (first) wins against Black
    """
    entrants = tuple(Entrant(id=at, name=f"player-{at}") for at in range(1, size + 1))

    def chances(game: Game) -> tuple[float, float]:
        win = float(white_wins(game.white, game.black))
        return win, win

    return play(system, Event(system=system.name, entrants=entrants), chances)


def table_3_2() -> Report:
    """A cup of eight, and how many rounds cups take."""
    beaten_by = {frozenset(pair): winner for pair, winner in zip(_CUP_MATCHES, CUP_WINNERS, strict=True)}
    cup = Cup(bracket="list")
    event = _decided(cup, 8, lambda white, black: beaten_by.get(frozenset((white, black))) == white)
    rows: list[tuple[int, str, int, int]] = []
    winners: list[int] = []
    matches: list[tuple[int, int]] = []
    for each in event.rounds:
        won = {game.pair: game.white if game.result and game.result.white else game.black for game in each.games}
        for pair in sorted(won):
            rows.append((each.number, f"{pair[0]} - {pair[1]}", CUP_WINNERS[len(rows)], won[pair]))
            winners.append(won[pair])
            matches.append(pair)
    champion = cup.standings(event).rows[0].entrant
    sizes = [(1 << power, power, cup.length(_empty(cup, 1 << power))) for power in range(1, 8)]
    return Report(
        tables=(
            Table(
                key="table-3-2",
                title="Table 3.2: a cup of eight; winners by who is named again",
                columns=(Column(name="round"), Column(name="match"), Column(name="winner"), Column(name="ours")),
                rows=tuple(rows),
            ),
        ),
        checks=(
            Check(
                claim="table 3.2: the matches of all rounds follow from the winners",
                holds=tuple(matches) == _CUP_MATCHES and tuple(winners) == CUP_WINNERS,
                measured=Mean(len(matches)),
                expected=float(len(_CUP_MATCHES)),
            ),
            close("table 3.2: the winner", Mean(champion), float(CUP_WINNERS[-1]), 0.0),
            Check(
                claim="3.2, corrected: 2^N entrants take N rounds, for N = 1 to 7",
                holds=all(power == rounds for _, power, rounds in sizes),
                measured=Mean(sizes[-1][2]),
            ),
        ),
    )


_CUP_MATCHES: Final = ((1, 2), (3, 4), (5, 6), (7, 8), (2, 3), (6, 7), (3, 7))


def _empty(system: System, size: int) -> Event:
    entrants = tuple(Entrant(id=at, name=f"player-{at}") for at in range(1, size + 1))
    return Event(system=system.name, entrants=entrants)


def double_elimination() -> Report:
    """How long double elimination takes, against the rounds that are claimed to find the winner."""
    rows, as_corrected, unbeaten = [], True, True
    for size in (4, 8, 10, 16, 32):
        claimed = math.ceil(math.log2(size))
        for who, wins in (("the better seed wins", operator.lt), ("the worse seed wins", operator.gt)):
            event = _decided(DoubleElimination(), size, wins)
            losses = Counter(_loser(game) for number, game in event.games if number <= claimed)
            left = sum(losses[one.id] == 0 for one in event.entrants)
            games = sum(1 for _ in event.games)
            as_corrected &= 2 * size - 2 <= games <= 2 * size - 1
            unbeaten &= left <= 1
            rows.append((size, who, claimed, left, len(event.rounds), games, 2 * size - 2))
    return Report(
        tables=(
            Table(
                key="double-elimination",
                title="3.2.1: ceil(log2 N) rounds of double elimination leave one unbeaten, but the event goes on",
                columns=(
                    Column(name="entrants"),
                    Column(name="results"),
                    Column(name="ceil(log2 N)"),
                    Column(name="unbeaten then"),
                    Column(name="rounds, ours"),
                    Column(name="games, ours"),
                    Column(name="2N - 2"),
                ),
                rows=tuple(rows),
            ),
        ),
        checks=(
            Check(claim="3.2.1: at most one is unbeaten after ceil(log2 N) rounds", holds=unbeaten),
            Check(claim="3.2.1, corrected: it takes 2N - 2 or 2N - 1 games", holds=as_corrected),
        ),
    )


def _loser(game: Game) -> int:
    return game.black if game.result and game.result.white else game.white


def starts() -> Report:
    """The scheme of the European Go Congress, and the example of a bar."""
    ours = _starts(list(STARTS))
    example = _starts(["5d", *["4d"] * 7], bar="4d")
    rows = [(grade, printed, mine) for (grade, printed), mine in zip(STARTS.items(), ours, strict=True)]
    rows += [(f"{grade} with the bar at 4d", 23, mine) for grade, mine in zip(("5d", "4d"), example, strict=False)]
    apart = max(abs(row[1] - row[2]) for row in rows)
    table = Table(
        key="starts",
        title="Section 4.1.1: starting points",
        columns=(Column(name="grade"), Column(name="printed"), Column(name="ours", digits=0)),
        rows=tuple(rows),
    )
    return Report(tables=(table,), checks=(close("4.1.1: largest difference of starts", Mean(apart), 0.0, 0.0),))


def _starts(grades: Sequence[str], bar: str | None = None) -> list[float]:
    entrants = tuple(Entrant(id=at, name=f"player-{at}", grade=grade) for at, grade in enumerate(grades, 1))
    event = Event(system=McMahon.name, entrants=entrants)
    return [half / 2 for half in starting_points(event, bar=bar).values()]


def seedings() -> Report:
    """Who meets whom in a group of 16."""
    size = 16
    methods = {
        method: dict(_both_ways(pairs_of(method, size))) for method in ("folding", "translation", "double-folding")
    }
    example = dict(_both_ways(DOUBLE_FOLDED))
    rows = tuple(
        (
            place,
            methods["folding"][place],
            methods["translation"][place],
            size - place + 1,
            example[place],
            methods["double-folding"][place],
        )
        for place in range(1, size + 1)
    )
    apart = sum(row[3] != row[4] for row in rows)
    halves = all(
        methods["folding"][place] == size + 1 - place and methods["translation"][place] == (place + 7) % size + 1
        for place in range(1, size + 1)
    )
    table = Table(
        key="seeding",
        title="Section 4.2.3: partners in a group of 16; the formula printed for double folding is that of folding",
        columns=(
            Column(name="place"),
            Column(name="folding"),
            Column(name="translation"),
            Column(name="double folding as its formula is printed"),
            Column(name="in its example"),
            Column(name="ours"),
        ),
        rows=rows,
    )
    return Report(
        tables=(table,),
        checks=(
            Check(claim="4.2.3: folding and translation by their formulas", holds=halves),
            Check(
                claim="4.2.3: double folding is as in its example",
                holds=methods["double-folding"] == example,
                measured=Mean(len(DOUBLE_FOLDED)),
            ),
            Check(
                claim="4.2.3: its printed formula contradicts its example (places)",
                holds=apart > 0,
                measured=Mean(apart),
            ),
        ),
    )


def _both_ways(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    return [*pairs, *((other, one) for one, other in pairs)]


def table_4_1(seed: int) -> Report:
    """The usual number of groups, and how many McMahon makes of drawn fields."""
    wide, narrow = McMahon(), McMahon(floor=NARROW_FLOOR, bar=NARROW_BAR)
    rows = []
    for low, high, fewest, most in GROUPS:
        size = 250 if high is None else (low + high) // 2
        counted: tuple[list[int], list[int]] = ([], [])
        for replicate in range(FIELDS):
            event = Event(
                system=McMahon.name, entrants=field_of(size, generator(seed, "groups", size, replicate)).entrants
            )
            for system, counts in zip((wide, narrow), counted, strict=True):
                counts.append(len(system.pair(event, Lots(replicate, 1)).explanation.details["groups"]))
        entrants = f"{low} and more" if high is None else f"{low}-{high}"
        groups = f"{fewest} and more" if most is None else f"{fewest}-{most}"
        rows.append((entrants, groups, size, mean_of(counted[0]), mean_of(counted[1])))
    table = Table(
        key="table-4-1",
        title="Table 4.1: groups of a McMahon event in five rounds (advice), and those of round 1 of drawn fields",
        columns=(
            Column(name="entrants"),
            Column(name="groups, printed"),
            Column(name="drawn entrants"),
            Column(name="ours, 20k to 7d", digits=1),
            Column(name=f"ours, floor {NARROW_FLOOR}, bar {NARROW_BAR}", digits=1),
        ),
        rows=tuple(rows),
    )
    return Report(tables=(table,))
