"""A whole server whose venue has a long past: how long it takes to fill its ratings at the start, and whether refits of
a thousand versions can be seen in the lag of its event loop while games are played.

The past is made up: versions of known strength, results drawn from the Bradley-Terry model. The server is the shipped
one in a process of its own; bots play without thought. Loopback only, bounded, stops by itself.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import re
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Annotated, Any, Final

from benchmarks.moves.loads import SIGN_IN_LIMIT_S, reports
from benchmarks.moves.server_moves import Running, _unexpected, scripted_game, server
from benchmarks.reporting import program
from cgos_protocol.ids import GameId, VenueId, VersionId
from cgos_server.storage.opening import open_store
from cgos_server.storage.writing.group_commit import CommitListener
from cgos_server.storage.writing.records import GameAdded, GameEnded, LedgerAdded, Record

GROUP = 500
"""Games in one commit."""


_VENUE: Final = VenueId(1)


def results(versions: int, games: int, seed: int = 5) -> list[tuple[VersionId, VersionId, int]]:
    """(black, white, half points for Black) between versions 1..n, each at random against everybody: pairs that were
    chosen by true strength would tell the model what it cannot know."""
    rng = random.Random(seed)
    strength = [rng.gauss(2000, 350) for _ in range(versions)]
    drawn = []
    for _ in range(games):
        first, second = rng.sample(range(versions), 2)
        wins = rng.random() < 1 / (1 + 10 ** ((strength[second] - strength[first]) / 400))
        drawn.append((VersionId(first + 1), VersionId(second + 1), 2 if wins else 0))
    return drawn


async def make_past(database: Path, versions: int, games: int) -> None:
    """Put results into the database of a server that ran before and has these versions."""
    store = await open_store(database, CommitListener(failed=_unexpected, on_error=_unexpected))
    seq = 0
    records: list[Record] = []
    for version in range(1, versions + 1):
        seq += 1
        records.append(LedgerAdded(_VENUE, seq, 0, "enter", None, VersionId(version), None, None, None, 1800.0))
    for number, (black, white, score2) in enumerate(results(versions, games), 1):
        seq += 1
        text, winner = ("B+Resign", 0) if score2 else ("W+Resign", 1)
        records.append(GameAdded(GameId(number), _VENUE, None, black, white, "1800?", "1800?", "{}", "", 0))
        records.append(GameEnded(1, winner, "resignation", None, "", text, 2, 2, GameId(number)))
        records.append(LedgerAdded(_VENUE, seq, 1, "game", GameId(number), None, black, white, score2, None))
        if number % GROUP == 0:
            await store.commit(records)
            records = []
    await store.commit(records)
    await store.close()


class Scraped:
    """What matters of ``/metrics``."""

    def __init__(self, port: int) -> None:
        text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30).read().decode()
        self.lag = {
            float(bound): float(value)
            for bound, value in re.findall(r'cgos_loop_lag_seconds_bucket\{le="([^"]+)"\} (\S+)', text)
        }
        self.refits = {
            kind: float(value) for kind, value in re.findall(r'cgos_refits_total\{kind="(\w+)",[^}]*\} (\S+)', text)
        }
        self.seconds = {
            kind: float(value)
            for kind, value in re.findall(r'cgos_refit_seconds_total\{kind="(\w+)",[^}]*\} (\S+)', text)
        }
        self.rated = sum(float(value) for value in re.findall(r"cgos_rating_updates_total\{[^}]*\} (\S+)", text))


def lag_quantile(before: Scraped, after: Scraped, share: float) -> float:
    """The bound (seconds) below which so many of the loop's beats were late."""
    total = after.lag[math.inf] - before.lag[math.inf]
    for bound in sorted(after.lag):
        if after.lag[bound] - before.lag.get(bound, 0) >= share * total:
            return bound
    return math.inf


def scraped(
    running: Running, bots: int, seconds: float, warm_games: int, *options: str
) -> tuple[Scraped, Scraped, float]:
    """The metrics at the beginning and the end of a window in which bots play, and its seconds.

    :param warm_games: so many have ended before it begins
    """
    before, began = None, 0.0
    for report in reports(running.lines, bots, 3 * SIGN_IN_LIMIT_S + seconds, *options):
        if before is None and report.games >= warm_games:
            before, began = Scraped(running.health), time.monotonic()
        elif before is not None and time.monotonic() - began >= seconds:
            return before, Scraped(running.health), time.monotonic() - began
    raise RuntimeError("the bots did not play for so long")


def lags(before: Scraped, after: Scraped) -> dict[str, float]:
    """How late the loop's beats were, in seconds."""
    shares = {"lag_p50_s": 0.5, "lag_p99_s": 0.99, "lag_most_s": 1.0}
    return {name: lag_quantile(before, after, share) for name, share in shares.items()}


def measured(system: str, versions: int, games: int, bots: int, seconds: float) -> dict[str, Any]:
    """One server under one rating system."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        script = directory / "script.json"
        script.write_text(json.dumps(scripted_game()))
        with server(directory, versions, rating=system):
            pass
        asyncio.run(make_past(directory / "data" / "cgos.sqlite", versions, games))
        began = time.monotonic()
        with server(directory, versions, rating=system) as running:
            filled_s = time.monotonic() - began
            before, after, span = scraped(running, bots, seconds, bots // 2, "--script", str(script))
        began = time.monotonic()
        with server(directory, versions, rating=system):
            again_s = time.monotonic() - began
        return {
            "system": system,
            "first_start_s": round(filled_s, 1),
            "next_start_s": round(again_s, 1),
            "results_a_second": round((after.rated - before.rated) / 2 / span, 1),
            **lags(before, after),
            "refits": {kind: after.refits[kind] - before.refits[kind] for kind in after.refits},
            "refit_share": {
                kind: round((after.seconds[kind] - before.seconds[kind]) / span, 3) for kind in after.seconds
            },
        }


def run(
    versions: int = 1000,
    games: Annotated[int, "results of the past"] = 60_000,
    bots: Annotated[int, "bots that play now"] = 60,
    seconds: float = 60.0,
    systems: Annotated[str, "with commas between them"] = "cgos-elo,bayes",
) -> list[dict[str, Any]]:
    """One rating system after the other."""
    rows = []
    for system in systems.split(","):
        print(f"{system} ...", file=sys.stderr)
        rows.append(measured(system, versions, games=games, bots=bots, seconds=seconds))
        print(json.dumps(rows[-1]))
    return rows


main = program(run, versions=4, games=20, bots=4, seconds=0.1, systems="cgos-elo")


if __name__ == "__main__":
    main()
