"""What docs/bot-author.md shows is true: its bot plays, its commands parse, its sample lines are the client's own."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from cgos_client.bridge import GameResult
from cgos_client.cli import main
from cgos_client.messages import Other, parse
from cgos_client.report import result_line

PAGE = (Path(__file__).parents[2] / "docs" / "bot-author.md").read_text()
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", PAGE, re.DOTALL)


async def test_the_bot_on_the_page_plays(fake_server, tmp_path):
    program = tmp_path / "bot.py"
    (code,) = (block for language, block in BLOCKS if language == "python")
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
    assert list(result._asdict()) == list(json.loads(as_json))
    assert result_line(result) == text


def test_sample_dialogue_can_be_read():
    block = next(block for _, block in BLOCKS if block.startswith("S: protocol"))
    said = [line.removeprefix("S: ").strip() for line in block.splitlines() if line.startswith("S: ")]
    assert len(said) > 8
    assert not [line for line in said if isinstance(parse(line), Other)]
