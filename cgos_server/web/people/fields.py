"""What people write into forms, as commands: names, numbers, days, choices. Each fault is a sentence for the person.

Must not know: pages, single commands.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from cgos_protocol.api.route import LARGEST
from cgos_protocol.errors import Code, Invalid
from cgos_server.config.values import scalar
from cgos_server.service.commands.declaration import Command
from cgos_server.service.commands.fields import Parameter, Source, parameters
from cgos_server.service.commands.surfaces import PageForm
from cgos_server.service.events.moments import moment
from cgos_server.web.people.sessions import Form

DAY_MS: Final = 86_400_000

MOST_DAYS: Final = 3660
"""For how long something can be wanted by a form."""


def needed(form: Form, name: str, what: str) -> str:
    """The text, which must not be empty. `what`: how the page calls the field. Raises Refused."""
    text = form.text(name)
    if not text:
        raise Invalid(Code.MISSING, f"{what} is missing: fill it in.")
    return text


def whole(form: Form, name: str, what: str, least: int = 0, most: int = LARGEST) -> int | None:
    """A whole number from `least` to `most`; None where the field is empty. Raises Refused."""
    text = form.text(name)
    if not text:
        return None
    digits = text.removeprefix("-") if least < 0 else text
    if not digits.isascii() or not digits.isdecimal() or len(digits) > 16 or not least <= int(text) <= most:
        raise Invalid(Code.BAD_NUMBER, f"{what} is a whole number from {least} to {most}.")
    return int(text)


def real(form: Form, name: str, what: str) -> float | None:
    """A finite number; None where the field is empty. Raises Refused."""
    text = form.text(name)
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise Invalid(Code.BAD_NUMBER, f"{what} is a number.")
    return number


def chosen(form: Form, name: str, what: str, among: Sequence[str]) -> list[str]:
    """Those of `among` that are ticked, at least one. Raises Refused."""
    ticked = form.all(name)
    if not ticked or not set(ticked) <= set(among):
        raise Invalid(Code.CHOOSE, f"{what}: choose at least one of {', '.join(among)}.")
    return ticked


def names(form: Form, name: str) -> list[str]:
    """Names with blanks, commas or line ends between them."""
    return list(dict.fromkeys(form.text(name).replace(",", " ").split()))


def same_twice(form: Form, name: str) -> str:
    """A new password, which is typed twice. Raises Refused."""
    password = needed(form, name, "The new password")
    if password != form.text(f"{name}-again"):
        raise Invalid(Code.NOT_THE_SAME, "The new password was not typed the same way twice.")
    return password


class Reading(NamedTuple):
    """Makes a command of a form.

    :ivar address: field of the command -> what the page's address says
    :ivar now_ms: Unix milliseconds
    :ivar visitor: the address of whoever sent it
    """

    form: Form
    now_ms: int
    visitor: str
    address: Mapping[str, str] = {}

    def command(self, kind: type[Command[Any]], declared: PageForm) -> Command[Any]:
        """Raises Refused."""
        if declared.typed and self.form.text("word") != declared.typed:
            raise Invalid(Code.CONFIRM, f"Type the word {declared.typed} if you mean it.")
        values: dict[str, Any] = dict(declared.fixed)
        for each in parameters(kind):
            if declared.fields is None or each.name in declared.fields:
                values[each.name] = self._value(each, filled=each.name in declared.needed)
        return kind(**values)

    def _value(self, each: Parameter, *, filled: bool) -> Any:
        if each.name in self.address:
            return self.address[each.name]
        name, label, form = each.name, each.field.label, self.form
        match each.field.source:
            case Source.NEW_PASSWORD:
                return same_twice(form, "new")
            case Source.VISITOR:
                return self.visitor
            case Source.MOMENT:
                days = whole(form, "days", what="Days", least=1, most=MOST_DAYS)
                return None if days is None else self.now_ms + days * DAY_MS
            case Source.TIME:
                text = form.text(name)
                return moment(text, self.now_ms) if text else None
        if each.kind is bool and each.optional:
            return {"yes": True, "no": False}.get(form.text(name))
        if each.kind is bool:
            return form.text(name) == "yes"
        if each.kind is dict:
            return dict(_pair(word, label) for word in names(form, name))
        if each.kind is list:
            if not each.choices:
                return names(form, name)
            return chosen(form, name, label, each.choices) if each.required or form.all(name) else []
        if each.choices:
            unsaid = each.optional and not each.field.none_word and not form.text(name)
            return None if unsaid else _one_of(form, name, each.choices)
        text = needed(form, name, label) if filled or each.needed else form.text(name)
        if not text and each.usual:
            return each.default
        if each.kind is int:
            most = LARGEST if each.most is None else int(each.most)
            return whole(form, name, label, least=int(each.least or 0), most=most)
        if each.kind is float:
            return real(form, name, label)
        return text or None if each.optional else text


def _pair(word: str, what: str) -> tuple[str, bool | int | float | str]:
    """``double=true`` as name and value; true, false and numbers are such. Raises Refused."""
    name, equals, value = word.partition("=")
    if not name or not equals:
        raise Invalid(Code.BAD_REQUEST, f"{what}: {word!r} is not name=value.")
    return name, scalar(value)


def _one_of(form: Form, name: str, among: Sequence[str]) -> str:
    text = form.text(name)
    if text not in among:
        raise Invalid(Code.CHOOSE, f"Choose one of {', '.join(among)}.")
    return text
