"""What surfaces learn of a command's fields."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from msgspec import Meta

from cgos_server.service.commands.availability import BotLimit
from cgos_server.service.commands.bots import BotAdd, BotDisable
from cgos_server.service.commands.declaration import Command
from cgos_server.service.commands.fields import Field, Parameter, Source, parameters
from cgos_server.service.commands.games import GameAbort, Match
from cgos_server.service.commands.registry import COMMANDS
from cgos_server.service.commands.tokens import AccessMake


def field(command: type[Command[object]], name: str) -> Parameter:
    return next(parameter for parameter in parameters(command) if parameter.name == name)


def test_bounds_are_those_of_the_body() -> None:
    most = field(BotLimit, "games_a_day")
    assert (most.kind, most.optional, most.required, most.default) == (int, True, False, None)
    assert (most.least, most.most) == (0, 1_000_000)
    assert (field(Match, "white_s").optional, field(Match, "white_s").default) == (False, 0)


def test_words_to_choose_from_are_those_of_the_body() -> None:
    assert field(AccessMake, "scopes").choices == ("bots", "admin")
    assert field(GameAbort, "result").choices == ("Abort", "B+Forfeit", "W+Forfeit")
    assert field(BotLimit, "avoid").choices == ()


def test_a_default_that_can_change_is_made_anew() -> None:
    first, second = field(BotLimit, "avoid").default, field(BotLimit, "avoid").default
    assert first == [] == second
    assert first is not second


def test_secrets_are_known_and_who_does_it_is_no_field() -> None:
    assert [parameter.name for parameter in parameters(BotAdd) if parameter.secret] == ["password"]
    assert "actor" not in {parameter.name for command in COMMANDS for parameter in parameters(command)}
    assert field(BotDisable, "until").field.source is Source.MOMENT


class Odd(Command[None], frozen=True, kw_only=True, tag="odd"):
    """Bounds round a list belong to its length."""

    words: Annotated[list[str], Field(body=Annotated[list[Literal["a", "b"]], Meta(min_length=1)] | None)]
    above: Annotated[float, Field(body=Annotated[float, Meta(gt=0.5, le=2)])] = 1.0


def test_the_length_of_a_list_is_no_bound() -> None:
    words, above = parameters(Odd)
    assert (words.kind, words.choices, words.least, words.most) == (list, ("a", "b"), None, None)
    assert (above.kind, above.least, above.most) == (float, 0.5, 2)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.__name__)
def test_what_must_be_filled_in_has_a_name_for_people(command: type[Command[object]]) -> None:
    """A form that lacks it says which field that is."""
    for parameter in parameters(command):
        if parameter.required and parameter.kind is str and not parameter.optional and command.surfaces:
            assert (
                parameter.field.label
                or parameter.choices
                or parameter.field.source in (Source.NEW_PASSWORD, Source.VISITOR)
            )
