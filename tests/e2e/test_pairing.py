"""A real server's matchmaking by its commands: explained, previewed, changed without a restart; openings in pairs."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from support.e2e.processes import ServerProcess, bots, server, until

pytestmark = pytest.mark.e2e

BOTS = {name: (["bot", "random"], []) for name in ("anna", "bert", "carl", "dora", "emil")}


def json_of(serving: ServerProcess, *arguments: str) -> Any:
    done = serving.command(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def reconfigure(serving: ServerProcess, pairing: str) -> None:
    before = serving.config.read_text()
    *rest, last = before.rstrip().split("\n")
    assert last.startswith("pairing = ")
    serving.config.write_text("\n".join([*rest, f"pairing = {{ {pairing} }}", ""]))


def methods(serving: ServerProcess) -> list[str]:
    return [method for (method,) in serving.query("select method from rounds order by id")]


def test_another_matchmaker_without_a_restart_and_every_round_replays(tmp_path: Path) -> None:
    with server(tmp_path) as serving, bots(serving, BOTS):
        until(lambda: len(methods(serving)) > 4, 60, "no games")
        assert set(methods(serving)) == {"information"}
        preview = json_of(serving, "pairing", "preview", "--method", "birk", "--option", "formula=half")
        assert (preview["method"], preview["options"]["formula"]) == ("birk", "half")

        fast = "interval_s = 0.2, patience_s = 0.5, settle_s = 0.05"
        reconfigure(serving, f'method = "birk", formula = "sqrt", {fast}')
        changes = json_of(serving, "reload")
        assert changes == [
            '9x9: method was "information" and is "birk".',
            '9x9: formula was "fifth" and is "sqrt".',
        ]
        until(lambda: "birk" in methods(serving), 60, "the new method is not used")
        assert json_of(serving, "reload") == []

        reconfigure(serving, 'method = "bjrk"')
        refused = serving.command("reload")
        assert refused.returncode == 2
        assert "no pairing method 'bjrk'" in refused.stderr

        (tmp_path / "openings.txt").write_text("tengen E5 E3\n")
        reconfigure(serving, f'method = "birk", formula = "sqrt", openings = "openings.txt", {fast}')
        assert serving.process is not None
        serving.process.send_signal(signal.SIGHUP)

        def in_pairs() -> bool:
            games = serving.query(
                "select min(black_id, white_id), max(black_id, white_id), count(distinct black_id), count(*) from games"
                " where opening = 'tengen' and result is not null group by 1, 2"
            )
            return any((sides, count) == (2, 2) for *_, sides, count in games)

        until(in_pairs, 90, "no opening was played both ways")
        moves = serving.query(
            "select group_concat(move, ' ') from moves join games on games.id = game_id"
            " where ply <= 2 and opening != '' group by game_id"
        )
        assert {first for (first,) in moves} == {"E5 E3"}
        rounds = [number for (number,) in serving.query("select id from rounds order by id")]
        ids = [rounds[0], rounds[len(rounds) // 2], rounds[-1]]
        for number in ids:
            assert json_of(serving, "pairing", "explain", "--round", str(number))["replay"]["agrees"] is True
        ((game,),) = serving.query("select max(id) from games")
        explanation = serving.command("pairing", "explain", str(game))
        assert explanation.returncode == 0, explanation.stderr
        stats = json_of(serving, "pairing", "stats")
        assert stats["9x9"]["games"] > 5
