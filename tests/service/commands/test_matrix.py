"""Every command with its right and its surfaces, in one text that a reviewer reads as a check of security."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import click
import pytest

from cgos_protocol.lines.admin import FORMS
from cgos_server.cli.main import main
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.fields import Source, parameters
from cgos_server.service.commands.registry import COMMANDS, on
from cgos_server.service.commands.surfaces import ApiRoute, CommandLine, OperatorLine, PageForm
from cgos_server.web.api.operations import in_path

MATRIX = Path(__file__).with_name("matrix.txt")
HEAD = """\
Every command: who may have it done on somebody's behalf, what it does it to, what the audit keeps, and where it can be
given. Whoever has the database or the control socket (the command line) may have everything done; operators' lines need
an account with the right admin. Fields marked * are secret.
Written by: CGOS_WRITE=1 make unit PYTEST=tests/service/commands/test_matrix.py
"""


def described(command: type[Command[Any]]) -> str:
    fields = " ".join(f"{parameter.name}{'*' if parameter.secret else ''}" for parameter in parameters(command))
    traits = [word for word in ("live", "creates") if getattr(command, word)]
    kept = "nothing" if command.audited is None else " ".join(("who", "when", "what", *command.audited))
    lines = [
        f"{command.word()}",
        f"  may       {command.allowed.value}" + (f" ({command.concerns})" if command.concerns else ""),
        f"  fields    {fields or '-'}",
        f"  audit     {kept}",
        *([f"  is        {', '.join(traits)}"] if traits else []),
        *(f"  command   cgos-server {line.name}" for line in command.on(CommandLine)),
        *(f"  route     {route.method} {route.path}" for route in command.on(ApiRoute)),
        *(f"  form      {form.page}{', asks first' if form.warning else ''}" for form in command.on(PageForm)),
        *(f"  line      {surface.line.__name__.lower()}" for surface in command.on(OperatorLine)),
    ]
    return "\n".join(lines)


def test_the_matrix_is_what_was_reviewed() -> None:
    matrix = (
        "\n\n".join([HEAD.rstrip("\n"), *map(described, sorted(COMMANDS, key=lambda command: command.word()))]) + "\n"
    )
    if os.environ.get("CGOS_WRITE"):
        MATRIX.write_text(matrix, "utf-8")
    assert matrix == MATRIX.read_text("utf-8")


def test_every_command_of_the_command_line_is_there() -> None:
    for kind, line in on(CommandLine):
        command: click.Command | None = main
        for word in line.name.split():
            assert isinstance(command, click.Group), line.name
            command = command.get_command(click.Context(command), word)
        assert command is not None, kind


def test_every_operators_line_can_be_said() -> None:
    assert {surface.line.__name__.lower() for _, surface in on(OperatorLine)} < set(FORMS)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.__name__)
def test_no_secret_is_kept_or_stands_in_an_address(command: type[Command[Any]]) -> None:
    secret = {parameter.name for parameter in parameters(command) if parameter.secret}
    assert not secret & set(command.audited or ())
    for route in command.on(ApiRoute):
        assert not secret & set(in_path(route).values())


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.__name__)
def test_a_declaration_fits_its_surfaces(command: type[Command[Any]]) -> None:
    names = {parameter.name for parameter in parameters(command)}
    assert command.concerns is None or command.concerns in names
    elsewhere = (Source.VISITOR, Source.MACHINE)
    fields = {parameter.name for parameter in parameters(command) if parameter.field.source not in elsewhere}
    for route in command.on(ApiRoute):
        assert set(in_path(route).values()) <= names
        assert bool(route.body) == bool(fields - set(in_path(route).values()))
        assert route.path.startswith("/admin") <= (command.allowed is Right.OPERATOR)
    for form in command.on(PageForm):
        assert set(form.fields or ()) | set(form.fixed) | set(form.needed) <= names
        assert form.page.startswith("/admin") <= (command.allowed in (Right.OPERATOR, Right.OWN_BOT))


def test_what_declares_no_right_leads_nowhere_and_strangers_only_come_in() -> None:
    for command in COMMANDS:
        ways = [*command.on(ApiRoute), *command.on(PageForm)]
        assert not (ways and command.allowed is Right.NOBODY), command
    strangers = {command.word() for command in COMMANDS if command.allowed is Right.STRANGER}
    assert strangers == {"sign in", "account register"}


def test_pages_and_routes_are_not_offered_twice() -> None:
    routes = Counter((route.method, route.path) for _, route in on(ApiRoute))
    forms = Counter((form.page, command.word()) for command, form in on(PageForm))
    assert set(routes.values()) == set(forms.values()) == {1}
