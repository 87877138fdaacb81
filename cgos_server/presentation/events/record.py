"""An event's log, read: the state it folds to, a sentence for each entry, and what became of each game.

Games that were taken back, and entrants who took their entries back, are not in the state any more; here they are. Must
not know: messages of the API, tables, HTTP.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from cgos_protocol.errors import OurFault
from cgos_protocol.ids import BotId
from cgos_server.presentation.events.sentences import GameSeen, Told, sentence
from cgos_server.tournaments.base import Event, Result, Standings
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.state import EventState, after, announced
from cgos_server.tournaments.running.succession import final_standings

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class GameTimes:
    """What the log says of a game besides its record. Times are Unix ms; None: that has not happened.

    :ivar why: why it was not played to its end
    :ivar ruling: why the operator gave it another result
    """

    began_at: int | None = None
    ended_at: int | None = None
    why: str = ""
    ruling: str = ""


class EventRecord:
    """What one event's log says up to some entry.

    :ivar id: number of the event
    :ivar entries: of the log, all of them
    :ivar sentences: one for each entry
    :ivar state: what they fold to
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
        self._standings: tuple[Event | None, Standings] = None, Standings((), ())
        self._made: dict[str, Any] = {}
        self.add(first)

    def add(self, entry: log.LogEntry) -> None:
        """Take one more entry. Raises Refused where it cannot follow."""
        before = self.state
        self.state = after(before, entry)
        self._made.clear()
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
                self.times[said.game].began_at = entry.at
            case log.Ended():
                times = self.times[said.game]
                times.ended_at, times.why = entry.at, said.why
            case log.Ruled():
                times = self.times[said.game]
                times.ruling = said.reason
                if said.result is None:
                    times.began_at = times.ended_at = None  # it is played again, under its own number
                    times.why = ""
                elif times.ended_at is None:
                    times.ended_at = entry.at
            case _:
                pass

    @property
    def standings(self) -> Standings:
        """Who stands where now; computed once for each record of the tournament."""
        event, known = self._standings
        if event is not self.state.event:
            known = final_standings(self.state)
            self._standings = self.state.event, known
        return known

    def once(self, what: str, make: Callable[[], T]) -> T:
        """What is made of the log as it is, made once until it has another entry."""
        if what not in self._made:
            self._made[what] = make()
        made: T = self._made[what]
        return made


def result_words(result: Result) -> str:
    """A result as people say it: ``Black wins``, ``White wins by forfeit``, ``Void``."""
    if result.how == "void":
        return "Void"
    if result.how == "no-contest":
        return "No contest"
    by = " by forfeit" if result.how == "forfeit" else ""
    match result.black, result.white:
        case (2, 0):
            return f"Black wins{by}"
        case (0, 2):
            return f"White wins{by}"
        case (1, 1):
            return f"Draw{by}"
        case (0, 0):
            return "Both forfeit" if by else "Both lose"
    return f"Black {result.black / 2:g}, White {result.white / 2:g}{by}"
