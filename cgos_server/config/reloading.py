"""What has changed between two configurations: which venues pair otherwise at once, which tables are in force at once,
and what waits for a restart.

Must not know: where configurations come from, how a change is put in force.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from cgos_server.config.keys import written
from cgos_server.config.schema import Config, VenueConfig

AT_ONCE: Final = ("backup", "questions", "retention")
"""Tables besides ``[venue.pairing]`` that a reload puts in force: whoever needs them looks there each time."""


class Changed(NamedTuple):
    """What a reload finds.

    :ivar now: venue -> sentences, one a key of ``[venue.pairing]`` that is put in force at once
    :ivar tables: sentences, one a key of :data:`AT_ONCE`
    :ivar later: sentences, one for everything that a restart is needed for
    """

    now: Mapping[str, list[str]]
    tables: list[str]
    later: list[str]


def changed(old: Config, new: Config) -> Changed:
    """Compare what runs with what is configured now."""
    now: dict[str, list[str]] = {}
    tables: list[str] = []
    later: list[str] = []
    before, after = ({venue.name: venue for venue in config.venue} for config in (old, new))
    for name in (*before, *(name for name in after if name not in before)):
        if name not in before or name not in after:
            word = "is gone from" if name in before else "is new in"
            later.append(f"Venue {name} {word} the configuration: restart the server for that.")
            continue
        here, there = before[name], after[name]
        pairs = _differences(here.pairing, there.pairing)
        if pairs:
            now[name] = [f"{name}: {sentence}." for sentence in pairs]
        later += [_restart(f"venue {name}: {sentence}") for sentence in _differences(*map(_rest, (here, there)))]
    for table in Config.__struct_fields__:
        if table != "venue":
            differences = _differences(getattr(old, table), getattr(new, table))
            if table in AT_ONCE:
                tables += [f"{table}.{sentence}." for sentence in differences]
            else:
                later += [_restart(f"{table}.{sentence}") for sentence in differences]
    return Changed(now, tables, later)


def _rest(venue: VenueConfig) -> VenueConfig:
    return msgspec.structs.replace(venue, pairing=type(venue.pairing)())


def _differences(old: msgspec.Struct, new: msgspec.Struct) -> list[str]:
    sentences = []
    for key in old.__struct_fields__:
        was, is_now = getattr(old, key), getattr(new, key)
        if isinstance(was, msgspec.Struct):
            sentences += [f"{key}.{sentence}" for sentence in _differences(was, is_now)]
        elif was != is_now:
            sentences.append(f"{key} was {_word(was)} and is {_word(is_now)}")
    return sentences


def _word(value: Any) -> str:
    return "not set" if value is None else written(value)


def _restart(sentence: str) -> str:
    return f"{sentence[0].upper()}{sentence[1:]}: restart the server for that."
