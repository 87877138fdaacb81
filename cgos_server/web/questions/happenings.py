"""What owners are told of questions that they asked about their bots: one has ended, is stopped or resumed.

Must not know: who is told, or how.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from cgos_protocol.facts import QuestionMoved
from cgos_server.core.questions.asked import Change
from cgos_server.core.questions.wording import asks
from cgos_server.presentation.questions import answers
from cgos_server.presentation.questions.reading import question_link
from cgos_server.presentation.questions.record import QuestionRecord
from cgos_server.web.people.happenings import Happening
from cgos_server.web.site import Site

QUESTION: Final = "question"
"""Word of webhooks."""

LATEST: Final = 200
"""Of one account, how many of its latest questions are looked at."""

_TOLD: Final = (Change.ENDED, Change.RESUMED)


def may_tell(fact: QuestionMoved) -> bool:
    """False where nobody is told of it."""
    return fact.what in _TOLD


async def of_fact(site: Site, fact: QuestionMoved) -> list[Happening]:
    """What it means to the version that the question is about; nothing where it stands otherwise meanwhile."""
    record = await site.questions.record(fact.question)
    if record.row.state != fact.state:
        return []
    return await _told(site, record, round(1000 * fact.at) if record.row.ended_at is None else record.row.ended_at)


async def since(site: Site, owners: Collection[int], at: int) -> list[Happening]:
    """All ends of these accounts' questions from this time on (Unix ms)."""
    happenings: list[Happening] = []
    for owner in owners:
        for row in await site.history.questions.page(LATEST, owner=owner):
            if row.ended_at is not None and row.ended_at >= at:
                happenings += await _told(site, await site.questions.record(row.id), row.ended_at)
    return happenings


async def _told(site: Site, record: QuestionRecord, at: int) -> list[Happening]:
    """Nothing where somebody else asked than the owner of the bot."""
    row, known = record.row, record.answer
    owner = await site.history.people.owner_of(record.version)
    if owner is None or owner != row.owner_id:
        return []
    told: dict[str, Any] = {
        "id": row.id,
        "kind": row.kind,
        "against": record.opponents,
        "state": row.state,
        "sentence": f"{asks(record.asked, record.names)} {answers.stands(record)}",
        "link": question_link(site.settings.public_url, row.id),
        "wins": known.wins,
        "draws": known.draws,
        "losses": known.losses,
        "counts": known.counts,
        "llr": known.llr,
        "elo": known.elo,
        "lower": known.lower,
        "upper": known.upper,
    }
    return [Happening(event=QUESTION, version=record.version, venue=row.venue, at=at, more={"question": told})]
