"""Asking by the forms of the pages, on a whole server without its live part; and what is shown of what is live."""

from __future__ import annotations

from typing import Any

import pytest
from support.storage.storage_sample import put
from support.web.questions import ACCEPTED, CALLED, OPEN, questions
from web.people.conftest import Browser, Clock, House
from web.test_pages import Page

from cgos_protocol.api.questions import QuestionCost, QuestionNow
from cgos_protocol.errors import Code, Unavailable
from cgos_protocol.ids import QuestionId
from cgos_server.core.questions.asked import Challenge, Test
from cgos_server.service.commands.bots import BotPasswd
from cgos_server.service.questions.managing import QuestionLook
from cgos_server.web.questions.costs import Cost, cost_lines, costs_sentence, time_of
from cgos_server.web.questions.now import FRESH_MS, QuestionsNow

TEST = {"version": "Kogo_mcts", "against": "amigo", "venue": "9x9", "lower": "0", "upper": "100", "scale": "nelo"}
MORE = {"alpha": "0.05", "beta": "0.05", "most_games": "4000", "priority": "-3", "ends_at": ""}


async def owner(house: House) -> Browser:
    """Who owns two bots."""
    browser = await house.signed_in("alice", owns="amigo")
    await house.admin.handle(BotPasswd(bot="Kogo_mcts", password="bots-own"))
    await browser.send("/account", "bot claim", bot="Kogo_mcts", secret="bots-own")
    return browser


def asked_past(house: House, owner_id: int | None = None) -> None:
    """Write what was asked before, by this account."""
    location: Any = house.history.source.location
    for past, state, why in questions(10, owner_id):
        put(location, past.records(state, why))


async def test_strangers_see_how_to_begin(house: House) -> None:
    browser = house.browser()
    text = (await browser.get("/questions")).text
    assert 'href="/sign-in?next=/questions"' in text
    assert 'name="deed"' not in text
    assert (await browser.post("/questions", TEST | MORE | {"deed": "ask test"})).status_code == 303


async def test_without_a_bot_there_is_nothing_to_ask(house: House) -> None:
    browser = await house.signed_in("bob")
    text = (await browser.get("/questions")).text
    assert "You have no bot yet" in text
    assert 'value="ask test"' not in text


async def test_an_owner_finds_a_form_for_each_kind_with_its_own_versions(house: House) -> None:
    browser = await owner(house)
    text = (await browser.get("/questions?venue=13x13&version=amigo")).text
    page = Page(text)
    deeds = [str(attributes["value"]) for tag, attributes in page.tags if attributes.get("name") == "deed"]
    assert [deed for deed in deeds if deed.startswith("ask")] == ["ask test", "ask gauntlet", "ask challenge"]
    assert text.count('<details class="folded" name="ask" open>') == 1
    assert '<option value="amigo" selected>amigo</option>' in text
    assert '<option value="Kogo_mcts">Kogo_mcts</option>' in text
    assert '<option value="13x13" selected>13x13</option>' in text
    for name, value in (("upper", "50"), ("alpha", "0.05"), ("priority", "0")):
        assert f'name="{name}" value="{value}"' in text
    assert "Nothing is asked then." in text


async def test_what_it_would_cost_is_said_before_it_is_asked(house: House) -> None:
    browser = await owner(house)
    answer = await browser.send("/questions", "ask test", **TEST | MORE, dry="yes")
    assert answer.status_code == 200
    assert house.live.questions.asked == {}
    page = Page(answer.text)
    cases = [row[0] for row in page.rows if row[0] in ("no difference", "between the bounds", "at the upper bound")]
    assert len(cases) == 3
    assert "Send the form once more to ask it." in page.text
    assert 'name="upper" value="100"' in answer.text, "what was filled in stays"
    assert 'name="dry" value="yes">' in answer.text, "and is asked the next time"


async def test_it_is_asked_and_the_next_page_says_so(house: House) -> None:
    browser = await owner(house)
    answer = await browser.send("/questions", "ask test", **TEST | MORE)
    assert (answer.status_code, answer.headers["location"]) == (303, "/questions/1")
    asking = house.live.questions.asked[QuestionId(1)]
    assert isinstance(asking.asked, Test)
    assert (asking.asked.upper, asking.asked.most_games, asking.owner, asking.priority) == (100.0, 4000, "alice", -3)
    said = await browser.notice("/questions")
    assert said.startswith("Question 1: Is Kogo_mcts stronger than amigo? A sequential test between 0 and 100 ")
    assert "4000 unrated games at most. On average it takes: " in said


async def test_what_is_left_empty_is_as_usual(house: House) -> None:
    browser = await owner(house)
    fields = {"version": "Kogo_mcts", "against": "amigo", "venue": "9x9", "scale": "nelo", "most_games": ""}
    answer = await browser.send("/questions", "ask test", **fields)
    assert answer.status_code == 303, answer.text
    asked: Any = house.live.questions.asked[QuestionId(1)].asked
    assert (asked.lower, asked.upper, asked.alpha, asked.most_games) == (0.0, 50.0, 0.05, 20_000)
    fields = {"version": "Kogo_mcts", "against": "amigo", "venue": "9x9", "most_games": "20"}
    assert (await browser.send("/questions", "ask challenge", **fields)).status_code == 303
    assert isinstance(house.live.questions.asked[QuestionId(2)].asked, Challenge)


REFUSED = (
    ({"against": "Sakura-5k"}, "Sakura-5k does not belong to you and has not agreed."),
    ({"against": "Kogo_mcts"}, "A version cannot play against itself."),
    ({"upper": "much"}, "is a number"),
    ({"upper": "1e308"}, ""),
    ({"alpha": "2"}, ""),
    ({"most_games": "20"}, "even in the best case"),
    ({"scale": "odd"}, "Choose one of nelo, elo"),
    ({"priority": "-x"}, "whole number from -100 to 100"),
)
"""What is wrong with a form, and what is said of it."""


async def test_what_is_refused_stands_in_its_form(house: House) -> None:
    browser = await owner(house)
    for changes, sentence in REFUSED:
        answer = await browser.send("/questions", "ask test", **TEST | MORE | changes)
        assert answer.status_code == 422, changes
        assert sentence in answer.text
        assert '<p class="refused" role="alert">' in answer.text
    assert house.live.questions.asked == {}


async def test_only_its_owner_and_operators_have_buttons(house: House) -> None:
    browser = await owner(house)
    asked_past(house, owner_id=1)
    path = f"/questions/{10 + OPEN}"
    assert 'value="question stop"' in (await browser.get(path)).text
    assert 'name="priority" value="0"' in (await browser.get(path)).text
    assert 'value="question resume"' in (await browser.get(f"/questions/{10 + CALLED}")).text
    assert 'name="deed"' not in (await browser.get(f"/questions/{10 + ACCEPTED}")).text
    other = await house.signed_in("bob")
    assert 'name="deed"' not in (await other.get(path)).text
    operator = await house.signed_in("root", admin=True)
    assert 'value="question stop"' in (await operator.get(path)).text
    assert "Is Kogo_mcts stronger than" in (await browser.get("/account")).text


async def test_it_is_stopped_and_resumed_and_comes_first(house: House) -> None:
    browser = await owner(house)
    asked_past(house, owner_id=1)
    path = f"/questions/{10 + OPEN}"
    first = await browser.send(path, "question stop")
    assert "No further game of it begins." in first.text, "it asks first"
    assert (await browser.send(path, "question stop", sure="yes")).status_code == 303
    assert "is stopped" in await browser.notice(path)
    assert (await browser.send(path, "question prioritize", priority="-7")).status_code == 303
    assert (await browser.send(f"/questions/{10 + CALLED}", "question resume")).status_code == 303
    assert [call[0] for call in house.live.questions.calls] == ["stop", "prioritize", "resume"]
    assert house.live.questions.calls[1][2] == -7


async def test_the_page_says_what_an_open_question_waits_for(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    asked_past(house)
    path, waits = f"/questions/{10 + OPEN}", "Its bots play other games, which end first."
    seen = [QuestionNow(question=QuestionId(10 + OPEN), waits=waits, running=0)]
    monkeypatch.setattr(house.live.questions, "seen", lambda: seen)
    assert waits in (await house.browser().get(path)).text
    assert (await house.browser().get(f"/api/v1{path}")).json()["waits"] == waits
    assert waits in (await house.browser().get("/questions")).text
    house.clock.ms += FRESH_MS
    house.reachable = False
    answer = await house.browser().get(path)
    assert answer.status_code == 200
    assert waits not in answer.text


async def test_servers_are_asked_once_in_two_seconds() -> None:
    clock, calls = Clock(), 0

    async def ask(_command: QuestionLook) -> list[list[QuestionNow]]:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise Unavailable(Code.NO_SERVER, "It is away.")
        return [[QuestionNow(question=QuestionId(calls), waits="", running=1)], []]

    now = QuestionsNow(ask, clock)
    assert [list(await now.all()) for _ in range(3)] == [[1], [1], [1]]
    clock.ms += FRESH_MS
    assert await now.all() == {}
    now.forget()
    assert list(await now.all()) == [3]
    assert calls == 3


def test_costs_in_words() -> None:
    known = QuestionCost(case="no difference", difference=-0.0, games=812.4, hours=3.16, accepted=0.05)
    unknown = QuestionCost(case="all games", difference=None, games=20.0, hours=None, accepted=None)
    costs = [Cost.of(known), Cost.of(unknown)]
    assert costs[0] == Cost("no difference", "0.0 Elo", "812 games", "3 h 10 min", "5 %")
    assert costs_sentence(costs) == "On average it takes: no difference, 812 games (3 h 10 min); all games, 20 games."
    table = cost_lines(costs[1:])
    assert (table.differences, table.times, table.accepted) == (False, False, False)


@pytest.mark.parametrize(
    ("hours", "words"), [(0.001, "1 min"), (0.5, "30 min"), (1.0, "1 h"), (5.49, "5 h 30 min"), (240.0, "10 days")]
)
def test_times_in_words(hours: float, words: str) -> None:
    assert time_of(hours) == words
