"""A thousand bots ready at once, again and again: what a pairing pass does to the lag of the game process's loop.

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
from pathlib import Path
from typing import Annotated, Any

from benchmarks.moves.server_moves import prepare, serving
from benchmarks.ratings.rating_live import lags, make_past, scraped
from benchmarks.reporting import program

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


def measured(method: str, bots: int, games: int, seconds: float, think: float) -> dict[str, Any]:
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
            options = ("--script", str(directory / "script.json"), "--think", str(think))
            before, after, _ = scraped(running, bots, seconds, bots, *options)
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
            ((rounds, pairs),) = connection.execute(
                "select count(distinct rounds.id), count(*) from rounds join pairings on round_id = rounds.id"
            )
        return {
            "method": method,
            "bots": bots,
            "pairs_a_round": round(pairs / max(1, rounds), 1),
            **lags(before, after),
        }


def run(
    methods: Annotated[str, "with commas between them"] = "information,birk",
    bots: int = 1000,
    games: Annotated[int, "results of the past"] = 20_000,
    seconds: float = 120.0,
    think: Annotated[float, "mean seconds a move"] = 2.5,
) -> list[dict[str, Any]]:
    """One matchmaker after the other."""
    rows = []
    for method in methods.split(","):
        print(f"{method} ...", file=sys.stderr)
        rows.append(measured(method, bots, games=games, seconds=seconds, think=think))
        print(json.dumps(rows[-1]))
    return rows


main = program(run, methods="birk", bots=4, games=20, seconds=0.1, think=0.05)


if __name__ == "__main__":
    main()
