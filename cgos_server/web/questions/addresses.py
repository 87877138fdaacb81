"""All addresses of questions.

Must not know: what stands on a page.
"""

from __future__ import annotations

from functools import partial

from starlette.routing import BaseRoute, Route

from cgos_server.web.questions import listing
from cgos_server.web.questions.badge import badge
from cgos_server.web.questions.listing import QuestionsPage
from cgos_server.web.questions.question_page import QuestionPage
from cgos_server.web.site import Site


def routes(site: Site) -> list[BaseRoute]:
    """The addresses; of a question by its number."""
    plain = [Route(path, partial(answer, site)) for path, answer in listing.PAGES.items()]
    return [
        *plain,
        Route("/questions/{question:int}/badge.svg", partial(badge, site)),
        Route(QuestionsPage.address, QuestionsPage(site).answer, methods=["GET", "POST"]),
        Route("/questions/{question:int}", QuestionPage(site).answer, methods=["GET", "POST"]),
    ]
