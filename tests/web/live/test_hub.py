"""The hub with simulated games: whatever happens in between, a viewer gets each move once and in order."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Collection
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.web.feeds import lines, move, news
from support.web.worlds import POINTS, World

from cgos_protocol.errors import StoreError
from cgos_protocol.facts import RatingChanged
from cgos_server.storage.reading.game_answers import GameTerms
from cgos_server.web.live import framing
from cgos_server.web.live import news as news_module
from cgos_server.web.live.board import CHUNKS
from cgos_server.web.live.framing import Form
from cgos_server.web.live.hub import LINGER_MS, Hub
from cgos_server.web.live.streams import Streams


class Viewer:
    """Reads a game as a browser does: keeps the last id, comes back with it, and may be cut in the middle."""

    def __init__(self, hub: Hub, game: int) -> None:
        self._hub = hub
        self._game = game
        self._stack = contextlib.AsyncExitStack()
        self._board: Any = None
        self.last = 0
        self.messages: list[dict[str, Any]] = []
        self.ended = 0

    async def read(self, most: int | None = None) -> None:
        """What there is, or its first `most` messages and then the connection is cut."""
        if self.ended:
            return
        if self._board is None:
            self._board = await self._stack.enter_async_context(self._hub.watching(self._game))
            self._at = self.last
        chunk, self._at = self._board.since(self._at, Form.SSE)
        frames = [frame for frame in chunk.decode().split("\n\n") if frame]
        for frame in frames if most is None else frames[:most]:
            fields = dict(line.split(": ", 1) for line in frame.split("\n"))
            if fields["event"] == "end":
                self.ended += 1
            else:
                self.messages.append(json.loads(fields["data"]))
                self.last = int(fields["id"])
        if most is not None:
            await self.cut()

    async def cut(self) -> None:
        await self._stack.aclose()
        self._board = None


steps = st.lists(
    st.one_of(
        st.tuples(st.just("move"), st.sampled_from([1, 2])),
        st.tuples(st.just("lose"), st.sampled_from([1, 2])),
        st.tuples(st.just("end"), st.sampled_from([1, 2])),
        st.tuples(st.just("time"), st.integers(1, 4000)),
        st.tuples(st.just("look"), st.just(0)),
        st.tuples(st.just("down"), st.just(0)),
        st.tuples(st.just("missed"), st.just(0)),
        st.tuples(st.just("read"), st.integers(0, 2)),
        st.tuples(st.just("meanwhile"), st.sampled_from([1, 2])),
        st.tuples(st.just("ends unheard meanwhile"), st.sampled_from([1, 2])),
        st.tuples(st.just("cut"), st.tuples(st.integers(0, 2), st.integers(0, 3))),
    ),
    max_size=60,
)


@settings(deadline=None, max_examples=200)
@given(steps, st.sampled_from([0.0, 2.0]))
@example([("look", 0), ("read", 0), ("end", 1), ("down", 0)], 0.0)
def test_each_move_comes_once_and_in_order_whatever_happens(chosen: list[tuple[str, Any]], delay: float) -> None:
    asyncio.run(_happens(chosen, delay))


async def _happens(chosen: list[tuple[str, Any]], delay: float) -> None:
    world = World(delay)
    hub, history = world.hub, world.history
    for number in (1, 2):
        hub.heard(world.begin(number))
    viewers = [Viewer(hub, 1), Viewer(hub, 1), Viewer(hub, 2)]
    games = (1, 1, 2)
    lost = False

    def move(number: int, heard: bool) -> None:
        nonlocal lost
        if history.games[number].result is None and len(history.games[number].moves) < len(POINTS):
            fact = world.play(number)
            if heard:
                hub.heard(fact)
            else:
                lost = True

    def ends_unheard(number: int) -> None:
        world.end(number)
        hub.heard(None)

    async def look() -> None:
        with contextlib.suppress(StoreError):
            await hub.look()

    for word, what in chosen:
        match word:
            case "move":
                move(what, True)
            case "lose":
                move(what, False)
            case "end" if history.games[what].result is None:
                hub.heard(world.end(what))
            case "time":
                world.now += what
            case "look":
                await look()
            case "down":
                history.down = True
                await look()
                history.down = False
            case "missed":
                hub.heard(None)
                lost = False
            case "meanwhile":
                history.meanwhile = lambda number=what: move(number, True)
            case "ends unheard meanwhile":
                history.meanwhile = lambda number=what: ends_unheard(number)
            case "read":
                await viewers[what].read()
            case "cut":
                await viewers[what[0]].read(what[1])
        for viewer, number in zip(viewers, games, strict=True):
            game = history.games[number]
            # In order, once, nothing that was not played, and nothing too early.
            assert [message["ply"] for message in viewer.messages] == list(range(1, len(viewer.messages) + 1))
            assert [message["move"] for message in viewer.messages] == [
                row.move for row in game.moves[: len(viewer.messages)]
            ]
            if game.result is None and viewer.messages:
                assert viewer.messages[-1]["at"] + world.delay <= world.now
    history.meanwhile = None
    if lost:
        hub.heard(None)
    await look()
    for _ in range(2):  # what is lost while losses are made up for waits for its turn
        world.now += 2000
        await look()
    world.now += world.delay
    await look()
    for viewer, number in zip(viewers, games, strict=True):
        await viewer.read()
        game = history.games[number]
        assert [message["ply"] for message in viewer.messages] == [row.ply for row in game.moves]
        assert viewer.ended == (game.result is not None)
        await viewer.cut()
    world.now += LINGER_MS
    await look()
    assert hub._boards == {}


async def test_one_question_for_all_games_and_viewers() -> None:
    world = World()
    for number in range(1, 6):
        world.begin(number)
    async with contextlib.AsyncExitStack() as stack:
        boards = [
            await stack.enter_async_context(world.hub.watching(number)) for number in range(1, 6) for _ in range(100)
        ]
        await world.hub.look()
        world.history.queries.clear()
        for number in range(1, 6):
            world.hub.heard(world.play(number))
            world.hub.heard(world.play(number))
        await world.hub.look()
        assert world.history.queries == [dict.fromkeys(range(1, 6), 0)]
        chunks = [board.since(0, Form.SSE)[0] for board in boards[:100]]
        assert all(chunk is chunks[0] for chunk in chunks)
        assert chunks[0].count(b"event: move") == 2


async def test_the_end_tells_what_was_too_young() -> None:
    world = World(delay_s=60)
    world.begin(1)
    async with world.hub.watching(1) as board:
        world.hub.heard(world.play(1))
        await world.hub.look()
        assert board.since(0, Form.SSE) == (b"", 0)
        world.hub.heard(world.end(1))
        await world.hub.look()
        text = board.since(0, Form.NDJSON)[0].decode().splitlines()
        assert [json.loads(line)["event"] for line in text] == ["move", "end"]
        assert json.loads(text[1])["sentence"] == "Ann won: Bob resigned."


async def test_a_stream_follows_to_the_end_and_stops_with_the_server() -> None:
    world = World()
    world.begin(1)
    world.begin(2)
    streams = Streams(world.hub)

    async def collect(game: int) -> list[str]:
        return [chunk.decode() async for chunk in streams.game_chunks(game, 0, Form.SSE)]

    async with asyncio.TaskGroup() as group:
        running = group.create_task(world.hub.run())
        first, second = group.create_task(collect(1)), group.create_task(collect(2))
        await asyncio.sleep(0)
        world.hub.heard(world.play(1))
        world.hub.heard(world.play(2))
        world.hub.heard(world.end(1))
        text = "".join(await first)
        assert text.startswith("retry: ")
        assert text.index("id: 1\nevent: move") < text.index("event: end")
        world.hub.stop()
        text = "".join(await second)
        assert "event: end" not in text
        assert text.endswith("come again\n\n")
        await running


async def test_losses_in_a_row_are_made_up_for_once() -> None:
    world = World()
    world.begin(1)
    async with world.hub.watching(1) as board:
        await world.hub.look()
        world.hub.heard(None)  # as the first that a new web process is told
        await world.hub.look()
        for _ in range(50):
            world.play(1)
            world.hub.heard(None)
            world.now += 10
            world.history.queries.clear()
            await world.hub.look()
            assert world.history.queries == []
        world.now += 2000
        await world.hub.look()
        assert world.history.queries == [{1: 0}]
        assert board.released == 50


async def test_a_disk_that_is_away_costs_no_move() -> None:
    world = World()
    world.begin(1)
    async with world.hub.watching(1) as board:
        await world.hub.look()
        world.hub.heard(world.play(1))
        world.history.down = True
        with pytest.raises(StoreError):
            await world.hub.look()
        world.history.down = False
        await world.hub.look()
        assert board.released == 1


# -- venues


async def venue_messages(world: World, place: int | None, moves: bool = True) -> tuple[list[dict[str, Any]], int]:
    """What a venue's viewer gets, with a picture where one is due, and its place then."""
    messages: list[dict[str, Any]] = []
    portion = None if place is None else world.hub.news.since(place, "9x9", moves, Form.NDJSON)
    if portion is None:
        picture = await world.hub.picture("9x9", moves)
        messages.append(json.loads(picture.games.data))
        place = picture.place
        portion = world.hub.news.since(place, "9x9", moves, Form.NDJSON)
        assert portion is not None
    assert portion.place == world.hub.news.head
    return messages + [json.loads(line) for line in portion.data.splitlines()], portion.place


venue_steps = st.lists(
    st.one_of(
        st.tuples(st.just("begin"), st.just(0)),
        st.tuples(st.just("move"), st.integers(0, 3)),
        st.tuples(st.just("end"), st.integers(0, 3)),
        st.tuples(st.just("missed"), st.integers(0, 3)),
        st.tuples(st.just("time"), st.integers(1, 4000)),
        st.tuples(st.just("look"), st.just(0)),
        st.tuples(st.just("read"), st.just(0)),
        st.tuples(st.just("away"), st.just(0)),
    ),
    max_size=60,
)


async def test_a_change_of_a_rating_comes_with_both_ends_of_its_interval() -> None:
    world = World()
    world.hub.followers = 1
    await world.hub.look()
    _, place = await venue_messages(world, None)
    interval = {"lower": 2320.0, "upper": 4600.0, "plus_minus": 1140.0}
    world.hub.heard(RatingChanged(venue="9x9", seq=8, version="Ant", before=2700.04, after=2750.0, **interval))
    await world.hub.look()
    (message,), _ = await venue_messages(world, place)
    assert (message["event"], message["before_mean"], message["after_mean"]) == ("rating", 2700.0, 2750.0)
    assert (message["after_lower"], message["after_upper"], message["after_half_width"]) == (2320.0, 4600.0, 1140.0)


@settings(deadline=None)
@given(venue_steps, st.sampled_from([0.0, 2.0]))
def test_a_venue_can_be_followed_move_by_move(chosen: list[tuple[str, int]], delay: float) -> None:
    asyncio.run(_venue_happens(chosen, delay))


async def _venue_happens(chosen: list[tuple[str, int]], delay: float) -> None:
    world = World(delay)
    world.hub.followers = 1
    boards: dict[int, list[str]] = {}
    place: int | None = None

    async def read() -> None:
        nonlocal place
        messages, place = await venue_messages(world, place)
        for message in messages:
            match message["event"]:
                case "games":
                    boards.clear()
                    boards.update({game["game"]: game.get("moves", []) for game in message["games"]})
                case "started" if message["game"] not in boards:
                    boards[message["game"]] = message["board"].get("moves", [])
                case "move" if message["game"] in boards and message["ply"] > len(boards[message["game"]]):
                    assert message["ply"] == len(boards[message["game"]]) + 1, "a move was missed"
                    boards[message["game"]].append(message["move"])
                case "ended":
                    boards.pop(message["game"], None)

    await world.hub.look()
    for word, what in chosen:
        running = [game for game in world.history.games.values() if game.result is None]
        game = running[what % len(running)].number if running else 0
        match word:
            case "begin" if len(running) < 4:
                world.hub.heard(world.begin(len(world.history.games) + 1))
            case "move" if game and len(world.history.games[game].moves) < len(POINTS):
                world.hub.heard(world.play(game))
            case "end" if game:
                world.hub.heard(world.end(game))
            case "missed":
                if game and what:
                    world.play(game)
                world.hub.heard(None)
            case "time":
                world.now += what
            case "look":
                await world.hub.look()
            case "read":
                await read()
            case "away":
                place = None if place is None else world.hub.news.place(world.hub.news.identity(place))
    await world.hub.look()
    world.now += 2000
    await world.hub.look()
    world.now += world.delay + 1
    await world.hub.look()
    await read()
    expected = {
        game.number: [row.move for row in game.moves] for game in world.history.games.values() if game.result is None
    }
    assert boards == expected


@pytest.mark.parametrize("form", list(Form))
async def test_a_venue_stream_begins_with_what_runs(form: Form) -> None:
    world = World()
    world.begin(1)
    world.play(1)
    chunks = Streams(world.hub).venue_chunks("9x9", True, None, form)
    assert (await anext(chunks) == b"") == (form is Form.NDJSON)
    text = (await anext(chunks)).decode()
    picture = json.loads(text.split("data: ")[-1])
    assert picture["games"][0]["moves"] == ["A1"]
    world.hub.stop()
    assert [chunk async for chunk in chunks] in ([b": the server stops; come again\n\n"], [b""])
    assert world.hub.followers == 0


async def test_asking_from_everywhere_fills_no_memory() -> None:
    world = World()
    world.begin(1)
    for _ in range(60):
        world.play(1)
    async with world.hub.watching(1) as board:
        for ply in range(60):
            assert board.since(ply, Form.NDJSON)[0].count(b"\n") == 60 - ply
        assert len(board._chunks) <= CHUNKS
    feed = news()
    for ply in range(1, 200):
        feed.add(move(ply), 0)
    for place in range(200):
        assert len(lines(feed.since(place, None, True, Form.NDJSON))) == 199 - min(place, 199)
    assert len(feed._chunks) < 100


# -- what cannot be read, and what is too much at once


async def test_a_game_that_means_nothing_costs_nobody_the_others() -> None:
    world = World()
    for number in (1, 2):
        world.hub.heard(world.begin(number))
        world.play(number)
    history = world.history
    sound = history.games_terms_of

    async def terms_of(games: Collection[int]) -> dict[int, GameTerms]:
        return await sound(games) | ({1: GameTerms({"rules": "broken"}, None)} if 1 in games else {})

    history.games_terms_of = terms_of  # type: ignore[method-assign]
    assert [game.game for game in await world.hub.running("9x9", moves=True)] == [2]
    world.hub.followers = 1
    await world.hub.look()
    portion = world.hub.news.since(world.hub.news.head - 2, None, True, Form.NDJSON)
    assert [line.get("board") is None for line in lines(portion)] == [True, False]


async def test_a_watched_game_that_cannot_be_read_on_ends_alone() -> None:
    world = World()
    for number in (1, 2):
        world.hub.heard(world.begin(number))
    await world.hub.look()
    streams = Streams(world.hub)
    first, second = streams.game_chunks(1, 0, Form.SSE), streams.game_chunks(2, 0, Form.SSE)
    async with world.hub.watching(1) as broken, world.hub.watching(2):
        for chunks in (first, second):
            await anext(chunks)
        broken.add = broken.finish = fail  # type: ignore[method-assign, assignment]
        for number in (1, 2):
            world.hub.heard(world.play(number))
        await world.hub.look()
        assert b"come again" in await anext(first)
        assert b"event: move" in await anext(second)
        for number in (1, 2):
            world.hub.heard(world.end(number))
        await world.hub.look()
        assert b"event: end" in await anext(second)
    for chunks in (first, second):
        await chunks.aclose()


def fail(*_: object) -> None:
    raise ValueError("a row that nobody foresaw")


async def test_much_goes_out_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (framing, news_module):
        monkeypatch.setattr(module, "PORTION", 300)
    world = World()
    world.begin(1)
    for _ in range(20):
        world.play(1)
    world.end(1)
    chunks = [chunk async for chunk in Streams(world.hub).game_chunks(1, 0, Form.NDJSON) if chunk]
    assert len(chunks) > 5
    assert max(map(len, chunks)) < 700
    messages = [json.loads(line) for line in b"".join(chunks).splitlines()]
    assert [message.get("ply") for message in messages] == [*range(1, 21), None]
    feed = news()
    for ply in range(1, 21):
        feed.add(move(ply), 0)
    place, plies = 0, []
    while place < feed.head:
        portion = feed.since(place, None, True, Form.NDJSON)
        assert portion is not None
        assert len(portion.data) < 700
        plies += [line["ply"] for line in lines(portion)]
        place = portion.place
    assert plies == list(range(1, 21))


@pytest.mark.parametrize("ends", [True, False])
async def test_what_happens_while_a_game_is_first_read_is_told_afterwards(
    ends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where the hub looks in between, when there is no board yet to tell it to."""
    world = World()
    world.begin(1)
    reading, announced = asyncio.Event(), asyncio.Event()
    read = world.history.games_detail

    async def slowly(number: int) -> Any:
        detail = await read(number)
        reading.set()
        await announced.wait()
        return detail

    monkeypatch.setattr(world.history, "games_detail", slowly)
    async with asyncio.TaskGroup() as tasks, contextlib.AsyncExitStack() as stack:
        entering = tasks.create_task(stack.enter_async_context(world.hub.watching(1)))
        await reading.wait()
        world.hub.heard(world.end(1) if ends else world.play(1))
        await world.hub.look()
        announced.set()
        board = await entering
        assert (board.over, board.known) == (False, 0)
        await world.hub.look()
        assert (board.over, board.known) == (ends, 0 if ends else 1)


async def test_an_end_that_nobody_told_is_found_by_the_poll() -> None:
    world = World()
    world.begin(1)
    async with world.hub.watching(1) as board:
        await world.hub.look()
        world.end(1)
        world.hub._polling = True
        await world.hub.look()
        assert board.over
