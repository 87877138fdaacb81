"""What owners want of their bots: a pause that outlasts a sign-in, limits beside the bot's own, going home."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from support.house import House
from support.simulated import RecordingSession

from cgos_server.errors import Refused
from cgos_server.observability.logs import LogCounts
from cgos_server.observability.metrics import Metrics
from cgos_server.protocol.session import Availability, Limits
from cgos_server.runtime.live_control import LiveControl
from cgos_server.runtime.owners import PAUSED
from cgos_server.runtime.player import stricter


@pytest.fixture
async def house() -> House:
    return await House().open()


async def reload() -> list[str]:
    return []


@pytest.fixture
def control(house: House) -> LiveControl:
    store: Any = house.store
    return LiveControl(
        {"9x9": house.live}, store, house.time, Metrics(CollectorRegistry(), "test"), LogCounts(),
        lambda: ("", "", ""), lambda: None, reload,
    )  # fmt: skip


def bot(house: House, name: str) -> int:
    return next(player.bot for player in house.live.lobby.players.values() if player.name == name)


def infos(session: RecordingSession) -> list[str]:
    return [told[1] for told in session.told if told[0] == "info"]


async def test_a_paused_bot_gets_no_new_game_finishes_its_own_and_is_told(house: House, control: LiveControl) -> None:
    anna, _ = await house.arrive("anna", "bert")
    await house.act()
    assert len(house.opponents()) == 1
    control.wishes(bot(house, "anna"), True, Limits())
    assert infos(anna)[-1] == PAUSED
    assert anna.alive
    house.finish()
    await house.act()
    assert len(list(house.live.lobby.games())) == 0
    assert {status.name: status.paused for status in control.status().bots} == {"anna": True, "bert": False}
    control.wishes(bot(house, "anna"), False, Limits())
    assert "you get games" in infos(anna)[-1]
    await house.act()
    assert len(list(house.live.lobby.games())) == 1


async def test_a_pause_outlasts_the_connection_and_an_operator_hears_of_it(house: House, control: LiveControl) -> None:
    anna, _ = await house.arrive("anna", "bert")
    number = bot(house, "anna")
    control.wishes(number, True, Limits())
    assert anna.seat is not None
    anna.seat.left(True)
    again = await house.sign_in("anna")
    assert infos(again)[-1] == PAUSED
    await house.act()
    assert len(list(house.live.lobby.games())) == 0
    house.live.lobby.keep_alive()
    assert infos(again)[-1] == PAUSED
    with pytest.raises(Refused, match="its owner has paused it"):
        control.match("9x9", "anna", "bert", (0, 0), None, None, "root")


async def test_owners_limits_stand_beside_the_bots_own(house: House, control: LiveControl) -> None:
    anna = await house.check_in("anna", 1, Limits(50, frozenset({"carl"})))
    player = next(iter(house.live.lobby.players.values()))
    control.wishes(player.bot, False, Limits(3, frozenset({"bert"})))
    await house.settle()
    assert player.limits == Limits(3, frozenset({"bert", "carl"}))
    assert anna.seat is not None
    anna.seat.limit(Limits(2))
    await house.settle()
    assert player.limits == Limits(2, frozenset({"bert"}))
    control.wishes(player.bot, False, Limits())
    assert player.limits == Limits(2)


@given(st.none() | st.integers(0, 99), st.none() | st.integers(0, 99), st.sets(st.text()), st.sets(st.text()))
def test_what_both_allow(one: int | None, other: int | None, here: set[str], there: set[str]) -> None:
    both = stricter(Limits(one, frozenset(here)), Limits(other, frozenset(there)))
    assert both.avoid == here | there
    for begun in range(100):
        allowed = [most is None or begun < most for most in (one, other, both.games_a_day)]
        assert allowed[2] == (allowed[0] and allowed[1])


async def test_sent_home_it_ends_its_game_and_leaves_whatever_it_says(house: House, control: LiveControl) -> None:
    anna = await house.check_in("anna")
    bert = await house.check_in("bert")
    carl = await house.sign_in("carl")
    await house.act()
    playing = [player for player in house.live.lobby.players.values() if player.games]
    going = next(player for player in playing if player.name in ("anna", "bert"))
    session = {"anna": anna, "bert": bert}[going.name]
    assert control.drain_bot(going.bot) == 1
    assert "sends you home" in infos(session)[-1]
    assert session.alive
    assert session.seat is not None
    session.seat.available(Availability.READY)
    house.finish()
    assert not session.alive
    assert session.last()[:1] == ("refused",)
    assert "as your owner wished" in session.last()[1]
    assert control.drain_bot(bot(house, "carl")) == 1
    assert not carl.alive
    assert control.drain_bot(999) == 0
    await house.check_in(going.name)
    await house.act()
    assert len(list(house.live.lobby.games())) == 1


async def test_status_says_whose_connection_and_since_when(house: House, control: LiveControl) -> None:
    anna = await house.sign_in("anna")
    (status,) = control.status().bots
    assert (status.connection, status.since) == (anna.id, house.time.wall_ms() / 1000)
