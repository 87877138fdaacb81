"""What may come between while bots are paired: leavers, operators, faults, a slow disk; what is counted afterwards."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from functools import partial
from itertools import combinations
from typing import Any

import pytest
from structlog.testing import capture_logs
from support.live.house import House, S

from cgos_protocol.errors import OurFault
from cgos_protocol.games.base import Color
from cgos_protocol.openings import Opening, OpeningSet
from cgos_protocol.session import Availability, Limits
from cgos_protocol.terms import encode_terms
from cgos_server.core.venue import Policy, terms_of
from cgos_server.live.games.recovery import restore
from cgos_server.live.pairing.game_starter import SLICE
from cgos_server.live.processes.children import Child
from cgos_server.service.holds import Hold
from cgos_server.storage.reading.stored import Half, StoredGame
from cgos_server.storage.writing import records as rows

BOOK = OpeningSet((Opening("odd", ("E5", "C3", "G7")),))


async def owing(pairs: int = 1, **changes: Any) -> House:
    """A venue in which the versions 1 and 2, 3 and 4 ... owe each other the second game of an opening."""
    changes = {"method": "random", "options": {"avoid_last": False}, "openings": BOOK, "openings_share": 0.0, **changes}
    house = House(policy=Policy.BARRIER, **changes)

    async def halves(venue_id: int) -> list[Any]:
        at = house.time.wall_ms() - 1000
        return [Half(2 * pair + 1, 2 * pair + 2, "odd", 1, at + pair) for pair in range(pairs)]

    house.store.pairings_halves = halves  # type: ignore[method-assign]
    return await house.open()


def openings(house: House) -> Counter[str]:
    return Counter(game.opening for game in house.live.roster.games())


# -- what comes between


async def test_who_is_given_a_game_while_second_games_are_looked_at_keeps_its_slot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = await owing()
    await house.arrive("anna", "bert", "carl", "dora")
    pairer, gate = house.live.matchmaker, asyncio.Event()
    listed = pairer._play_second_games

    async def slowly(*args: Any) -> None:
        await gate.wait()
        await listed(*args)

    monkeypatch.setattr(pairer, "_play_second_games", slowly)
    pairing_pass = asyncio.create_task(pairer.run_pass())
    await asyncio.sleep(0)
    carl, dora = (house.live.roster.players[version] for version in (3, 4))
    house.store.holding = True
    pairer.arrange(carl, dora, terms_of(house.venue), (), "The operator's wish.")
    gate.set()
    await pairing_pass
    house.store.release()
    house.time.advance(0)
    assert len(house.store.of(rows.GameAdded)) == 2
    assert [player.capacity.used for player in house.live.roster.players.values()] == [1, 1, 1, 1]
    house.finish()
    assert [player.available for player in house.live.roster.players.values()] == [True] * 4


async def test_a_fault_in_second_games_keeps_nobody_else_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    house = await owing()
    await house.arrive("anna", "bert", "carl", "dora")

    def broken(*_: Any) -> None:
        raise OurFault("this opening cannot be played")

    monkeypatch.setattr(house.live.matchmaker._starter, "second", broken)
    with capture_logs() as logs:
        await house.run_pass()
    assert house.opponents() == {frozenset({"carl", "dora"})}
    assert house.live.roster.states()["idle"] == 2
    assert [event["log_level"] for event in logs if "fault" in event["event"]] == ["error"]


async def test_second_games_leave_the_loop_its_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = 3 * SLICE
    house = await owing(pairs)
    await house.arrive(*(f"bot{number}" for number in range(2 * pairs)))
    second, turns, made = house.live.matchmaker._starter.second, 0, Counter[int]()

    def counted(*args: Any, **named: Any) -> Any:
        made[turns] += 1
        return second(*args, **named)

    async def tick() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    monkeypatch.setattr(house.live.matchmaker._starter, "second", counted)
    ticking = asyncio.create_task(tick())
    await house.live.matchmaker.run_pass()
    ticking.cancel()
    assert sum(made.values()) == pairs
    assert max(made.values()) <= SLICE


async def test_the_barrier_holds_while_games_are_being_committed() -> None:
    house = await House(policy=Policy.BARRIER).open()
    await house.arrive("anna", "bert")
    house.store.holding = True
    await house.live.matchmaker.run_pass()
    held, house.store.held = house.store.held, []
    house.store.holding = False
    await house.arrive("carl", "dora")
    await house.run_pass()
    assert house.store.of(rows.GameAdded) == []
    house.store.held = held
    house.store.release()
    house.time.advance(0)
    assert house.opponents() == {frozenset({"anna", "bert"})}


async def test_a_game_that_cannot_begin_keeps_no_other_from_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    house = await House(policy=Policy.BARRIER).open()
    await house.arrive("anna", "bert", "carl", "dora")

    def broken(*_: Any) -> None:
        raise ValueError("no table")

    monkeypatch.setattr(house.sessions["anna"], "setup", broken)
    with capture_logs() as logs:
        await house.run_pass()
    assert [event["log_level"] for event in logs if "fault" in event["event"]] == ["error"]
    (pair,) = house.opponents()
    assert "anna" not in pair
    assert [end.reason for end in house.store.of(rows.GameEnded)] == ["void"]
    for player in list(house.live.roster.players.values()):
        house.live.lobby.ready(player)
    house.finish()
    assert all(player.available for player in house.live.roster.players.values())


# -- who may meet


@pytest.mark.parametrize("why", ["owner", "family", "avoid", "nothing"])
async def test_a_second_game_is_not_played_by_two_that_may_not_meet_any_more(why: str) -> None:
    forbidden = {"same_owner": "forbidden", "same_family": "forbidden"}
    house = await owing(options={"avoid_last": False, **forbidden})
    await house.arrive("anna", "bert")
    anna, bert = house.live.roster.players.values()
    if why == "owner":
        bert.bot = anna.bot
    elif why == "family":
        house.families.lead(bert.bot, anna.bot)
    elif why == "avoid":
        house.live.lobby.limit(bert, Limits(avoid=frozenset({"anna"})))
    await house.run_pass()
    assert openings(house)["odd"] == (why == "nothing")


async def test_a_preview_shows_the_second_games_that_a_pairing_pass_would_begin_with() -> None:
    house = await owing()
    await house.arrive("anna", "bert", "carl", "dora")
    preview = await house.live.matchmaker.preview(None, {})
    pairs = {frozenset(pair[:2]) for pair in (*preview.second, *preview.decided.pairing.pairs)}
    assert pairs == {frozenset({1, 2}), frozenset({3, 4})}
    assert [pair.reason for pair in preview.second] == ["Second game of opening odd, colors swapped."]
    assert house.opponents() == set()
    await house.run_pass()
    assert house.opponents() == {frozenset({"anna", "bert"}), frozenset({"carl", "dora"})}


# -- who counts


@pytest.mark.parametrize("how", ["suspended", "paused", "owing"])
async def test_two_do_not_wait_for_a_third_that_takes_no_game(how: str) -> None:
    house = await House().open()
    await house.arrive("anna", "bert")
    await house.run_pass()
    house.finish()
    await house.arrive("carl")
    carl = house.live.roster.players[3]
    if how == "suspended":
        carl.put(Hold.SUSPENDED)
    elif how == "paused":
        house.live.lobby.change(carl, Availability.PAUSED)
    else:
        carl.put(Hold.OWES_READY)
    await house.run_pass()
    assert house.opponents() == {frozenset({"anna", "bert"})}


async def test_who_plays_in_another_venue_does_not_wait_here_meanwhile() -> None:
    here = await House().open()
    there = await House(beside=here).open()
    for name in ("anna", "bert"):
        await here.check_in(name, 1, None, (), there)
    await there.run_pass()
    here.time.advance(30 * S)
    there.finish()
    here.time.advance(2 * S)
    players = list(here.live.roster.players.values())
    assert all(player.available for player in players)
    pairing_pass = await here.live.matchmaker._collector.pairing_pass(players, Policy.ROLLING)
    assert [candidate.waited for candidate in pairing_pass.candidates] == [2 * S, 2 * S]


async def test_who_has_left_is_forgotten_by_the_sit_outs() -> None:
    house = await House(policy=Policy.BARRIER).open()
    sessions = await house.arrive("anna", "bert", "carl")
    await house.run_pass()
    ((out, _),) = house.live.matchmaker._collector._sat_out.items()
    sessions[out - 1].seat.left(orderly=True)  # type: ignore[union-attr]
    house.finish()
    await house.run_pass()
    assert house.live.matchmaker._collector._sat_out == {}


async def test_an_arranged_game_ends_the_sit_outs() -> None:
    house = await House(policy=Policy.BARRIER).open()
    await house.arrive("anna", "bert", "carl")
    await house.run_pass()
    (out,) = house.live.matchmaker._collector._sat_out
    house.finish()
    players = house.live.roster.players
    other = next(version for version in players if version != out)
    house.live.matchmaker.arrange(players[out], players[other], terms_of(house.venue), (), "The operator's wish.")
    assert house.live.matchmaker._collector._sat_out == {}


async def test_a_game_that_goes_on_after_a_restart_is_remembered_once() -> None:
    house = House()

    async def recent(venue_id: int, last: int) -> dict[int, list[int]]:
        return {1: [2], 2: [1]}  # as the store counts them: every game that began

    house.store.pairings_recent_opponents = recent  # type: ignore[method-assign]
    await house.open()
    house.live.roster.names.update({1: "anna", 2: "bert"})
    stored = StoredGame(1, 1, 1, 2, "anna", "bert", "1800?", "1800?", encode_terms(terms_of(house.venue)), "", 0, ())
    assert restore([stored], {1: house.live}) == (1, 0)
    memory = house.live.matchmaker._collector.memory
    assert (memory.remembered(1), memory.meeting(1, 2)) == (1, (1, 2, 1, 1, 1, 0, 1, 1))
    assert memory.balance(1) == 1


async def test_a_game_without_result_gives_the_colors_back() -> None:
    house = await House().open()
    await house.arrive("anna", "bert")
    blacks = []
    for aborted in (True, False, False):
        await house.run_pass()
        (game,) = house.live.roster.games()
        blacks.append(game.sides[Color.BLACK].version)
        if aborted:
            game.abort("the operator's wish")
        house.finish()
    memory = house.live.matchmaker._collector.memory
    assert blacks[1] != blacks[2]
    assert [memory.balance(version) for version in (1, 2)] == [0, 0]
    assert (memory.as_black(1, 2), memory.as_black(2, 1)) == (1, 1)


async def test_a_pairing_pass_holds_whatever_either_remembers_of_the_other() -> None:
    house = await House().open()
    await house.arrive(*(f"bot{number}" for number in range(12)))
    collector, rng = house.live.matchmaker._collector, random.Random(2)
    collector.memory.keep(4)
    for _ in range(60):
        collector.memory.began(*rng.sample(range(1, 13), 2), {})
    players = [player for player in house.live.roster.players.values() if player.version != 5]
    pairing_pass = await collector.pairing_pass(players, Policy.ROLLING)
    there = [player.version for player in players]
    every = [collector.memory.meeting(a, b) for a, b in combinations(sorted(there), 2)]
    assert sorted(pairing_pass.meetings) == [met for met in every if met.recent_a or met.recent_b]
    assert any(not met.recent_a for met in pairing_pass.meetings)


# -- the child


async def test_who_gives_up_waiting_for_the_child_breaks_off_nobody_elses_work() -> None:
    child = Child("pairing")
    try:
        first = asyncio.create_task(child.do(partial(time.sleep, 0.3), 30.0))
        await asyncio.sleep(0)
        second = asyncio.create_task(child.do(partial(int, "5"), 30.0))
        await asyncio.sleep(0.05)
        second.cancel()
        assert await first is None
        assert await child.do(partial(int, "7"), 30.0) == 7
    finally:
        child.close()


async def test_the_limit_of_a_task_begins_with_its_turn() -> None:
    child = Child("pairing")
    try:
        await child.do(partial(int, "1"), 30.0)
        first = asyncio.create_task(child.do(partial(time.sleep, 1.0), 30.0))
        await asyncio.sleep(0)
        assert await child.do(partial(int, "5"), 0.9) == 5
        assert await first is None
    finally:
        child.close()
