"""Operators change what counts while bots play: refits follow, a kill loses nothing, and the replay is exact."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.processes import ServerProcess, server, until
from support.witnessing import witnesses

pytestmark = pytest.mark.e2e

VENUE = """time = { system = "absolute", main = "2m" }
rating = { views = "cgos-elo" }"""


def latest(serving: ServerProcess, column: str, table: str) -> int:
    return int(serving.query(f"select coalesce(max({column}), 0) from {table}")[0][0])


def do(serving: ServerProcess, *words: str) -> str:
    done = serving.command(*words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stderr


def test_corrections_and_links_under_play(tmp_path: Path) -> None:
    with server(tmp_path, venue=VENUE) as serving, witnesses(serving):
        until(lambda: len(serving.query("select 1 from ledger where kind = 'game'")) > 4, 90, "no results")
        first, second = serving.query("select game_id, score2 from ledger where kind = 'game' order by seq limit 2")
        do(serving, "correct", str(first[0]), "--result", "Void", "--reason", "wrong network")
        do(serving, "correct", str(second[0]), "--result", "Draw", "--reason", "agreed")
        names = [name for (name,) in serving.query("select name from bots order by id")]
        assert "linked in 9x9" in do(serving, "family", "link", names[1], names[0])
        do(serving, "anchor", "set", names[0], "1700", "--sd", "30")
        changed = latest(serving, "seq", "ledger where kind = 'anchor'")
        until(lambda: latest(serving, "included", "refits") >= changed, 60, "no refit heard of it")
        serving.kill()
        serving.start()
        until(lambda: latest(serving, "seq", "ledger") > changed + 2, 90, "no results afterwards")
        do(serving, "family", "unlink", names[1])
        assert serving.stop() == 0
        for system in ("bayes", "cgos-elo"):
            done = serving.command("rate", "replay", "--system", system, "--json")
            assert done.returncode == 0, done.stdout + done.stderr
            (found,) = json.loads(done.stdout)["9x9"]
            assert found["exact"] is True
        kinds = [
            kind for (kind,) in serving.query("select kind from ledger order by seq") if kind not in ("enter", "game")
        ]
        assert kinds == ["correction", "correction", "link", "anchor", "unlink"]
        shown = json.loads(serving.command("show", str(first[0]), "--json").stdout)
        assert shown["game"]["corrected"] == "Void"
