"""Every key of the configuration, read off the types: for the documentation, for ``check --keys`` and for ``init``.

Must not know: sources of values, what the values start.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin

import msgspec

from cgos_server.config.schema import CLASSIC_VENUES, Config, VenueConfig
from cgos_server.config.values import Networks, Options, PublicAddress, Span, WebSocketUrl, Words
from cgos_server.config.words import description, strip, wanted
from cgos_server.storage.location import PostgresUrl


class Key(NamedTuple):
    """One key.

    :ivar table: the table it stands in, such as ``venue.time``
    :ivar name: the key itself
    :ivar values: what it takes, in words
    :ivar default: as TOML writes it; ``required``, or ``not set``
    :ivar sentence: what it means
    """

    table: str
    name: str
    values: str
    default: str
    sentence: str


def explain() -> list[Key]:
    """All keys in the order of the types."""
    return list(_keys(Config, "", None))


def tables() -> dict[str, str]:
    """Table -> what it is about."""
    found: dict[str, str] = {}
    for key in explain():
        found.setdefault(key.table, _table_types()[key.table].__doc__ or "")
    return found


def keys_markdown() -> str:
    """The reference part of ``docs/configuration.md``."""
    lines: list[str] = []
    keys = explain()
    for table, about in tables().items():
        head = f"[[{table}]]" if table == "venue" else f"[{table}]"
        lines += [f"### `{head}`", "", about, "", "| key | values | default | meaning |", "|---|---|---|---|"]
        for key in keys:
            if key.table == table:
                default = f"`{key.default}`" if key.default not in ("required", "not set") else key.default
                lines.append(f"| `{key.name}` | {key.values} | {default} | {key.sentence} |")
        lines.append("")
    return "\n".join(lines)


def template() -> str:
    """A commented file that loads to the defaults: ``#key = value`` shows a default, ``# words`` explain."""
    lines = [
        "# Configuration of cgos-server. A line such as #port = 8080 shows a default; remove the # to change it.",
        "# The environment wins over this file: CGOS_WEB__PORT=8081, CGOS_VENUE__9X9__PORT=7009.",
    ]
    keys = explain()
    for table, about in tables().items():
        if not table.startswith("venue"):
            lines += ["", f"# {about}", f"[{table}]"]
            lines += _commented(key for key in keys if key.table == table)
    lines += ["", f"# {tables()['venue']}"]
    for index, venue in enumerate(CLASSIC_VENUES):
        lines += [
            "[[venue]]",
            f'name = "{venue.name}"',
            f"port = {venue.port}",
            f"size = {venue.size}",
            f"komi = {venue.komi}",
            f'time = {{ system = "{venue.time.system}", main = "{venue.time.main}" }}',
        ]
        if index == 0:
            lines += ["# What every venue may say besides:"]
            given = {"name", "port", "size", "komi", "time"}
            lines += _commented(key for key in keys if key.table == "venue" and key.name not in given)
            lines += ["# More of time:"]
            lines += [
                f"#   {key.name}: {key.sentence}" for key in keys if key.table == "venue.time" and key.name != "system"
            ]
            for table in ("venue.pairing", "venue.rating"):
                lines += [f"# {tables()[table]}", f"#[{table}]"]
                lines += _commented(key for key in keys if key.table == table)
        lines.append("")
    return "\n".join(lines)


def plain(value: Any) -> Any:
    """A configuration, or a part of it, as tables and values the way a file writes them."""
    if isinstance(value, msgspec.Struct):
        fields = msgspec.structs.fields(type(value))
        return {field.encode_name: plain(getattr(value, field.name)) for field in fields}
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    texts = Path | Span | Networks | Words | Options | PublicAddress | WebSocketUrl | PostgresUrl
    return str(value) if isinstance(value, texts) else value


def _commented(keys: Iterator[Key]) -> Iterator[str]:
    for key in keys:
        yield f"# {key.sentence} Values: {key.values}."
        if key.default == "not set":
            yield f"# {key.name} = ..."
        else:
            yield f"#{key.name} = {key.default}"


def _keys(cls: type[Any], table: str, defaults: Any) -> Iterator[Key]:
    """The keys of `cls`; tables inside it come after its own keys. `defaults` is an instance where there is one."""
    inner: list[tuple[type[Any], str, Any]] = []
    for field in msgspec.structs.fields(cls):
        plain = strip(field.type)
        default = field.default if not isinstance(defaults, cls) else getattr(defaults, field.name)
        path = f"{table}.{field.encode_name}" if table else field.encode_name
        if get_origin(plain) is tuple:
            inner.append((get_args(plain)[0], path, None))
        elif issubclass(plain, msgspec.Struct):
            inner.append((plain, path, default))
        else:
            yield Key(
                table=table,
                name=field.encode_name,
                values=wanted(field.type),
                default=written(default),
                sentence=description(field.type),
            )
    for kind, path, default in inner:
        yield from _keys(kind, path, default)


def _table_types() -> dict[str, type[Any]]:
    found: dict[str, type[Any]] = {}
    for cls, prefix in ((Config, ""), (VenueConfig, "venue.")):
        for field in msgspec.structs.fields(cls):
            plain = strip(field.type)
            kind = get_args(plain)[0] if get_origin(plain) is tuple else plain
            if issubclass(kind, msgspec.Struct):
                found[prefix + field.encode_name] = kind
    return found


def written(default: Any) -> str:
    """A default as TOML writes it."""
    if default is msgspec.NODEFAULT:
        return "required"
    if default is None:
        return "not set"
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, enum.Enum):
        return json.dumps(default.value)
    if isinstance(default, str | Path | Span | Networks | Words | Options | PublicAddress | WebSocketUrl):
        return json.dumps(str(default))
    return str(default)
