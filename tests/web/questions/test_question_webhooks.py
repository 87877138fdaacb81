"""Owners are told what comes of questions about their bots: as it happens, or later where nobody could be told."""

from __future__ import annotations

from support.storage.asked import QuestionPast
from support.web.past import NINE, terms
from web.people.test_webhooks import Post, post  # noqa: F401 - a fixture

from cgos_protocol.facts import QuestionMoved
from cgos_protocol.ids import QuestionId, VersionId
from cgos_protocol.terms import encode_terms
from cgos_server.core.questions.asked import Change, State, Test
from cgos_server.storage.writing.asking import QuestionMoved as MovedRecord

REACHED = "The log-likelihood ratio reached its bound."
QUESTION = QuestionId(9_003)
SAKURA, GNUGO = VersionId(1), VersionId(2)


async def asked(post: Post, owner: str | None = "alice") -> QuestionPast:  # noqa: F811
    """A question about Sakura-5k, some games of which were played just now."""
    account = None if owner is None else await post.house.history.people.owner(owner)
    past = QuestionPast(
        number=QUESTION,
        asked=Test(version=SAKURA, against=GNUGO, upper=200.0, most_games=100),
        venue_id=NINE,
        terms=encode_terms(terms(NINE)),
        first_game=90_000,
        at=post.house.clock.ms,
        owner_id=None if account is None else account.id,
    )
    past.pairs((2, 2), (2, 1), (2, 0))
    return past


def fact(what: Change, state: State, at: int) -> QuestionMoved:
    return QuestionMoved(
        venue="9x9",
        question=QUESTION,
        kind="test",
        what=what,
        state=state,
        version="Sakura-5k",
        against="gnugo-3.8-L1",
        games=6,
        at=at / 1000,
    )


async def test_an_end_is_told_with_its_figures_to_whoever_asked(post: Post) -> None:  # noqa: F811
    made = await post.hook(["question"])
    past = await asked(post)
    await post.house.store.commit(past.records(State.ACCEPTED, REACHED))
    await post.tell(*(fact(what, State.OPEN, past.now) for what in (Change.ASKED, Change.RESULT, Change.PRIORITIZED)))
    assert post.net.messages == []
    await post.tell(fact(Change.ENDED, State.ACCEPTED, past.now))
    (told,) = post.net.messages
    assert (told["event"], told["webhook"], told["version"], told["venue"]) == ("question", made.id, "Sakura-5k", "9x9")
    assert told["at"] == past.now + 1
    question = told["question"]
    assert question["sentence"].startswith("Is Sakura-5k stronger than gnugo-3.8-L1? Accepted: ")
    assert {name: question[name] for name in ("id", "kind", "state", "against", "link", "wins", "draws", "losses")} == {
        "id": QUESTION, "kind": "test", "state": "accepted", "against": ["gnugo-3.8-L1"],
        "link": f"/questions/{QUESTION}", "wins": 4, "draws": 1, "losses": 1,
    }  # fmt: skip
    assert question["counts"] == [0, 0, 1, 1, 1]
    assert (question["lower"], question["elo"], question["upper"]) == (None, None, None), "of three pairs"


async def test_a_stop_and_going_on_are_told_each_once(post: Post) -> None:  # noqa: F811
    await post.hook(["question"])
    past = await asked(post)
    await post.house.store.commit(past.records(State.STOPPED, "Its owner has stopped it."))
    await post.tell(fact(Change.ENDED, State.STOPPED, past.now))
    resumed = MovedRecord(priority=0, state=State.OPEN.value, ended_at=None, why="", answer="", id=QUESTION)
    await post.house.store.commit([resumed])
    await post.tell(fact(Change.RESUMED, State.OPEN, past.now + 5_000))
    await post.tell(fact(Change.ENDED, State.STOPPED, past.now + 6_000))  # it stands otherwise meanwhile
    assert [each["question"]["state"] for each in post.net.messages] == ["stopped", "open"]
    assert post.net.messages[1]["question"]["sentence"].count("It goes on: ") == 1
    assert len({each["id"] for each in post.net.messages}) == 2


async def test_what_nobody_was_told_is_looked_up_and_told_once(post: Post) -> None:  # noqa: F811
    await post.hook(["question"])
    await post.tell()
    past = await asked(post)
    await post.house.store.commit(past.records(State.NOT_ANSWERED, "Its time is up."))
    post.house.clock.ms = past.now + 20_000
    await post.tell(None)
    assert [each["question"]["state"] for each in post.net.messages] == ["not answered"]
    post.house.clock.ms += 20_000
    await post.tell(None, fact(Change.ENDED, State.NOT_ANSWERED, past.now))
    assert len({each["id"] for each in post.net.messages}) == len(post.net.messages) == 1


async def test_what_an_operator_asks_is_told_to_nobody(post: Post) -> None:  # noqa: F811
    await post.hook(["question"])
    past = await asked(post, owner=None)
    await post.house.store.commit(past.records(State.ACCEPTED, REACHED))
    await post.tell(fact(Change.ENDED, State.ACCEPTED, past.now))
    assert post.net.messages == []


async def test_whoever_wants_nothing_of_questions_is_told_nothing(post: Post) -> None:  # noqa: F811
    await post.hook(["game-ended", "event-ended"])
    past = await asked(post)
    await post.house.store.commit(past.records(State.ACCEPTED, REACHED))
    await post.tell(fact(Change.ENDED, State.ACCEPTED, past.now))
    assert post.net.messages == []
