"""Who may ask what of whom, on which terms; and what it is expected to cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest
from support.service.acting import HOUR_MS, Live, account, audits, behalf, bots, code
from support.service.question_desk import QuestionNotes

from cgos_protocol.api.questions import AskedQuestion
from cgos_protocol.errors import Code, NotFound, Refused
from cgos_protocol.ids import BotId, QuestionId, VersionId
from cgos_server.core.questions.asked import Challenge, Gauntlet, Opponent, Test
from cgos_server.core.questions.policy import Policy
from cgos_server.core.rating.base import Z95, Outcome
from cgos_server.core.rating.together import JointRatings
from cgos_server.core.sequential import Scale
from cgos_server.service.admin import Admin
from cgos_server.service.commands.availability import BotLimit
from cgos_server.service.commands.ownership import BotClaim
from cgos_server.service.people.accounts import Accounts
from cgos_server.service.questions.asking import AskChallenge, AskGauntlet, AskTest
from cgos_server.service.questions.managing import QuestionPrioritize, QuestionResume, QuestionStop
from cgos_server.service.questions.planning import Model, Pace, costs, model_of


class Ratings:
    """Of a venue: all are of one strength, with an advantage of the first move."""

    draws = 0.05263

    def knows(self, version: int) -> bool:
        return True

    def predict(self, black: int, white: int) -> Outcome:
        return Outcome(0.55, 0.05, 0.40)

    def joint_ratings(self, versions: Sequence[int]) -> JointRatings:
        return JointRatings(np.full(len(versions), 1900.0), 20.0**2 * np.eye(len(versions)))


@pytest.fixture
def desk() -> QuestionNotes:
    return QuestionNotes()


@pytest.fixture
def admin(accounts: Accounts, desk: QuestionNotes, store: Any) -> Admin:
    control: Any = Live()
    control.questions = desk
    control.events.ratings.update({1: 1800.0, 2: 1900.0, 3: 2000.0})
    control.ratings = lambda _venue: Ratings()

    async def lengths(_venue: str) -> list[float]:
        return [50.0, 70.0]

    async def owner_of(name: str) -> int | None:
        owned = await store.people_bot_owner(name)
        return None if owned is None else owned.owner

    async def numbered(question: QuestionId) -> Any:
        if question not in desk.asked:
            raise NotFound(Code.NO_QUESTION, f"There is no question {question}.")
        return desk.row(question)

    async def asked_by(question: QuestionId) -> int | None:
        return desk.asked[question].owner_id if question in desk.asked else None

    store.lengths_of_venue, store.people_owner_of = lengths, owner_of
    store.questions_numbered, store.questions_owner_of = numbered, asked_by
    return Admin(accounts, control)


async def owner_of(admin: Admin, owner: str, *names: str) -> str:
    """A session of an account that owns these bots."""
    session = await account(admin, owner)
    await bots(admin, *names)
    for name in names:
        await behalf(admin, session, BotClaim(bot=name, secret="playing"))
    return session


def ask_test(version: str, against: str, **said: Any) -> AskTest:
    return AskTest(version=version, against=against, venue="9x9", **said)


async def test_an_owner_asks_about_its_own_versions(admin: Admin, desk: QuestionNotes, store: Any) -> None:
    anna = await owner_of(admin, "Anna", "One", "Two")
    answer = await behalf(admin, anna, ask_test("Two", "One", upper=100.0, most_games=4000, priority=3))
    assert isinstance(answer, AskedQuestion)
    assert answer.sentence == (
        "Question 1: Is Two stronger than One? A sequential test between 0 and 100 normalized Elo, with error rates of "
        "5 % and 5 %, of 4000 unrated games at most."
    )
    asking = desk.asked[QuestionId(1)]
    assert asking.asked == Test(version=2, against=1, upper=100.0, most_games=4000)  # type: ignore[arg-type]
    assert (asking.owner, asking.priority) == ("Anna", 3)
    assert [cost.case for cost in answer.costs] == ["no difference", "between the bounds", "at the upper bound"]
    assert audits(store)[-1][1:3] == ("ask test", "Two")
    assert audits(store)[-1][3]["question"] == 1


async def test_nobody_asks_about_anothers_version(admin: Admin) -> None:
    await owner_of(admin, "Anna", "One")
    ben = await owner_of(admin, "Ben", "Two")
    assert await code(behalf(admin, ben, ask_test("One", "Two"))) == "not-allowed"
    assert await code(behalf(admin, ben, ask_test("Nobody", "Two"))) == "unknown-bot"


async def test_opponents_of_others_must_have_agreed(admin: Admin, desk: QuestionNotes) -> None:
    anna = await owner_of(admin, "Anna", "One")
    ben = await owner_of(admin, "Ben", "Two")
    challenge = AskChallenge(version="One", venue="9x9", against="Two", most_games=10)
    with pytest.raises(Refused, match=r"Two does not belong to you and has not agreed\. Ask its owner") as refused:
        await behalf(admin, anna, challenge)
    assert refused.value.code == "not-agreed"
    await behalf(admin, ben, BotLimit(bot="Two", accepts=["anna"]))
    await behalf(admin, anna, challenge)
    assert desk.asked[QuestionId(1)].asked == Challenge(version=1, against=2, most_games=10, foreign=(2,))  # type: ignore[arg-type]
    desk.here[2] = frozenset()  # type: ignore[index]
    assert await code(behalf(admin, anna, challenge)) == "not-agreed"
    desk.here[2] = frozenset({"*"})  # type: ignore[index]
    await behalf(admin, anna, challenge)


async def test_operators_need_no_agreement_and_have_no_limit(admin: Admin, desk: QuestionNotes) -> None:
    desk.policy = Policy(open_per_owner=1)
    await owner_of(admin, "Anna", "One")
    await owner_of(admin, "Ben", "Two")
    for _ in range(3):
        await admin.handle(ask_test("One", "Two", rated=True))
    assert desk.asked[QuestionId(3)].asked.foreign == ()
    assert desk.asked[QuestionId(3)].owner is None


async def test_an_account_has_so_many_open_questions(admin: Admin, desk: QuestionNotes) -> None:
    desk.policy = Policy(open_per_owner=1)
    anna = await owner_of(admin, "Anna", "One", "Two")
    await behalf(admin, anna, ask_test("Two", "One"))
    assert await code(behalf(admin, anna, ask_test("Two", "One"))) == "full"


async def test_games_within_an_owner_or_a_family_are_never_rated(admin: Admin, accounts: Accounts) -> None:
    anna = await owner_of(admin, "Anna", "One", "Two")
    assert await code(behalf(admin, anna, ask_test("Two", "One", rated=True))) == "question"
    ben = await owner_of(admin, "Ben", "Three")
    await behalf(admin, ben, BotLimit(bot="Three", accepts=["*"]))
    await behalf(admin, anna, ask_test("Two", "Three", rated=True))
    accounts.families.lead(BotId(3), BotId(2))
    assert await code(behalf(admin, anna, ask_test("Two", "Three", rated=True))) == "question"
    challenge = AskChallenge(version="One", venue="9x9", most_games=10, rated=True)
    assert await code(behalf(admin, anna, challenge)) == "question"


async def test_a_gauntlet_takes_the_ratings_of_now(admin: Admin, desk: QuestionNotes) -> None:
    anna = await owner_of(admin, "Anna", "One", "Two", "Three", "Four")
    answer = await behalf(
        admin, anna, AskGauntlet(version="One", opponents=["Two", "Three", "Two"], venue="9x9", within=60.0)
    )
    field = (Opponent(version=2, rating=1900.0), Opponent(version=3, rating=2000.0))  # type: ignore[arg-type]
    one = VersionId(1)
    assert desk.asked[QuestionId(1)].asked == Gauntlet(
        version=one, field=field, within=60.0, most_games=20_000, draws=0.0526, joint=True
    )
    least = Z95 * 20.0 / 2.0**0.5
    games = answer.costs[0].games * (1 - 0.0526) * (1 - (least / 60.0) ** 2)
    assert round(games) == 129, "the more draws, the more games; and the less the opponents are known"
    unrated = AskGauntlet(version="One", opponents=["Four"], venue="9x9")
    assert await code(behalf(admin, anna, unrated)) == "not-rated"


@pytest.mark.parametrize("dry", [True, False])
async def test_a_gauntlet_is_refused_that_no_number_of_games_makes_precise(admin: Admin, dry: bool) -> None:
    anna = await owner_of(admin, "Anna", "One", "Two")
    asked = AskGauntlet(version="One", opponents=["Two"], venue="9x9", within=39.0, dry=dry)
    sentence = r"more precise than 39 Elo: the ratings of its opponents are not known better\. Allow more Elo"
    with pytest.raises(Refused, match=sentence) as refused:
        await behalf(admin, anna, asked)
    assert refused.value.code == "question-budget"
    await behalf(admin, anna, msgspec.structs.replace(asked, within=60.0))


async def test_a_hopeless_budget_is_refused(admin: Admin, clock: Any) -> None:
    anna = await owner_of(admin, "Anna", "One", "Two")
    with pytest.raises(Refused, match=r"even in the best case, and may have 20\. Allow more games") as refused:
        await behalf(admin, anna, ask_test("Two", "One", upper=5.0, most_games=20))
    assert refused.value.code == "question-budget"
    soon = clock.ms + HOUR_MS // 2
    with pytest.raises(Refused, match=r"hours on average even in the best case, and ends in 0\.5 hours"):
        await behalf(admin, anna, ask_test("Two", "One", upper=20.0, ends_at=soon))
    with pytest.raises(Refused, match="Its end is past"):
        await behalf(admin, anna, ask_test("Two", "One", ends_at=clock.ms))


async def test_what_it_costs_is_said_without_asking(admin: Admin, desk: QuestionNotes, store: Any) -> None:
    anna = await owner_of(admin, "Anna", "One", "Two")
    answer = await behalf(admin, anna, ask_test("Two", "One", dry=True))
    assert (answer.question, desk.asked) == (None, {})
    assert answer.sentence.endswith("Nothing was asked.")
    assert audits(store)[-1][1] != "ask test", "nothing was done, so that nothing is kept"
    assert all(cost.hours == pytest.approx(cost.games * 60 / 3600 / 0.5) for cost in answer.costs)


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ({"scale": "mels"}, "question"),
        ({"lower": 5.0, "upper": 0.0}, "bounds"),
        ({"alpha": 0.7, "beta": 0.7}, "bounds"),
        ({"most_games": 3}, "question"),
    ],
)
async def test_what_makes_no_sense_is_refused(admin: Admin, said: dict[str, Any], word: str) -> None:
    anna = await owner_of(admin, "Anna", "One", "Two")
    assert await code(behalf(admin, anna, ask_test("Two", "One", **said))) == word
    assert await code(behalf(admin, anna, ask_test("Two", "Two"))) == "question"
    assert await code(behalf(admin, anna, ask_test("Two", "Nobody"))) == "unknown-bot"


async def test_the_budget_is_what_was_said_or_all_that_is_allowed(admin: Admin, desk: QuestionNotes) -> None:
    desk.policy = Policy(most_games=5001)
    anna = await owner_of(admin, "Anna", "One", "Two")
    with pytest.raises(Refused, match="5001 games at most on this server"):
        await behalf(admin, anna, ask_test("Two", "One", upper=100.0, most_games=6000))
    await behalf(admin, anna, ask_test("Two", "One", upper=100.0))
    assert desk.asked[QuestionId(1)].asked.most_games == 5000, "games come in pairs"


async def test_a_server_may_take_no_questions(admin: Admin, desk: QuestionNotes) -> None:
    desk.policy = Policy(share=0.0)
    anna = await owner_of(admin, "Anna", "One", "Two")
    assert await code(behalf(admin, anna, ask_test("Two", "One"))) == "question"


async def test_only_its_owner_and_operators_manage_a_question(admin: Admin, desk: QuestionNotes) -> None:
    anna = await owner_of(admin, "Anna", "One", "Two")
    ben = await owner_of(admin, "Ben", "Three")
    await behalf(admin, anna, ask_test("Two", "One"))
    one = QuestionId(1)
    assert await code(behalf(admin, ben, QuestionStop(question=one))) == "not-allowed"
    assert await code(behalf(admin, anna, QuestionStop(question=QuestionId(9)))) == "not-allowed"
    await behalf(admin, anna, QuestionStop(question=one))
    await behalf(admin, anna, QuestionResume(question=one))
    await behalf(admin, anna, QuestionPrioritize(question=one, priority=7))
    await admin.handle(QuestionStop(question=one))
    assert desk.calls == [
        ("stop", 1, "Its owner has stopped it."),
        ("resume", 1),
        ("prioritize", 1, 7),
        ("stop", 1, "An operator has stopped it."),
    ]


def test_costs_are_in_the_scale_of_the_bounds() -> None:
    pace = Pace(game_s=60.0, share=0.5)
    test = Test(version=2, against=1, most_games=100_000, lower=-20.0, upper=20.0)  # type: ignore[arg-type]
    normalized = costs(test, pace, Model(draws=0.6))
    assert [cost.case for cost in normalized] == ["no difference", "at the lower bound", "at the upper bound"]
    assert abs(normalized[2].difference or 0.0) < 15, "with draws a point of normalized Elo is less logistic Elo"
    logistic = costs(msgspec.structs.replace(test, scale=Scale.LOGISTIC), pace, Model(draws=0.6))
    assert [cost.difference for cost in logistic] == [0.0, -20.0, 20.0]
    assert logistic[0].games < normalized[0].games
    assert normalized[0].accepted == pytest.approx(0.5, abs=0.01)
    assert Pace(None, 0.5).hours(10.0) is None


def test_the_model_is_what_both_games_of_a_pair_say() -> None:
    model = model_of(Outcome(0.6, 0.1, 0.3), Outcome(0.5, 0.2, 0.3))
    assert model.draws == pytest.approx(0.15)
    assert model.advantage == pytest.approx((107.5376 + 70.4365) / 2, abs=1e-3)
