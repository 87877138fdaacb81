"""Bots with several slots, venues and wishes in simulated time: how many games, which, and how a client resumes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from support.live.house import House, S
from support.live.past import stored
from support.live.simulated import RecordingSession

from cgos_protocol.clock import ClockState
from cgos_protocol.games.base import Color
from cgos_protocol.session import Availability, Fault, Known, Limits, Seat
from cgos_server.core.rating.base import Z95
from cgos_server.core.venue import terms_of
from cgos_server.live.games.live_game import LiveGame
from cgos_server.service.holds import Hold
from cgos_server.storage.reading.stored import StoredGame, StoredMove
from cgos_server.storage.writing import records as rows


@pytest.fixture
async def house() -> House:
    return await House().open()


def games_of(house: House, name: str) -> list[LiveGame]:
    return [game for game in house.live.roster.games() if name in {side.name for side in game.sides}]


def seat(session: RecordingSession) -> Seat:
    assert session.seat is not None
    return session.seat


def resign(house: House, game: LiveGame) -> None:
    game.move(game.referee.to_play, "resign", None, house.time.received())


async def test_a_version_is_one_candidate_a_pairing_pass_and_plays_as_many_games_as_it_has_slots(house: House) -> None:
    await house.check_in("wide", 4)
    await house.check_in("broad", 3)
    for expected in (1, 2, 3, 3):
        house.time.advance(20 * S)
        await house.run_pass()
        assert len(games_of(house, "wide")) == expected
    resign(house, games_of(house, "wide")[0])
    house.time.advance(20 * S)
    await house.run_pass()
    assert len(games_of(house, "wide")) == 3


async def test_no_word_is_needed_between_games(house: House) -> None:
    wide = await house.check_in("wide", 1)
    await house.check_in("broad", 1)
    for _ in range(3):
        await house.run_pass()
        (game,) = house.live.roster.games()
        resign(house, game)
    assert wide.words().count("gameover") == 3
    assert house.store.of(rows.BlackTold) == []
    seat(wide).seen(wide.entries[-1][1])
    assert len(house.store.of(rows.BlackTold) + house.store.of(rows.WhiteTold)) == 1


async def test_slots_are_shared_by_all_venues_of_a_connection(house: House) -> None:
    other = await House(beside=house, rated=False).open()
    await house.check_in("wide", 1, None, (), other)
    for venue in (house, other):
        await venue.check_in("stay", 1)
    await house.run_pass()
    await other.run_pass()
    assert len(games_of(house, "wide")) + len(games_of(other, "wide")) == 1
    resign(house, games_of(house, "wide")[0])
    await other.run_pass()
    assert len(games_of(other, "wide")) == 1


async def test_a_sandbox_changes_no_rating(house: House) -> None:
    other = await House(beside=house, rated=False).open()
    for name in ("anna", "bert"):
        await other.check_in(name)
    entered = len(house.store.of(rows.LedgerAdded))
    await other.run_pass()
    resign(other, games_of(other, "anna")[0])
    (end,) = house.store.of(rows.GameEnded)
    assert end.reason == "resignation"
    assert len(house.store.of(rows.LedgerAdded)) == entered
    over = other.sessions["anna"].entries[-1][2]
    assert (over.reason, over.rating) == ("resignation", None)


async def test_the_end_says_what_the_game_did_to_the_rating(house: House) -> None:
    anna, _ = await house.check_in("anna"), await house.check_in("bert")
    await house.run_pass()
    (game,) = house.live.roster.games()
    resign(house, game)
    before, after, plus_minus, lower, upper = anna.entries[-1][2].rating
    assert before == 1800
    assert (after > before) == (game.sides[Color.WHITE].name == "anna")
    (side,) = (side for side in game.sides if side.name == "anna")
    rating = house.live.ratings.rating(side.version)
    assert (lower, upper) == (rating.lower, rating.upper)
    assert plus_minus == (upper - lower) / 2 == pytest.approx(Z95 * rating.spread)


async def test_pause_keeps_running_games_and_takes_no_new_one(house: House) -> None:
    wide = await house.check_in("wide", 4)
    await house.check_in("broad", 4)
    await house.run_pass()
    seat(wide).available(Availability.PAUSED)
    await house.run_pass()
    assert len(games_of(house, "wide")) == 1
    assert wide.alive
    seat(wide).available(Availability.READY)
    await house.run_pass()
    assert len(games_of(house, "wide")) == 2


async def test_who_drains_is_sent_home_after_its_last_game_in_any_venue(house: House) -> None:
    other = await House(beside=house).open()
    here = await house.check_in("wide", 2, None, (), other)
    there = other.sessions["wide"]
    for venue in (house, other):
        await venue.check_in("stay", 1)
        await venue.run_pass()
    for session in (here, there):
        seat(session).available(Availability.DRAINING)
    resign(house, games_of(house, "wide")[0])
    assert here.alive
    resign(other, games_of(other, "wide")[0])
    assert (there.alive, there.code) == (False, "drained")


async def test_who_drains_without_a_game_goes_at_once(house: House) -> None:
    wide = await house.check_in("wide", 2)
    seat(wide).available(Availability.DRAINING)
    assert wide.code == "drained"


async def test_no_more_games_a_day_than_the_owner_allows(house: House) -> None:
    house.store.begun = 2
    await house.check_in("wide", 1, Limits(games_a_day=3))
    await house.check_in("broad", 1)
    for _ in range(3):
        await house.run_pass()
        for game in list(house.live.roster.games()):
            resign(house, game)
    assert len(house.store.of(rows.GameAdded)) == 1
    house.store.begun = 0  # a day later
    house.time.advance(700 * S)
    house.live.reminders.remind()
    await house.settle()
    await house.run_pass()
    assert len(house.store.of(rows.GameAdded)) == 2


async def test_avoided_opponents_are_never_met(house: House) -> None:
    await house.check_in("wide", 1, Limits(avoid=frozenset({"broad"})))
    await house.check_in("broad", 1)
    await house.run_pass()
    assert list(house.live.roster.games()) == []
    await house.check_in("third", 1)
    for _ in range(5):
        house.time.advance(20 * S)
        await house.run_pass()
        for game in list(house.live.roster.games()):
            assert {side.name for side in game.sides} != {"wide", "broad"}
            resign(house, game)


@pytest.mark.parametrize(("same_owner", "meet"), [("forbidden", False), ("free", True)])
async def test_versions_of_one_bot_meet_only_where_the_venue_allows_it(
    same_owner: str, meet: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = await House(options={"same_owner": same_owner}).open()
    sign_in = house.accounts.sign_in

    async def one_family(credentials: Any) -> Any:
        return (await sign_in(credentials))._replace(bot_id=77)

    monkeypatch.setattr(house.accounts, "sign_in", one_family)
    await house.check_in("bot-1", 1)
    await house.check_in("bot-2", 1)
    await house.run_pass()
    assert len(list(house.live.roster.games())) == meet


async def test_a_numbered_move_is_taken_once(house: House) -> None:
    sessions = {name: await house.check_in(name, 2) for name in ("anna", "bert")}
    await house.run_pass()
    (game,) = house.live.roster.games()
    black, white = (seat(sessions[side.name]) for side in game.sides)
    now = house.time.received()
    assert black.play(99, 1, "E5", None, now) is Fault.NO_GAME
    assert white.play(game.id, 1, "E5", None, now) is Fault.NOT_YOUR_TURN
    assert black.play(game.id, 2, "E5", None, now) is Fault.GAP
    assert black.play(game.id, 1, "E5", None, now) is None
    assert black.play(game.id, 1, "e5", None, now) is None
    assert black.play(game.id, 1, "D5", None, now) is Fault.CONTRADICTION
    assert black.play(game.id, 0, "D5", None, now) is Fault.CONTRADICTION
    assert game.ply == 1
    house.store.holding = True
    assert white.play(game.id, 2, "D5", None, now) is None
    assert white.play(game.id, 2, "D5", None, now) is None
    house.store.release()
    assert (game.ply, game.referee.verdict) == (2, None)
    assert len(house.store.of(rows.MoveAdded)) == 2


async def test_a_new_connection_hears_its_running_games_and_the_old_seat_is_mute(house: House) -> None:
    first = await house.check_in("anna", 2)
    await house.check_in("bert", 2)
    await house.run_pass()
    old = seat(first)
    old.left(orderly=False)
    again = await house.check_in("anna", 2)
    (game,) = house.live.roster.games()
    assert "setup" in again.words()
    assert old.play(game.id, 1, "E5", None, house.time.received()) is Fault.NO_GAME
    old.left(orderly=False)
    old.available(Availability.DRAINING)
    assert again.alive
    assert house.live.roster.connected == 2


async def test_a_running_game_is_told_again_when_asked_for(house: House) -> None:
    anna = await house.check_in("anna", 1)
    await house.check_in("bert", 1)
    await house.run_pass()
    (game,) = house.live.roster.games()
    before = anna.words().count("setup")
    seat(anna).sync([Known(game.id, 0), Known(game.id, 0)])
    assert anna.words().count("setup") == before + 1
    to_move = anna.last()[0] == "genmove"
    assert to_move == (game.sides[Color.BLACK].name == "anna")


async def test_an_arranged_game_begins_with_its_own_clocks_after_old_moves(house: House) -> None:
    sessions = {name: await house.check_in(name, 1) for name in ("anna", "bert")}
    players = {player.name: player for player in house.live.roster.players.values()}
    terms = terms_of(house.venue)
    terms = replace(terms, rated=False, mains=(5 * S, 9 * S))
    moves = [StoredMove("E5", ClockState(5 * S)), StoredMove("D5", ClockState(9 * S))]
    number = house.live.matchmaker.arrange(players["bert"], players["anna"], terms, moves, "An operator wished it.")
    assert [player.reserved for player in players.values()] == [False, False]
    house.time.advance(0)
    game = house.live.roster.game(number)
    assert game is not None
    setup = sessions["bert"].entries[-2][3]
    assert (setup.black, setup.moves, setup.left_ms) == ("bert", (("E5", 5_000), ("D5", 9_000)), (5_000, 9_000))
    assert sessions["bert"].last() == ("genmove", number, Color.BLACK, 5_000)
    assert [(row.ply, row.move) for row in house.store.of(rows.MoveAdded)] == [(1, "E5"), (2, "D5")]
    game.forfeit(Color.BLACK, "by ruling")
    (end,) = house.store.of(rows.GameEnded)
    assert (end.result, end.reason, end.detail) == ("W+Forfeit", "forfeit", "by ruling")
    assert all(row.kind != "game" for row in house.store.of(rows.LedgerAdded))


# -- one game at a time


async def with_two_games(house: House) -> tuple[LiveGame, LiveGame]:
    """`wide` has two games with `broad`, and its connection is lost."""
    wide = await house.check_in("wide", 2)
    await house.check_in("broad", 2)
    for _ in range(2):
        house.time.advance(20 * S)
        await house.run_pass()
    seat(wide).left(orderly=False)
    first, second = house.live.roster.games()
    return first, second


async def test_a_line_client_gets_the_games_of_its_bot_one_after_the_other(house: House) -> None:
    first, second = await with_two_games(house)
    line = await house.sign_in("wide")
    assert [entry[1].game for entry in line.entries if entry[0] == "setup"] == [first.id]
    color = house.live.roster.players[1].color(first)
    if color is Color.WHITE:
        first.move(Color.BLACK, "E5", None, house.time.received())
    assert line.words().count("genmove") + line.words().count("played") == 1
    seat(line).move("D5", None, house.time.received())
    assert first.ply == 1 + (color is Color.WHITE)
    assert second.ply == 0
    first.abort("by ruling")
    assert line.last()[0] == "gameover"
    assert not second.present(house.live.roster.players[1].color(second))
    seat(line).ready()
    assert [entry[1].game for entry in line.entries if entry[0] == "setup"] == [first.id, second.id]
    assert house.live.roster.players[1].capacity.used == 1
    second.abort("by ruling")
    assert line.last()[0] == "gameover"
    assert not house.live.roster.players[1].available
    seat(line).ready()
    assert house.live.roster.players[1].available


async def test_ready_settles_no_end_that_a_line_client_was_not_told(house: House) -> None:
    first, second = await with_two_games(house)
    line = await house.sign_in("wide")
    second.abort("by ruling")
    assert "gameover" not in line.words()
    assert not house.live.roster.players[1].has(Hold.OWES_READY)
    first.abort("by ruling")
    seat(line).ready()
    settled = [
        row.id for row in (*house.store.of(rows.BlackTold), *house.store.of(rows.WhiteTold)) if row.progress == 2
    ]
    assert settled == [first.id]


async def test_a_game_that_begins_while_another_is_before_a_line_client_waits(house: House) -> None:
    wide = await house.check_in("wide", 2)
    await house.check_in("broad", 2)
    await house.run_pass()
    house.time.advance(20 * S)
    house.store.holding = True
    await house.live.matchmaker.run_pass()
    seat(wide).left(orderly=False)
    held, house.store.held, house.store.holding = house.store.held, [], False
    line = await house.sign_in("wide")
    house.store.held = held
    house.store.release()
    house.time.advance(0)
    assert len(list(house.live.roster.games())) == 2
    assert line.words().count("setup") == 1
    assert house.live.roster.players[1].capacity.used == 2


async def test_no_game_begins_before_a_line_client_that_owes_ready(house: House) -> None:
    anna, _ = await house.check_in("anna", 1), await house.check_in("bert", 1)
    house.store.holding = True
    await house.live.matchmaker.run_pass()
    seat(anna).left(orderly=False)
    held, house.store.held, house.store.holding = house.store.held, [], False
    house.store.untold = [stored(house, 41, black_told=0)]
    line = await house.sign_in("anna")
    house.store.held = held
    house.store.release()
    house.time.advance(0)
    words = [word for word in line.words() if word != "genmove"]
    assert words == ["accepted", "setup"], "what it missed is told another time"
    assert line.entries[1][1].game != 41


# -- several venues


class Undecided(RecordingSession):
    """A connection of which it takes a while to find out whether it still answers."""

    def __init__(self, number: int, *, says_ready: bool = True) -> None:
        super().__init__(number, says_ready=says_ready)
        self.gate = asyncio.Event()

    async def answers(self, sentence: str) -> bool:
        await self.gate.wait()
        return await super().answers(sentence)


async def turns() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_nothing_begins_in_one_venue_while_another_is_still_looked_at(house: House) -> None:
    """The seconds that it takes to find out whether an old connection answers are not the bot's."""
    other = await House(beside=house).open()
    first = await house.check_in("wide", 2)
    await house.check_in("broad", 2)
    await house.run_pass()
    (game,) = house.live.roster.games()
    seat(first).left(orderly=False)
    old = await other.sign_in("wide", session=Undecided(70))
    arriving = asyncio.create_task(house.check_in("wide", 2, None, (), other))
    await turns()
    house.time.advance(5 * S)
    color = house.live.roster.players[1].color(game)
    assert not game.present(color)
    await house.run_pass()
    assert len(list(house.live.roster.games())) == 1
    old.responsive = False
    assert isinstance(old, Undecided)
    old.gate.set()
    await arriving
    assert game.present(color)
    assert house.sessions["wide"].words()[:2] == ["accepted", "setup"]


async def test_where_one_venue_refuses_nothing_is_seated_and_that_venue_says_so(house: House) -> None:
    other = await House(beside=house).open()
    await house.check_in("broad", 2)
    await other.sign_in("wide")
    here = await house.check_in("wide", 2, None, (), other)
    there = other.sessions["wide"]
    assert here.seat is None
    assert there.code == "already-here"
    assert house.live.roster.connected == 1


# -- games that are asked for


async def test_what_is_asked_for_during_a_commit_is_told_after_it(house: House) -> None:
    sessions = {name: await house.check_in(name, 1) for name in ("anna", "bert")}
    await house.run_pass()
    (game,) = house.live.roster.games()
    black, white = (sessions[side.name] for side in game.sides)
    house.store.holding = True
    assert seat(black).play(game.id, 1, "E5", None, house.time.received()) is None
    before = len(black.entries), len(white.entries)
    for session in (black, white):
        seat(session).sync([Known(game.id, 0)])
        seat(session).sync([Known(game.id, 0)])
    assert (len(black.entries), len(white.entries)) == before
    house.store.release()
    assert black.entries[before[0] :][0][3].moves == (("E5", 60_000),)
    assert [entry[0] for entry in black.entries[before[0] :]] == ["setup"]
    assert [entry[0] for entry in white.entries[before[1] :]] == ["setup", "genmove"]


async def test_while_a_move_is_committed_another_one_at_its_ply_is_a_contradiction(house: House) -> None:
    sessions = {name: await house.check_in(name, 1) for name in ("anna", "bert")}
    await house.run_pass()
    (game,) = house.live.roster.games()
    black, white = (seat(sessions[side.name]) for side in game.sides)
    house.store.holding = True
    now = house.time.received()
    assert black.play(game.id, 1, "E5", None, now) is None
    assert black.play(game.id, 1, "e5", None, now) is None
    assert black.play(game.id, 1, "D5", None, now) is Fault.CONTRADICTION
    assert white.play(game.id, 1, "E5", None, now) is Fault.NOT_YOUR_TURN
    house.store.release()
    assert white.play(game.id, 2, "pass", None, now) is None
    assert white.play(game.id, 2, "Passed", None, now) is None, "it reads the same"


async def test_a_game_that_ends_while_a_bot_comes_in_is_told_by_that_sign_in(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = await house.check_in("anna", 2)
    await house.check_in("bert", 2)
    await house.run_pass()
    (game,) = house.live.roster.games()
    seat(anna).left(orderly=False)

    async def read(*_: Any) -> list[StoredGame]:
        """What the database holds, before the game's end is committed; the answer comes after it."""
        games = [stored(house, game.id, black_told=0)] if house.store.of(rows.GameEnded) else []
        if game.referee.verdict is None:
            resign(house, game)
        return games

    monkeypatch.setattr(house.store, "games_untold", read)
    again = await house.check_in("anna", 2)
    assert [entry[1] for entry in again.entries if entry[0] == "gameover"] == [game.id]


async def test_the_memory_of_ends_that_nobody_acknowledges_is_bounded(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cgos_server.live.venue.player.DELIVERIES_MAX", 3)
    for name in ("anna", "bert"):
        await house.check_in(name)
    for _ in range(5):
        await house.run_pass()
        (game,) = house.live.roster.games()
        resign(house, game)
    player = house.live.roster.players[1]
    assert list(player.deliveries) == [3, 4, 5]


# -- what keeps a bot from its next game


async def test_who_is_being_sent_away_gets_no_game(house: House) -> None:
    """A WebSocket's end takes a while: it waits for the peer to close, too."""
    await house.check_in("anna")
    await house.check_in("bert")
    house.live.roster.dismiss(1, "An operator closes your connection.")
    await house.run_pass()
    assert list(house.live.roster.games()) == []


async def test_who_wishes_to_go_while_pairing_computes_goes_after_it(house: House) -> None:
    house.deciding.gate.clear()
    anna, bert = await house.check_in("anna"), await house.check_in("bert")
    pairing_pass = asyncio.create_task(house.live.matchmaker.run_pass())
    await turns()
    seat(anna).available(Availability.DRAINING)
    assert anna.alive
    house.deciding.gate.set()
    await pairing_pass
    assert (anna.code, bert.alive) == ("drained", True)
    assert house.store.of(rows.GameAdded) == []


async def test_a_game_that_begins_while_the_days_games_are_counted_counts(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = asyncio.Event()
    counts = 0

    async def count(*_: Any) -> int:
        nonlocal counts
        counts += 1
        await gate.wait()
        return 2

    monkeypatch.setattr(house.store, "games_begun", count)
    anna, _ = await house.check_in("anna", 4), await house.check_in("bert", 4)
    house.store.holding = True
    await house.live.matchmaker.run_pass()
    for _ in range(5):
        seat(anna).limit(Limits(games_a_day=3))
    await turns()
    house.store.release()
    house.time.advance(0)
    assert len(games_of(house, "anna")) == 1
    gate.set()
    await house.settle()
    assert counts == 1
    assert not house.live.roster.players[1].available
