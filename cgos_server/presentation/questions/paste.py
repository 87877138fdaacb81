"""A test, a gauntlet or a challenge in six lines of text, to be pasted into a pull request.

Must not know: how an answer is computed, where it was played.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cgos_protocol import intervals
from cgos_server.core.questions.wording import SCALES
from cgos_server.core.sequential import Counts, Decision, Estimate, Hypotheses, Standing

NO_ESTIMATE: Final = "no estimate: it takes 10 pairs (20 games) and an interval with two ends"

_DIGITS: Final = 1
_NARROW: Final = 6
_MOST_OPPONENTS: Final = 5
_RUNNING: Final = "goes on"


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialTest:
    """A test as it stands.

    :ivar older: name of A
    :ivar newer: name of B, whose strength is asked
    :ivar points: how many games B won, drew and lost; None where only pairs were counted
    :ivar ended: how it ended where its games did not decide; else empty
    """

    older: str
    newer: str
    hypotheses: Hypotheses
    counts: Counts
    points: tuple[int, int, int] | None
    standing: Standing
    estimate: Estimate
    ended: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A gauntlet as it stands. Elo are on the scale of its opponents' ratings.

    :ivar within: half of the 95 % interval that is wanted
    :ivar opponents: of each: name, rating, how many games the version won, drew and lost against it
    :ivar state: ``answered``, ``goes on``
    """

    version: str
    state: str
    within: float
    value: float | None
    lower: float | None
    upper: float | None
    points: tuple[int, int, int]
    opponents: Sequence[tuple[str, float, tuple[int, int, int]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenged:
    """A challenge as it stands.

    :ivar against: the opponent's name, or what stands for several
    :ivar state: as in :class:`Placed`
    :ivar most_games: how many were asked for
    """

    version: str
    against: str
    state: str
    most_games: int
    counts: Counts
    points: tuple[int, int, int]
    estimate: Estimate


def six_lines(tested: SequentialTest, link: str) -> str:
    """Names and verdict, Elo, log-likelihood ratio with its bounds, games, counts, and where it can be looked at.

    :param link: an address, or what computed it
    """
    hypotheses, now, counts = tested.hypotheses, tested.standing, tested.counts
    rows = (
        ("Test", f"{tested.newer} against {tested.older}: {tested.ended or verdict(now.decision)}"),
        ("Elo", elo(tested.estimate, " (95 %)")),
        (
            "LLR",
            f"{now.llr:z.2f} ({now.reject_at:.2f}, {now.accept_at:.2f}) "
            f"[{hypotheses.lower:.2f}, {hypotheses.upper:.2f}] {SCALES[hypotheses.scale]} Elo, "
            f"alpha {hypotheses.alpha:g}, beta {hypotheses.beta:g}",
        ),
        ("Games", f"N: {counts.games}{_points(tested.points)}"),
        ("Pairs" if counts.paired else "Single", f"[{', '.join(map(str, counts.cells))}]"),
        ("Link", link),
    )
    return _lines(rows)


def lines_of_gauntlet(placed: Placed, link: str) -> str:
    """As :func:`six_lines`: name and state, rating, how precise it is and was to be, games, opponents, and where it can
    be looked at."""
    value, lower, upper = placed.value, placed.lower, placed.upper
    half = "not known" if lower is None or upper is None else f"{(upper - lower) / 2:.0f}"
    shown = [f"{name} {rating:.0f}{_points(points)}" for name, rating, points in placed.opponents[:_MOST_OPPONENTS]]
    left = len(placed.opponents) - len(shown)
    rows = (
        ("Gauntlet", f"{placed.version}: {placed.state}"),
        ("Elo", with_interval(value, lower, upper, " (95 %), on the scale of its opponents")),
        ("Within", f"{half} Elo, asked for {placed.within:g}"),
        ("Games", f"N: {sum(placed.points)}{_points(placed.points)}"),
        ("Against", "; ".join(shown) + (f"; {left} more" if left else "")),
        ("Link", link),
    )
    return _lines(rows)


def lines_of_challenge(challenged: Challenged, link: str) -> str:
    """As :func:`six_lines`: names and state, Elo on both scales, games, counts, and where it can be looked at."""
    estimate = challenged.estimate
    normalized = (estimate.normalized, estimate.normalized_lower, estimate.normalized_upper)
    rows = (
        ("Challenge", f"{challenged.version} against {challenged.against}: {challenged.state}"),
        ("Elo", elo(estimate, " (95 %)")),
        ("nElo", with_interval(*normalized, " (95 %)")),
        ("Games", f"N: {challenged.counts.games}{_points(challenged.points)}, asked for {challenged.most_games}"),
        ("Pairs", f"[{', '.join(map(str, challenged.counts.cells))}]"),
        ("Link", link),
    )
    return _lines(rows)


def _lines(rows: Sequence[tuple[str, str]]) -> str:
    width = max(_NARROW, *(len(name) for name, _ in rows))
    return "\n".join(f"{name:<{width}} | {text}" for name, text in rows)


def verdict(decision: Decision | None) -> str:
    """``accepted``, ``rejected`` or ``goes on``."""
    return _RUNNING if decision is None else decision.value


def elo(estimate: Estimate, unit: str = "") -> str:
    """Logistic Elo with its interval: ``1.4 ± 1.3``, ``12.0, 3.1 to 30.2``."""
    return with_interval(estimate.elo, estimate.lower, estimate.upper, unit)


def with_interval(value: float | None, lower: float | None, upper: float | None, unit: str = "") -> str:
    """A value with its interval, and the unit behind them; :data:`NO_ESTIMATE` where one of them is missing."""
    if value is None or lower is None or upper is None:
        return NO_ESTIMATE
    return intervals.written(value, lower, upper, digits=_DIGITS) + unit


def _points(points: tuple[int, int, int] | None) -> str:
    if points is None:
        return ""
    won, drawn, lost = points
    return f" W: {won} L: {lost} D: {drawn}"
