"""Whether a restart and an upgrade in place leave all alerts silent while bots play.

A real Prometheus weighs the shipped rules with their own times, scraping more often than it would. The bots come again
by themselves. Exits with 1 where an alert fires. Loopback only, bounded, stops by itself. Needs `prometheus` and
`openssl`.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from benchmarks.ending import unwinding
from benchmarks.operations import peers
from benchmarks.operations.drill import called
from benchmarks.operations.engines import Engine
from benchmarks.operations.servers import prepared, started
from benchmarks.operations.watching import Sightings, watcher
from benchmarks.reporting import ROOT, program

sys.path.insert(0, str(ROOT / "tests"))

from support.e2e.processes import ServerProcess

INTERVAL_S = 5.0
THINK_S = 1.0
"""Of a move. A game has two: of faster ones there would be more messages to webhooks than leave the server."""
SETTINGS = '[limits]\nconnections = 2000\nconnections_per_address = 2000\n[backup]\nat = ""'
VENUE = 'time = { system = "absolute", main = "1m" }'


def restart(serving: ServerProcess) -> None:
    """Stop and start."""
    serving.stop()
    serving.start()


def upgrade(serving: ServerProcess) -> None:
    """The running program is replaced, by itself."""
    done = serving.command("upgrade")
    if done.returncode:
        raise RuntimeError(f"upgrade: {done.stderr}")


DONE: dict[str, Callable[[ServerProcess], None]] = {"upgrade in place": upgrade, "restart": restart}


def _move(_: str) -> str:
    time.sleep(THINK_S)
    return "PASS"


def run(
    bots: Annotated[int, "that play"] = 40, seconds: Annotated[float, "to look before, and after each"] = 75.0
) -> dict[str, Any]:
    """Do both and look.

    :raises SystemExit: an alert fired
    """
    figures: dict[str, Any] = {}
    with unwinding(), tempfile.TemporaryDirectory(prefix="cgos-calm-") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        webhook_port = stack.enter_context(peers.receiver())
        serving = prepared(folder, bots, webhook_port, SETTINGS, venue=VENUE, requests=1000)
        stack.enter_context(started(serving))
        watching = stack.enter_context(watcher(folder, serving.health_port, INTERVAL_S))
        for number in range(bots):
            stack.enter_context(Engine(serving.port, called(number), _move).playing())
        stack.enter_context(peers.repeated(lambda: peers.visit(serving.web_port, "/venue/9x9"), 1.0))
        sightings = Sightings(watching, INTERVAL_S / 5)
        stack.enter_context(sightings.looking())
        time.sleep(seconds)
        for what, action in DONE.items():
            began = time.monotonic()
            action(serving)
            took = time.monotonic() - began
            time.sleep(seconds)
            here = max(watching.values("cgos_connections"))
            begun = sum(watching.values("increase(cgos_games_started_total[30s])"))
            print(f"{what}: {took:.1f} s; {here:.0f} bots are here, {begun:.0f} games begun in half a minute")
            figures[what] = {"seconds": round(took, 1), "bots": here, "games_30s": round(begun)}
        figures["fired"] = sorted(sightings.ever())
    print(f"alerts that fired: {', '.join(figures['fired']) or 'none'}")
    if figures["fired"]:
        raise SystemExit(1)
    return figures


main = program(run, bots=2, seconds=6.0)


if __name__ == "__main__":
    main()
