"""The commands of docs/debugging.md exist, its files are there, and its example of simulated time is true."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from support.live.simulated import SimulatedTime

from cgos_server.cli.main import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "debugging.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
CONSOLE = "\n".join(text for language, text in BLOCKS if language == "")
COMMANDS = re.findall(r"(?:bin/cgos-server|-m cgos_server) ([a-z][^#>\n]*)", CONSOLE)


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_of_the_server_takes_what_the_page_gives_it(line: str) -> None:
    command: click.Command = main
    words = line.split()
    while isinstance(command, click.Group):
        subcommand = command.get_command(click.Context(command), words.pop(0))
        assert subcommand is not None
        command = subcommand
    options = {name for parameter in command.params for name in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= options


def test_there_are_commands() -> None:
    assert len(COMMANDS) >= 15


def test_the_tests_that_are_named_exist() -> None:
    named = re.findall(r"tests/\S+\.py(?:::\w+)?", CONSOLE)
    assert len(named) >= 5
    for path, _, test in (name.partition("::") for name in named):
        assert f"def {test}" in (ROOT / path).read_text(encoding="utf-8"), path


def test_the_example_of_simulated_time_runs() -> None:
    (example,) = (text for language, text in BLOCKS if language == "python")
    first, _, rest = example.partition("time.advance(1) ")
    fired: list[str] = []
    names = {"SimulatedTime": SimulatedTime, "fired": fired}
    exec(first, names)
    assert fired == []
    exec(f"time.advance(1) {rest}", names)
    assert fired == ["flag"]
