"""Dialogues of cgos.v2 as text files, held against a real connection."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.net.websocket import WsDesk

from cgos_protocol.event_news import EventNews, EventWhat
from cgos_protocol.ids import QuestionId
from cgos_protocol.question_news import QuestionNews, QuestionTaken, QuestionWish, StopWish

FOLDER = Path(__file__).with_name("dialogues")


def live_server_says(desk: WsDesk, words: str) -> None:
    """``admit NAME``, ``refused EVENT CODE SENTENCE``, ``WHAT EVENT SENTENCE``, ``asked REF NUMBER SENTENCE``,
    ``not-asked REF CODE SENTENCE`` or ``question STATE NUMBER SENTENCE``."""
    what, rest = words.split(" ", 1)
    session = desk.server.sessions["9x9"]
    if what == "admit":
        desk.server.admit(rest)
    elif what == "refused":
        session.event_refused(*rest.split(" ", 2))
    elif what == "not-asked":
        session.question_refused(*rest.split(" ", 2))
    elif what == "asked":
        ref, number, text = rest.split(" ", 2)
        session.question_taken(QuestionTaken(ref, QuestionId(int(number)), "9x9", "test", text, ()))
    elif what == "question":
        state, number, text = rest.split(" ", 2)
        session.question(
            QuestionNews(
                question=QuestionId(int(number)), venue="9x9", kind="test", state=state, text=text, version="anna"
            )
        )
    else:
        event, text = rest.split(" ", 1)
        session.event(EventNews(event=event, venue="9x9", what=EventWhat(what), text=text))


def _heard(call: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a seat heard, as it is written: ``enter EVENT``, ``ask REF``, ``stop NUMBER``."""
    match call:
        case ("question", StopWish(question=number)):
            return "stop", str(number)
        case ("question", QuestionWish(ref=ref)):
            return "ask", ref
    return call


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
            wish, about = words.rsplit(" ", 1)
            assert (wish, about) in [_heard(call) for call in desk.server.calls], place
        else:
            live_server_says(desk, words)
    assert not client.listen()
