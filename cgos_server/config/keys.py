"""Every key of the configuration, read off the types: for the documentation, for ``check --keys`` and for ``init``.

Must not know: sources of values, what the values start.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple, get_origin

import msgspec

from cgos_protocol.options import sentence
from cgos_server.config.key_types import setting, table_of, wanted
from cgos_server.config.schema import CLASSIC_VENUES, Config


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
    return [key for table, cls, defaults in _tables(Config, "", Config()) for key in _keys(table, cls, defaults)]


def tables() -> dict[str, str]:
    """Table -> what it is about."""
    return {table: cls.__doc__ or "" for table, cls, _ in _tables(Config, "", Config()) if table}


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
        return [plain(part) for part in value]
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def _commented(keys: Iterator[Key]) -> Iterator[str]:
    for key in keys:
        yield f"# {key.sentence} Values: {key.values}."
        if key.default == "not set":
            yield f"# {key.name} = ..."
        else:
            yield f"#{key.name} = {key.default}"


def _tables(cls: type[Any], table: str, defaults: Any) -> Iterator[tuple[str, type[Any], Any]]:
    """A table with its type and its defaults, then those inside it. `defaults` is an instance where there is one."""
    yield table, cls, defaults
    for field in msgspec.structs.fields(cls):
        if (inner := table_of(field.type)) is not None:
            inner_defaults = None if get_origin(field.type) is tuple else getattr(defaults, field.name, field.default)
            yield from _tables(inner, f"{table}.{field.encode_name}".removeprefix("."), inner_defaults)


def _keys(table: str, cls: type[Any], defaults: Any) -> Iterator[Key]:
    """The keys of one table."""
    for field in msgspec.structs.fields(cls):
        if table_of(field.type) is None:
            yield Key(
                table=table,
                name=field.encode_name,
                values=wanted(setting(field.type)),
                default=written(getattr(defaults, field.name, field.default)),
                sentence=sentence(field.type),
            )


def written(default: Any) -> str:
    """A default as TOML writes it."""
    if default is msgspec.NODEFAULT:
        return "required"
    if default is None:
        return "not set"
    if isinstance(default, bool):
        return str(default).lower()
    return str(default) if isinstance(default, int | float) else json.dumps(str(default))
