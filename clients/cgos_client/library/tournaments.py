"""What a bot wants of the server's events, and what it hears of them, over any number of connections, without any I/O.

An event that is wanted is entered at every sign-in, which changes nothing where the bot is in already; when the server
asks who is there, the bot checks in. A series that is wanted, by the name of its first event, is entered again
whenever its next event is announced. Must not know: sockets, time, games.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from cgos_protocol.errors import Code
from cgos_protocol.event_news import EventWhat
from cgos_protocol.v2 import messages as ws

QUEUE: Final = 1_000
"""News that may wait to be looked at; of more than these the oldest are dropped."""

AGAIN: Final = frozenset((Code.EVENT_CLOSED, Code.EVENT_LIMIT, Code.NO_EVENT, Code.STORE))
"""Refusals that may pass: entry opens later, the event is announced later, the bot has a rating later."""

IN: Final = frozenset((EventWhat.ENTERED, EventWhat.WAITING, EventWhat.REJOINED))
"""Answers to a wish that came true."""

OUT: Final = frozenset((EventWhat.WITHDRAWN, EventWhat.LEFT_OUT, EventWhat.ENDED, EventWhat.CANCELLED))
"""After these there is nothing more to want of an event."""


class Heard(NamedTuple):
    """Something to tell people that was not told before."""

    news: ws.EventTold


class Refusal(NamedTuple):
    """What was wanted of an event cannot be, which was not told before.

    :ivar again: it is tried again
    """

    event: str
    code: str
    text: str
    again: bool = False


EventEffect: TypeAlias = ws.EnterEvent | ws.WithdrawEvent | ws.CheckInEvent | Heard | Refusal
"""Say this to the server, or tell this to people."""


@dataclass(slots=True, kw_only=True)
class Events:
    """The events of one bot.

    :ivar wanted: entered at every sign-in: events, and series by the name of their first one
    :ivar news: what was heard and not looked at yet
    :ivar refused: those of `wanted` whose refusal may pass
    """

    wanted: dict[str, None] = field(default_factory=dict)
    news: deque[ws.EventTold] = field(default_factory=lambda: deque(maxlen=QUEUE))
    refused: dict[str, None] = field(default_factory=dict)
    _last: dict[str, Heard] = field(default_factory=dict)
    _refusals: dict[str, Refusal] = field(default_factory=dict)

    def enter(self, event: str) -> list[EventEffect]:
        """It is wanted from now on."""
        self.wanted[event] = None
        self._last.pop(event, None)
        self._refusals.pop(event, None)
        return [ws.EnterEvent(event)]

    def withdraw(self, event: str) -> list[EventEffect]:
        """It is wanted no more."""
        self._drop(event)
        return [ws.WithdrawEvent(event)]

    def ask_again(self) -> list[EventEffect]:
        """What may have passed."""
        refused, self.refused = self.refused, {}
        return [ws.EnterEvent(event) for event in refused]

    def receive(self, message: ws.ServerMessage) -> list[EventEffect]:
        """What follows from a message. Those that are of no event have no effect here."""
        match message:
            case ws.SignedIn():
                self.refused.clear()
                return [ws.EnterEvent(event) for event in self.wanted]
            case ws.EventTold():
                return self._told(message)
            case ws.Error(event=event) if event:
                return self._refused(message)
            case ws.Error(code=Code.INVALID, text=text) if self.wanted and "enter_event" in text:
                events = ", ".join(self.wanted)
                self.wanted.clear()
                return [Refusal(events, message.code, "this server knows no events")]
            case _:
                return []

    def _told(self, message: ws.EventTold) -> list[EventEffect]:
        event, series, what = message.event, message.series, message.what
        effects = list[EventEffect]()
        if what == EventWhat.CHECK_IN:  # whoever entered it: it is here
            effects.append(ws.CheckInEvent(event))
        if what == EventWhat.FOLLOWED and series in self.wanted:
            effects.append(ws.EnterEvent(series))
        if what in OUT and event != series:
            self._drop(event)
        if what == EventWhat.WITHDRAWN:
            self._drop(series)
        if what in IN:
            for name in (event, series):
                self.refused.pop(name, None)
                self._refusals.pop(name, None)
        heard = Heard(message)
        if self._last.get(event) != heard:
            self._last[event] = heard
            self.news.append(message)
            effects.append(heard)
        return effects

    def _refused(self, error: ws.Error) -> list[EventEffect]:
        if error.event in self.wanted:
            if error.code in AGAIN:
                self.refused[error.event] = None
            else:
                self._drop(error.event)
        refusal = Refusal(error.event, error.code, error.text, again=error.event in self.refused)
        if self._refusals.get(error.event) == refusal:
            return []
        self._refusals[error.event] = refusal
        return [refusal]

    def _drop(self, event: str) -> None:
        self.wanted.pop(event, None)
        self.refused.pop(event, None)
