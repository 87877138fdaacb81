"""Operators change what counts while bots play: refits follow, and the replay is exact."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.e2e.processes import ServerProcess, server, until
from support.e2e.witnessing import witnesses

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
    with server(tmp_path, venue=VENUE) as serving, witnesses(serving, 2):
        until(lambda: latest(serving, "seq", "ledger where kind = 'game'") > 0, 90, "no results")
        (game,) = serving.query("select game_id from ledger where kind = 'game' order by seq limit 1")[0]
        do(serving, "correct", str(game), "--result", "Void", "--reason", "wrong network")
        first, second = (name for (name,) in serving.query("select name from bots order by id"))
        assert "linked in 9x9" in do(serving, "family", "link", second, first)
        changed = latest(serving, "seq", "ledger where kind = 'link'")
        until(lambda: latest(serving, "included", "refits") >= changed, 60, "no refit heard of it")
        do(serving, "family", "unlink", second)
        assert serving.stop() == 0
        replayed = json.loads(serving.command("rate", "replay", "--json").stdout)["9x9"]
        assert [row["exact"] for row in replayed] == [True, True]
        kinds = [kind for (kind,) in serving.query("select kind from ledger order by seq")]
        assert [kind for kind in kinds if kind not in ("enter", "game")] == ["correction", "link", "unlink"]
