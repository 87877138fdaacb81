"""Console examples of a page: blocks whose lines after `$ ` are commands, followed by what these print."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

from click.testing import CliRunner

from cgos_server.cli.main import main

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def run(command: str, root: Path) -> str:
    """What a `cgos-server` command line prints on standard output when it is called in `root`."""
    program, *words = shlex.split(command)
    assert program == "cgos-server", command
    before = Path.cwd()
    os.chdir(root)
    try:
        result = CliRunner().invoke(main, words)
    finally:
        os.chdir(before)
    assert result.exit_code in (0, 1), (command, result.output)
    assert result.exception is None or isinstance(result.exception, SystemExit), (command, result.exception)
    return result.stdout


def examples(text: str) -> Iterator[tuple[str, str]]:
    """(command, what the page says it prints), in order."""
    for block in _BLOCK.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def refreshed(text: str, root: Path, progress: Callable[[str], None] = lambda _command: None) -> str:
    """The page with what the commands print now."""

    def again(match: re.Match[str]) -> str:
        lines = []
        for command, _ in examples(match.group(0)):
            progress(command)
            lines.append(f"$ {command}\n{run(command, root)}")
        return "```console\n" + "".join(lines) + "```"

    return _BLOCK.sub(again, text)
