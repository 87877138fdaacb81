"""Games that begin with openings on a real server: lines and WebSocket, our client and doubles of the old ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.e2e.legacy_doubles import PythonDouble, TclDouble
from support.e2e.processes import client, server, until

pytestmark = pytest.mark.e2e

MOVES = {"corner": ["C3", "G7"], "middle": ["E5", "C3", "G7"], "hane": ["C7", "G3", "G7"]}
ENDED = "select count(*) from games where ended_at is not null"


def test_everybody_plays_on_from_the_opening_with_each_color(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some.txt").write_text("2: corner C3 G7\nmiddle E5 C3 G7\n")
    (tmp_path / "hane.sgf").write_text("(;GM[1]SZ[9];B[cc];W[gg](;B[gc])(;B[cg]))")
    monkeypatch.setenv("CGOS_VENUE__9X9__PAIRING__OPENINGS", f"{tmp_path}/some.*, 3: {tmp_path}/hane.sgf")
    with server(tmp_path) as serving:
        doubles = [kind(serving.port, name, 1) for name, kind in (("TclOne", TclDouble), ("PyOne", PythonDouble))]
        with (
            client(serving, "Lines", ["bot", "greedy"]),
            client(serving, "Frames", ["bot", "greedy", "--venue", "9x9", "--slots", "2"], address=serving.url),
        ):
            for double in doubles:
                double.start()
            until(lambda: serving.query(ENDED)[0][0] >= 10, 90, f"no 10 games have ended:\n{serving.tail()}")
        for double in doubles:
            double.stop()
        assert [double.died for double in doubles] == [None, None]
        games = serving.query(
            "select id, opening, black_id, white_id, reason from games where ended_at is not null order by id"
        )
        moves = {
            game: [move for (move,) in serving.query("select move from moves where game_id = ? order by ply", game)]
            for game, *_ in games
        }
        opening_rows = serving.query(
            "select used_us from moves join games on id = game_id where opening <> '' and ply < 3"
        )
    assert {reason for *_, reason in games} <= {"score", "resignation", "time", "abort"}, (
        "nobody has made an illegal move"
    )
    assert {opening for _, opening, *_ in games} <= set(MOVES)
    for game, opening, *_, reason in games:
        assert moves[game][: len(MOVES[opening])] == MOVES[opening]
        assert reason in ("abort", "time") or len(moves[game]) > len(MOVES[opening]) + 2
    assert opening_rows
    assert {used for (used,) in opening_rows} == {0}
    played = [(opening, black, white) for _, opening, black, white, _ in games]
    swapped = [row for row in played if (row[0], row[2], row[1]) in played]
    assert len(swapped) >= len(played) // 2
