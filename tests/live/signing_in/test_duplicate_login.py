"""A second sign-in under a name that is there already: who stays, who goes, who has to wait."""

from __future__ import annotations

import asyncio

import pytest
from support.live.house import House, S
from support.live.simulated import RecordingSession

from cgos_protocol.games.base import Color
from cgos_protocol.verdict import Reason
from cgos_server.live.games.live_game import LiveGame


@pytest.fixture
async def house() -> House:
    return await House().open()


async def again(house: House, name: str = "anna") -> RecordingSession:
    """Another connection signs in under that name."""
    return await house.sign_in(name, session=RecordingSession(50))


async def turns() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_connection_that_answers_stays_and_hears_of_it(house: House) -> None:
    anna = await house.sign_in("anna")
    second = await again(house)
    assert (second.code, second.retry_after_s) == ("already-here", 5.0)
    assert anna.last() == ("info", "Another sign-in with your name is being attempted.")
    assert anna.alive


async def test_a_dead_connection_gives_way_at_once(house: House) -> None:
    anna = await house.sign_in("anna")
    anna.responsive = False
    second = await again(house)
    assert second.seat is not None
    assert anna.code == "replaced"
    assert house.live.roster.connected == 1
    assert anna.seat is not None
    anna.seat.left(orderly=False)
    assert house.live.roster.players[1].session is second


async def test_a_game_goes_over_to_the_new_connection_and_the_old_one_plays_no_more(house: House) -> None:
    sessions = {name: await house.sign_in(name) for name in ("anna", "bert")}
    await house.run_pass()
    (game,) = house.live.roster.games()
    black = game.sides[Color.BLACK].name
    old = sessions[black]
    old.responsive = False
    new = await again(house, black)
    assert new.words()[:3] == ["accepted", "setup", "genmove"]
    assert old.seat is not None
    old.seat.move("E5", None, house.time.received())
    assert game.ply == 0
    assert new.seat is not None
    new.seat.move("D5", None, house.time.received())
    assert game.ply == 1


async def test_repeated_attempts_wait_longer_and_longer_and_disturb_nobody(house: House) -> None:
    anna = await house.sign_in("anna")
    waits = []
    for _ in range(9):
        second = await again(house)
        assert second.retry_after_s is not None
        waits.append(second.retry_after_s)
        heard = len(anna.entries)
        assert (await again(house)).code == "already-here"
        assert len(anna.entries) == heard
        house.time.advance(int(second.retry_after_s) * S)
    assert waits == [5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 320.0, 320.0]


async def test_the_wait_is_forgotten_after_a_quiet_time_and_after_a_success(house: House) -> None:
    anna = await house.sign_in("anna")
    await again(house)
    house.time.advance(400 * S)
    assert (await again(house)).retry_after_s == 5.0
    house.time.advance(6 * S)
    anna.responsive = False
    second = await again(house)
    assert second.seat is not None
    third = await again(house)
    assert third.retry_after_s == 5.0


async def test_who_owes_ready_for_a_minute_past_its_deadline_gives_way(house: House) -> None:
    sessions = {name: await house.sign_in(name) for name in ("anna", "bert")}
    await house.run_pass()
    (game,) = house.live.roster.games()
    game.move(game.referee.to_play, "resign", None, house.time.received())
    house.time.advance(120 * S)
    refused = await again(house)
    assert refused.seat is None
    house.time.advance(6 * S)
    assert (await again(house)).seat is not None
    assert sessions["anna"].code == "replaced"


async def test_who_let_its_flag_fall_a_minute_ago_and_said_nothing_since_gives_way(house: House) -> None:
    sessions = {name: await house.check_in(name, 2) for name in ("anna", "bert")}
    await house.run_pass()
    (game,) = house.live.roster.games()
    for color in Color:
        sessions[game.sides[color].name].heard_at = house.time.now()
        game.move(color, "D5" if color else "E5", None, house.time.received())
    loser = game.sides[Color.BLACK].name
    house.time.advance(70 * S)
    assert game.referee.verdict is not None
    assert (await again(house, loser)).seat is None
    house.time.advance(61 * S)
    second = await again(house, loser)
    assert second.seat is not None
    assert sessions[loser].code == "replaced"


async def test_who_never_made_its_first_move_gives_way_like_one_whose_flag_fell(house: House) -> None:
    for name in ("anna", "bert"):
        await house.check_in(name, 2)
    await house.run_pass()
    (game,) = house.live.roster.games()
    house.time.advance(61 * S)
    assert game.referee.verdict is not None
    assert game.referee.verdict.reason is Reason.ABORT
    absent, waiting = (game.sides[color].name for color in Color)
    house.time.advance(61 * S)
    assert (await again(house, absent)).seat is not None
    assert (await again(house, waiting)).code == "already-here"


@pytest.mark.parametrize("itself", [True, False])
async def test_only_what_the_bot_itself_says_after_its_flag_counts(house: House, itself: bool) -> None:
    """A library may answer pings for a bot that hangs."""
    sessions = {name: await house.check_in(name, 2) for name in ("anna", "bert")}
    await house.run_pass()
    (game,) = house.live.roster.games()
    for color in Color:
        game.move(color, "D5" if color else "E5", None, house.time.received())
    loser = game.sides[Color.BLACK].name
    house.time.advance(70 * S)
    sessions[loser].heard_at = house.time.now()
    if itself:
        seat = sessions[loser].seat
        assert seat is not None
        seat.seen(game.id)
    house.time.advance(70 * S)
    assert ((await again(house, loser)).code == "already-here") is itself


@pytest.mark.parametrize(("silent_s", "replaced"), [(50, False), (61, True)])
async def test_a_silent_connection_behind_a_proxy_gives_way(house: House, silent_s: int, replaced: bool) -> None:
    anna = await house.sign_in("anna")
    anna.proxied = True
    anna.heard_at = house.time.now()
    house.time.advance(silent_s * S)
    assert ((await again(house)).seat is not None) is replaced


async def test_a_venue_of_its_own_is_no_second_sign_in(house: House) -> None:
    other = await House(beside=house).open()
    anna = await house.sign_in("anna")
    there = await other.sign_in("anna")
    assert anna.alive
    assert there.seat is not None


async def to_move(house: House) -> tuple[LiveGame, str, RecordingSession]:
    """A game after its first two moves; the name of the bot to move, and its connection."""
    sessions = {name: await house.sign_in(name) for name in ("anna", "bert")}
    await house.run_pass()
    (game,) = house.live.roster.games()
    for color in Color:
        game.move(color, "D5" if color else "E5", None, house.time.received())
    name = game.sides[Color.BLACK].name
    return game, name, sessions[name]


async def test_the_seconds_in_which_an_old_connection_is_looked_at_are_charged_to_nobody(house: House) -> None:
    game, name, old = await to_move(house)
    gate = asyncio.Event()

    async def silent(_: str) -> bool:
        await gate.wait()
        return False

    old.answers = silent  # type: ignore[method-assign]
    house.time.advance(59 * S)
    arriving = asyncio.create_task(again(house, name))
    await turns()
    house.time.advance(5 * S)
    assert game.referee.verdict is None
    gate.set()
    new = await arriving
    assert new.last() == ("genmove", Color.BLACK, 1_000)


async def test_the_check_of_a_password_lets_no_flag_fall_and_a_wrong_one_saves_nobody(house: House) -> None:
    game, name, old = await to_move(house)
    assert old.seat is not None
    old.seat.left(orderly=False)
    house.accounts.gate.clear()
    house.time.advance(59 * S)
    arriving = asyncio.create_task(house.sign_in(name, "wrong", RecordingSession(50)))
    await turns()
    house.time.advance(10 * S)
    assert game.referee.verdict is None
    house.accounts.gate.set()
    await arriving
    house.time.advance(S)
    assert game.referee.verdict is not None
