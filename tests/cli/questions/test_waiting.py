"""Waiting for a question: exit codes, progress, and a server that is away for a while. No time passes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from support.cli.question_answers import OPEN

from cgos_protocol.api.questions import AskedQuestion, QuestionDetail
from cgos_protocol.errors import Code, NotFound, Refused, Unavailable
from cgos_protocol.ids import QuestionId
from cgos_server.cli.questions import waiting
from cgos_server.cli.questions.waiting import GONE_S, progress, wait


def detail(state: str = "open") -> QuestionDetail:
    return msgspec.convert(OPEN | {"state": state}, QuestionDetail)


class Source:
    """Answers with these, one after the other; `waited` says how long was waited in all."""

    every_s = 5.0

    def __init__(self, *answers: QuestionDetail | Refused) -> None:
        self.answers = iter(answers)
        self.waited = 0.0
        self.told: list[str] = []

    def detail(self, question: QuestionId) -> QuestionDetail:
        assert question == 7
        answer = next(self.answers)
        if isinstance(answer, Refused):
            raise answer
        return answer

    def games(self, question: QuestionId) -> Any:
        raise NotImplementedError

    def page(self, wanted: Any, limit: int, before: int | None) -> Any:
        raise NotImplementedError

    def pause(self, seconds: float) -> None:
        self.waited += seconds

    def wait(self) -> QuestionDetail:
        return wait(self, QuestionId(7), self.told.append, pause=self.pause, clock=lambda: self.waited)


def test_it_looks_now_and_then_until_the_end() -> None:
    source = Source(detail(), detail(), detail("accepted"))
    assert source.wait().state == "accepted"
    assert source.waited == 2 * source.every_s
    assert source.told == [progress(detail())] * 2
    assert source.told[0] == "Question 7: LLR 1.20 (-2.94, 2.94), 40 games, about 200 more"
    waits = replace(detail(), waits="Its bots play other games, which end first.")
    assert progress(waits) == f"{source.told[0]}. Its bots play other games, which end first."


def test_a_server_may_be_away_for_a_while() -> None:
    away = Unavailable(Code.NO_SERVER, "It does not answer.")
    often = Refused.of(Code.TOO_MANY, "Too many requests.", 30)
    source = Source(away, often, detail(), away, detail("rejected"))
    assert source.wait().state == "rejected"
    assert source.waited == 3 * source.every_s + 30
    assert source.told[:2] == ["It does not answer.", "Too many requests."]


def test_it_is_not_waited_for_ever() -> None:
    def away() -> Iterator[Refused]:
        while True:
            yield Unavailable(Code.NO_SERVER, "It does not answer.")

    source = Source()
    source.answers = away()
    with pytest.raises(Unavailable):
        source.wait()
    assert GONE_S < source.waited <= GONE_S + 2 * source.every_s


def test_other_refusals_end_it_at_once() -> None:
    with pytest.raises(NotFound):
        Source(NotFound(Code.NO_QUESTION, "There is no question 7.")).wait()


@pytest.mark.parametrize(("number", "code", "first"), [(2, 0, "Gauntlet"), (3, 3, "Challenge"), (4, 1, "Test")])
@pytest.mark.usefixtures("asked")
def test_the_exit_code_says_how_it_ended(run: Any, number: int, code: int, first: str) -> None:
    done = run("question", "wait", str(number), fails=code)
    assert len(done.stdout.splitlines()) == 6
    assert done.stdout.startswith(first)
    assert done.stderr.startswith(("Answered: ", "Stopped: ", "Rejected: "))


@pytest.mark.usefixtures("asked")
def test_what_is_asked_here_is_waited_for_here(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def performed(_setup: Any, command: Any) -> AskedQuestion:
        assert (command.version, command.venue, command.upper) == ("Alpha", "9x9", 50.0)
        return AskedQuestion(question=QuestionId(4), venue="9x9", kind="test", sentence="Question 4: ...", costs=[])

    monkeypatch.setattr("cgos_server.cli.commands.declared.perform", performed)
    words = ("ask", "test", "Alpha", "Beta", "--venue", "9x9")
    assert run(*words).stdout == "4\n"
    done = run(*words, "--wait", fails=1)
    assert done.stdout.startswith("Test   | Alpha against Beta: rejected\n")
    assert done.stderr.startswith("Question 4: ...\n")


@pytest.mark.usefixtures("asked")
def test_nobody_takes_a_failure_for_a_rejection(run: Any) -> None:
    assert "There is no question 77." in run("question", "wait", "77", fails=2).stderr


@pytest.mark.usefixtures("asked")
def test_whoever_stops_waiting_is_told_how_to_come_back(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(waiting, "wait", interrupted)
    stderr = run("question", "wait", "1", fails=130).stderr
    assert stderr.startswith("Question 1 goes on.")
    assert "cgos-server question wait 1\n" in stderr
