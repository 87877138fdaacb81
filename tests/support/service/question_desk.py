"""Questions that are noted, as use cases see those of a live server.

Must not know: how questions go on.
"""

from __future__ import annotations

from collections.abc import Collection

from cgos_protocol.api.questions import QuestionNow
from cgos_protocol.errors import Code, NotFound
from cgos_protocol.ids import BotId, QuestionId, VersionId
from cgos_server.core.questions.asked import encode_asked
from cgos_server.core.questions.policy import Policy
from cgos_server.service.questions.desk import Asking
from cgos_server.storage.reading.asking.questions import QuestionRow
from cgos_server.storage.writing.asking import QuestionAdded


class QuestionNotes:
    """The questions of a server with the venue 9x9.

    :ivar asked: by number
    :ivar here: version -> in whose questions it plays, where it is signed in
    :ivar calls: what was done with questions
    """

    def __init__(self) -> None:
        self.policy = Policy()
        self.asked: dict[QuestionId, Asking] = {}
        self.here: dict[VersionId, frozenset[str]] = {}
        self.calls: list[tuple[object, ...]] = []

    def ask(self, asking: Asking) -> QuestionId:
        if asking.venue != "9x9":
            raise NotFound(Code.UNKNOWN_VENUE, f"There is no venue {asking.venue}.")
        number = QuestionId(len(self.asked) + 1)
        self.asked[number] = asking
        return number

    def stop(self, question: QuestionId, why: str) -> None:
        self.calls.append(("stop", question, why))

    async def resume(self, question: QuestionId) -> None:
        self.calls.append(("resume", question))

    def prioritize(self, question: QuestionId, priority: int) -> None:
        self.calls.append(("prioritize", question, priority))

    def take_out(self, question: QuestionId, pairs: Collection[int]) -> None:
        self.calls.append(("take out", question, set(pairs)))

    def leave(self, bots: Collection[BotId]) -> None:
        self.calls.append(("leave", tuple(bots)))

    def seen(self) -> list[QuestionNow]:
        return [QuestionNow(question=question, waits="", running=0) for question in self.asked]

    def open_of(self, owner_id: int | None) -> int:
        return sum(asking.owner_id == owner_id for asking in self.asked.values())

    def accepted_by(self, venue: str, version: VersionId) -> Collection[str] | None:
        assert venue == "9x9"
        return self.here.get(version)

    def added(self, question: QuestionId) -> QuestionAdded:
        """The record of it."""
        row = self.row(question)
        return QuestionAdded(**{name: getattr(row, name) for name in QuestionAdded._fields})

    def row(self, question: QuestionId) -> QuestionRow:
        """As it would be stored."""
        asking = self.asked[question]
        return QuestionRow(
            id=question,
            venue_id=1,  # type: ignore[arg-type]
            venue=asking.venue,
            owner_id=asking.owner_id,
            owner=asking.owner,
            kind=asking.asked.kind,
            asked=encode_asked(asking.asked),
            asked_at=0,
            priority=asking.priority,
            state="open",
            ended_at=None,
            why="",
            answer="",
        )
