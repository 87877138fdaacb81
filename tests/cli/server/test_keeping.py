"""`cgos-server db prune` on a closed database: what would go, what goes, and what every other command says after it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.storage.rated_past import alter

from cgos_server.storage.lock import DatabaseLock

SAME = (
    *("rate check", "standings --venue 9x9", "rounds 9x9", "games", "pairing stats --venue 9x9", "export games -"),
    "export ledger 9x9 -",
)
"""Commands that say the same after it."""

READS = (
    *("history Bee", "standings --venue 9x9 --as-of 30", "show 5", "pairing explain --round 5", "bot show Bee"),
    *("bot connections", "export refits 9x9 -", "export ranks 9x9 -", "audit"),
)
"""Others that read what may be gone."""


@pytest.fixture
def old(rated_past: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The rated past, years ago, with sign-ins and analyses."""
    data = tmp_path / "old"
    shutil.copytree(rated_past, data)
    for number in (1, 2, 3):
        alter(data, "INSERT INTO connections VALUES (?, 1, 2, '192.0.2.1', 'c', 1, 5, 'quit')", number)
    alter(data, "INSERT INTO moves SELECT id, 1, 'E5', 0, 0, 0, 0, 1000000, started_at FROM games")
    alter(data, "INSERT INTO analysis SELECT id, 1, '{\"winrate\":0.5}' FROM games")
    for kind in ("CONNECTIONS", "ROUNDS", "ANALYSES", "REFITS", "AUDIT"):
        monkeypatch.setenv(f"CGOS_RETENTION__{kind}_DAYS", "10")
    return data


def test_how_much_room_everything_takes(run: Any, old: Path) -> None:
    sized = json.loads(run("db", "size", "--json", where=old).stdout)
    by_name = {each["table"]: each for each in sized["tables"]}
    games, points = by_name["games"], by_name["refit_points"]
    assert games["rows"] == 46
    assert games["bytes"] == games["row_bytes"] * 46
    assert games["million_games_bytes"] == pytest.approx(games["bytes"] / 46 * 1e6, abs=1)
    assert (games["kept_days"], points["kept_days"]) == (None, 10.0)
    assert sum(each["bytes"] for each in sized["tables"]) <= sized["files"]["cgos.sqlite"]
    assert by_name["tokens"]["row_bytes"] is None
    # An empty table has pages, too, and so has one of a few rows: neither says anything of a million games.
    assert by_name["tokens"]["bytes"] > 0
    assert by_name["tokens"]["million_games_bytes"] is by_name["venues"]["million_games_bytes"] is None
    text = run("db", "size", where=old).stdout
    assert ["refit_points", str(points["rows"])] in [line.split()[:2] for line in text.splitlines()]
    assert "10 days" in text


def replay(run: Any, data: Path) -> list[dict[str, Any]]:
    """What a replay says of each rating system."""
    return [each for venue in json.loads(run("rate", "replay", "--json", where=data).stdout).values() for each in venue]


def test_everything_else_says_the_same_after_it(run: Any, old: Path) -> None:
    before = {words: run(*words.split(), where=old).stdout for words in (*SAME, *READS)}
    replayed = replay(run, old)
    would = json.loads(run("db", "prune", "--dry-run", "--json", where=old).stdout)
    assert would["dry_run"]
    assert set(would["rows"]) == {"connections", "rounds", "analyses", "refits", "audit"}
    assert before == {words: run(*words.split(), where=old).stdout for words in (*SAME, *READS)}, (
        "a dry run changes nothing"
    )
    done = json.loads(run("db", "prune", "--json", where=old).stdout)
    assert done == {"dry_run": False, "in_background": False, "rows": would["rows"]}
    assert done["rows"]["connections"] == 3
    assert done["rows"]["analyses"] == done["rows"]["rounds"] == 46
    assert done["rows"]["refits"] > 50
    after = {words: run(*words.split(), where=old).stdout for words in (*SAME, *READS)}
    assert {words for words in SAME if after[words] != before[words]} == set()
    again = replay(run, old)
    assert 0 < again[0]["points"] < replayed[0]["points"]
    assert [{**each, "points": 0} for each in again] == [{**each, "points": 0} for each in replayed]
    assert all(not each["differing"] and each["refits"] + each["changes"] for each in again)
    assert "kept no longer" in after["pairing explain --round 5"]
    assert "winrate" not in after["show 5"]
    assert "db prune" in after["audit"]
    rows = json.loads(run("db", "prune", "--json", where=old).stdout)["rows"]
    assert not any(rows.values())


def test_the_file_is_written_anew(run: Any, data: Path, as_json: Any) -> None:
    games = run("games", "--json").stdout
    sizes = as_json("db", "compact")
    assert sizes["after_bytes"] == (data / "cgos.sqlite").stat().st_size <= sizes["before_bytes"]
    assert "MB became" in run("db", "compact").stderr
    assert run("games", "--json").stdout == games
    with DatabaseLock(data / "cgos.sqlite", "a server"):
        assert "a server" in run("db", "compact", fails=1).stderr
