"""What every bus has to do, whatever carries its facts: the clauses of `cgos_server.live.bus.FactBus` as tests.

An adapter to a broker passes when all `CLAUSES` pass on a harness round it; `test_bus.py` shows how, and shows that
each clause fails on a bus that breaks it.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from cgos_protocol.facts import BotArrived, BotLeft, Fact, GameEnded, MovePlayed
from cgos_server.live.bus import FactBus


class Harness(Protocol):
    """A bus under test.

    :ivar errors: what subscribers raised, as the bus reported it
    """

    bus: FactBus
    errors: list[Exception]

    async def settle(self) -> None:
        """Returns when every fact published so far has reached everybody."""


def move(ply: int, venue: str = "9x9", game: int = 1) -> MovePlayed:
    return MovePlayed(venue=venue, game=game, ply=ply, move="D4", left_ms=60_000)


def end(game: int = 1, venue: str = "9x9") -> GameEnded:
    return GameEnded(venue=venue, game=game, result="B+3.5", reason="score", at=1.5)


async def a_subscriber_hears_its_kind_and_no_other(h: Harness) -> None:
    heard: list[Fact] = []
    h.bus.subscribe(MovePlayed, heard.append)
    for fact in (move(1), BotArrived("9x9", "anna"), end(), BotLeft("9x9", "anna"), move(2)):
        h.bus.publish(fact)
    await h.settle()
    assert heard == [move(1), move(2)]


async def the_base_of_all_facts_is_no_kind_of_its_own(h: Harness) -> None:
    heard: list[Fact] = []
    h.bus.subscribe(Fact, heard.append)
    h.bus.publish(move(1))
    await h.settle()
    assert heard == []


async def everybody_hears_each_fact_once(h: Harness) -> None:
    heard: list[list[Fact]] = [[], [], []]
    for ear in heard:
        h.bus.subscribe(MovePlayed, ear.append)
    facts: list[Fact] = [move(ply) for ply in range(1, 101)]
    for fact in facts:
        h.bus.publish(fact)
    await h.settle()
    assert heard == [facts, facts, facts]


async def equal_facts_are_still_two(h: Harness) -> None:
    heard: list[Fact] = []
    h.bus.subscribe(MovePlayed, heard.append)
    h.bus.publish(move(1))
    h.bus.publish(move(1))
    await h.settle()
    assert heard == [move(1), move(1)]


async def a_fact_arrives_as_it_was(h: Harness) -> None:
    heard: list[Fact] = []
    fact = GameEnded(
        venue="19x19",
        game=2**53 + 1,
        result="W+0.5",
        reason="score",
        at=1_700_000_000.123456,
        black_used_ms=3,
        white_used_ms=900_000,
    )
    h.bus.subscribe(GameEnded, heard.append)
    h.bus.publish(fact)
    await h.settle()
    assert heard == [fact]
    assert type(heard[0]) is GameEnded


async def facts_of_a_venue_come_in_order_over_all_kinds(h: Harness) -> None:
    heard: list[Any] = []
    for kind in (GameEnded, MovePlayed):
        h.bus.subscribe(kind, heard.append)
    published: list[Any] = []
    for game in range(1, 6):
        for venue in ("9x9", "13x13"):
            published += [move(1, venue, game), move(2, venue, game), end(game, venue)]
    for fact in published:
        h.bus.publish(fact)
    await h.settle()
    for venue in ("9x9", "13x13"):
        assert [fact for fact in heard if fact.venue == venue] == [fact for fact in published if fact.venue == venue]


async def who_comes_later_hears_nothing_of_before(h: Harness) -> None:
    heard: list[Fact] = []
    h.bus.subscribe(MovePlayed, lambda _: None)
    h.bus.publish(move(1))
    await h.settle()
    h.bus.subscribe(MovePlayed, heard.append)
    h.bus.publish(move(2))
    await h.settle()
    assert heard == [move(2)]


async def who_has_stopped_hears_nothing(h: Harness) -> None:
    first: list[Fact] = []
    second: list[Fact] = []
    stop = h.bus.subscribe(MovePlayed, first.append)
    h.bus.subscribe(MovePlayed, second.append)
    h.bus.publish(move(1))
    await h.settle()
    stop()
    h.bus.publish(move(2))
    await h.settle()
    assert (first, second) == ([move(1)], [move(1), move(2)])


async def stopping_again_does_nothing(h: Harness) -> None:
    heard: list[Fact] = []
    stop = h.bus.subscribe(MovePlayed, heard.append)
    stop()
    h.bus.subscribe(MovePlayed, heard.append)
    stop()
    h.bus.publish(move(1))
    await h.settle()
    assert heard == [move(1)]


async def two_subscriptions_of_one_function_are_two(h: Harness) -> None:
    heard: list[Fact] = []
    h.bus.subscribe(MovePlayed, heard.append)
    stop = h.bus.subscribe(MovePlayed, heard.append)
    h.bus.publish(move(1))
    await h.settle()
    assert heard == [move(1), move(1)]
    stop()
    h.bus.publish(move(2))
    await h.settle()
    assert heard == [move(1), move(1), move(2)]


async def a_subscriber_that_raises_costs_nobody_anything(h: Harness) -> None:
    before: list[Fact] = []
    after: list[Fact] = []
    raised: list[Fact] = []

    def faulty(fact: Fact) -> None:
        raised.append(fact)
        raise RuntimeError(f"cannot take {len(raised)}")

    h.bus.subscribe(MovePlayed, before.append)
    h.bus.subscribe(MovePlayed, faulty)
    h.bus.subscribe(MovePlayed, after.append)
    h.bus.publish(move(1))
    h.bus.publish(move(2))
    await h.settle()
    assert before == after == raised == [move(1), move(2)]
    assert [str(error) for error in h.errors] == ["cannot take 1", "cannot take 2"]


async def stopping_oneself_while_being_told(h: Harness) -> None:
    once: list[Fact] = []
    always: list[Fact] = []

    def hear_once(fact: Fact) -> None:
        once.append(fact)
        stop()

    stop = h.bus.subscribe(MovePlayed, hear_once)
    h.bus.subscribe(MovePlayed, always.append)
    h.bus.publish(move(1))
    h.bus.publish(move(2))
    await h.settle()
    assert (once, always) == ([move(1)], [move(1), move(2)])
    assert h.errors == []


async def stopping_another_while_being_told(h: Harness) -> None:
    """Of two who stop each other, one hears the fact and the other nothing at all."""
    heard: list[str] = []
    stops: list[Callable[[], None]] = []

    def hear(name: str, other: int) -> Callable[[Fact], None]:
        def subscriber(fact: Fact) -> None:
            heard.append(name)
            stops[other]()

        return subscriber

    stops.append(h.bus.subscribe(MovePlayed, hear("first", 1)))
    stops.append(h.bus.subscribe(MovePlayed, hear("second", 0)))
    h.bus.publish(move(1))
    await h.settle()
    assert len(heard) == 1
    h.bus.publish(move(2))
    await h.settle()
    assert len(set(heard)) == 1
    assert len(heard) == 2


async def subscribing_while_being_told(h: Harness) -> None:
    newcomer: list[Fact] = []
    facts: list[Fact] = []

    def ask(fact: Fact) -> None:
        if not facts:
            h.bus.subscribe(MovePlayed, newcomer.append)
        facts.append(fact)

    h.bus.subscribe(MovePlayed, ask)
    h.bus.publish(move(1))
    await h.settle()
    assert newcomer == []
    h.bus.publish(move(2))
    await h.settle()
    assert (facts, newcomer) == ([move(1), move(2)], [move(2)])
    assert h.errors == []


async def publishing_while_being_told_keeps_the_order_for_everybody(h: Harness) -> None:
    heard: list[list[Fact]] = [[], []]

    def answer(fact: MovePlayed) -> None:
        heard[0].append(fact)
        if fact.ply == 1:
            h.bus.publish(move(2))
            h.bus.publish(end())

    for kind in (MovePlayed, GameEnded):
        h.bus.subscribe(kind, answer if kind is MovePlayed else heard[0].append)
        h.bus.subscribe(kind, heard[1].append)
    h.bus.publish(move(1))
    await h.settle()
    assert heard[0] == heard[1] == [move(1), move(2), end()]


async def an_error_while_publishing_inside_is_reported_and_no_more(h: Harness) -> None:
    heard: list[Fact] = []

    def faulty(fact: MovePlayed) -> None:
        if fact.ply == 1:
            h.bus.publish(move(2))
            raise RuntimeError("after publishing")

    h.bus.subscribe(MovePlayed, faulty)
    h.bus.subscribe(MovePlayed, heard.append)
    h.bus.publish(move(1))
    h.bus.publish(move(3))
    await h.settle()
    assert heard == [move(1), move(2), move(3)] or heard == [move(1), move(3), move(2)]
    assert [str(error) for error in h.errors] == ["after publishing"]


async def wanted_tells_whether_anybody_listens(h: Harness) -> None:
    assert not h.bus.wanted(MovePlayed)
    stops = [h.bus.subscribe(MovePlayed, lambda _: None) for _ in range(2)]
    assert h.bus.wanted(MovePlayed)
    assert not h.bus.wanted(GameEnded)
    stops[0]()
    assert h.bus.wanted(MovePlayed)
    stops[1]()
    assert not h.bus.wanted(MovePlayed)


async def publishing_needs_nobody_and_waits_for_nobody(h: Harness) -> None:
    """`publish` is no coroutine, and facts that nobody heard are kept for nobody."""
    for ply in range(1, 10_001):
        answer: object = h.bus.publish(move(ply))  # type: ignore[func-returns-value]
        assert answer is None
    await h.settle()
    heard: list[Fact] = []
    h.bus.subscribe(MovePlayed, heard.append)
    await h.settle()
    assert heard == []


Clause = Callable[[Harness], Awaitable[None]]

CLAUSES: tuple[Clause, ...] = tuple(
    clause
    for clause in list(globals().values())
    if inspect.iscoroutinefunction(clause) and clause.__module__ == __name__
)
"""Every test above, in its order."""
