"""Instructions that a move takes in this tree and in another checkout of it, counted by valgrind in the whole server.

For machines whose speed scatters: counts of up to 200 bots are the same from run to run within 1 to 4 percent, whoever
else works there; with 1000 bots the window is less than a game, and they are not. It says nothing of the caches, of
the kernel and of waiting; `move_pairs.py` measures these. The load is that of `move_pairs.py`, and so is
`--against DIR`. Children of the server are not counted. Needs valgrind; loopback only, bounded, stops by itself.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from benchmarks.moves.checkouts import Hosted, checkout, commit, databases, hosted
from benchmarks.moves.loads import WIRES, Wire, reports
from benchmarks.moves.server_moves import scripted_game
from benchmarks.reporting import ROOT, program

LIMIT_S = 900.0
"""A server is some forty times slower while it is counted."""


class Counted(msgspec.Struct, kw_only=True):
    """Instructions a move of one protocol and number of bots: this tree's and the other's."""

    wire: str
    bots: int
    this: float
    other: float

    @property
    def ratio(self) -> float:
        return self.this / self.other


def run(
    against: Annotated[Path, checkout, "the other checkout"],
    tree: Annotated[Path, checkout, "in place of this one"] = ROOT,
    bots: Sequence[int] = (20, 200),
    wires: Annotated[Sequence[str], WIRES] = tuple(WIRES),
    moves: Annotated[int, "least moves that are counted, after as many games as there are pairs"] = 24_000,
    postgres: Annotated[bool, "on a private PostgreSQL that waits for its disk, instead of SQLite"] = False,
) -> dict[str, object]:
    """Both trees, for each protocol and number of bots."""
    print(f"{commit(tree)} ({tree}) against {commit(against)} ({against})", flush=True)
    results = []
    with tempfile.TemporaryDirectory(prefix="cgos-instructions-") as root, databases(postgres) as database:
        script = Path(root) / "script.json"
        script.write_text(json.dumps(scripted_game()))
        for name in wires:
            for count in bots:
                this, other = (
                    _counted(each, WIRES[name], count, moves=moves, script=script, database=database())
                    for each in (tree, against)
                )
                results.append(Counted(wire=name, bots=count, this=this, other=other))
                ratio = results[-1].ratio
                print(f"{name:>10}, {count:4} bots: {this:9.0f} a move, the other {other:9.0f}, ratio {ratio:.3f}")
    return {"this": commit(tree), "other": commit(against), "results": results}


def _counted(tree: Path, wire: Wire, bots: int, *, moves: int, script: Path, database: str) -> float:
    """Instructions a move of a server of `tree`, once every bot has played about one game."""
    with tempfile.TemporaryDirectory(dir=script.parent) as name:
        out, data = Path(name) / "counts", Path(name) / "data"
        data.mkdir()
        valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--log-file={name}/log"]
        with hosted(tree, data, bots, under=[*valgrind, f"--callgrind-out-file={out}"], database=database) as running:
            played = _window(running, wire, bots, moves, script)
        # The first file is the window's, which was asked for; what the end of the process writes is none of it.
        totals = (line for line in Path(f"{out}.1").read_text().splitlines() if line.startswith("totals:"))
        return int(next(totals).split()[1]) / played


def _window(running: Hosted, wire: Wire, bots: int, moves: int, script: Path) -> int:
    """Count for at least so many moves; how many they were. Raises RuntimeError where the load ends before."""
    port = running.websocket if wire.options else running.lines
    warm, first = bots * len(json.loads(script.read_text())) // 2, None
    for report in reports(port, bots, LIMIT_S, "--script", str(script), "--think", "0", *wire.options):
        if first is None and report.moves > warm:
            _control(running, "--instr=on")
            first = report.moves
        elif first is not None and report.moves >= first + moves:
            _control(running, "--dump")
            return report.moves - first
    raise RuntimeError(f"the load did not play {moves} moves within {LIMIT_S:.0f} s")


def _control(running: Hosted, order: str) -> None:
    subprocess.run(["callgrind_control", order, str(running.pid)], check=True, stdout=subprocess.DEVNULL)


main = program(run, bots=[4], wires=["lines"], moves=100)

if __name__ == "__main__":
    main()
