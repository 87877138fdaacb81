"""What the description says beyond shapes holds: states against sessions, figures against settings, patterns."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.net.websocket import WsClient, WsDesk
from support.protocol import described_bot
from support.protocol.described_bot import Description
from websockets.frames import CloseCode

from cgos_protocol.names import BOT_NAME_PATTERN, PASSWORD_PATTERN, bot_name_fault, password_fault
from cgos_protocol.v2 import messages as ws
from cgos_protocol.v2.asyncapi import tag
from cgos_protocol.v2.dialogue import CLOSE_CODES, CODES, CONNECTION, GAME, LIMITS, Fatal
from cgos_protocol.v2.encoding import JSON, Malformed
from cgos_protocol.v2.examples import EXAMPLES
from cgos_server.config.schema import Config
from cgos_server.net.websocket import bot as websocket_bot
from cgos_server.net.websocket import connection as websocket


@pytest.fixture(scope="module")
def description() -> Description:
    return described_bot.read()


def test_every_message_has_examples_of_its_shape(description: Description) -> None:
    assert {tag(type(message)) for message in EXAMPLES.values()} == description.validators.keys()
    for name, examples in description.examples.items():
        assert examples, name
        for example in examples:
            description.validators[name].validate(example)
            assert example["type"] == name


def test_the_server_takes_every_example_of_a_client(description: Description) -> None:
    messages = {step.message for state in CONNECTION.values() for step in state.steps if step.by == "client"}
    for name in messages:
        for example in description.examples[name]:
            message = JSON.decode(json.dumps(example).encode())
            assert not isinstance(message, Malformed), message
            if isinstance(message, ws.Move) and "analysis" in example:
                assert isinstance(JSON.analysis(message.analysis), str)


def test_steps_lead_to_states_and_speak_of_messages(description: Description) -> None:
    for states in (CONNECTION, GAME):
        for state in states.values():
            for step in state.steps:
                assert step.then in states
                assert set(step.where) <= set(description.fields[step.message])
            assert set(state.errors.values()) <= set(CODES)
            assert not set(state.errors) & {step.message for step in state.steps if step.by == "client"}
    steps = {(step.by, step.message) for state in CONNECTION.values() for step in state.steps}
    assert {message for _, message in steps} == set(description.fields)
    assert len(steps) == len(description.fields), "each message has one direction"


WAYS: dict[str, list[str]] = {
    "new": [], "checking": ["sign_in"], "in": ["sign_in", "admit"], "paused": ["sign_in", "admit", "pause"],
    "draining": ["sign_in", "admit", "drain"], "closed": ["sign_in", "refuse"],
}  # fmt: skip


def brought_to(state: str) -> WsClient:
    """A client whose connection is in `state`."""
    desk = WsDesk()
    client = desk.connect()
    for step in WAYS[state]:
        if step == "admit":
            desk.server.admit("my-engine")
        elif step == "refuse":
            desk.server.sessions["9x9"].refused("disabled", "No.")
        else:
            client.say(**described(step))
    client.listen()
    return client


def described(name: str) -> dict[str, Any]:
    message = next(message for message in EXAMPLES.values() if tag(type(message)) == name)
    example: dict[str, Any] = json.loads(msgspec.json.encode(message))
    return example


@pytest.mark.parametrize("state", WAYS)
def test_a_session_keeps_the_order_that_is_described(state: str) -> None:
    """Every message of a client in every state: it is taken, or answered with the code that the table names."""
    messages = {step.message for any_state in CONNECTION.values() for step in any_state.steps if step.by == "client"}
    taken = {step.message for step in CONNECTION[state].steps if step.by == "client"}
    for name in messages:
        client = brought_to(state)
        client.say(**described(name))
        codes = [message["code"] for message in client.listen() if message["type"] == "error"]
        if state == "closed":
            assert codes == []
        elif name == "move" and name in taken:
            assert codes == [GAME["unknown"].errors["move"]]
        else:
            assert codes == ([] if name in taken else [CONNECTION[state].errors[name]]), name


@given(
    st.from_regex(r"[A-Za-z0-9_.-]{1,20}", fullmatch=True) | st.sampled_from(["Admin-x", "quit", "QUIT"]) | st.text()
)
@settings(max_examples=200, deadline=None)
def test_patterns_are_the_rules(word: str) -> None:
    if not word.endswith("\n"):  # which `$` of other programs does not let through
        assert (re.search(BOT_NAME_PATTERN, word) is not None) == (bot_name_fault(word) is None)
        assert (re.search(PASSWORD_PATTERN, word) is not None) == (password_fault(word) is None)


def test_moves_that_fit_the_pattern_are_read(description: Description) -> None:
    pattern = description.fields["move"]["move"]["pattern"]
    read = re.compile(pattern).search
    assert all(read(move) for move in ("D4", "j9", "pass", "PaS", "resign", "Z25"))
    assert not any(read(move) for move in ("I5", "D0", "D26", "", "D4 E5", "p", "resigns"))


def test_figures_are_those_of_the_server() -> None:
    def configured(key: str) -> float:
        value: Any = Config()
        for part in key.split("."):
            value = getattr(value, part)
        return float(value)

    for name, limit in LIMITS.items():
        if limit.key:
            assert configured(limit.key) == limit.value, name
    assert LIMITS["message_bytes_before_sign_in"].value == websocket_bot.SIGN_IN_MAX
    assert LIMITS["message_frames"].value == websocket.FRAGMENTS_MAX
    assert LIMITS["control_frames"].value == websocket.CONTROLS_PER_MINUTE


def test_every_close_code_of_the_server_is_described() -> None:
    used = {*websocket._CODES.values(), CloseCode.POLICY_VIOLATION, CloseCode.MESSAGE_TOO_BIG}
    used |= {CloseCode.UNSUPPORTED_DATA, CloseCode.INVALID_DATA, CloseCode.PROTOCOL_ERROR}
    assert used <= CLOSE_CODES.keys()


def test_what_is_called_fatal_is_what_the_connection_closes_for() -> None:
    assert {code for code, of in CODES.items() if of.fatal is Fatal.AT_TIMES} == {
        "utf-8", "hours", "no-venue", "store", "our-fault",
    }  # fmt: skip
    assert CODES["already-here"].again
    assert not CODES["name"].again
