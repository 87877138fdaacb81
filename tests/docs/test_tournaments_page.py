"""docs/tournaments.md says what the commands and the library do."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

from support.console import examples, run

from cgos_server.core.tournaments.registry import SHORT, SYSTEMS, system
from cgos_server.core.tournaments.tiebreaks import TIE_BREAKERS, description
from cgos_server.protocol import tournament_file

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
    found = list(examples(PAGE))
    assert len(found) > len(SYSTEMS)
    for command, output in found:
        assert run(command, ROOT) == output, command


def test_the_library_example_runs() -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(code, "docs/tournaments.md", "exec"), {})
    assert re.search(r"^1 (Alder|Birch|Cedar|Elm) \(1\.0, ", said.getvalue(), re.MULTILINE)


def test_every_tie_breaker_is_in_the_table() -> None:
    section = PAGE.partition("## Order of standings")[2].partition("\n## ")[0]
    rows = [f"| `{word}` | {description(word)} |" for word in TIE_BREAKERS]
    assert re.findall(r"^\| `.*\|$", section, re.MULTILINE) == rows
    orders = [f"- {word}: {', '.join(system(word).tie_breakers)}" for word in SYSTEMS]
    assert re.findall(r"^- [a-z-]+: .*$", section, re.MULTILINE) == orders


def test_the_table_of_players_can_be_read() -> None:
    (text,) = re.findall(r"^```csv\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    event = tournament_file.read("engines.csv", text.encode()).event
    assert [one.name for one in event.entrants] == ["Alder", "Birch", "Cedar"]
    assert [[game.pair for game in each.games] for each in event.rounds] == [[(1, 2)], [(1, 3)]]
    turned = str.maketrans("+-wb", "-+bw")
    cells = re.findall(r"`([^`]+)`", PAGE.partition("| cell | says |")[2].partition("```")[0])
    assert len(cells) == 17
    for cell in cells:
        other = "1" + cell[2:].translate(turned) if cell.startswith("12") else ""
        table = f"name,id,r1\nAlder,1,{cell}\nBirch,12,{other}\n"
        assert len(tournament_file.read("engines.csv", table.encode()).event.entrants) == 2, cell
