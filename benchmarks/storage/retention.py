"""How much room what may be removed takes for a million games, and what its removal costs the games that are played.

A past of which every game has moves, rounds and, every other one, analyses is made with ``big_database.py``, and
sized. Then one move a commit is committed at a fixed rate, first alone, then while one kind after the
other is removed as the live server does it; each commit's time is measured from its submission to its answer.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from rich.progress import Progress

from benchmarks.reporting import program, table
from benchmarks.storage import big_database
from benchmarks.storage.generated_past import Sizes
from cgos_protocol.ids import GameId
from cgos_server.live.processes.pruning import _rest
from cgos_server.service.pruning import TABLES, Kind, Pruner
from cgos_server.storage.opening import open_store
from cgos_server.storage.reading.history import History
from cgos_server.storage.store import Store
from cgos_server.storage.writing.group_commit import CommitListener
from cgos_server.storage.writing.records import MoveAdded

QUANTILES = (50, 90, 99, 99.9)


def _raise(error: Exception) -> None:
    raise error


class Moves:
    """Commits moves of one game at a rate. `latencies`: seconds."""

    def __init__(self, store: Store, game: GameId, rate: int) -> None:
        self._store = store
        self._game = game
        self._rate = rate
        self._ply = 100_000
        self.latencies: list[float] = []

    async def play(self, seconds: float) -> None:
        """For so long; never ahead of the clock, and behind it no move is left out."""
        self.latencies = []
        began = time.perf_counter()
        sent = 0
        while (passed := time.perf_counter() - began) < seconds:
            while sent < passed * self._rate:
                self._move()
                sent += 1
            await asyncio.sleep(0.001)
        await self._store.commit([])

    def _move(self) -> None:
        self._ply += 1
        at = time.perf_counter()
        record = MoveAdded(self._game, self._ply, "E5", 0, 0, 0, 0, 0, 0)
        self._store.submit([record], lambda: self.latencies.append(time.perf_counter() - at))

    def figures(self) -> dict[str, float]:
        """Quantile -> milliseconds."""
        return {f"p{q:g}_ms": float(np.percentile(self.latencies, q)) * 1e3 for q in QUANTILES}


async def _measure(path: Path, rate: int, seconds: float) -> dict[str, Any]:
    async with History(path) as history:
        sizes = await history.sizes.tables()
    store = await open_store(path, CommitListener(failed=_raise, on_error=_raise))
    try:
        moves = Moves(store, (await store.history.games.unfinished())[0].id, rate)
        await moves.play(seconds)
        ways = {"alone": moves.figures()}
        for kind in Kind:
            ways[kind.value] = await _beside(store, kind, moves, seconds)
    finally:
        await store.close()
    return {"sizes": sizes, "ways": ways}


async def _beside(store: Store, kind: Kind, moves: Moves, seconds: float) -> dict[str, float]:
    """Moves while one kind is removed."""
    removed = 0

    def counted(_kind: Kind, rows: int) -> None:
        nonlocal removed
        removed += rows

    pruner = Pruner(
        store, lambda: {kind: 1.0}, now_ms=lambda: time.time_ns() // 1_000_000, pause=_rest, counted=counted
    )
    pruning = asyncio.create_task(pruner.prune())
    playing = asyncio.create_task(moves.play(seconds))
    began = time.perf_counter()
    await asyncio.wait([pruning, playing], return_when=asyncio.FIRST_COMPLETED)
    took = time.perf_counter() - began
    if not playing.done():  # what comes after the removal is no figure of it
        playing.cancel()
    pruning.cancel()
    await asyncio.wait([pruning, playing])
    return {**moves.figures(), "rows_s": removed / took}


def run(
    games: Annotated[int, "games of the past"] = 6_000,
    rate: Annotated[int, "moves a second"] = 1_000,
    seconds: Annotated[float, "of moves alone, and at most of moves beside the removal of each kind"] = 10.0,
) -> dict[str, Any]:
    """Make, size, play; prints tables."""
    with tempfile.TemporaryDirectory() as folder, Progress(disable=True) as progress:
        path = Path(folder) / "cgos.sqlite"
        sizes = Sizes(
            games=games,
            versions=max(8, games // 50),
            bots=max(6, games // 60),
            moves=games,
            rounds=games // 4,
            running=2,
            refit_every=20,
        )
        big_database.make(path, sizes, progress)
        figures = asyncio.run(_measure(path, rate, seconds))
    rows = [
        (
            size.table,
            TABLES[size.table].value if size.table in TABLES else "",
            f"{size.rows / games:.2f}",
            f"{size.bytes / size.rows:.0f}",
            f"{size.bytes / games / 1e3:.2f}",
        )
        for size in figures["sizes"]
        if size.bytes and size.rows > 1
    ]
    print(table("sizes", ("table", "kind", "rows a game", "bytes a row", "GB a million games"), rows))
    columns = ("moves beside", *(f"p{q:g} ms" for q in QUANTILES), "rows removed a second")
    latencies = [
        (way, *(f"{of[f'p{q:g}_ms']:.2f}" for q in QUANTILES), f"{of.get('rows_s', 0):.0f}")
        for way, of in figures["ways"].items()
    ]
    print(table(f"{rate} moves a second", columns, latencies))
    return figures


main = program(run, games=40, rate=50, seconds=0.3)

if __name__ == "__main__":
    main()
