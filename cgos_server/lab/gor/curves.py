"""GoR's formulas as curves: expectancy, con, expected total change and where it is largest, by the server's functions.

Source: T. Vuorinen, "Enhancing Go tournament pairings in Europe" (MSc thesis, Tampere University of Technology, 2010),
sections 2.1 and 2.2: table 2.1, figures 2.1 and 2.2. Ratings and changes are GoR points; x is the opponent's rating
minus one's own. Must not know: pools, command lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from cgos_server.core.pairing.methods.change import total_change
from cgos_server.core.pairing.methods.entropy import gor_win
from cgos_server.core.rating.incremental.gor import EPS, con, expectancy
from cgos_server.lab.ratings.pools import Floats
from cgos_server.lab.report import Cell, Chart, Check, Column, Line, Mean, Report, Table, close

CON: Final = (
    116,
    110,
    105,
    100,
    95,
    90,
    85,
    80,
    75,
    70,
    65,
    60,
    55,
    51,
    47,
    43,
    39,
    35,
    31,
    27,
    24,
    21,
    18,
    15,
    13,
    11,
    10,
)
"""Table 2.1, as printed: con at 100, 200, ... 2700."""

LOWEST: Final = 100
HIGHEST: Final = 2700
"""Between these ratings the formulas are more than constants."""

REACH: Final = 400
"""The figures' x goes so far to either side."""

ABOVE: Final = 1000
"""A maximum is looked for among opponents from LOWEST to so far above oneself, every half point."""

CLAIMED: Final = 250.0
"""Where the thesis has the maximum, whatever the sign: in the middle of 200 to 300."""

_PEAKS: Final = (
    Column(name="own"),
    Column(name="x of maximum", digits=1, signed=True),
    Column(name="maximum", digits=6),
    Column(name="at x = 0", digits=6),
    Column(name="gain", percent=True, digits=1, signed=True),
    Column(name="at x = +250", digits=6),
    Column(name="opponent"),
    Column(name="x where ratings move most", digits=1, signed=True),
)


class Peak(Struct, frozen=True, kw_only=True):
    """Where a curve of one's own rating is largest.

    :ivar x: of the maximum; of several the one nearest to 0
    :ivar limited: whether the opponent is the weakest possible one
    :ivar moving: x where :func:`absolute_change` is largest
    """

    own: float
    x: float
    most: float
    even: float
    stronger: float
    limited: bool
    moving: float


def absolute_change(own: float, opponents: Floats) -> Floats:
    """By how much a game moves both ratings together, whatever the sign: (con_A + con_B) 2 S (1 - S), without epsilon;
    of the shape of `opponents`. It is this project's, not the thesis's."""
    win = gor_win(own, opponents)
    cons = np.array([con(float(each)) for each in opponents])
    return (con(own) + cons) * 2.0 * win * (1.0 - win)


def peak(own: float) -> Peak:
    """Where the expected total change of a game is largest, over all opponents."""
    opponents = np.arange(float(LOWEST), own + ABOVE + 0.25, 0.5)
    changes = total_change(own, opponents)
    moves = absolute_change(own, opponents)
    nearest = np.argsort(np.abs(opponents - own), kind="stable")
    at, moving = (int(nearest[np.argmax(values[nearest])]) for values in (changes, moves))
    return Peak(
        own=own,
        x=float(opponents[at]) - own,
        most=float(changes[at]),
        even=float(total_change(own, own)),
        stronger=float(total_change(own, own + CLAIMED)),
        limited=at == 0 and own > LOWEST,
        moving=float(opponents[moving]) - own,
    )


def curves(owns: Sequence[float]) -> Report:
    """Tables and figures for players of these ratings, and maxima for every hundred points."""
    peaks = [peak(own) for own in dict.fromkeys([*map(float, range(LOWEST, HIGHEST + 1, 100)), *owns])]
    return Report(
        tables=(
            _con_table(),
            _expectancy_table(owns),
            _change_table(owns),
            _peak_table(sorted(peaks, key=lambda each: each.own)),
        ),
        checks=(*_con_checks(), *_identities(owns), *_claims(peaks)),
        pictures=(_expectancy_chart(owns), _change_chart(owns)),
        notes=(
            "The thesis's expected total change takes probabilities that sum to 1 - epsilon: it is what epsilon puts "
            "into the pool, and nothing without epsilon. With probabilities that sum to 1 it is epsilon times con of "
            "the stronger player, which only falls with the gap (dashed in the figure).",
            "The thesis has its maximum at 200 to 300 points, up or down. That holds downward for middle ratings; "
            "upward there is none at any rating. Con has kinks, at most every 100 points, and so have the curves: the "
            "maximum moves by jumps with the rating.",
        ),
    )


# --- tables and figures -------------------------------------------------------------------------------------------


def _word(own: float) -> str:
    return f"{own:g}"


def _con_table() -> Table:
    ratings = range(LOWEST, HIGHEST + 1, 100)
    return Table(
        key="con",
        title="Table 2.1: con",
        columns=(Column(name="rating"), Column(name="printed"), Column(name="ours", digits=1)),
        rows=tuple((rating, printed, con(float(rating))) for rating, printed in zip(ratings, CON, strict=True)),
    )


def _grid(key: str, title: str, owns: Sequence[float], rows: Sequence[tuple[Cell, ...]]) -> Table:
    columns = (Column(name="x", signed=True), *(Column(name=f"own {_word(own)}", digits=4) for own in owns))
    return Table(key=key, title=title, columns=columns, rows=tuple(rows))


def _expectancy_table(owns: Sequence[float]) -> Table:
    rows = [
        (x, *(expectancy(own, own + x, variant="thesis")[0] for own in owns)) for x in range(-REACH, REACH + 1, 100)
    ]
    return _grid(
        "expectancy", "Figure 2.1: expectancy against an opponent x points stronger, epsilon 0.016", owns, rows
    )


def _change_table(owns: Sequence[float]) -> Table:
    rows = [(x, *(float(total_change(own, own + x)) for own in owns)) for x in range(-REACH, REACH + 1, 50)]
    return _grid("change", "Figure 2.2: expected total change, points (what epsilon puts into the pool)", owns, rows)


def _peak_table(peaks: Sequence[Peak]) -> Table:
    rows = tuple(
        (
            _word(each.own),
            each.x,
            each.most,
            each.even,
            each.most / each.even - 1.0,
            each.stronger,
            "the weakest" if each.limited else None,
            each.moving,
        )
        for each in peaks
    )
    return Table(key="peaks", title="Where the expected total change is largest", columns=_PEAKS, rows=rows)


def _expectancy_chart(owns: Sequence[float]) -> Chart:
    x = tuple(map(float, range(-REACH, REACH + 1, 10)))
    lines = [
        Line(name=f"own {_word(own)}", x=x, y=tuple(expectancy(own, own + at, variant="thesis")[0] for at in x))
        for own in owns
    ]
    return Chart(
        key="expectancy",
        title="Expectancy (figure 2.1)",
        x_label="opponent's rating - own",
        y_label="expectancy",
        lines=tuple(lines),
    )


def _change_chart(owns: Sequence[float]) -> Chart:
    x = tuple(map(float, range(-REACH, REACH + 1, 5)))
    lines = []
    for own in owns:
        y = tuple(float(total_change(own, own + at)) for at in x)
        lines.append(Line(name=f"own {_word(own)}", x=x, y=y))
        stronger = tuple(EPS * con(max(own, own + at)) for at in x)
        lines.append(Line(name=f"own {_word(own)}, probabilities of sum 1", x=x, y=stronger, dashed=True))
    return Chart(
        key="change",
        title="Expected total change (figure 2.2)",
        x_label="opponent's rating - own",
        y_label="points",
        lines=tuple(lines),
    )


# --- held against the thesis --------------------------------------------------------------------------------------


def _con_checks() -> list[Check]:
    ratings = range(LOWEST, HIGHEST + 1, 100)
    off = max(abs(con(float(rating)) - printed) for rating, printed in zip(ratings, CON, strict=True))
    return [close("con, 27 rows of table 2.1: largest deviation", Mean(off), 0.0, 0.0)]


def _defined(low: float, high: float, eps: float) -> float:
    """The expected total change as section 2.2.2 defines it, not simplified."""
    s_low, s_high = expectancy(low, high, variant="thesis", eps=eps)
    of_low = con(low) * (s_low * (1.0 - s_low) + s_high * (0.0 - s_low))
    return of_low + con(high) * (s_high * (1.0 - s_high) + s_low * (0.0 - s_high))


def _identities(owns: Sequence[float]) -> list[Check]:
    games = [(min(own, own + x), max(own, own + x)) for own in owns for x in range(-REACH, REACH + 1, 10)]
    sums = max(abs(sum(expectancy(*game, variant="thesis")) - (1.0 - EPS)) for game in games)
    simplified = max(abs(_defined(*game, EPS) - float(total_change(*game))) for game in games)
    without = max(abs(_defined(*game, 0.0)) for game in games)
    return [
        close("expectancies of a game: sum away from 0.984", Mean(sums), 0.0, 1e-12),
        close("expected total change: definition away from the simplified form", Mean(simplified), 0.0, 1e-12),
        close("expected total change without epsilon", Mean(without), 0.0, 1e-12),
    ]


def _claims(peaks: Sequence[Peak]) -> list[Check]:
    by_own = {each.own: each for each in peaks}
    middle, high = by_own[700.0], by_own[2200.0]
    upward = sum(each.x > 0.0 for each in peaks)
    gain = max(each.most / each.even - 1.0 for each in peaks)
    return [
        close("own 700: maximum at 200 to 300 points, downward", Mean(middle.x), -CLAIMED, 50.0),
        Check(
            claim="own 2200: maximum nearer to 0 than 200 points, as the thesis has it for high ratings",
            holds=abs(high.x) < 200.0,
            measured=Mean(high.x),
        ),
        close("ratings at which a stronger opponent is best (the thesis: up or down)", Mean(float(upward)), 0.0, 0.0),
        Check(claim="most that a maximum is above x = 0, as a share", holds=gain < 0.06, measured=Mean(gain)),
    ]
