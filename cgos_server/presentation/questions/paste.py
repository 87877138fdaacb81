"""A test in six lines of text, to be pasted into a pull request.

Must not know: how a test is computed, where it was played.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cgos_protocol import intervals
from cgos_server.core.sequential import Counts, Decision, Estimate, Hypotheses, Scale, Standing

SCALES: Final = {Scale.LOGISTIC: "logistic", Scale.NORMALIZED: "normalized"}
"""What kind of Elo the bounds are."""

_DIGITS: Final = 1
_RUNNING: Final = "goes on"


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialTest:
    """A test as it stands.

    :ivar older: name of A
    :ivar newer: name of B, whose strength is asked
    :ivar points: how many games B won, drew and lost; None where only pairs were counted
    """

    older: str
    newer: str
    hypotheses: Hypotheses
    counts: Counts
    points: tuple[int, int, int] | None
    standing: Standing
    estimate: Estimate


def six_lines(tested: SequentialTest, link: str) -> str:
    """Names and verdict, Elo, log-likelihood ratio with its bounds, games, counts, and where it can be looked at.

    :param link: an address, or what computed it
    """
    hypotheses, now, counts = tested.hypotheses, tested.standing, tested.counts
    rows = (
        ("Test", f"{tested.newer} against {tested.older}: {verdict(now.decision)}"),
        ("Elo", f"{elo(tested.estimate)} (95 %)"),
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
    return "\n".join(f"{name:<6} | {text}" for name, text in rows)


def verdict(decision: Decision | None) -> str:
    """``accepted``, ``rejected`` or ``goes on``."""
    return _RUNNING if decision is None else decision.value


def elo(estimate: Estimate) -> str:
    """Logistic Elo with its interval: ``1.4 ± 1.3``, ``12.0, 3.1 to 30.2``, ``331.1, at least -15.2``."""
    return with_interval(estimate.elo, estimate.lower, estimate.upper)


def with_interval(value: float | None, lower: float | None, upper: float | None) -> str:
    """A value with an interval whose ends may be open."""
    if value is None:
        middle = ""
    elif lower is not None and upper is not None:
        return intervals.written(value, lower, upper, digits=_DIGITS)
    else:
        middle = f"{value:.{_DIGITS}f}, "
    if lower is None and upper is None:
        return f"{middle}any" if middle else "not known"
    return f"{middle}at most {upper:.{_DIGITS}f}" if lower is None else f"{middle}at least {lower:.{_DIGITS}f}"


def _points(points: tuple[int, int, int] | None) -> str:
    if points is None:
        return ""
    won, drawn, lost = points
    return f" W: {won} L: {lost} D: {drawn}"
