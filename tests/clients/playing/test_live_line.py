"""The line on the terminal says who plays whom, how far, with what time, and the score of the day."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from cgos_client.playing.events import GameOver, MoveAsked, MoveMade, Seated
from cgos_client.playing.live_line import LiveLine
from cgos_protocol.games.base import Color
from cgos_protocol.session import GameSetup

B, W = Color.BLACK, Color.WHITE
SETUP = GameSetup(17, 9, 15, 65_000, "Alice", "1800?", "Bob", "", ())


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def screen():
    return io.StringIO()


@pytest.fixture
def line(clock, screen):
    return LiveLine(Console(file=screen, force_terminal=True, width=200), clock)


def test_before_the_first_game(line):
    assert line.text().plain == "waiting for a game; won 0, lost 0"


def test_a_game(line, clock):
    line(Seated(SETUP, B))
    line(MoveAsked(17, B, 65_000))
    clock.now += 5.5
    assert line.text().plain == "game 17 9x9: >Alice (1800?) 0:59 - Bob 1:05 | move 0 | won 0, lost 0"
    line(MoveMade(17, B, "D4", None))
    clock.now += 3
    assert line.text().plain == "game 17 9x9:  Alice (1800?) 0:59 ->Bob 1:02 | move 1 | won 0, lost 0"
    line(MoveMade(17, W, "E5", 62_500))
    line(MoveAsked(17, B, 60_000))
    clock.now += 1000
    assert line.text().plain == "game 17 9x9: >Alice (1800?) 0:00 - Bob 1:02 | move 2 | won 0, lost 0"


def test_a_resumed_game(line):
    line(Seated(SETUP._replace(moves=(("D4", 50_000), ("E5", 40_000), ("F6", 30_000))), B))
    assert line.text().plain == "game 17 9x9:  Alice (1800?) 0:30 ->Bob 0:40 | move 3 | won 0, lost 0"


def test_the_score(line):
    for game, (color, result) in enumerate([(B, "B+3.5"), (W, "B+Resign"), (W, "W+Time"), (B, "Draw"), (B, "Abort")]):
        seated, over = Seated(SETUP._replace(game=game), color), GameOver(game, "2026-01-02", result, "")
        for event in (seated, over, seated.result(over, 0)):
            line(event)
    for event in (seated, over):  # told again after a reconnection
        line(event)
    assert line.text().plain == "waiting for a game; won 2, lost 1, other 2"


def test_many_games_at_once(line):
    for game in range(6):
        line(Seated(SETUP._replace(game=game), B))
    lines = line.text().plain.splitlines()
    assert [text.split(":")[0] for text in lines[:4]] == [f"game {game} 9x9" for game in range(4)]
    assert lines[4:] == ["and 2 more games | won 0, lost 0"]


def test_what_it_does_not_know_is_ignored(line):
    line(MoveMade(5, B, "D4", None))
    line(MoveAsked(5, B, 1))
    line(GameOver(5, "2026-01-02", "B+1.0", ""))
    assert line.text().plain == "waiting for a game; won 0, lost 0"


def test_it_makes_room_and_comes_back(line, screen):
    with line.hidden():
        screen.write("before")
    assert screen.getvalue() == "before"
    with line:
        assert "waiting for a game" in screen.getvalue()
        with line.hidden():
            hidden = screen.tell()
            screen.write("a sentence\n")
        after = screen.getvalue()[hidden:]
    assert after.startswith("a sentence\n")
    assert "waiting for a game" in after
