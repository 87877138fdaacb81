"""Limits: how often and how much at once, in bounded memory."""

from __future__ import annotations

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.api.route import PROBLEM, Limit
from cgos_protocol.errors import Code, RateLimited, Refused
from cgos_server.core.addresses import party
from cgos_server.presentation.settings import WebSettings
from cgos_server.storage.reading.history import History
from cgos_server.web.application import create_app
from cgos_server.web.around.limiting import Buckets, Limits, Slots, TooMuch


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@given(
    per_minute=st.integers(1, 50),
    steps=st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 20)), max_size=150),
)
def test_nobody_gets_more_than_a_minutes_worth_and_what_flows_in(
    per_minute: int, steps: list[tuple[str, float]]
) -> None:
    buckets, now = Buckets(per_minute), 0.0
    taken = {"a": 0, "b": 0}
    for address, pause in steps:
        now += pause
        wait = buckets.take(address, now)
        taken[address] += not wait
        assert 0 <= wait <= 60 / per_minute + 1e-6
        assert taken[address] <= per_minute * (1 + now / 60) + 1e-6


@given(st.integers(1, 50))
def test_after_the_wait_there_is_one_more(per_minute: int) -> None:
    buckets = Buckets(per_minute)
    assert [buckets.take("a", 0.0) for _ in range(per_minute)] == [0.0] * per_minute
    wait = buckets.take("a", 0.0)
    assert wait > 0
    assert buckets.take("a", wait + 1e-6) == 0.0
    assert buckets.take("b", 0.0) == 0.0


def test_a_clock_that_goes_back_gives_nothing_and_takes_nothing() -> None:
    buckets = Buckets(2)
    assert buckets.take("a", 100.0) == 0.0
    assert buckets.take("a", 50.0) == 0.0
    assert buckets.take("a", 50.0) > 0.0


def test_memory_is_bounded_and_forgets_who_was_not_heard_for_longest() -> None:
    buckets = Buckets(1, remembered=3)
    for address in ("a", "b", "c", "a", "d"):
        buckets.take(address, 0.0)
    assert len(buckets) == 3
    assert buckets.take("a", 0.0) > 0, "it asked lately and is remembered"
    assert buckets.take("b", 0.0) == 0.0, "it was forgotten"


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("abc")), max_size=60))
def test_slots_are_never_more_than_there_are(steps: list[tuple[bool, str]]) -> None:
    slots, held = Slots(2, 4), {"a": 0, "b": 0, "c": 0}
    for take, who in steps:
        if take:
            free = held[who] < 2 and sum(held.values()) < 4
            assert slots.take(who) is free
            held[who] += free
        elif held[who]:
            slots.give(who)
            held[who] -= 1
        assert slots.taken == sum(held.values())


def test_a_slot_is_given_back_whatever_happens() -> None:
    limits = Limits(WebSettings(streams_per_address=1), Clock())
    with limits.slot(Limit.STREAMS, "192.0.2.1"):
        assert limits.taken(Limit.STREAMS) == 1
        with pytest.raises(TooMuch) as refusal, limits.slot(Limit.STREAMS, "192.0.2.1"):
            pass
        assert refusal.value.limit is Limit.STREAMS
        assert limits.taken(Limit.STREAMS) == 1
    with pytest.raises(ZeroDivisionError), limits.slot(Limit.STREAMS, "192.0.2.1"):
        raise ZeroDivisionError
    assert limits.taken(Limit.STREAMS) == 0


def test_limits_are_counted_apart_and_name_themselves() -> None:
    clock = Clock()
    limits = Limits(WebSettings(requests_per_minute=3), clock)
    for _ in range(3):
        limits.spend(Limit.REQUESTS, "192.0.2.1")
    with pytest.raises(Refused) as refusal:
        limits.spend(Limit.REQUESTS, "192.0.2.1")
    assert "'requests'" in refusal.value.sentence
    assert refusal.value.retry_after_s == pytest.approx(20)
    limits.spend(Limit.SIGN_IN, "192.0.2.1")
    clock.now += 20
    limits.spend(Limit.REQUESTS, "192.0.2.1")


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("", "", True),
    ],
)
def test_whose_address_it_is(first: str, second: str, same: bool) -> None:
    assert (party(first) == party(second)) is same


async def test_who_asks_too_often_is_told_so_as_it_asked(empty_history: History) -> None:
    now = 0

    def now_ms() -> int:
        return now

    transport = httpx2.ASGITransport(create_app(empty_history, WebSettings(requests_per_minute=2), now_ms))
    async with httpx2.AsyncClient(transport=transport, base_url="http://x") as web:
        for path in ("/connect", "/api/v1"):
            assert (await web.get(path)).status_code == 200
        page, answer = await web.get("/connect"), await web.get("/api/v1")
        assert page.status_code == answer.status_code == 429
        assert page.headers["content-type"].startswith("text/html")
        assert "content-security-policy" in page.headers
        assert answer.headers["content-type"] == PROBLEM
        assert answer.headers["access-control-allow-origin"] == "*"
        assert (answer.json()["limit"], answer.json()["status"]) == ("requests", 429)
        assert page.headers["retry-after"] == answer.headers["retry-after"] == "30"
        for path in ("/api", "/api/", "/api/v1/"):
            assert (await web.get(path)).headers["content-type"] == PROBLEM
        assert (await web.get("/static/style.css")).status_code == 200
        now += 31_000
        assert (await web.get("/api/v1")).status_code == 200
        assert (await web.get("/api/v1")).status_code == 429


def test_nobody_is_told_to_wait_for_nothing() -> None:
    """Whole seconds, one at least, in words and in figures."""
    clock = [0.0]
    limits = Limits(WebSettings(requests_per_minute=600), lambda: clock[0])
    for _ in range(600):
        limits.spend(Limit.REQUESTS, "192.0.2.1")
    clock[0] = 0.012
    with pytest.raises(TooMuch) as refusal:
        limits.spend(Limit.REQUESTS, "192.0.2.1")
    assert refusal.value.retry_after_s == 1
    assert "Please wait for 1 s." in refusal.value.sentence
    assert [RateLimited(Code.TOO_MANY, "x.", wait).retry_after_s for wait in (0.0, 0.088000056, 1.0, 1.2, None)] == [
        1,
        1,
        1,
        2,
        None,
    ]
