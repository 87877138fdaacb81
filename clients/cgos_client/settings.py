"""What a person gives to the client, checked: the bot's name, where its secret lies.

Every refusal names the option and the remedy. Must not know: what is done with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from cgos_client.errors import CgosClientError
from cgos_protocol.errors import Refused
from cgos_protocol.hours import parse
from cgos_protocol.names import EVENT_NAME_PATTERN, bot_name_fault, password_fault

PASSWORD_VARIABLE = "CGOS_PASSWORD"


class BadSetting(CgosClientError):
    """Something given cannot be used. The text says what, and what to give instead."""

    def __init__(self, text: str) -> None:
        super().__init__("setting", text)


def bot_name(text: str, place: str = "--name") -> str:
    """A name that CGOS servers accept. Raises BadSetting, which names `place`."""
    fault = bot_name_fault(text)
    if fault is not None:
        raise BadSetting(f"{place} {text!r} cannot be used: {fault}")
    return text


def checked_hours(text: str, place: str = "hours") -> str:
    """Hours of the week, as :func:`cgos_protocol.hours.parse` reads them. Raises BadSetting, which names `place`."""
    try:
        parse(text)
    except Refused as refusal:
        raise BadSetting(f"{place}: {refusal.sentence}") from refusal
    return text


OPTIONS = ("--password-file", "--token-file")


def secret(
    password_file: Path | None,
    token_file: Path | None,
    environment: Mapping[str, str],
    places: tuple[str, str] = OPTIONS,
) -> str:
    """The password or token to sign in with: from the file named, else from the environment.

    :param places: what the two files are called where they were named
    :raises BadSetting: there is none that can be used
    """
    if password_file is not None and token_file is not None:
        raise BadSetting(f"{places[0]} and {places[1]} were both given: give one of them")
    option, file = (places[1], token_file) if token_file is not None else (places[0], password_file)
    if file is not None:
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            raise BadSetting(f"{option} {file}: the file cannot be read ({reason})") from None
        source, text = f"{option} {file}: the first line", lines[0].strip() if lines else ""
    elif PASSWORD_VARIABLE in environment:
        source, text = f"{PASSWORD_VARIABLE}: the value", environment[PASSWORD_VARIABLE].strip()
    else:
        raise BadSetting(
            "no password was given: write it into a file and name that with --password-file, or set the environment "
            f"variable {PASSWORD_VARIABLE}. A new name is registered with whatever password it brings."
        )
    fault = password_fault(text)
    if fault is not None:
        raise BadSetting(f"{source} cannot be used: {fault}")
    return text


def event_name(name: str) -> str:
    """`name`, where an event of a server can have it. Raises BadSetting."""
    if not re.fullmatch(EVENT_NAME_PATTERN, name):
        raise BadSetting(
            f"the event's name {name!r} cannot be: take letters, digits, dots, hyphens and underscores, up to 64, a "
            "letter or digit first"
        )
    return name
