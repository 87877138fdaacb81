"""Whatever bots, operators, the disk and restarts do, in whatever order: slots are counted right, nobody is lost or
kept, no line client has two games before it, and no game has two connections on one side."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
import structlog
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from support.live.house import House, S
from support.live.past import stored_games, untold_games
from support.live.simulated import RecordingSession

from cgos_protocol.errors import Refused
from cgos_protocol.games.base import Color
from cgos_protocol.openings import Opening, OpeningSet
from cgos_protocol.session import Availability, Credentials, Known, Seat, Wish
from cgos_server.core.suspension import Suspension
from cgos_server.core.venue import Policy
from cgos_server.live.games.live_game import LiveGame
from cgos_server.live.games.phases import GamePhase
from cgos_server.live.games.recovery import restore
from cgos_server.live.pairing import candidates as gathering
from cgos_server.live.pairing import game_starter as beginning
from cgos_server.live.pairing import matchmaker
from cgos_server.live.signing_in.multi_venue import MultiVenueSignIn
from cgos_server.live.venue.live_venue import LiveVenue, reconfigure
from cgos_server.live.venue.player import Player
from cgos_server.live.venue.rulings import arrange
from cgos_server.service.holds import Hold
from cgos_server.storage.reading.stored import Half, Meeting, StoredGame

BOOK = OpeningSet((Opening("odd", ("E5", "C3", "G7")), Opening("even", ("D4", "F6"))))
NO_RESULT = ("void", "abort")
NAMES = ("anna", "bert", "carl", "dora")
NUMBERS = st.integers(0, 7)
TURNS = st.sampled_from([1, 30])
"""How far things get before the next thing happens."""


class Session(RecordingSession):
    """One place of a connection, which is a list of such.

    :ivar gate: opened when it is known whether it answers
    """

    def __init__(self, number: int, gate: asyncio.Event, bot: str, venue: int, says_ready: bool) -> None:
        super().__init__(number, says_ready=says_ready)
        self.gate = gate
        self.bot = bot
        self.venue = venue
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
    """Two venues of one server, four bots, and a disk, a pairing process and peers that answer when they like."""

    def __init__(self) -> None:
        super().__init__()
        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
        self.runner = asyncio.Runner()
        self.loop = self.runner.get_loop()
        self.patch = pytest.MonkeyPatch()
        for module in (gathering, matchmaker, beginning):
            self.patch.setattr(module, "SLICE", 1)
        self.number = 0
        self.connections: list[list[Session]] = []
        self.passes: list[asyncio.Task[None]] = []
        self.houses: list[House] = []
        self.runner.run(self.open())

    async def open(self) -> None:
        self.peers = asyncio.Event()
        self.peers.set()
        first = await House(openings=BOOK, openings_share=0.5).open()
        self.houses = [first, await House(beside=first).open()]
        for house in self.houses:
            house.live.matchmaker._new_seed = lambda: 1
        self.store = first.store
        self.store.commit = self.commit  # type: ignore[method-assign]
        self.store.games_untold = self.games_untold  # type: ignore[method-assign]
        self.store.games_stored = self.game  # type: ignore[method-assign]
        self.store.pairings_meetings = self.meetings  # type: ignore[method-assign]
        self.store.pairings_recent_opponents = self.recent_opponents  # type: ignore[method-assign]
        self.store.pairings_halves = self.halves  # type: ignore[method-assign]

    async def commit(self, records: Sequence[Any]) -> None:
        done = asyncio.get_running_loop().create_future()
        self.store.submit(records, lambda: None if done.done() else done.set_result(None))
        await done

    def teardown(self) -> None:
        self.runner.run(self.end_tasks())
        self.runner.close()
        self.patch.undo()

    async def end_tasks(self) -> None:
        tasks = self.tasks()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.passes.clear()
        for house in self.houses:
            house.tasks.clear()

    def tasks(self) -> list[asyncio.Task[None]]:
        return [*self.houses[0].tasks, *self.passes]

    # -- what the store holds

    def stored(self) -> dict[int, StoredGame]:
        names = {version: name for name, version in self.houses[0].accounts.versions.items()}
        return stored_games(self.store.records, names)

    async def game(self, number: int) -> StoredGame | None:
        await asyncio.sleep(0)
        return self.stored().get(number)

    async def games_untold(self, venue_id: int, version_id: int, since: int) -> list[StoredGame]:
        untold = untold_games(self.stored().values(), venue_id, version_id)
        await asyncio.sleep(0)
        return untold

    async def meetings(self, venue_id: int) -> list[Meeting]:
        played = Counter(game[2:4] for game in self.past(venue_id) if game.reason not in (None, *NO_RESULT))
        return [Meeting(*pair, games) for pair, games in played.items()]

    async def recent_opponents(self, venue_id: int, last: int) -> dict[int, list[int]]:
        return {version: opponents[-last:] for version, opponents in self.opponents(venue_id).items()}

    async def halves(self, venue_id: int) -> list[Half]:
        at = self.houses[0].time.wall_ms()
        return [
            Half(low, high, name, more, at) if more > 0 else Half(high, low, name, -more, at)
            for (low, high, name), more in self.owed(venue_id).items()
        ]

    def past(self, venue_id: int) -> list[StoredGame]:
        return [game for game in self.stored().values() if game.venue_id == venue_id]

    def opponents(self, venue_id: int) -> dict[int, list[int]]:
        opponents: dict[int, list[int]] = {}
        for game in self.past(venue_id):
            opponents.setdefault(game.black_id, []).append(game.white_id)
            opponents.setdefault(game.white_id, []).append(game.black_id)
        return opponents

    def owed(self, venue_id: int) -> dict[tuple[int, int, str], int]:
        """(lower, higher version, opening) -> how many games more the lower one had Black."""
        more: Counter[tuple[int, int, str]] = Counter()
        for game in self.past(venue_id):
            if game.opening and game.reason not in NO_RESULT:
                low, high = sorted(game[2:4])
                more[low, high, game.opening] += 1 if game.black_id == low else -1
        return {key: games for key, games in more.items() if games}

    # -- what bots do

    def run(self, turns: int = 30) -> None:
        """Let everything go on that can."""

        async def go_on() -> None:
            for _ in range(turns):
                await asyncio.sleep(0)

        self.runner.run(go_on())
        self.houses[0].time.advance(0)

    def session(self, bot: str, venue: int, says_ready: bool) -> Session:
        self.number += 1
        return Session(self.number, self.peers, bot, venue, says_ready)

    @initialize(venues=st.sampled_from([[0], [0, 1]]), slots=st.integers(1, 3))
    def two_play(self, venues: list[int], slots: int) -> None:
        """Else most of what happens would happen to nobody."""
        for name in NAMES[:2]:
            self.check_in(name, venues, slots, 0, 30)
        self.run_pass(0, disk=False, child=False)

    @rule(bot=st.sampled_from(NAMES), venue=st.integers(0, 1), turns=TURNS)
    def sign_in(self, bot: str, venue: int, turns: int) -> None:
        """By the line protocol."""
        session = self.session(bot, venue, says_ready=True)
        credentials = Credentials(bot, "secret", None, "test", False, "127.0.0.1")

        async def ask() -> None:
            self.houses[venue].live.arrivals.sign_in(session, credentials)

        self.runner.run(ask())
        self.connections.append([session])
        self.run(turns)

    @rule(
        bot=st.sampled_from(NAMES), venues=st.sampled_from([[0], [1], [0, 1], [1, 0]]), slots=st.integers(1, 3),
        known=NUMBERS, turns=TURNS,
    )  # fmt: skip
    def check_in(self, bot: str, venues: list[int], slots: int, known: int, turns: int) -> None:
        """By WebSocket."""
        connection = [self.session(bot, venue, says_ready=False) for venue in venues]
        for session in connection:
            session.connection = connection
        credentials = Credentials(bot, "secret", None, "test", True, "127.0.0.1")

        async def ask() -> None:
            arrivals = {house.venue.name: house.live.arrivals for house in self.houses}
            concierge = MultiVenueSignIn(arrivals)
            sessions = {self.houses[session.venue].venue.name: session for session in connection}
            concierge.sign_in(sessions, credentials, Wish(slots, known=(Known(known, 0),)))

        self.runner.run(ask())
        self.connections.append(connection)
        self.run(turns)

    def one_of(self, number: int) -> list[Session]:
        """A connection that stands, or none."""
        standing = [connection for connection in self.connections if connection[0].alive]
        return standing[number % len(standing)] if standing else []

    @rule(number=NUMBERS, orderly=st.booleans())
    def leave(self, number: int, orderly: bool) -> None:
        lose(self.one_of(number), orderly)

    @rule(number=NUMBERS, line=st.booleans(), slots=st.integers(1, 3), turns=TURNS)
    def come_back(self, number: int, line: bool, slots: int, turns: int) -> None:
        """A connection is lost, and its bot signs in anew, maybe by the other protocol."""
        connection = self.one_of(number)
        lose(connection, orderly=False)
        if connection and line:
            self.sign_in(connection[0].bot, connection[0].venue, turns)
        elif connection:
            self.check_in(connection[0].bot, [session.venue for session in connection], slots, 0, turns)

    @rule(number=NUMBERS, wish=st.sampled_from(Availability))
    def wish(self, number: int, wish: Availability) -> None:
        for seat in seats(self.one_of(number)):
            seat.available(wish)

    def sync(self, number: int, game: int) -> None:
        async def ask() -> None:
            for seat in seats(self.one_of(number)):
                seat.sync([Known(game, 0)])

        self.runner.run(ask())
        self.run()

    @rule()
    def ready(self) -> None:
        """All line clients whose game is over say so."""
        for session, *_ in self.connections:
            if session.says_ready and session.alive and session.seat is not None and dialogue(session) == "gameover":
                session.entries.append(("ready",))
                session.seat.ready()
        self.run()

    @rule(number=NUMBERS, text=st.sampled_from(["pass", "pass", "resign", "A1"]), seconds=st.sampled_from([0, 20]))
    def move(self, number: int, text: str, seconds: int) -> None:
        """Whose turn it is answers; a line client only what it was asked."""
        time = self.houses[0].time
        time.advance(seconds * S)
        running = self.games()
        if not running:
            return
        game = running[number % len(running)]
        for player in self.players():
            session: Any = player.session
            if session is None or game.id not in player.games or player.color(game) is not game.referee.to_play:
                continue
            if not session.says_ready:
                session.seat.play(game.id, game.ply + 1, text, None, time.received())
            elif dialogue(session) == "genmove":
                session.entries.append(("moved", text))
                session.seat.move(text, None, time.received())
        self.run()

    # -- what the server does

    @rule(venue=st.integers(0, 1), disk=st.booleans(), child=st.booleans())
    def run_pass(self, venue: int, disk: bool, child: bool) -> None:
        """Pair; until the next `release` the disk may be busy, and the method may compute in its child."""
        self.houses[0].time.advance(11 * S)  # a rematch waits no longer
        self.store.holding = self.store.holding or disk
        if child:
            self.houses[venue].deciding.gate.clear()
        self.passes.append(self.loop.create_task(self.houses[venue].live.matchmaker.run_pass()))
        self.run()

    @rule(child_first=st.booleans())
    def release(self, child_first: bool) -> None:
        if child_first:
            self.decide()
        self.store.release()
        self.run()
        self.decide()

    def decide(self) -> None:
        for house in self.houses:
            house.deciding.gate.set()
        self.run()

    @rule(
        what=st.sampled_from(
            ["dismiss", "pause", "restart", "rule", "peers", "wait", "sync", "respond", "arrange", "suspend", "reload"]
        ),
        number=NUMBERS, yes=st.booleans(),
    )  # fmt: skip
    def seldom(self, what: str, number: int, yes: bool) -> None:
        match what:
            case "dismiss":
                version = self.houses[0].accounts.versions.get(NAMES[number % len(NAMES)], 0)
                self.houses[yes].live.roster.dismiss(version, "The operator closes your connection.")
            case "pause":
                holds = self.houses[number % 2].live.matchmaker.holds
                holds.add(Hold.VENUE_PAUSED) if yes else holds.discard(Hold.VENUE_PAUSED)
            case "restart" if not self.store.holding:
                self.restart()
            case "rule":
                self.rule_on(number, yes)
            case "peers":
                self.peers.set() if yes else self.peers.clear()
                self.run()
            case "wait":
                self.houses[0].time.advance(70 * S)
                self.run()
            case "sync":
                self.sync(number, number + yes)
            case "respond":
                for session in self.one_of(number):
                    session.responsive = yes
            case "reload":
                live = self.houses[number % 2].live
                policy, last = list(Policy)[number // 4], 1 + number
                pairing = replace(live.venue.pairing, policy=policy, options={"repeat_last": last})
                reconfigure(live, replace(pairing, openings=BOOK if yes else OpeningSet()))
            case "arrange":
                self.arrange(self.houses[yes].live, NAMES[number % 4], NAMES[(number + 1) % 4])
            case "suspend":
                self.suspended(self.houses[yes].live, number % 4 + 1, 5 * (number // 4))

    def arrange(self, venue: LiveVenue, white: str, black: str) -> None:
        with suppress(Refused):
            arrange(venue, white, black, (0, 0), None, None, "the operator")
        self.run()

    def suspended(self, venue: LiveVenue, version: int, spoilt: int) -> None:
        """From now on, or no longer."""
        venue.suspensions._states[version] = Suspension(spoilt, spoilt > 0, "game 1: lost on time", 0)
        venue.reminders.remind()

    def rule_on(self, number: int, forfeit: bool) -> None:
        running = [game for game in self.games() if game.referee.verdict is None]
        if running and forfeit:
            running[number % len(running)].forfeit(Color.BLACK, "by ruling")
        elif running:
            running[number % len(running)].abort("by ruling")
        self.run()

    def restart(self) -> None:
        """The process dies; what is committed is read back."""
        for connection in self.connections:
            for session in connection:
                session.alive = False
        self.connections.clear()
        self.houses[0].time._timers.clear()
        self.runner.run(self.end_tasks())
        self.runner.run(self.open_again())

    async def open_again(self) -> None:
        first = self.houses[0]
        first.tasks = []
        for at, old in enumerate(self.houses):
            house = House(beside=first)
            house.venue = old.venue
            await house.open()
            house.live.matchmaker._new_seed = lambda: 1
            house.live.roster.names.update({version: name for name, version in first.accounts.versions.items()})
            for version in old.live.ratings.standings():
                house.live.ratings.enter(version, 1800.0, 0)
            restore([game for game in self.stored().values() if game.result is None], {house.venue.id: house.live})
            self.houses[at] = house

    # -- what is true at any time

    def games(self) -> list[LiveGame]:
        return [game for house in self.houses for game in house.live.roster.games()]

    def players(self) -> list[Player]:
        return [player for house in self.houses for player in house.live.roster.players.values()]

    @invariant()
    def slots_are_counted_right(self) -> None:
        used: dict[int, int] = {}
        connected = [player for player in self.players() if player.session is not None]
        for player in connected:
            used[id(player.capacity)] = used.get(id(player.capacity), 0) + len(player.games) + player.reserved
        for player in connected:
            assert player.capacity.used == used[id(player.capacity)]

    @invariant()
    def everybody_is_where_it_should_be(self) -> None:
        for house in self.houses:
            roster = house.live.roster
            assert roster.connected == sum(player.session is not None for player in roster.players.values())
            for player in roster.players.values():
                assert player.session is not None or player.games or player.reserved, "it is gone and leaves an entry"
                assert all(roster.game(number) is game for number, game in player.games.items())
            for game in roster.games():
                assert game.phase is not GamePhase.OVER
                for color in Color:
                    player = roster.players[game.sides[color].version]
                    assert player.games[game.id] is game
                    table: Any = game._tables[color]
                    if table is not None:
                        assert player.session is not None
                        session_told = table.entries if isinstance(table, RecordingSession) else table._entries
                        assert session_told is player.session.entries, (
                            "the game sits with a connection that is not the bot's"
                        )

    @invariant()
    def line_clients_understand_what_they_hear(self) -> None:
        for session, *_ in self.connections:
            if session.says_ready:
                dialogue(session)

    @invariant()
    def nothing_raised(self) -> None:
        for task in self.tasks():
            if task.done() and not task.cancelled():
                task.result()

    @precondition(
        lambda self: (
            not self.store.holding
            and self.peers.is_set()
            and all(house.deciding.gate.is_set() for house in self.houses)
        )
    )
    @invariant()
    def when_all_is_quiet_nobody_is_kept(self) -> None:
        self.run()
        if not all(task.done() for task in self.tasks()):
            return
        for house in self.houses:
            self.what_is_remembered_is_what_is_stored(house)
        for player in self.players():
            session = player.session
            assert not player.reserved
            if session is None or not session.alive:
                continue
            assert not player.has(Hold.DRAINING) or player.capacity.used, "it may go and is kept"
            if player.games and not player.has(Hold.OWES_READY):
                there = sum(game.present(player.color(game)) for game in player.games.values())
                assert there == (1 if session.says_ready else len(player.games))

    def what_is_remembered_is_what_is_stored(self, house: House) -> None:
        number, memory = house.venue.id, house.live.matchmaker._collector.memory
        colors = Counter(game[2:4] for game in self.past(number) if game.reason not in NO_RESULT)
        assert {pair: games for pair, games in memory._blacks.items() if games} == colors
        for version, opponents in self.opponents(number).items():
            assert 1 <= memory.remembered(version) <= memory.last
            assert list(memory._recent[version]) == opponents[-memory.remembered(version) :]
        owed = self.owed(number)
        for low, debts in house.live.matchmaker._openings._debts.items():
            for (high, name), debt in debts.items():
                assert debt.more == owed[low, high, name]


def seats(connection: Sequence[Session]) -> list[Seat]:
    """Through which a WebSocket connection may wish something."""
    return [session.seat for session in connection if session.seat is not None and not session.says_ready]


def lose(connection: Sequence[Session], orderly: bool) -> None:
    """The connection is gone, and every place of it says so."""
    for session in connection:
        session.alive = False
    for session in connection:
        if session.seat is not None:
            session.seat.left(orderly)


def dialogue(session: RecordingSession) -> str:
    """The state of a strict line client after all that it heard; fails where it heard what it cannot understand."""
    before: dict[str, tuple[str, ...]] = {
        "accepted": ("new",), "setup": ("waiting",), "genmove": ("ok",), "played": ("ok", "genmove"),
        "gameover": ("ok", "genmove"), "moved": ("genmove",), "ready": ("gameover",), "refused": STATES,
        "info": STATES[1:],
    }  # fmt: skip
    after = {
        "accepted": "waiting", "setup": "ok", "genmove": "genmove", "gameover": "gameover", "moved": "ok",
        "ready": "waiting", "refused": "closed",
    }  # fmt: skip
    state = "new"
    for entry in session.entries:
        if state == "closed":
            break  # nothing more is written to it
        assert state in before[entry[0]], f"{entry[0]} in state {state}"
        state = ("ok" if entry[4] is None else "genmove") if entry[0] == "played" else after.get(entry[0], state)
    return state


STATES = ("new", "waiting", "ok", "genmove", "gameover", "closed")

Machine.TestCase.settings = settings(
    max_examples=100, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
TestMachine = Machine.TestCase
