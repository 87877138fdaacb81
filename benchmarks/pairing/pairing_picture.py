"""Who meets whom under each matchmaker, as a picture: fourteen versions, a thousand rounds, one panel a method.

Birk showed such tables for fourteen versions (computer-go list, 5 October 2006). Ratings stand at the quantiles of
N(2000, 350) and are known to 50 Elo; nothing is learned meanwhile, and nobody is kept from anybody. Writes an SVG.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple

from rich.progress import track

from benchmarks.reporting import CommandLine
from cgos_protocol.ids import VersionId
from cgos_server.core.pairing.base import Candidate, PairingPass
from cgos_server.core.pairing.fairness import colors
from cgos_server.core.pairing.memory import Memory
from cgos_server.core.pairing.registry import matchmaker

VERSIONS = 14
SD = 50.0
CELL, GAP, COLUMNS = 11, 34, 5
TITLE = 30

FREE = {"avoid_last": False, "repeat_most": 1000, "repeat_last": 100, "max_expected": 1.0}
"""Nobody is kept from anybody, so that the method alone shows."""


class Panel(NamedTuple):
    """One method with its options."""

    title: str
    method: str
    options: Mapping[str, Any]


PANELS = (
    Panel("information", "information", {}),
    Panel("entropy", "entropy", {"model": "venue"}),
    Panel("expected-change", "expected-change", {}),
    Panel("permuted", "permuted", {}),
    Panel("adjacent", "adjacent", {}),
    Panel("birk half", "birk", {"formula": "half"}),
    Panel("birk fifth", "birk", {"formula": "fifth"}),
    Panel("birk sqrt", "birk", {"formula": "sqrt"}),
    Panel("birk one", "birk", {"formula": "one"}),
    Panel("random", "random", {}),
)


def met(panel: Panel, rounds: int) -> list[list[float]]:
    """[i][j]: how often ranks i and j meet, against an even share of each one's games."""
    normal = NormalDist(2000.0, 350.0)
    ratings = [normal.inv_cdf(1 - (rank + 0.5) / VERSIONS) for rank in range(VERSIONS)]
    method = matchmaker(panel.method, {**panel.options, **FREE})
    memory = Memory(100, {}, {}, {})
    rng = random.Random(1)
    games = [[0] * VERSIONS for _ in ratings]
    for number in range(rounds):
        present = [VersionId(rank) for rank in range(1, VERSIONS + 1)]
        candidates = [
            Candidate(
                version,
                f"rank-{version}",
                ratings[version - 1],
                sd=SD,
                games=number,
                balance=memory.balance(version),
                last_opponent=memory.last_opponent(version),
                recent=memory.remembered(version),
            )
            for version in present
        ]
        pairs = sorted({pair for version in present for pair in memory.met(version, present)})
        pairing_pass = PairingPass(candidates=candidates, meetings=[memory.meeting(*pair) for pair in pairs])
        for pair in method.pair(pairing_pass, rng).pairs:
            black, white, _ = colors(pair.high, pair.low, as_black=memory.as_black, balance=memory.balance, rng=rng)
            memory.began(black, white, {})
            games[black - 1][white - 1] += 1
            games[white - 1][black - 1] += 1
    return [[count * (VERSIONS - 1) / max(1, sum(row)) for count in row] for row in games]


def svg(tables: Mapping[str, list[list[float]]]) -> str:
    """All panels, the darker the more often."""
    side = VERSIONS * CELL
    lines = -(-len(tables) // COLUMNS)
    width, height = COLUMNS * (side + GAP) - GAP // 2, lines * (side + TITLE + 14) + 10
    words: list[str] = []
    cells: dict[str, list[str]] = defaultdict(list)
    for at, (title, table) in enumerate(tables.items()):
        left = GAP // 4 + at % COLUMNS * (side + GAP)
        top = TITLE + at // COLUMNS * (side + TITLE + 14)
        words.append(f'<text x="{left}" y="{top - 8}">{title}</text>')
        for i, row in enumerate(table):
            for j, times in enumerate(row):
                shade = "#dddddd" if i == j else _shade(times)
                cells[shade].append(f"M{left + j * CELL} {top + i * CELL}h{CELL - 1}v{CELL - 1}h{1 - CELL}z")
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            'aria-label="Who meets whom under each matchmaker" font-family="sans-serif" font-size="12" fill="#222222">',
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
            *words,
            *(f'<path fill="{shade}" d="{"".join(paths)}"/>' for shade, paths in sorted(cells.items())),
            "</svg>\n",
        ]
    )


def _shade(times: float) -> str:
    """White for never, the darkest of sixteen blues for four even shares and more."""
    part = round(16 * min(1.0, times / 4.0) ** 0.6) / 16
    return "#" + "".join(f"{round(255 + part * (dark - 255)):02x}" for dark in (8, 48, 107))


def main(words: Sequence[str] | None = None) -> None:
    parser = CommandLine(__doc__, rounds=2)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--output", type=Path, default=Path("docs/images/who-meets-whom.svg"))
    options = parser.read(words)
    tables = {panel.title: met(panel, options.rounds) for panel in track(PANELS, "playing")}
    options.output.write_text(svg(tables), "utf-8")


if __name__ == "__main__":
    main()
