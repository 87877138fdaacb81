"""Files that commands write: what is replaced, and what only --overwrite replaces."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from cgos_protocol.errors import Conflict, Invalid
from cgos_server.cli.files import whole, write
from cgos_server.cli.main import main
from cgos_server.storage import schema
from cgos_server.tournaments.tournament import from_json, to_json

PLAYERS = "name,rating\nAlder,2400\nBirch,2300\nCedar,2200\nElm,2100\n"
FIRST = ("next", "players.csv", "--system", "round-robin", "--output", "ev.json")
REFUSED = "that would be lost. Name another file, take this one away first, or give --overwrite."


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["tournament", *words])


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an event of which a game of the first round has a result, in a directory that is the current one."""
    monkeypatch.chdir(tmp_path)
    Path("players.csv").write_text(PLAYERS)
    for words in (FIRST, FIRST, ("result", "ev.json", "--game", "1", "1-0")):  # without results it is replaced
        assert run(*words).exit_code == 0
    return tmp_path / "ev.json"


def test_an_event_with_results_is_not_replaced_by_its_first_round(begun: Path) -> None:
    before = begun.read_bytes()
    again = run(*FIRST)
    assert (again.exit_code, begun.read_bytes()) == (1, before)
    assert f"ev.json holds an event with 1 result {REFUSED}" in again.stderr
    assert run(*FIRST, "--overwrite").exit_code == 0
    assert not any(game.result for _, game in from_json(begun.read_bytes()).games)


@pytest.mark.parametrize(
    "words",
    [
        ("convert", "players.csv", "ev.json", "--system", "swiss"),
        ("change", "players.csv", "--enter", "Fir", "--output", "ev.json"),
        ("result", "other.json", "--game", "2", "1-0", "--output", "ev.json"),
        ("results", "other.json", "results.txt", "--output", "ev.json"),
    ],
)
def test_every_command_that_writes_an_event_keeps_the_results_of_another(begun: Path, words: tuple[str, ...]) -> None:
    assert run(*FIRST[:-1], "other.json").exit_code == 0
    Path("results.txt").write_text("2 1-0\n")
    before = begun.read_bytes()
    refused = run(*words)
    assert (refused.exit_code, begun.read_bytes()) == (1, before)
    assert REFUSED in refused.stderr
    assert run(*words, "--overwrite").exit_code == 0
    assert begun.read_bytes() != before


def test_an_event_that_goes_on_in_its_own_file_is_written_without_a_question(begun: Path) -> None:
    for words in (
        ("result", "ev.json", "--game", "1", "0-1"),
        ("result", "ev.json", "--game", "2", "0-1"),
        ("next", "ev.json", "--output", "ev.json"),
        ("convert", "ev.json", "ev.trf"),
        ("change", "ev.json", "--withdraw", "Elm"),
        ("change", "ev.json", "--unpair"),
        ("change", "ev.json", "--unpair", "--with-results"),
    ):
        assert run(*words).exit_code == 0, words
    assert from_json(begun.read_bytes()).rounds == ()
    assert "an event with 2 results that" in run("convert", "ev.json", "ev.trf").stderr


def test_an_older_state_of_an_event_is_replaced_by_a_newer_one_in_every_format(begun: Path) -> None:
    for ending in ("json", "trf", "csv", "h9"):
        assert run("convert", "ev.json", f"copy.{ending}").exit_code == 0
    assert run("result", "ev.json", "--game", "2", "0-1").exit_code == 0
    for ending in ("json", "trf", "csv", "h9"):
        again = run("convert", "ev.json", f"copy.{ending}")
        assert (again.exit_code, again.stderr.count("Written to")) == (0, 1), ending


def test_who_has_withdrawn_cannot_be_computed_again_either(begun: Path) -> None:
    event = from_json(begun.read_bytes())
    begun.write_bytes(to_json(msgspec.structs.replace(event, rounds=())))
    assert run("change", "ev.json", "--withdraw", "Elm").exit_code == 0
    assert f"an event with 1 change {REFUSED}" in run(*FIRST).stderr


def test_pictures_and_exports_replace_each_other_and_nothing_else(begun: Path) -> None:
    schema.prepare(Path("backup.sqlite"))
    Path("cgos.toml").write_text('[server]\nname = "Mine"\n')
    Path("tls.crt").write_text("-----BEGIN PRIVATE KEY-----\n")
    Path("bot.password").write_text("0123456789\n")
    for name, held in (
        ("ev.json", "an event with 1 result"),
        ("backup.sqlite", "a database"),
        ("cgos.toml", "a configuration"),
        ("tls.crt", "a secret"),
        ("bot.password", "a secret"),
    ):
        before = Path(name).read_bytes()
        refused = run("crosstable", "ev.json", "--svg", name)
        assert (refused.exit_code, Path(name).read_bytes()) == (1, before)
        assert f"{name} holds {held} that would be lost. Name another file, or take this one" in refused.stderr
    for _ in range(2):
        assert run("crosstable", "ev.json", "--svg", "table.svg").exit_code == 0
    for _ in range(2):
        write(Path("games.ndjson"), b'{"id":1}\n{"id":2}\n')


def test_a_file_stays_as_it_was_where_the_new_one_fails(tmp_path: Path) -> None:
    target, link = tmp_path / "games.csv", tmp_path / "link.csv"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    with pytest.raises(TypeError), whole(link) as file:
        file.writelines([b"half", "of text"])  # type: ignore[list-item]
    assert target.read_bytes() == b"old"
    write(link, b"new")
    assert (link.is_symlink(), target.read_bytes(), target.stat().st_mode & 0o777) == (True, b"new", 0o640)
    assert {path.name for path in tmp_path.iterdir()} == {"games.csv", "link.csv"}
    with pytest.raises(Invalid, match="cannot be written"):
        write(tmp_path / "no" / "games.csv", b"new")


def test_a_pipe_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write(pipe, b"rows")
        assert os.read(reader, 100) == b"rows"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_the_record_of_a_game_replaces_no_configuration(run: Any, tmp_path: Path) -> None:
    Path("cgos.toml").write_text('[server]\nname = "Mine"\n')
    for _ in range(2):
        run("sgf", "1", "--output", "one.sgf")
        run("export", "games", "games.csv")
    for words in (("sgf", "1", "--output", "cgos.toml"), ("export", "games", "cgos.toml"), ("bot", "export", "Alpha")):
        target = () if "cgos.toml" in words else ("cgos.toml",)
        assert "holds a configuration" in run(*words, *target, fails=1).stderr
    with pytest.raises(Conflict), whole(Path("cgos.toml")):
        pass
