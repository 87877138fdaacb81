"""The example bots are complete: each plays a whole game in a process of its own, and is fully typed."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.clients.v2_model import Model, ModelGame
from support.clients.v2_server import V2Server

EXAMPLES = Path(__file__).parents[2] / "clients" / "examples"
ALL = sorted(EXAMPLES.glob("*.py"))
BOTS = sorted(EXAMPLES.glob("*_bot.py"))


def house(game: ModelGame) -> str:
    board = game.referee.position
    points = [p for p in board.empties() if not board.is_eye(board.to_play, p) and board.copy().play(p) is None]
    return board.write(points[0]) if points else "pass"


async def plays(
    tmp_path: Path, example: str, *engine: str, games: int, cut_after: Callable[[], int | None] = lambda: None
) -> tuple[Model, str]:
    """The example until its games are over; its standard output."""
    model = Model(venues={"9x9": 9}, opponent=house, games=games)
    (tmp_path / "password").write_text("sesame\n")
    async with asyncio.timeout(60), V2Server(model, cut_after=cut_after) as server:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-u", str(EXAMPLES / example), server.url, "Bot", str(tmp_path / "password"), "9x9"),
            *engine,
            stdout=asyncio.subprocess.PIPE,
            env=os.environ,
        )
        try:
            while len(model.seen_games) < games and process.returncode is None:  # noqa: ASYNC110 - another process plays
                await asyncio.sleep(0.02)
        finally:
            process.terminate()
            output, _ = await process.communicate()
    return model, output.decode()


async def test_the_random_bot(tmp_path):
    model, output = await plays(tmp_path, "random_bot.py", games=2)
    assert sorted(model.seen_games) == [1, 2]
    assert output.startswith("signed in as Bot in 9x9\n")
    assert "against House (1700), they are near each other" in output
    assert re.search(r"^game 1: [BW]\+[0-9.]+, rating 1800 to 181[23]$", output, re.MULTILINE)
    for game in model.games.values():
        assert game.over.reason == "score"
        assert len(game.analyses) > 10
        assert game.analyses[min(game.analyses)].comment.startswith("one of ")


async def test_the_gtp_bot(tmp_path):
    engine = [sys.executable, "-m", "cgos_client", "bot", "greedy", "--seed", "1"]
    model, _ = await plays(tmp_path, "gtp_bot.py", *engine, games=1)
    assert model.seen_games == [1]
    assert model.games[1].over.reason == "score"
    assert len(model.games[1].moves) > 20


@pytest.mark.parametrize(("state", "code"), [("accepted", 0), ("rejected", 1), ("not answered", 3)])
async def test_the_asking_bot_leaves_with_the_answer(tmp_path, state, code):
    model = Model(venues={"9x9": 9}, games=0)
    (tmp_path / "password").write_text("sesame\n")
    async with asyncio.timeout(60), V2Server(model) as server:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(EXAMPLES / "asking_bot.py"), server.url, "Bot", str(tmp_path / "password"), "9x9"),
            *("1.3", "Bot-1.2"),
            stdout=asyncio.subprocess.PIPE,
            env=os.environ,
        )
        while not model.questions and process.returncode is None:  # noqa: ASYNC110 - another process asks
            await asyncio.sleep(0.02)
        model.links["Bot"].tell(model.questions.pop(1)(state))
        output, _ = await process.communicate()
    assert output.decode() == f"Asked.\nQuestion 1 is {state}.\n"
    assert process.returncode == code


async def test_the_plain_bot_plays_on_through_cuts(tmp_path):
    """Without our library, from docs/protocol.md alone. Twice its connection is cut in the middle of a game."""
    cuts = iter([3, 2])
    model, output = await plays(tmp_path, "plain_bot.py", games=2, cut_after=lambda: next(cuts, None))
    assert {game.word("Bot") for game in model.games.values()} == {"black", "white"}
    for game in model.games.values():
        assert game.over.reason == "score"
        assert game.texts.count("E5") == 1
        assert f"game {game.number} {game.over.result}" in output
    assert next(cuts, None) is None, "it was cut twice"
    assert "cgos_client" not in (EXAMPLES / "plain_bot.py").read_text()


@pytest.mark.parametrize("example", ALL, ids=lambda path: path.name)
def test_without_arguments_an_example_says_how_it_is_called(example):
    ran = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == (2 if example.name == "asking_bot.py" else 1)
    assert f"python {example.name} " in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("example", BOTS, ids=lambda path: path.name)
def test_about_forty_lines(example):
    lines = [line for line in example.read_text().partition('"""\n\n')[2].splitlines() if line.strip()]
    assert len(lines) <= (43 if "from cgos_client" in example.read_text() else 60)


@pytest.mark.slow
def test_the_examples_are_typed(monkeypatch):
    api = pytest.importorskip("mypy.api", reason="mypy is not installed")
    root = EXAMPLES.parents[1]
    monkeypatch.setenv("MYPYPATH", str(root / "clients"))
    monkeypatch.chdir(root)
    out, err, status = api.run(["--strict", "--config-file", os.devnull, *map(str, ALL)])
    assert status == 0, out + err
