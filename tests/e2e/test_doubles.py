"""Doubles of the old clients on a server that is killed and behind a network that breaks; and that doubles do die."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from support.e2e.endings import count_ended, ended_games, unexplained
from support.e2e.legacy_doubles import Died, Double, PythonDouble, SessionEnds, SilentEndDouble, TclDouble
from support.e2e.processes import server
from support.net.cutting_proxy import CuttingProxy

GAMES = 40
KILL_AT = 15
LIMIT_S = 150
CUT_EVERY_S = (1.0, 3.0)
MAIN_S = 120
AWAY_S = 15
"""How long a cut may keep a double away: a ghost has its place for some seconds, and refusals back off."""

SETUP = "setup 1 9 7.0 60000 Anna(1800?) Bert(1795)"


@pytest.mark.e2e
@pytest.mark.slow
def test_doubles_of_the_old_clients_play_through_a_kill_and_cuts(tmp_path: Path) -> None:
    kinds: dict[str, type[Double]] = {
        "TclOne": TclDouble,
        "TclTwo": TclDouble,
        "PyOne": PythonDouble,
        "PyTwo": PythonDouble,
        "Old": SilentEndDouble,
    }
    rng = random.Random(7)
    venue = f'time = {{ system = "absolute", main = {MAIN_S} }}'
    with server(tmp_path, venue=venue) as serving, CuttingProxy(serving.port, 7) as proxy:
        doubles = [kind(proxy.port_for(name), name, seed) for seed, (name, kind) in enumerate(kinds.items())]
        for double in doubles:
            double.start()
        began = next_cut = time.monotonic()
        killed = False
        while (ended := count_ended(serving)) < GAMES or any(double.games == 0 for double in doubles):
            assert time.monotonic() - began < LIMIT_S, f"{ended} games in {LIMIT_S} s"
            assert {double.name: double.died for double in doubles if double.died is not None} == {}
            if ended >= KILL_AT and not killed:
                killed = True
                serving.kill()
                serving.start()
            if time.monotonic() > next_cut:
                proxy.cut_somebody()
                next_cut = time.monotonic() + rng.uniform(*CUT_EVERY_S)
            time.sleep(0.05)  # other processes' progress cannot be simulated
        assert serving.stop(90) == 0
        for double in doubles:
            double.stop()
        games = ended_games(serving)
        assert serving.query("select id from games where ended_at is null") == []
    assert {double.name: double.died for double in doubles if double.died is not None} == {}
    assert unexplained(games, proxy.cuts, MAIN_S, AWAY_S) == []
    assert len(proxy.cuts) >= 5
    assert all(double.sessions > 1 for double in doubles)
    warnings = [event for event in serving.log_events() if event["level"] in ("warning", "error")]
    assert warnings == []


def heard(double: Double, *lines: str) -> list[str | None]:
    return [double.hear(line) for line in lines]


@pytest.mark.parametrize("kind", [TclDouble, PythonDouble, SilentEndDouble])
def test_a_double_plays_a_game_that_is_told_properly(kind: type[Double]) -> None:
    double = kind(0, "Anna", 1)
    assert heard(double, "protocol genmove_analyze", "username", "password")[1:] == ["Anna", "secret-Anna"]
    answers = heard(double, SETUP, "play b E5 60000", "genmove w 59000", "info a } word", "gameover 2026-01-31 Draw ")
    assert (answers[0], answers[1], answers[3], answers[4]) == (None, None, None, "ready")
    assert answers[2] is not None
    assert double.games == 1


@pytest.mark.parametrize(
    "lines",
    [
        ["ok"],
        ["update 1 D4 60000"],
        ["setup 1 9 7.0 60000 {Anna(1800) Bert(1800)"],
        ["setup 1 9 7.0 60000.5 Anna(1800) Bert(1800)"],
        [f"{SETUP} D4 60000 D4 60000"],
        [SETUP, "play b D4 60000", "play w D4 60000"],
        [SETUP, "play b I5 60000"],
        [SETUP, 'play b "E5 60000'],
        [SETUP, "genmove w -5"],
        [SETUP, "genmove w"],
        ['gameover 2026-01-31 B+Illegal "D4'],
    ],
    ids=lambda lines: lines[-1],
)
def test_the_tcl_double_dies_where_the_tcl_client_would(lines: list[str]) -> None:
    double = TclDouble(0, "Anna", 1)
    with pytest.raises(Died):
        heard(double, *lines)


@pytest.mark.parametrize("line", ["", "\r", " info blank in front", "Error: no"])
def test_the_tcl_double_leaves_at(line: str) -> None:
    with pytest.raises(SessionEnds):
        TclDouble(0, "Anna", 1).hear(line)


@pytest.mark.parametrize(
    "lines",
    [
        ["ok"],
        ["setup 1 9 7.0 60000 Anna(1800)"],
        ["setup 1 9 7.0 60000 Carl(1800) Bert(1800)"],
        ["setup 1 9 7.0 60000.0 Anna(1800) Bert(1800)"],
        [f"{SETUP} D4"],
        [f"{SETUP} D4 60000.5"],
        [SETUP, "play b D4"],
        [SETUP, "play b D4 60000 more"],
        [SETUP, "play b D4 6e4"],
        [SETUP, "genmove w"],
        [SETUP, "genmove b 60000"],
        [SETUP, "genmove w 60000 0"],
        [SETUP, "genmove w -1"],
        ["gameover 2026-01-31"],
    ],
    ids=lambda lines: lines[-1],
)
def test_the_python_double_dies_where_the_python_client_would(lines: list[str]) -> None:
    double = PythonDouble(0, "Anna", 1)
    with pytest.raises(Died):
        heard(double, *lines)


def test_the_python_double_passes_over_blank_lines_and_leaves_at_an_error() -> None:
    double = PythonDouble(0, "Anna", 1)
    assert heard(double, "", "  ", "info x") == [None, None, None]
    with pytest.raises(SessionEnds):
        double.hear("Error: no")
