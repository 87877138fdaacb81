"""All measurements, each beside a bare baseline of the same run: board, commit, one move through the whole server,
a thousand viewers, ten thousand idle bots, ratings, rounds of pairing, tournaments. How true ratings are, and how well
the matchmakers do, is measured by `cgos-server lab accuracy`, days of a server by `cgos-server lab ladder`, the rest by
programs of their own: rating_goals.py, rating_pairs.py, pairing_live.py, pairing_crowd.py.

Prints ratios and the machine; `--json FILE` writes every figure. Takes about twenty minutes on two cores.
"""

from __future__ import annotations

import os
import platform
import sqlite3
from collections.abc import Callable, Mapping, Sequence

from benchmarks.moves import board, crowd, server_moves
from benchmarks.pages import page_viewers, viewers
from benchmarks.pairing import pairing_speed
from benchmarks.ratings import rating_speed
from benchmarks.reporting import CommandLine, processor, write_json
from benchmarks.storage import commit
from benchmarks.tournaments import tournament_speed

PARTS: Mapping[str, Callable[[], object]] = {
    "board": board.run,
    "commit": commit.run,
    "server": server_moves.run,
    "viewers": viewers.run,
    "page_viewers": page_viewers.brief,
    "crowd": crowd.run,
    "ratings": rating_speed.brief,
    "pairing": pairing_speed.brief,
    "tournaments": tournament_speed.brief,
}


def machine() -> dict[str, object]:
    """What the figures depend on."""
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "system": platform.platform(),
        "load_before": os.getloadavg()[0],
    }


def main(words: Sequence[str] | None = None) -> None:
    parser = CommandLine(__doc__, only=["viewers"])
    parser.add_argument("--only", nargs="*", choices=PARTS, help="these alone")
    options = parser.read(words)
    circumstances = machine()
    print("  ".join(f"{key}: {value}" for key, value in circumstances.items()), flush=True)
    figures: dict[str, object] = {"machine": circumstances}
    for name, run in PARTS.items():
        if options.only is None or name in options.only:
            print(f"\n== {name}", flush=True)
            figures[name] = run()
    write_json(options.json, figures)


if __name__ == "__main__":
    main()
