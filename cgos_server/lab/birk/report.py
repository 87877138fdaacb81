"""What comes of simulated rounds beside the exact law, in the layout of Birk's mail, and what is held against it.

Source: Christoph Birk, "A new pairing system idea for CGOS", computer-go list, 5 October 2006. Must not know: how
rounds are paired, command lines.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np

from cgos_server.core.pairing.methods.formula import FORMULAS
from cgos_server.lab.birk.exact import Distribution, distribution
from cgos_server.lab.birk.simulated import Counts, Series, Tally, counted, method, tasks
from cgos_server.lab.ratings.pools import Floats
from cgos_server.lab.report import Cell, Chart, Check, Column, Heat, Line, Mean, Picture, Report, Table, close
from cgos_server.lab.running import Work, carry_out

NAMED: Final = tuple(FORMULAS)
"""The four formulas of the mail."""

PUBLISHED_PLAYERS: Final = 14

PRINTED: Final[Mapping[tuple[str, int, int], float]] = MappingProxyType(
    {
        ("half", 1, 2): 7.0,
        ("half", 2, 3): 1.4,
        ("half", 3, 4): 3.9,
        ("half", 5, 6): 3.8,
        ("fifth", 2, 5): 1.7,
        ("sqrt", 4, 9): 0.9,
        **{("one", i, j): 1.0 for i in range(1, PUBLISHED_PLAYERS) for j in range(i + 1, PUBLISHED_PLAYERS + 1)},
    }
)
"""Cells of the mail's tables that are at hand, by formula and ranks: probability times 13. For `half`, `fifth` and
`sqrt` the one that is furthest from the exact value is among them."""

PRINTED_OFF: Final = 0.0655
"""How far a printed cell may be from the exact value: 0.065 to three decimals. It has one decimal and comes from a
simulation of unknown length."""

ERRORS: Final = 5.0
"""Standard errors between a frequency and its probability."""

RARE: Final = 4
"""Rounds that a frequency may be off besides: of a pair that meets once in a million rounds one meeting would be many
standard errors."""

EXPECTED: Final = 25.0
"""An event that is expected in fewer rounds than this is left out where deviations are told in standard errors."""

_TURNS: Final = (
    Column(name="formula"),
    Column(name="bye"),
    Column(name="rounds"),
    Column(name="least", percent=True, digits=2),
    Column(name="most", percent=True, digits=2),
    Column(name="twice running", percent=True, digits=2),
)
_AGREEMENT: Final = (
    Column(name="players"),
    Column(name="formula"),
    Column(name="rounds"),
    Column(name="cannot meet"),
    Column(name="met though"),
    Column(name="largest off, ratio", digits=4),
    Column(name="largest off, errors", digits=2),
)


class Law(NamedTuple):
    """A distribution as arrays, ranks from 0.

    :ivar met: (n, n) probability that two meet, the better one first; 0 elsewhere
    :ivar sat_out: (n,)
    """

    met: Floats
    sat_out: Floats

    @classmethod
    def of(cls, players: int, exact: Distribution) -> Law:
        met = np.zeros((players, players))
        for (i, j), probability in exact.pairs.items():
            met[i - 1, j - 1] = float(probability)
        return cls(met, np.array([float(exact.sits_out[rank]) for rank in range(1, players + 1)]))


class Outcome(NamedTuple):
    """One series as it came out, beside the law of the published method."""

    series: Series
    tally: Tally
    law: Law

    @property
    def ratios(self) -> Floats:
        """(n, n) frequency that two meet, times n - 1."""
        return self.tally.met / self.tally.rounds * (self.series.players - 1)

    @property
    def name(self) -> str:
        return f"{self.series.formula}, {self.series.players} players"


def compared(players: Sequence[int], formulas: Sequence[str], rounds: int, work: Work) -> Report:
    """So many rounds of each formula with each number of players, beside the exact law.

    :raises Refused: where a formula is none
    """
    for formula in formulas:
        method(formula, "natural")
    series = [
        Series(count, formula, bye)
        for count in players
        for formula in formulas
        for bye in (("natural", "fair") if count % 2 else ("natural",))
    ]
    tallies: dict[Series, Tally] = {}

    def take(series: Series, tally: Tally) -> None:
        tallies[series] = tallies[series].plus(tally) if series in tallies else tally

    interrupted = carry_out(
        counted,
        tasks(series, rounds, work.seed),
        lambda task, tally: take(task.series, tally),
        work,
        everything=rounds * len(series),
        size=lambda task: task.rounds,
    )
    laws = {(count, formula): Law.of(count, distribution(count, formula)) for count in players for formula in formulas}
    outcomes = [Outcome(each, tallies[each], laws[each[:2]]) for each in series if each in tallies]
    return _report(players, formulas, outcomes, interrupted)


def _report(players: Sequence[int], formulas: Sequence[str], outcomes: Sequence[Outcome], interrupted: bool) -> Report:
    plain = [each for each in outcomes if each.series.bye == "natural"]
    tables = [_ratios(each, _word(formulas, each.series.formula)) for each in plain]
    pictures: list[Picture] = [_heat(each, _word(formulas, each.series.formula)) for each in plain]
    for count in players:
        odd = [each for each in outcomes if each.series.players == count and count % 2]
        if odd:
            tables += [_sit_outs(count, odd), _turns(count, odd)]
            pictures.append(_sit_outs_drawn(count, odd))
    if plain:
        tables.append(Table(key="agreement", title="Simulated against exact", columns=_AGREEMENT, rows=_rows(plain)))
    checks = [check for each in outcomes for check in _checks(each)]
    if plain:
        checks.append(_none("ranks that neither play nor sit out in some round", sum(map(_idle, plain))))
    checks += [check for each in plain for check in _printed(each)]
    notes = [
        "A cell is the probability that two ranks meet, times the number of opponents: 1 where all are as likely.",
        "Exact values: forward dynamic programming over the sets of unpaired players, in fractions.",
    ]
    if PUBLISHED_PLAYERS in players:
        notes.append("Of the mail's tables only the cells that are checked are at hand, and all of `one`.")
    return Report(
        tables=tuple(tables),
        checks=tuple(checks),
        pictures=tuple(pictures),
        notes=tuple(notes),
        interrupted=interrupted,
    )


def _word(formulas: Sequence[str], formula: str) -> str:
    """A formula in a key."""
    return formula if formula in NAMED else f"own{1 + formulas.index(formula)}"


def _ratios(outcome: Outcome, word: str) -> Table:
    """The matrix of the mail; each pair twice."""
    count, ratios, exact = outcome.series.players, outcome.ratios, outcome.law.met * (outcome.series.players - 1)

    def cell(i: int, j: int) -> Cell:
        return None if i == j else float(ratios[i, j] if i < j else exact[j, i])

    ranks = [str(rank) for rank in range(1, count + 1)]
    return Table(
        key=f"ratios-{count}-{word}",
        title=f"{outcome.name}, {outcome.tally.rounds} rounds: probability x {count - 1}; "
        "simulated above the diagonal, exact below it",
        columns=(Column(name="rank"), *(Column(name=rank, digits=2) for rank in ranks)),
        rows=tuple((rank, *(cell(i, j) for j in range(count))) for i, rank in enumerate(ranks)),
    )


def _heat(outcome: Outcome, word: str) -> Heat:
    count, ratios = outcome.series.players, outcome.ratios
    both = ratios + ratios.T
    ranks = tuple(str(rank) for rank in range(1, count + 1))
    return Heat(
        key=f"ratios-{count}-{word}",
        title=f"{outcome.name}: who meets whom",
        rows=ranks,
        columns=ranks,
        values=tuple(tuple(None if i == j else float(both[i, j]) for j in range(count)) for i in range(count)),
        label=f"probability x {count - 1}",
        digits=1,
    )


def _sit_outs(count: int, odd: Sequence[Outcome]) -> Table:
    """By rank, how often it sits out where whoever is left over does."""
    plain = [each for each in odd if each.series.bye == "natural"]
    columns = [Column(name="rank")]
    for each in plain:
        columns.append(Column(name=each.series.formula, percent=True, digits=2))
        columns.append(Column(name="exact", percent=True, digits=2))

    def cells(at: int) -> tuple[Cell, ...]:
        return tuple(
            float(value)
            for each in plain
            for value in (each.tally.sat_out[at] / each.tally.rounds, each.law.sat_out[at])
        )

    return Table(
        key=f"sit-outs-{count}",
        title=f"{count} players, natural bye: rounds in which a rank sits out",
        columns=tuple(columns),
        rows=tuple((str(at + 1), *cells(at)) for at in range(count)),
    )


def _turns(count: int, odd: Sequence[Outcome]) -> Table:
    """How evenly sitting out falls on all, by both rules."""
    rows = []
    for each in odd:
        shares = each.tally.sat_out / each.tally.rounds
        again = each.tally.again / each.tally.following if each.tally.following else None
        row = (each.series.formula, each.series.bye, each.tally.rounds, float(shares.min()), float(shares.max()), again)
        rows.append(row)
    return Table(
        key=f"turns-{count}",
        title=f"{count} players: how evenly sitting out falls on the ranks, share of rounds",
        columns=_TURNS,
        rows=tuple(rows),
    )


def _sit_outs_drawn(count: int, odd: Sequence[Outcome]) -> Chart:
    ranks = tuple(float(rank) for rank in range(1, count + 1))
    lines: list[Line] = []
    fair = [each for each in odd if each.series.bye == "fair"][:1]  # all formulas are alike there
    for each in (*fair, *(each for each in odd if each.series.bye == "natural")):
        is_fair = each.series.bye == "fair"
        shares = tuple(map(float, each.tally.sat_out / each.tally.rounds))
        lines.append(Line(name="fair bye" if is_fair else each.series.formula, x=ranks, y=shares, points=True))
        if not is_fair:
            exact = tuple(map(float, each.law.sat_out))
            lines.append(Line(name=f"{each.series.formula}, exact", x=ranks, y=exact, dashed=True))
    return Chart(
        key=f"sit-outs-{count}",
        title=f"Who of {count} sits out",
        x_label="rank",
        y_label="share of rounds",
        lines=tuple(lines),
    )


# --- held against the exact law and the mail ----------------------------------------------------------------------


class _Apart(NamedTuple):
    """How far frequencies are from their probabilities.

    :ivar off: how many are further than ERRORS standard errors and RARE rounds
    :ivar errors: the largest deviation in standard errors, of events that are expected in EXPECTED rounds
    """

    off: int
    errors: float


def apart(counts: Counts, probabilities: Floats, rounds: int, narrower: float = 1.0) -> _Apart:
    """Numbers of rounds in which events happened, against the events' probabilities, both of one shape.

    :param narrower: the standard errors over those of independent rounds
    """
    deviations = np.abs(counts - rounds * probabilities)
    errors = narrower * np.sqrt(rounds * probabilities * (1.0 - probabilities))
    never = (probabilities == 0.0) & (counts > 0)
    told = (rounds * np.minimum(probabilities, 1.0 - probabilities) >= EXPECTED) & (errors > 0.0)
    largest = float((deviations[told] / errors[told]).max()) if told.any() else 0.0
    return _Apart(int(((deviations > ERRORS * errors + RARE) | never).sum()), largest)


def _rows(plain: Sequence[Outcome]) -> tuple[tuple[Cell, ...], ...]:
    rows: list[tuple[Cell, ...]] = []
    for each in plain:
        pairs = np.triu_indices(each.series.players, 1)
        met, law = each.tally.met[pairs], each.law.met[pairs]
        never = law == 0.0
        ratio = float(np.abs(met / each.tally.rounds - law).max()) * (each.series.players - 1)
        errors = apart(met, law, each.tally.rounds).errors
        counts = (each.tally.rounds, int(never.sum()), int((met[never] > 0).sum()))
        rows.append((each.series.players, each.series.formula, *counts, ratio, errors))
    return tuple(rows)


def _none(claim: str, count: int) -> Check:
    return Check(claim=claim, holds=count == 0, measured=Mean(float(count)), expected=0.0, allowed=0.0)


def _checks(outcome: Outcome) -> list[Check]:
    series, tally, law = outcome
    reach = f"beyond {ERRORS:g} standard errors and {RARE} rounds"
    if series.bye == "fair":
        # Whoever sat out is spared the next time, and the lot decides among the others. So every share is 1/n, and
        # rounds correlate as (-1/(n - 1))^distance, which multiplies the variance of independent ones by 1 - 2/n.
        even = np.full(series.players, 1.0 / series.players)
        off = apart(tally.sat_out, even, tally.rounds, math.sqrt(1.0 - 2.0 / series.players)).off
        return [
            _none(f"{outcome.name}, fair bye: somebody sits out twice running", tally.again),
            _none(f"{outcome.name}, fair bye: shares {reach} of 1/{series.players}", off),
        ]
    pairs = np.triu_indices(series.players, 1)
    checks = [_none(f"{outcome.name}: pairs {reach}", apart(tally.met[pairs], law.met[pairs], tally.rounds).off)]
    if series.players % 2:
        off = apart(tally.sat_out, law.sat_out, tally.rounds).off
        checks.append(_none(f"{outcome.name}: sit-outs {reach}", off))
    return checks


def _idle(outcome: Outcome) -> int:
    """How many ranks are not in every round just once."""
    _, tally, _ = outcome
    return int((tally.met.sum(axis=0) + tally.met.sum(axis=1) + tally.sat_out != tally.rounds).sum())


def _printed(outcome: Outcome) -> list[Check]:
    """The cells of the mail that are at hand; of `one`, where all are alike, the one that is furthest off."""
    series, tally, law = outcome
    if series.players != PUBLISHED_PLAYERS:
        return []
    most = series.players - 1
    checks = []

    def off(cell: tuple[int, int]) -> float:
        return abs(float(outcome.ratios[cell]) - PRINTED[series.formula, cell[0] + 1, cell[1] + 1])

    cells = [(i - 1, j - 1) for formula, i, j in PRINTED if formula == series.formula]
    if series.formula == "one":
        cells = [max(cells, key=off)]
    for cell in cells:
        p = float(law.met[cell])
        error = most * math.sqrt(p * (1.0 - p) / tally.rounds)
        claim = f"{series.formula}: the mail's cell {cell[0] + 1}-{cell[1] + 1} (exact {most * p:.4f})"
        published = PRINTED[series.formula, cell[0] + 1, cell[1] + 1]
        checks.append(close(claim, Mean(float(outcome.ratios[cell]), error), published, PRINTED_OFF, errors=ERRORS))
    return checks
