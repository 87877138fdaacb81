"""The page of one question: what is asked, where it stands, what its games say, and what can be done with it.

What decides stands apart from what only stands beside it. Must not know: SQL, how an answer is computed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, NamedTuple

from markupsafe import Markup
from starlette.requests import Request

from cgos_protocol.api.questions import QuestionAnswer, QuestionDetail
from cgos_protocol.errors import Code
from cgos_protocol.ids import QuestionId
from cgos_server.core.questions.asked import State
from cgos_server.core.questions.wording import terms
from cgos_server.presentation import words
from cgos_server.presentation.pictures.question_pictures import counts_svg, elo_svg, llr_svg
from cgos_server.presentation.questions import answers
from cgos_server.presentation.questions.paste import with_interval
from cgos_server.presentation.questions.record import QuestionRecord
from cgos_server.web.events.public_page import PublicPage
from cgos_server.web.events.views import Portion, portion
from cgos_server.web.pages.requests import number, refused_as_404
from cgos_server.web.people.sessions import Visit
from cgos_server.web.questions.costs import time_of
from cgos_server.web.questions.listing import PATH
from cgos_server.web.site import Site, question_path

NO_QUESTION: Final = "There is no question of this number on the server."

GAMES: Final = 60
"""Games on one page."""

LOST: Final = {"time": "on time", "illegal move": "by an illegal move", "forfeit": "by forfeit"}
"""How games that were not decided on the board were lost."""


async def record_of(site: Site, question: int) -> QuestionRecord:
    """The question of that number; 404 where there is none."""
    with refused_as_404(NO_QUESTION, Code.NO_QUESTION):
        return await site.questions.record(QuestionId(question))


class QuestionPage(PublicPage):
    """One question."""

    address = "/questions/{question}"
    menu = PATH
    template = "questions/question.html"

    async def shown(self, request: Request) -> dict[str, Any]:
        record = await record_of(self.site, request.path_params["question"])
        is_open = record.state is State.OPEN
        path = question_path(record.row.id)
        base = self.site.address(request)
        detail = await self.site.questions_now.added(await self.site.questions.detail(record.row.id, base))
        listed = portion(record.games[::-1], number(request.query_params.get("page")) or 1, GAMES)
        games = answers.games(replace(record, games=listed.rows)).items
        return {
            "refresh": is_open,
            "row": record.row,
            "question": detail,
            "terms": terms(record.asked),
            "is_open": is_open,
            "left": _left(detail.answer),
            "elo": with_interval(detail.answer.elo, detail.answer.lower, detail.answer.upper),
            "nelo": _normalized(detail.answer),
            "pictures": pictures(detail),
            "faults": faults(detail),
            "games": Portion(games, listed.page, listed.pages, listed.all),
            "path": path,
            "base": base,
            "may": False,
        }

    async def own(self, _request: Request, here: Visit, shown: dict[str, Any]) -> dict[str, Any]:
        row = shown["row"]
        return {
            "may": here.person.admin or row.owner_id == here.person.owner_id,
            "filled": {"priority": str(row.priority)},
        }


class Pictures(NamedTuple):
    """What can be drawn of a question; None where there is nothing to draw."""

    llr: Markup | None
    elo: Markup | None
    counts: Markup | None


def pictures(detail: QuestionDetail) -> Pictures:
    """Of what its games say."""
    answer, llr = detail.answer, None
    if detail.path and answer.llr_lower is not None and answer.llr_upper is not None:
        path = [(point.pairs, point.llr) for point in detail.path]
        llr = Markup(llr_svg(path, answer.llr_lower, answer.llr_upper))
    if not any(answer.counts):
        return Pictures(llr, None, None)
    origin = None if detail.kind == "gauntlet" else 0.0
    elo = None if answer.elo is None else Markup(elo_svg(answer.elo, answer.lower, answer.upper, origin=origin))
    return Pictures(llr, elo, Markup(counts_svg(answer.counts)))


def faults(detail: QuestionDetail) -> list[str]:
    """Games that were not decided on the board, as sentences: ``Bolt-2 lost 3 games on time.``"""
    others = detail.against[0] if len(detail.against) == 1 else "Its opponents"
    return [
        f"{who} lost {words.count(lost, 'game')} {LOST.get(how, how)}."
        for how, (own, opposite) in detail.answer.faults.items()
        for who, lost in ((detail.version, own), (others, opposite))
        if lost
    ]


def _left(answer: QuestionAnswer) -> str:
    """What is expected to be left: ``about 120 games, 3 h``; empty where nobody knows."""
    if answer.games_left is None:
        return ""
    time = "" if answer.hours_left is None else f", {time_of(answer.hours_left)}"
    return f"about {words.count(max(1, round(answer.games_left)), 'game')}{time}"


def _normalized(answer: QuestionAnswer) -> str:
    known = (answer.normalized, answer.normalized_lower, answer.normalized_upper)
    return "" if known == (None, None, None) else with_interval(*known)
