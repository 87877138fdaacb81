"""What the documents say against what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import click
import msgspec
import pytest

from cgos_protocol.games.base import Ruleset
from cgos_protocol.games.go_rules import Go
from cgos_protocol.lines import admin as cgos_admin
from cgos_protocol.lines import viewer as cgos_viewer
from cgos_protocol.lines.player import table
from cgos_protocol.v2 import messages as ws
from cgos_server.cli.main import COMMANDS, main
from cgos_server.config.loader import load
from cgos_server.config.schema import Config

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def test_the_protocol_page_shows_the_table_that_runs() -> None:
    page = (DOCS / "protocol.md").read_text()
    for state, line, meaning, then in table():
        line = line.replace("|", "\\|")
        assert f"| {state} | `{line}` | {meaning} | {then} |" in page
    assert page.count("`C: ") == sum(line.startswith("C: ") for _, line, _, _ in table())


def test_the_protocol_page_shows_what_viewers_and_operators_say() -> None:
    page = (DOCS / "protocol.md").read_text()
    for line, meaning in cgos_viewer.table():
        assert f"| `{line}` | {meaning} |" in page
    assert page.count("| `V: ") == sum(line.startswith("V: ") for line, _ in cgos_viewer.table())
    for form in cgos_admin.FORMS.values():
        usage, answer = form.usage.replace("|", "\\|"), form.answer.replace("|", "\\|")
        assert f"| `O: {usage}` | {form.meaning} | " in page
        assert answer in page
    assert page.count("| `O: ") == len(cgos_admin.FORMS)


def test_the_protocol_page_shows_messages_that_are_some() -> None:
    """The game of the page is one: every message can be read, and the moves give the result."""
    section = (DOCS / "protocol.md").read_text().partition("### A game, message by message")[2]
    messages = re.findall(r"^([SC]): (\{.*(?:\n    .*)*)", section, re.MULTILINE)
    assert len(messages) > 10
    readers = {"S": msgspec.json.Decoder(ws.ServerMessage), "C": msgspec.json.Decoder(ws.ClientMessage)}
    heard = [readers[side].decode(text) for side, text in messages]
    (over,) = (message for message in heard if isinstance(message, ws.Over))
    go = Go().new(Ruleset(size=9, komi2=14))
    for text in ("E5", "C5", "D4", "PASS", "PASS"):
        move = go.read(text)
        assert move is not None
        assert go.play(move) is None
    assert over.result == f"W+{-go.score() / 2:.1f}"
    assert over.plies == 5


def test_both_protocols_are_on_the_first_page_of_theirs() -> None:
    start = (DOCS / "protocol.md").read_text()[:1500]
    assert "CGOS lines" in start
    assert "cgos.v2" in start


def commands(group: click.Group, path: str = "") -> list[str]:
    """Every command by its words, but for those that help does not list."""
    all_words = []
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if command.hidden:
            continue
        words = f"{path} {name}".strip()
        all_words += commands(command, words) if isinstance(command, click.Group) else [words]
    return all_words


def test_the_operators_guide_names_every_command_and_no_other() -> None:
    page = (DOCS / "operator.md").read_text()
    rows = re.findall(r"^\| (`.+?) \| ", page, re.MULTILINE)
    named = set()
    for row in rows:
        for code in re.findall(r"`([^`]+)`", row):
            words = [word for word in code.split() if word.islower() and not word.startswith("-")]
            *head, last = words or [""]
            named |= {" ".join([*head, word]) for word in last.replace("\\", "").split("|")}
    known = set(commands(main))
    assert known <= named, f"not in docs/operator.md: {sorted(known - named)}"
    assert {name for name in named if name.split(" ")[0] in COMMANDS} <= known


@pytest.mark.parametrize("page", sorted([*DOCS.glob("*.md"), *ROOT.glob("*.md")]), ids=lambda page: page.name)
def test_links_between_documents_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text()):
        if not target.startswith(("http://", "https://", "mailto:")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_readme_has_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text()
    assert "make demo" in readme
    assert "make test" in readme


def test_the_walk_of_a_move_names_what_exists() -> None:
    """Every `Class.method` of docs/architecture.md is in the code."""
    page = (DOCS / "architecture.md").read_text()
    folders = (ROOT / "cgos_server", ROOT / "protocol")
    sources = "\n".join(path.read_text() for folder in folders for path in folder.rglob("*.py"))
    named = re.findall(r"`([A-Z]\w+)\.(\w+)`", page)
    assert len(named) >= 10
    for owner, method in named:
        assert re.search(rf"^class {owner}\b", sources, re.MULTILINE), owner
        assert re.search(rf"^    (?:async )?def {method}\(", sources, re.MULTILINE), f"{owner}.{method}"


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/architecture.md", "docs/debugging.md"])
def test_modules_that_are_named_exist(name: str) -> None:
    modules = re.findall(r"`((?:\w+/)+\w+\.py)`", (ROOT / name).read_text())
    assert modules
    for module in modules:
        assert any((ROOT / folder / module).exists() for folder in ("cgos_server", "protocol", ".")), module


def test_the_operators_example_of_tls_changes_nothing_of_the_venues_but_their_tls(tmp_path: Path) -> None:
    text = (DOCS / "operator.md").read_text()
    (example,) = re.findall(r"```toml\n(\[tls\]\n.*?)```", text, re.DOTALL)
    (tmp_path / "cgos.toml").write_text(example)
    config = load(tmp_path / "cgos.toml")
    assert config.tls_listeners == ("lines", "websocket", "web")
    assert tuple(msgspec.structs.replace(venue, tls_port=None) for venue in config.venue) == Config().venue
