"""The small interface by which use cases drive the questions of the live server.

Must not know: how questions go on, sockets.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple, Protocol

from cgos_protocol.api.questions import QuestionNow
from cgos_protocol.errors import Code, Unavailable
from cgos_protocol.ids import BotId, QuestionId, VersionId
from cgos_server.core.questions.asked import Asked
from cgos_server.core.questions.policy import Policy


class Asking(NamedTuple):
    """Something to be asked. `owner_id`, `owner`: the account that asks; None for an operator."""

    asked: Asked
    venue: str
    owner_id: int | None
    owner: str | None
    priority: int


class QuestionDesk(Protocol):
    """What use cases may ask of the live questions."""

    @property
    def policy(self) -> Policy:
        """What is allowed now."""

    def ask(self, asking: Asking) -> QuestionId:
        """A new question; its number. Who may ask it was looked at before."""

    def stop(self, question: QuestionId, why: str) -> None:
        """End it as things are; `why` is a sentence without names. Raises Refused (``no-question``)."""

    async def resume(self, question: QuestionId) -> None:
        """Go on with one that was stopped. Raises Refused (``no-question``, ``question-open``, ``question-ended``)."""

    def prioritize(self, question: QuestionId, priority: int) -> None:
        """Its owner's questions with a higher number come first. Raises Refused (``no-question``)."""

    def take_out(self, question: QuestionId, pairs: Collection[int]) -> None:
        """Count without these pairs, and with all others, if it has not ended."""

    def leave(self, bots: Collection[BotId]) -> None:
        """End all questions about these bots."""

    def seen(self) -> list[QuestionNow]:
        """Those that have not ended, as they are just now."""

    def open_of(self, owner_id: int | None) -> int:
        """How many questions of an account have not ended."""

    def accepted_by(self, venue: str, version: VersionId) -> Collection[str] | None:
        """In whose questions a version plays, as it says itself and its owner allows; None where it is not here."""


class _NoQuestions:
    """Of a server that has not read its questions yet."""

    policy: Final = Policy()

    def ask(self, asking: Asking) -> QuestionId:  # noqa: ARG002
        raise self._not_yet()

    def stop(self, question: QuestionId, why: str) -> None:  # noqa: ARG002
        raise self._not_yet()

    async def resume(self, question: QuestionId) -> None:  # noqa: ARG002
        raise self._not_yet()

    def prioritize(self, question: QuestionId, priority: int) -> None:  # noqa: ARG002
        raise self._not_yet()

    def take_out(self, question: QuestionId, pairs: Collection[int]) -> None: ...

    def leave(self, bots: Collection[BotId]) -> None: ...

    def seen(self) -> list[QuestionNow]:
        return []

    def open_of(self, owner_id: int | None) -> int:  # noqa: ARG002
        return 0

    def accepted_by(self, venue: str, version: VersionId) -> Collection[str] | None:  # noqa: ARG002
        return None

    def _not_yet(self) -> Unavailable:
        return Unavailable(Code.STARTING, "The server is starting. Ask again in a moment.", 1)


NO_QUESTIONS: Final[QuestionDesk] = _NoQuestions()
