"""What owners want of their bots: a pause that outlasts a sign-in, limits beside the bot's own, going home."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from support.live.acts import server_acts
from support.live.house import House
from support.live.simulated import RecordingSession

from cgos_protocol.errors import Refused
from cgos_protocol.hours import parse
from cgos_protocol.session import Availability, Limits
from cgos_server.live.venue.live_control import Addresses, LiveControl
from cgos_server.live.venue.play_limits import HOURS_BEGIN
from cgos_server.live.venue.player import in_force
from cgos_server.observability.logs import LogCounts
from cgos_server.observability.metrics import Metrics
from cgos_server.service.control import VersionNow
from cgos_server.service.holds import Hold


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
        Addresses(), server_acts(reload),
    )  # fmt: skip


def bot(house: House, name: str) -> int:
    return next(player.bot for player in house.live.roster.players.values() if player.name == name)


def infos(session: RecordingSession) -> list[str]:
    return [entry[1] for entry in session.entries if entry[0] == "info"]


async def test_a_paused_bot_gets_no_new_game_finishes_its_own_and_is_told(house: House, control: LiveControl) -> None:
    anna, _ = await house.arrive("anna", "bert")
    await house.run_pass()
    assert len(house.opponents()) == 1
    control.wishes(bot(house, "anna"), True, Limits())
    assert infos(anna)[-1] == Hold.PAUSED.bot
    assert anna.alive
    house.finish()
    await house.run_pass()
    assert len(list(house.live.roster.games())) == 0
    assert {status.name: status.paused for status in control.status().bots} == {"anna": True, "bert": False}
    control.wishes(bot(house, "anna"), False, Limits())
    assert "you get games" in infos(anna)[-1]
    await house.run_pass()
    assert len(list(house.live.roster.games())) == 1


async def test_a_pause_outlasts_the_connection_and_an_operator_hears_of_it(house: House, control: LiveControl) -> None:
    anna, _ = await house.arrive("anna", "bert")
    number = bot(house, "anna")
    control.wishes(number, True, Limits())
    assert anna.seat is not None
    anna.seat.left(True)
    again = await house.sign_in("anna")
    assert infos(again)[-1] == Hold.PAUSED.bot
    await house.run_pass()
    assert len(list(house.live.roster.games())) == 0
    house.live.reminders.keep_alive()
    assert infos(again)[-1] == Hold.PAUSED.bot
    with pytest.raises(Refused, match="its owner has paused it"):
        control.match("9x9", "anna", "bert", (0, 0), None, None, "root")


async def test_owners_limits_stand_beside_the_bots_own(house: House, control: LiveControl) -> None:
    anna = await house.check_in("anna", 1, Limits(50, frozenset({"carl"})))
    player = next(iter(house.live.roster.players.values()))
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
def test_what_both_allow(first: int | None, second: int | None, here: set[str], there: set[str]) -> None:
    one = Limits(games_a_day=first, avoid=frozenset(here), hours=parse("22-6"))
    other = Limits(games_a_day=second, avoid=frozenset(there), hours=parse("4-8"))
    both = in_force(one, other)
    assert both.hours == parse("4-6")
    assert both.avoid == here | there
    for begun in range(100):
        allowed = [most is None or begun < most for most in (first, second, both.games_a_day)]
        assert allowed[2] == (allowed[0] and allowed[1])


async def test_a_bot_or_its_owner_accepts_questions(house: House, control: LiveControl) -> None:
    anna = await house.check_in("anna", 1, Limits(accepts=frozenset({"Carl"})))
    player = next(iter(house.live.roster.players.values()))
    control.wishes(player.bot, False, Limits(accepts=frozenset({"Berta"})))
    assert player.limits == Limits(accepts=frozenset({"Berta", "Carl"}))
    assert anna.seat is not None
    anna.seat.limit(Limits())
    assert player.limits == Limits(accepts=frozenset({"Berta"}))
    control.wishes(player.bot, False, Limits())
    assert player.limits == Limits()


def hour(house: House, wanted: int, minute: int = 0) -> None:
    """Let the time come when it is so late, on this day or the next."""
    now = house.time.wall_ms() // 60_000 % 1440
    house.time.advance(((wanted * 60 + minute - now) % 1440) * 60_000_000)
    house.live.reminders.remind()


async def test_outside_its_hours_a_bot_gets_no_new_game_and_is_told(house: House, control: LiveControl) -> None:
    anna, _ = await house.arrive("anna", "bert")
    hour(house, 5, 59)
    house.time.advance(50_000_000)  # the first move of a game is not waited for much longer
    control.wishes(bot(house, "anna"), False, Limits(hours=parse("22-6")))
    assert infos(anna)[-1:] != [HOURS_BEGIN]
    await house.run_pass()
    assert len(house.opponents()) == 1
    house.time.advance(20_000_000)
    house.live.reminders.remind()
    assert "outside your hours (22-6, UTC)" in infos(anna)[-1]
    assert "22:00 UTC" in infos(anna)[-1]
    assert anna.alive
    assert len(list(house.live.roster.games())) == 1  # it goes on
    house.finish()
    await house.run_pass()
    assert len(list(house.live.roster.games())) == 0
    with pytest.raises(Refused, match="only at these hours \\(UTC\\): 22-6"):
        control.match("9x9", "anna", "bert", (0, 0), None, None, "root")
    info_count = len(infos(anna))
    house.live.reminders.remind()
    assert len(infos(anna)) == info_count
    house.live.reminders.keep_alive()
    assert "outside your hours" in infos(anna)[-1]
    hour(house, 22)
    assert infos(anna)[-1] == HOURS_BEGIN
    await house.run_pass()
    assert len(list(house.live.roster.games())) == 1


async def test_hours_outlast_a_sign_in_and_go_with_the_wish(house: House, control: LiveControl) -> None:
    anna = await house.sign_in("anna")
    hour(house, 12)
    control.wishes(bot(house, "anna"), False, Limits(hours=parse("22-6")))
    assert "outside your hours" in infos(anna)[-1]
    control.wishes(bot(house, "anna"), False, Limits(hours=parse("21-6")))
    assert "(21-6, UTC)" in infos(anna)[-1]
    assert anna.seat is not None
    anna.seat.left(True)
    again = await house.sign_in("anna")
    assert "outside your hours (21-6" in infos(again)[-1]
    control.wishes(bot(house, "anna"), False, Limits())
    assert infos(again)[-1] == HOURS_BEGIN


async def test_the_bots_own_hours_and_its_owners_must_both_hold(house: House, control: LiveControl) -> None:
    hour(house, 5)
    anna = await house.check_in("anna", 1, Limits(hours=parse("4-12")))
    player = next(iter(house.live.roster.players.values()))
    assert player.available
    control.wishes(player.bot, False, Limits(hours=parse("14-20")))
    assert "none in common" in infos(anna)[-1]
    control.wishes(player.bot, False, Limits(hours=parse("0-8")))
    assert player.available
    assert str(player.limits.hours) == "4-8"
    assert anna.seat is not None
    anna.seat.limit(Limits())
    assert str(player.limits.hours) == "0-8"


async def test_who_is_at_the_daily_limit_is_told_so(house: House) -> None:
    house.store.begun = 3
    anna = await house.check_in("anna", 1, Limits(3))
    await house.check_in("bert")
    house.live.reminders.keep_alive()
    assert "begun 3 games within 24 hours" in infos(anna)[-1]


def view_of(house: House, control: LiveControl, name: str) -> VersionNow:
    (view,) = control.look(bot(house, name))
    return view


async def test_an_owner_sees_what_its_bot_does_and_why_it_is_not_paired(house: House, control: LiveControl) -> None:
    hour(house, 12)
    anna = await house.sign_in("anna")
    number = bot(house, "anna")
    now = house.time.wall_ms() / 1000
    assert view_of(house, control, "anna") == VersionNow(
        name="anna",
        venue="9x9",
        state="idle",
        since=now,
        began_at=house.time.wall_ms(),
        games=[],
        slots=1,
        why="It is the only bot here.",
        paired=True,
    )
    await house.sign_in("bert")
    assert "1 other bot is free" in view_of(house, control, "anna").why
    house.time.advance(5_000_000)
    await house.run_pass()
    (game,) = house.live.roster.games()
    alive = view_of(house, control, "anna")
    assert (alive.state, alive.games, alive.since, alive.paired) == ("playing", [game.id], now + 5, True)
    control.wishes(number, True, Limits())
    paused = view_of(house, control, "anna")
    assert (paused.state, paused.games, paused.paired) == ("paused", [game.id], False)
    assert f"Meanwhile game {game.id} goes on." in paused.why
    control.wishes(number, False, Limits(hours=parse("22-6")))
    closed = view_of(house, control, "anna")
    assert (closed.state, closed.paired) == ("out of hours", False)
    assert "22:00 UTC" in closed.why
    control.wishes(number, False, Limits())
    control.pause("9x9", True)
    assert view_of(house, control, "anna").state == "venue paused"
    control.pause("9x9", False)
    house.finish()
    assert view_of(house, control, "anna").paired
    control.drain_bot(number)
    assert not anna.alive
    assert [view.state for view in control.look(number)] in ([], ["draining"])
    assert control.look(999) == []


async def test_sent_home_it_ends_its_game_and_leaves_whatever_it_says(house: House, control: LiveControl) -> None:
    anna = await house.check_in("anna")
    bert = await house.check_in("bert")
    carl = await house.sign_in("carl")
    await house.run_pass()
    playing = [player for player in house.live.roster.players.values() if player.games]
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
    await house.run_pass()
    assert len(list(house.live.roster.games())) == 1


async def test_status_says_whose_connection_and_since_when(house: House, control: LiveControl) -> None:
    anna = await house.sign_in("anna")
    (status,) = control.status().bots
    assert (status.connection, status.since) == (anna.id, house.time.wall_ms() / 1000)
