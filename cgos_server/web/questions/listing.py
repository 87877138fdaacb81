"""All questions: those that go on and those that have ended, with the forms that ask; as a page and as a feed.

Must not know: SQL, what a command does, how a question goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from cgos_protocol.api.questions import AskedQuestion, Question
from cgos_protocol.errors import Refused
from cgos_server.core.questions.asked import State
from cgos_server.presentation.questions import sentences
from cgos_server.presentation.questions.reading import Wanted
from cgos_server.storage.reading.people_answers import OwnedBot
from cgos_server.web.events.public_page import PublicPage, not_there
from cgos_server.web.pages.requests import before, with_query
from cgos_server.web.people.feeds import FeedEntry, feed
from cgos_server.web.people.form_page import Tried
from cgos_server.web.people.sessions import Form, Visit
from cgos_server.web.questions.costs import Cost, cost_lines, costs_sentence
from cgos_server.web.site import Pages, Site, question_path

ROWS: Final = 30
"""Questions on one page."""

FED: Final = 50
"""Questions that the feed tells of."""

OFFERED: Final = 100
"""Of one's versions so many are offered, the newest of each bot first."""

PATH: Final = "/questions"
FEED: Final = "/questions.atom"


class Row(NamedTuple):
    """A question in a list. `waits`: why no game of it begins just now; empty where games run."""

    question: Question
    waits: str


async def rows_of(site: Site, wanted: Wanted, most: int, earlier: int | None = None) -> tuple[list[Row], int | None]:
    """Up to `most` of these questions, the latest first, and before which number the next ones are. Raises Refused
    where a name is unknown, StoreError, OurFault."""
    page = await site.questions.page(wanted, most, earlier)
    now = await site.questions_now.all() if any(each.state == "open" for each in page.items) else {}
    rows = []
    for each in page.items:
        seen = now.get(each.question)
        rows.append(Row(each, "" if seen is None or seen.running else seen.waits))
    return rows, page.next


class Filters(NamedTuple):
    """Which questions are wanted; empty: all."""

    venue: str
    owner: str
    bot: str
    state: str

    @classmethod
    def of(cls, request: Request) -> Filters:
        """From an address. Raises HTTPException 400 for a state that there is none of."""
        given = cls(*((request.query_params.get(name) or "").strip()[:64] for name in cls._fields))
        if given.state not in ("", *State):
            raise HTTPException(400, f"No question is {given.state!r}. Choose from: {', '.join(State)}.")
        return given

    @property
    def wanted(self) -> Wanted:
        """As it is asked for."""
        return Wanted(*(each or None for each in self))


class QuestionsPage(PublicPage):
    """The list, and what asks."""

    address = PATH
    menu = PATH
    template = "questions/questions.html"

    async def shown(self, request: Request) -> dict[str, Any]:
        given = Filters.of(request)
        try:
            rows, following = await rows_of(self.site, given.wanted, ROWS, before(request))
        except Refused as refusal:
            raise not_there(refusal.sentence) from refusal
        plain = not any(given) and before(request) is None
        return {
            "refresh": plain,
            "given": given,
            "any": any(given),
            "first": before(request) is None,
            "states": list(State),
            "venues": list(self.site.settings.venues),
            "open": [row for row in rows if row.question.state == "open"],
            "ended": [row for row in rows if row.question.state != "open"],
            "older": with_query(request, before=following) if following is not None else None,
            "newest": with_query(request, before=None),
            "feed": FEED,
            "costs": None,
            "asked": None,
            "chosen": "ask test",
            "bots": [],
        }

    async def own(self, request: Request, here: Visit, _shown: dict[str, Any]) -> dict[str, Any]:
        owned = await self.site.history.people.bots_of(here.person.owner_id)
        versions = offered(owned)
        given = request.query_params
        version = given.get("version", "")[:64] or next(iter(versions), "")
        older = [name for name in versions if name != version and versions[name] == versions.get(version)]
        return {
            "bots": owned,
            "choices": {} if here.person.admin else {"version": {name: name for name in versions}},
            "filled": {
                "version": version,
                "against": given.get("against", "")[:64] or next(iter(older), ""),
                "venue": given.get("venue", "")[:64],
            },
        }

    async def done(self, request: Request, here: Visit, answer: Any, form: Form) -> Response:
        if not isinstance(answer, AskedQuestion):
            return await super().done(request, here, answer, form)
        self.site.questions_now.forget()
        costs = [Cost.of(each) for each in answer.costs]
        if answer.question is not None:
            sentence = f"{answer.sentence} {costs_sentence(costs)}"
            return self.back(request, here, sentence, question_path(answer.question))
        kept = {name: values for name, values in form.fields.items() if name not in ("csrf", "dry")}
        return await self.page(
            request,
            here,
            tried=Tried(form.text("form"), "", kept),
            asked=answer,
            costs=cost_lines(costs),
            chosen=form.text("deed"),
        )


def offered(bots: Sequence[OwnedBot]) -> dict[str, str]:
    """Versions that may be asked about -> their bots; the newest of each bot first."""
    named = [(version, bot.name) for bot in bots for version in reversed(bot.versions)]
    return dict(named[:OFFERED])


async def feed_of_all(site: Site, request: Request) -> Response:
    """When questions are asked, and how they end."""
    rows, _ = await rows_of(site, Wanted(), FED)
    entries = sorted((entry for row in rows for entry in _entries(row)), key=lambda entry: -entry.at)
    return feed(site, request, "Questions", page=PATH, own=FEED, entries=entries[:FED])


def _entries(row: Row) -> list[FeedEntry]:
    question = row.question
    page = question_path(question.question)
    entries = [
        FeedEntry(
            path=page,
            id=f"{page}#asked",
            at=question.asked_at,
            title=f"Asked: {question.asks}",
            summary=f"A {question.kind} in {question.venue}.",
        )
    ]
    if question.ended_at is not None:
        entries.append(
            FeedEntry(
                path=page,
                id=f"{page}#ended-{question.ended_at}",
                at=question.ended_at,
                title=f"{sentences.headline(State(question.state))}: {question.asks}",
                summary=question.why,
            )
        )
    return entries


PAGES: Final[Pages] = {FEED: feed_of_all}
