"""Chapter 2 of Vuorinen (2010), value by value: GoR's con and expectancy, the expected total change, entropy.

Ours are the server's own functions; beside them stand the printed values or, for formulas, these written down once
more. Must not know: tournaments, terminals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from cgos_server.core.pairing.base import Floats
from cgos_server.core.pairing.matching import best
from cgos_server.core.pairing.methods.change import total_change
from cgos_server.core.pairing.methods.entropy import bits, gor_win, term
from cgos_server.core.rating.incremental.gor import EPS, con, expectancy, slope
from cgos_server.lab.gor.curves import CON
from cgos_server.lab.gor.entropies import MISPRINTED, PAIRS, PLAYERS, RATINGS, TERMS, WINS, printed
from cgos_server.lab.report import Chart, Check, Column, Line, Mean, Report, Table, close, joined

OWN: Final = (700.0, 2200.0)
"""Ratings whose curves are in figure 2.2."""

DIFFERENCES: Final = tuple(range(0, 1001, 100))
STEPS: Final = tuple(range(-600, 601, 50))

ROUNDED: Final = 0.00000501
"""A printed value of five decimals is so near the right one."""

EXACT: Final = 1e-12

WRONG_SLOPE: Final = 188.0
"""With which the printed value of the pair MISPRINTED comes out: that of another player."""

_SCALE: Final = 10**12


def chapter_2() -> Report:
    """Tables 2.1 to 2.3, figures 2.1 and 2.2."""
    return joined((table_2_1(), figure_2_1(), figure_2_2(), tables_2_2_and_2_3()))


def table_2_1() -> Report:
    """Con."""
    rows = tuple((rating, there, con(float(rating))) for rating, there in zip(range(100, 2701, 100), CON, strict=True))
    apart = max(abs(ours - there) for _, there, ours in rows)
    table = Table(
        key="table-2-1",
        title="Table 2.1: con",
        columns=(Column(name="rating"), Column(name="printed"), Column(name="ours", digits=0)),
        rows=rows,
    )
    return Report(tables=(table,), checks=(close("table 2.1: largest difference", Mean(apart), 0.0, 0.0),))


def figure_2_1() -> Report:
    """What the lower rated can expect, and the slope a."""
    lows = (100.0, *OWN, 2700.0)
    rows, apart, sums = [], 0.0, 0.0
    for difference in DIFFERENCES:
        row: list[float] = []
        for low in lows:
            lower, higher = expectancy(low, low + difference, variant="thesis")
            apart = max(apart, abs(lower - 1.0 / (math.exp(difference / (200.0 - (low - 100.0) / 20.0)) + 1.0)))
            sums = max(sums, abs(lower + higher - (1.0 - EPS)))
            row.append(lower)
        rows.append((difference, *row))
    table = Table(
        key="figure-2-1",
        title="Figure 2.1: what the lower rated can expect, by the server; columns: its rating",
        columns=(
            Column(name="difference"),
            *(Column(name=f"{low:.0f} (a = {slope(low):.0f})", digits=5) for low in lows),
        ),
        rows=tuple(rows),
    )
    lines = tuple(
        Line(name=f"{low:.0f}", x=tuple(map(float, DIFFERENCES)), y=tuple(row[at] for row in rows))
        for at, low in enumerate(lows, 1)
    )
    picture = Chart(
        key="figure-2-1",
        title="Figure 2.1: win expectancy of the lower rated",
        x_label="difference of ratings",
        y_label="expectancy",
        lines=lines,
    )
    checks = (
        close("figure 2.1: largest distance from 1/(exp(D/a) + 1)", Mean(apart), 0.0, EXACT),
        close("figure 2.1: both expectancies' sum less 0.984, largest", Mean(sums), 0.0, EXACT),
    )
    return Report(tables=(table,), checks=checks, pictures=(picture,))


def figure_2_2() -> Report:
    """The expected total change, and where it is largest."""
    rows = tuple(
        (step, *(_change(own, step) for own in OWN), *(_by_definition(own, step) for own in OWN)) for step in STEPS
    )
    apart = max(abs(row[1 + at] - row[1 + at + len(OWN)]) for row in rows for at in range(len(OWN)))
    table = Table(
        key="figure-2-2",
        title="Figure 2.2: expected total change of both ratings, by the server and by its definition",
        columns=(
            Column(name="opponent less own rating", signed=True),
            *(Column(name=f"own {own:.0f}", digits=6) for own in OWN),
            *(Column(name=f"own {own:.0f}, by definition", digits=6) for own in OWN),
        ),
        rows=rows,
    )
    peaks = [_peak(own) for own in OWN]
    above = [max(_change(own, step) for step in range(1, 1001)) - _change(own, 0) for own in OWN]
    checks = (
        close("figure 2.2: largest distance from E(dA) + E(dB)", Mean(apart), 0.0, EXACT),
        close("figure 2.2: own 700, the maximum is 200 to 300 points off", Mean(-peaks[0]), 250.0, 50.0),
        close("figure 2.2: own 2200, it is nearer to 0, as the text says", Mean(-peaks[1]), 100.0, 99.0),
        Check(
            claim="2.2.2, corrected: a stronger opponent never gives more than an equal one",
            holds=max(above) < 0.0,
            measured=Mean(max(above)),
        ),
    )
    lines = tuple(
        Line(name=f"own {own:.0f}", x=tuple(map(float, STEPS)), y=tuple(row[at] for row in rows))
        for at, own in enumerate(OWN, 1)
    )
    picture = Chart(
        key="figure-2-2",
        title="Figure 2.2: expected total change",
        x_label="opponent's rating less own",
        y_label="points",
        lines=lines,
    )
    return Report(tables=(table, _peaks()), checks=checks, pictures=(picture,))


def _peaks() -> Table:
    rows = []
    for own in (100.0, 300.0, 400.0, 700.0, 1400.0, 1500.0, 2200.0, 2600.0):
        peak = _peak(own)
        rows.append((int(own), peak, *(_change(own, step) for step in (peak, 0, 250))))
    return Table(
        key="peaks",
        title="Where the expected total change is largest, for opponents from 100 points on",
        columns=(
            Column(name="own rating"),
            Column(name="maximum at", signed=True),
            *(Column(name=name, digits=6) for name in ("there", "against an equal", "250 points above")),
        ),
        rows=tuple(rows),
    )


def _change(own: float, step: float) -> float:
    return float(total_change(own, own + step))


def _by_definition(own: float, step: float) -> float:
    """con_A (S_A (1 - S_A) - S_B S_A) + con_B (S_B (1 - S_B) - S_A S_B), before it is simplified."""
    low, high = min(own, own + step), max(own, own + step)
    a, b = expectancy(low, high, variant="thesis")
    return con(low) * (a * (1.0 - a) - b * a) + con(high) * (b * (1.0 - b) - a * b)


def _peak(own: float) -> int:
    """In whole points."""
    steps = np.arange(100 - int(own), 1001)
    return int(steps[np.argmax(total_change(own, own + steps))])


def tables_2_2_and_2_3() -> Report:
    """Win probabilities and their entropies, and the pairing of the largest sum."""
    one, other = (np.array([RATINGS[pair[side]] for pair in PAIRS], dtype=np.float64) for side in (0, 1))
    whole, exact = gor_win(one, other, integer=True), gor_win(one, other)
    rows, right, from_printed = [], 0, 0.0
    for pair, ours, better in zip(PAIRS, whole.tolist(), exact.tolist(), strict=True):
        wins, terms = ((printed(of, pair), printed(of, (pair[1], pair[0]))) for of in (WINS, TERMS))
        right += abs(ours - wins[0]) <= ROUNDED and abs(1.0 - ours - wins[1]) <= ROUNDED
        from_printed = max(from_printed, *(abs(float(term(p)) - t) for p, t in zip(wins, terms, strict=True)))
        mine = term([ours, 1.0 - ours]).tolist()
        total = float(bits(ours))
        rows.append((f"{pair[0]}-{pair[1]}", wins[0], ours, better, terms[0], mine[0], terms[1], mine[1], total))
    table = Table(
        key="tables-2-2-2-3",
        title="Tables 2.2 and 2.3: chances of the first of a pair, and -p log2 p of both; B-F is misprinted",
        columns=(
            Column(name="pair"),
            *(Column(name=name, digits=5) for name in ("2.2 printed", "ours", "ours, exact slope")),
            *(Column(name=name, digits=5) for name in ("2.3 printed", "ours", "2.3 printed, other side", "ours")),
            Column(name="bits of the pair", digits=5),
        ),
        rows=tuple(rows),
    )
    gap = abs(RATINGS[MISPRINTED[0]] - RATINGS[MISPRINTED[1]])
    mistaken = 1.0 / (1.0 + math.exp(-gap / WRONG_SLOPE))
    chosen, total = _best_pairing(PLAYERS, exact)
    checks = (
        close("table 2.2: pairs that are right to five decimals, of 15", Mean(right), 14.0, 0.0),
        close(
            "table 2.2: B-F is printed as it is with the slope of E", Mean(mistaken), printed(WINS, MISPRINTED), ROUNDED
        ),
        close("table 2.3: largest distance from -p log2 p of table 2.2", Mean(from_printed), 0.0, ROUNDED),
        Check(claim="the best pairing is A-F, B-D, C-E", holds=chosen == ["AF", "BD", "CE"], measured=Mean(total)),
        close("its entropy with exact slopes, bits", Mean(total), 2.76204, ROUNDED),
    )
    return Report(tables=(table,), checks=checks)


def _best_pairing(names: Sequence[str], win: Floats) -> tuple[list[str], float]:
    """The pairs of the largest sum of entropies, and that sum.

    :param win: of the first of each pair of names, in their order
    """
    i, j = np.triu_indices(len(names), 1)
    each = bits(win)
    weights = np.rint(each * _SCALE).astype(np.int64)
    pairs = best(len(names), i.astype(np.int64), j.astype(np.int64), weights)
    of = {(a, b): float(value) for a, b, value in zip(i.tolist(), j.tolist(), each, strict=True)}
    return sorted(names[a] + names[b] for a, b in pairs), math.fsum(of[pair] for pair in pairs)
