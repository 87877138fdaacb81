"""An event that is held by hand: its log, a clock, and the records that the store has of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from cgos_protocol.ids import BotId, EventId, GameId, VenueId, VersionId
from cgos_server.storage.writing.records import EventAdded, EventEntrant, EventGame, EventLogged, EventPhase, Record
from cgos_server.tournaments.base import BLACK_WINS, DRAWN, WHITE_WINS, Game, Result
from cgos_server.tournaments.event import game_by_id
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.admission import Candidate, entering
from cgos_server.tournaments.running.settings import EventSettings
from cgos_server.tournaments.running.state import EventState, Phase, after, announced
from cgos_server.tournaments.running.steps import closing, next_step, paired, pairs_now
from cgos_server.tournaments.tournament import ready_games

START_MS = 1_790_000_000_000


class HeldEvent:
    """One event.

    :ivar now: Unix ms
    :ivar away: versions that are not connected -> since when
    :ivar next_game: number of the server's next game
    """

    def __init__(self, settings: EventSettings, at: int = START_MS, first_game: int = 101) -> None:
        self.now = at
        self.next_game = first_game
        self.state = announced(settings)
        self.entries: list[log.LogEntry] = []
        self.away: dict[VersionId, int] = {}
        self.say(log.Announced(settings=settings), "operator")

    def say(self, said: log.Said, actor: str = "server") -> EventState:
        """Write one more entry."""
        entry = log.LogEntry(self.state.seq + 1, self.now, actor, log.decode(log.encode(said)))
        self.state = after(self.state, entry)
        self.entries.append(entry)
        return self.state

    def enter(self, number: int, rating: float | None = None, name: str = "") -> None:
        """Version `number` of the bot of the same number enters."""
        name = name or f"Bot-{number}"
        self.say(
            entering(self.state, Candidate(VersionId(number), BotId(number), name, BotId(number), None, rating), True),
            "operator",
        )

    def advance(self) -> None:
        """Write whatever is due by itself."""
        while True:
            said = next_step(self.state, self.now, self.away, _rating)
            if said is None and pairs_now(self.state):
                said = paired(self.state, ready_games(self.state.event))
            if said is None:
                return
            self.say(said)

    def start(self, names: Sequence[str]) -> None:
        """These enter, as versions 1, 2...; entry closes, and the first games are paired."""
        self.say(log.Opened(), "operator")
        for number, name in enumerate(names, 1):
            self.enter(number, 2000.0 - number, name)
        self.say(closing(self.state, _rating), "operator")
        self.say(log.Started(), "operator")
        self.advance()

    def begin(self, game: Game, played_as: int | None = None) -> None:
        """A game that is due begins, as that game of the server or as the next one."""
        self.now += 1000
        self.say(log.Began(game=game.id, played_as=GameId(self.next_game if played_as is None else played_as)))
        self.next_game += played_as is None

    def end(self, game: Game, result: Result, why: str = "") -> None:
        """A game has its result; what follows is written."""
        self.now += 60_000
        self.say(log.Ended(game=game.id, result=result, why=why))
        self.advance()

    def play_round(self, result: Callable[[Game], Result]) -> None:
        """Begin all games that are due, and end all that are open then."""
        for _, game in self.state.due_games:
            self.begin(game)
        for _, game in list(self.state.open_games):
            self.end(game, result(game))

    def play_out(self, seed: int = 1) -> None:
        """To the end, with results by lot."""
        rng = random.Random(seed)
        while self.state.phase is Phase.RUNNING:
            self.play_round(lambda _: rng.choice((BLACK_WINS, WHITE_WINS, WHITE_WINS, DRAWN)))

    def records(self, event: int = 1, venue: int = 1, games: bool = True) -> list[Record]:
        """What the store has of it.

        :param games: with the records of the server's games, which must be there
        """
        id_ = EventId(event)
        added = EventAdded(id_, self.state.settings.name, VenueId(venue), self.entries[0].at, "announced")
        records: list[Record] = [added, EventPhase(self.state.phase.value, id_)]
        for entry in self.entries:
            said = entry.said
            records.append(
                EventLogged(
                    event_id=id_,
                    seq=entry.seq,
                    at=entry.at,
                    actor=entry.actor,
                    kind=log.kind_of(said),
                    body=log.encode(said),
                )
            )
            if isinstance(said, log.Entered):
                records.append(EventEntrant(id_, said.entrant, said.version, said.bot))
            if isinstance(said, log.Began) and games:
                number = game_by_id(self.state.event, said.game).round
                records.append(EventGame(said.played_as, id_, number, said.game))
        return records


def _rating(version: VersionId) -> float | None:
    return 2000.0 - version
