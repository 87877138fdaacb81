"""CPU time of a move in this tree and in another checkout of it, by turns under the same load, beside a bare relay.

`--against DIR` is a checkout of another commit (`git worktree add DIR COMMIT`). Each server is started by its own
tree's `server_moves.py`, which prepares its database and its configuration, with the same interpreter and
the same packages. The load is this tree's `load_bots.py` for both: as many bots, as many games of the same moves.
A window is a whole number of games of all bots, so that beginnings and ends weigh the same on both sides. It begins
when a server has run for some seconds: before, it makes the files of each bot's transcripts, which stay for days.
Loopback only, bounded, stops by itself.
"""

from __future__ import annotations

import itertools
import json
import math
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from benchmarks.moves.checkouts import checkout, commit, databases, hosted
from benchmarks.moves.loads import WIRES, Cost, Window, Wire, measure, relay
from benchmarks.moves.server_moves import SIZES, scripted_game
from benchmarks.reporting import ROOT, program


class Pair(msgspec.Struct, kw_only=True):
    """One run: this tree, the other one and the relay, right after one another."""

    this: Cost
    other: Cost
    relay: Cost | None

    @property
    def ratio(self) -> float:
        return self.this.us / self.other.us


class Pairs(msgspec.Struct, kw_only=True):
    """All runs of one protocol and number of bots."""

    wire: str
    bots: int
    think_s: float
    pairs: list[Pair]
    median: float
    least: float
    most: float
    bound: float


def upper_bound(ratios: Sequence[float]) -> float:
    """An upper bound of the median of what `ratios` were drawn from, at 95 percent at least, whatever its shape: the
    smallest of the ordered ratios above which, by chance, so few or fewer lie in one case of twenty at most; infinite
    where there are too few."""
    runs = len(ratios)
    above = [sum(math.comb(runs, k) for k in range(first + 1)) / 2**runs for first in range(runs)]
    allowed = sum(chance <= 0.05 for chance in above)
    return sorted(ratios)[-allowed] if allowed else math.inf


def run(
    against: Annotated[Path, checkout, "the other checkout"],
    tree: Annotated[Path, checkout, "in place of this one"] = ROOT,
    bots: Sequence[int] = SIZES,
    wires: Annotated[Sequence[str], WIRES] = tuple(WIRES),
    runs: Annotated[int, "interleaved; who comes first alternates"] = 5,
    seconds: Annotated[float, "least length of a window"] = 5.0,
    think: Annotated[float, "mean seconds that bots and the relay's ends think about a move"] = 0.0,
    settle: Annotated[float, "seconds at full swing before a window"] = 5.0,
    no_relay: Annotated[bool, "the two trees alone"] = False,
    postgres: Annotated[bool, "on a private PostgreSQL that waits for its disk, instead of SQLite"] = False,
) -> dict[str, object]:
    """Both trees and the relay, for each protocol and number of bots."""
    print(f"{commit(tree)} ({tree}) against {commit(against)} ({against})", flush=True)
    game = scripted_game()
    results = []
    with tempfile.TemporaryDirectory(prefix="cgos-pairs-") as root, databases(postgres) as database:
        script = Path(root) / "script.json"
        script.write_text(json.dumps(game))

        def floor(wire: Wire, count: int, window: Window) -> Cost:
            with relay(wire.relay) as (pid, port):
                return measure(pid, port, count, window, "--relay", "--think", str(think), *wire.options)

        def cost(its: Path, wire: Wire, count: int, window: Window) -> Cost:
            with (
                tempfile.TemporaryDirectory(dir=root) as name,
                hosted(its, Path(name), count, database=database()) as running,
            ):
                port = running.websocket if wire.options else running.lines
                options = ("--script", str(script), "--think", str(think), *wire.options)
                return measure(running.pid, port, count, window, *options)

        for count, name in itertools.product(bots, wires):
            wire, games = WIRES[name], count // 2 * len(game)
            if think:
                window = Window(seconds=seconds, warm=2 * count, settle=settle, progress=0.1)
            else:
                window = Window(seconds=seconds, warm=games, whole=games, settle=settle, progress=0.1)
            pairs = []
            for number in range(runs):
                bare = None if no_relay else floor(wire, count, window)
                if number % 2:
                    mine, other = cost(tree, wire, count, window), cost(against, wire, count, window)
                else:
                    other, mine = cost(against, wire, count, window), cost(tree, wire, count, window)
                pairs.append(Pair(this=mine, other=other, relay=bare))
                _show(name, count, pairs[-1])
            ratios = [pair.ratio for pair in pairs]
            results.append(
                Pairs(
                    wire=name,
                    bots=count,
                    think_s=think,
                    pairs=pairs,
                    median=statistics.median(ratios),
                    least=min(ratios),
                    most=max(ratios),
                    bound=upper_bound(ratios),
                )
            )
            _show_all(results[-1])
    return {"this": commit(tree), "other": commit(against), "results": results}


def _show(wire: str, bots: int, pair: Pair) -> None:
    text = (
        f"{wire:>10}, {bots:4} bots: {pair.this.us:6.1f} us/move ({pair.this.per_s:.0f}/s),"
        f" the other {pair.other.us:6.1f} ({pair.other.per_s:.0f}/s), ratio {pair.ratio:.3f}"
    )
    if pair.relay is not None:
        text += (
            f"; relay {pair.relay.us:.1f} us ({pair.relay.per_s:.0f}/s),"
            f" to it {pair.this.us / pair.relay.us:.2f} and {pair.other.us / pair.relay.us:.2f}"
        )
    print(text, flush=True)


def _show_all(pairs: Pairs) -> None:
    this, other = (statistics.median(getattr(pair, side).us for pair in pairs.pairs) for side in ("this", "other"))
    print(
        f"{pairs.wire:>10}, {pairs.bots:4} bots: ratio {pairs.median:.3f} ({pairs.least:.3f} to {pairs.most:.3f};"
        f" at most {pairs.bound:.3f} at 95 %),"
        f" median of {len(pairs.pairs)}: {this:.1f} us against {other:.1f} us\n",
        flush=True,
    )


main = program(run, bots=[2], wires=["websocket"], runs=1, seconds=0.1, settle=0.0)


if __name__ == "__main__":
    main()
