"""Runs the dialogues in tests/transcripts; README.txt there explains the notation.

What the server says of its own accord is read from the transcript by a parser of our own, said through the player's
method of that name, and compared byte for byte.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path

import pytest
from support.protocol.transcript_sides import OperatorSide, ViewerSide

from cgos_protocol.games.base import Color
from cgos_protocol.lines.framing import LineFramer
from cgos_protocol.lines.player import CgosPlayer, Event, Fatal, Ignored, Move, Reply, Watch
from cgos_protocol.session import Credentials, GameSetup

_FILES = sorted((Path(__file__).parent.parent.parent / "transcripts").glob("[!R]*.txt"))
_SEAT = re.compile(r"(\S+)\((\S+)\)")
_COLORS = {"b": Color.BLACK, "w": Color.WHITE}


def _bytes(text: str) -> bytes:
    return text.encode("latin-1").decode("unicode_escape").encode("latin-1")


def _describe(event: Event) -> str:
    match event:
        case Credentials(name, secret, new, client, analysis):
            offered = "yes" if analysis else "no"
            return f"SignIn name={name} secret={secret} new={new or '-'} analysis={offered} client={client}"
        case Move(text, analysis):
            return f"Move {text}" + (f" {analysis}" if analysis is not None else "")
        case Ignored(why):
            return f"Ignored {why}"
        case Fatal(_, code):
            return f"Fatal {code}"
    return type(event).__name__


class _Connection:
    """One connection of a transcript."""

    def __init__(self) -> None:
        self.player = CgosPlayer()
        self.framer = LineFramer()
        self.answers = b""
        self.events: deque[str] = deque()
        self.time = 0
        self.side: ViewerSide | OperatorSide | None = None

    def hear(self, data: bytes, silence: bool = False) -> None:
        assert not self.answers, f"the server also said {self.answers!r}"
        assert not self.events, f"not in the transcript: {list(self.events)}"
        self.time += 1
        lines = self.framer.feed(data, self.time)
        if silence:
            assert self.framer.silence_after() is not None
            line = self.framer.silence()
            assert line is not None
            lines.append(line)
        for line in lines:
            assert line.received == self.time
            if isinstance(self.side, OperatorSide):
                self.events.append(self.side.hear(line.text.decode("latin-1")))
                continue
            if self.side is not None:
                self.events.append(type(self.side.viewer.receive(line.text)).__name__)
                continue
            event = self.player.receive(line.text)
            if isinstance(event, Watch):
                self.side = ViewerSide()
            if isinstance(event, Reply | Fatal):
                self.answers += event.data
            if not isinstance(event, Reply):
                self.events.append(_describe(event))

    def expect(self, lines: list[str]) -> None:
        """The server's next lines, as one write each time."""
        data = b"".join(_bytes(line) + b"\n" for line in lines)
        if self.answers:
            assert self.answers.startswith(data)
            self.answers = self.answers[len(data) :]
        elif self.side is not None and lines != ["ok"]:
            assert self.side.say([_bytes(line).decode() for line in lines]) == data
        elif lines == ["ok"]:
            assert isinstance(self.side, OperatorSide)
        else:
            assert self.say(lines) == data

    def say(self, lines: list[str]) -> bytes:
        player, text = self.player, _bytes(lines[0]).decode()
        command, _, rest = text.partition(" ")
        words = rest.split()
        match command:
            case "protocol":
                return player.greeting()
            case "Error:":
                return player.refused(rest)
            case "info":
                return player.info(rest)
            case "setup":
                white, black = _SEAT.fullmatch(words[4]), _SEAT.fullmatch(words[5])
                assert white is not None
                assert black is not None
                return player.setup(
                    GameSetup(
                        game=int(words[0]),
                        size=int(words[1]),
                        komi2=round(float(words[2]) * 2),
                        level_ms=int(words[3]),
                        black=black[1],
                        black_label=black[2],
                        white=white[1],
                        white_label=white[2],
                        moves=tuple((words[at], int(words[at + 1])) for at in range(6, len(words), 2)),
                    )
                )
            case "play":
                then = int(lines[1].split()[2]) if len(lines) > 1 else None
                return player.played(_COLORS[words[0]], words[1], int(words[2]), then)
            case "genmove":
                return player.genmove(_COLORS[words[0]], int(words[1]))
            case "gameover":
                return player.game_over(words[0], words[1], " ".join(words[2:]))
        raise AssertionError(f"the server has no word for {text!r}")


@pytest.mark.parametrize("file", _FILES, ids=lambda file: file.stem)
def test_transcript(file: Path, heard: Callable[[bytes], list[str]]) -> None:
    lines = file.read_text(encoding="ascii").splitlines()
    connection = _Connection()
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        mark, text = line[:2], line[3:]
        try:
            match mark:
                case "" | "# " | "#":
                    continue
                case "--":
                    assert not connection.answers
                    assert not connection.events
                    connection = _Connection()
                case "C:":
                    connection.hear(_bytes(text) + b"\n")
                case "C>":
                    connection.hear(_bytes(text))
                case "C~":
                    connection.hear(_bytes(text), silence=True)
                case "S:":
                    lines_sent = [text]
                    if connection.side is not None:
                        ahead = list(takewhile(lambda line: line[:2] == "S:", lines[at:]))
                        more = connection.side.group([text, *(line[3:] for line in ahead)]) - 1
                        lines_sent += [line[3:] for line in ahead[:more]]
                        at += more
                    elif text.startswith("play") and at < len(lines) and lines[at].startswith("S: genmove"):
                        lines_sent.append(lines[at][3:])
                        at += 1
                    connection.expect(lines_sent)
                    if connection.side is not None:
                        continue  # it has hearers of its own
                    heard(b"".join(_bytes(sent_line) + b"\n" for sent_line in lines_sent))
                case "! " if line == "! operator":
                    assert connection.player.accepted() == b""
                    connection.side = OperatorSide()
                case "! ":
                    assert line == "! accepted"
                    assert connection.player.accepted() == b""
                case "= ":
                    assert connection.events.popleft() == line[2:]
                case _:
                    raise AssertionError("unknown mark")
        except AssertionError as error:
            raise AssertionError(f"{file.name}, line {at}: {line}\n{error}") from error
    assert not connection.answers
    assert not connection.events


def test_there_are_transcripts() -> None:
    assert len(_FILES) >= 10
