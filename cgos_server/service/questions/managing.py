"""What becomes of a question that was asked: it is stopped, goes on, comes before others; what it waits for.

Must not know: how a question goes on.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

from msgspec import Meta

from cgos_protocol.api.people import Done
from cgos_protocol.api.questions import QuestionNow, QuestionNumber
from cgos_protocol.ids import QuestionId
from cgos_server.service.commands.context import CommandContext
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.fields import Field
from cgos_server.service.commands.surfaces import ApiRoute, CommandLine, PageForm
from cgos_server.service.events.fields import by_operator
from cgos_server.storage.reading.asking.questions import QuestionRow

PAGE: Final = "/questions/{question}"

QuestionWord = Annotated[
    QuestionId,
    Field(body=QuestionNumber, label="The question's number", caption="Number", metavar="QUESTION"),
]


def _is_open(question: QuestionRow | None) -> bool:
    return question is not None and question.state == "open"


def _is_stopped(question: QuestionRow | None) -> bool:
    return question is not None and question.state == "stopped"


class QuestionStop(Command[Done], frozen=True, kw_only=True, tag="question stop"):
    """Stop a question: no further game of it begins. It can go on later."""

    allowed = Right.OWN_QUESTION
    concerns = "question"
    live = True
    surfaces = (
        CommandLine("question stop", "Stop QUESTION: no further game of it begins.\n\nIt can be resumed."),
        ApiRoute("stop_question", "POST", "/questions/{question}/stop"),
        PageForm(PAGE, "Stop it", when=_is_open, warning="No further game of it begins. It can be resumed."),
    )

    question: QuestionWord

    async def perform(self, context: CommandContext) -> Done:
        by = "An operator" if by_operator(context) else "Its owner"
        context.server.questions.stop(self.question, f"{by} has stopped it.")
        await context.commit(self, f"question {self.question}", [])
        return Done(sentence=f"Question {self.question} is stopped. Its running games go on.")


class QuestionResume(Command[Done], frozen=True, kw_only=True, tag="question resume"):
    """Go on with a question that was stopped; its games of before count."""

    allowed = Right.OWN_QUESTION
    concerns = "question"
    live = True
    surfaces = (
        CommandLine("question resume", "Go on with QUESTION, which was stopped.\n\nIts games of before count."),
        ApiRoute("resume_question", "POST", "/questions/{question}/resume"),
        PageForm(PAGE, "Resume it", when=_is_stopped),
    )

    question: QuestionWord

    async def perform(self, context: CommandContext) -> Done:
        await context.server.questions.resume(self.question)
        await context.commit(self, f"question {self.question}", [])
        return Done(sentence=f"Question {self.question} goes on.")


class QuestionPrioritize(Command[Done], frozen=True, kw_only=True, tag="question prioritize"):
    """Have a question come before or behind its owner's other ones."""

    allowed = Right.OWN_QUESTION
    concerns = "question"
    live = True
    audited = ("priority",)
    surfaces = (
        CommandLine(
            "question prioritize",
            "Have QUESTION come before or behind its owner's other ones.\n\nThose with a higher number come first.",
        ),
        ApiRoute(
            "prioritize_question",
            "PUT",
            "/questions/{question}/priority",
            body="PrioritizeQuestion",
            body_says="Of an owner's questions, those with a higher number come first.",
        ),
        PageForm(PAGE, "Change the priority", when=_is_open),
    )

    question: QuestionWord
    priority: Annotated[
        int,
        Field(
            body=Annotated[int, Meta(ge=-100, le=100)],
            label="The priority",
            caption="Priority",
            hint="-100 to 100.",
            metavar="PRIORITY",
        ),
    ]

    async def perform(self, context: CommandContext) -> Done:
        context.server.questions.prioritize(self.question, max(-100, min(100, self.priority)))
        await context.commit(self, f"question {self.question}", [], priority=self.priority)
        return Done(sentence=f"Question {self.question} has the priority {self.priority}.")


class QuestionLook(Command[list[QuestionNow]], frozen=True, kw_only=True, tag="question look"):
    """What the questions that have not ended do just now; asked by the pages for everybody."""

    allowed = Right.NOBODY
    audited = None
    live = True

    async def perform(self, context: CommandContext) -> list[QuestionNow]:
        return context.server.questions.seen()


COMMANDS: Final[tuple[type[Command[Any]], ...]] = (QuestionStop, QuestionResume, QuestionPrioritize, QuestionLook)
