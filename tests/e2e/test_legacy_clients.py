"""The clients of 2008 and 2009, unmodified, on a server that is killed and behind a network that breaks.

With the environment variable `CGOS_LEGACY_CLIENTS`, the directory of a checkout of the public repository zakki/cgos,
its Tcl client and its Python client play two hundred games with GNU Go.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from support.e2e.endings import count_ended, ended_games, unexplained
from support.e2e.processes import end, gnugo, server
from support.net.cutting_proxy import CuttingProxy

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(1800)]

GAMES = 200
LIMIT_S = 1500
RESTARTS = {40: "kill", 90: "term", 140: "kill"}
"""Ended games -> how the server goes down then."""

CUT_EVERY_S = (3.0, 12.0)
MAIN_S = 300
AWAY_S = 45
"""How long a cut may keep a client away: it comes back after 35 s at most, and a ghost may have its place for some."""

GNUGO = "--mode gtp --level 0 --max-level 0 --chinese-rules --positional-superko --capture-all-dead"
DEADLY = ("We do not understand", "Unsupported CGOS", "command requires", "Engine returns error", "engine crashed")
"""What the clients say before they end, or before they give up a session for good."""


def tcl_client(checkout: Path, directory: Path, name: str, port: int, engine: str) -> list[str]:
    """The command of the Tcl client, with its configuration file written."""
    config = directory / f"{name}.cfg"
    config.write_text(
        f"%section server\n    server 127.0.0.1\n    port {port}\n"
        f"%section player\n    name {name}\n    password secret-{name[-1]}\n    invoke {engine}\n    priority 1\n"
    )
    return ["tclsh", str(checkout / "client" / "cgosGtp.tcl"), "-c", str(config)]


def python_client(checkout: Path, directory: Path, name: str, port: int, engine: str) -> list[str]:
    """The command of the Python client, with its configuration file written."""
    config = directory / f"{name}.cfg"
    config.write_text(
        f"Common:\n  KillFile = {directory / name}.kill\n"
        f"GTPEngine:\n  Name = {name}\n  CommandLine = {engine}\n  ServerHost = 127.0.0.1\n  ServerPort = {port}\n"
        f"  ServerUser = {name}\n  ServerPassword = secret-{name[-1]}\n  NumberOfGames = 1000\n"
    )
    return [sys.executable, "-u", str(checkout / "client-python" / "src" / "cgosclient.py"), str(config)]


Making = Callable[[Path, Path, str, int, str], list[str]]
CLIENTS: dict[str, Making] = {f"Tcl{number}": tcl_client for number in range(3)} | {
    f"Python{number}": python_client for number in range(3)
}


@contextlib.contextmanager
def running(directory: Path, commands: dict[str, Sequence[str]]) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """Every client as a process, its output in ``NAME.log``; ended at the end of the block."""
    with contextlib.ExitStack() as stack:
        processes = {}
        for name, command in commands.items():
            output = stack.enter_context((directory / f"{name}.log").open("wb"))
            process = subprocess.Popen(command, stdout=output, stderr=output, cwd=directory)
            stack.callback(end, process)
            processes[name] = process
        yield processes


def test_the_clients_of_2008_play_through_restarts_and_cuts(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    if "CGOS_LEGACY_CLIENTS" not in os.environ:
        pytest.skip("CGOS_LEGACY_CLIENTS is not set: it names a checkout of the public repository zakki/cgos")
    engine = gnugo()
    if engine is None or shutil.which("tclsh") is None:
        pytest.skip("GNU Go or tclsh is not installed here")
    checkout = Path(os.environ["CGOS_LEGACY_CLIENTS"])
    venue = f'time = {{ system = "absolute", main = {MAIN_S}, lag_s = 1.0 }}'
    rng = random.Random(4)
    began = time.monotonic()
    restarts = dict(RESTARTS)
    with server(tmp_path, venue=venue) as serving, CuttingProxy(serving.port, 4) as proxy:
        commands = {
            name: make(checkout, tmp_path, name, proxy.port_for(name), f"{engine} {GNUGO}")
            for name, make in CLIENTS.items()
        }
        with running(tmp_path, commands) as processes:
            next_cut = time.monotonic() + 10
            while (ended := count_ended(serving)) < GAMES:
                assert time.monotonic() - began < LIMIT_S, f"{ended} games in {LIMIT_S} s"
                gone = {name: process.returncode for name, process in processes.items() if process.poll() is not None}
                assert gone == {}, (tmp_path / f"{next(iter(gone))}.log").read_text()[-3000:]
                due = next((count for count in restarts if ended >= count), None)
                if due is not None:
                    if restarts.pop(due) == "kill":
                        serving.kill()
                    else:
                        assert serving.stop(90) == 0
                    serving.start()
                if time.monotonic() > next_cut:
                    proxy.cut_somebody()
                    next_cut = time.monotonic() + rng.uniform(*CUT_EVERY_S)
                time.sleep(0.2)  # other processes' progress cannot be simulated
            assert serving.stop(120) == 0
            assert [name for name, process in processes.items() if process.poll() is not None] == []
        games = ended_games(serving)
        unfinished = serving.query("select id from games where ended_at is null")
        cuts = proxy.cuts
    figures = {
        "games": len(games),
        "reasons": dict(Counter(game.reason for game in games)),
        "cuts": dict(Counter(cut.kind.value for cut in cuts)),
        "restarts": list(RESTARTS.values()),
        "played": dict(sorted(Counter(name for game in games for name in (game.black, game.white)).items())),
        "seconds": round(time.monotonic() - began),
    }
    record_property("figures", json.dumps(figures))
    print(json.dumps(figures))
    assert restarts == {}
    assert len(cuts) >= 10
    assert unfinished == []
    assert unexplained(games, cuts, MAIN_S, AWAY_S) == []
    for name in CLIENTS:
        log = (tmp_path / f"{name}.log").read_text(errors="replace")
        assert [word for word in DEADLY if word in log] == [], name
        assert log.count("gameover") + log.count("Game over") > 0, name
