"""A question as a badge, for a pull request or a README. Must not know: SQL, how a badge is drawn."""

from __future__ import annotations

from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from cgos_server.core.questions.asked import Asked, Gauntlet, State, Test
from cgos_server.presentation.questions.paste import with_interval
from cgos_server.presentation.questions.record import QuestionRecord
from cgos_server.web.drawing.badge_svg import STYLES, badge_svg
from cgos_server.web.pages.embeds import badge_answer
from cgos_server.web.questions.question_page import record_of
from cgos_server.web.site import Site

_COLORS: Final = {State.ACCEPTED: "known", State.ANSWERED: "known", State.REJECTED: "rejected"}
"""Of the states whose color is not that of no answer."""


async def badge(site: Site, request: Request) -> Response:
    """The picture. Query: `style`, `label`."""
    style = request.query_params.get("style", "flat")
    if style not in STYLES:
        raise HTTPException(400, f"There is no such style. Choose one of: {', '.join(STYLES)}.")
    try:
        record = await record_of(site, request.path_params["question"])
    except HTTPException:
        return badge_answer(badge_svg("question", "unknown", "none", style), 404)
    left = request.query_params.get("label") or label(record)
    return badge_answer(badge_svg(left, said(record), _COLORS.get(record.state, "none"), style), 200)


def label(record: QuestionRecord) -> str:
    """What it is about: ``Bolt-2 against Bolt-1``."""
    opponents = record.opponents
    whom = opponents[0] if len(opponents) == 1 else f"{len(opponents)} others" if opponents else "whoever accepts"
    return f"{record.version} {'among' if len(opponents) > 1 else 'against'} {whom}"


def said(record: QuestionRecord) -> str:
    """How it stands: ``accepted, 14.2 ± 9.0 Elo``, ``LLR 1.20, goes on``, ``12 – 3 – 9``."""
    asked: Asked = record.asked
    answer = record.answer
    if isinstance(asked, Test) and record.state is State.OPEN:
        return f"LLR {answer.llr or 0.0:z.2f}, goes on"
    if isinstance(asked, Test | Gauntlet):
        state = "goes on" if record.state is State.OPEN else record.state.value
        elo = f", {with_interval(answer.elo, answer.lower, answer.upper)} Elo" if answer.elo is not None else ""
        return f"{state}{elo}"
    return f"won {answer.wins}, drew {answer.draws}, lost {answer.losses} of {asked.most_games}"
