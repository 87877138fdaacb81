"""All measurements, each beside a bare baseline of the same run: board, commit, one move through the whole server,
a thousand viewers, ten thousand idle bots, ratings, rounds of pairing, tournaments. How true ratings are, and how well
the matchmakers do, is measured by programs of their own: rating_accuracy.py, pairing_accuracy.py, pairing_days.py,
pairing_live.py, pairing_crowd.py.

Prints ratios and the machine; `--json FILE` writes every figure. Takes about twenty minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
from pathlib import Path
from typing import Any

import board
import commit
import crowd
import page_viewers
import pairing_speed
import rating_speed
import server_moves
import tournament_speed
import viewers
from reporting import processor


def machine() -> dict[str, Any]:
    """What the figures depend on."""
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "system": platform.platform(),
        "load_before": os.getloadavg()[0],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    options = parser.parse_args()
    figures: dict[str, Any] = {"machine": machine()}
    print("  ".join(f"{key}: {value}" for key, value in figures["machine"].items()), flush=True)
    for name, run in (
        ("board", board.run),
        ("commit", commit.run),
        ("server", server_moves.run),
        ("viewers", viewers.run),
        ("page_viewers", page_viewers.brief),
        ("crowd", crowd.run),
        ("ratings", rating_speed.brief),
        ("pairing", pairing_speed.brief),
        ("tournaments", tournament_speed.brief),
    ):
        print(f"\n== {name}", flush=True)
        figures[name] = run()
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
