"""How a page shows the forms that commands declare for it: which, with which fields, and what stands in them.

Must not know: single commands and pages, HTML.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal

import msgspec

from cgos_server.service.commands.declaration import Command
from cgos_server.service.commands.fields import Field, Parameter, Source, parameters
from cgos_server.service.commands.registry import on
from cgos_server.service.commands.surfaces import PageForm

Kind = Literal["written", "chosen", "ticks", "tick"]
"""How a field is filled in: by writing, by choosing one or several of some words, or by a yes."""

Declared = Mapping[str, tuple[type[Command[Any]], PageForm]]
"""The forms of a page: the command's name -> command and form."""


def declared_for(page: str) -> Declared:
    """The forms that commands declare for this address; what is grave stands last."""
    forms = [(command, form) for command, form in on(PageForm) if form.page == page]
    return {command.word(): (command, form) for command, form in sorted(forms, key=lambda each: each[1].grave)}


_YES_OR_NO: Final[Mapping[str, str]] = MappingProxyType({"": "", "yes": "yes", "no": "no"})
"""Choices where nothing need be said."""


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """A field of a form.

    :ivar value: what stands in it at first; of several choices those that are made, with blanks between them
    :ivar choices: value -> how it is called; empty where one writes
    :ivar shortest: characters at least, 0 where nothing is said of them
    """

    name: str
    caption: str
    kind: Kind = "written"
    type: str = "text"
    value: str = ""
    choices: Mapping[str, str] = {}
    hint: str = ""
    needed: bool = False
    autocomplete: str = "off"
    shortest: int = 0


class ShownForm(msgspec.Struct, frozen=True, kw_only=True):
    """A form as its page shows it.

    :ivar id: tells it from the others of its page, also from those of the same command
    :ivar hidden: fields whose value the page knows
    :ivar inputs: those that stand in no group
    :ivar groups: heading -> those that stand folded up under it
    """

    id: str
    command: str
    declared: PageForm
    hidden: Mapping[str, str]
    inputs: list[Input]
    groups: Mapping[str, list[Input]]


class Offering(msgspec.Struct, frozen=True, kw_only=True):
    """The forms of a page, of which its template takes those of one place after the other.

    :ivar address: fields that the page's address says
    :ivar filled: what stands in the other fields at first
    :ivar choices: field, or its source's word -> its choices, where they are not those that the command declares
    """

    forms: Declared
    address: Mapping[str, Any] = {}
    filled: Mapping[str, str] = {}
    choices: Mapping[str, Mapping[str, str]] = {}

    def at(self, place: str, about: Any, known: Mapping[str, Any]) -> list[ShownForm]:
        """Those that stand there.

        :param about: what is shown there, of which each form's condition is asked
        :param known: fields whose value is known there
        """
        return [
            self._shown(command, declared, known)
            for command, declared in self.forms.values()
            if declared.place == place and (declared.when is None or declared.when(about))
        ]

    def _shown(self, command: type[Command[Any]], declared: PageForm, known: Mapping[str, Any]) -> ShownForm:
        open_fields = [
            each
            for each in parameters(command)
            if (declared.fields is None or each.name in declared.fields)
            and each.name not in declared.fixed
            and each.name not in self.address
        ]
        hidden = {each.name: str(known[each.name]) for each in open_fields if each.name in known}
        drawn = {each.name: list(self._inputs(each, declared)) for each in open_fields if each.name not in hidden}
        groups = {
            heading: [field for name in names if name in drawn for field in drawn.pop(name)]
            for heading, names in declared.groups.items()
        }
        inputs = groups.pop("", []) + [field for fields in drawn.values() for field in fields]
        if declared.typed:
            inputs.append(Input(name="word", caption=f"Type “{declared.typed}” to confirm", needed=True))
        return ShownForm(
            id=f"{command.word()}:{' '.join(hidden.values())}",
            command=command.word(),
            declared=declared,
            hidden=hidden,
            inputs=inputs,
            groups=groups,
        )

    def _inputs(self, each: Parameter, declared: PageForm) -> Iterator[Input]:
        field, caption = each.field, each.caption
        value = self.filled.get(each.name, declared.filled.get(each.name, each.usual))
        declared_choices = {"": ""} if each.optional and each.choices and not field.none_word else {}
        words = field.words() if each.needed and field.words is not None else ()
        declared_choices |= {word: word for word in each.choices or words}
        choices = self.choices.get(field.source.value) or self.choices.get(each.name, declared_choices)
        if field.source is Source.NEW_PASSWORD:
            yield from _new_password(field)
        elif field.source is Source.MOMENT:
            yield Input(name="days", caption=caption, hint=field.hint)
        elif each.kind is bool and each.optional:
            yield Input(name=each.name, caption=caption, kind="chosen", value=value, choices=_YES_OR_NO)
        elif each.kind is bool:
            yield Input(name=each.name, caption=caption, kind="tick", value=value, hint=field.hint)
        elif choices:
            kind: Kind = "ticks" if each.kind is list else "chosen"
            hint = "" if kind == "ticks" else field.hint
            yield Input(name=each.name, caption=caption, kind=kind, value=value, choices=choices, hint=hint)
        elif field.source is not Source.VISITOR:
            yield Input(
                name=each.name,
                caption=caption,
                type="password" if field.source is Source.SECRET else field.input,
                value=value,
                hint=field.hint,
                needed=each.needed or each.name in declared.needed,
                autocomplete=field.autocomplete,
            )


def _new_password(field: Field) -> Iterator[Input]:
    for name, caption, hint in (("new", "New password", field.hint), ("new-again", "Once more", "")):
        yield Input(
            name=name,
            caption=caption,
            type="password",
            hint=hint,
            needed=True,
            autocomplete="new-password",
            shortest=field.shortest,
        )
