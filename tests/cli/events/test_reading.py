"""Commands that read events: tables for people, the API's messages for programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.storage.storage_sample import put
from support.tournaments.held_events import HeldEvent

from cgos_protocol.api import events as api
from cgos_server.tournaments.base import BLACK_WINS, DRAWN, WHITE_WINS
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import EventSettings

AsJson = Callable[..., Any]


@pytest.fixture
def held(data: Path) -> HeldEvent:
    """Three bots meet in three rounds, of which one is played and one is being played; another event is announced."""
    held = HeldEvent(EventSettings(name="Open", venue="9x9", system="round-robin", about="A small one"))
    held.start(["Alpha", "Beta", "Gamma"])
    held.play_round(lambda _: BLACK_WINS)
    held.begin(held.state.due_games[0][1])
    later = HeldEvent(EventSettings(name="Later", venue="9x9", system="cup"))
    put(data / "cgos.sqlite", [*held.records(1, games=False), *later.records(2)])
    return held


def test_events_are_listed(run: Any, as_json: AsJson, held: HeldEvent) -> None:
    first, second = msgspec.convert(as_json("event", "list"), list[api.EventSummary])
    assert (first.name, first.phase, second.name, second.phase) == ("Later", "announced", "Open", "running")
    assert [row["name"] for row in as_json("event", "list", "--phase", "running")] == ["Open"]
    assert as_json("event", "list", "--before", "1") == []
    assert "Entry is not open yet." in run("event", "list").stdout


def test_one_is_shown_with_its_settings_and_entrants(run: Any, as_json: AsJson, held: HeldEvent) -> None:
    now = msgspec.convert(as_json("event", "show", "Open"), api.EventNow)
    assert {one.bot for one in now.entrants} == {"Alpha", "Beta", "Gamma"}
    shown = run("event", "show", "Open")
    assert "A small one" in shown.stdout
    assert "round-robin" in shown.stdout
    assert "Gamma" in shown.stdout
    assert "Rated: it is played on the terms of 9x9" in shown.stderr
    announced = run("event", "show", "Later")
    assert "Entry is not open yet." in announced.stderr


def test_standings_and_crosstable(run: Any, as_json: AsJson, held: HeldEvent, tmp_path: Path) -> None:
    table = msgspec.convert(as_json("event", "standings", "Open"), api.EventStandings)
    assert table.rows[0].place == 1
    assert table.rows[0].version in run("event", "standings", "Open").stdout
    cross = msgspec.convert(as_json("event", "crosstable", "Open"), api.EventCrosstable)
    assert len(cross.rows) == 3
    assert "bye" in run("event", "crosstable", "Open").stdout
    run("event", "crosstable", "Open", "--svg", str(tmp_path / "open.svg"))
    assert (tmp_path / "open.svg").read_text().startswith("<svg")
    assert as_json("event", "standings", "Later")["rows"] == []


def test_rounds_with_reasons(run: Any, as_json: AsJson, held: HeldEvent) -> None:
    rounds = msgspec.convert(as_json("event", "rounds", "Open"), list[api.EventRound])
    assert [each.number for each in rounds] == [1, 2]
    shown = run("event", "rounds", "Open", "--round", "2").stdout
    assert "Round 2" in shown
    assert "Round 1" not in shown
    assert "running" in shown
    assert "Open has no round 9: 2 have begun." in run("event", "rounds", "Open", "--round", "9", fails=1).stderr
    assert "Nothing has been paired yet." in run("event", "rounds", "Later").stderr


def test_games_and_which_are_open(run: Any, as_json: AsJson, held: HeldEvent) -> None:
    games = msgspec.convert(as_json("event", "games", "Open"), list[api.EventGame])
    assert [game.state for game in games] == ["ended", "running"]
    assert [game["number"] for game in as_json("event", "games", "Open", "--open")] == [games[1].number]
    assert "Black wins" in run("event", "games", "Open").stdout


def test_the_log_in_sentences(run: Any, as_json: AsJson, held: HeldEvent) -> None:
    entries = msgspec.convert(as_json("event", "log", "Open"), list[api.EventLogLine])
    assert [entry.seq for entry in entries] == [entry.seq for entry in held.entries]
    assert [entry["seq"] for entry in as_json("event", "log", "Open", "--last", "2")] == [
        entries[-2].seq,
        entries[-1].seq,
    ]
    assert as_json("event", "log", "Open", "--after", str(entries[-1].seq)) == []
    assert "Open is announced: round-robin in 9x9" in run("event", "log", "Open").stdout


def test_rulings_are_remarked(run: Any, data: Path) -> None:
    ruled = HeldEvent(EventSettings(name="Ruled", venue="9x9", system="round-robin"))
    ruled.start(["Alpha", "Beta", "Gamma"])
    ruled.play_round(lambda _: DRAWN)
    ruled.say(log.Ruled(game=1, result=WHITE_WINS, reason="It played too long."), "operator")
    put(data / "cgos.sqlite", ruled.records(1, games=False))
    assert "Ruling: It played too long." in run("event", "games", "Ruled").stdout


def test_an_event_that_there_is_not(run: Any) -> None:
    assert "There is no event Nothing." in run("event", "show", "Nothing", fails=1).stderr


def test_games_of_the_server_are_found_by_event(as_json: AsJson, run: Any, data: Path) -> None:
    held = HeldEvent(EventSettings(name="Open", venue="9x9", system="round-robin"))
    held.start(["Alpha", "Beta", "Gamma"])
    held.begin(held.state.due_games[0][1], played_as=1)
    put(data / "cgos.sqlite", held.records(1))
    assert [game["id"] for game in as_json("games", "--event", "Open")] == [1]
    assert "There is no event Nothing." in run("games", "--event", "Nothing", fails=1).stderr
