"""A hundred games between real GNU Go and built-in bots, with the server killed twice in the middle of them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from sgfmill import boards, sgf, sgf_moves
from support.e2e.processes import ServerProcess, bots, gnugo, server, until

from cgos_protocol.games.base import Color
from cgos_protocol.games.notation import vertex
from cgos_protocol.sgf.writing import write
from cgos_server.presentation.stored_game import StoredGame
from cgos_server.storage.reading.answers import GameDetail
from cgos_server.storage.reading.history import History

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(900)]

GAMES = 100
KILL_AT = (30, 65)
RUNNING = "select id from games where ended_at is null and (select count(*) from moves where game_id = games.id) > 2"
GNUGO = ["--mode", "gtp", "--chinese-rules", "--positional-superko", "--capture-all-dead"]


def ended(serving: ServerProcess) -> int:
    return int(serving.query("select count(*) from games where ended_at is not null")[0][0])


async def details(serving: ServerProcess) -> list[GameDetail]:
    ids = [game for (game,) in serving.query("select id from games order by id")]
    async with History(serving.data / "cgos.sqlite") as history:
        return [await history.games.detail(game) for game in ids]


def replayed(record: str) -> tuple[boards.Board, sgf.Sgf_game]:
    """The final board of an SGF record, by sgfmill alone."""
    game = sgf.Sgf_game.from_string(record)
    board, plays = sgf_moves.get_setup_and_moves(game)
    for color, move in plays:
        if move is not None:
            board.play(move[0], move[1], color)
    return board, game


def test_a_hundred_games_with_two_kills(tmp_path: Path) -> None:
    engine = gnugo()
    if engine is None:
        pytest.skip("GNU Go is not installed here")
    players = {
        "GnuGo-L0a": (["run"], [engine, *GNUGO, "--level", "0", "--max-level", "0"]),
        "GnuGo-L0b": (["run"], [engine, *GNUGO, "--level", "0", "--max-level", "0"]),
        "GnuGo-L1": (["run"], [engine, *GNUGO, "--level", "1", "--max-level", "1"]),
        "Mcts-10": (["bot", "mcts", "--playouts", "10"], ()),
        "Greedy": (["bot", "greedy"], ()),
        "Random": (["bot", "random"], ()),
    }
    cut: set[int] = set()
    with server(tmp_path) as serving:
        with bots(serving, players):
            for count in KILL_AT:
                until(lambda count=count: ended(serving) >= count, 300, f"no {count} games")  # type: ignore[misc]
                cut |= {game for (game,) in until(lambda: serving.query(RUNNING), 10, "no running game")}
                serving.kill()
                serving.start()
            until(lambda: ended(serving) >= GAMES, 400, f"no {GAMES} games")
            assert serving.stop(90) == 0
        games = asyncio.run(details(serving))
        ledger = [game for (game,) in serving.query("select game_id from ledger where kind = 'game' order by seq")]
        replay = serving.command("rate", "replay", "--json")
        assert json.loads(replay.stdout)["9x9"][0]["exact"] is True, replay.stdout + replay.stderr
        ratings = serving.query(
            "select wire_name, mean, ratings.games from ratings join versions on versions.id = version_id order by mean"
        )
    assert len(cut) >= 2
    unfinished = [game.game.id for game in games if game.game.result is None]
    assert unfinished == []
    reasons = {game.game.id: game.game.reason for game in games}
    assert {number: reasons[number] for number in reasons if reasons[number] not in ("score", "resignation")} == {}
    assert sorted(ledger) == sorted(reasons)
    assert sum(played for _, _, played in ratings) == 2 * len(games)
    for game in games:
        stored = StoredGame(game)
        board, record = replayed(write(stored.record("test")))
        ours = stored.position(len(game.moves)).stones
        theirs = {
            vertex(column, row): Color.BLACK if color == "b" else Color.WHITE
            for color, (row, column) in board.list_occupied_points()
        }
        assert theirs == ours, f"game {game.game.id}"
        if game.game.reason == "score":
            assert game.margin2 == 2 * board.area_score() - 14, f"game {game.game.id}"
        assert record.get_root().get("RE").strip() == game.game.result
    warnings = [event for event in serving.log_events() if event["level"] in ("warning", "error")]
    assert warnings == []
