"""Bots over WebSocket on a real server: against each other and against TCP, slots, venues, cuts, a killed server."""

from __future__ import annotations

import asyncio
import json
import random
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.e2e.processes import ServerProcess, client, free_port, until
from support.e2e.processes import server as serve
from support.e2e.witnessing import assert_the_better_of_two_is_rated_higher, plies
from support.net.relay import Relay
from support.protocol import described_bot
from support.protocol.described_bot import DescribedBot

from cgos_client import Game, Position, connect
from cgos_client.retry import Pauses

pytestmark = pytest.mark.e2e

SETTINGS = """
drain_limit_s = 1
[[venue]]
name = "5x5"
port = {port}
size = 5
komi = 7.0
time = {{ system = "absolute", main = "2m" }}
pairing = {{ interval_s = 0.2, patience_s = 0.2, settle_s = 0.05 }}
"""
ENDED = "select count(*) from games where ended_at is not null and reason = 'score'"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    with serve(tmp_path, settings=SETTINGS.format(port=free_port())) as serving:
        yield serving
        assert serving.stop() == 0
    assert [event for event in serving.log_events() if event["level"] in ("warning", "error")] == []


def over_websocket(serving: ServerProcess, name: str, *arguments: str, venues: tuple[str, ...] = ("9x9",)):
    """`cgos-client` over WebSocket."""
    places = [word for venue in venues for word in ("--venue", venue)]
    return client(serving, name, [*arguments, *places], address=serving.url)


def over_tcp(serving: ServerProcess, name: str, *arguments: str):
    """`cgos-client` over CGOS lines."""
    return client(serving, name, arguments)


def quick() -> Pauses:
    return Pauses(random.Random(1), first=0.02, longest=0.2)


def choice(game: Game, position: Position) -> str:
    """A legal move that depends on nothing but the moves so far and the color."""
    board = position.board()
    rng = random.Random(zlib.crc32(f"{game.color} {' '.join(position.moves)}".encode()))
    points = [point for point in board.empties() if not board.is_eye(board.to_play, point)]
    rng.shuffle(points)
    legal = next((point for point in points if board.copy().play(point) is None), None)
    return "pass" if legal is None or len(position.moves) >= 50 else board.write(legal)


async def test_the_description_alone_is_enough_to_play(server: ServerProcess) -> None:
    """Two bots that have nothing but the document: what they say, and all that they hear, is as it says."""
    description = described_bot.read()
    first, second = DescribedBot(description, 1), DescribedBot(description, 2)

    async def somebody_was_refused() -> None:
        async with asyncio.TaskGroup() as tasks:
            waiting = [tasks.create_task(bot.waits.wait()) for bot in (first, second)]
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in waiting:
                task.cancel()

    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        playing = [tasks.create_task(bot.play(server.url, "9x9", somebody_was_refused)) for bot in (first, second)]
    closed = description.channel["x-close-codes"]
    assert [closed[str(task.result())]["again"] for task in playing] == [False, False]
    assert [bot.state for bot in (first, second)] == ["closed", "closed"]
    tried = description.channel["x-dialogue"]["game"]["waiting"]["errors"]["move"]
    assert sorted([first.refused, second.refused]) == [[], [tried]]
    assert first.over is not None
    assert second.over is not None
    assert (first.over["reason"], first.over["plies"]) == ("score", 8)
    assert first.over["result"] == second.over["result"]


def test_two_bots_over_websocket_play_rated_games(server: ServerProcess) -> None:
    with over_websocket(server, "Random", "bot", "random"), over_websocket(server, "Greedy", "bot", "greedy"):
        until(lambda: server.query(ENDED)[0][0] >= 3, 60, "no three games have ended")
    assert server.query("select count(*) from ledger where kind = 'game'")[0][0] >= 3
    assert_the_better_of_two_is_rated_higher(server)


def test_tcp_against_websocket(server: ServerProcess) -> None:
    with over_tcp(server, "Lines", "bot", "greedy"), over_websocket(server, "Frames", "bot", "mcts", "--playouts", "5"):
        until(lambda: server.query(ENDED)[0][0] >= 2, 60, "no two games have ended")
    kinds = server.query("select count(distinct black_id), count(distinct white_id) from games")
    assert kinds == [(2, 2)], "both have had both colors"
    assert server.query("select count(*) from analysis")[0][0] > 10


def test_lines_in_text_frames(server: ServerProcess) -> None:
    url = f"{server.url}/9x9"
    with (
        client(server, "Frames", ["bot", "greedy", "--protocol", "lines"], address=url),
        over_tcp(server, "Lines", "bot", "greedy"),
    ):
        until(lambda: server.query(ENDED)[0][0] >= 1, 60, "no game has ended")


@pytest.mark.slow
def test_four_slots_on_one_connection(server: ServerProcess) -> None:
    with (
        over_websocket(server, "Four", "bot", "mcts", "--playouts", "10", "--slots", "4"),
        over_websocket(server, "Fours", "bot", "mcts", "--playouts", "10", "--slots", "4"),
    ):
        until(lambda: server.query(ENDED)[0][0] >= 8, 120, "no eight games have ended")
    spans = server.query("select started_at, coalesce(ended_at, 1 << 62) from games")
    most = max(sum(begun <= start < end for begun, end in spans) for start, _ in spans)
    assert most == 4
    assert server.query("select count(*) from connections") == [(2,)]


def test_one_bot_in_two_venues(server: ServerProcess) -> None:
    with (
        over_websocket(server, "Both", "bot", "greedy", "--slots", "2", venues=("9x9", "5x5")),
        over_tcp(server, "Big", "bot", "random"),
        over_websocket(server, "Small", "bot", "random", venues=("5x5",)),
    ):
        statement = "select count(*) from games where ended_at is not null group by venue_id"
        until(lambda: len(server.query(statement)) == 2, 60, "no game has ended in both venues")


def test_several_bots_from_one_file(server: ServerProcess, tmp_path: Path) -> None:
    (tmp_path / "pw").write_text("sesame")
    tables = "".join(
        f"""
[[bot]]
name = "{name}"
password_file = "pw"
venues = ["9x9"]
games = 2
log_dir = "{name}-log"
sgf_dir = "{name}-games"
{more}
"""
        for name, more in {
            "Random": 'builtin = "random"',
            "Greedy": 'builtin = "greedy"\nversion = "2"',
            "Mcts": 'builtin = "mcts"\nplayouts = 3\nslots = 2',
            "Engine": f"engine = {json.dumps([server.python, '-m', 'cgos_client', 'bot', 'greedy'])}",
        }.items()
    )
    config = tmp_path / "bots.toml"
    config.write_text(f'[server]\nurl = "{server.url}"\n{tables}')
    with over_tcp(server, "Always", "bot", "greedy"):
        process = asyncio.run(_to_its_end(server.python, "-m", "cgos_client", "run", "--config", str(config), "--json"))
    assert process[0] == 0, process[2]
    results = [json.loads(line) for line in process[1].splitlines()]
    assert {result["bot"] for result in results} == {"Random", "Greedy", "Mcts", "Engine"}
    for name in ("Random", "Greedy", "Mcts", "Engine"):
        assert len([result for result in results if result["bot"] == name]) >= 2
        assert len(list((tmp_path / f"{name}-games").glob("*.sgf"))) >= 2
        log = (tmp_path / f"{name}-log" / "wire.log").read_text()
        assert f"sign-in as {name}" in log
        assert "sesame" not in log
        assert log.count("(sign-in as") == 1, "one bot a log"
    assert ("Greedy-2",) in server.query("select wire_name from versions")


async def _to_its_end(*command: str) -> tuple[int | None, str, str]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe)
    try:
        async with asyncio.timeout(90):
            out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode, out.decode(), err.decode()


async def _games(url: str, name: str, count: int) -> list[tuple[str, list[str], str]]:
    """The first games of a bot that plays by `choice`: color, moves, result."""
    played = []
    async with connect(url, bot=name, secret=f"secret-{name}", venues=["5x5"], pauses=quick()) as session:
        async for game in session.games():
            if len(played) + 1 == count:
                await session.drain()
            async for turn in game.turns():
                assert await game.move(choice(game, turn.position))
            assert game.result is not None
            played.append((game.color, list(game.position.moves), game.result.result))
    return played


@pytest.mark.slow
async def test_bots_that_are_cut_all_the_time_play_the_same_games(server: ServerProcess) -> None:
    """Once through relays that cut every few segments, once without."""
    async with asyncio.timeout(120):
        async with (
            Relay(server.ws_port, cut_after=lambda: 4) as relay,
            Relay(server.ws_port, cut_after=lambda: 5) as two,
            asyncio.TaskGroup() as tasks,
        ):
            first = tasks.create_task(_games(f"ws://127.0.0.1:{relay.port}", "Cut", 2))
            second = tasks.create_task(_games(f"ws://127.0.0.1:{two.port}", "Cuts", 2))
        cut = first.result()
        assert relay.cuts > 10
        async with asyncio.TaskGroup() as tasks:
            whole = tasks.create_task(_games(server.url, "Whole", 2))
            tasks.create_task(_games(server.url, "Wholes", 2))
    assert [(moves, result) for _, moves, result in cut] == [(moves, result) for _, moves, result in second.result()]
    assert {tuple(moves) for _, moves, _ in cut} == {tuple(moves) for _, moves, _ in whole.result()}
    assert {color for color, _, _ in cut} == {"black", "white"}


@pytest.mark.slow
async def test_a_server_that_is_killed_in_the_middle(server: ServerProcess) -> None:
    """Bots with two games at once come back by themselves; every game ends by score."""

    async def bot(name: str, slots: int, enough: asyncio.Event) -> list[str]:
        results = []

        async def play(game: Game) -> None:
            async for turn in game.turns():
                await asyncio.sleep(0.01)
                await game.move(choice(game, turn.position))
            assert game.result is not None
            results.append(game.result.reason)

        async with (
            connect(
                server.url, bot=name, secret=f"secret-{name}", venues=["9x9", "5x5"], slots=slots, pauses=quick()
            ) as session,
            asyncio.TaskGroup() as parts,
        ):
            parts.create_task(session.play(play))
            await enough.wait()
            await session.drain()
        return results

    enough = asyncio.Event()
    async with asyncio.timeout(120), asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(bot(name, 2, enough)) for name in ("One", "Two", "Three")]
        for _ in range(3):
            before = plies(server)
            await asyncio.to_thread(until, lambda before=before: plies(server) > before + 40, 60, "no moves")  # type: ignore[misc]
            server.kill()
            await asyncio.to_thread(server.start)
        await asyncio.to_thread(until, lambda: server.query(ENDED)[0][0] >= 3, 60, "no games end")
        enough.set()
    reasons = [reason for task in running for reason in task.result()]
    assert len(reasons) >= 6
    assert set(reasons) == {"score"}
    assert server.query("select count(*) from games where ended_at is null") == [(0,)]


async def test_a_watcher_follows_a_game(server: ServerProcess) -> None:
    async with asyncio.timeout(90), connect(server.url, pauses=quick()) as watcher, asyncio.TaskGroup() as tasks:
        playing = [tasks.create_task(_games(server.url, name, 1)) for name in ("One", "Two")]
        pictures = watcher.watch("5x5")
        started = None
        while started is None:
            event = await anext(pictures)
            started = getattr(event, "game", None) or next(iter(g.game for g in getattr(event, "games", ())), None)
        views = [view async for view in watcher.watch_game("5x5", started)]
    assert list(views[-1].position.moves) == playing[0].result()[0][1]
    assert views[-1].result == playing[0].result()[0][2]
