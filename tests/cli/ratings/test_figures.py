"""What pages show, as commands: `pair`, `crosstable`, `rounds`, `rules`, `bot show`, `games` with filters."""

from __future__ import annotations

import asyncio
import io
import json
import re
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from click.testing import CliRunner, Result
from rich.console import Console
from support.storage.rated_past import NAMES, VENUE, VOIDED, alter

from cgos_server.cli.main import main
from cgos_server.cli.ratings import figures
from cgos_server.presentation import words
from cgos_server.presentation.pictures.crosstable_picture import shade
from cgos_server.presentation.settings import VenueSettings, WebSettings
from cgos_server.storage.reading.history import History
from cgos_server.web.application import create_app

Run = Callable[..., Result]


@pytest.fixture
def past(rated_past: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command on a rated past that nobody changes."""
    for variable in ("CGOS_CONFIG", "CGOS_SERVER__DATA"):
        monkeypatch.delenv(variable, raising=False)

    def run_(*words: str, fails: int = 0) -> Result:
        result = CliRunner().invoke(main, [*words, "--data", str(rated_past)])
        assert result.exit_code == fails, result.output
        return result

    return run_


@pytest.fixture
def json_of(past: Run) -> Callable[..., Any]:
    return lambda *words: json.loads(past(*words, "--json").stdout)


@pytest.fixture
def games(json_of: Callable[..., Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json_of("games", "--limit", "1000")
    return rows


def points(game: dict[str, Any], name: str) -> float | None:
    """What a game counts as now for one side."""
    result = game["corrected"] or game["result"]
    if result == "Void":
        return None
    return 0.5 if result == "Draw" else float((result[0] == "B") == (game["black"] == name))


def test_pair_adds_up_its_games(past: Run, json_of: Callable[..., Any], games: list[dict[str, Any]]) -> None:
    first, second = NAMES[0], NAMES[4]
    mine = [game for game in games if {game["black"], game["white"]} == {first, second}]
    scored = [points(game, first) for game in mine]
    pair = json_of("pair", VENUE, first, second)
    record = pair["record"]
    assert record["games"] == len(mine) > 0
    won = record["wins_as_black"] + record["wins_as_white"] + record["draws"] / 2
    assert won == sum(score for score in scored if score is not None)
    assert pair["expected"] < 0.5
    text = past("pair", VENUE, first, second).stdout
    assert f"{len(mine)} games" in text
    assert all(str(game["id"]) in text for game in mine[:5])
    past("pair", VENUE, first, first, fails=1)
    past("pair", VENUE, first, "Nobody", fails=1)


def test_crosstable_has_every_pair(
    past: Run, json_of: Callable[..., Any], games: list[dict[str, Any]], tmp_path: Path
) -> None:
    crosstable = json_of("crosstable", VENUE)
    assert sorted(crosstable["versions"]) == sorted(NAMES)
    met = {frozenset((game["black"], game["white"])) for game in games}
    assert {frozenset((pair["one"], pair["other"])) for pair in crosstable["pairs"]} == met
    text = past("crosstable", VENUE).stdout
    assert len(text.splitlines()) == 2 + len(NAMES)
    assert text.startswith(f"{VENUE}, unrated games too")
    assert len(json_of("crosstable", VENUE, "--top", "3")["versions"]) == 3
    assert json_of("crosstable", VENUE, "--version", "Dog", "--version", "Ant")["versions"] == ["Dog", "Ant"]
    past("crosstable", VENUE, "--version", "Nobody", fails=1)
    picture = tmp_path / "table.svg"
    past("crosstable", VENUE, "--svg", str(picture))
    assert ET.fromstring(picture.read_text()).tag.endswith("svg")
    past("crosstable", VENUE, "--svg", str(picture), "--json", fails=2)


def test_the_best_of_a_crosstable_are_those_of_the_page(
    json_of: Callable[..., Any], rated_past: Path, tmp_path: Path
) -> None:
    """Somebody among them who has not played yet is left out, and the next one comes up instead."""
    data = Path(shutil.copytree(rated_past, tmp_path / "data"))
    best = json_of("standings", "--venue", VENUE)[VENUE][0]["version"]
    alter(data, "UPDATE ratings SET games = 0 WHERE version_id = (SELECT id FROM versions WHERE wire_name = ?)", best)
    result = CliRunner().invoke(main, ["crosstable", VENUE, "--top", "3", "--json", "--data", str(data)])
    versions = json.loads(result.stdout)["versions"]

    async def shown() -> list[str]:
        async with History(data / "cgos.sqlite") as history:
            settings = WebSettings(venues={VENUE: VenueSettings(port=6809)})
            app = create_app(history, settings, lambda: 0)
            async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://x") as web:
                answer = await web.get(f"/api/v1/venues/{VENUE}/crosstable?top=3")
                return list(answer.json()["versions"])

    assert len(versions) == 3
    assert best not in versions
    assert versions == asyncio.run(shown())


def test_rounds_newest_first(past: Run, json_of: Callable[..., Any], games: list[dict[str, Any]]) -> None:
    rows = json_of("rounds", VENUE, "--limit", "1000")
    assert [row["number"] for row in rows] == list(range(len(games), 0, -1))
    assert json_of("rounds", VENUE, "--limit", "2", "--before", "10")[0]["number"] == 9
    assert "birk" in past("rounds", VENUE).stdout


def test_rules_in_words(past: Run, json_of: Callable[..., Any]) -> None:
    text = past("rules", VENUE).stdout
    assert "superko" in text
    assert "begins at the pool's mean (now " in text
    assert {section["title"] for section in json_of("rules", VENUE)["sections"]} >= {"The game", "Time", "Rating"}
    assert "there are several venues" in past("rules", fails=2).stderr


def test_bot_show(past: Run, json_of: Callable[..., Any], games: list[dict[str, Any]]) -> None:
    bot = json_of("bot", "show", "Dog")
    (figures,) = bot["figures"]
    mine = [game for game in games if "Dog" in (game["black"], game["white"])]
    assert sum(row["games"] for row in figures["opponents"]) == len(mine)
    assert sum(row["games"] for row in figures["verdicts"]) == len(mine)
    decided = [score for game in mine if (score := points(game, "Dog")) is not None]
    assert sum(row["wins"] + row["draws"] / 2 for row in figures["opponents"]) == sum(decided)
    assert all(0 < row["expected"] < 1 for row in figures["opponents"])
    text = past("bot", "show", "Dog").stdout
    assert text.startswith("Dog: active")
    assert "all games, unrated ones too:" in text
    assert "expected" in text
    assert "time 0.0 %" in text
    past("bot", "show", "Nobody", fails=1)
    past("bot", "show", "Dog", "--venue", "8x8", fails=1)


def test_games_filtered(json_of: Callable[..., Any], games: list[dict[str, Any]], past: Run) -> None:
    def ids(*words: str) -> list[int]:
        return [game["id"] for game in json_of("games", "--limit", "1000", *words)]

    assert ids("--bot", "Ant", "--opponent", "Elk") == [
        game["id"] for game in games if {game["black"], game["white"]} == {"Ant", "Elk"}
    ]
    assert ids("--result", "none") == [VOIDED]
    assert ids("--reason", "time") == []
    assert ids("--running") == []
    assert len(ids("--ended")) == len(games)
    assert ids("--until", "2023-11-14T22:20") == [
        game["id"] for game in games if game["started_at"] < 1_700_000_400_000
    ]
    assert sorted(ids("--since", "2023-11-14T22:20") + ids("--until", "2023-11-14T22:20")) == sorted(
        game["id"] for game in games
    )
    assert "is no date" in past("games", "--since", "yesterday", fails=2).stderr


def test_in_a_terminal_colors_say_the_share(
    past: Run, json_of: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    written = io.StringIO()
    terminal = Console(file=written, force_terminal=True, color_system="truecolor", width=200)
    monkeypatch.setattr(figures, "Console", lambda: terminal)
    past("crosstable", VENUE)
    table = json_of("crosstable", VENUE)
    text = written.getvalue()
    for pair in table["pairs"]:
        if pair["rated"]:
            share = (pair["wins"] + pair["draws"] / 2) / pair["rated"]
            red, green, blue = (int(shade(share)[at : at + 2], 16) for at in (1, 3, 5))
            assert f"48;2;{red};{green};{blue}m{share * pair['rated']:g}/{pair['rated']}" in text
    assert all(name in text for name in NAMES)


def test_a_name_in_a_terminal_is_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever looks like markup, or like a terminal's orders, is shown as text."""
    written = io.StringIO()
    terminal = Console(file=written, force_terminal=True, color_system="truecolor", width=200)
    monkeypatch.setattr(figures, "Console", lambda: terminal)
    names = ["[red]Bold[/red]", "Esc\x1b[2J"]
    figures._print_crosstable(figures.as_crosstable("9x9", names, dict.fromkeys(names, 1800.0), []))
    assert "[red]Bold[/red]" in written.getvalue()
    assert "\x1b[2J" not in written.getvalue()


def test_a_bot_is_found_by_its_versions_name(rated_past: Path, tmp_path: Path) -> None:
    shutil.copy(rated_past / "cgos.sqlite", tmp_path / "cgos.sqlite")
    alter(
        tmp_path, "UPDATE versions SET wire_name = 'Dog-v2', wire_key = 'dog-v2', label = 'v2' WHERE wire_name = 'Dog'"
    )
    for name in ("Dog", "Dog-v2"):
        done = CliRunner().invoke(main, ["bot", "show", name, "--data", str(tmp_path), "--json"])
        assert done.exit_code == 0, done.output
        bot = json.loads(done.stdout)
        assert bot["bot"]["name"] == "Dog"
        assert [figure["version"] for figure in bot["figures"]] == ["Dog-v2"]


def test_odds_among_the_best(past: Run, json_of: Callable[..., Any]) -> None:
    table = json_of("odds", VENUE)
    assert sorted(table["versions"]) == sorted(NAMES)
    for at, row in enumerate(table["superior"]):
        assert row[at] is None
        for other, share in enumerate(row):
            if share is not None:
                assert abs(share + table["superior"][other][at] - 1) < 1e-9
    best, second = table["versions"][:2]
    pair = json_of("pair", VENUE, best, second)
    assert abs(pair["superiority"] - table["superior"][0][1]) < 1e-9
    lines = past("odds", VENUE).stdout.splitlines()
    assert re.fullmatch(rf"{VENUE}, bayes, after \d+ games \(entry {table['seq']}\)", lines[0])
    assert lines[2].split()[:4] == ["1", best, "-", f"{100 * table['superior'][0][1]:.0f}"]
    assert json_of("odds", "13x13")["versions"] == []


def test_a_sandbox_compares_nobody_and_says_why(past: Run, json_of: Callable[..., Any], tmp_path: Path) -> None:
    config = tmp_path / "cgos.toml"
    terms = 'port = 0\nsize = 9\ntime = { system = "absolute", main = "1m" }'
    config.write_text(f'[[venue]]\nname = "{VENUE}"\n{terms}\nrated = false\n')
    sandbox = ("--config", str(config))
    one, other = json_of("standings", "--venue", VENUE)[VENUE][:2]
    words_ = ("pair", VENUE, one["version"], other["version"])
    assert json_of(*words_)["superiority"] is not None
    pair = json_of(*words_, *sandbox)
    assert (pair["superiority"], pair["difference"], pair["not_compared"]) == (None, None, words.IN_SANDBOX)
    text = past(*words_, *sandbox).stdout
    assert words.IN_SANDBOX in text
    assert "expected" not in text
    (shown,) = json_of("bot", "show", one["version"], *sandbox)["figures"]
    assert {met["expected"] for met in shown["opponents"]} == {None}
    assert past("odds", VENUE, *sandbox).stderr == f"{words.IN_SANDBOX}\n"
    assert words.IN_SANDBOX in past("rate", "odds", one["version"], other["version"], *sandbox, fails=1).stderr
