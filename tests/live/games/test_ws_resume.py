"""A WebSocket bot on the real lobby and the real games, in simulated time: cut anywhere, it plays the same game.

The bot knows nothing but what it was told. After each cut it signs in again and says what it knows; the test fails
where it is told anything twice with two meanings, or where anything is missing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from support.live.house import House, S
from support.live.past import stored_games, untold_games
from support.live.simulated import RecordingSession
from support.net.websocket import WsClient, WsDesk

from cgos_protocol.games.base import Color
from cgos_protocol.session import Seat
from cgos_server.live.signing_in.multi_venue import MultiVenueSignIn
from cgos_server.storage.reading.stored import StoredGame
from cgos_server.storage.writing import records as rows

SCRIPT = ["E5", "C5", "D4", "C4", "D3", "C3", "G7", "C7", "PASS", "PASS"]
"""What both sides play; the game is then scored."""


class Hotel(House):
    """A house whose store remembers what was written to it."""

    async def open(self) -> Hotel:
        await super().open()
        self.store.games_untold = self.games_untold  # type: ignore[method-assign]
        self.store.games_stored = self.game  # type: ignore[method-assign, assignment]
        return self

    def stored(self) -> dict[int, StoredGame]:
        names = {version: name for name, version in self.accounts.versions.items()}
        return stored_games(self.store.records, names)

    async def game(self, number: int) -> StoredGame | None:
        return self.stored().get(number)

    async def games_untold(self, venue_id: int, version_id: int, since: int) -> list[StoredGame]:
        return untold_games(self.stored().values(), venue_id, version_id)


@dataclass
class Known:
    """What the bot knows of one game. `sent` are plies of its own that nobody has confirmed."""

    color: str
    moves: list[str] = field(default_factory=list)
    sent: dict[int, str] = field(default_factory=dict)
    over: dict[str, Any] | None = None


class WsBot:
    """A bot that plays the script, and signs in anew after each cut.

    :ivar events: messages that went either way, cuts not counted
    """

    def __init__(self, house: Hotel, desk: WsDesk, subprotocol: str, cuts: Sequence[tuple[int, bool]]) -> None:
        self.house = house
        self.desk = desk
        self.subprotocol = subprotocol
        self.cuts = dict(cuts)
        self.games: dict[int, Known] = {}
        self.events = 0
        self.cut_done = 0
        self.client: WsClient | None = None
        self.inbox: list[dict[str, Any]] = []
        self.prompt: tuple[int, int] | None = None

    async def connect(self) -> None:
        self.prompt = None
        self.inbox = []
        self.client = self.desk.connect(self.subprotocol)
        games = [{"game": number, "ply": len(game.moves)} for number, game in self.games.items()]
        self.client.say(type="sign_in", bot="wanda", secret="secret", venues=["9x9"], games=games)
        await self.house.settle()

    def cut(self) -> None:
        assert self.client is not None
        self.cut_done += 1
        self.client.transport.lose(ConnectionResetError())
        self.client = None
        self.inbox = []

    def counted(self) -> bool | None:
        """One event more. None: go on. True: it arrives, then the connection is cut; False: it is lost with it."""
        self.events += 1
        return self.cuts.get(self.events, self.cuts.get(-1))

    async def step(self) -> bool:
        """Handle what came and answer; False where nothing was to be done."""
        if self.client is None:
            await self.connect()
            return True
        self.inbox += self.client.listen()
        if not self.inbox:
            return False
        message = self.inbox.pop(0)
        fate = self.counted()
        if fate is None or fate:
            self.hear(message)
            if fate:
                self.cut()
                return True
            answer = self.answer(message)
            if answer is not None:
                sent = self.counted()
                if sent is None or sent:
                    self.client.say(**answer)
                if sent is not None:
                    self.cut()
        else:
            self.cut()
        return True

    def hear(self, message: dict[str, Any]) -> None:
        kind = message["type"]
        assert kind in ("welcome", "signed_in", "game", "turn", "moved", "over", "info", "latency"), message
        if kind == "game":
            game = self.games.setdefault(message["game"], Known(color=message["color"]))
            assert game.color == message["color"]
            from_ply = message["from_ply"]
            assert from_ply <= len(game.moves)
            moves = [move for move, _ in message["moves"]]
            known = game.moves[from_ply:]
            assert moves[: len(known)] == known, "nothing is told twice with two meanings"
            game.moves = game.moves[:from_ply] + moves
            for ply, move in game.sent.items():
                assert ply > len(game.moves) or game.moves[ply - 1] == move
        elif kind == "turn":
            assert message["ply"] == len(self.games[message["game"]].moves) + 1
        elif kind == "moved":
            game = self.games[message["game"]]
            for ply in range(len(game.moves) + 1, message["ply"]):
                game.moves.append(game.sent[ply])
            assert message["ply"] == len(game.moves) + 1
            game.moves.append(message["move"])
        elif kind == "over":
            game = self.games[message["game"]]
            for ply in range(len(game.moves) + 1, message["plies"] + 1):
                game.moves.append(game.sent[ply])
            assert len(game.moves) == message["plies"]
            if game.over is not None:
                assert {**game.over, "rating": None} == {**message, "rating": None}
            game.over = game.over or message

    def answer(self, message: dict[str, Any]) -> dict[str, Any] | None:
        kind = message["type"]
        if kind == "turn" or (kind == "moved" and message["your_turn"]):
            number = message["game"]
            game = self.games[number]
            ply = len(game.moves) + 1
            game.sent[ply] = SCRIPT[ply - 1]
            return {"type": "move", "game": number, "ply": ply, "move": SCRIPT[ply - 1]}
        if kind == "over":
            return {"type": "seen", "game": message["game"]}
        return None


class LineBot:
    """The opponent: an undisturbed bot of the oldest kind that plays the script, too."""

    def __init__(self, session: RecordingSession) -> None:
        self.session = session
        self.done = 0
        self.ply = 0
        self.over: tuple[Any, ...] | None = None
        self.heard: list[str] = []

    def step(self, time: Any) -> bool:
        if self.done == len(self.session.entries):
            return False
        entry = self.session.entries[self.done]
        self.done += 1
        kind, seat = entry[0], self.session.seat
        assert seat is not None
        if kind == "setup":
            assert self.over is None, "its game is set up once"
        elif kind == "genmove":
            self.move(seat, time)
        elif kind == "played":
            self.heard.append(entry[2])
            self.ply += 1
            if entry[4] is not None:
                self.move(seat, time)
        elif kind == "gameover":
            self.over = entry
        return True

    def move(self, seat: Seat, time: Any) -> None:
        self.ply += 1
        seat.move(SCRIPT[self.ply - 1], None, time.received())


@dataclass
class Outcome:
    """What is the same however often the bot was cut."""

    moves: list[str]
    clocks: list[tuple[int, int]]
    result: str
    heard: list[str]
    over: dict[str, Any]
    events: int
    cuts: int


async def play(
    subprotocol: str, cuts: Sequence[tuple[int, bool]] = (), held: bool = False, color: Color = Color.BLACK
) -> Outcome:
    """One game, in which the bot is `color`. With `held` every commit waits until there is nothing else to do."""
    while True:  # colors are drawn by lot
        outcome = await _play(subprotocol, cuts, held, color)
        if outcome is not None:
            return outcome


async def _play(subprotocol: str, cuts: Sequence[tuple[int, bool]], held: bool, color: Color) -> Outcome | None:
    house = await Hotel().open()
    concierge = MultiVenueSignIn({"9x9": house.live.arrivals})
    desk = WsDesk(["9x9"], concierge=concierge, time=house.time)
    bot = WsBot(house, desk, subprotocol, [])
    await bot.connect()
    line = LineBot(await house.sign_in("lina"))
    while await bot.step():
        pass
    bot.cuts, bot.events = dict(cuts), 0
    await house.run_pass()
    (live,) = house.live.roster.games()
    if live.sides[color].name != "wanda":
        return None
    house.time.advance(1)
    house.store.holding = held
    for _ in range(2_000):
        if line.step(house.time) or await bot.step():
            continue
        if house.store.held:
            house.store.release()
            house.store.holding = held
            await house.settle()
            continue
        if all(game.over is not None for game in bot.games.values()) and bot.games and line.over is not None:
            break
        house.time.advance(1)
    else:
        pytest.fail(f"the game does not end: {bot.games} {line.session.entries[-3:]}")
    house.store.holding = False
    house.store.release()
    ((number, game),) = bot.games.items()
    stored = await house.game(number)
    assert stored is not None
    assert game.over is not None
    assert line.over is not None
    assert game.moves == [move.move for move in stored.moves]
    assert game.over["result"] == stored.result == line.over[1]
    ended = [row for row in house.store.of(rows.GameEnded) if row.id == number]
    assert len(ended) == 1
    over = {key: value for key, value in game.over.items() if key not in ("game", "rating", "date")}
    moves = house.store.of(rows.MoveAdded)
    return Outcome(
        moves=game.moves,
        clocks=[(row.main_us // S, row.ply) for row in moves],
        result=stored.result or "",
        heard=line.heard,
        over=over,
        events=bot.events,
        cuts=bot.cut_done,
    )


@pytest.mark.parametrize(
    ("subprotocol", "color"),
    [("cgos.v2", Color.BLACK), ("cgos.v2", Color.WHITE), ("cgos.v2.msgpack", Color.BLACK)],
)
@pytest.mark.parametrize("held", [False, True], ids=["committed at once", "commits wait"])
async def test_a_bot_cut_at_any_message_plays_the_same_game(subprotocol: str, held: bool, color: Color) -> None:
    uncut = await play(subprotocol, (), held, color)
    assert uncut.moves == SCRIPT
    assert uncut.cuts == 0
    assert uncut.events > len(SCRIPT)
    for event in range(1, uncut.events + 1):
        for arrives in (True, False):
            cut = await play(subprotocol, [(event, arrives)], held, color)
            assert cut.cuts == 1, event
            assert (cut.moves, cut.clocks, cut.result, cut.heard, cut.over) == (
                uncut.moves, uncut.clocks, uncut.result, uncut.heard, uncut.over,
            ), (event, arrives)  # fmt: skip


@pytest.mark.parametrize("held", [False, True], ids=["committed at once", "commits wait"])
async def test_a_bot_cut_at_every_message_plays_the_same_game(held: bool) -> None:
    """In one game: the first messages after each sign-in get through, else it would never move."""
    uncut = await play("cgos.v2", held=held)
    for period in (5, 6, 7, 8):
        for arrives in (True, False):
            cuts = [(event, arrives) for event in range(period, 1_000, period)]
            cut = await play("cgos.v2", cuts, held)
            assert cut.cuts >= 2
            assert (cut.moves, cut.clocks, cut.result, cut.heard, cut.over) == (
                uncut.moves, uncut.clocks, uncut.result, uncut.heard, uncut.over,
            ), (period, arrives)  # fmt: skip


async def test_who_drains_hears_first_how_the_games_ended_that_it_knows() -> None:
    house = await Hotel().open()
    concierge = MultiVenueSignIn({"9x9": house.live.arrivals})
    desk = WsDesk(["9x9"], concierge=concierge, time=house.time)
    bot = WsBot(house, desk, "cgos.v2", [])
    await bot.connect()
    await house.sign_in("lina")
    await house.run_pass()
    (live,) = house.live.roster.games()
    bot.cut()
    live.abort("An operator ends it.")
    for _ in range(3):  # the end is told, and lost with the connection; after one repetition it counts as told
        await bot.connect()
        bot.cut()
    database = asyncio.Event()

    async def slowly(number: int) -> StoredGame | None:
        await database.wait()
        return await house.game(number)

    house.store.games_stored = slowly  # type: ignore[method-assign]
    client = desk.connect("cgos.v2")
    sign_in = {"type": "sign_in", "bot": "wanda", "secret": "secret", "venues": ["9x9"]}
    client.say(**sign_in, games=[{"game": live.id, "ply": 0}])
    for _ in range(10):
        await asyncio.sleep(0)
    client.say(type="drain")
    types = [message["type"] for message in client.listen()]
    assert "signed_in" in types
    assert "drained" not in types
    database.set()
    await house.settle()
    assert [message["type"] for message in client.listen()] == ["game", "over", "drained"]
