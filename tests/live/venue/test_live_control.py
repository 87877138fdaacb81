"""What commands ask of the live server beyond games: its ratings."""

from __future__ import annotations

from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from support.live.acts import server_acts
from support.live.house import House
from support.service.acting import changed

from cgos_protocol.errors import ConfigError, Refused
from cgos_server.live.venue.live_control import Addresses, LiveControl
from cgos_server.observability.logs import LogCounts
from cgos_server.observability.metrics import Metrics


@pytest.fixture
async def house() -> House:
    return await House().open()


async def reload() -> list[str]:
    raise ConfigError("web.port", "is no number", "Give one.")


@pytest.fixture
def control(house: House) -> LiveControl:
    metrics = Metrics(CollectorRegistry(), "test")
    store: Any = house.store
    return LiveControl({"9x9": house.live}, store, house.time, metrics, LogCounts(), Addresses(), server_acts(reload))


async def test_refits_hear_of_what_an_operator_changed(house: House, control: LiveControl) -> None:
    lanes = house.live.refitter._lanes
    assert not any(lane.news.is_set() for lane in lanes)
    control.ratings_changed("19x19")
    assert not any(lane.news.is_set() for lane in lanes)
    control.ratings_changed("9x9")
    assert all(lane.news.is_set() for lane in lanes)


async def test_a_preview_says_what_would_be_paired_and_pairs_nobody(house: House, control: LiveControl) -> None:
    await house.arrive("anna", "bert", "carl", "dora", "emil")
    own = await control.preview("9x9", None, {})
    assert (own.method, own.policy, len(own.pairs), len(own.sits_out)) == ("information", "rolling", 2, 1)
    assert sorted(own.ready) == ["anna", "bert", "carl", "dora", "emil"]
    other = await control.preview("9x9", "birk", {"formula": "half"})
    assert (other.method, other.options["formula"]) == ("birk", "half")
    assert all("drew" in pair.reason or "only opponent" in pair.reason for pair in other.pairs)
    assert house.opponents() == set()
    assert all(player.available for player in house.live.roster.players.values())
    for venue, method, options, words in (
        ("19x19", None, {}, "no venue 19x19"),
        ("9x9", "bjrk", {}, "no pairing method 'bjrk'"),
        ("9x9", None, {"formula": "half"}, "information has no option 'formula'"),
    ):
        with pytest.raises(Refused, match=words):
            await control.preview(venue, method, options)


async def test_a_configuration_at_fault_changes_nothing(control: LiveControl) -> None:
    with pytest.raises(Refused, match=r"nothing was changed. web.port: is no number. Give one."):
        await control.reload()


async def test_ratings_are_those_at_work(house: House, control: LiveControl) -> None:
    assert control.ratings("9x9") is house.live.ratings
    assert control.ratings("19x19") is None


async def test_changes_of_strength_are_those_that_the_watch_has_noticed(house: House, control: LiveControl) -> None:
    assert control.strength_changes() == []
    house.live.watch._changes = {2: changed("bert", "watch"), 1: changed("anna")}
    assert control.strength_changes() == [changed("anna"), changed("bert", "watch")]
