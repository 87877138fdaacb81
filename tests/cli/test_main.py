"""What errors look like to the shell."""

from __future__ import annotations

import errno
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cgos_server.cli.main import Commands
from cgos_server.storage.writing.causes import Cause


class Failing(Commands):
    """One command, which fails."""

    error: Exception

    def get_command(self, _ctx: click.Context, name: str) -> click.Command:
        def fail() -> None:
            raise self.error

        return click.Command(name, callback=fail)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (MemoryError(), 1, f"This command cannot go on. {Cause.MEMORY.value}"),
        (
            ExceptionGroup("tasks", [RuntimeError("can't start new thread")]),
            1,
            f"This command cannot go on. {Cause.MEMORY.value}",
        ),
        (
            PermissionError(errno.EACCES, "Permission denied", str(Path("data"))),
            1,
            f"data cannot be used: Permission denied. {Cause.ACCESS.value}",
        ),
        (OSError(errno.ENOSPC, "No space left on device"), 74, "What this command says cannot be written"),
    ],
)
def test_a_lack_of_resources_is_a_sentence(error: Exception, code: int, said: str) -> None:
    commands = Failing()
    commands.error = error
    result = CliRunner().invoke(commands, ["serve"])
    assert result.exit_code == code
    assert result.stderr.startswith(f"Error: {said}")


def test_a_fault_of_ours_keeps_its_traceback() -> None:
    commands = Failing()
    commands.error = RuntimeError("ours")
    assert CliRunner().invoke(commands, ["serve"]).exception is commands.error
