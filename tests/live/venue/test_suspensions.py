"""Versions that spoil their games: suspended, told why, and how they come back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from support.live.house import House, S
from support.live.simulated import RecordingSession

from cgos_protocol.games.base import Color
from cgos_protocol.session import Availability
from cgos_server.core.suspension import PAUSE_MS
from cgos_server.core.venue import terms_of
from cgos_server.live.games.live_game import LiveGame
from cgos_server.live.venue.player import Player
from cgos_server.service.holds import Hold
from cgos_server.storage.reading.stored import StoredSuspension
from cgos_server.storage.writing.records import SuspensionNow

PAUSE = PAUSE_MS * 1000
MOST = 5


async def opened(*names: str, lines: bool = True, **changes: Any) -> House:
    house = await House(**changes).open()
    for name in names:
        await (house.sign_in(name) if lines else house.check_in(name))
    return house


def player(house: House, name: str) -> Player:
    return house.live.roster.player(house.accounts.versions[name])


def infos(house: House, name: str) -> list[str]:
    return [entry[1] for entry in house.sessions[name].entries if entry[0] == "info"]


def notices(house: House, name: str) -> list[str]:
    return [text for text in infos(house, name) if text.startswith("You are suspended")]


def stored(house: House, name: str) -> StoredSuspension:
    """What the store holds of a version in the end."""
    version = house.accounts.versions[name]
    last = [record for record in house.store.of(SuspensionNow) if record.version_id == version][-1]
    return StoredSuspension(version, last.spoilt, bool(last.suspended), last.reason, last.at)


def game_of(house: House, name: str, opponent: str = "bert") -> tuple[LiveGame, Color]:
    """The two play, colors by turns."""
    both = [player(house, name), player(house, opponent)]
    assert all(playing.available for playing in both)
    if both[0].daily.begun % 2:
        both.reverse()
    number = house.live.matchmaker.arrange(both[0], both[1], terms_of(house.venue), (), "A test.")
    house.time.advance(S)
    game = house.live.roster.game(number)
    assert game is not None
    return game, player(house, name).color(game)


def all_ready(house: House) -> None:
    for session in house.sessions.values():
        if session.seat is not None and session.says_ready:
            session.seat.ready()


def moves_until(house: House, game: LiveGame, color: Color, plies: int) -> None:
    """At least so many moves, until it is that side's turn."""
    points = iter(f"{column}{row}" for row in (1, 3, 5, 7) for column in "ABCDEFGHJ")
    while game.ply < plies or game.referee.to_play is not color:
        game.move(game.referee.to_play, next(points), None, house.time.received())


def late(house: House, game: LiveGame, color: Color) -> None:
    moves_until(house, game, color, 2)
    house.time.advance(62 * S)


def illegal(house: House, game: LiveGame, color: Color) -> None:
    moves_until(house, game, color, 0)
    game.move(color, "Z99", None, house.time.received())


def absent(house: House, game: LiveGame, color: Color) -> None:
    moves_until(house, game, color, 0)
    house.time.advance(62 * S)


def resigned(house: House, game: LiveGame, color: Color) -> None:
    moves_until(house, game, color, 0)
    game.move(color, "resign", None, house.time.received())


Spoil = Callable[[House, LiveGame, Color], None]


def spoil(house: House, name: str, how: Spoil, games: int) -> None:
    for _ in range(games):
        game, color = game_of(house, name)
        how(house, game, color)
        assert game.over is not None
        all_ready(house)


async def suspended(lines: bool = True, **changes: Any) -> House:
    """Anna has spoilt as many games as one may."""
    house = await opened("anna", "bert", lines=lines, **changes)
    spoil(house, "anna", late, changes.get("suspend_after", MOST))
    assert player(house, "anna").has(Hold.SUSPENDED)
    return house


# -- suspended


@pytest.mark.parametrize("lines", [True, False])
@pytest.mark.parametrize("how", [late, illegal, absent])
async def test_who_spoils_so_many_games_in_a_row_is_suspended_and_told(how: Spoil, lines: bool) -> None:
    house = await opened("anna", "bert", lines=lines)
    spoil(house, "anna", how, MOST - 1)
    assert player(house, "anna").available
    assert notices(house, "anna") == []
    spoil(house, "anna", how, 1)
    assert not player(house, "anna").available
    assert player(house, "anna").state == "suspended"
    (notice,) = notices(house, "anna")
    assert "5 games in a row" in notice
    assert stored(house, "anna").reason in notice
    assert ("say ready" in notice) is not lines
    await house.run_pass()
    assert not list(house.live.roster.games())
    assert notices(house, "bert") == []
    assert player(house, "bert").available
    assert house.live.suspensions.count == 1


async def test_the_kinds_add_up_and_the_opponents_faults_do_not_count() -> None:
    house = await opened("anna", "bert")
    for how in (late, illegal, absent, late):
        spoil(house, "anna", how, 1)
    state = house.live.suspensions.state
    assert state(house.accounts.versions["anna"]).spoilt == 4
    assert state(house.accounts.versions["bert"]).spoilt == 0
    game, color = game_of(house, "anna")
    absent(house, game, color.other)
    all_ready(house)
    assert state(house.accounts.versions["anna"]).spoilt == 4, "the opponent's abort changes nothing"
    assert state(house.accounts.versions["bert"]).spoilt == 1


@pytest.mark.parametrize("good", ["resigned", "won"])
async def test_a_game_that_it_did_not_spoil_begins_the_count_anew(good: str) -> None:
    house = await opened("anna", "bert")
    spoil(house, "anna", late, MOST - 1)
    game, color = game_of(house, "anna")
    if good == "resigned":
        resigned(house, game, color)
    else:
        late(house, game, color.other)
    all_ready(house)
    assert (stored(house, "anna").spoilt, stored(house, "anna").suspended) == (0, False)
    spoil(house, "anna", late, MOST - 1)
    assert player(house, "anna").available


@pytest.mark.parametrize("end", ["abort", "forfeit"])
async def test_an_operators_ruling_counts_for_nothing(end: str) -> None:
    house = await opened("anna", "bert", suspend_after=2)
    spoil(house, "anna", late, 1)
    game, color = game_of(house, "anna")
    if end == "abort":
        game.abort("noise")
    else:
        game.forfeit(color, "noise")
    all_ready(house)
    spoil(house, "anna", late, 1)
    assert player(house, "anna").has(Hold.SUSPENDED)


async def test_a_loss_by_disconnect_counts_and_is_called_so() -> None:
    house = await opened("anna", "bert", suspend_after=1)
    game, color = game_of(house, "anna")
    moves_until(house, game, color, 2)
    house.sessions["anna"].seat.left(False)  # type: ignore[union-attr]
    house.time.advance(62 * S)
    assert stored(house, "anna").suspended
    assert stored(house, "anna").reason == f"game {game.id}: lost on time while disconnected"
    session = await house.sign_in("anna")
    assert not player(house, "anna").available
    assert "lost on time while disconnected" in session.entries[1][1]


async def test_games_on_one_connection_that_end_together_are_one_mishap() -> None:
    house = await House(suspend_after=2).open()
    await house.check_in("anna", 3)
    await house.arrive("bert", "carl", "dora")
    for opponent in ("bert", "carl", "dora"):
        game_of(house, "anna", opponent)
    games = list(player(house, "anna").games.values())
    assert len(games) == 3
    for game in games:
        moves_until(house, game, player(house, "anna").color(game), 2)
    house.sessions["anna"].seat.left(False)  # type: ignore[union-attr]
    house.time.advance(62 * S)
    assert not list(house.live.roster.games())
    assert (stored(house, "anna").spoilt, stored(house, "anna").suspended) == (1, False)


async def test_a_game_that_runs_on_and_is_played_properly_takes_it_back() -> None:
    house = await House(suspend_after=1).open()
    await house.check_in("anna", 2)
    await house.arrive("bert", "carl")
    games = [game_of(house, "anna", opponent)[0] for opponent in ("bert", "carl")]
    illegal(house, games[0], player(house, "anna").color(games[0]))
    assert player(house, "anna").has(Hold.SUSPENDED)
    assert player(house, "anna").state == "playing"
    resigned(house, games[1], player(house, "anna").color(games[1]))
    assert player(house, "anna").available


async def test_on_clocks_of_the_operators_choice_anybody_may_lose_on_time() -> None:
    house = await opened("anna", "bert", suspend_after=1)
    terms = replace(terms_of(house.venue), mains=(S, 60 * S), rated=False)
    house.live.matchmaker.arrange(player(house, "anna"), player(house, "bert"), terms, (), "Arranged.")
    house.time.advance(0)
    (game,) = house.live.roster.games()
    house.time.advance(100_000)
    late(house, game, Color.BLACK)
    assert game.over is not None
    assert game.over.result == "W+Time"
    assert house.store.of(SuspensionNow) == []


async def test_nobody_is_suspended_where_the_venue_does_not() -> None:
    house = await opened("anna", "bert", suspend_after=0)
    spoil(house, "anna", late, 8)
    assert player(house, "anna").available
    assert stored(house, "anna").spoilt == 8


async def test_nothing_is_written_while_everybody_plays_properly() -> None:
    house = await opened("anna", "bert")
    spoil(house, "anna", resigned, 3)
    assert house.store.of(SuspensionNow) == []


# -- told again


async def test_it_is_told_once_a_minute_and_at_each_sign_in() -> None:
    house = await suspended()
    house.live.reminders.keep_alive()
    assert len(notices(house, "anna")) == 2
    house.sessions["anna"].seat.left(True)  # type: ignore[union-attr]
    session = await house.sign_in("anna")
    assert session.words() == ["accepted", "info"]
    assert len(notices(house, "anna")) == 1
    assert not player(house, "anna").available


async def test_the_lonely_one_is_told_once() -> None:
    house = await suspended()
    for name in ("bert", "anna"):
        house.sessions[name].seat.left(True)  # type: ignore[union-attr]
    session = await house.sign_in("anna")
    assert session.words() == ["accepted", "info"]


# -- coming back


async def test_a_new_sign_in_helps_after_the_pause_and_not_before() -> None:
    house = await suspended()
    for wait, comes_back in ((PAUSE - 10 * S, False), (10 * S, True)):
        house.sessions["anna"].seat.left(False)  # type: ignore[union-attr]
        house.time.advance(wait)
        await house.sign_in("anna")
        assert player(house, "anna").available is comes_back
    assert "You were suspended and are back" in infos(house, "anna")[0]
    assert not stored(house, "anna").suspended
    spoil(house, "anna", resigned, 1)
    assert stored(house, "anna").spoilt == 0


async def test_who_stays_signed_in_stays_suspended() -> None:
    house = await suspended()
    house.time.advance(2 * PAUSE)
    house.live.reminders.remind()
    house.sessions["anna"].seat.ready()  # type: ignore[union-attr]
    assert not player(house, "anna").available
    house.live.reminders.keep_alive()
    assert notices(house, "anna")[-1].endswith("sign in again.")


async def test_the_word_ready_helps_at_once_the_first_time() -> None:
    house = await suspended(lines=False)
    seat = house.sessions["anna"].seat
    assert seat is not None
    seat.available(Availability.PAUSED)
    assert not player(house, "anna").available
    seat.available(Availability.READY)
    assert player(house, "anna").available
    spoil(house, "anna", illegal, 2)
    assert player(house, "anna").has(Hold.SUSPENDED), "still broken: sooner than the first time"
    seat.available(Availability.READY)
    assert not player(house, "anna").available
    house.time.advance(2 * PAUSE)
    seat.available(Availability.READY)
    assert player(house, "anna").available


async def test_a_good_game_afterwards_clears_it() -> None:
    house = await suspended(lines=False)
    house.sessions["anna"].seat.available(Availability.READY)  # type: ignore[union-attr]
    spoil(house, "anna", resigned, 1)
    assert stored(house, "anna").spoilt == 0
    spoil(house, "anna", illegal, MOST - 1)
    assert player(house, "anna").available


@pytest.mark.parametrize("present", [True, False])
async def test_an_operator_takes_it_back(present: bool) -> None:
    house = await suspended()
    version = house.accounts.versions["anna"]
    if not present:
        house.sessions["anna"].seat.left(True)  # type: ignore[union-attr]
    assert house.live.suspensions.recall(version)
    assert not house.live.suspensions.recall(version)
    assert (stored(house, "anna").spoilt, stored(house, "anna").suspended) == (0, False)
    assert house.live.suspensions.count == 0
    if present:
        assert infos(house, "anna")[-1] == "The operator has taken you back: you get games again."
    else:
        await house.sign_in("anna")
    assert player(house, "anna").available


async def test_a_restart_keeps_it() -> None:
    house = await suspended()
    rows = [stored(house, "anna")]
    again = House(beside=house)
    again.store.pairings_suspensions = lambda _: answer(rows)  # type: ignore[assignment]
    await again.open()
    assert again.live.suspensions.count == 1
    await again.sign_in("anna", session=RecordingSession(77))
    assert not player(again, "anna").available
    assert len(notices(again, "anna")) == 1
    again.sessions["anna"].seat.left(False)  # type: ignore[union-attr]
    again.time.advance(PAUSE)
    await again.sign_in("anna", session=RecordingSession(78))
    assert player(again, "anna").available


async def answer(rows: list[StoredSuspension]) -> list[StoredSuspension]:
    return rows


async def test_other_settings_count_within_a_second() -> None:
    house = await suspended()
    live = house.live
    for most, is_suspended in ((0, False), (MOST, True)):
        live.context.venue = replace(
            live.context.venue, pairing=replace(live.context.venue.pairing, suspend_after=most)
        )
        live.reminders.remind()
        assert player(house, "anna").available is not is_suspended
        assert house.live.suspensions.count == is_suspended
