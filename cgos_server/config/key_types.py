"""What a key's type says: which setting it is (:mod:`cgos_protocol.options`), what it takes and what it means.

A key is written ``Annotated[type, setting, "sentence"]``; where the type says everything there is no setting. Must not
know: values, sources, which keys there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, get_args, get_origin

import msgspec

from cgos_protocol.options import Choice, Flag, Number, Option, Parsed, Text, carried, plain_type
from cgos_server.config.values import Networks, Options, PublicAddress, Span, TimeOfDay, WebSocketUrl, Words
from cgos_server.storage.location import PostgresUrl


def _path(value: object) -> Path:
    if not isinstance(value, str | Path) or not str(value) or "\0" in str(value):
        raise ValueError
    return Path(value)


def _database(value: object) -> PostgresUrl | None:
    if not isinstance(value, str):
        raise ValueError
    return PostgresUrl.parse(value) if value else None


_SETTINGS: Final[Mapping[type, Choice | Flag | Number | Parsed | Text]] = MappingProxyType(
    {
        bool: Flag(),
        float: Number(),
        str: Text(),
        Path: Parsed(_path, "a path"),
        PostgresUrl: Parsed(_database, "nothing, or a URL such as postgresql://user@host:5432/name"),
        Span: Parsed(Span.parse, "seconds, or text such as 5m or 1h30m"),
        TimeOfDay: Parsed(TimeOfDay.parse, "nothing, or hours and minutes such as 03:30"),
        Networks: Parsed(
            Networks.parse, "addresses or networks with commas between them, such as 127.0.0.1, 10.0.0.0/8"
        ),
        Words: Parsed(Words.parse, "words with commas between them"),
        Options: Parsed(Options.parse, "a table of options, or text such as reach=3, model=gor"),
        PublicAddress: Parsed(PublicAddress.parse, "nothing, or a host and a port such as cgos.example.org:6809"),
        WebSocketUrl: Parsed(WebSocketUrl.parse, "nothing, or a URL without a path such as wss://cgos.example.org"),
    }
)
"""Types that say by themselves what a key takes."""


def table_of(kind: Any) -> Any:
    """The type of a table, or of each of a list of tables; None for any other type."""
    plain = get_args(kind)[0] if get_origin(kind) is tuple else plain_type(kind)
    return plain if isinstance(plain, type) and issubclass(plain, msgspec.Struct) else None


def setting(kind: Any) -> Option:
    """What values a key of this type takes."""
    option = carried(kind, _SETTINGS)
    assert option is not None, f"{kind} does not say what a key takes"
    return option


def wanted(option: Option) -> str:
    """What values a key takes, as words after "give"."""
    if isinstance(option, Choice):
        *choices, last = option.words
        return f"{', '.join(choices)} or {last}"
    return option.possible
