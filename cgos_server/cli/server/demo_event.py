"""The demo's event: announced, entered and started by the commands that anybody would type, and looked at again and
again.

Must not know: the screen, how events go on.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from cgos_server.net import control_socket
from cgos_server.presentation import words
from cgos_server.presentation.events.reading import ReadEvents
from cgos_server.service.commands.declaration import Command
from cgos_server.service.commands.registry import ask
from cgos_server.service.control import ServerStatus
from cgos_server.service.events.announcing import EventCreate, EventOpen
from cgos_server.service.events.entering import EventEnter
from cgos_server.service.events.holding import EventStart
from cgos_server.tournaments.base import Entrant, Event
from cgos_server.tournaments.registry import known
from cgos_server.tournaments.running.state import EventState, Phase
from cgos_server.tournaments.systems.by_rounds import ByRounds
from cgos_server.tournaments.tournament import standings, system_of

ROUNDS = 4
"""Of systems that take any number."""
NAME = "demo"


class EventNow(NamedTuple):
    """Where the event stands.

    :ivar compared: what comes first in its standings
    :ivar rows: place, name and that value, best first
    """

    title: str
    compared: str
    rows: tuple[tuple[int, str, str], ...]

    @property
    def line(self) -> str:
        """All of it in one line."""
        return f"{self.title}: " + "  ".join(f"{place}. {name} {value}" for place, name, value in self.rows)


class DemoEvent:
    """One event among the demo's bots.

    :param names: of the bots
    """

    def __init__(self, directory: Path, venue: str, system: str, names: Collection[str]) -> None:
        self._directory = directory
        self._venue = venue
        self._system = system
        self._names = sorted(names)
        self._started = False

    async def start_when_all_are_there(self, status: ServerStatus) -> None:
        """Announce, enter and start it, once. Raises Refused."""
        if self._started or not set(self._names) <= {bot.name for bot in status.bots}:
            return
        self._started = True
        await self._say(EventCreate(event=NAME, system=self._system, venue=self._venue, rounds=self._rounds()))
        await self._say(EventOpen(event=NAME))
        for name in self._names:
            await self._say(EventEnter(event=NAME, version=name))
        await self._say(EventStart(event=NAME))

    async def look(self, events: ReadEvents) -> EventNow | None:
        """Where it stands; None before it starts."""
        return shown((await events.named(NAME)).state) if self._started else None

    async def _say(self, command: Command[Any]) -> None:
        await ask(partial(control_socket.call, self._directory), command)

    def _rounds(self) -> int | None:
        """How many, where the system does not say so itself."""
        word, options = known(self._system)
        field = tuple(Entrant(id=number, name=name) for number, name in enumerate(self._names, 1))
        event = Event(system=word, options=options, entrants=field)
        system = system_of(event)
        return ROUNDS if isinstance(system, ByRounds) and system.length(event) is None else None


def shown(state: EventState) -> EventNow:
    """An event that has started."""
    event = state.event
    begun, length = len(event.rounds), event.planned or system_of(event).length(event)
    where = f"round {begun}" + (f" of {length}" if length else "")
    if state.phase is Phase.OVER:
        where = f"over after {words.count(begun, 'round')}"
    table = standings(event)
    first = table.order[0]
    rows = tuple((row.place, row.name, "" if row.values[0] is None else f"{row.values[0]:g}") for row in table.rows)
    return EventNow(f"Event by {state.settings.system}, {where}", first, rows)
