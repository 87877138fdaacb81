"""An event's log, read: the state it folds to, a sentence for each entry, and what became of each game.

Games that were taken back, and entrants who took their entries back, are not in the state any more; here they are. Must
not know: messages of the API, tables, HTTP.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from cgos_protocol.errors import OurFault
from cgos_protocol.ids import BotId
from cgos_server.presentation.events.sentences import GameSeen, Told, sentence
from cgos_server.tournaments.base import Standings
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.state import EventState, after, announced
from cgos_server.tournaments.running.succession import final_standings
from cgos_server.tournaments.standings.crosstable import Crosstable, crosstable

T = TypeVar("T")


class GameTimes(Struct, frozen=True, kw_only=True):
    """What the log says of a game besides its record. Times are Unix ms; None: that has not happened.

    :ivar why: why it was not played to its end
    :ivar ruling: why the operator gave it another result
    """

    began_at: int | None = None
    ended_at: int | None = None
    why: str = ""
    ruling: str = ""


class Results:
    """What follows from the games' results: of one state of an event, so that any thread may compute it."""

    def __init__(self, state: EventState) -> None:
        self._state = state
        self._standings: Standings | None = None
        self._crosstable: Crosstable | None = None

    @property
    def standings(self) -> Standings:
        """Who stands where; computed when it is first wanted."""
        if self._standings is None:
            self._standings = final_standings(self._state)
        return self._standings

    @property
    def crosstable(self) -> Crosstable:
        """Who met whom; likewise."""
        if self._crosstable is None:
            self._crosstable = crosstable(self._state.event, self.standings)
        return self._crosstable

    def hold_of(self, state: EventState) -> bool:
        """True where they are also those of another state."""
        return state.event is self._state.event and state.won_playoff == self._state.won_playoff


class EventRecord:
    """What one event's log says up to some entry.

    :ivar id: number of the event
    :ivar entries: of the log, all of them
    :ivar sentences: one for each entry
    :ivar state: what they fold to
    :ivar results: standings and crosstable of this state
    :ivar new_rounds: entries that paired the first games of a round
    :ivar times: game of the event -> what the log says of it
    :ivar bots: bot -> its name and its owner's, where it has one
    """

    def __init__(self, id_: int, first: log.LogEntry) -> None:
        if not isinstance(first.said, log.Announced):
            raise OurFault(f"The log of event {id_} does not begin with its announcement.")
        self.id = id_
        self.entries: list[log.LogEntry] = []
        self.sentences: list[str] = []
        self.state: EventState = announced(first.said.settings)
        self.new_rounds: set[int] = set()
        self.times: dict[int, GameTimes] = {}
        self.bots: dict[BotId, tuple[str, str | None]] = {}
        self._told = Told()
        self.results = Results(self.state)
        self._made: dict[str, Any] = {}
        self.add(first)

    def add(self, entry: log.LogEntry) -> None:
        """Take one more entry. Raises Refused where it cannot follow."""
        before = self.state
        self.state = after(before, entry)
        if not self.results.hold_of(self.state):
            self.results = Results(self.state)
        self._made = {}
        self._see(before, entry)
        self.entries.append(entry)
        self.sentences.append(sentence(before, self.state, entry, self._told))

    def _see(self, before: EventState, entry: log.LogEntry) -> None:
        said = entry.said
        match said:
            case log.Entered():
                self._told.names[said.entrant] = said.name
            case log.Paired():
                number = said.round.number
                if number > len(before.event.rounds):
                    self.new_rounds.add(entry.seq)
                games = self.state.event.rounds[number - 1].games
                for game in games[len(games) - len(said.round.games) :]:
                    self._told.games[game.id] = GameSeen(number, game.black, game.white)
                    self.times[game.id] = GameTimes()
            case log.Began():
                self._time(said.game, began_at=entry.at)
            case log.Ended():
                self._time(said.game, ended_at=entry.at, why=said.why)
            case log.Ruled() if said.result is None:  # it is played again, under its own number
                self._time(said.game, ruling=said.reason, began_at=None, ended_at=None, why="")
            case log.Ruled():
                self._time(said.game, ruling=said.reason, ended_at=self.times[said.game].ended_at or entry.at)
            case _:
                pass

    def _time(self, game: int, **changed: Any) -> None:
        self.times[game] = replace(self.times[game], **changed)

    def as_it_is(self) -> EventRecord:
        """A record that no entry changes, for other threads; what is made of it once is made for this one too."""
        now = copy.copy(self)
        now.entries, now.sentences = self.entries.copy(), self.sentences.copy()
        now.new_rounds, now.times = self.new_rounds.copy(), self.times.copy()
        return now

    @property
    def standings(self) -> Standings:
        """Who stands where now."""
        return self.results.standings

    def round_times(self, number: int) -> tuple[int | None, int | None]:
        """When the round of that number was paired, and when it was over; Unix ms, None: not known, or not yet."""
        each = self.state.event.rounds[number - 1]
        paired = [self.state.due_at[game.id] for game in each.games if game.id in self.state.due_at]
        if not each.is_complete:
            return min(paired, default=None), None
        ended = [self.times[game.id].ended_at for game in each.games if game.id in self.times]
        return min(paired, default=None), max((at for at in ended if at is not None), default=None)

    def once(self, what: str, make: Callable[[], T]) -> T:
        """What is made of the log as it is, made once until it has another entry."""
        if what not in self._made:
            self._made[what] = make()
        made: T = self._made[what]
        return made
