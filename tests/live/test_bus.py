"""The bus in this process keeps the contract; buses that are broken on purpose do not get through it.

Every clause is shown to fail on at least one broken bus, so that none of them is an ornament.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.live.bus_contract import CLAUSES, Clause, move

import cgos_protocol.facts as facts_module
import cgos_server
from cgos_protocol.facts import AnyFact, Fact, MovePlayed, NamesErased, carried, encode
from cgos_server.live.bus import Bus, FactBus


class Plain:
    """A harness round a bus that has told everybody when `publish` returns."""

    def __init__(self, make: Callable[[Callable[[Exception], None]], FactBus] = Bus) -> None:
        self.errors: list[Exception] = []
        self.bus = make(self.errors.append)

    async def settle(self) -> None:
        await asyncio.sleep(0)


class Carried:
    """What an adapter to a broker looks like: facts leave as bytes and are told in a later turn of the loop."""

    def __init__(self, on_error: Callable[[Exception], None]) -> None:
        self._inside = Bus(on_error)
        self._line: deque[bytes] = deque()

    def subscribe(self, kind: type[Any], subscriber: Callable[[Any], None]) -> Callable[[], None]:
        return self._inside.subscribe(kind, subscriber)

    def wanted(self, kind: type[Fact]) -> bool:
        return self._inside.wanted(kind)

    def publish(self, fact: Fact) -> None:
        self._line.append(encode(fact))
        asyncio.get_running_loop().call_soon(self._arrives)

    def _arrives(self) -> None:
        fact = carried(self._line.popleft())
        assert fact is not None
        self._inside.publish(fact)


async def _turn() -> None:
    """One turn of the loop."""
    await asyncio.sleep(0)


class CarriedHarness(Plain):
    """Settled when nothing is under way."""

    def __init__(self) -> None:
        super().__init__(Carried)

    async def settle(self) -> None:
        while self.bus._line:  # type: ignore[attr-defined]
            await _turn()
        await _turn()


@pytest.mark.parametrize("clause", CLAUSES, ids=lambda clause: clause.__name__)
@pytest.mark.parametrize("harness", [Plain, CarriedHarness])
async def test_the_contract(clause: Clause, harness: type[Plain]) -> None:
    await clause(harness())


# -- buses that are broken on purpose


class _Broken:
    """The simplest bus there is: it tells at once, from the list itself."""

    def __init__(self, on_error: Callable[[Exception], None]) -> None:
        self.on_error = on_error
        self.subscribers: dict[type[Fact], list[Callable[[Any], None]]] = {}

    def subscribe(self, kind: type[Any], subscriber: Callable[[Any], None]) -> Callable[[], None]:
        self.subscribers.setdefault(kind, []).append(subscriber)
        return lambda: self.stop(kind, subscriber)

    def stop(self, kind: type[Fact], subscriber: Callable[[Any], None]) -> None:
        if subscriber in self.subscribers[kind]:
            self.subscribers[kind].remove(subscriber)

    def wanted(self, kind: type[Fact]) -> bool:
        return bool(self.subscribers.get(kind))

    def publish(self, fact: Fact) -> None:
        for subscriber in self.subscribers.get(type(fact), ()):  # the list itself: who stops makes others be left out
            self.tell(subscriber, fact)

    def tell(self, subscriber: Callable[[Any], None], fact: Fact) -> None:
        try:
            subscriber(fact)
        except Exception as error:
            self.on_error(error)


class Nested(_Broken):
    """Tells what is published inside at once, so that some hear it before what led to it; and who was stopped."""

    def publish(self, fact: Fact) -> None:
        for subscriber in tuple(self.subscribers.get(type(fact), ())):
            self.tell(subscriber, fact)


class Fragile(Nested):
    """Gives up on a fact at the first subscriber that raises."""

    def publish(self, fact: Fact) -> None:
        try:
            for subscriber in tuple(self.subscribers.get(type(fact), ())):
                subscriber(fact)
        except Exception as error:
            self.on_error(error)


class Silent(Nested):
    """Says nothing of what subscribers raise."""

    def __init__(self, on_error: Callable[[Exception], None]) -> None:
        super().__init__(lambda _: None)


class Twice(Nested):
    """Delivers at least once."""

    def publish(self, fact: Fact) -> None:
        super().publish(fact)
        super().publish(fact)


class Unique(Nested):
    """Takes an equal fact for a repetition."""

    def __init__(self, on_error: Callable[[Exception], None]) -> None:
        super().__init__(on_error)
        self.facts: set[Fact] = set()

    def publish(self, fact: Fact) -> None:
        if fact not in self.facts:
            self.facts.add(fact)
            super().publish(fact)


class ByBase(Nested):
    """Tells those who asked for a base class too."""

    def publish(self, fact: Fact) -> None:
        super().publish(fact)
        for subscriber in tuple(self.subscribers.get(Fact, ())):
            self.tell(subscriber, fact)


class Everything(Nested):
    """Tells everybody everything."""

    def publish(self, fact: Fact) -> None:
        for subscribers in list(self.subscribers.values()):
            for subscriber in tuple(subscribers):
                self.tell(subscriber, fact)


class Lossy(Nested):
    """Carries times as whole seconds."""

    def publish(self, fact: Fact) -> None:
        if hasattr(fact, "at"):
            fact = msgspec.structs.replace(fact, at=float(int(fact.at)))
        super().publish(fact)


class Retained(Nested):
    """Tells a newcomer the last fact of its kind, as a broker that retains messages."""

    def __init__(self, on_error: Callable[[Exception], None]) -> None:
        super().__init__(on_error)
        self.last: dict[type[Fact], Fact] = {}

    def subscribe(self, kind: type[Any], subscriber: Callable[[Any], None]) -> Callable[[], None]:
        if kind in self.last:
            self.tell(subscriber, self.last[kind])
        return super().subscribe(kind, subscriber)

    def publish(self, fact: Fact) -> None:
        self.last[type(fact)] = fact
        super().publish(fact)


class ByKind(Nested):
    """Carries each kind on a line of its own: the order over kinds is lost."""

    def __init__(self, on_error: Callable[[Exception], None]) -> None:
        super().__init__(on_error)
        self.lines: dict[str, list[Fact]] = {}

    def publish(self, fact: Fact) -> None:
        self.lines.setdefault(type(fact).__name__, []).append(fact)

    def flush(self) -> None:
        lines, self.lines = self.lines, {}
        for kind in sorted(lines):
            for fact in lines[kind]:
                super().publish(fact)


class Deaf(Nested):
    """Cannot be stopped."""

    def stop(self, kind: type[Fact], subscriber: Callable[[Any], None]) -> None:
        pass


class StopsAll(Nested):
    """Stopping one subscription of a function stops them all."""

    def stop(self, kind: type[Fact], subscriber: Callable[[Any], None]) -> None:
        self.subscribers[kind] = [other for other in self.subscribers[kind] if other != subscriber]


class Eager(Nested):
    """Always says that it is wanted."""

    def wanted(self, kind: type[Fact]) -> bool:
        return True


class FlushedHarness(Plain):
    """For a bus that tells when it settles."""

    async def settle(self) -> None:
        while getattr(self.bus, "lines", None):
            self.bus.flush()  # type: ignore[attr-defined]


CAUGHT: dict[type[_Broken], set[str]] = {
    _Broken: {"stopping_oneself_while_being_told", "subscribing_while_being_told"},
    Nested: {
        "publishing_while_being_told_keeps_the_order_for_everybody",
        "an_error_while_publishing_inside_is_reported_and_no_more",
        "stopping_another_while_being_told",
    },
    Fragile: {"a_subscriber_that_raises_costs_nobody_anything"},
    Silent: {"a_subscriber_that_raises_costs_nobody_anything"},
    Twice: {"everybody_hears_each_fact_once", "equal_facts_are_still_two"},
    Unique: {"equal_facts_are_still_two"},
    ByBase: {"the_base_of_all_facts_is_no_kind_of_its_own"},
    Everything: {"a_subscriber_hears_its_kind_and_no_other"},
    Lossy: {"a_fact_arrives_as_it_was"},
    Retained: {"who_comes_later_hears_nothing_of_before", "publishing_needs_nobody_and_waits_for_nobody"},
    ByKind: {"facts_of_a_venue_come_in_order_over_all_kinds"},
    Deaf: {"who_has_stopped_hears_nothing", "stopping_oneself_while_being_told"},
    StopsAll: {"stopping_again_does_nothing", "two_subscriptions_of_one_function_are_two"},
    Eager: {"wanted_tells_whether_anybody_listens"},
}
"""Broken bus -> clauses that have to catch it."""


@pytest.mark.parametrize("broken", CAUGHT, ids=lambda broken: broken.__name__)
async def test_a_broken_bus_is_caught(broken: type[_Broken]) -> None:
    caught = set()
    for clause in CLAUSES:
        try:
            await clause(FlushedHarness(broken))
        except (AssertionError, ValueError):
            caught.add(clause.__name__)
    assert CAUGHT[broken] <= caught


def test_every_clause_catches_something() -> None:
    assert {clause.__name__ for clause in CLAUSES} == set().union(*CAUGHT.values())


# -- this bus alone


def test_subscribers_are_told_in_their_order_before_publish_returns() -> None:
    heard: list[str] = []
    bus = Bus(lambda error: pytest.fail(str(error)))
    for name in "abc":
        bus.subscribe(MovePlayed, lambda _, name=name: heard.append(name))  # type: ignore[misc]
    bus.publish(move(1))
    assert heard == ["a", "b", "c"]


def test_what_ends_the_program_is_not_held_up() -> None:
    """A KeyboardInterrupt passes, and the bus still works afterwards."""
    bus = Bus(lambda error: pytest.fail(str(error)))
    heard: list[Fact] = []

    def interrupt(_: Fact) -> None:
        raise KeyboardInterrupt

    stop = bus.subscribe(MovePlayed, interrupt)
    bus.subscribe(MovePlayed, heard.append)
    with pytest.raises(KeyboardInterrupt):
        bus.publish(move(1))
    stop()
    bus.publish(move(2))
    assert heard[-1] == move(2)


# -- facts as bytes

_VALUES: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(max_size=40),
    int: st.integers(-(2**63), 2**63 - 1),
    float: st.floats(allow_nan=False, allow_infinity=False),
    float | None: st.none() | st.floats(allow_nan=False, allow_infinity=False),
}


def _kinds() -> list[type[Fact]]:
    return list(AnyFact.__args__)  # type: ignore[attr-defined]


def _built(kind: type[Fact]) -> st.SearchStrategy[Fact]:
    fields = {
        field.name: _VALUES[getattr(field.type, "__supertype__", field.type)] for field in msgspec.structs.fields(kind)
    }
    return st.builds(kind, **fields)


@given(st.one_of([_built(kind) for kind in _kinds()]))
def test_every_fact_survives_its_journey_as_bytes(fact: Fact) -> None:
    arrived = carried(encode(fact))
    assert arrived == fact
    assert type(arrived) is type(fact)


def test_no_kind_of_fact_is_left_out() -> None:
    defined = {value for value in vars(facts_module).values() if isinstance(value, type) and issubclass(value, Fact)}
    assert defined - {Fact, NamesErased} == set(_kinds())


def test_after_an_erasure_everything_is_to_be_read_anew() -> None:
    assert carried(encode(NamesErased())) is None


def test_what_is_no_known_fact_is_refused_and_unknown_fields_are_left_out() -> None:
    assert carried(b'{"fact":"BotLeft","venue":"9x9","version":"anna","mood":"good"}') == facts_module.BotLeft(
        "9x9", "anna"
    )
    for data in (b'{"fact":"BotSlept","venue":"9x9","version":"anna"}', b"[]", b"", b'{"fact":"BotLeft"}'):
        with pytest.raises(msgspec.DecodeError):
            carried(data)


def test_only_the_live_server_publishes() -> None:
    """Facts come after their commit: nothing outside the layer that waits for commits says `publish`."""
    root = Path(cgos_server.__file__).parent
    publishing = {path.relative_to(root).parts[0] for path in root.rglob("*.py") if ".publish(" in path.read_text()}
    assert publishing == {"live"}
