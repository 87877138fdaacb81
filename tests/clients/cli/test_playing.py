"""``run`` and ``bot`` over WebSocket, and bots of a file, as people type them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys

import pytest
from click.testing import CliRunner
from support.clients.v2_model import Model, ModelGame
from support.clients.v2_server import V2Server

from cgos_client.cli.main import main
from cgos_protocol.v2 import messages as ws

SECONDS = 40
HERE = ["--server", "ws://here", "--name", "Bot"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "--name", "Bot", "--", "x"], "Missing option '--server'"),
        (["run", "--server", "ws://here", "--", "x"], "Missing option '--name'"),
        (["run", *HERE, "--", "x"], "--venue is missing"),
        (["run", *HERE, "--venue", "9x9"], "Missing argument '-- ENGINE...'"),
        (["run", *HERE, "--venue", "9x9", "--venue", "9x9", "--", "x"], "each once"),
        (["run", *HERE, "--venue", "9x9", "--param", "x", "--", "x"], "'x' is not KEY=VALUE"),
        (["run", *HERE, "--protocol", "lines", "--", "x"], "needs the venue in the address"),
        (["run", *HERE, "--protocol", "lines", "--slots", "2", "--", "x"], "--slots has no words in CGOS lines"),
        (["run", "--server", "h:1", "--name", "Bot", "--protocol", "v2", "--", "x"], "write --server ws://h:1"),
        (["run", "--server", "h:1", "--name", "Bot", "--venue", "9x9", "--", "x"], "every venue has a port of its own"),
        (["run", "--server", "h:1", "--name", "Bot", "--param", "a=1", "--", "x"], "--param has no words"),
        (["run", "--server", "http://h", "--name", "Bot", "--", "x"], "choose tcp://"),
        (["run", "--config", "f", "--", "x"], "an engine's command line belongs into the file"),
        (["run", "--config", "f", "--venue", "9x9"], "--venue belongs into the file"),
        (["run", "--config", "f", "--engine-timeout", "5"], "--engine-timeout belongs into the file"),
        (["run", "--config", "/no/such/file"], "cannot be read"),
        (["bot", "random", "--slots", "3"], "give --server as well"),
    ],
)
def test_refusals(arguments, words):
    result = CliRunner().invoke(main, arguments, env={"CGOS_PASSWORD": "sesame"})
    assert result.exit_code == 2, result.output
    assert words in result.output


def test_a_file_whose_password_is_missing(tmp_path):
    (tmp_path / "bots.toml").write_text(
        '[server]\nurl = "ws://h"\n[[bot]]\nname = "Bot"\nvenues = ["9x9"]\nbuiltin = "random"\npassword_file = "pw"\n'
    )
    result = CliRunner().invoke(main, ["run", "--config", str(tmp_path / "bots.toml")])
    assert result.exit_code == 2
    assert f"bot Bot.password_file {tmp_path / 'pw'}: the file cannot be read" in result.output


def resigns_late(game: ModelGame) -> str:
    board = game.referee.position
    points = [p for p in board.empties() if board.copy().play(p) is None]
    return "resign" if len(game.moves) >= 6 else board.write(points[-1])


async def program(*arguments: str) -> asyncio.subprocess.Process:
    """The real program in a process of its own."""
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "cgos_client", *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "CGOS_PASSWORD": "sesame"},
    )


@pytest.mark.parametrize("encoding", ["json", "msgpack"])
async def test_a_gtp_engine_over_websocket(bench, tmp_path, encoding):
    model = Model(venues={"9x9": 9}, opponent=resigns_late, games=4)
    async with asyncio.timeout(SECONDS), V2Server(model) as server:
        process = await program(
            *("run", "--server", server.url, "--venue", "9x9", "--slots", "2", "--name", "Bot", "--version", "2.0"),
            *("--author", "me", "--param", "level=3", "--param", "style=calm", "--games", "4", "--json"),
            *("--encoding", encoding, "--log-dir", str(tmp_path / "logs"), "--sgf-dir", str(tmp_path / "games")),
            *("--", *bench.fake_gtp()),
        )
        out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    assert len([json.loads(line) for line in out.splitlines()]) == 4
    sign_in = model.sign_ins[0]
    assert (sign_in.bot, sign_in.version, sign_in.slots, sign_in.author) == ("Bot", "2.0", 2, "me")
    assert sign_in.parameters == {"level": 3, "style": "calm"}
    assert server.subprotocols == ["cgos.v2" if encoding == "json" else "cgos.v2.msgpack"]
    assert len(list((tmp_path / "games").glob("*.sgf"))) == 4
    assert "(sign-in as Bot)" in (tmp_path / "logs" / "wire.log").read_text()
    assert "genmove b" in (tmp_path / "logs" / "gtp.log").read_text()
    assert bench.commands().count("quit") == 2, "no engine is left"


async def test_the_program_enters_events_and_says_what_it_hears():
    model = Model(venues={"9x9": 9}, games=0)
    model.events = {"spring": set(), "summer": set()}
    async with asyncio.timeout(SECONDS), V2Server(model) as server:
        process = await program(
            *("bot", "random", "--server", server.url, "--venue", "9x9", "--name", "Bot"),
            *("--event", "spring", "--event", "summer"),
        )
        while model.events != {"spring": {"Bot"}, "summer": {"Bot"}}:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        model.happens("summer", "check_in")
        while "Bot+" not in model.events["summer"]:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    lines = [line[9:] for line in err.decode().splitlines() if " event " in line]
    assert lines == [
        "event spring: spring: entered",
        "event summer: summer: entered",
        "event summer: summer: check_in",
        "event summer: summer: checked_in",
    ]


async def test_cgos_lines_have_no_words_for_events():
    process = await program(
        *("bot", "random", "--server", "127.0.0.1:1", "--name", "Bot", "--event", "spring"),
    )
    _, err = await process.communicate()
    assert process.returncode == 2
    assert b"--event has no words in CGOS lines: it needs --server ws://HOST:PORT" in err


async def test_the_program_finishes_its_games_on_the_first_signal(bench):
    model = Model(venues={"9x9": 9}, opponent=resigns_late, games=100)
    async with asyncio.timeout(SECONDS), V2Server(model) as server:
        process = await program(
            *("bot", "mcts", "--playouts", "20", "--server", server.url, "--venue", "9x9", "--name", "Bot"),
        )
        while not any(isinstance(message, ws.Move) for message in server.heard):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    assert b"leaving after game" in err
    assert out.count(b"\n") == len([game for game in model.games.values() if game.over is not None])


async def test_bots_of_a_file_end_on_a_signal(tmp_path, bench):
    """One of them cannot reach its server and tries for ever."""
    (tmp_path / "pw").write_text("sesame\n")
    model = Model({"One": "sesame", "Two": "sesame"}, venues={"9x9": 9}, games=0)
    async with asyncio.timeout(SECONDS), V2Server(model) as server:
        bots = "".join(
            f'[[bot]]\nname = "{name}"\npassword_file = "pw"\nvenues = ["9x9"]\n{more}\n'
            for name, more in {
                "One": f"engine = {json.dumps(bench.fake_gtp())}",
                "Two": 'builtin = "greedy"',
                "Away": 'builtin = "greedy"\nurl = "ws://127.0.0.1:1"',
            }.items()
        )
        (tmp_path / "bots.toml").write_text(f'[server]\nurl = "{server.url}"\n{bots}')
        process = await program("run", "--config", str(tmp_path / "bots.toml"))
        output = b""
        lines = b"Away: warning", b"One: signed in as One in 9x9", b"Two: signed in as Two in 9x9"
        while not all(line in output for line in lines):
            assert process.stderr is not None
            output += await process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        await process.communicate()
    assert process.returncode == 0
    assert bench.commands()[-1] == "quit"


async def test_a_wrong_password_ends_the_program_with_words(tmp_path):
    model = Model({"Bot": "other"}, venues={"9x9": 9})
    async with asyncio.timeout(SECONDS), V2Server(model) as server:
        process = await program("bot", "random", "--server", server.url, "--venue", "9x9", "--name", "Bot")
        _, err = await process.communicate()
    assert process.returncode == 1
    assert b"password doesn't match" in err
