"""Ended games that a bot hears of from the store: what its client asks for, and ends that it missed."""

from __future__ import annotations

import asyncio

import pytest
from support.live.house import House
from support.live.past import stored
from support.live.simulated import RecordingSession

from cgos_protocol.event_news import Occasion
from cgos_protocol.games.base import Color
from cgos_protocol.session import Known, Seat
from cgos_server.live.games.recovery import restore
from cgos_server.storage.reading.stored import StoredGame
from cgos_server.storage.writing import records as rows


@pytest.fixture
async def house() -> House:
    return await House().open()


def seat(session: RecordingSession) -> Seat:
    assert session.seat is not None
    return session.seat


async def test_what_a_client_asks_for_is_told_from_the_store(house: House) -> None:
    house.store.stored = {
        41: stored(house, 41),
        42: stored(house, 42, black_id=8, white_id=9),
        43: stored(house, 43, venue_id=7),
    }
    known = tuple(Known(game, 1) for game in (41, 42, 43, 44))
    anna = await house.check_in("anna", 1, None, known)
    setup = next(entry for entry in anna.entries if entry[0] == "setup")
    assert (setup[1], setup[2]) == (41, Color.BLACK)
    assert setup[3].moves == (("E5", 59_000), ("D5", 58_000))
    assert setup[3].left_ms == (59_000, 58_000)
    assert setup[3].why == "They stood side by side."
    over = next(entry for entry in anna.entries if entry[0] == "gameover")[2]
    assert (over.result, over.winner, over.reason, over.plies) == ("B+Resign", Color.BLACK, "resignation", 2)
    assert ("unknown", 42, 43, 44) in anna.entries


async def test_all_missed_ends_are_told_to_a_bot_of_several_slots(house: House) -> None:
    house.store.untold = [stored(house, 41, black_told=0), stored(house, 43, black_told=1)]
    anna = await house.check_in("anna", 2)
    assert [entry[1] for entry in anna.entries if entry[0] == "gameover"] == [41, 43]
    assert house.live.roster.player(1).available
    assert [(row.id, row.progress) for row in house.store.of(rows.BlackTold)] == [(41, 1), (43, 2)]


async def test_the_event_of_a_game_is_told_after_its_end_and_after_a_restart(house: House) -> None:
    held = {"event": "spring", "event_round": 2}
    house.store.untold = [stored(house, 41, black_told=0, **held)]
    house.live.roster.names.update({1: "anna", 2: "bert"})
    running = stored(house, 42, result=None, reason=None, winner=None, ended_at=None, plies=None, **held)
    restore([running], {house.venue.id: house.live})
    anna = await house.check_in("anna", 2)
    setups = {entry[1]: entry[3] for entry in anna.entries if entry[0] == "setup"}
    assert {number: setup.occasion for number, setup in setups.items()} == dict.fromkeys(
        (41, 42), Occasion("spring", 2)
    )


async def test_many_wishes_to_hear_old_games_are_one_question_at_a_time(house: House) -> None:
    running = most = 0

    async def slow(number: int) -> StoredGame | None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return stored(house, number) if number == 41 else None

    anna = await house.check_in("anna", 1)
    house.store.games_stored = slow  # type: ignore[method-assign]
    for number in range(41, 61):
        seat(anna).sync([Known(number, 0), Known(number + 1, 0)])
    await house.settle()
    assert most == 1
    assert anna.words().count("gameover") == 1
    assert {number for entry in anna.entries if entry[0] == "unknown" for number in entry[1:]} == set(range(42, 62))


async def test_a_stored_game_that_cannot_be_read_keeps_nobody_from_the_others(house: House) -> None:
    broken = stored(house, 41, terms="{}", black_told=0)
    house.store.untold = [broken, stored(house, 42, black_told=0)]
    house.store.stored = {43: broken._replace(id=43), 44: stored(house, 44), 45: stored(house, 45)}
    anna = await house.check_in("anna", 1, None, (Known(43, 0), Known(44, 0)))
    seat(anna).sync([Known(45, 0)])
    await house.settle()
    assert [entry[1] for entry in anna.entries if entry[0] == "gameover"] == [42, 44, 45]
    assert [row.id for row in house.store.of(rows.BlackTold)] == [42]
