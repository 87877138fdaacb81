"""A past in which something was asked: one question of each kind and state."""

from __future__ import annotations

from functools import partial

from cgos_protocol.ids import VersionId
from cgos_protocol.terms import encode_terms
from cgos_server.core.questions.asked import Asked, Challenge, Gauntlet, Opponent, State, Test
from cgos_server.storage.writing.records import Record
from support.storage.asked import QuestionPast
from support.web.past import NINE, NOW, Builder, terms

OPEN, ACCEPTED, REJECTED, PLACED, CALLED, EMPTY = 1, 2, 3, 4, 5, 6
"""A test that goes on, one that accepts, one that rejects, a gauntlet, a challenge to whoever accepts, one without
games."""

HOUR_MS = 3_600_000


def written() -> list[Record]:
    """All of it."""
    records = list(Builder(with_event=False).build())
    for past, state, why in questions():
        records += past.records(state, why)
    return records


def questions(after: int = 0, owner_id: int | None = None) -> list[tuple[QuestionPast, State, str]]:
    """The questions with how they stand. `after`: their numbers begin after this one, with games of 7000 and more."""
    asking = partial(_past, after, owner_id)
    test = Test(version=VersionId(3), against=VersionId(2), most_games=400, upper=200.0)
    goes_on = asking(OPEN, test)
    goes_on.pairs((2, 1), (0, 1), (2, 2), (1, 1))
    goes_on.pair(2, 0, digest=77)
    goes_on.pair(2, 0, digest=77)
    goes_on.pairs((2, None))
    accepted = asking(ACCEPTED, test)
    accepted.pairs(*[(2, 2), (2, 1), (1, 2), (2, 0)] * 8)
    rejected = asking(REJECTED, test)
    rejected.pairs(*[(0, 0), (0, 1), (1, 0)] * 8)
    field = (Opponent(version=VersionId(2), rating=1900.0), Opponent(version=VersionId(6), rating=1700.0))
    placed = asking(PLACED, Gauntlet(version=VersionId(1), field=field, within=150.0, most_games=100))
    placed.pairs((2, 0), (0, 2), (2, 2), opponent=2)
    placed.pairs((2, 2), (0, 1), opponent=6)
    called = asking(CALLED, Challenge(version=VersionId(1), most_games=8))
    called.pairs((2, 0), (0, 2), opponent=4)
    called.pairs((1, 1), (2, 2), opponent=5)
    empty = asking(EMPTY, Test(version=VersionId(1), against=VersionId(4), most_games=400))
    return [
        (goes_on, State.OPEN, ""),
        (accepted, State.ACCEPTED, "Its games decided."),
        (rejected, State.REJECTED, "Its games decided."),
        (placed, State.ANSWERED, "It is known as precisely as was asked."),
        (called, State.STOPPED, "Its owner has stopped it."),
        (empty, State.OPEN, ""),
    ]


def _past(after: int, owner_id: int | None, number: int, asked: Asked) -> QuestionPast:
    return QuestionPast(
        number=after + number,
        asked=asked,
        venue_id=NINE,
        terms=encode_terms(terms(NINE)),
        first_game=(7000 if after else 1000) + 100 * number,
        at=NOW - (30 - number) * HOUR_MS,
        owner_id=owner_id,
    )
