"""docs/tournaments.md says what the commands and the library do."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.cli.console import examples, run

from benchmarks.tournaments import tournament_examples as made
from cgos_server.cli.main import main
from cgos_server.tournaments.base import Game, Request, Result
from cgos_server.tournaments.files import formats as tournament_file
from cgos_server.tournaments.registry import SHORT, SYSTEMS, system
from cgos_server.tournaments.standings.tiebreaks import TIE_BREAKERS, description
from cgos_server.tournaments.tournament import from_json, to_json

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tournaments.md").read_text("utf-8")


def test_every_system_is_in_the_table_and_has_an_example() -> None:
    assert re.findall(r"^\| `([a-z-]+)` \| .* \| .* \| .* \| .* \|$", PAGE, re.MULTILINE)[: len(SYSTEMS)] == list(
        SYSTEMS
    )
    assert re.findall(r"^### `([a-z-]+)`", PAGE, re.MULTILINE) == list(SYSTEMS)
    for word in SHORT:
        assert f"`{word}`" in PAGE


def test_the_examples_print_what_the_page_shows() -> None:
    all_examples = list(examples(PAGE))
    assert len(all_examples) > len(SYSTEMS)
    for command, output in all_examples:
        assert run(command, ROOT) == output, command


def test_an_event_runs_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    section = PAGE.partition("## Running an event")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    lines = [shlex.split(line, comments=True)[1:] for block in blocks for line in block.splitlines()]
    names = ("Alder", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Larch")
    (tmp_path / "engines.csv").write_text("name,rating\n" + "".join(f"{name},2000\n" for name in names))
    monkeypatch.chdir(tmp_path)
    ended = [CliRunner().invoke(main, line) for line in lines]
    assert [result.exit_code for result in ended] == [0, 0, 0, 0, 0, 1, 0, 0, 0], (
        "the second round waits for all results"
    )
    assert "Give their results first" in ended[5].stderr
    (known,) = [game for _, game in games(tmp_path / "event.json") if game.result is not None]
    assert known.result == Result(2, 0)
    head, *rows = re.findall(r"^\| .* \|$", section, re.MULTILINE)
    assert len(head.split("|")) == 5
    fields = ", ".join(cell for row in rows for cell in re.findall(r'`("[a-z]+": \[.*?\])`', row))
    entered = ", ".join(f'{{"id": {id_}, "name": "{name}"}}' for id_, name in enumerate(names, 1))
    event = from_json(f'{{"system": "cup", "entrants": [{entered}], {fields}}}')
    assert (event.withdrawn, event.requests, event.forbidden) == ((7,), (Request(7, 3, 1),), ((1, 5), (3, 5)))


def games(file: Path) -> list[tuple[int, Game]]:
    return [(round_.number, game) for round_ in from_json(file.read_bytes()).rounds for game in round_.games]


def test_the_library_example_runs() -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "docs/tournaments.md", "exec"), {})
    assert re.search(r"^1 (Alder|Birch|Cedar|Elm) \(1\.0, ", printed.getvalue(), re.MULTILINE)


def test_every_tie_breaker_is_in_the_table() -> None:
    section = PAGE.partition("## Order of standings")[2].partition("\n## ")[0]
    rows = [f"| `{word}` | {description(word)} |" for word in TIE_BREAKERS]
    assert re.findall(r"^\| `.*\|$", section, re.MULTILINE) == rows
    orders = [f"- {word}: {', '.join(system(word).tie_breakers)}" for word in SYSTEMS]
    assert re.findall(r"^- [a-z-]+: .*$", section, re.MULTILINE) == orders


def test_the_table_of_players_can_be_read() -> None:
    (text,) = re.findall(r"^```csv\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    event = tournament_file.read("engines.csv", text.encode()).event
    assert [entrant.name for entrant in event.entrants] == ["Alder", "Birch", "Cedar"]
    assert [[game.pair for game in round_.games] for round_ in event.rounds] == [[(1, 2)], [(1, 3)]]
    turned = str.maketrans("+-wb", "-+bw")
    cells = re.findall(r"`([^`]+)`", PAGE.partition("| cell | says |")[2].partition("```")[0])
    assert len(cells) == 19
    for cell in cells:
        other = "1" + cell[2:].translate(turned) if cell.startswith("12") else ""
        table = f"name,id,r1\nAlder,1,{cell}\nBirch,12,{other}\n"
        assert len(tournament_file.read("engines.csv", table.encode()).event.entrants) == 2, cell


def test_the_events_and_pictures_are_those_that_are_made_today(tmp_path: Path) -> None:
    for name, terms in made.EVENTS.items():
        assert (ROOT / "docs" / "examples" / f"{name}.json").read_bytes() == to_json(made.played(*terms)) + b"\n", name
    for name in made.PICTURES:
        run(f"cgos-server tournament crosstable docs/examples/{name}.json --svg {tmp_path / name}.svg", ROOT)
        assert (tmp_path / f"{name}.svg").read_bytes() == (ROOT / "docs" / "images" / f"{name}.svg").read_bytes(), name
        assert f"images/{name}.svg" in PAGE
