"""What docs/bot-author.md shows is true: its bot plays, its commands parse, its sample lines are the client's own."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from support.clients.v2_model import Model
from support.clients.v2_server import V2Server

import cgos_client
from cgos_client.cli.main import main
from cgos_client.cli.report import result_line
from cgos_client.playing import bots_file
from cgos_client.playing.events import GameResult
from cgos_client.playing.lines_messages import Other, parse

PAGE = (Path(__file__).parents[2] / "docs" / "bot-author.md").read_text()
EXAMPLES = Path(__file__).parents[2] / "clients" / "examples"
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", PAGE, re.DOTALL)


async def test_the_bot_on_the_page_plays(fake_server, tmp_path):
    program = tmp_path / "bot.py"
    (code,) = (block for language, block in BLOCKS if language == "python" and "import socket" in block)
    program.write_text(code)
    assert len(code.splitlines()) <= 45

    async def server(peer):
        assert await peer.sign_in() == ["e1 my-bot 1.0", "MyBot", "sesame"]
        await peer.say("info hello", "setup 1 9 7.0 300000 Other(1) MyBot(1) D4 300000 E5 300000", "genmove b 300000")
        assert await peer.hear() == "pass"
        await peer.say("play w PASS 299850", "gameover 2026-01-01 W+7.0 ")
        assert await peer.hear() == "ready"

    async with fake_server(server) as fake:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(program), "127.0.0.1", str(fake.port), "MyBot", "sesame"),
            stdout=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(20):
            out, _ = await process.communicate()
    assert out.decode() == "info hello\nresult W+7.0\n"


def commands():
    text = "\n".join(block for _, block in BLOCKS).replace("\\\n", " ")
    return [shlex.split(line) for line in text.splitlines() if line.startswith("cgos-client ")]


@pytest.mark.parametrize("command", commands(), ids=lambda command: command[1])
def test_commands_on_the_page_have_these_options(command):
    options = {option for parameter in main.commands[command[1]].params for option in parameter.opts}
    own = command[: command.index("--")] if "--" in command else command
    assert {word for word in own if word.startswith("--")} <= options


def test_sample_results_are_what_the_client_prints():
    block = next(block for _, block in BLOCKS if block.startswith("game 17"))
    text, as_json = block.splitlines()
    result = GameResult(**json.loads(as_json))
    assert list(result.__struct_fields__) == list(json.loads(as_json))
    assert result_line(result) == text


def test_sample_dialogue_can_be_read():
    block = next(block for _, block in BLOCKS if block.startswith("S: protocol"))
    lines = [line.removeprefix("S: ").strip() for line in block.splitlines() if line.startswith("S: ")]
    assert len(lines) > 8
    assert not [line for line in lines if isinstance(parse(line), Other)]


def test_the_examples_are_shown_as_they_are():
    """One with the library and one without; the others are named."""
    examples = {path.name: path.read_text() for path in EXAMPLES.glob("*.py")}
    shown = [name for name, code in examples.items() if ("python", code) in BLOCKS]
    assert sorted(shown) == ["plain_bot.py", "random_bot.py"]
    assert [name for name in examples if f"[clients/examples/{name}](../clients/examples/{name})" not in PAGE] == []


def test_the_file_of_bots_can_be_read(tmp_path):
    (text,) = (block for language, block in BLOCKS if language == "toml")
    path = tmp_path / "bots.toml"
    path.write_text(text)
    bots = bots_file.load(path)
    assert [bot.name for bot in bots.bot] == ["MyGnuGo", "Sparring"]


def test_every_key_of_a_bot_is_on_the_page():
    for key in (*bots_file.BotTable.__struct_fields__, *bots_file.ServerTable.__struct_fields__):
        assert f"`{key}`" in PAGE, key


def test_the_names_of_the_library_are_on_the_page():
    """What a program may use, and nothing that there is not."""
    errors = [name for name in cgos_client.__all__ if isinstance(member := getattr(cgos_client, name), type)
              and issubclass(member, cgos_client.CgosClientError)]  # fmt: skip
    assert [name for name in errors if f"`{name}`" not in PAGE] == []
    for owner, kind in (("session", cgos_client.Session), ("game", cgos_client.Game)):
        for name in re.findall(rf"`{owner}\.(\w+)", PAGE):
            assert hasattr(kind, name) or name in ("name", "venues"), f"{owner}.{name}"


async def test_the_watcher_on_the_page_watches(tmp_path):
    (code,) = (block for language, block in BLOCKS if language == "python" and "session.watch" in block)
    model = Model(venues={"9x9": 9})
    async with asyncio.timeout(20), V2Server(model) as server:
        program = tmp_path / "watcher.py"
        program.write_text(code.replace("ws://localhost:6868", server.url))
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-u", str(program), stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        assert b"Picture" in await process.stdout.readline()
        process.terminate()
        await process.communicate()
