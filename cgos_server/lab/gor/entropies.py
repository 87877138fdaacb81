"""Entropy pairing of the thesis's six players: its printed tables beside the server's values, and the best rounds.

Source: T. Vuorinen (MSc thesis, Tampere University of Technology, 2010), sections 2.4.5 and 2.4.6. Table 2.2 was
computed with (R - 100) div 20 in the slope, and without epsilon. Must not know: pools, command lines.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias

from msgspec import Struct

from cgos_protocol.ids import VersionId
from cgos_server.core.pairing.base import Candidate, Pairing, PairingPass
from cgos_server.core.pairing.constraints import FREE
from cgos_server.core.pairing.methods.entropy import bits, gor_win, term
from cgos_server.core.pairing.registry import matchmaker
from cgos_server.core.pairing.rolling import Waiting
from cgos_server.core.pairing.shared_options import flat
from cgos_server.core.rating.incremental.gor import slope
from cgos_server.lab.report import Check, Column, Heat, Mean, Report, Table, close

RATINGS: Final[Mapping[str, int]] = MappingProxyType({"A": 509, "B": 902, "C": 464, "D": 800, "E": 340, "F": 646})
PLAYERS: Final = tuple(RATINGS)

Pair: TypeAlias = tuple[str, str]
Round: TypeAlias = tuple[Pair, ...]

PAIRS: Final[tuple[Pair, ...]] = tuple(itertools.combinations(PLAYERS, 2))

WINS: Final = (
    (math.nan, 0.10126, 0.5615, 0.16567, 0.71073, 0.31841),
    (0.89874, math.nan, 0.91733, 0.6498, 0.95209, 0.79604),
    (0.4385, 0.08267, math.nan, 0.13633, 0.65916, 0.26894),
    (0.83433, 0.3502, 0.86367, math.nan, 0.92033, 0.70893),
    (0.28927, 0.04791, 0.34084, 0.07967, math.nan, 0.16415),
    (0.68159, 0.20396, 0.73106, 0.29107, 0.83585, math.nan),
)
"""Table 2.2 as printed: how likely the player of the row beats the one of the column."""

TERMS: Final = (
    (math.nan, 0.33455, 0.46753, 0.42968, 0.35012, 0.52571),
    (0.13843, math.nan, 0.1142, 0.40413, 0.06744, 0.26197),
    (0.52153, 0.29732, math.nan, 0.39192, 0.39635, 0.50955),
    (0.21802, 0.53011, 0.18262, math.nan, 0.11023, 0.35183),
    (0.51765, 0.21001, 0.52927, 0.29078, math.nan, 0.42792),
    (0.37694, 0.46781, 0.33039, 0.51827, 0.21622, math.nan),
)
"""Table 2.3 as printed: the row player's own term of the entropy, in bits."""

MISPRINTED: Final[Pair] = ("B", "F")
"""Printed with the slope of E in place of F's, in both tables."""

ROUNDING: Final = 5.01e-6
"""Half of the last printed digit."""

BEST: Final = 3
"""So many rounds are listed."""

_MILLION: Final = 1_000_000


class Totals(Struct, frozen=True, kw_only=True):
    """A round's worth in bits.

    :ivar exact: by the server's matchmaker, which takes the exact slope
    :ivar divided: with the slope of the printed tables
    :ivar printed: from the printed probabilities
    """

    pairs: Round
    exact: float
    divided: float
    printed: float


def printed(table: Sequence[Sequence[float]], pair: Pair) -> float:
    """The cell in the row of the first and the column of the second."""
    return table[PLAYERS.index(pair[0])][PLAYERS.index(pair[1])]


def win(pair: Pair, divided: bool = False) -> float:
    """How likely the first beats the second, by the server's function.

    :param divided: with (R - 100) div 20 in the slope
    """
    return float(gor_win(RATINGS[pair[0]], RATINGS[pair[1]], divided))


def paired(apart: Iterable[Pair] = ()) -> tuple[Round, float]:
    """The best round by the server's matchmaker without any other wish, and its worth in bits.

    :param apart: who must not meet
    """
    ids = {name: VersionId(at) for at, name in enumerate(PLAYERS, 1)}
    kept: dict[str, list[VersionId]] = {name: [] for name in PLAYERS}
    for one, other in apart:
        kept[one].append(ids[other])
        kept[other].append(ids[one])
    candidates = [
        Candidate(ids[name], name, float(rating), apart=tuple(kept[name])) for name, rating in RATINGS.items()
    ]
    method = matchmaker("entropy", flat(FREE, Waiting()))
    pairing = method.pair(PairingPass(candidates=candidates), random.Random(0))  # nothing is left to chance
    return _round_of(pairing), (pairing.total or 0) / _MILLION


def _round_of(pairing: Pairing) -> Round:
    named = [sorted((PLAYERS[pair.high - 1], PLAYERS[pair.low - 1])) for pair in pairing.pairs]
    return tuple(sorted((one, other) for one, other in named))


def rounds(players: tuple[str, ...] = PLAYERS) -> Iterator[Round]:
    """Every way to pair all."""
    if not players:
        yield ()
        return
    first, *others = players
    for other in others:
        for rest in rounds(tuple(name for name in others if name != other)):
            yield ((first, other), *rest)


def totals() -> list[Totals]:
    """All 15 rounds, the best first: the server's matchmaker is left no other than each."""

    def total(pairs: Round) -> Totals:
        return Totals(
            pairs=pairs,
            exact=paired(set(PAIRS) - set(pairs))[1],
            divided=math.fsum(float(bits(win(pair, divided=True))) for pair in pairs),
            printed=math.fsum(float(bits(printed(WINS, pair))) for pair in pairs),
        )

    return sorted(map(total, rounds()), key=lambda each: -each.exact)


def entropies() -> Report:
    """Tables 2.2 and 2.3, and the best rounds."""
    ranked = totals()
    return Report(
        tables=(_wins_table(), _terms_table(), _rounds_table(ranked[:BEST])),
        checks=tuple(_checks(ranked)),
        pictures=(_heat(),),
        notes=(
            "Table 2.2 agrees to all five decimals with an integer division in the slope, (R - 100) div 20, but for "
            "B-F, which is printed with the slope of E (188) in place of F's (173).",
            "Table 2.3 has in each cell the row player's own term: the entropy of a game is the sum of two mirrored "
            "cells. It inherits the error. The best round is the same with either slope and from the printed cells.",
        ),
    )


def _mark(pair: Pair) -> str | None:
    return "misprinted: slope of E" if pair == MISPRINTED else None


def _wins_table() -> Table:
    rows = []
    for pair in PAIRS:
        there, divided, exact = printed(WINS, pair), win(pair, divided=True), win(pair)
        rows.append(("-".join(pair), there, divided, there - divided, exact, _mark(pair)))
    return Table(
        key="wins",
        title="Table 2.2: how likely the first beats the second",
        columns=(
            Column(name="pair"),
            Column(name="printed", digits=5),
            Column(name="ours, divided as printed", digits=5),
            Column(name="apart", digits=5, signed=True),
            Column(name="ours, exact slope", digits=5),
            Column(name="remark"),
        ),
        rows=tuple(rows),
    )


def _terms_table() -> Table:
    rows = []
    for pair in PAIRS:
        mirrored = (pair[1], pair[0])
        there = (printed(TERMS, pair), printed(TERMS, mirrored))
        divided = (float(term(win(pair, divided=True))), float(term(win(mirrored, divided=True))))
        rows.append(("-".join(pair), *there, *divided, sum(there), float(bits(win(pair))), _mark(pair)))
    return Table(
        key="terms",
        title="Table 2.3: terms of the entropy, bits; first and second are the pair's players",
        columns=(
            Column(name="pair"),
            Column(name="printed, first", digits=5),
            Column(name="printed, second", digits=5),
            Column(name="ours, first", digits=5),
            Column(name="ours, second", digits=5),
            Column(name="printed sum", digits=5),
            Column(name="entropy, exact slope", digits=5),
            Column(name="remark"),
        ),
        rows=tuple(rows),
    )


def _rounds_table(best: Sequence[Totals]) -> Table:
    return Table(
        key="rounds",
        title="The best rounds, bits",
        columns=(
            Column(name="round"),
            Column(name="exact slope, the server's", digits=5),
            Column(name="divided", digits=5),
            Column(name="from the printed cells", digits=5),
        ),
        rows=tuple((_written(each.pairs), each.exact, each.divided, each.printed) for each in best),
    )


def _written(pairs: Round) -> str:
    return ", ".join("-".join(pair) for pair in pairs)


def _heat() -> Heat:
    return Heat(
        key="entropies",
        title="Entropy of a game, exact slope",
        rows=PLAYERS,
        columns=PLAYERS,
        values=tuple(
            tuple(None if one == other else float(bits(win((one, other)))) for other in PLAYERS) for one in PLAYERS
        ),
        label="bit",
        digits=3,
    )


def _checks(ranked: Sequence[Totals]) -> list[Check]:
    """Of the printed tables, and of the round that the thesis's method chooses."""
    sound = [pair for pair in itertools.permutations(PLAYERS, 2) if tuple(sorted(pair)) != MISPRINTED]
    wins_off = max(abs(printed(WINS, pair) - win(pair, divided=True)) for pair in sound)
    first, second = MISPRINTED
    as_printed = 1.0 / (1.0 + math.exp((RATINGS[second] - RATINGS[first]) / slope(RATINGS["E"])))
    terms_off = max(
        abs(printed(TERMS, pair) - float(term(printed(WINS, pair)))) for pair in itertools.permutations(PLAYERS, 2)
    )
    chosen, worth = paired()
    by_hand = max(ranked, key=lambda each: math.fsum(float(bits(win(pair))) for pair in each.pairs))
    from_print = max(ranked, key=lambda each: each.printed)
    return [
        close("table 2.2 without B-F: largest deviation", Mean(wins_off), 0.0, ROUNDING),
        close("table 2.2, B-F with the slope of E", Mean(as_printed), printed(WINS, MISPRINTED), ROUNDING),
        close("table 2.3: largest deviation from the terms of table 2.2", Mean(terms_off), 0.0, 2 * ROUNDING),
        close(
            f"{_written(chosen)}: its total, from the printed cells",
            Mean(worth),
            from_print.printed,
            0.001,
        ),
        Check(
            claim="the matchmaker's round is the best of all 15, and from the printed cells too",
            holds=chosen == by_hand.pairs == from_print.pairs == ranked[0].pairs,
        ),
    ]
