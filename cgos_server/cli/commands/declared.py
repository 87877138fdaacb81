"""Commands of `cgos-server` that commands of the service declare: their arguments, options and help.

Must not know: single commands, how they are performed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from cgos_protocol.errors import Refused
from cgos_server.cli.commands.answers import has_json, show
from cgos_server.cli.commands.asking import ask_server
from cgos_server.cli.commands.perform import perform
from cgos_server.cli.common import (
    Setup,
    WordOf,
    configured,
    game_number,
    json_option,
    named_value,
    one_venue,
    password,
    password_option,
)
from cgos_server.cli.games.games import date
from cgos_server.cli.reading import now_ms
from cgos_server.service.commands.declaration import Command
from cgos_server.service.commands.fields import Parameter, Source, parameters
from cgos_server.service.commands.registry import on
from cgos_server.service.commands.surfaces import CommandLine
from cgos_server.service.events.moments import moment
from cgos_server.service.people.sessions import DAY_MS

_WHERE = click.option("--venue", metavar="VENUE", help="The venue; needed where there are several.")
_DAYS = click.option(
    "--days", type=click.FloatRange(0, 3650, min_open=True), metavar="N", help="For how long, instead."
)


class Conduct:
    """How the commands of a group are given; a group that has more to say about it makes a class of its own.

    :ivar options: what they take besides; each method is given the values, with ``as_json``, as `more`
    """

    options: tuple[Callable[[Any], Any], ...] = ()

    def venue(self, setup: Setup, named: str | None, more: Mapping[str, Any]) -> str:  # noqa: ARG002
        """The venue that is meant. Raises Refused."""
        return one_venue(setup, named)

    def perform(self, setup: Setup, command: Command[Any], line: CommandLine, more: Mapping[str, Any]) -> Any:  # noqa: ARG002
        """Have it performed. Raises Refused."""
        return ask_server(setup, command) if line.server_only else perform(setup, command)

    def run(self, setup: Setup, line: CommandLine, made: Callable[[], Command[Any]], more: Mapping[str, Any]) -> None:
        """All of it, from the command to what is printed.

        :param made: makes the command; raises UsageError, Refused
        """
        command = made()
        show(command, self.perform(setup, command, line, more), as_json=more["as_json"])


class _Then(Conduct):
    """Shows what is made of the answer."""

    def __init__(self, then: Callable[[Setup, Any], Any]) -> None:
        self._then = then

    def perform(self, setup: Setup, command: Command[Any], line: CommandLine, more: Mapping[str, Any]) -> Any:
        return self._then(setup, super().perform(setup, command, line, more))


def command(name: str, then: Callable[[Setup, Any], Any] | None = None) -> click.Command:
    """The command of this whole name, such as ``bot disable``.

    :param then: makes of the answer what is shown
    """
    ((kind, line),) = ((kind, line) for kind, line in on(CommandLine) if line.name == name)
    return _made(kind, line, Conduct() if then is None else _Then(then))


def add_declared(group: click.Group, conduct: Conduct | None = None) -> None:
    """Give a group all its commands that are declared."""
    for kind, line in on(CommandLine):
        first, _, last = line.name.rpartition(" ")
        if first == group.name:
            group.add_command(_made(kind, line, conduct or Conduct()), last)


def _made(kind: type[Command[Any]], line: CommandLine, conduct: Conduct) -> click.Command:
    fields = parameters(kind)

    def run(setup: Setup, /, as_json: bool = False, days: float | None = None, **given: Any) -> None:
        file: Path | None = given.pop("password_file", None)
        more = {name: value for name, value in given.items() if name not in kind.__struct_fields__}
        more["as_json"] = as_json

        def value(each: Parameter) -> Any:
            own = given.get(each.name)
            return conduct.venue(setup, own, more) if each.field.source is Source.VENUE else _value(each, own, days)

        def made() -> Command[Any]:
            values = {each.name: value(each) for each in fields if not each.secret}
            for each in fields:
                if each.secret:
                    values[each.name] = password(next(iter(values.values())), file, each.field.hint)
            return kind(**values)

        conduct.run(setup, line, made, more)

    run.__doc__ = line.help
    decorated: Callable[..., Any] = configured(run)
    for decorate in reversed([*_decorators(kind, line, fields), *conduct.options]):
        decorated = decorate(decorated)
    dashed = any("-/+" in each.choices or (each.required and (each.kind is float or _below_0(each))) for each in fields)
    settings = {"ignore_unknown_options": True} if dashed else {}
    return click.command(line.name.rpartition(" ")[2], help=line.help, context_settings=settings)(decorated)


def _decorators(
    kind: type[Command[Any]], line: CommandLine, fields: tuple[Parameter, ...]
) -> list[Callable[[Any], Any]]:
    """Arguments, options, then what the field's source or the answer asks for."""
    by_name = {each.name: each for each in fields}
    plain = [each for each in fields if each.field.source in (Source.GIVEN, Source.MOMENT, Source.TIME, Source.MACHINE)]
    arguments = [by_name[name] for name in line.arguments] or [
        each for each in plain if each.required and not each.field.help
    ]
    made = [_argument(each) for each in arguments]
    for each in plain:
        if each not in arguments:
            made.append(_option(each))
            made += [_DAYS] if each.field.source is Source.MOMENT else []
    made += [_WHERE for each in fields if each.field.source is Source.VENUE]
    made += [password_option for each in fields if each.secret]
    return [*made, json_option] if has_json(kind) else made


def _argument(each: Parameter) -> Callable[[Any], Any]:
    metavar = None if each.choices else each.field.metavar or each.name.upper()
    if each.kind is list:
        return click.argument(each.name, metavar=f"[{metavar}]...", nargs=-1, required=each.required)
    return click.argument(each.name, metavar=metavar, type=_type(each), required=each.required)


def _option(each: Parameter) -> Callable[[Any], Any]:
    attributes: dict[str, Any] = {"help": each.field.help, "type": _type(each), "required": each.required}
    word = each.name.replace("_", "-")
    if each.kind is bool and each.optional:
        return click.option(f"--{word}/--no-{word}", each.name, default=None, help=each.field.help)
    if each.kind is bool:
        return click.option(f"--{word}", each.name, is_flag=True, help=each.field.help)
    if not (each.choices or each.field.words):
        attributes["metavar"] = each.field.metavar or "TEXT"
    if each.field.source is Source.MOMENT:
        attributes |= {"callback": date, "type": None}
    elif each.field.source is Source.TIME:
        attributes |= {"callback": _time, "type": None}
    if each.kind in (list, dict):
        attributes["multiple"] = True
    elif each.field.none_word:
        attributes |= {"default": each.field.none_word, "show_default": True}
    elif not each.required:
        attributes["default"] = each.default
        attributes["show_default"] = each.default is not None and (each.kind in (int, float) or bool(each.choices))
    flag = each.name.removesuffix("s") if each.kind in (list, dict) else each.name
    return click.option("--" + flag.replace("_", "-"), each.name, **attributes)


def _time(_context: click.Context, _option: click.Parameter, text: str | None) -> int | None:
    """A time or a span from now, as Unix milliseconds."""
    try:
        return None if text is None else moment(text, now_ms())
    except Refused as refusal:
        raise click.BadParameter(refusal.sentence) from None


def _type(each: Parameter) -> click.ParamType[Any] | None:
    if each.choices and each.kind is str:
        return click.Choice(each.choices, case_sensitive=False)
    if each.field.words is not None:
        return WordOf(each.field.words)
    if each.kind is int:
        numbered = each.least == 1 and each.most is None
        return game_number if numbered else click.IntRange(_whole(each.least), _whole(each.most))
    return click.FLOAT if each.kind is float else None


def _below_0(each: Parameter) -> bool:
    """Whether the smallest number is one."""
    return each.least is not None and each.least < 0


def _whole(bound: float | None) -> int | None:
    return None if bound is None else int(bound)


def _value(each: Parameter, given: Any, days: float | None) -> Any:
    """What the command is made with. Raises UsageError."""
    if each.field.source is Source.MOMENT and days is not None:
        if given is not None:
            raise click.UsageError(f"Give --{each.name} or --days, not both.")
        return now_ms() + round(days * DAY_MS)
    if each.kind is float and given is not None and not math.isfinite(given):
        hint = each.name.upper() if each.required else f"--{each.name}"
        what = each.field.label.removeprefix("The ")
        raise click.BadParameter(f"{given} is no {what}.", param_hint=hint)
    if given is None:
        return each.default
    if each.kind is dict:
        return dict(map(named_value, given))
    return list(given) if each.kind is list else given
