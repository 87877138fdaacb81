"""`cgos-server demo`, as `make demo` calls it."""

from __future__ import annotations

import contextlib
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from cgos_server.cli.server.demo import CONFIGURATION, demo

pytestmark = pytest.mark.e2e


def test_the_demo_plays_and_ends_with_its_summary(tmp_path: Path) -> None:
    own = CONFIGURATION + "# changed by hand\n"
    (tmp_path / "demo.toml").write_text(own)
    done = subprocess.run(
        [sys.executable, "-m", "cgos_server", "demo", "--seconds", "12", "--keep", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    summary = re.fullmatch(r"games=(\d+) moves=(\d+) lost=0 errors=0", lines[-1])
    assert summary is not None, lines[-1]
    assert int(summary[1]) >= 3
    assert int(summary[2]) >= 100
    assert any("Mcts-150" in line for line in lines)
    assert re.match(r"bots: port \d+ and ws://127\.0\.0\.1:\d+ ", lines[0])
    assert "signed in as Mcts-20 in 9x9" in (tmp_path / "Mcts-20.log").read_text(), "two of them come by WebSocket"
    log = (tmp_path / "server.log").read_text()
    assert '"level": "warning"' not in log
    assert '"level": "error"' not in log
    assert not any((tmp_path / "data").glob("control.sock"))
    assert (tmp_path / "demo.toml").read_text() == own


def test_the_demo_holds_an_event_of_its_bots(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cgos_server", "demo", "--seconds", "25", "--keep", str(tmp_path), "--event", "cup"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    shown = [line.strip() for line in done.stdout.splitlines() if line.strip().startswith("Event by cup, ")]
    assert len(shown) >= 2, "beside the ladder's standings, and at the end"
    assert re.match(r"Event by cup, (round \d of 3|over after 3 rounds): 1\. \S+ ", shown[-1])
    assert all(name in shown[-1] for name in ("Random", "Greedy", "Mcts-5", "Mcts-20", "Mcts-60", "Mcts-150"))
    with contextlib.closing(sqlite3.connect(tmp_path / "cgos.sqlite")) as database:
        (games,) = database.execute("select count(*) from event_games").fetchone()
        assert games >= 1


@pytest.mark.parametrize("words", [(), ("swiss",)])
def test_an_event_of_the_demo_is_a_swiss_where_no_system_is_named(words: tuple[str, ...]) -> None:
    context = demo.make_context("demo", ["--event", *words])
    assert context.params["system"] == "swiss"
