"""Carries facts, after their commit, to whoever asked for their kind. In-process and synchronous.

A subscriber is a plain function that must return at once; whoever needs to wait keeps a bounded queue of its own. A
subscriber that raises is our fault: it is reported and the others still hear. Must not know: who listens, or why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from cgos_server.core.facts import Fact

F = TypeVar("F", bound=Fact)


class Bus:
    """One a server.

    :param on_error: told of an exception that a subscriber raised
    """

    def __init__(self, on_error: Callable[[Exception], None]) -> None:
        self._on_error = on_error
        self._subscribers: dict[type[Fact], list[Callable[[Any], None]]] = {}

    def subscribe(self, kind: type[F], subscriber: Callable[[F], None]) -> Callable[[], None]:
        """Hear every later fact of `kind`; call the returned function to stop."""
        self._subscribers.setdefault(kind, []).append(subscriber)

        def stop() -> None:
            self._subscribers[kind].remove(subscriber)

        return stop

    def wanted(self, kind: type[Fact]) -> bool:
        """False where nobody listens, so that the fact need not be built."""
        return bool(self._subscribers.get(kind))

    def publish(self, fact: Fact) -> None:
        """Tell everybody who asked for this kind of fact, in the order in which they subscribed."""
        for subscriber in tuple(self._subscribers.get(type(fact), ())):
            try:
                subscriber(fact)
            except Exception as error:
                self._on_error(error)
