"""From file, environment and command line to one checked configuration, or to everything that is wrong with it.

A later source wins: defaults, file, ``CGOS_*`` environment, command line. Every fault is a ConfigError with the place,
what is wrong there and the remedy; all faults are reported at once. Must not know: what the values start.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, get_origin

import msgspec

from cgos_protocol.errors import ConfigError
from cgos_protocol.options import Option, Parsed, plain_type, sentence
from cgos_server.config.key_types import setting, table_of, wanted
from cgos_server.config.openings import absolute
from cgos_server.config.problems import ConfigErrors, Key
from cgos_server.config.schema import CLASSIC_VENUES, Config, VenueConfig
from cgos_server.config.venues import faults
from cgos_server.storage.location import PostgresUrl

_PREFIX = "CGOS_"


class _Text(str):
    """A value from the environment: text that means whatever its key's type makes of it."""


class _Given(NamedTuple):
    """A value from the environment or the command line, and where it was found."""

    value: Any
    place: str


def load(
    path: Path | None = None, env: Mapping[str, str] | None = None, overrides: Mapping[str, Any] | None = None
) -> Config:
    """The configuration.

    :param path: a TOML file, or None for none
    :param env: the environment; only names that begin with ``CGOS_`` and contain ``__`` are read:
        ``CGOS_WEB__PORT`` is ``web.port``, ``CGOS_VENUE__9X9__TIME__MAIN`` is ``time.main`` of the venue ``9x9``
    :param overrides: dotted key -> value, from the command line; values of None are not there
    :raises ConfigErrors: with every problem that was found
    """
    reader = _Reader(path)
    raw = reader.file(path) if path is not None else {}
    if "venue" not in raw:
        raw["venue"] = [
            {"name": venue.name, "port": venue.port, "size": venue.size, "komi": venue.komi, "time": {"main": main}}
            for venue, main in ((venue, str(venue.time.main)) for venue in CLASSIC_VENUES)
        ]
    reader.overlay_environment(raw, env or {})
    reader.overlay_command_line(raw, overrides or {})
    config = reader.struct(Config, raw, ())
    if isinstance(config, Config):
        config = _placed(config, path, reader)
        reader.problems.extend(faults(config, reader.place))
        if not reader.problems:
            return config
    raise ConfigErrors(reader.problems)


def _placed(config: Config, path: Path | None, reader: _Reader) -> Config:
    """Make paths absolute: a file's relative path counts from the file."""

    def placed(key: Key, given: Path) -> Path:
        base = path.parent if path is not None and key not in reader.origin else Path()
        return (base / given.expanduser()).absolute()

    tls = {
        name: None if given is None else placed(("tls", name), given)
        for name, given in (("certificate", config.tls.certificate), ("key", config.tls.key))
    }
    return msgspec.structs.replace(
        config,
        server=msgspec.structs.replace(config.server, data=placed(("server", "data"), config.server.data)),
        tls=msgspec.structs.replace(config.tls, **tls),
        cluster=msgspec.structs.replace(
            config.cluster,
            key=None if config.cluster.key is None else placed(("cluster", "key"), config.cluster.key),
        ),
        venue=tuple(_with_openings(venue, Path() if path is None else path.parent) for venue in config.venue),
    )


def _with_openings(venue: VenueConfig, base: Path) -> VenueConfig:
    pairing = venue.pairing
    openings = absolute(pairing.openings, base)
    return msgspec.structs.replace(venue, pairing=msgspec.structs.replace(pairing, openings=openings))


class _Reader:
    """Turns raw tables into structs and keeps every problem on the way."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.problems: list[ConfigError] = []
        self.origin: dict[Key, str] = {}
        self._names: dict[int, str] = {}

    # -- places and problems

    def place(self, key: Key) -> str:
        """Where the value of `key` comes from, for people."""
        if key in self.origin:
            return self.origin[key]
        words = [self._names.get(word, f"{word + 1}") if isinstance(word, int) else word for word in key]
        dotted = ".".join(words)
        return f"{self.path}: {dotted}" if self.path is not None else dotted

    def problem(self, key: Key, problem: str, remedy: str) -> None:
        self.problems.append(ConfigError(self.place(key), problem, remedy))

    # -- sources

    def file(self, path: Path) -> dict[str, Any]:
        """The raw tables of the file; raises ConfigErrors where it cannot be read at all."""
        place = str(path)
        try:
            return tomllib.loads(path.read_text("utf-8"))
        except OSError as error:
            remedy = "Give the path of a file that can be read; `cgos-server init` writes a new one."
            raise ConfigErrors([ConfigError(place, f"cannot be read ({error.strerror})", remedy)]) from error
        except UnicodeDecodeError as error:
            raise ConfigErrors([ConfigError(place, "is not UTF-8 text", "Save it as UTF-8.")]) from error
        except tomllib.TOMLDecodeError as error:
            raise ConfigErrors([ConfigError(place, f"is not TOML: {error}", "Correct that line.")]) from error

    def overlay_environment(self, raw: dict[str, Any], env: Mapping[str, str]) -> None:
        for variable, value in sorted(env.items()):
            if variable.startswith(_PREFIX) and "__" in variable:
                words = variable[len(_PREFIX) :].lower().split("__")
                self._put(raw, words, _Given(_Text(value), f"environment variable {variable}"))

    def overlay_command_line(self, raw: dict[str, Any], overrides: Mapping[str, Any]) -> None:
        for dotted, value in overrides.items():
            if value is not None:
                self._put(raw, dotted.split("."), _Given(value, f"command line: {dotted}"))

    def _put(self, raw: dict[str, Any], words: list[str], given: _Given) -> None:
        """Lay one value over the tables; the venue's name is the second word of its keys."""
        key: list[str | int] = []
        at: Any = raw
        for depth, word in enumerate(words):
            last = depth == len(words) - 1
            step: str | int = word
            if isinstance(at, list):
                index = _venue_index(at, word)
                if index is None or last:
                    problem = f"there is no venue {word!r}" if index is None else "this is a whole venue"
                    known = ", ".join(str(venue.get("name")) for venue in at if isinstance(venue, dict))
                    remedy = f"A key comes after the venue's name; the venues are {known}."
                    self.problems.append(ConfigError(given.place, problem, remedy))
                    return
                step = index
            key.append(step)
            if last:
                at[step] = given.value
                self.origin[tuple(key)] = given.place
                return
            if isinstance(step, str) and step not in at:
                at[step] = {}
                self.origin[tuple(key)] = given.place
            at = at[step]
            if not isinstance(at, dict | list):
                return  # the file holds no table there: `struct` notes that as a problem

    # -- types

    def struct(self, cls: type[Any], raw: Any, key: Key) -> Any:
        """`raw` as a `cls`; _WRONG, with the problems noted, where that cannot be."""
        if not isinstance(raw, dict):
            name = ".".join(str(word) for word in key if isinstance(word, str))
            remedy = f"Write its keys below [{name}] or as {{ key = value }}."
            self.problem(key, f"{_shown(raw)} is not a table", remedy)
            return _WRONG
        fields = {field.encode_name: field for field in msgspec.structs.fields(cls)}
        self._unknown(raw, fields, key)
        values: dict[str, Any] = {}
        complete = True
        for name, field in fields.items():
            if name in raw:
                value = self._value(field.type, raw[name], (*key, name))
                complete = complete and value is not _WRONG
                values[field.name] = value
            elif field.required:
                meaning = sentence(field.type) or f"{name} = {{ ... }}, as in [venue.{name}]."
                self.problem((*key, name), "is missing", f"Add the key: {meaning}")
                complete = False
        return cls(**values) if complete else _WRONG

    def _unknown(self, raw: Mapping[str, Any], fields: Mapping[str, Any], key: Key) -> None:
        for name in raw:
            if name in fields:
                continue
            near = difflib.get_close_matches(name, fields, 1, 0.6)
            elsewhere = [place for place in _homes(Config, name, ()) if place != ".".join(map(str, key))]
            if near:
                remedy = f"Did you mean {near[0]}?"
            elif elsewhere:
                remedy = f"It belongs into {' or '.join(f'[{place}]' for place in elsewhere)}."
            else:
                remedy = f"Known here: {', '.join(fields)}."
            self.problem((*key, name), "is no key that the server knows", remedy)

    def _value(self, kind: Any, raw: Any, key: Key) -> Any:
        if (table := table_of(kind)) is not None:
            return self._venues(raw, key) if get_origin(kind) is tuple else self.struct(table, raw, key)
        option = setting(kind)
        try:
            return _leaf(kind, option, raw)
        except ValueError:
            # Whatever was meant to be a database's URL may have a password in it.
            shown = "this value" if plain_type(kind) is PostgresUrl else _shown(raw)
            self.problem(key, f"{shown} is not possible", f"Give {wanted(option)}.")
            return _WRONG

    def _venues(self, raw: Any, key: Key) -> Any:
        if not isinstance(raw, list) or not raw:
            self.problem(key, "venues are a list of tables", "Begin each venue with [[venue]], in two brackets.")
            return _WRONG
        for index, table in enumerate(raw):
            if isinstance(table, dict) and isinstance(table.get("name"), str):
                self._names[index] = table["name"]
        venues = [self.struct(VenueConfig, table, (*key, index)) for index, table in enumerate(raw)]
        return _WRONG if _WRONG in venues else tuple(venues)


_WRONG: Final = object()


def _leaf(kind: Any, option: Option, raw: Any) -> Any:
    """One value by its type; raises ValueError."""
    if isinstance(option, Parsed):
        return option.read(raw)
    value = msgspec.convert(raw, kind, strict=not isinstance(raw, _Text))
    if isinstance(value, _Text):
        value = str(value)  # later code takes plain text only
    return None if value is None else option.read(value)


def _venue_index(venues: list[Any], word: str) -> int | None:
    for index, venue in enumerate(venues):
        if isinstance(venue, dict) and word in (_env_name(venue.get("name")), venue.get("name")):
            return index
    return None


def _env_name(name: object) -> str:
    """A venue's name as a word of an environment variable, in small letters."""
    return re.sub(r"[^a-z0-9]", "_", str(name).lower())


def _homes(cls: type[Any], name: str, table: tuple[str, ...]) -> list[str]:
    """The tables that know a key called `name`."""
    homes = []
    for field in msgspec.structs.fields(cls):
        if (inner := table_of(field.type)) is not None:
            homes += _homes(inner, name, (*table, field.encode_name))
        elif field.encode_name == name and table:
            homes.append(".".join(table))
    return homes


def _shown(raw: Any) -> str:
    """A value as it was written, shortened."""
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if isinstance(raw, dict):
        return "a table"
    if isinstance(raw, list):
        return "a list"
    text = f'"{raw}"' if isinstance(raw, str) else str(raw)
    return text if len(text) <= 60 else text[:57] + "..."
