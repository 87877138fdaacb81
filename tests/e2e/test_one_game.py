"""The thin whole: a server process, two bot processes, one game from sign-in to rating."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.e2e.processes import bots, server, until
from support.e2e.witnessing import assert_the_better_of_two_is_rated_higher

pytestmark = pytest.mark.e2e


def test_two_bots_play_a_rated_game(tmp_path: Path) -> None:
    with server(tmp_path, settings="drain_limit_s = 5") as serving:  # a bot may have left a game that had just begun
        players = {"Random": (["bot", "random"], ()), "Greedy": (["bot", "greedy"], ())}
        with bots(serving, players):
            until(lambda: serving.query("select 1 from games where ended_at is not null"), 60, "no game has ended")
        result, plies = serving.query(
            "select result, (select count(*) from moves where game_id = games.id) from games"
            " where ended_at is not null order by id limit 1"
        )[0]
        assert result[:2] in ("B+", "W+") or result == "Draw"
        assert plies > 20
        assert serving.query("select min(games) > 0 from ratings") == [(1,)]
        assert_the_better_of_two_is_rated_higher(serving)
        status, page = serving.page("/")
        assert status == 200
        assert "Greedy" in page
        assert "cgos_moves_total" in serving.get("/metrics")[1]
        assert 'cgos_web_requests_total{route="overview",status="2xx"}' in serving.get("/metrics/web")[1]
        assert serving.stop() == 0
    assert [event for event in serving.log_events() if event["level"] in ("warning", "error")] == []
