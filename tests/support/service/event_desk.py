"""Events that are folded and kept in memory, as use cases see those of a live server.

Must not know: how events go on by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cgos_protocol.errors import Code, Conflict, NotFound
from cgos_server.tournaments.event import open_games
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import EventSettings, require_settings
from cgos_server.tournaments.running.state import AFTER, EventState, after, announced
from cgos_server.tournaments.tournament import ready_games


class Desk:
    """The events of a server with the venue 9x9.

    :ivar said: what was written into the events' logs: (event, actor, words)
    :ivar ratings: version -> Elo
    """

    def __init__(self, now_ms: Callable[[], int] = lambda: 1_700_000_000_000) -> None:
        self.states: dict[str, EventState] = {}
        self.said: list[tuple[str, str, log.Said]] = []
        self.ratings: dict[int, float] = {}
        self.now_ms = now_ms

    def announce(self, settings: EventSettings, actor: str) -> EventState:
        if settings.name in self.states:
            raise Conflict(Code.EVENT_NAME_TAKEN, f"There is an event {settings.name} already. Take another name.")
        self.is_rated(settings)
        self.states[settings.name] = announced(settings)
        return self.say(settings.name, log.Announced(settings=settings), actor)

    def is_rated(self, settings: EventSettings) -> bool:
        require_settings(settings)
        if settings.venue != "9x9":
            raise NotFound(Code.UNKNOWN_VENUE, f"There is no venue {settings.venue}.")
        return settings.rated and not settings.play.is_own

    def state(self, name: str) -> EventState:
        if name not in self.states or self.states[name].phase in AFTER:
            raise NotFound(Code.NO_EVENT, f"There is no event {name} that is on.")
        return self.states[name]

    async def reopen(self, name: str) -> EventState:
        if name not in self.states:
            raise NotFound(Code.NO_EVENT, f"There is no event {name}.")
        return self.states[name]

    def say(self, name: str, said: log.Said, actor: str) -> EventState:
        before = self.states[name] if isinstance(said, log.Ruled | log.TakenBack) else self.state(name)
        self.states[name] = after(before, log.LogEntry(before.seq + 1, self.now_ms(), actor, said))
        self.said.append((name, actor, said))
        return self.states[name]

    def rating(self, venue: str, version: int) -> float | None:
        assert venue == "9x9"
        return self.ratings.get(version)

    # -- what a test does besides

    def pair(self, name: str) -> None:
        """All that could begin now is paired."""
        for each in ready_games(self.states[name].event):
            self.say(name, log.Paired(round=each), "server")

    def play(self, name: str, results: Mapping[int, Any]) -> None:
        """Game of the event -> its result."""
        for game, result in results.items():
            self.say(name, log.Ended(game=game, result=result), "server")

    def open_numbers(self, name: str) -> list[int]:
        """The games without a result."""
        return [game.id for _, game in open_games(self.states[name].event)]
