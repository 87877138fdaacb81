"""``cgos-client conformance`` as people type it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.e2e.processes import free_port

from cgos_client.cli.main import main
from cgos_client.conformance.runner import all_cases


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["conformance", *arguments])
    return result.exit_code, result.output


def test_the_list_shows_every_case() -> None:
    status, text = run("--list")
    assert status == 0
    assert [line.split()[1] for line in text.splitlines()] == [case.name for case in all_cases()]


def test_the_list_can_leave_out_what_is_harsh() -> None:
    assert "(harsh)" in run("--list")[1]
    status, text = run("--list", "--gentle", "--only", "analysis*")
    assert status == 0
    assert "analysis-announced" in text
    assert "analysis-not-announced" not in text


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([], "give --server"),
        (["--server", "nowhere"], "HOST:PORT"),
        (["--server", "ws://localhost:6868/9x9"], "bytes on TCP"),
        (["--server", "localhost:1", "--only", "nothing-like-it"], "no case is called nothing-like-it"),
        (["--server", "localhost:1", "--prefix", "1-"], "cannot begin a name"),
        (["--server", "localhost:1", "--prefix", "far-too-long-"], "cannot begin a name"),
        (["--transcripts", "/nowhere"], "does not exist"),
    ],
)
def test_wrong_usage(arguments: list[str], why: str) -> None:
    status, text = run(*arguments)
    assert status == 2
    assert why in text


def test_a_bad_transcript_is_told(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("=== x: y\nblack hums\n")
    status, text = run("--transcripts", str(tmp_path), "--list")
    assert status == 2
    assert "mine.txt, line 2" in text


def test_a_server_that_is_not_there() -> None:
    status, text = run("--server", f"127.0.0.1:{free_port()}", "--only", "greeting")
    assert status == 3
    assert "cannot be reached" in text


def test_json_has_every_field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed port in the middle of the run: the case differs, and says so."""
    from cgos_client.conformance import command

    class Open:
        async def close(self) -> None: ...

    async def connected(host: str, port: int) -> Open:
        return Open()

    monkeypatch.setattr(command, "connect", connected)
    status, text = run("--server", f"127.0.0.1:{free_port()}", "--only", "greeting", "--json")
    assert status == 1
    record = json.loads(text.splitlines()[0])
    assert (record["case"], record["topic"], record["verdict"]) == ("greeting", "sign_in", "differs")
    assert record["step"]["text"] == "stranger connects"
    assert "cannot be reached" in record["why"]
