"""Carries facts, after their commit, to whoever asked for their kind.

`FactBus` is what the rest of the server may rely on, whatever carries the facts; `Bus` is the one that does it in this
process. An adapter to a message broker is another class that passes the same contract test
(``tests/support/live/bus_contract.py``), with :func:`cgos_protocol.facts.encode` and ``carried`` on the wire.
Must not know: who listens, or why.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from cgos_protocol.facts import Fact

F = TypeVar("F", bound=Fact)


class FactBus(Protocol):
    """What carries facts.

    What a publisher owes: a fact is published only after its commit, by the thread of the event loop.

    What a subscriber may rely on:

    - it hears each fact of exactly the kind it asked for once, and no fact that was published before it subscribed;
    - it hears the facts of one venue in the order in which they were published, over all the kinds it asked for. That
      holds for a fact published by a subscriber too: it is told after the one that is being told now has reached
      everybody. Between venues there is no order;
    - an exception that it raises is reported and costs nobody else anything, itself included;
    - it may subscribe, stop and publish while it is being told something. Who subscribes then hears the next fact
      first; who has stopped hears nothing more, not even the fact that is being told.

    What it owes: it is a plain function and returns at once. Whoever needs to wait keeps a bounded queue of its own and
    says what it drops; the bus holds nothing back for anybody.
    """

    def subscribe(self, kind: type[F], subscriber: Callable[[F], None]) -> Callable[[], None]:
        """Hear every later fact of `kind`; call the returned function to stop, as often as you like.

        Each call is a subscription of its own, also for a function that has one already.
        """

    def wanted(self, kind: type[Fact]) -> bool:
        """False where nobody listens, so that the fact need not be built. True promises nothing."""

    def publish(self, fact: Fact) -> None:
        """Tell everybody who asked for this kind of fact, now or a little later. Never waits, never raises."""


class _Subscription:
    """One call of `subscribe`, until it is stopped."""

    __slots__ = ("active", "tell")

    def __init__(self, tell: Callable[[Any], None]) -> None:
        self.tell = tell
        self.active = True


class Bus:
    """A :class:`FactBus` in one process: everybody has heard a fact when `publish` returns, in the order in which they
    subscribed; published inside a subscriber, when the outermost `publish` returns. One a server.

    :param on_error: told of an exception that a subscriber raised
    """

    def __init__(self, on_error: Callable[[Exception], None]) -> None:
        self._on_error = on_error
        self._subscriptions: dict[type[Fact], list[_Subscription]] = {}
        self._waiting: deque[Fact] = deque()
        self._telling = False

    def subscribe(self, kind: type[F], subscriber: Callable[[F], None]) -> Callable[[], None]:
        """As :meth:`FactBus.subscribe`."""
        subscription = _Subscription(subscriber)
        self._subscriptions.setdefault(kind, []).append(subscription)

        def stop() -> None:
            if subscription.active:
                subscription.active = False
                self._subscriptions[kind].remove(subscription)

        return stop

    def wanted(self, kind: type[Fact]) -> bool:
        """As :meth:`FactBus.wanted`."""
        return bool(self._subscriptions.get(kind))

    def publish(self, fact: Fact) -> None:
        """As :meth:`FactBus.publish`."""
        self._waiting.append(fact)
        if self._telling:
            return
        self._telling = True
        try:
            while self._waiting:
                self._tell(self._waiting.popleft())
        finally:
            self._telling = False

    def _tell(self, fact: Fact) -> None:
        for subscription in tuple(self._subscriptions.get(type(fact), ())):
            if subscription.active:
                try:
                    subscription.tell(fact)
                except Exception as error:
                    self._on_error(error)
