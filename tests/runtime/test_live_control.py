"""What commands ask of the live server beyond games: its ratings."""

from __future__ import annotations

from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from support.house import House

from cgos_server.observability.logs import LogCounts
from cgos_server.observability.metrics import Metrics
from cgos_server.runtime.live_control import LiveControl


@pytest.fixture
async def house() -> House:
    return await House().open()


@pytest.fixture
def control(house: House) -> LiveControl:
    metrics = Metrics(CollectorRegistry(), "test")
    store: Any = house.store
    return LiveControl({"9x9": house.live}, store, house.time, metrics, LogCounts(), lambda: ("", "", ""), lambda: None)


async def test_refits_hear_of_what_an_operator_changed(house: House, control: LiveControl) -> None:
    lanes = house.live.refitter._lanes
    assert not any(lane.news.is_set() for lane in lanes)
    control.ratings_changed("19x19")
    assert not any(lane.news.is_set() for lane in lanes)
    control.ratings_changed("9x9")
    assert all(lane.news.is_set() for lane in lanes)


async def test_ratings_are_those_at_work(house: House, control: LiveControl) -> None:
    assert control.ratings("9x9") is house.live.ratings
    assert control.ratings("19x19") is None
