"""`export` and `watch`: everything to a file, a game to the terminal."""

from __future__ import annotations

import csv
import gzip
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sgfmill import sgf as sgfmill

from cgos_server.cli.games.watch import looks
from cgos_server.storage.opening import open_store
from cgos_server.storage.reading.history import History
from cgos_server.storage.writing import records as r
from cgos_server.storage.writing.group_commit import CommitListener


def test_games_and_ledger(run: Any, as_json: Callable[..., Any], tmp_path: Path) -> None:
    lines, table = tmp_path / "games.ndjson", tmp_path / "games.csv.gz"
    assert "1 row to" in run("export", "games", str(lines)).stderr
    (game,) = [json.loads(line) for line in lines.read_text().splitlines()]
    listed = next(row for row in as_json("games") if row["id"] == 1)
    assert {name: game[name] for name in listed} == listed
    assert game["black_label"] == f"{game['black_rating']}{'?' if game['black_provisional'] else ''}"
    run("export", "games", str(table))
    (row,) = csv.DictReader(io.StringIO(gzip.decompress(table.read_bytes()).decode(), newline=""))
    assert (row["id"], row["result"], row["black"]) == ("1", "B+4.0", "Alpha")
    done = as_json("export", "ledger", "9x9", str(tmp_path / "ledger.ndjson"))
    entries = [json.loads(line) for line in (tmp_path / "ledger.ndjson").read_text().splitlines()]
    assert [entry["seq"] for entry in entries] == list(range(1, done["last"] + 1))
    assert done["rows"] == len(entries)
    goes_on = ("export", "ledger", "9x9", str(tmp_path / "later.ndjson"), "--after", "2", "--incarnation")
    later = as_json(*goes_on, done["incarnation"])
    assert later == {**done, "file": later["file"], "rows": len(entries) - 2}
    assert "restored or copied since" in run(*goes_on, "another", fails=1).stderr
    assert sorted(path.name for path in tmp_path.iterdir() if "part" in path.name) == []


def test_ratings_end_where_the_standings_are(run: Any, as_json: Callable[..., Any], tmp_path: Path) -> None:
    target = tmp_path / "ratings.csv"
    run("export", "ratings", "9x9", str(target))
    rows = list(csv.DictReader(io.StringIO(target.read_bytes().decode(), newline="")))
    last = {row["version"]: float(row["after_mean"]) for row in rows}
    assert last == {row["version"]: row["mean"] for row in as_json("standings", "--venue", "9x9")["9x9"]}


def test_files(run: Any, tmp_path: Path) -> None:
    target = tmp_path / "games.tar"
    run("export", "sgf", str(target), "--venue", "9x9")
    with tarfile.open(target) as archive:
        (member,) = archive.getmembers()
        assert member.name == "9x9/1.sgf"
        taken = archive.extractfile(member)
        assert taken is not None
        assert sgfmill.Sgf_game.from_bytes(taken.read()).get_winner() == "b"


def test_to_standard_output(run: Any) -> None:
    assert json.loads(run("export", "games", "-").stdout)["id"] == 1
    assert run("export", "games", "-", "--json", fails=2).stdout == ""


def test_what_cannot_be_written_leaves_no_file(run: Any, tmp_path: Path) -> None:
    assert "cannot be written" in run("export", "games", str(tmp_path / "no" / "games.csv"), fails=1).stderr
    target = tmp_path / "games.csv"
    run("export", "games", str(target), "--bot", "Nobody", fails=1)
    assert not target.exists()


def test_watch_tells_an_ended_game(run: Any) -> None:
    lines = run("watch", "1").stdout.splitlines()
    assert lines[0].split() == ["1", "b", "C3", "4:58"]
    assert lines[-1].startswith("B+4.0: Alpha won")
    events = [json.loads(line) for line in run("watch", "1", "--json").stdout.splitlines()]
    assert [event["ply"] for event in events[:-1]] == list(range(1, 10))
    assert events[-1] == {"event": "end", "result": "B+4.0", "reason": "score", "moves": 9}
    run("watch", "99", fails=1)


async def test_a_running_game_is_looked_at_until_it_ends(data: Path) -> None:
    def fail(error: Exception) -> None:
        raise error

    path = data / "cgos.sqlite"
    store = await open_store(path, CommitListener(failed=fail, on_error=fail))
    states: list[tuple[int, str | None]] = []
    async with History(path) as history:
        async for detail in looks(history, 2, 0.01):
            states.append((len(detail.moves), detail.game.result))
            if len(states) == 1:
                await store.commit([r.MoveAdded(2, 2, "C3", 1, 0, 0, 0, 1, 1)])
            elif len(states) == 2:
                await store.commit([r.GameEnded(2, 1, "resignation", None, "", "W+Resign", 2, 2, 2)])
    await store.close()
    assert states == [(1, None), (2, None), (2, "W+Resign")]
