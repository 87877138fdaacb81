"""What a key's type says to people: which values it takes and what it means.

Must not know: values, sources, which keys there are.
"""

from __future__ import annotations

import enum
import types
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec

from cgos_server.config.values import Networks, Options, PublicAddress, Span, WebSocketUrl, Words
from cgos_server.storage.location import PostgresUrl


def strip(kind: Any) -> Any:
    """A key's type without its annotations and without None."""
    if get_origin(kind) is Annotated:
        return strip(get_args(kind)[0])
    if get_origin(kind) in (Union, types.UnionType):
        return strip(next(arg for arg in get_args(kind) if arg is not type(None)))
    return kind


def metas(kind: Any) -> list[msgspec.Meta]:
    """Every annotation of a type, inner ones included."""
    if get_origin(kind) is Annotated:
        inner, *own = get_args(kind)
        return metas(inner) + [meta for meta in own if isinstance(meta, msgspec.Meta)]
    if get_origin(kind) in (Union, types.UnionType):
        return [meta for arg in get_args(kind) for meta in metas(arg)]
    return []


def description(kind: Any) -> str:
    """The sentence that says what a key means."""
    return next((meta.description for meta in metas(kind) if meta.description), "")


def wanted(kind: Any) -> str:
    """What values a key takes, as words after "give"."""
    plain = strip(kind)
    if plain is Span:
        return "seconds, or text such as 5m or 1h30m"
    if plain is Networks:
        return "addresses or networks with commas between them, such as 127.0.0.1, 10.0.0.0/8"
    if plain is Words:
        return "words with commas between them"
    if plain is Options:
        return "a table of options, or text such as reach=3, model=gor"
    if plain is PublicAddress:
        return "nothing, or a host and a port such as cgos.example.org:6809"
    if plain is WebSocketUrl:
        return "nothing, or a URL without a path such as wss://cgos.example.org"
    if plain is Path:
        return "a path"
    if plain is PostgresUrl:
        return "nothing, or a URL such as postgresql://user@host:5432/name"
    if plain is bool:
        return "true or false"
    if issubclass(plain, enum.Enum):
        choices = [str(member.value) for member in plain]
        return f"{', '.join(choices[:-1])} or {choices[-1]}"
    low = high = None
    for meta in metas(kind):
        if meta.pattern is not None:
            return "1 to 32 letters, digits, _, . or -, beginning with a letter or digit"
        if meta.gt is not None:
            low = f"above {meta.gt:g}"
        if meta.ge is not None:
            low = f"from {meta.ge:g}" if meta.ge < 10_000 else f"from {meta.ge}"
        if meta.le is not None:
            high = f"to {meta.le}"
        if meta.min_length is not None:
            low = f"of {meta.min_length}" if meta.max_length is not None else "that is not empty"
        if meta.max_length is not None:
            high = f"to {meta.max_length} characters"
    noun = {int: "a whole number", float: "a number", str: "text"}[plain]
    if high is not None and low is not None and low.startswith("above"):
        high = "up " + high
    return " ".join(part for part in (noun, low, high) if part)
