"""An operator's connection: one command at a time, every one answered, a bounded queue."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st
from support.live.simulated import SimulatedTime
from support.net.wires import FakeWire, context

from cgos_protocol.lines.framing import Line
from cgos_protocol.session import Credentials, PlayerSession
from cgos_server.net.lines import EngineLines
from cgos_server.net.operator_lines import QUEUE
from cgos_server.observability.metrics import CloseReason


class FakeDesk:
    """Takes commands; answers when the test says so, or at once."""

    def __init__(self, at_once: bool = False) -> None:
        self.at_once = at_once
        self.open: list[tuple[str, Callable[[Sequence[str]], None]]] = []
        self.done: list[str] = []

    def command(self, line: str, answer: Callable[[Sequence[str]], None]) -> None:
        self.done.append(line)
        if self.at_once:
            answer([f"did {line}"])
        else:
            self.open.append((line, answer))

    def finish(self, *lines: str) -> None:
        _, answer = self.open.pop(0)
        answer(lines)


class Reception:
    def __init__(self, desk: FakeDesk) -> None:
        self.desk = desk

    def sign_in(self, session: PlayerSession, credentials: Credentials) -> None:
        session.operator(self.desk)


class Talk:
    """An operator on a fake wire, signed in."""

    def __init__(self, at_once: bool = False, **limits: int) -> None:
        self.time = SimulatedTime()
        self.desk = FakeDesk(at_once)
        self.wire = FakeWire()
        self.lines = EngineLines(_peer=self.wire, _context=context(self.time, None, Reception(self.desk), **limits))
        self.lines.opened(None)
        self.say("e1 script", "admin", "secret")
        assert self.wire.lines() == ["protocol genmove_analyze", "username", "password", "ok"]

    def say(self, *lines: str) -> None:
        for line in lines:
            self.lines.receive(Line(line.encode(), self.time.received()))


def test_commands_are_done_one_after_the_other() -> None:
    talk = Talk()
    talk.say("who", "games", "", "  ")
    assert talk.desk.done == ["who"]
    assert talk.wire.lines() == []
    talk.desk.finish("Alpha waiting 0 1800.0 200.0")
    assert talk.desk.done == ["who", "games"]
    assert talk.wire.lines() == ["Alpha waiting 0 1800.0 200.0", "end: who"]
    talk.desk.finish()
    assert talk.wire.lines() == ["end: games"]
    talk.say("help")
    talk.desk.finish("help who")
    assert talk.wire.lines() == ["help who", "end: help"]


def test_an_answer_counts_once() -> None:
    talk = Talk()
    talk.say("who", "who")
    _, answer = talk.desk.open[0]
    answer(["one"])
    answer(["two"])
    assert talk.wire.lines() == ["one", "end: who"]
    assert len(talk.desk.open) == 2


def test_quit_comes_after_what_was_asked_before() -> None:
    talk = Talk()
    talk.say("abort 5", "QUIT", "who")
    assert talk.wire.closed is None
    talk.desk.finish("aborted 5 Beta Alpha")
    assert talk.wire.lines() == ["aborted 5 Beta Alpha", "end: abort", "Quit", "end: QUIT"]
    assert talk.wire.closed is CloseReason.QUIT
    talk.say("who")
    assert talk.desk.done == ["abort 5"]


def test_a_queue_of_commands_has_an_end() -> None:
    talk = Talk()
    talk.say(*["who"] * (QUEUE + 1))
    assert talk.wire.closed is None
    talk.say("who")
    assert talk.wire.closed is CloseReason.VIOLATION
    assert talk.wire.lines() == [f"Error: More than {QUEUE} commands wait for an answer."]
    talk.desk.finish("late")
    assert talk.desk.done == ["who"]


def test_a_hundred_commands_at_once_are_all_answered() -> None:
    talk = Talk(at_once=True)
    talk.say(*[f"kick bot{number} late" for number in range(500)])
    assert len(talk.wire.lines()) == 1000


def test_nothing_is_begun_for_a_connection_that_is_gone() -> None:
    talk = Talk()
    talk.say("who", "abort 5")
    talk.wire.alive = False
    talk.lines.lost(True)
    talk.desk.finish("nobody hears it")
    assert talk.desk.done == ["who"]


def test_signing_in_is_over_for_an_operator() -> None:
    talk = Talk(login_timeout_us=1_000_000)
    talk.time.advance(100_000_000)
    assert talk.wire.closed is None


def test_a_long_answer_to_a_slow_reader_is_no_flood() -> None:
    talk = Talk(outbox=65_536)
    talk.wire.capacity = 30_000
    talk.say("games")
    talk.desk.finish(*["match " + "x" * 80] * 3000)
    assert sum(map(len, talk.wire.writes)) < 65_536
    talk.say("who")
    talk.desk.finish("one")
    for _ in range(20):
        talk.wire.capacity = 30_000
        talk.time.advance(100_000)
    assert talk.wire.lines()[-3:] == ["end: games", "one", "end: who"]


@given(lines=st.lists(st.binary(max_size=40), max_size=30))
def test_any_lines_are_answered_each_with_its_mark(lines: list[bytes]) -> None:
    talk = Talk(at_once=True)
    for line in lines:
        if talk.wire.closed is None:
            talk.lines.receive(Line(line.strip(), 0))
    replies = talk.wire.lines()
    assert all(line.strip() for line in replies)
    answered = [line for line in replies if line.startswith("end: ")]
    requests = [line for line in lines if line.strip()]
    assert len(answered) == len(requests) or any(line.strip().lower() == b"quit" for line in lines)
