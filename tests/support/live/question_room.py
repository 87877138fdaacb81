"""A venue in simulated time with a question director: its questions and games, and a restart of the server between."""

from __future__ import annotations

from itertools import count
from typing import Any

from cgos_protocol.games.base import Color
from cgos_protocol.ids import QuestionId, VersionId
from cgos_protocol.openings import Opening, OpeningSet
from cgos_server.core.questions.asked import Asked, Challenge, Gauntlet, Opponent, State, Test
from cgos_server.core.questions.policy import Policy
from cgos_server.live.games.live_game import LiveGame
from cgos_server.live.games.recovery import restore
from cgos_server.live.questions.director import QuestionDirector
from cgos_server.live.questions.runner import QuestionRunner
from cgos_server.service.holds import Hold
from cgos_server.service.questions.desk import Asking
from cgos_server.storage.reading.asking.questions import QuestionGameRow, QuestionRow
from cgos_server.storage.writing import asking, records
from support.live.event_room import stored
from support.live.house import House, S

OPENINGS = OpeningSet(tuple(Opening(name, moves) for name, moves in (("star", ("C3",)), ("tengen", ("E5",)))))


class QuestionRoom:
    """Questions of one venue. Everybody's versions are 1, 2 ... in the order in which they arrive."""

    def __init__(self, house: House, **policy: Any) -> None:
        self.house = house
        self.policy = Policy(**{"share": 1.0, **policy})
        self.moved: list[tuple[QuestionId, State]] = []
        self.director = self._director()
        self._vertices = count()
        self._answer_from_records()

    @classmethod
    async def open(
        cls, *names: str, openings: OpeningSet = OPENINGS, rated: bool = True, **policy: Any
    ) -> QuestionRoom:
        """With these bots signed in."""
        room = cls(await House(rated=rated, openings=openings).open(), **policy)
        await room.house.arrive(*names)
        await room.director.open()
        return room

    def _director(self) -> QuestionDirector:
        house = self.house
        director = QuestionDirector(
            {house.venue.name: house.live},
            house.store,  # type: ignore[arg-type]
            time=house.time,
            ids=house.ids,
            policy=lambda: self.policy,
        )
        director.moved.append(lambda runner, _change, state: self.moved.append((runner.id, state)))
        return director

    async def restart(self, *names: str, restored: tuple[LiveGame, ...] = ()) -> None:
        """The server is killed and starts again; these bots sign in. Of the games that ran these are restored."""
        again = House(openings=self.house.venue.pairing.openings)
        again.time, again.store = self.house.time, self.house.store
        again.accounts, again.ids = self.house.accounts, self.house.ids
        again.live = (await again.open()).live
        self.house = again
        roster = again.live.roster
        roster.names.update({VersionId(version): name for name, version in again.accounts.versions.items()})
        restore([stored(game, again) for game in restored], {again.venue.id: again.live})
        self.director = self._director()
        await self.director.open()
        await again.arrive(*names)

    # -- questions

    def ask(self, asked: Asked, owner: str | None = "olive", priority: int = 0) -> QuestionId:
        owner_id = None if owner is None else sum(owner.encode())
        return self.director.ask(Asking(asked, "9x9", owner_id, owner, priority))

    def test(self, new: str, old: str, **settings: Any) -> Test:
        settings = {"most_games": 200, "upper": 200.0, **settings}
        return Test(version=self.version(new), against=self.version(old), **settings)

    def challenge(self, name: str, against: str | None, games: int, **settings: Any) -> Challenge:
        opponent = None if against is None else self.version(against)
        return Challenge(version=self.version(name), against=opponent, most_games=games, **settings)

    def gauntlet(self, name: str, field: dict[str, float], within: float, **settings: Any) -> Gauntlet:
        opponents = tuple(Opponent(version=self.version(other), rating=rating) for other, rating in field.items())
        settings = {"most_games": 500, **settings}
        return Gauntlet(version=self.version(name), field=opponents, within=within, **settings)

    def version(self, name: str) -> VersionId:
        accounts = self.house.accounts
        return VersionId(accounts.versions.setdefault(name, len(accounts.versions) + 1))

    def runner(self, question: QuestionId) -> QuestionRunner:
        return self.director.runners[question]

    def row(self, question: QuestionId) -> QuestionRow:
        """As it is stored."""
        return next(row for row in self._rows() if row.id == question)

    # -- time and games

    async def look(self, seconds: float = 0) -> None:
        """Let so much time pass, a look of the director each second, and then whatever is due at once."""
        for _ in range(round(seconds)):
            self.house.time.advance(S)
            self.director.look()
        while True:
            before = len(self.house.store.records)
            self.director.look()
            await self.house.settle()
            self.house.time.advance(0)
            if len(self.house.store.records) == before:
                return

    @property
    def running(self) -> list[LiveGame]:
        return list(self.house.live.roster.games())

    @property
    def of_questions(self) -> list[LiveGame]:
        return [game for game in self.running if game.question]

    def playing(self) -> set[tuple[str, str]]:
        """(Black, White)."""
        return {(game.sides[0].name, game.sides[1].name) for game in self.running}

    async def end(self, game: LiveGame, winner: str, *, same: bool = False) -> None:
        """Play it until `winner` has won: each side moves, then the other one resigns. Both say ready.

        :param same: with the moves that such a game always has; else with others each time
        """
        vertex = 0 if same else next(self._vertices)
        loser = Color.BLACK if game.sides[1].name == winner else Color.WHITE
        for move in (
            f"{'ABCD'[vertex % 4]}{1 + vertex // 4 % 9}",
            f"{'FGHJ'[vertex // 36 % 4]}{1 + vertex // 144 % 9}",
        ):
            game.move(game.referee.to_play, move, None, self.house.time.received())
        if game.referee.to_play is not loser:
            game.move(loser.other, "pass", None, self.house.time.received())
        game.move(loser, "resign", None, self.house.time.received())
        self.ready()
        await self.look()

    async def play_on(self, question: QuestionId, winner: str | None = None, *, same: bool = False) -> int:
        """Play its games until it has ended; how many. Without a winner Black wins every game."""
        played = 0
        while question in self.director.runners:
            assert self.of_questions, self.runner(question).waits
            for game in self.of_questions:
                await self.end(game, winner or game.sides[0].name, same=same)
                played += 1
        return played

    def ready(self) -> None:
        for player in list(self.house.live.roster.players.values()):
            self.house.live.lobby.ready(player)

    def leave(self, name: str) -> None:
        """Its connection is gone."""
        seat = self.house.sessions[name].seat
        assert seat is not None
        seat.left(False)

    def holds(self, name: str) -> set[Hold]:
        return set(self.house.live.roster.players[self.version(name)].holds)

    # -- the past, from the records

    def _answer_from_records(self) -> None:
        store: Any = self.house.store

        async def open_now() -> list[QuestionRow]:
            return [row for row in self._rows() if row.ended_at is None]

        async def numbered(question: QuestionId) -> QuestionRow:
            return self.row(question)

        async def games(question: QuestionId) -> list[QuestionGameRow]:
            return [self._played(record) for record in store.of(asking.QuestionGame) if record.question_id == question]

        store.questions_open, store.questions_numbered, store.questions_games = open_now, numbered, games

    def _rows(self) -> list[QuestionRow]:
        store = self.house.store
        rows = []
        for added in store.of(asking.QuestionAdded):
            values = added._asdict()
            for moved in store.of(asking.QuestionMoved):
                if moved.id == added.id:
                    values |= moved._asdict()
            owner = None if values["owner_id"] is None else "olive"
            rows.append(QuestionRow(venue="9x9", owner=owner, **values))
        return rows

    def _played(self, record: asking.QuestionGame) -> QuestionGameRow:
        store = self.house.store
        corrections = [one for one in store.of(records.CorrectionAdded) if one.game_id == record.game_id]
        added = next(one for one in store.of(records.GameAdded) if one.id == record.game_id)
        end = next((one for one in store.of(records.GameEnded) if one.id == record.game_id), None)
        digest = next((one.digest for one in store.of(asking.QuestionGameEnded) if one.game_id == record.game_id), None)
        return QuestionGameRow(
            **record._asdict(),
            digest=digest,
            black_id=added.black_id,
            white_id=added.white_id,
            reason=None if end is None else end.reason,
            winner=None if end is None else end.winner,
            plies=None,
            started_at=added.started_at,
            ended_at=None if end is None else end.ended_at,
            result=None if end is None else end.result,
            void=next((one.result == "Void" for one in corrections[::-1]), False),
        )
