"""What people write into forms, as values: numbers, days, choices. Each fault is a sentence for the person.

Must not know: pages, what the values are for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from cgos_protocol.api.route import LARGEST
from cgos_protocol.errors import Code, Invalid
from cgos_server.web.people.sessions import Form

DAY_MS: Final = 86_400_000


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
    if not text.isascii() or not text.isdecimal() or len(text) > 16 or not least <= int(text) <= most:
        raise Invalid(Code.BAD_NUMBER, f"{what} is a whole number from {least} to {most}.")
    return int(text)


def the_number(form: Form, name: str, what: str) -> int:
    """A whole number that must be there. Raises Refused."""
    needed(form, name, what)
    number = whole(form, name, what)
    assert number is not None
    return number


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
