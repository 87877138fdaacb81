"""CPU time of a move in this tree and in another checkout of it, by turns under the same load, beside a bare relay.

`--against DIR` is a checkout of another commit (`git worktree add DIR COMMIT`). Each server is started by its own
tree's `benchmarks/server_moves.py`, which prepares its database and its configuration, with the same interpreter and
the same packages. The load is this tree's `load_bots.py` for both: as many bots, as many games of the same moves.
A window is a whole number of games of all bots, so that beginnings and ends weigh the same on both sides. It begins
when a server has run for some seconds: before, it makes the files of each bot's transcripts, which stay for days.
Loopback only, bounded, stops by itself.
"""

from __future__ import annotations

import itertools
import json
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
from checkouts import checkout, commit, hosted
from loads import HERE, WIRES, Cost, Window, Wire, measure, relay
from reporting import CommandLine, write_json
from server_moves import SIZES, scripted_game


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


def run(
    this: Path,
    other: Path,
    *,
    sizes: Sequence[int],
    wires: Sequence[str],
    runs: int,
    seconds: float,
    think_s: float = 0.0,
    settle: float = 5.0,
    bare: bool = True,
) -> list[Pairs]:
    """Interleaved runs; who comes first alternates.

    :param think_s: what bots and the relay's ends think about a move, on average
    :param settle: seconds at full swing before a window
    :param bare: measure the relay too
    """
    game = scripted_game()
    results = []
    with tempfile.TemporaryDirectory(prefix="cgos-pairs-") as root:
        script = Path(root) / "script.json"
        script.write_text(json.dumps(game))

        def floor(wire: Wire, bots: int, window: Window) -> Cost:
            with relay(wire.relay) as (pid, port):
                return measure(pid, port, bots, window, "--relay", "--think", str(think_s), *wire.options)

        def cost(tree: Path, wire: Wire, bots: int, window: Window) -> Cost:
            with tempfile.TemporaryDirectory(dir=root) as name, hosted(tree, Path(name), bots) as running:
                port = running.websocket if wire.options else running.lines
                options = ("--script", str(script), "--think", str(think_s), *wire.options)
                return measure(running.pid, port, bots, window, *options)

        for bots, name in itertools.product(sizes, wires):
            wire, games = WIRES[name], bots // 2 * len(game)
            if think_s:
                window = Window(seconds=seconds, warm=2 * bots, settle=settle, progress=0.1)
            else:
                window = Window(seconds=seconds, warm=games, whole=games, settle=settle, progress=0.1)
            pairs = []
            for number in range(runs):
                bare_cost = floor(wire, bots, window) if bare else None
                if number % 2:
                    mine, its = cost(this, wire, bots, window), cost(other, wire, bots, window)
                else:
                    its, mine = cost(other, wire, bots, window), cost(this, wire, bots, window)
                pairs.append(Pair(this=mine, other=its, relay=bare_cost))
                _show(name, bots, pairs[-1])
            ratios = [pair.ratio for pair in pairs]
            results.append(
                Pairs(
                    wire=name,
                    bots=bots,
                    think_s=think_s,
                    pairs=pairs,
                    median=statistics.median(ratios),
                    least=min(ratios),
                    most=max(ratios),
                )
            )
            _show_all(results[-1])
    return results


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
        f"{pairs.wire:>10}, {pairs.bots:4} bots: ratio {pairs.median:.3f} ({pairs.least:.3f} to {pairs.most:.3f}),"
        f" median of {len(pairs.pairs)}: {this:.1f} us against {other:.1f} us\n",
        flush=True,
    )


def main(words: Sequence[str] | None = None) -> None:
    parser = CommandLine(__doc__, bots=[2], wires=["websocket"], runs=1, seconds=0.1, settle=0.0)
    parser.add_argument("--against", type=checkout, required=True, metavar="DIR", help="the other checkout")
    parser.add_argument("--tree", type=checkout, default=HERE.parent, metavar="DIR", help="in place of this one")
    parser.add_argument("--bots", type=int, nargs="*", default=SIZES)
    parser.add_argument("--wires", nargs="*", choices=WIRES, default=list(WIRES))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5.0, help="least length of a window (default 5)")
    parser.add_argument(
        "--think", type=float, default=0.0, metavar="S", help="mean thinking time a move (default none)"
    )
    parser.add_argument("--settle", type=float, default=5.0, help="seconds at full swing before a window (default 5)")
    parser.add_argument("--no-relay", action="store_true", help="the two trees alone")
    options = parser.read(words)
    this, other = options.tree.resolve(), options.against
    print(f"{commit(this)} ({this}) against {commit(other)} ({other})", flush=True)
    results = run(
        this,
        other,
        sizes=options.bots,
        wires=options.wires,
        runs=options.runs,
        seconds=options.seconds,
        think_s=options.think,
        settle=options.settle,
        bare=not options.no_relay,
    )
    write_json(options.json, {"this": commit(this), "other": commit(other), "results": results})


if __name__ == "__main__":
    main()
