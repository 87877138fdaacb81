"""A venue in simulated time: sign-in, pairing, what bots owe, who is told what after an absence."""

from __future__ import annotations

import asyncio
import json
import random
from itertools import pairwise
from typing import Any

import pytest
from structlog.testing import capture_logs
from support.live.house import House, S
from support.live.simulated import RecordingSession

from cgos_protocol.clock import ClockState
from cgos_protocol.errors import OurFault
from cgos_protocol.games.base import Color
from cgos_protocol.session import Credentials
from cgos_protocol.terms import encode_terms
from cgos_server.core.pairing.explain import replay
from cgos_server.core.venue import Policy, terms_of
from cgos_server.live.games.recovery import restore
from cgos_server.live.pairing.game_starter import SLICE, GameStarter, Prepared
from cgos_server.service.holds import Hold
from cgos_server.storage.reading.stored import StoredGame, StoredMove
from cgos_server.storage.writing import records as rows


@pytest.fixture
async def house() -> House:
    return await House().open()


async def test_a_lone_bot_is_told_why_it_waits(house: House) -> None:
    (anna,) = await house.arrive("anna")
    assert anna.words() == ["accepted", "info"]
    assert "only bot" in anna.last()[1]
    await house.run_pass()
    assert anna.words() == ["accepted", "info"]


async def test_two_bots_are_paired_and_the_round_is_recorded(house: House) -> None:
    anna, bert = await house.arrive("anna", "bert")
    house.time.advance(2 * S)
    await house.run_pass()
    assert "setup" in anna.words()
    assert "setup" in bert.words()
    (round_,) = house.store.of(rows.RoundAdded)
    (pairing,) = house.store.of(rows.PairingAdded)
    (game,) = house.store.of(rows.GameAdded)
    assert (round_.number, round_.method, round_.policy) == (1, "information", "rolling")
    assert pairing.game_id == game.id
    assert "anna" in pairing.reason
    assert json.loads(pairing.detail)["as_black"] == [0, 0]
    assert game.terms == encode_terms(terms_of(house.venue))


async def test_a_stored_round_replays_to_the_same_pairs(house: House) -> None:
    await house.arrive("alfa", "bravo", "charlie", "delta", "echo", "foxtrot", "golf")
    for _ in range(6):
        house.time.advance(20 * S)
        await house.run_pass()
        house.finish()
    rounds = house.store.of(rows.RoundAdded)
    pairings = house.store.of(rows.PairingAdded)
    assert len(rounds) == 6
    for round_ in rounds:
        again = replay(round_.method, json.loads(round_.options), int(round_.seed), round_.inputs, random.Random)
        stored = [(p.high_id, p.low_id) for p in pairings if p.round_id == round_.id]
        assert [(pair.high, pair.low) for pair in again.pairs] == stored


async def test_who_just_met_waits_for_a_third_and_no_longer(house: House) -> None:
    await house.arrive("anna", "bert", "carl", "dora")
    await house.run_pass()
    first = house.opponents()
    pair = next(iter(first))
    for game in list(house.live.roster.games()):
        if {side.name for side in game.sides} == pair:
            game.move(Color.BLACK, "resign", None, house.time.received())
    for player in list(house.live.roster.players.values()):
        house.live.lobby.ready(player)
    house.time.advance(5 * S)
    await house.run_pass()
    assert pair not in house.opponents()
    house.time.advance(6 * S)
    await house.run_pass()
    assert pair in house.opponents()


async def test_a_newcomer_plays_while_a_rematch_waits(house: House) -> None:
    """The bye of an odd number counts although the remaining pair is held, so the next pass lets the newcomer play."""
    await house.arrive("anna", "bert")
    await house.run_pass()
    house.finish()
    house.time.advance(S)
    await house.arrive("carl")
    await house.run_pass()
    house.time.advance(2 * S)
    await house.run_pass()
    assert any("carl" in pair for pair in house.opponents())


async def test_two_alone_meet_again_at_once(house: House) -> None:
    await house.arrive("anna", "bert")
    await house.run_pass()
    house.finish()
    await house.run_pass()
    assert house.opponents() == {frozenset({"anna", "bert"})}


async def test_barrier_waits_for_the_slowest_game() -> None:
    house = await House(policy=Policy.BARRIER).open()
    await house.arrive("anna", "bert", "carl", "dora")
    await house.run_pass()
    quick = next(iter(house.live.roster.games()))
    quick.move(Color.BLACK, "resign", None, house.time.received())
    for player in list(house.live.roster.players.values()):
        house.live.lobby.ready(player)
    house.time.advance(100 * S - 50 * S)
    await house.run_pass()
    assert len(house.opponents()) == 1
    house.finish()
    await house.run_pass()
    assert len(house.opponents()) == 2


async def test_nobody_sits_out_twice_running(house: House) -> None:
    names = ["anna", "bert", "carl", "dora", "emil"]
    await house.arrive(*names)
    out: list[str] = []
    for _ in range(10):
        house.time.advance(20 * S)
        await house.run_pass()
        playing = {name for pair in house.opponents() for name in pair}
        out.append(next(name for name in names if name not in playing))
        house.finish()
    assert all(a != b for a, b in pairwise(out))
    assert len(set(out)) > 1


async def test_colors_alternate_within_a_pair(house: House) -> None:
    await house.arrive("anna", "bert")
    for _ in range(6):
        await house.run_pass()
        house.finish()
    blacks = [game.black_id for game in house.store.of(rows.GameAdded)]
    assert all({first, second} == {1, 2} for first, second in zip(blacks[0::2], blacks[1::2], strict=True))


async def test_a_second_sign_in_is_refused_while_the_first_lives(house: House) -> None:
    (anna,) = await house.arrive("anna")
    second = await house.sign_in("anna")
    assert second.words() == ["refused"]
    assert anna.last()[0] == "info"
    assert anna.alive


async def test_two_sign_ins_at_once_never_both_come_in(house: House) -> None:
    house.store.holding = False
    house.accounts.gate.clear()
    sessions = [RecordingSession(1), RecordingSession(2)]
    for session in sessions:
        house.live.arrivals.sign_in(session, Credentials("anna", "secret", None, "test", False, "127.0.0.1"))
    house.accounts.gate.set()
    await asyncio.gather(*house.tasks)
    assert sorted(session.words()[0] for session in sessions) == ["accepted", "refused"]


async def test_a_refusal_reaches_the_bot(house: House) -> None:
    session = await house.sign_in("anna", "wrong")
    assert session.entries == [("refused", "Sorry, password doesn't match.")]


async def test_a_session_that_died_during_the_check_leaves_nothing_behind(house: House) -> None:
    house.accounts.gate.clear()
    session = RecordingSession(1)
    house.live.arrivals.sign_in(session, Credentials("anna", "secret", None, "test", False, "127.0.0.1"))
    session.alive = False
    house.accounts.gate.set()
    await asyncio.gather(*house.tasks)
    assert house.live.roster.players == {}
    assert house.live.roster.connected == 0


async def test_ready_is_owed_and_the_bot_is_told_once(house: House) -> None:
    anna, bert = await house.arrive("anna", "bert")
    await house.run_pass()
    game = next(iter(house.live.roster.games()))
    game.move(Color.BLACK, "resign", None, house.time.received())
    house.live.reminders.remind()
    before = len(anna.entries)
    house.time.advance(61 * S)
    house.live.reminders.remind()
    house.live.reminders.remind()
    assert [entry[0] for entry in anna.entries[before:]] == ["info"]
    assert "ready" in anna.last()[1]
    await house.run_pass()
    assert house.opponents() == set()
    for session in (anna, bert):
        assert session.seat is not None
        session.seat.ready()
    await house.run_pass()
    assert len(house.opponents()) == 1


async def test_acknowledged_endings_are_settled(house: House) -> None:
    await house.arrive("anna", "bert")
    await house.run_pass()
    game = next(iter(house.live.roster.games()))
    game.move(Color.BLACK, "resign", None, house.time.received())
    (ended,) = house.store.of(rows.GameEnded)
    assert (ended.black_told, ended.white_told) == (1, 1)
    seats = {side.name: house.sessions[side.name].seat for side in game.sides}
    black, white = (seats[side.name] for side in game.sides)
    assert black is not None
    assert white is not None
    black.ready()
    white.left(orderly=False)
    assert [record.progress for record in house.store.of(rows.BlackTold)] == [2]
    assert house.store.of(rows.WhiteTold) == []


async def test_the_end_of_a_missed_game_is_told_at_the_next_sign_in(house: House) -> None:
    (anna,) = await house.arrive("anna")
    assert anna.seat is not None
    anna.seat.left(orderly=False)
    house.store.untold = [StoredGame(
        5, 1, 1, 2, "anna", "bert", "1800?", "1800?", encode_terms(terms_of(house.venue)), "", 0,
        (StoredMove("E5", ClockState(59 * S)),), "W+Time", "", house.time.wall_ms(), 0, 2,
    )]  # fmt: skip
    again = await house.sign_in("anna")
    assert again.words() == ["accepted", "setup", "gameover"]
    assert again.entries[1][1].moves == (("E5", 59_000),)
    assert again.last() == ("gameover", "W+Time", "")
    assert [record.progress for record in house.store.of(rows.BlackTold)] == [1]
    assert again.seat is not None
    again.seat.ready()
    assert [record.progress for record in house.store.of(rows.BlackTold)] == [1, 2]
    assert house.live.roster.players[1].state == "idle"


async def test_who_leaves_between_pairing_and_commit_still_has_a_game(house: House) -> None:
    anna, bert = await house.arrive("anna", "bert")
    house.store.holding = True
    await house.live.matchmaker.run_pass()
    assert anna.seat is not None
    anna.seat.left(orderly=False)
    house.store.release()
    house.time.advance(0)
    assert "setup" in bert.words()
    (game,) = house.live.roster.games()
    again = await house.sign_in("anna")
    assert again.words()[:2] == ["accepted", "setup"]
    assert game.present(Color.BLACK)
    assert game.present(Color.WHITE)


async def test_a_paired_bot_that_reconnects_before_the_commit_is_not_paired_twice(house: House) -> None:
    anna, _ = await house.arrive("anna", "bert")
    house.store.holding = True
    await house.live.matchmaker.run_pass()
    assert anna.seat is not None
    anna.seat.left(orderly=False)
    house.store.holding = False
    held, house.store.held = house.store.held, []
    again = await house.sign_in("anna")
    await house.run_pass()
    house.store.held = held
    house.store.release()
    house.time.advance(0)
    assert len(house.store.of(rows.GameAdded)) == 1
    assert "setup" in again.words()


def ended_game(house: House, **fields: int) -> StoredGame:
    return StoredGame(
        5, 1, 1, 2, "anna", "bert", "1800?", "1800?", encode_terms(terms_of(house.venue)), "", 0,
        (StoredMove("E5", ClockState(59 * S)),), "W+Time", "", house.time.wall_ms(), **fields,
    )  # fmt: skip


async def test_a_game_that_ends_during_a_sign_in_is_told_by_it(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    anna, _ = await house.arrive("anna", "bert")
    await house.run_pass()
    (game,) = house.live.roster.games()
    assert anna.seat is not None
    anna.seat.left(orderly=False)
    commit = house.store.commit

    async def meanwhile(records: Any) -> None:
        await commit(records)
        game.move(game.referee.to_play, "resign", None, house.time.received())
        assert not list(house.live.roster.games())
        house.store.untold = [ended_game(house, black_told=0)]

    monkeypatch.setattr(house.store, "commit", meanwhile)
    again = await house.sign_in("anna")
    assert again.words() == ["accepted", "setup", "gameover"]
    assert house.live.roster.players[1].state == "owes ready"


async def test_a_fault_of_ours_during_a_sign_in_is_answered(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the bot would wait for ever: its deadline for signing in is over."""

    async def broken(*_: Any) -> None:
        raise OurFault("a stored game cannot be read")

    monkeypatch.setattr(house.store, "games_untold", broken)
    session = RecordingSession(1)
    house.live.arrivals.sign_in(session, Credentials("anna", "secret", None, "test", False, "127.0.0.1"))
    (outcome,) = await asyncio.gather(*house.tasks, return_exceptions=True)
    assert isinstance(outcome, OurFault)
    assert session.words() == ["refused"]
    assert house.live.roster.players == {}


async def test_everybody_who_waits_gets_a_word(house: House) -> None:
    sessions = await house.arrive(*(f"bot{number}" for number in range(20)))
    house.live.reminders.keep_alive()
    assert all(session.last()[0] == "info" for session in sessions)


async def slow_pairing(house: House) -> asyncio.Task[None]:
    """A pairing pass that is decided once the gate is opened."""
    house.deciding.gate.clear()
    pairing_pass = asyncio.create_task(house.live.matchmaker.run_pass())
    await asyncio.sleep(0)
    return pairing_pass


async def test_who_comes_and_goes_while_a_pairing_pass_is_decided_harms_nothing(house: House) -> None:
    names = [f"bot{number}" for number in range(6)]
    sessions = await house.arrive(*names)
    pairing_pass = await slow_pairing(house)
    for session in sessions[:2]:
        assert session.seat is not None
        session.seat.left(orderly=False)
    again = await house.sign_in("bot1")
    newcomer = await house.sign_in("late")
    house.deciding.gate.set()
    await pairing_pass
    assert house.live.roster.states()["playing"] in (4, 5)
    assert house.live.roster.states()["paired"] == 0
    assert "setup" not in newcomer.words()
    playing = {name for pair in house.opponents() for name in pair}
    assert "bot0" not in playing
    assert ("setup" in again.words()) == ("bot1" in playing)
    assert {player.name for player in house.live.roster.players.values()} == {*names[1:], "late"}


async def test_no_game_begins_once_the_server_goes_down(house: House) -> None:
    await house.arrive("anna", "bert")
    pairing_pass = await slow_pairing(house)
    house.live.matchmaker.holds.add(Hold.STOPPING)
    house.deciding.gate.set()
    await pairing_pass
    assert house.store.of(rows.GameAdded) == []
    assert house.live.roster.states()["idle"] == 2


async def test_no_game_begins_where_the_server_goes_down_in_the_middle_of_a_large_round(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    await house.arrive(*(f"bot{number}" for number in range(2 * SLICE)))
    matchmaker = house.live.matchmaker

    def goes_down() -> None:
        matchmaker.holds.add(Hold.STOPPING)

    pair = GameStarter.pair

    def prepared(*args: Any, **settings: Any) -> Prepared:
        asyncio.get_running_loop().call_soon(goes_down)  # has its turn between two slices
        return pair(*args, **settings)

    monkeypatch.setattr(GameStarter, "pair", prepared)
    await matchmaker.run_pass()
    assert matchmaker.holds == {Hold.STOPPING}
    assert house.store.of(rows.GameAdded) == []
    assert house.live.roster.states()["idle"] == 2 * SLICE


async def test_a_fault_in_pairing_leaves_everybody_free(house: House) -> None:
    await house.arrive("anna", "bert")
    house.deciding.fault = OurFault("no pairs today")
    with pytest.raises(OurFault, match="no pairs"):
        await house.live.matchmaker.run_pass()
    assert house.live.roster.states()["idle"] == 2
    house.deciding.fault = None
    await house.run_pass()
    assert house.live.roster.states()["playing"] == 2


@pytest.mark.parametrize("policy", list(Policy))
async def test_whose_partner_left_while_a_pairing_pass_was_decided_is_paired_anew(policy: Policy) -> None:
    house = await House(policy=policy).open()
    sessions = await house.arrive(*(f"bot{number}" for number in range(8)))
    preview = await house.live.matchmaker.preview(None, {})
    house.live.matchmaker._new_seed = lambda: preview.seed
    first, second = (pair.high for pair in preview.decided.pairing.pairs[:2])
    pairing_pass = await slow_pairing(house)
    for session in sessions:
        assert session.seat is not None
        if house.accounts.versions[session.name] in (first, second):
            session.seat.left(orderly=False)
    house.deciding.gate.set()
    await pairing_pass
    assert len(house.opponents()) == 3
    kept, repaired = house.store.of(rows.RoundAdded)
    of = [
        [row for row in house.store.of(rows.PairingAdded) if row.round_id == round_.id] for round_ in (kept, repaired)
    ]
    assert [len(rows_of_round) for rows_of_round in of] == [2, 1]
    assert repaired.number == kept.number + 1


async def test_a_fault_in_one_pairing_pass_does_not_end_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    house = await House(interval=0).open()
    pairing_passes = iter([ValueError("no pairs today"), asyncio.CancelledError()])

    async def pairing_pass() -> None:
        raise next(pairing_passes)

    monkeypatch.setattr(house.live.matchmaker, "run_pass", pairing_pass)
    with capture_logs() as logs, pytest.raises(asyncio.CancelledError):
        await house.live.matchmaker.run()
    assert [event["log_level"] for event in logs] == ["error"]


async def test_a_game_that_goes_on_after_a_restart_counts_for_the_colors(house: House) -> None:
    house.accounts.versions.update(anna=1, bert=2)
    stored = ended_game(house)._replace(id=1, result=None, ended_at=None)
    house.live.roster.names.update({1: "anna", 2: "bert"})
    assert restore([stored], {1: house.live}) == (1, 0)
    await house.arrive("anna", "bert")
    house.finish()
    await house.run_pass()
    (game,) = house.store.of(rows.GameAdded)
    assert (game.black_id, game.white_id) == (2, 1)
    (pairing,) = house.store.of(rows.PairingAdded)
    assert sorted(json.loads(pairing.detail)["as_black"]) == [0, 1]


async def test_one_game_that_cannot_be_read_back_is_void_and_keeps_nobody_out(house: House) -> None:
    house.live.roster.names.update({1: "anna", 2: "bert"})
    good = ended_game(house)._replace(id=4, result=None, ended_at=None)
    broken = good._replace(id=5, moves=(StoredMove("E5", ClockState(S)), StoredMove("E5", ClockState(S))))
    nonsense = good._replace(id=6, terms="{}")
    assert restore([broken, nonsense, good], {1: house.live}) == (1, 0)
    assert [(end.id, end.reason) for end in house.store.of(rows.GameEnded)] == [(5, "void"), (6, "void")]
    assert [game.id for game in house.live.roster.games()] == [4]
