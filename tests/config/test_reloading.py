"""What a reload puts in force, and what it says must wait."""

from __future__ import annotations

import asyncio
import threading

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from cgos_server.assembly.reloading import Reloading
from cgos_server.config.loader import load
from cgos_server.config.operating import RetentionConfig
from cgos_server.config.reloading import changed
from cgos_server.config.schema import Config
from cgos_server.config.values import Words
from cgos_server.core.venue import Policy


def paired(config: Config, at: int, **keys: object) -> Config:
    venues = list(config.venue)
    venues[at] = msgspec.structs.replace(venues[at], pairing=msgspec.structs.replace(venues[at].pairing, **keys))
    return msgspec.structs.replace(config, venue=tuple(venues))


def test_nothing_has_changed() -> None:
    assert changed(load(), load()) == ({}, [], [])


@given(
    st.sampled_from(
        [
            ("policy", Policy.BARRIER, '"rolling"', '"barrier"'),
            ("interval_s", 5.0, "1.0", "5.0"),
            ("max_expected", 0.8, "not set", "0.8"),
            ("avoid_last", False, "true", "false"),
            ("openings", Words(("/a.txt",)), '""', '"/a.txt"'),
        ]
    ),
    st.integers(0, 2),
)
def test_every_key_of_pairing_is_put_in_force_in_its_own_venue(case: tuple[str, object, str, str], at: int) -> None:
    key, value, was, now = case
    name = load().venue[at].name
    changes = changed(load(), paired(load(), at, **{key: value}))
    assert changes == ({name: [f"{name}: {key} was {was} and is {now}."]}, [], [])


def test_what_a_restart_is_needed_for_is_said() -> None:
    old = load()
    venues = (msgspec.structs.replace(old.venue[0], komi=6.5), old.venue[1])
    new = msgspec.structs.replace(old, venue=venues, web=msgspec.structs.replace(old.web, port=1))
    new = paired(new, 1, suspend_after=0)
    new = msgspec.structs.replace(new, retention=RetentionConfig(analyses_days=30.0))
    now, at_once, later = changed(old, new)
    assert now == {"13x13": ["13x13: suspend_after was 5 and is 0."]}
    assert at_once == ["retention.analyses_days was not set and is 30.0."]
    assert later == [
        "Venue 9x9: komi was 7.0 and is 6.5: restart the server for that.",
        "Venue 19x19 is gone from the configuration: restart the server for that.",
        "Web.port was 8080 and is 1: restart the server for that.",
    ]
    assert changed(new, old).later[1] == "Venue 19x19 is new in the configuration: restart the server for that."


async def test_of_two_reloads_at_once_what_was_read_last_is_in_force() -> None:
    old = load()
    first, second = paired(old, 0, suspend_after=7), paired(old, 0, suspend_after=9)
    held = threading.Event()
    reads = iter([(held, first), (None, second)])

    def reread() -> Config:
        gate, config = next(reads)
        if gate is not None:
            assert gate.wait(10)
        return config

    reloading = Reloading(old, {}, reread)
    earlier = asyncio.create_task(reloading.reload())
    await asyncio.sleep(0)
    other = asyncio.create_task(reloading.reload())
    await asyncio.wait([other], timeout=0.2)
    held.set()
    await asyncio.gather(earlier, other)
    assert reloading.config.venue[0].pairing.suspend_after == 9
