"""Dialogues of cgos.v2 as text files, held against a real connection."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.net.websocket import WsDesk

from cgos_protocol.event_news import EventNews, EventWhat

FOLDER = Path(__file__).with_name("dialogues")


def live_server_says(desk: WsDesk, words: str) -> None:
    """``admit NAME``, ``refused EVENT CODE SENTENCE`` or ``WHAT EVENT SENTENCE``."""
    what, rest = words.split(" ", 1)
    session = desk.server.sessions["9x9"]
    if what == "admit":
        desk.server.admit(rest)
    elif what == "refused":
        session.event_refused(*rest.split(" ", 2))
    else:
        event, text = rest.split(" ", 1)
        session.event(EventNews(event=event, venue="9x9", what=EventWhat(what), text=text))


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.txt")), ids=lambda file: file.stem)
def test_a_dialogue_goes_as_it_is_written(file: Path) -> None:
    desk = WsDesk()
    client = desk.connect()
    messages: list[dict[str, Any]] = []
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        mark, words = line.split(" ", 1)
        place = f"{file.name}:{number}"
        messages += client.listen()
        if mark == "S:":
            wanted = json.loads(words)
            assert messages, place
            message = messages.pop(0)
            assert {key: message.get(key) for key in wanted} == wanted, place
            continue
        assert not messages, place
        if mark == "C:":
            desk.server.calls.clear()
            client.say(**json.loads(words))
        elif mark == "<":
            wish, event = words.rsplit(" ", 1)
            assert (wish, event) in desk.server.calls, place
        else:
            live_server_says(desk, words)
    assert not client.listen()
