"""Bots that enter an event of a real server by themselves, check in, and go on after the server was killed."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import pytest
from support.e2e.processes import ServerProcess, client, server, until

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

BY_WEBSOCKET = ("anna", "bert", "carl")


def lines_of(serving: ServerProcess, name: str) -> list[str]:
    """What a bot's client has said of the event so far."""
    text = (serving.directory / f"{name}.log").read_text()
    return [line.split(": ", 1)[-1] for line in text.splitlines() if "spring" in line]


def test_bots_enter_check_in_and_play_on_after_a_kill(tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        serving = stack.enter_context(server(tmp_path, venue='time = { system = "absolute", main = "5m" }'))

        def command(*words: str) -> None:
            done = serving.command("event", *words)
            assert done.returncode == 0, done.stdout + done.stderr

        command("create", "spring", "round-robin", "--starts-at", "now+15m", "--check-in-s", "900", "--grace-s", "60")
        command("open", "spring")
        for name in BY_WEBSOCKET:
            options = ["bot", "random", "--venue", "9x9", "--event", "spring"]
            stack.enter_context(client(serving, name, options, address=serving.url))
        stack.enter_context(client(serving, "dora", ["bot", "random"]))
        until(lambda: serving.command("event", "enter", "spring", "dora").returncode == 0, 60, "dora is not there")
        for name in (*BY_WEBSOCKET, "dora"):
            until(lambda name=name: any("checked in" in line for line in lines_of(serving, name)), 60, name)
        command("start", "spring")
        until(lambda: bool(serving.query("SELECT 1 FROM event_games")), 60, "no game of the event began")
        serving.kill()
        serving.start()
        until(lambda: serving.query("SELECT phase FROM events") == [("over",)], 120, "the event is not over")
        for name in (*BY_WEBSOCKET, "dora"):
            until(lambda name=name: any("your place is" in line for line in lines_of(serving, name)), 20, name)
        anna = lines_of(serving, "anna")
        actors = serving.query("SELECT actor FROM event_log WHERE kind = 'entered' ORDER BY seq")
    assert anna[0].startswith("You have entered spring: it starts at ")
    assert re.search("Round 1 of spring: you play [a-z]+ as (Black|White)|you have a bye", "\n".join(anna))
    assert {actor for (actor,) in actors if actor.startswith("bot ")} == {f"bot {name}" for name in BY_WEBSOCKET}
