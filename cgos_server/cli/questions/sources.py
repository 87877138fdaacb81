"""Where questions are read: in the database here, or over the API of a server elsewhere.

Must not know: how an answer is shown, how long anybody waits for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, Protocol

from cgos_protocol.api import questions as api
from cgos_protocol.errors import Refused
from cgos_protocol.ids import QuestionId
from cgos_server.cli.commands.asking import ask_server
from cgos_server.cli.common import Setup, caller
from cgos_server.cli.questions.elsewhere import Elsewhere
from cgos_server.cli.reading import page_settings
from cgos_server.presentation.questions import answers
from cgos_server.presentation.questions.reading import Questions, Wanted
from cgos_server.presentation.strengths import StrengthsOf
from cgos_server.service.questions.managing import QuestionLook
from cgos_server.storage import schema
from cgos_server.storage.reading.history import History

HERE_S = 2.0
"""Whoever waits looks into the database so often."""

ELSEWHERE_S = 10.0
"""And asks a server elsewhere so often."""


class Source(Protocol):
    """Answers about questions. All of it raises CgosError."""

    every_s: float

    def detail(self, question: QuestionId) -> api.QuestionDetail: ...

    def games(self, question: QuestionId) -> api.QuestionGames: ...

    def page(self, wanted: Wanted, limit: int, before: int | None) -> api.QuestionPage: ...


class Place(NamedTuple):
    """Where a command asks: `elsewhere`, or here where that is None."""

    setup: Setup
    elsewhere: Elsewhere | None


@contextmanager
def opened(place: Place) -> Iterator[Source]:
    """What answers there."""
    if place.elsewhere is not None:
        yield _There(place.elsewhere)
        return
    schema.check(place.setup.database)
    with asyncio.Runner() as runner:
        history = History(place.setup.database)
        try:
            yield _Here(place.setup, history, runner)
        finally:
            runner.run(history.close())


class _Here:
    every_s = HERE_S

    def __init__(self, setup: Setup, history: History, runner: asyncio.Runner) -> None:
        self._setup = setup
        settings = page_settings(setup)
        self._questions = Questions(history, StrengthsOf(history, settings), settings.questions_share)
        self._address = public_address(setup)
        self._run = runner.run

    def detail(self, question: QuestionId) -> api.QuestionDetail:
        detail = self._run(self._questions.detail(question, self._address))
        if detail.state != "open":
            return detail
        try:
            seen = ask_server(self._setup, QuestionLook(actor=caller()))
        except Refused:  # no server runs here, or it is busy: what the database knows is enough
            return detail
        return answers.with_waits(detail, seen)

    def games(self, question: QuestionId) -> api.QuestionGames:
        return answers.games(self._run(self._questions.record(question)))

    def page(self, wanted: Wanted, limit: int, before: int | None) -> api.QuestionPage:
        return self._run(self._questions.page(wanted, limit, before))


class _There:
    every_s = ELSEWHERE_S

    def __init__(self, elsewhere: Elsewhere) -> None:
        self._elsewhere = elsewhere

    def detail(self, question: QuestionId) -> api.QuestionDetail:
        return self._elsewhere.get(f"/questions/{question}", api.QuestionDetail)

    def games(self, question: QuestionId) -> api.QuestionGames:
        return self._elsewhere.get(f"/questions/{question}/games", api.QuestionGames)

    def page(self, wanted: Wanted, limit: int, before: int | None) -> api.QuestionPage:
        query = {**wanted._asdict(), "limit": limit, "before": before}
        return self._elsewhere.get("/questions", api.QuestionPage, query)


def public_address(setup: Setup) -> str:
    """The address of the pages, without a slash at its end: the one that is configured for people, else where they are
    at this machine."""
    web = setup.config.web
    return web.public_url.rstrip("/") or f"{'https' if web.tls else 'http'}://localhost:{web.port}"
