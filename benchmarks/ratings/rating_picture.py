"""A picture of the measured accuracy: RMSE against games for every system and the limit, a panel for each main pool.

Plain SVG. Knows only the figures that rating_accuracy.py writes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 1060, 500
PANEL_WIDTH, PANEL_HEIGHT = 325, 350
LEFT, TOP, BETWEEN = 62, 76, 185
LOWEST, HIGHEST = 25.0, 700.0
TICKS = (25, 35, 50, 70, 100, 140, 200, 280, 400, 560)

INK, GRID, PAPER = "#1b1f24", "#d8dde3", "#ffffff"
STYLES: Mapping[str, tuple[str, str, float]] = {
    "limit": ("#57606a", "6 4", 1.8),
    "bayes": ("#0550ae", "", 3.2),
    "cgos-elo": ("#bc4c00", "", 1.8),
    "cgos-elo, compat": ("#bc4c00", "2 3", 1.8),
    "glicko2": ("#1a7f37", "", 1.8),
    "gor": ("#8250df", "", 1.8),
    "egf2021": ("#bf3989", "", 1.8),
}
"""Color, dashes and width by system. The colors hold 4.5 : 1 on white."""

NAMES = {
    "limit": "the limit",
    "cgos-elo, compat": "CGOS's K scheme",
    "gor": "gor, best line",
    "egf2021": "egf2021, best line",
}


def draw(figures: Mapping[str, Any]) -> str:
    """The SVG file's text, from what rating_accuracy.py writes as JSON; panels for the main pools that are there."""
    experiments = figures["experiments"]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="system-ui, sans-serif" font-size="13" role="img" aria-labelledby="title">',
        '<title id="title">Error of the ratings against games played, for each rating system and the limit</title>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{PAPER}"/>',
        _text(
            LEFT,
            28,
            words="How far off ratings are, by games a version (RMSE in Elo, mean offset removed)",
            size=17,
            weight=600,
        ),
        _text(LEFT, HEIGHT - 14, "64 versions from a cold start, two anchors; both axes are logarithmic", 12),
    ]
    for place, pool in enumerate(("normal", "bimodal")):
        if f"{pool}, bayes" in experiments:
            parts += _panel(LEFT + place * (PANEL_WIDTH + BETWEEN), experiments, pool)
    return "\n".join([*parts, "</svg>", ""])


def curves(experiments: Mapping[str, Any], pool: str) -> dict[str, dict[int, float]]:
    """System -> games -> RMSE; for systems with points of their own, about the best straight line."""
    main = experiments[f"{pool}, bayes"]
    lines = {} if not main["limit"] else {"limit": {int(games): float(v) for games, v in main["limit"].items()}}
    for label, rows in main["systems"].items():
        key = "line" if label in ("gor", "egf2021") else "rmse"
        lines[label] = {int(games): row[key] for games, row in rows.items()}
    own = experiments.get(f"{pool}, cgos-elo, compat")
    if own:
        rows = own["systems"]["cgos-elo, compat"]
        lines["cgos-elo, compat"] = {int(games): row["rmse"] for games, row in rows.items()}
    return lines


def _panel(left: float, experiments: Mapping[str, Any], pool: str) -> list[str]:
    lines = curves(experiments, pool)
    games = sorted({number for line in lines.values() for number in line})
    low, high = math.log(games[0]), math.log(max(games[-1], games[0] + 1))

    def x(number: int) -> float:
        return left + PANEL_WIDTH * (math.log(number) - low) / (high - low)

    def y(rmse: float) -> float:
        bounded = min(max(rmse, LOWEST), HIGHEST)
        return TOP + PANEL_HEIGHT * (math.log(HIGHEST) - math.log(bounded)) / (math.log(HIGHEST) - math.log(LOWEST))

    bottom = TOP + PANEL_HEIGHT
    parts = [_text(left, TOP - 14, words=experiments[f"{pool}, bayes"]["text"], size=14, weight=600)]
    for tick in TICKS:
        parts.append(_line([(left, y(tick)), (left + PANEL_WIDTH, y(tick))], GRID, "", 1))
        parts.append(_text(left - 8, y(tick) + 4.5, str(tick), 13, anchor="end"))
    for number in games:
        parts.append(_line([(x(number), TOP), (x(number), bottom)], GRID, "", 1))
        parts.append(_text(x(number), bottom + 20, str(number), 13, anchor="middle"))
    parts.append(_text(left + PANEL_WIDTH / 2, bottom + 40, "games a version", 13, anchor="middle"))
    ends: list[tuple[float, str]] = []
    for name in sorted(lines, key=lambda name: name == "bayes"):
        color, dashes, width = STYLES[name]
        points = [(x(number), y(rmse)) for number, rmse in sorted(lines[name].items())]
        parts.append(_line(points, color, dashes, width))
        ends.append((points[-1][1], name))
    for at, name in _spread(ends):
        label = NAMES.get(name, name)
        parts.append(
            _text(
                left + PANEL_WIDTH + 8,
                at + 4.5,
                words=label,
                size=13,
                weight=600 if name == "bayes" else 400,
                color=STYLES[name][0],
            )
        )
    return parts


def _spread(ends: Sequence[tuple[float, str]], apart: float = 17.0) -> list[tuple[float, str]]:
    """Labels moved so far apart that they can be read, those that are lowest first."""
    placed: list[tuple[float, str]] = []
    for at, name in sorted(ends, reverse=True):
        if placed:
            at = min(at, placed[-1][0] - apart)
        placed.append((min(at, TOP + PANEL_HEIGHT), name))
    return placed


def _line(points: Sequence[tuple[float, float]], color: str, dashes: str, width: float) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dash = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width}"{dash}/>'


def _text(
    x: float, y: float, words: str, size: int, weight: int = 400, color: str = INK, *, anchor: str = "start"
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" fill="{color}" '
        f'text-anchor="{anchor}">{escape(words)}</text>'
    )
