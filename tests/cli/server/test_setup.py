"""Commands before the first start: init, check, and how a configuration is found."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from starlette.routing import Route

from cgos_server import __version__
from cgos_server.cli.main import COMMANDS, main
from cgos_server.config.keys import keys_markdown
from cgos_server.config.loader import load
from cgos_server.presentation.settings import WebSettings
from cgos_server.storage import schema
from cgos_server.storage.reading.history import History
from cgos_server.web.application import addresses
from cgos_server.web.live.hub import Hub
from cgos_server.web.site import Site, wall_ms


def test_init_writes_a_file_that_loads(run: Any, tmp_path: Path) -> None:
    result = run("init", where=None)
    assert result.stdout == ""
    assert "cgos-server check --config cgos.toml" in result.stderr
    assert load(tmp_path / "cgos.toml").venue == load().venue
    (tmp_path / "cgos.toml").write_text("mine")
    assert "is there already" in run("init", where=None, fails=1).stderr
    assert (tmp_path / "cgos.toml").read_text() == "mine"
    run("init", "--force", where=None)
    assert load(tmp_path / "cgos.toml").venue == load().venue
    assert run("init", "-", where=None).stdout == (tmp_path / "cgos.toml").read_text()
    assert "cannot be written" in run("init", "no/where.toml", where=None, fails=1).stderr


def test_check_says_what_would_run(run: Any, tmp_path: Path) -> None:
    text = run("check", where=tmp_path / "new").stdout
    assert "made at the first start" in text
    assert "bots           every address" in text
    assert "websocket      every address, port 6868, all venues" in text
    lines = [line.split() for line in text.splitlines()]
    assert ["9x9", "6809", "go", "9", "7", "5", "min", "positional", "rolling", "information", "bayes"] in lines
    assert not (tmp_path / "new").exists()
    settings = json.loads(run("check", "--json").stdout)
    assert settings["venue"][0]["time"]["main"] == "5m"
    assert settings["web"]["port"] == 8080


def test_check_shows_a_sandbox_and_what_is_off(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CGOS_VENUE__9X9__RATED", "false")
    monkeypatch.setenv("CGOS_WEBSOCKET__ENABLED", "false")
    lines = [line.split() for line in run("check").stdout.splitlines()]
    assert ["websocket", "off"] in lines
    assert ["9x9", "none"] in [[line[0], line[-1]] for line in lines if line]
    assert ["13x13", "bayes"] in [[line[0], line[-1]] for line in lines if line]


def test_check_prints_every_key(run: Any) -> None:
    assert run("check", "--keys").stdout.strip() == keys_markdown().strip()


def test_check_compares_with_the_database(run: Any, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "(there)" in run("check").stdout
    monkeypatch.setenv("CGOS_VENUE__9X9__KOMI", "6.5")
    monkeypatch.setenv("CGOS_VENUE__19X19__SUICIDE", "true")
    result = run("check", fails=2)
    assert "komi was 7.0 and is 6.5" in result.stderr
    assert "suicide was false and is true" in result.stderr
    assert result.stdout == ""


def test_a_wrong_configuration_is_exit_code_2_with_every_problem(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text("[web]\nprot = 1\nhost = 5\n")
    for words in (["check"], ["games"], ["bot", "enable", "Alpha"], ["status"]):
        result = run(*words, "--config", str(file), fails=2)
        assert result.stderr.splitlines() == [
            f"Error: {file}: web.prot: is no key that the server knows. Did you mean port?",
            f"{file}: web.host: 5 is not possible. Give text that is not empty.",
        ]


def test_the_configuration_may_be_named_by_the_environment(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "named.toml"
    file.write_text("[web]\nport = 8123\n")
    monkeypatch.setenv("CGOS_CONFIG", str(file))
    assert json.loads(run("check", "--json").stdout)["web"]["port"] == 8123


def test_version(run: Any) -> None:
    assert run("--version", where=None).stdout.strip() == f"cgos-server, version {__version__}"


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Any:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if command.hidden:  # it names its successor
            continue
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


def test_every_command_explains_itself() -> None:
    for path, command in commands(main):
        result = CliRunner().invoke(main, [*path, "--help"])
        assert result.exit_code == 0, path
        assert command.help, path
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, (path, parameter.name)
                assert parameter.opts[0] in result.output


def test_one_line_says_what_a_command_does() -> None:
    """In the list of commands nothing is cut off."""
    for words in ([], ["lab"], ["ask"], ["question"]):
        assert "..." not in CliRunner().invoke(main, [*words, "--help"]).output.split("Commands:")[1]


def test_every_reading_command_has_json() -> None:
    for path, command in commands(main):
        words = " ".join(path)
        reads = words in (
            "check",
            "doctor",
            "status",
            "standings",
            "games",
            "show",
            "history",
            "bots",
        ) or words.endswith(" list")
        reads |= words in ("account bots", "account tokens", "audit", "doctor", "cluster status")
        reads |= words in ("bot show", "pair", "crosstable", "rounds", "rules", "watch", "wall", "connect", "odds")
        reads |= words in ("bot transcript", "bot connections", "bot now")
        reads |= words.startswith("event ") and words.split()[1] in (
            *("show", "standings", "crosstable", "rounds", "games", "log", "rehearse", "sgf"),
        )
        reads |= words.startswith("ask ") or words in ("question show", "question games", "question wait")
        reads |= words.startswith(("rate ", "pairing ", "tournament ", "export ", "lab "))
        has = any(parameter.name == "as_json" for parameter in command.params)
        reads |= words.startswith("db ")
        assert has == (reads or words in ("match", "abort", "reload", "upgrade")), words


def test_every_command_is_in_the_operators_guide() -> None:
    page = (Path(__file__).parents[3] / "docs" / "operator.md").read_text("utf-8")
    for name in COMMANDS:
        assert f"`{name}" in page, name


NO_PAGES = (
    "/api/",
    "/badge/",
    "/embed/",
    "/og/",
    "/sign-in",
    "/sign-out",
    "/register",
    "/account/password",
    "/account/erase",
    "/account/data.",
    "/robots.txt",
    "/sitemap.xml",
    "/favicon.ico",
)
"""Addresses of programs, pictures and forms."""


async def test_what_a_page_shows_a_command_prints(tmp_path: Path) -> None:
    """The guide's table names every page, and commands that there are."""
    text = (Path(__file__).parents[3] / "docs" / "operator.md").read_text("utf-8")
    table = text.split("| page | command |")[1].split("\n\n")[0]
    lines = [re.findall(r"`([^`]+)`", line) for line in table.splitlines()[2:]]
    named = [word for line in lines for word in line if word.startswith("/")]
    twins = {word for line in lines for word in line if not word.startswith("/")}
    schema.prepare(tmp_path / "cgos.sqlite")
    async with History(tmp_path / "cgos.sqlite") as history:
        settings = WebSettings()
        site = Site(history, settings, "1", wall_ms, Hub(history, settings, wall_ms))
        routes = [route for route in addresses(site) if isinstance(route, Route)]
    pages = {
        re.sub(r":int", "", route.path)
        for route in routes
        if not route.path.startswith(NO_PAGES) and not route.path.endswith((".atom", ".svg", "/said"))
    }
    assert sorted(named) == sorted(pages - {"/api"})
    assert twins <= {" ".join(path) for path, _ in commands(main)}
