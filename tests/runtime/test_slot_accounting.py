"""Whatever bots, operators, the disk and restarts do, in whatever order: slots are counted right, nobody is lost or
leaks, no line client has two games before it, and no game has two connections on one side."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, precondition, rule
from support.house import House, S
from support.simulated import RecordingSession

from cgos_server.core.games.base import Color
from cgos_server.protocol.session import Availability, Credentials, Known, Wish
from cgos_server.runtime import matchmaker
from cgos_server.runtime.concierge import HouseConcierge
from cgos_server.runtime.live_game import LiveGame, Phase
from cgos_server.runtime.player import Player
from cgos_server.runtime.recovery import restore
from cgos_server.storage import records as rows
from cgos_server.storage.store import StoredGame, StoredMove

NAMES = ("anna", "bert", "carl")
VENUES = (0, 1)


class Session(RecordingSession):
    """A session whose answer to `answers` the test lets through.

    :ivar gate: opened when the answer is known
    """

    def __init__(self, number: int, gate: asyncio.Event, bot: str, venues: list[str], says_ready: bool) -> None:
        super().__init__(number, says_ready=says_ready)
        self.gate = gate
        self.bot = bot
        self.venues = venues
        self.connection: list[Session] = [self]

    def refused(self, code: str, sentence: str, retry_after_s: float | None = None) -> None:
        super().refused(code, sentence, retry_after_s)
        for session in self.connection:
            session.alive = False

    async def answers(self, sentence: str) -> bool:
        self.info(sentence)
        await self.gate.wait()
        return self.responsive


class Machine(RuleBasedStateMachine):
    """Two venues of one server, three bots, and a disk, a pairing thread and peers that answer when they like."""

    sessions = Bundle("sessions")

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.loop = self.runner.get_loop()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(matchmaker.asyncio, "to_thread", self.in_thread)
        self.number = 0
        self.connections: list[list[Session]] = []
        self.acts: list[asyncio.Task[None]] = []
        self.houses: list[House] = []
        self.runner.run(self.open())

    async def open(self) -> None:
        self.peers, self.thread = asyncio.Event(), asyncio.Event()
        self.peers.set()
        self.thread.set()
        first = await House().open()
        self.houses = [first, await House(beside=first).open()]
        for house in self.houses:
            house.live.matchmaker._new_seed = lambda: 1
        first.store.commit = self.commit  # type: ignore[method-assign]
        first.store.untold_games = self.untold_games  # type: ignore[method-assign]
        first.store.game = self.game  # type: ignore[method-assign, assignment]
        self.store = first.store

    async def in_thread(self, work: Callable[..., Any], *arguments: Any) -> Any:
        await self.thread.wait()
        return work(*arguments)

    async def commit(self, records: Sequence[Any]) -> None:
        done = asyncio.get_running_loop().create_future()
        self.store.submit(records, lambda: None if done.done() else done.set_result(None))
        await done

    # -- what the store holds

    async def game(self, number: int) -> StoredGame | None:
        await asyncio.sleep(0)
        return self.stored(number)

    def stored(self, number: int) -> StoredGame | None:
        added = next((row for row in self.store.of(rows.GameAdded) if row.id == number), None)
        if added is None:
            return None
        names = {version: name for name, version in self.houses[0].accounts.versions.items()}
        moves = tuple(
            StoredMove(row.move, matchmaker_clock(row))
            for row in self.store.of(rows.MoveAdded)
            if row.game_id == number
        )
        game = StoredGame(
            number, added.venue_id, added.black_id, added.white_id, names[added.black_id], names[added.white_id],
            added.black_label, added.white_label, added.terms, added.start, added.started_at, moves,
        )  # fmt: skip
        for row in self.store.records:
            if isinstance(row, rows.GameEnded) and row.id == number:
                game = game._replace(
                    result=row.result, detail=row.detail, ended_at=row.ended_at, winner=row.winner, reason=row.reason,
                    black_told=row.black_told, white_told=row.white_told,
                )  # fmt: skip
            elif isinstance(row, rows.BlackTold) and row.id == number:
                game = game._replace(black_told=row.told)
            elif isinstance(row, rows.WhiteTold) and row.id == number:
                game = game._replace(white_told=row.told)
        return game

    def all_stored(self) -> list[StoredGame]:
        games = [self.stored(row.id) for row in self.store.of(rows.GameAdded)]
        return [game for game in games if game is not None]

    async def untold_games(self, venue_id: int, version: int, since: int) -> list[StoredGame]:
        await asyncio.sleep(0)
        found = []
        for game in self.all_stored():
            told = game.black_told if game.black_id == version else game.white_told
            mine = game.venue_id == venue_id and version in (game.black_id, game.white_id)
            if mine and game.result is not None and told < 2:
                found.append(game)
        return found

    # -- what happens

    def run(self, steps: int = 30) -> None:
        """Let everything go on that can."""

        async def turns() -> None:
            for _ in range(steps):
                await asyncio.sleep(0)

        self.runner.run(turns())
        self.houses[0].time.advance(0)

    @rule(target=sessions, name=st.sampled_from(NAMES), venue=st.sampled_from(VENUES), steps=st.sampled_from([1, 30]))
    def sign_in(self, name: str, venue: int, steps: int) -> list[Session]:
        self.number += 1
        house = self.houses[venue]
        session = Session(self.number, self.peers, name, [house.venue.name], says_ready=True)

        async def ask() -> None:
            house.live.lobby.sign_in(session, Credentials(name, "secret", None, "test", False, "127.0.0.1"))

        self.runner.run(ask())
        self.connections.append([session])
        self.run(steps)
        return [session]

    @rule(
        target=sessions,
        name=st.sampled_from(NAMES),
        venues=st.permutations(VENUES).flatmap(lambda order: st.sampled_from([order[:1], order])),
        slots=st.integers(1, 3),
        known=st.lists(st.builds(Known, st.integers(1, 6), st.just(0)), max_size=2),
        steps=st.sampled_from([1, 30]),
    )
    def check_in(self, name: str, venues: list[int], slots: int, known: list[Known], steps: int) -> list[Session]:
        house = self.houses[0]
        sessions: dict[str, Any] = {}
        there = [self.houses[at].venue.name for at in venues]
        for venue in there:
            self.number += 1
            sessions[venue] = Session(self.number, self.peers, name, there, says_ready=False)

        async def ask() -> None:
            lobbies = {each.venue.name: each.live.lobby for each in self.houses}
            concierge = HouseConcierge(lobbies, house.accounts, house.time, house.spawn)  # type: ignore[arg-type]
            credentials = Credentials(name, "secret", None, "test", True, "127.0.0.1")
            concierge.sign_in(sessions, credentials, Wish(slots, known=tuple(known)))

        self.runner.run(ask())
        connection = list(sessions.values())
        for session in connection:
            session.connection = connection
        self.connections.append(connection)
        self.run(steps)
        return connection

    @rule(connection=sessions, orderly=st.booleans())
    def leave(self, connection: list[Session], orderly: bool) -> None:
        lose(connection, orderly)

    @rule(
        target=sessions,
        connection=sessions,
        line=st.booleans(),
        slots=st.integers(1, 3),
        steps=st.sampled_from([1, 30]),
    )
    def come_back(self, connection: list[Session], line: bool, slots: int, steps: int) -> list[Session]:
        """The connection is lost, and its bot signs in anew, maybe by the other protocol."""
        was = connection[0]
        venues = [at for at in VENUES if self.houses[at].venue.name in was.venues]
        lose(connection, orderly=False)
        if line:
            return self.sign_in(was.bot, venues[0], steps)
        return self.check_in(was.bot, venues, slots, [], steps)

    def respond(self, connection: list[Session], responsive: bool) -> None:
        for session in connection:
            session.responsive = responsive

    @rule(connection=sessions, wish=st.sampled_from(Availability))
    def wish(self, connection: list[Session], wish: Availability) -> None:
        if connection[0].alive and not connection[0].says_ready:
            for session in connection:
                if session.seat is not None:
                    session.seat.available(wish)

    def sync(self, connection: list[Session], game: int) -> None:
        if connection[0].alive and not connection[0].says_ready:
            for session in connection:
                if session.seat is not None:
                    self.runner.run(asked(session, game))
            self.run()

    @rule()
    def ready(self) -> None:
        """All line clients whose game is over say so."""
        for session, *_ in self.connections:
            if session.says_ready and session.alive and session.seat is not None and dialogue(session) == "gameover":
                session.told.append(("ready",))
                session.seat.ready()
        self.run()

    @rule(
        game=st.integers(0, 5), text=st.sampled_from(["pass", "pass", "resign", "A1"]), seconds=st.sampled_from([0, 20])
    )
    def move(self, game: int, text: str, seconds: int) -> None:
        """Whose turn it is answers; a line client only what it was asked."""
        time = self.houses[0].time
        time.advance(seconds * S)
        running = self.games()
        if not running:
            return
        live = running[game % len(running)]
        version = live.sides[live.referee.to_play].version
        for house in self.houses:
            player = house.live.lobby.players.get(version)
            if player is None or live.id not in player.games or player.session is None or player.session.seat is None:
                continue
            session: Any = player.session
            if not session.says_ready:
                session.seat.play(live.id, live.ply + 1, text, None, time.received())
            elif dialogue(session) == "genmove":
                session.told.append(("moved", text))
                session.seat.move(text, None, time.received())
        self.run()

    def rule_on(self, game: int, forfeit: bool) -> None:
        running = self.games()
        if running and running[game % len(running)].referee.verdict is None:
            live = running[game % len(running)]
            if forfeit:
                live.forfeit(Color.BLACK, "by ruling")
            else:
                live.abort("by ruling")
        self.run()

    def dismiss(self, venue: int, name: str) -> None:
        version = self.houses[venue].accounts.versions.get(name)
        if version is not None:
            self.houses[venue].live.lobby.dismiss(version, "The operator closes your connection.")

    @initialize(venues=st.sampled_from([[0], [0, 1]]), slots=st.integers(1, 3))
    def two_play(self, venues: list[int], slots: int) -> None:
        """Else most of what happens would happen to nobody."""
        for name in NAMES[:2]:
            self.check_in(name, venues, slots, [], 30)
        self.act(0, disk=False, thread=False)

    @rule(venue=st.sampled_from(VENUES), disk=st.booleans(), thread=st.booleans())
    def act(self, venue: int, disk: bool, thread: bool) -> None:
        """Pair; the method may compute in a thread until the next `release`, and so may the disk be busy."""
        self.houses[0].time.advance(11 * S)  # a rematch waits no longer
        self.store.holding = self.store.holding or disk
        self.patch.setattr(matchmaker, "THREAD_FROM", 2 if thread else 200)
        if thread:
            self.thread.clear()
        self.acts.append(self.loop.create_task(self.houses[venue].live.matchmaker.act()))
        self.run()

    def pause(self, venue: int, paused: bool) -> None:
        self.houses[venue].live.matchmaker.paused = paused

    @rule(thread_first=st.booleans())
    def release(self, thread_first: bool) -> None:
        if thread_first:
            self.thread.set()
            self.run()
        self.store.release()
        self.run()
        self.thread.set()
        self.run()

    def peers_answer(self, silent: bool) -> None:
        self.peers.clear() if silent else self.peers.set()
        self.run()

    def wait(self, seconds: int) -> None:
        self.houses[0].time.advance(seconds * S)
        self.run()

    def restart(self) -> None:
        """The process dies; what is committed is read back."""
        for connection in self.connections:
            for session in connection:
                session.alive = False
        self.connections.clear()
        accounts, ids, time = self.houses[0].accounts, self.houses[0].ids, self.houses[0].time
        time._timers.clear()
        self.runner.run(self.end_tasks())

        async def again() -> None:
            for at, old in enumerate(self.houses):
                house = House(beside=old) if at else House()
                house.store, house.accounts, house.ids, house.time = self.store, accounts, ids, time  # type: ignore[assignment]
                house.venue = old.venue
                house.tasks = self.houses[0].tasks if at else []
                await house.open()
                house.live.matchmaker._new_seed = lambda: 1
                house.live.lobby._names.update({version: name for name, version in accounts.versions.items()})
                unfinished = [game for game in self.all_stored() if game.result is None]
                restore(unfinished, {house.venue.id: house.live})
                for entry in old.live.ratings.standings():
                    house.live.ratings.enter(entry, 1800.0, 0)
                self.houses[at] = house

        self.runner.run(again())

    @rule(
        what=st.sampled_from(["dismiss", "pause", "restart", "rule on", "peers answer", "wait", "sync", "respond"]),
        connection=sessions, number=st.integers(0, 5), yes=st.booleans(),
    )  # fmt: skip
    def seldom(self, what: str, connection: list[Session], number: int, yes: bool) -> None:
        match what:
            case "dismiss":
                self.dismiss(number % 2, NAMES[number % 3])
            case "pause":
                self.pause(number % 2, yes)
            case "restart" if not self.store.holding:
                self.restart()
            case "rule on":
                self.rule_on(number, yes)
            case "peers answer":
                self.peers_answer(yes)
            case "wait":
                self.wait((1, 11, 70)[number % 3])
            case "sync":
                self.sync(connection, number)
            case "respond":
                self.respond(connection, yes)

    async def end_tasks(self) -> None:
        tasks = [*self.houses[0].tasks, *self.acts]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.acts.clear()
        for house in self.houses:
            house.tasks.clear()

    def teardown(self) -> None:
        self.runner.run(self.end_tasks())
        self.runner.close()
        self.patch.undo()

    # -- what is true at any time

    def games(self) -> list[LiveGame]:
        return [game for house in self.houses for game in house.live.lobby.games()]

    def players(self) -> list[Player]:
        return [player for house in self.houses for player in house.live.lobby.players.values()]

    @invariant()
    def slots_are_counted_right(self) -> None:
        capacities = {id(player.capacity): player.capacity for player in self.players() if player.session is not None}
        for key, capacity in capacities.items():
            mine = [player for player in self.players() if player.session is not None and id(player.capacity) == key]
            assert capacity.used == sum(len(player.games) + player.reserved for player in mine)

    @invariant()
    def everybody_is_where_it_should_be(self) -> None:
        for house in self.houses:
            lobby = house.live.lobby
            players = lobby.players.values()
            assert lobby.connected == sum(player.session is not None for player in players)
            for player in players:
                assert player.session is not None or player.games or player.reserved, "it is gone and leaves an entry"
                for game in player.games.values():
                    assert lobby.game(game.id) is game
            for game in lobby.games():
                assert game.phase is not Phase.OVER
                for color in Color:
                    player = lobby.players[game.sides[color].version]
                    assert player.games[game.id] is game
                    table: Any = game._tables[color]
                    if table is not None:
                        assert player.session is not None
                        told = table.told if isinstance(table, RecordingSession) else table._told
                        assert told is player.session.told, "the game sits with a connection that is not the bot's"

    @invariant()
    def line_clients_understand_what_they_hear(self) -> None:
        for connection in self.connections:
            if connection[0].says_ready:
                dialogue(connection[0])

    @invariant()
    def nothing_raised(self) -> None:
        for task in [*self.houses[0].tasks, *self.acts]:
            if task.done() and not task.cancelled() and task.exception() is not None:
                raise AssertionError("our fault") from task.exception()

    @precondition(lambda self: not self.store.holding and self.peers.is_set() and self.thread.is_set())
    @invariant()
    def when_all_is_quiet_nobody_is_kept(self) -> None:
        self.run()
        if all(task.done() for task in [*self.houses[0].tasks, *self.acts]):
            for player in self.players():
                assert not player.reserved
                draining = player.session is not None and player.availability is Availability.DRAINING
                assert not draining or player.capacity.used or not player.session.alive, "it may go and is kept"
                if player.session is not None and player.session.says_ready and player.games and not player.owing:
                    seated = [game for game in player.games.values() if game.present(player.color(game))]
                    assert len(seated) == 1, "one game at a time, and always one where there is one"


def matchmaker_clock(row: Any) -> Any:
    from cgos_server.core.clock import ClockState

    return ClockState(row.main_us, row.period_us, row.quota, row.bank_us)


async def asked(session: Session, game: int) -> None:
    assert session.seat is not None
    session.seat.sync([Known(game, 0)])


def lose(connection: list[Session], orderly: bool) -> None:
    """The connection is gone, and every place of it says so."""
    for session in connection:
        session.alive = False
    for session in connection:
        if session.seat is not None:
            session.seat.left(orderly)


def dialogue(session: RecordingSession) -> str:
    """The state of a strict line client after all that it heard; fails where it heard what it cannot understand."""
    state, game = "new", 0
    for entry in session.told:
        word = entry[0]
        if state == "closed":
            break  # nothing more is written to it
        if word == "accepted":
            assert state == "new"
            state = "waiting"
        elif word == "setup":
            assert state == "waiting", f"setup in state {state}"
            state, game = "ok", entry[1].game
        elif word == "genmove":
            assert state == "ok", f"genmove in state {state}"
            state = "genmove"
        elif word == "played":
            assert state in ("ok", "genmove"), f"play in state {state}"
            state = "ok" if entry[4] is None else "genmove"
        elif word == "gameover":
            assert state in ("ok", "genmove"), f"gameover in state {state}"
            state = "gameover"
        elif word == "moved":
            state = "ok"
        elif word == "ready":
            state = "waiting"
        elif word == "refused":
            state = "closed"
        else:
            assert word == "info", entry
            assert state != "new"
    assert game >= 0
    return state


Machine.TestCase.settings = settings(
    max_examples=200, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
TestMachine = Machine.TestCase
