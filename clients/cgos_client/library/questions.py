"""What a bot asks of its own strength, and what it hears of it, over any number of connections, without any I/O.

Each wish has a reference of its own, which the answer says again. A wish that was not answered before its connection
ended has failed: whether the server took it is heard after the next sign-in. Must not know: sockets, time, games.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from cgos_client.errors import QuestionRefused
from cgos_protocol.errors import Code
from cgos_protocol.ids import QuestionId
from cgos_protocol.v2 import messages as ws

QUEUE: Final = 1_000
"""News that may wait to be looked at; of more than these the oldest are dropped."""

Answer = ws.Asked | ws.QuestionTold | QuestionRefused
"""Of one wish."""


@dataclass(slots=True, kw_only=True)
class Questions:
    """The questions of one bot.

    :ivar news: what was heard and not looked at yet
    :ivar answers: by reference; None while there is none
    """

    news: deque[ws.QuestionTold] = field(default_factory=lambda: deque(maxlen=QUEUE))
    answers: dict[str, Answer | None] = field(default_factory=dict)
    _stopping: dict[int, set[str]] = field(default_factory=dict)
    _count: int = 0

    def ask(self, wish: ws.Ask) -> ws.Ask:
        """The message that asks it."""
        return replace(wish, ref=self._new_ref())

    def stop(self, question: int) -> ws.StopQuestion:
        """The message that has it stopped."""
        ref = self._new_ref()
        self._stopping.setdefault(question, set()).add(ref)
        return ws.StopQuestion(question=QuestionId(question), ref=ref)

    def _new_ref(self) -> str:
        self._count += 1
        ref = str(self._count)
        self.answers[ref] = None
        return ref

    def forget(self, ref: str) -> None:
        """Nobody waits for this answer any more."""
        self.answers.pop(ref, None)
        for refs in self._stopping.values():
            refs.discard(ref)

    def receive(self, message: ws.ServerMessage) -> None:
        """What follows from a message. Those that are of no question have no effect here."""
        match message:
            case ws.QuestionTold():
                self.news.append(message)
                if message.state != "open":
                    for ref in self._stopping.pop(message.question, ()):
                        self._answered(ref, message)
            case ws.Asked():
                self._answered(message.ref, message)
            case ws.Error(ref=ref) if ref:
                self._answered(ref, QuestionRefused(message.code, message.text, retry_after=message.retry_after_s))
            case ws.Error(code=Code.INVALID, text=text) if "'ask'" in text or "'stop_question'" in text:
                self._fail(QuestionRefused(Code.INVALID, "this server knows no questions"))

    def lost(self) -> None:
        """The connection is gone."""
        self._fail(QuestionRefused("connection-lost", "the connection ended before the server answered"))

    def _fail(self, failure: QuestionRefused) -> None:
        for ref, answer in self.answers.items():
            if answer is None:
                self.answers[ref] = failure
        self._stopping.clear()

    def _answered(self, ref: str, answer: Answer) -> None:
        if self.answers.get(ref, answer) is None:
            self.answers[ref] = answer
