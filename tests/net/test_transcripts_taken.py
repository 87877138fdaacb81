"""What connections hand to the transcripts: all that a bot and the server say, nothing secret, nothing of viewers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.live.simulated import SimulatedTime
from support.net.websocket import SETUP, Seated, WsClient, WsDesk
from support.net.wires import FakeWire, context

from cgos_protocol.games.base import Color
from cgos_protocol.lines.framing import Line
from cgos_protocol.session import Credentials, GameOver, Turn
from cgos_server.net.lines import EngineLines
from cgos_server.observability.transcript_files import MASK, TranscriptLine, read
from cgos_server.observability.transcripts import Transcripts

S = 1_000_000
OVER = GameOver("2023-11-14", "B+Resign", Color.BLACK, "resignation", "", 1)


class Seat(Seated):
    """A seat of the bot with number 5."""

    bot = 5


class Reception:
    def __init__(self) -> None:
        self.sign_ins: list[Credentials] = []

    def sign_in(self, session: object, credentials: Credentials) -> None:
        self.sign_ins.append(credentials)


class Dialogue:
    """A line dialogue whose transcripts are kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.time = SimulatedTime()
        self.reception = Reception()
        self.transcripts = Transcripts(folder, 7.0, 65_536, offset_us=lambda: 0)
        plain = context(self.time, reception=self.reception)
        self.wire = FakeWire()
        self.lines = EngineLines(
            _peer=self.wire,
            _context=replace(plain, sockets=replace(plain.sockets, transcripts=self.transcripts), venue="9x9"),
        )
        self.lines.opened(None)

    def say(self, *lines: str) -> None:
        for line in lines:
            self.lines.receive(Line(line.encode(), self.time.received()))

    def admit(self, name: str = "anna") -> None:
        self.lines.accepted(Seat([]), name)  # type: ignore[arg-type]

    def kept(self) -> list[TranscriptLine]:
        self.transcripts.write()
        return read(self.folder, 5, since_us=0, until_us=10**18, limit=10**6)

    def spoken(self) -> list[tuple[str, str]]:
        return [(line.way, line.text) for line in self.kept()]


@pytest.fixture
def dialogue(tmp_path: Path) -> Dialogue:
    return Dialogue(tmp_path / "transcripts")


def play(dialogue: Dialogue) -> None:
    lines = dialogue.lines
    lines.setup(SETUP, Color.BLACK)
    dialogue.time.advance(S)
    lines.genmove(Color.BLACK, 60_000, 60_000)
    dialogue.time.advance(2 * S)
    dialogue.say("D4")
    lines.played(Turn(ply=2, color=Color.WHITE, move="E5", left_ms=59_000, other_left_ms=58_000, at=0, on=True))
    lines.game_over(OVER)


def test_a_dialogue_of_lines(dialogue: Dialogue) -> None:
    dialogue.say("e1 engine", "anna", "geheim")
    dialogue.admit("anna-2")
    begun = dialogue.time.now()
    play(dialogue)
    dialogue.say("ready")
    assert dialogue.spoken() == [
        (">", "protocol genmove_analyze"), ("<", "e1 engine"), (">", "username"), ("<", "anna"), (">", "password"),
        ("<", MASK), (">", "setup 3 9 7.0 60000 bert(1800?) anna(1800?)"), (">", "genmove b 60000"), ("<", "D4"),
        (">", "play w E5 59000"), (">", "genmove b 58000"), (">", "gameover 2023-11-14 B+Resign "), ("<", "ready"),
    ]  # fmt: skip
    kept = dialogue.kept()
    assert {(line.name, line.venue, line.connection) for line in kept} == {("anna-2", "9x9", 1)}
    assert [line.game for line in kept] == [0] * 6 + [3] * 7
    genmove_at, moved = (line.at for line in kept if line.text in ("genmove b 60000", "D4") and line.game)
    assert (genmove_at - begun, moved - genmove_at) == (S, 2 * S)


@pytest.mark.parametrize(
    ("lines", "masked"),
    [
        (("geheim",), 1), (("geheim anders",), 2), (("  geheim   anders ",), 2),
        (("geheim", "geheim"), 2),  # while it is checked
    ],
)  # fmt: skip
def test_passwords_are_masked(dialogue: Dialogue, lines: Sequence[str], masked: int) -> None:
    dialogue.say("e1 engine geheim", "anna", *lines)
    dialogue.admit()
    dialogue.say("geheim", "anders geheim")
    dialogue.lines.info("Your password geheim was changed.")
    text = " ".join(line for _, line in dialogue.spoken())
    assert "geheim" not in text
    assert text.count(MASK) >= masked + 3


def test_a_password_behind_the_name_is_masked_too(dialogue: Dialogue) -> None:
    dialogue.say("e1 engine", "anna geheim")
    assert dialogue.lines._recorder is not None
    dialogue.admit()  # as if the name were good
    assert ("<", f"anna {MASK}") in dialogue.spoken()


def test_viewers_operators_and_the_refused_leave_nothing(tmp_path: Path) -> None:
    for lines in (("v1 viewer", "observe 3"), ("e1 engine", "admin", "geheim"), ("e1 engine", "anna", "falsch")):
        dialogue = Dialogue(tmp_path / lines[-1])
        dialogue.lines._context = replace(dialogue.lines._context, gallery=WsDesk().halls["9x9"])  # type: ignore[arg-type]
        dialogue.say(*lines)
        if lines[1] == "admin":
            dialogue.lines.operator(object())  # type: ignore[arg-type]
        elif lines[1] == "anna":
            dialogue.lines.refused("password", "This password is wrong.")
        dialogue.lines.lost(True)
        assert dialogue.kept() == []
        assert not dialogue.folder.exists()


def test_without_transcripts_nothing_is_noted() -> None:
    lines = EngineLines(_peer=FakeWire(), _context=context(SimulatedTime()))
    lines.opened(None)
    assert lines._recorder is None


# -- cgos.v2


def v2(folder: Path, subprotocol: str = "cgos.v2") -> tuple[WsDesk, WsClient, Callable[[], list[TranscriptLine]]]:
    transcripts = Transcripts(folder, 7.0, 65_536, offset_us=lambda: 0)
    desk = WsDesk()
    desk.port = replace(desk.port, sockets=replace(desk.sockets, transcripts=transcripts))  # type: ignore[type-var]

    def kept() -> list[TranscriptLine]:
        transcripts.write()
        return read(folder, 5, since_us=0, until_us=10**18, limit=10**6)

    return desk, desk.connect(subprotocol), kept


def enter(desk: WsDesk) -> None:
    for venue, session in desk.server.sessions.items():
        seat = desk.server.seats[venue] = Seat(desk.server.calls)
        session.accepted(seat, "anna-3")  # type: ignore[arg-type]


@pytest.mark.parametrize("subprotocol", ["cgos.v2", "cgos.v2.msgpack"])
def test_a_dialogue_of_messages(tmp_path: Path, subprotocol: str) -> None:
    desk, client, kept = v2(tmp_path, subprotocol)
    client.say(type="sign_in", bot="anna", secret="geheim", new_secret="anders", venues=["9x9"])
    assert kept() == []
    enter(desk)
    client.say(type="pause")
    (session,) = desk.server.sessions.values()
    session.table(3).setup(SETUP, Color.BLACK)
    client.say(type="move", game=3, ply=1, move="D4")
    client.say(type="move", game=3, ply=1, move="geheim")
    lines = kept()
    # A message in MessagePack that had the password in it cannot be read any more.
    messages = [(line.way, msgspec.json.decode(line.text)) for line in lines if line.text.startswith("{")]
    kinds = [(way, message["type"]) for way, message in messages]
    assert kinds[:5] == [
        (">", "welcome"), ("<", "sign_in"), (">", "signed_in"), ("<", "pause"), (">", "game"),
    ]  # fmt: skip
    sign_in = messages[1][1]
    assert (sign_in["bot"], sign_in["secret"], sign_in["new_secret"]) == ("anna", MASK, MASK)
    assert {line.name for line in lines} == {"anna-3"}
    moves = [line for line in lines if '"move"' in line.text and line.way == "<"]
    assert all(line.game == 3 for line in moves)
    assert "geheim" not in str(lines)


def test_who_only_watches_leaves_nothing(tmp_path: Path) -> None:
    _, client, kept = v2(tmp_path)
    client.say(type="watch_venue", venue="9x9")
    for _ in range(5):
        client.say(type="watch_venue", venue="9x9")
    assert kept() == []
    assert not list(tmp_path.iterdir())


@settings(max_examples=40, deadline=None)
@given(
    st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=6, max_size=20),
    st.lists(st.sampled_from(["before", "escaped", "move", "bare", "twice", "wrong"]), max_size=8),
)
def test_no_secret_passes_whatever_a_client_does_with_it(
    tmp_path_factory: pytest.TempPathFactory, secret: str, deeds: list[str]
) -> None:
    desk, client, kept = v2(tmp_path_factory.mktemp("said"))
    escaped = "".join(f"\\u{ord(char):04x}" for char in secret)
    word = msgspec.json.encode(secret).decode()
    if "before" in deeds:
        client.send(f'{{"type":"sign_in","secret":{word},"bot":7}}')
    sign_in: dict[str, Any] = {"type": "sign_in", "bot": "anna", "secret": secret, "venues": ["9x9"]}
    client.say(**sign_in)
    if not desk.server.sessions:
        return  # no password at all
    enter(desk)
    for deed in deeds:
        match deed:
            case "escaped":
                client.send(f'{{"type":"sign_in","secret":"{escaped}","bot":7}}')
            case "move":
                client.say(type="move", game=3, ply=1, move=secret)
            case "bare":
                client.send(word)
            case "twice":
                client.say(**sign_in)
            case "wrong":
                client.say(**(sign_in | {"secret": secret + "!", "new_secret": "x" + secret}))
    for line in kept():
        assert secret not in line.text.replace(MASK, "\0")
        assert escaped not in line.text
        assert word[1:-1] not in line.text.replace(MASK, "\0")
