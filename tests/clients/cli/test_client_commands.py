"""The commands as people type them."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import json
import logging
import os
import pty
import shutil
import signal
import sys
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from cgos_client.cli import report
from cgos_client.cli.main import main
from cgos_client.cli.report import print_result, result_line
from cgos_client.playing.events import GameResult
from cgos_client.playing.together import SLOT, WHO

SETUP = "setup 17 9 7.0 60000 Other(1700?) Bot(1800)"
RESULT = GameResult(
    game=5,
    size=9,
    komi=7.0,
    color="black",
    opponent="Other",
    opponent_rating="1700?",
    result="B+3.5",
    detail="",
    won=True,
    moves=61,
)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "--server", "here", "--name", "Bot", "--", "x"], "write HOST:PORT"),
        (["run", "--server", "here:1", "--name", "B", "--", "x"], "A name has at least 3 characters"),
        (["run", "--server", "here:1", "--name", "Bot", "--", "x"], "no password was given"),
        (["run", "--server", "here:1", "--name", "Bot"], "Missing argument '-- ENGINE...'"),
        (["run", "--server", "here:1", "--name", "Bot", "x", "--mode", "gtp"], "cgos-client run ... -- ENGINE --mode"),
        (["check", "x", "--mode", "gtp"], "cgos-client check ... -- ENGINE --mode"),
        (["run", "--gmes", "3", "--", "x"], "Did you mean"),
        (["bot", "random", "--playouts", "5"], "--playouts is for mcts"),
        (["bot", "random", "--name", "Bot"], "give --server as well"),
        (["bot", "mcts", "--server", "here:1"], "Missing option '--name'"),
        (["bot", "mcts", "--playouts", "0"], "0 is not in the range"),
    ],
)
def test_refusals(arguments, words):
    result = CliRunner().invoke(main, arguments, env={"CGOS_PASSWORD": None}, prog_name="cgos-client")
    assert result.exit_code == 2
    assert words in result.output


def test_a_log_that_cannot_be_written(tmp_path):
    (tmp_path / "pw").write_text("sesame")
    arguments = ["--server", "here:1", "--name", "Bot", "--password-file", str(tmp_path / "pw")]
    result = CliRunner().invoke(main, ["bot", "random", *arguments, "--log", "/no/such/folder/log"])
    assert result.exit_code == 2
    assert "--log /no/such/folder/log: the file cannot be written" in result.output


def test_a_bot_as_a_gtp_program():
    result = CliRunner().invoke(main, ["bot", "greedy", "--seed", "1"], input="boardsize 5\ngenmove b\nquit\n")
    assert result.exit_code == 0
    answers = result.output.split("\n\n")
    assert answers[0] == "="
    assert answers[1].startswith("= ")


@pytest.mark.parametrize(
    ("won", "result", "detail", "line"),
    [
        (True, "B+3.5", "", "game 5: B+3.5, won as black against Other (1700?), 9x9, komi 7.0, 61 moves"),
        (None, "Draw", "", "game 5: Draw, drawn as black against Other (1700?), 9x9, komi 7.0, 61 moves"),
        (
            None,
            "Abort",
            "why",
            "game 5: Abort (why), no result as black against Other (1700?), 9x9, komi 7.0, 61 moves",
        ),
    ],
)
def test_result_lines(won, result, detail, line):
    assert result_line(msgspec.structs.replace(RESULT, result=result, detail=detail, won=won)) == line


@pytest.fixture
def own_logs():
    """What a command adds to the logs goes away with the test."""
    logger = logging.getLogger("cgos_client")
    before = list(logger.handlers)
    yield
    for handler in [handler for handler in logger.handlers if handler not in before]:
        logger.removeHandler(handler)
        handler.close()


async def client(*arguments, stderr=asyncio.subprocess.PIPE):
    """The real program in a process of its own."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "from cgos_client.cli.main import main; main()",
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=stderr,
        env={**os.environ, "CGOS_PASSWORD": "open-sesame"},
    )


async def test_the_program_ends_after_the_game_on_the_first_signal(bench, fake_server, tmp_path):
    process = None
    log = tmp_path / "client.log"

    async def server(peer):
        assert (await peer.sign_in())[1:] == ["Bot", "open-sesame"]
        await peer.say(SETUP, "genmove b 60000")
        assert await peer.hear() == "D4"
        process.send_signal(signal.SIGINT)
        await peer.say("play w E5 60000", "genmove b 60000")
        assert await peer.hear() == "F6"
        await peer.say("gameover 2026-11-21 B+Resign Resignation")
        assert await peer.hear() == "quit"

    async with fake_server(server) as fake:
        address = f"127.0.0.1:{fake.port}"
        process = await client(
            *("run", "--server", address, "--name", "Bot", "--json", "--log", str(log), "--", *bench.fake_gtp())
        )
        async with asyncio.timeout(30):
            out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    assert json.loads(out) == {
        "game": 17,
        "size": 9,
        "komi": 7.0,
        "color": "black",
        "opponent": "Other",
        "opponent_rating": "1700?",
        "result": "B+Resign",
        "detail": "Resignation",
        "won": True,
        "moves": 3,
    }
    written = log.read_text()
    assert "server: gameover 2026-11-21 B+Resign Resignation" in written
    assert "to engine: genmove b" in written
    assert "open-sesame" not in written + err.decode()
    assert b"signed in as Bot" in err
    assert bench.commands()[-1] == "quit"


async def test_logs_apart_and_the_record_of_a_game(bench, fake_server, tmp_path):
    async def server(peer):
        assert (await peer.sign_in())[1:] == ["Bot", "open-sesame"]
        await peer.say(SETUP, "genmove b 60000")
        assert await peer.hear() == "D4"
        await peer.say("play w E5 58500", "genmove b 59000")
        assert await peer.hear() == "F6"
        await peer.say("gameover 2026-11-21 B+Resign Resignation")
        assert await peer.hear() == "quit"

    logs, games = tmp_path / "logs", tmp_path / "games"
    async with fake_server(server) as fake:
        process = await client(
            *("run", "--server", f"127.0.0.1:{fake.port}", "--name", "Bot", "--games", "1", "--log-dir", str(logs)),
            *("--sgf-dir", str(games), "--", *bench.fake_gtp("--fault", "two-lines")),
        )
        async with asyncio.timeout(30):
            _, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    wire, gtp = (logs / "wire.log").read_text(), (logs / "gtp.log").read_text()
    assert "server: gameover 2026-11-21" in wire
    assert "client: (secret)" in wire
    assert "open-sesame" not in wire + gtp
    assert "to engine" not in wire
    assert "to engine: genmove b" in gtp
    assert "D4 was taken" in gtp, "what is wrong with an answer stands where the answer stands"
    assert "gameover 2026-11-21" not in gtp
    (record,) = games.iterdir()
    assert record.name == "2026-11-21-17-Bot-Other.sgf"
    text = record.read_text()
    assert ";B[df]BL[59];W[ee]WL[58.5];B[fd]" in text
    assert "RE[B+Resign]" in text


@pytest.mark.parametrize("option", ["--log-dir", "--sgf-dir"])
def test_a_directory_that_cannot_be_made(tmp_path, option, own_logs):
    (tmp_path / "pw").write_text("sesame")
    (tmp_path / "file").write_text("")
    arguments = ["--server", "here:1", "--name", "Bot", "--password-file", str(tmp_path / "pw")]
    result = CliRunner().invoke(main, ["bot", "random", *arguments, option, str(tmp_path / "file" / "x")])
    assert result.exit_code == 2
    assert f"{option} {tmp_path}/file/x:" in result.output
    assert "Not a directory" in result.output


def test_a_directory_for_records_that_nobody_can_write_to(tmp_path, monkeypatch):
    (tmp_path / "pw").write_text("sesame")
    allowed = os.access  # which never says no to root
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK | os.X_OK and allowed(path, mode))
    arguments = ["--server", "here:1", "--name", "Bot", "--password-file", str(tmp_path / "pw")]
    result = CliRunner().invoke(main, ["bot", "random", *arguments, "--sgf-dir", str(tmp_path / "games")])
    assert result.exit_code == 2
    assert f"--sgf-dir {tmp_path}/games: nothing can be written there" in result.output


def test_a_full_disk_stops_no_game(monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("click.echo", full)
    print_result(RESULT, as_json=False)


def test_lines_of_the_log_name_bot_and_slot(tmp_path, own_logs):
    report.set_up_logs(logging.INFO, tmp_path / "log")
    report.log_dialogues(tmp_path / "logs", "Bot")

    def say() -> None:
        WHO.set("Bot")
        SLOT.set(2)
        logging.getLogger("cgos_client.gtp").warning("hello")

    contextvars.copy_context().run(say)
    logging.getLogger("cgos_client").warning("nobody")
    first, second = (tmp_path / "log").read_text().splitlines()
    assert first.endswith("WARNING Bot, slot 2: hello")
    assert second.endswith("WARNING nobody")
    (own,) = (tmp_path / "logs" / "gtp.log").read_text().splitlines()
    assert own.endswith("WARNING slot 2: hello")


@pytest.mark.parametrize(("options", "shown"), [((), True), (("--json",), False), (("-q",), False), (("-v",), False)])
async def test_the_live_line_is_for_terminals(fake_server, options, shown):
    screen = b""
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)

    def look():
        nonlocal screen
        with contextlib.suppress(BlockingIOError):
            while part := os.read(ours, 1 << 16):
                screen += part

    async def server(peer):
        await peer.sign_in()
        await peer.say(SETUP, "genmove b 60000")
        await peer.hear()
        for _ in range(200 if shown else 0):
            look()
            if b"game 17 9x9:  Bot (1800)" in screen:
                break
            await asyncio.sleep(0.05)
        await peer.say("gameover 2026-11-21 B+Resign Resignation")
        assert await peer.hear() == "quit"

    try:
        async with fake_server(server) as fake:
            process = await client(
                *("bot", "random", "--server", f"127.0.0.1:{fake.port}", "--name", "Bot", "--games", "1", *options),
                stderr=theirs,
            )
            async with asyncio.timeout(30):
                out, _ = await process.communicate()
        look()
    finally:
        os.close(ours)
        os.close(theirs)
    assert process.returncode == 0, screen
    assert (b"waiting for a game; won 0, lost 0" in screen) is shown
    assert (b"game 17 9x9:  Bot (1800)" in screen) is shown
    assert out.count(b"\n") == 1, "the result is all that is on the standard output"


async def test_a_built_in_bot_plays_on_a_server(fake_server):
    async def server(peer):
        assert (await peer.sign_in())[0].endswith(" genmove_analyze")
        await peer.say(SETUP, "genmove b 60000")
        move, _, analysis = (await peer.hear()).partition(" ")
        assert move[0] in "ABCDEFGHJ"
        assert json.loads(analysis)["visits"] == 5
        await peer.say("gameover 2026-11-21 B+Resign ")
        assert await peer.hear() == "quit"

    async with fake_server(server) as fake:
        arguments = ["--playouts", "5", "--server", f"127.0.0.1:{fake.port}", "--name", "Bot", "--games", "1"]
        process = await client("bot", "mcts", *arguments)
        async with asyncio.timeout(30):
            out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    assert out.decode().startswith("game 17: B+Resign, won as black against Other (1700?)")


def gnugo():
    program = shutil.which("gnugo") or "/usr/games/gnugo"
    return program if Path(program).exists() else None


@pytest.mark.skipif(gnugo() is None, reason="GNU Go is neither on PATH nor in /usr/games")
async def test_gnu_go_plays_a_whole_game_and_survives_a_cut(fake_server):
    """Real GNU Go against the greedy bot, refereed by the rules; the connection is cut once on the way."""
    import random

    from cgos_client.bots.engines import GreedyBot
    from cgos_protocol.games.base import Color, Ruleset
    from cgos_protocol.games.go_rules import Go

    position = Go().new(Ruleset(size=7, komi2=15))
    greedy = GreedyBot(random.Random(4))
    greedy.new_game(7, 15)
    history = []

    async def session(peer, cut_at):
        await peer.sign_in()
        await peer.say(" ".join(["setup 3 7 7.5 300000 Gnu(1800) Greedy(1200)", *(f"{m} 300000" for m in history)]))
        while not position.is_over():
            if position.to_play is Color.BLACK:
                move = greedy.genmove(Color.BLACK, 300_000)
                await peer.say(f"play b {move} 300000")
            else:
                await peer.say("genmove w 300000")
                if position.ply >= cut_at:
                    return
                move = (await peer.hear()).upper()
                greedy.play(Color.WHITE, move)
            assert position.play(position.read(move)) is None, move
            history.append(move)
        await peer.say("gameover 2026-11-21 W+1.5 ")
        assert await peer.hear() == "quit"

    async with fake_server(lambda peer: session(peer, 20), lambda peer: session(peer, 10_000)) as fake:
        engine = [
            gnugo(),
            *["--mode", "gtp", "--level", "0", "--chinese-rules", "--positional-superko", "--capture-all-dead"],
        ]
        process = await client(
            *("run", "--server", f"127.0.0.1:{fake.port}", "--name", "Gnu", "--games", "1", "--", *engine)
        )
        async with asyncio.timeout(120):
            out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    assert position.score() < 0, "GNU Go does not lose to the greedy bot"
    assert out.decode().startswith("game 3: W+1.5, won as white against Greedy (1200)")
    assert "GNU Go 3.8" in err.decode()
