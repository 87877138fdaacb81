"""A thousand bots ready at once, again and again: what an act of pairing does to the lag of the game process's loop.

A venue with the barrier policy whose bots play very short games, so that all of them are ready together every ten
seconds or so, under the default ratings and matchmaker, with a past of results. The server is the shipped one in a
process of its own. Loopback only, bounded, stops by itself.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from loads import SIGN_IN_LIMIT_S, reports
from rating_live import Scraped, lag_quantile, make_past
from reporting import CommandLine, write_json
from server_moves import prepare, serving

VENUE = """
[[venue]]
name = "9x9"
port = 0
size = 9
komi = 7.0
time = {{ system = "absolute", main = "10m" }}
pairing = {{ policy = "barrier", method = "{method}", interval_s = 0.5, settle_s = 0.0 }}
"""

SCRIPT = ("E5", "D4", "PASS", "PASS")


def run(method: str, bots: int, games: int, seconds: float, think: float) -> dict[str, Any]:
    """One server with one matchmaker."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        (directory / "script.json").write_text(json.dumps(SCRIPT))
        (directory / "data").mkdir()
        prepare(directory / "data", bots)
        venue = VENUE.format(method=method)
        with serving(directory, venue):
            pass
        database = directory / "data" / "cgos.sqlite"
        asyncio.run(make_past(database, bots, games))
        with serving(directory, venue) as running:
            before = after = None
            began = 0.0
            options = ("--script", str(directory / "script.json"), "--think", str(think))
            for report in reports(running.lines, bots, 3 * SIGN_IN_LIMIT_S + seconds, *options):
                if before is None and report.games >= bots:
                    before, began = Scraped(running.health), time.monotonic()
                elif before is not None and time.monotonic() - began >= seconds:
                    after = Scraped(running.health)
                    break
            assert before is not None
            assert after is not None
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
            ((rounds, pairs),) = connection.execute(
                "select count(distinct rounds.id), count(*) from rounds join pairings on round_id = rounds.id"
            )
        return {
            "method": method,
            "bots": bots,
            "pairs_a_round": round(pairs / max(1, rounds), 1),
            "lag_p50_s": lag_quantile(before, after, 0.5),
            "lag_p99_s": lag_quantile(before, after, 0.99),
            "lag_most_s": lag_quantile(before, after, 1.0),
        }


def main(words: Sequence[str] | None = None) -> None:
    parser = CommandLine(__doc__, methods="birk", bots=4, games=20, seconds=0.1, think=0.05)
    parser.add_argument("--methods", default="information,birk")
    parser.add_argument("--bots", type=int, default=1000)
    parser.add_argument("--games", type=int, default=20_000, help="results of the past")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--think", type=float, default=2.5, help="mean seconds a move")
    given = parser.read(words)
    rows = []
    for method in given.methods.split(","):
        print(f"{method} ...", file=sys.stderr)
        rows.append(run(method, given.bots, games=given.games, seconds=given.seconds, think=given.think))
        print(json.dumps(rows[-1]))
    write_json(given.json, rows)


if __name__ == "__main__":
    main()
