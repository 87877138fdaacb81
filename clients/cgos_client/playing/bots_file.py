"""The file that describes bots (``bots.toml``): what may stand in it, and everything that is wrong with one.

Each fault names its place; files with passwords are looked at, too. Relative paths count from the file. Must not know:
what is done with it.
"""

from __future__ import annotations

import difflib
import json
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import inspect
from msgspec.inspect import type_info

from cgos_client.addresses import Address, server_address
from cgos_client.settings import BadSetting, bot_name, checked_hours, secret
from cgos_protocol.v2.messages import Scalar

Count = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
Positive = Annotated[float, msgspec.Meta(gt=0, le=1_000_000)]
Word = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class ServerTable(msgspec.Struct, frozen=True, kw_only=True):
    """Where the bots play."""

    url: Word
    """ws://HOST:PORT or wss://HOST:PORT; for CGOS lines over TCP HOST:PORT."""
    lines: bool = False
    """Speak CGOS lines over WebSocket too."""
    encoding: Literal["json", "msgpack"] = "json"
    """How messages are written over WebSocket."""
    ca_file: Path | None = None
    """Certificates (PEM) to trust in place of the system's, for wss:// and cgoss://."""
    leave_within_s: Positive | None = None
    """How long running games may go on after Ctrl-C; without it as long as they take."""

    def address(self, bot: BotTable) -> Address:
        """Where `bot` plays. Raises BadSetting."""
        return server_address(bot.url or self.url)


class BotTable(msgspec.Struct, frozen=True, kw_only=True):
    """One bot."""

    name: Word
    """Its name on the server."""
    url: Word | None = None
    """Its own server, in place of the one above."""
    password_file: Path | None = None
    """File whose first line is the password."""
    token_file: Path | None = None
    """File whose first line is a token, in its place."""
    venues: list[Word] = []
    """Where it plays, by name (WebSocket)."""
    slots: Annotated[int, msgspec.Meta(ge=1, le=256)] = 1
    """Games at once, each with an engine process of its own."""
    version: Annotated[str, msgspec.Meta(max_length=64)] = ""
    """What is rated, as a version of its own."""
    wire_name: Annotated[str, msgspec.Meta(max_length=64)] = ""
    """What the version is called on the server."""
    predecessor: Annotated[str, msgspec.Meta(max_length=64)] = ""
    """The version that it comes from, by its wire name."""
    author: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """Who made it."""
    parameters: dict[str, Scalar] = {}
    """Its settings, for people."""
    engine: list[str] | None = None
    """The engine's command line: program and arguments."""
    builtin: Literal["random", "greedy", "mcts"] | None = None
    """A built-in bot in place of an engine."""
    playouts: Count | None = None
    """Simulated games a move, for mcts."""
    seed: int | None = None
    """Makes a built-in bot's choices repeatable."""
    engine_timeout_s: Positive | None = None
    """How long the engine may take for any answer."""
    games: Count | None = None
    """Leave after so many games."""
    games_a_day: Count | None = None
    """Most games begun within 24 hours."""
    avoid: list[Word] = []
    """Wire names that it must not meet."""
    accepts: list[Word] = []
    """Accounts and bots of other owners in whose questions it plays; ``*`` for everybody's."""
    hours: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """When its games may begin, in UTC."""
    events: list[Word] = []
    """Tournaments of the server, or series of them, that it enters, by name."""
    log_dir: Path | None = None
    """Directory for wire.log and gtp.log, both rotated."""
    sgf_dir: Path | None = None
    """Directory for the games, one SGF file each."""


class BotsFile(msgspec.Struct, frozen=True, kw_only=True):
    """A whole file."""

    server: ServerTable
    bot: list[BotTable]


class BadBotsFile(BadSetting):
    """Everything that is wrong with a file, a line each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


ONLY_V2 = (
    "slots",
    "version",
    "wire_name",
    "predecessor",
    "author",
    "parameters",
    "games_a_day",
    "avoid",
    "accepts",
    "hours",
    "events",
)
"""Settings of a bot that CGOS lines have no words for."""


def load(path: Path) -> BotsFile:
    """The file's content, with paths made absolute. Raises BadBotsFile."""
    problems: list[str] = []
    return _sound(path, _check(_read(path), path, problems), problems)


def load_with_secrets(path: Path) -> tuple[BotsFile, list[str]]:
    """As :func:`load`, and the password or token of each bot. What is wrong with their files is among the faults."""
    raw = _read(path)
    problems: list[str] = []
    content = _check(raw, path, problems)
    words = [_secret(table, place, path.parent, problems) for place, table in _tables(raw)]
    return _sound(path, content, problems), words


def _sound(path: Path, content: BotsFile | None, problems: list[str]) -> BotsFile:
    if problems or content is None:
        raise BadBotsFile([f"{path}: {problem}" for problem in problems])
    return content


def _secret(table: Any, place: str, base: Path, problems: list[str]) -> str:
    """The password or token of one bot; empty where it is among the `problems`, also those that are noted already."""
    given = {key: table.get(key) for key in ("password_file", "token_file")} if isinstance(table, dict) else {}
    files = {key: _absolute(Path(value), base) for key, value in given.items() if isinstance(value, str) and value}
    if len(files) != 1:
        return ""
    with _noting(problems):
        places = (f"{place}.password_file", f"{place}.token_file")
        return secret(files.get("password_file"), files.get("token_file"), {}, places)
    return ""


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise BadBotsFile([f"{path}: cannot be read ({error.strerror}); 'cgos-client init' writes one"]) from None
    except UnicodeDecodeError:
        raise BadBotsFile([f"{path}: is not UTF-8 text"]) from None
    except tomllib.TOMLDecodeError as error:
        raise BadBotsFile([f"{path}: is not TOML: {error}"]) from None


def _tables(raw: dict[str, Any]) -> list[tuple[str, Any]]:
    """Each bot's table, after what it is called in a fault."""
    tables = raw.get("bot", [])
    if not isinstance(tables, list):
        return []
    names = [table.get("name") if isinstance(table, dict) else None for table in tables]
    called = [name if isinstance(name, str) and name else number for number, name in enumerate(names, 1)]
    return [(f"bot {name}", table) for name, table in zip(called, tables, strict=True)]


def _check(raw: dict[str, Any], path: Path, problems: list[str]) -> BotsFile | None:
    """`raw` tables as a file's content, None where that cannot be; `path` is what relative paths count from."""
    server = _struct(ServerTable, raw.get("server", {}), "server", problems)
    tables = _tables(raw)
    bots: list[BotTable] = []
    strangers = [name for name in raw if name not in ("server", "bot")]
    problems += [f"{name}: is no table of this file; there are [server] and [[bot]]" for name in strangers]
    if not tables:
        problems.append("bot: is missing; write a table [[bot]] for each bot")
    for place, table in tables:
        bot = _struct(BotTable, table, place, problems)
        if bot is not None:
            bots.append(bot)
            _check_bot(bot, place, server=server, raw=table, problems=problems)
    if server is not None:
        with _noting(problems):
            server_address(server.url, "server.url")
    names = [(bot.name.lower(), bot.url) for bot in bots]
    twice = sorted({name for name, _ in names if names.count((name, None)) > 1})
    problems += [f"bot {name}: is there twice; several slots play several games at once" for name in twice]
    if problems or server is None:
        return None
    return BotsFile(server=_placed(server, path.parent), bot=[_placed(bot, path.parent) for bot in bots])


@contextmanager
def _noting(problems: list[str]) -> Iterator[None]:
    """A setting that cannot be used is one of the `problems`."""
    try:
        yield
    except BadSetting as bad:
        problems.append(bad.text)


def _check_bot(bot: BotTable, place: str, server: ServerTable | None, raw: dict[str, Any], problems: list[str]) -> None:
    with _noting(problems):
        bot_name(bot.name, f"{place}: name")
    with _noting(problems):
        checked_hours(bot.hours, f"{place}.hours")
    if ("engine" in raw) == ("builtin" in raw):
        problems.append(f'{place}: give either engine = ["program", "argument"] or builtin = "mcts"')
    elif bot.engine is not None and not (bot.engine and bot.engine[0]):
        problems.append(f"{place}.engine: names no program")
    if "playouts" in raw and raw.get("builtin") != "mcts":
        problems.append(f'{place}.playouts: is for builtin = "mcts"')
    if ("password_file" in raw) == ("token_file" in raw):
        problems.append(f"{place}: give either password_file or token_file")
    if bot.url is not None:
        with _noting(problems):
            server_address(bot.url, f"{place}.url")
    if server is not None:
        with suppress(BadSetting):  # an address that is none is among the problems already
            _check_protocol(bot, place, server=server, raw=raw, problems=problems)


def _check_protocol(bot: BotTable, place: str, server: ServerTable, raw: dict[str, Any], problems: list[str]) -> None:
    """Whether the bot's settings go with what is spoken at its address. Raises BadSetting where that is no address."""
    address = server.address(bot)
    if not address.over_tcp and not server.lines:
        if not bot.venues and not raw.get("venues"):
            problems.append(f'{place}.venues: is missing; write venues = ["9x9"], or the names that the server has')
        elif len(set(bot.venues)) < len(bot.venues):
            problems.append(f"{place}.venues: names a venue twice")
        return
    strange = [key for key in ONLY_V2 if key in raw]
    problems += [f'{place}.{key}: CGOS lines have no words for it; it needs url = "ws://..."' for key in strange]
    if address.over_tcp and bot.venues:
        problems.append(f"{place}.venues: over TCP every venue has a port of its own, which url names")
    elif not address.over_tcp and not address.venue and len(bot.venues) != 1:
        problems.append(f"{place}.venues: CGOS lines are spoken in one venue at a time; name one")


def _struct(cls: type[Any], raw: Any, place: str, problems: list[str]) -> Any:
    """`raw` as a `cls`, with what cannot be used left out and noted; None where a key that it needs is among that."""
    if not isinstance(raw, dict):
        problems.append(f"{place}: is no table")
        return None
    fields = {field.name: field for field in msgspec.structs.fields(cls)}
    for name in raw:
        if name not in fields:
            near = difflib.get_close_matches(name, fields, 1, 0.6)
            remedy = f"did you mean {near[0]}?" if near else f"known here: {', '.join(fields)}"
            problems.append(f"{place}.{name}: is no key; {remedy}")
    values: dict[str, Any] = {}
    for name, field in fields.items():
        if name in raw:
            try:
                values[name] = msgspec.convert(raw[name], field.type, strict=True, dec_hook=_path)
            except msgspec.ValidationError:
                wanted = _words(type_info(field.type))
                problems.append(f"{place}.{name}: {_shown(raw[name])} is not possible. Give {wanted}.")
        elif field.required:
            problems.append(f"{place}.{name}: is missing")
    return None if any(field.required and name not in values for name, field in fields.items()) else cls(**values)


def _words(kind: inspect.Type) -> str:
    """What a value of this type looks like, for people."""
    match kind:
        case inspect.Metadata(inner):
            return _words(inner)
        case inspect.UnionType(types):
            return " or ".join(_words(inner) for inner in types if not isinstance(inner, inspect.NoneType))
        case inspect.LiteralType(values):
            *more, last = (f'"{value}"' for value in values)
            return f"{', '.join(more)} or {last}"
        case inspect.IntType(ge=None):
            return "a whole number"
        case inspect.IntType(ge=least, le=most):
            return f"a whole number from {least} to {most}"
        case inspect.FloatType(gt=above, le=most):
            return f"a number above {above:g} up to {most:g}"
        case inspect.BoolType():
            return "true or false"
        case inspect.StrType(min_length=None, max_length=most):
            return f"text of at most {most} characters"
        case inspect.StrType(max_length=most):
            return f"text of 1 to {most} characters"
        case inspect.ListType():
            return 'a list of texts, such as ["one", "two"]'
        case inspect.DictType():
            return "a table of texts and numbers, such as { level = 3 }"
        case _:
            return "the path of a file or directory"


def _shown(value: Any) -> str:
    """A value as it may stand in the file, in short."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except TypeError:
        text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _path(kind: type[Any], value: Any) -> Any:
    if kind is Path and isinstance(value, str) and value:
        return Path(value)
    raise ValueError("expected the path of a file or directory")


def _absolute(path: Path, base: Path) -> Path:
    return (base / path.expanduser()).absolute()


def _placed(table: Any, base: Path) -> Any:
    """`table` with its paths counted from `base`."""
    changes = {
        name: _absolute(value, base)
        for name in table.__struct_fields__
        if isinstance(value := getattr(table, name), Path)
    }
    return msgspec.structs.replace(table, **changes)
