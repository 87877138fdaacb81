"""A viewer and an operator at a real server, while two bots play."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.e2e.processes import ServerProcess, bots, server, until
from support.protocol.viewers import TkViewer

pytestmark = pytest.mark.e2e


class Talk:
    """A line dialogue over a real socket."""

    def __init__(self, serving: ServerProcess) -> None:
        self.sock = socket.create_connection(("127.0.0.1", serving.port), 10)
        self.file = self.sock.makefile("rb")
        assert self.line() == "protocol genmove_analyze"

    def line(self) -> str:
        return self.file.readline().decode("ascii").rstrip("\n")

    def say(self, line: str) -> None:
        self.sock.sendall(line.encode() + b"\n")

    def ask(self, command: str) -> list[str]:
        """An operator's command and its answer, without the end mark."""
        self.say(command)
        lines = [self.line()]
        while not lines[-1].startswith("end: "):
            assert lines[-1]
            lines.append(self.line())
        return lines[:-1]

    def close(self) -> None:
        self.file.close()
        self.sock.close()


class Viewer:
    """A viewer on a real socket, with the screen of the double."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.screen = TkViewer()
        self.rest = b""
        self.talk.say("v1 test")
        self.talk.sock.settimeout(0.2)

    def look(self) -> TkViewer:
        with contextlib.suppress(TimeoutError):
            self.rest += self.talk.sock.recv(1 << 20)
        end = self.rest.rfind(b"\n") + 1
        self.screen.hear(self.rest[:end])
        self.rest = self.rest[end:]
        return self.screen


@pytest.fixture
def talks() -> Iterator[contextlib.ExitStack]:
    """Where connections are entered, to be closed at the end."""
    with contextlib.ExitStack() as stack:
        yield stack


def connect(talks: contextlib.ExitStack, serving: ServerProcess) -> Talk:
    return talks.enter_context(contextlib.closing(Talk(serving)))


def test_a_viewer_follows_games_that_an_operator_arranges(tmp_path: Path, talks: contextlib.ExitStack) -> None:
    with server(tmp_path) as serving:
        assert serving.command("account", "add", "admin1", "--admin", stdin="long-secret\n").returncode == 0
        operator = connect(talks, serving)
        for line, answer in (("e1 script", "username"), ("admin1", "password"), ("long-secret", "ok")):
            operator.say(line)
            assert operator.line() == answer
        viewer = Viewer(connect(talks, serving))
        until(lambda: viewer.look().infos, 10, "an empty list")
        assert operator.ask("pause")[0].startswith("Nobody is paired in 9x9")
        players = {"Random": (["bot", "random"], ()), "Greedy": (["bot", "greedy"], ())}
        with bots(serving, players):
            until(lambda: len(operator.ask("who")) == 2, 30, "both bots")
            assert all(line.split()[1] == "waiting" for line in operator.ask("who"))
            assert viewer.look().listed == {}
            assert operator.ask("match Random Greedy 60 60") == ["match Random(1800?) Greedy(1800?)"]
            until(lambda: viewer.look().listed, 10, "the game in the viewer's list")
            viewer.talk.say("observe 1")
            until(lambda: viewer.look().shown, 60, "the end of the game on the viewer's board")
            until(lambda: viewer.look().listed["1"] != "-", 10, "the end of the game in the viewer's list")
            on_board = viewer.screen.shown["1"]
            assert on_board.removeprefix("0+") == viewer.screen.listed["1"]  # a draw is 0+Draw on a board
            assert len(viewer.screen.boards["1"]) > 10
            assert serving.query("select count(*) from ledger where kind = 'game'") == [(0,)]  # other clocks: not rated
            # From move 10 of the game just played.
            until(lambda: all(line.split()[1] == "waiting" for line in operator.ask("who")), 10, "both wait again")
            assert operator.ask("match Greedy Random 600 600 1 10") == ["match Greedy(1800?) Random(1800?)"]
            until(lambda: viewer.look().listed.get("2", "-") != "-", 60, "the second game")
            old = serving.query("select ply, move from moves where game_id = 1 and ply <= 10 order by ply")
            new = serving.query("select ply, move from moves where game_id = 2 and ply <= 10 order by ply")
            assert old == new
            # A bot that never moves, and a ruling.
            statue = connect(talks, serving)
            for line in ("e1 statue", "Statue", "secret"):
                statue.say(line)
            until(lambda: len(operator.ask("who")) == 3, 10, "the third bot")
            until(lambda: operator.ask("match Random Statue")[0].startswith("match "), 10, "a game with it")
            until(lambda: viewer.look().listed.get("3"), 10, "the third game")
            assert serving.command("abort", "3", "--result", "W+Forfeit").returncode == 0
            until(lambda: viewer.look().listed["3"] == "W+Forfeit", 10, "the forfeit")
            assert serving.query("select count(*) from ledger where kind = 'game'") == [(1,)]
            assert len(operator.ask("games")) == 3
            assert "Closed 1 connection of Random." in operator.ask("kick Random bye")[0]
        late = Viewer(connect(talks, serving))
        until(lambda: len(late.look().listed) == 3, 10, "the list")
        late.talk.say("observe 1")
        until(lambda: late.look().shown, 10, "a game of the archive")
        assert late.screen.boards["1"] == viewer.screen.boards["1"]
        assert operator.ask("resume") == ["9x9 pairs again."]
        assert operator.ask("quit") == ["Quit"]
        assert operator.line() == ""
        actions = [row[0] for row in serving.query("select action from audit where actor like 'admin1 %' order by id")]
        assert actions == ["pause", *["match"] * 3, "kick", "resume"]
        assert serving.query("select count(*) from audit where action = 'abort'") == [(1,)]
        assert serving.stop() == 0


def test_operators_need_the_right_password_and_the_right_network(tmp_path: Path, talks: contextlib.ExitStack) -> None:
    with server(tmp_path, settings='[admin]\nnetworks = "192.0.2.0/24"\n') as serving:
        serving.command("account", "add", "admin1", "--admin", stdin="long-secret\n")
        talk = connect(talks, serving)
        for line in ("e1 script", "admin1", "long-secret"):
            talk.say(line)
        assert [talk.line(), talk.line()] == ["username", "password"]
        assert talk.line().startswith("Error: ")
        assert talk.line() == ""


def test_a_hundred_viewers_that_never_read_do_not_hold_a_game_up(tmp_path: Path, talks: contextlib.ExitStack) -> None:
    with server(tmp_path) as serving:
        viewers = [connect(talks, serving) for _ in range(100)]
        for viewer in viewers:
            viewer.say("v1 test\nobserve 1\nbanana\nobserve 2")
        players = {"Random": (["bot", "random"], ()), "Greedy": (["bot", "greedy"], ())}
        with bots(serving, players):
            until(
                lambda: serving.query("select count(*) from games where ended_at is not null")[0][0] >= 3, 90, "games"
            )
        assert serving.query("select count(*) from games where reason = 'time'") == [(0,)]
        assert serving.stop() == 0
    assert [event for event in serving.log_events() if event["level"] in ("warning", "error")] == []
