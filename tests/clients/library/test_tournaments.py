"""Events as a bot's program sees them: what it wants over reconnections, and what it hears."""

from __future__ import annotations

import asyncio
import logging
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.clients.v2_model import Model
from support.clients.v2_server import V2Server

from cgos_client import BadSetting, connect
from cgos_client.library import session as sessions
from cgos_client.library.tournaments import Events, Heard, Refusal
from cgos_client.retry import Pauses
from cgos_protocol.event_news import EventWhat
from cgos_protocol.v2 import messages as ws

SECONDS = 30
SIGNED_IN = ws.SignedIn("Bot", ["5x5"], 1)


def event_told(what: str, event: str = "spring", **more) -> ws.EventTold:
    return ws.EventTold(event=event, venue="5x5", what=what, text=f"{event}: {what}", **more)


def error(code: str, event: str = "spring") -> ws.Error:
    return ws.Error(code=code, text=f"No: {code}.", event=event)


def test_what_is_wanted_is_entered_at_every_sign_in():
    events = Events(wanted={"spring": None})
    assert events.receive(SIGNED_IN) == [ws.EnterEvent("spring")]
    assert events.enter("summer") == [ws.EnterEvent("summer")]
    assert events.receive(SIGNED_IN) == [ws.EnterEvent("spring"), ws.EnterEvent("summer")]
    assert events.withdraw("spring") == [ws.WithdrawEvent("spring")]
    assert events.receive(SIGNED_IN) == [ws.EnterEvent("summer")]


def test_the_same_news_again_is_not_told_twice():
    events = Events(wanted={"spring": None})
    assert events.receive(event_told("entered")) == [Heard(event_told("entered"))]
    assert events.receive(event_told("entered")) == []
    assert events.receive(event_told("started")) == [Heard(event_told("started"))]
    assert list(events.news) == [event_told("entered"), event_told("started")]


def test_a_check_in_is_answered_each_time_whoever_entered_the_bot():
    events = Events(wanted={"spring": None})
    assert events.receive(event_told("check_in", until=1.0)) == [
        ws.CheckInEvent("spring"),
        Heard(event_told("check_in", until=1.0)),
    ]
    assert events.receive(event_told("check_in", until=1.0)) == [ws.CheckInEvent("spring")]
    assert events.receive(event_told("check_in", "other"))[0] == ws.CheckInEvent("other")


def of_series(what: str, event: str = "weekly-2", **more) -> ws.EventTold:
    return event_told(what, event, series="weekly", **more)


def test_a_series_is_entered_again_when_its_next_event_is_announced():
    events = Events(wanted={"weekly": None})
    assert events.receive(of_series("entered")) == [Heard(of_series("entered"))]
    assert events.receive(of_series("check_in"))[0] == ws.CheckInEvent("weekly-2")
    followed = of_series("followed", next="weekly-3")
    assert events.receive(followed) == [ws.EnterEvent("weekly"), Heard(followed)]
    for what in ("left_out", "ended", "cancelled"):
        for event in ("weekly", "weekly-2"):
            events.receive(of_series(what, event))
    assert events.receive(SIGNED_IN) == [ws.EnterEvent("weekly")]
    events.receive(of_series("withdrawn", "weekly-3"))
    assert events.receive(SIGNED_IN) == [], "who is withdrawn is not entered the next time"


def test_one_event_of_a_series_may_be_wanted_alone():
    events = Events(wanted={"weekly-2": None})
    followed = of_series("followed", next="weekly-3")
    assert events.receive(followed) == [Heard(followed)]
    assert events.receive(of_series("check_in"))[0] == ws.CheckInEvent("weekly-2")
    events.receive(of_series("ended"))
    assert events.receive(SIGNED_IN) == []


def test_news_of_the_event_that_is_on_do_not_end_the_wish_for_the_next_one():
    events = Events(wanted={"weekly": None})
    events.receive(error("event-closed", "weekly"))
    events.receive(of_series("paired", "weekly", round=2))
    assert events.ask_again() == [ws.EnterEvent("weekly")]
    assert events.receive(error("event-closed", "weekly")) == [], "it was told before the news of the other one"
    events.receive(of_series("entered"))
    assert events.ask_again() == []


@pytest.mark.parametrize("what", ["withdrawn", "left_out", "ended", "cancelled"])
def test_what_is_over_is_not_entered_again(what):
    events = Events(wanted={"spring": None})
    events.receive(event_told(what))
    assert events.receive(SIGNED_IN) == []


def test_refusals_that_may_pass_are_tried_again_and_told_once():
    events = Events(wanted={"spring": None})
    assert events.receive(error("event-closed")) == [Refusal("spring", "event-closed", "No: event-closed.", again=True)]
    assert list(events.refused) == ["spring"]
    assert events.ask_again() == [ws.EnterEvent("spring")]
    assert events.receive(error("event-closed")) == []
    assert events.ask_again() == [ws.EnterEvent("spring")]
    events.receive(event_told("entered"))
    assert events.ask_again() == []


def test_refusals_that_stay_end_the_wish():
    events = Events(wanted={"spring": None})
    assert events.receive(error("entered")) == [Refusal("spring", "entered", "No: entered.")]
    assert events.ask_again() == []
    assert events.receive(SIGNED_IN) == []


def test_an_old_server_is_asked_once():
    events = Events(wanted={"spring": None})
    refusal = ws.Error(code="invalid", text="Invalid value 'enter_event' - at `$.type`")
    assert events.receive(refusal) == [Refusal("spring", "invalid", "this server knows no events")]
    assert events.receive(SIGNED_IN) == []
    assert events.receive(refusal) == [], "it is about something else"


NAMES = st.sampled_from(["spring", "summer"])
MESSAGES = st.one_of(
    st.just(SIGNED_IN),
    st.builds(event_told, st.sampled_from([what.value for what in EventWhat] + ["unheard-of"]), NAMES),
    st.builds(error, st.sampled_from(["event-closed", "event-limit", "no-event", "entered", "event-over"]), NAMES),
    st.just(ws.Info("Hello.")),
)


@given(st.lists(MESSAGES, max_size=30))
def test_whatever_is_heard_what_is_said_is_about_what_is_wanted(messages):
    events = Events(wanted={"spring": None})
    for message in messages:
        before = set(events.wanted)
        for effect in events.receive(message):
            if isinstance(effect, Heard):
                assert effect.news is message
            elif isinstance(effect, Refusal):
                assert isinstance(message, ws.Error)
            else:
                assert isinstance(effect, ws.CheckInEvent) or {effect.event} <= before <= {"spring"}
        assert set(events.refused) <= set(events.wanted)


# -- against a server


def as_bot(server: V2Server, **more):
    pauses = Pauses(random.Random(1), first=0.02, longest=0.1)
    return connect(server.url, **{"bot": "Bot", "secret": "sesame", "venues": ["5x5"], "pauses": pauses, **more})


async def test_a_bot_enters_checks_in_and_enters_again_after_a_cut():
    model = Model(games=0)
    model.events = {"spring": set()}
    async with asyncio.timeout(SECONDS), V2Server(model) as server, as_bot(server, events=["spring"]) as session:
        news = session.event_news()
        assert (await anext(news)).what == "entered"
        model.happens("spring", "check_in", until=1.0)
        assert [(await anext(news)).what for _ in range(2)] == ["check_in", "checked_in"]
        assert model.events == {"spring": {"Bot", "Bot+"}}
        model.events["spring"].clear()
        server.cut()
        assert (await anext(news)).what == "entered"
        assert model.events == {"spring": {"Bot"}}
        await session.withdraw_event("spring")
        assert (await anext(news)).what == "withdrawn"
        await session.enter_event("spring")
        assert (await anext(news)).what == "entered"


async def test_a_series_is_followed_from_event_to_event():
    model = Model(games=0)
    model.series, model.events = {"weekly": "weekly"}, {"weekly": set(), "weekly-2": set()}
    async with asyncio.timeout(SECONDS), V2Server(model) as server, as_bot(server, events=["weekly"]) as session:
        news = session.event_news()
        assert (await anext(news)).event == "weekly"
        model.series = {"weekly": "weekly-2"}
        model.happens("weekly", "followed", series="weekly", next="weekly-2")
        assert [(told.event, told.what) for told in [await anext(news), await anext(news)]] == [
            ("weekly", "followed"),
            ("weekly-2", "entered"),
        ]
        model.happens("weekly", "ended", series="weekly")
        model.happens("weekly-2", "check_in", until=1.0)
        assert [(await anext(news)).what for _ in range(3)] == ["ended", "check_in", "checked_in"]


async def test_an_event_that_is_announced_later_is_entered_then(monkeypatch, caplog):
    monkeypatch.setattr(sessions, "ENTER_AGAIN_SECONDS", 0.05)
    caplog.set_level(logging.INFO, "cgos_client")
    model = Model(games=0)
    async with asyncio.timeout(SECONDS), V2Server(model) as server, as_bot(server, events=["spring"]) as session:
        while sum(isinstance(message, ws.EnterEvent) for message in server.heard) < 3:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        model.events = {"spring": set()}
        assert (await anext(session.event_news())).what == "entered"
    lines = [record.getMessage() for record in caplog.records if "spring" in record.getMessage()]
    assert lines == [
        "event spring: There is no event spring. Trying again every 0 seconds.",
        "event spring: spring: entered",
    ]


async def test_a_server_that_knows_no_events_is_no_harm(caplog):
    model = Model(games=0)
    model.knows_events = False
    async with asyncio.timeout(SECONDS), V2Server(model) as server, as_bot(server, events=["spring"]) as session:
        while "this server knows no events" not in caplog.text:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert session.connected


def test_what_can_be_no_event_is_refused_at_once():
    with pytest.raises(BadSetting, match="the event's name 'spring cup' cannot be"):
        connect("ws://localhost:1", bot="Bot", secret="sesame", venues=["5x5"], events=["spring cup"])
