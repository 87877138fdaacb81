"""The kinds of settings that configuration keys are, each made with the sentence that says what the key means.

Must not know: which keys there are, where values come from.
"""

from __future__ import annotations

import enum
import re
from pathlib import Path
from typing import Final

from cgos_protocol.options import Choice, Number, Parsed, Text
from cgos_server.config.values import Networks, Options, PublicAddress, Span, WebSocketUrl, Words
from cgos_server.storage.location import PostgresUrl

_MOST: Final = 1_000_000
_VENUE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,31}")


def positive(meaning: str) -> Number:
    return Number(0, _MOST, above=True, meaning=meaning)


def not_negative(meaning: str) -> Number:
    return Number(0, _MOST, meaning=meaning)


def share(meaning: str) -> Number:
    return Number(0, 1, meaning=meaning)


def whole(least: int, most: int, meaning: str) -> Number:
    return Number(least, most, whole=True, meaning=meaning)


def count(meaning: str) -> Number:
    return whole(1, _MOST, meaning)


def port_number(meaning: str) -> Number:
    return whole(0, 65_535, meaning)


def text(meaning: str) -> Text:
    return Text(meaning=meaning)


def one_of(words: type[enum.StrEnum], meaning: str) -> Choice:
    return Choice(tuple(words), meaning=meaning)


def length_of_time(meaning: str) -> Parsed:
    return Parsed(Span.parse, "seconds, or text such as 5m or 1h30m", meaning=meaning)


def network_list(meaning: str) -> Parsed:
    possible = "addresses or networks with commas between them, such as 127.0.0.1, 10.0.0.0/8"
    return Parsed(Networks.parse, possible, meaning=meaning)


def word_list(meaning: str) -> Parsed:
    return Parsed(Words.parse, "words with commas between them", meaning=meaning)


def plugin_options(meaning: str) -> Parsed:
    return Parsed(Options.parse, "a table of options, or text such as reach=3, model=gor", meaning=meaning)


def public_address(meaning: str) -> Parsed:
    return Parsed(PublicAddress.parse, "nothing, or a host and a port such as cgos.example.org:6809", meaning=meaning)


def websocket_url(meaning: str) -> Parsed:
    return Parsed(
        WebSocketUrl.parse, "nothing, or a URL without a path such as wss://cgos.example.org", meaning=meaning
    )


def file_path(meaning: str) -> Parsed:
    return Parsed(_path, "a path", meaning=meaning)


def database_url(meaning: str) -> Parsed:
    possible = "nothing, or a URL such as postgresql://user@host:5432/name"
    return Parsed(_database, possible, meaning=meaning)


def venue_name(meaning: str) -> Parsed:
    possible = "1 to 32 letters, digits, _, . or -, beginning with a letter or digit"
    return Parsed(_venue, possible, meaning=meaning)


def _path(value: object) -> Path:
    if not isinstance(value, str | Path) or not str(value) or "\0" in str(value):
        raise ValueError
    return Path(value)


def _database(value: object) -> PostgresUrl | None:
    if not isinstance(value, str):
        raise ValueError
    return PostgresUrl.parse(value) if value else None


def _venue(value: object) -> str:
    if not isinstance(value, str) or not _VENUE.fullmatch(value):
        raise ValueError
    return str(value)
