"""Pairs of games with an opening: chosen, owed, handed to both sides, told again after a restart."""

from __future__ import annotations

import random
from math import sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.live.house import House, S

from cgos_protocol.games.base import Color
from cgos_protocol.openings import Opening, OpeningSet
from cgos_protocol.session import GameSetup
from cgos_protocol.verdict import Reason
from cgos_server.core.venue import Policy
from cgos_server.live.games.recovery import restore
from cgos_server.live.games.result_delivery import stored_setup
from cgos_server.live.pairing.openings import KEPT_MS, Openings
from cgos_server.storage.reading.stored import Half, StoredGame, StoredMove
from cgos_server.storage.writing.records import GameAdded, GameEnded, MoveAdded, PairingAdded

ODD, EVEN = Opening("odd", ("E5", "C3", "G7")), Opening("even", ("D4", "F6"), 2.0)
BOOK = OpeningSet((ODD, EVEN))
DAY = KEPT_MS


def owed(openings: Openings, *ready: int, now: int = 0, book: OpeningSet = BOOK) -> list[tuple[int, int, str]]:
    return [(debt.black, debt.white, debt.opening.name) for debt in openings.owed(ready, book, now)]


# -- who owes whom what


def test_the_second_game_is_owed_with_swapped_colors() -> None:
    openings = Openings(())
    openings.began(3, 2, "odd", 0)
    assert owed(openings, 2, 3) == [(2, 3, "odd")]
    assert owed(openings, 2, 4) == []
    assert openings.owed((2, 3), BOOK, 0)[0].why == "Second game of opening odd, colors swapped."
    openings.began(2, 3, "odd", 5)
    assert owed(openings, 2, 3) == []


def test_a_game_without_opening_owes_nothing() -> None:
    openings = Openings(())
    openings.began(3, 2, "", 0)
    assert owed(openings, 2, 3) == []


def test_the_oldest_debt_is_played_first_and_everybody_plays_once() -> None:
    openings = Openings(())
    openings.began(1, 2, "odd", 30)
    openings.began(1, 3, "even", 10)
    openings.began(3, 4, "even", 20)
    openings.began(5, 2, "odd", 40)
    assert owed(openings, 1, 2, 3, 4, 5) == [(3, 1, "even"), (2, 5, "odd")]
    may_not = openings.owed((1, 2, 3, 4, 5), BOOK, 0, lambda black, white: {black, white} != {1, 3})
    assert [(debt.black, debt.white) for debt in may_not] == [(4, 3), (2, 1)]


def test_debts_end_with_the_day_and_with_their_opening() -> None:
    openings = Openings(())
    openings.began(1, 2, "odd", 100)
    openings.began(1, 3, "even", 0)
    assert owed(openings, 1, 2, 3, now=DAY) == [(3, 1, "even")]
    assert owed(openings, 1, 2, 3, now=DAY + 1) == [(2, 1, "odd")]
    assert owed(openings, 1, 2, now=DAY + 1, book=OpeningSet((EVEN,))) == []
    assert owed(openings, 1, 2, now=DAY + 1) == [], "forgotten for good"


def test_debts_of_versions_that_never_come_back_are_forgotten_too() -> None:
    openings = Openings(())
    for version in range(1, 50):
        openings.began(version, version + 1, "odd", version)
    owed(openings, 98, 99, now=DAY)
    assert len(openings._debts) == 49
    owed(openings, 98, 99, now=2 * DAY)
    assert openings._debts == {}


@given(st.lists(st.tuples(st.sampled_from([(1, 2), (2, 1), (2, 3), (3, 2)]), st.sampled_from(["odd", "even"]))))
def test_whatever_is_played_nobody_owes_once_both_colors_were_had(games: list[tuple[tuple[int, int], str]]) -> None:
    openings = Openings(())
    played: dict[tuple[int, int, str], int] = {}
    for at, ((black, white), name) in enumerate(games):
        openings.began(black, white, name, at)
        played[black, white, name] = played.get((black, white, name), 0) + 1
    for _ in range(2 * len(games)):
        for debt in openings.owed((1, 2, 3), BOOK, len(games)):
            key, other = (debt.black, debt.white, debt.opening.name), (debt.white, debt.black, debt.opening.name)
            assert played.get(other, 0) > played.get(key, 0)
            openings.began(debt.black, debt.white, debt.opening.name, len(games))
            played[key] = played.get(key, 0) + 1
    assert owed(openings, 1, 2, 3) == []
    assert all(games == played.get((white, black, name)) for (black, white, name), games in played.items())


# -- which opening


class Zero:
    """An rng that says the least that it can."""

    def random(self) -> float:
        return 0.0


def test_a_share_of_the_pairs_gets_an_opening() -> None:
    openings, rng, pairs = Openings(()), random.Random(3), 20_000
    names = [
        None if opening is None else opening.name for opening in (openings.first(BOOK, 0.3, rng) for _ in range(pairs))
    ]
    for name, share in ((None, 0.7), ("odd", 0.1), ("even", 0.2)):
        assert abs(names.count(name) / pairs - share) < 5 * sqrt(share * (1 - share) / pairs)


def test_all_or_none_may_be_asked_for() -> None:
    openings, rng = Openings(()), random.Random(1)
    assert all(openings.first(BOOK, 1.0, rng) for _ in range(500))
    assert not any(openings.first(BOOK, 0.0, rng) for _ in range(500))
    assert openings.first(BOOK, 0.0, Zero()) is None
    state = rng.getstate()
    assert openings.first(OpeningSet(), 1.0, rng) is None
    assert rng.getstate() == state, "without openings nothing is drawn"


# -- in a venue


ONLY_ODD = OpeningSet((ODD,))


def house_of(book: OpeningSet, **changes: Any) -> House:
    """Pairs at random whoever is idle, as soon as no game is on."""
    return House(
        openings=book,
        policy=Policy.BARRIER,
        method="random",
        options={"avoid_last": False, "repeat_most": 100},
        **changes,
    )


async def opened(book: OpeningSet = ONLY_ODD) -> House:
    return await house_of(book).open()


def setups(house: House, name: str) -> list[GameSetup]:
    return [entry[-1] for entry in house.sessions[name].entries if entry[0] == "setup"]


@pytest.mark.parametrize("book", [OpeningSet((ODD,)), OpeningSet((EVEN,))])
@pytest.mark.parametrize("lines", [True, False])
async def test_both_sides_sit_down_at_the_opening_and_play_on(book: OpeningSet, lines: bool) -> None:
    house = await opened(book)
    for name in ("anna", "bert"):
        await (house.sign_in(name) if lines else house.check_in(name))
    await house.run_pass()
    (game,) = house.live.roster.games()
    (opening,) = book.openings
    for name in ("anna", "bert"):
        (setup,) = setups(house, name)
        assert [move for move, _ in setup.moves] == list(opening.moves)
        assert {left for _, left in setup.moves} == {setup.level_ms}
        assert setup.left_ms == (setup.level_ms, setup.level_ms)
        assert setup.opening == opening.name
    house.time.advance(S)
    mover = Color.WHITE if opening is ODD else Color.BLACK
    genmoves = {
        name: [entry for entry in house.sessions[name].entries if entry[0] == "genmove"] for name in house.sessions
    }
    assert [name for name, words in genmoves.items() if words] == [game.sides[mover].name]
    house.time.advance(S)
    game.move(mover, "A1", None, house.time.received())
    assert game.ply == len(opening.moves) + 1
    assert game.setup().left_ms[mover] == 60_000 - (2_000 - house.venue.time.lag // 1_000)
    assert game.setup().left_ms[mover.other] == 60_000


async def test_its_records_hold_the_name_and_the_moves() -> None:
    house = await opened()
    await house.arrive("anna", "bert")
    await house.run_pass()
    (added,) = house.store.of(GameAdded)
    assert added.opening == "odd"
    moves = house.store.of(MoveAdded)
    assert [(move.ply, move.move, move.main_us, move.used_us) for move in moves] == [
        (ply, move, 60 * S, 0) for ply, move in enumerate(ODD.moves, 1)
    ]


async def test_the_second_game_follows_with_swapped_colors() -> None:
    house = await opened()
    await house.arrive("anna", "bert")
    colors = []
    for _ in range(4):
        await house.run_pass()
        (game,) = house.live.roster.games()
        assert game.opening == "odd"
        colors.append(game.sides[Color.BLACK].name)
        house.finish()
    assert colors[0] != colors[1]
    assert colors[2] != colors[3]
    why = [pairing.reason for pairing in house.store.of(PairingAdded)]
    assert [reason == "Second game of opening odd, colors swapped." for reason in why] == [False, True, False, True]


async def test_it_follows_when_both_are_free_again_and_not_before() -> None:
    house = await opened()
    first, second = await house.arrive("anna", "bert")
    await house.run_pass()
    (game,) = house.live.roster.games()
    black = game.sides[Color.BLACK].name
    house.time.advance(S)
    game.move(game.referee.to_play, "resign", None, house.time.received())
    first.seat.ready()  # type: ignore[union-attr]
    await house.arrive("carl")
    await house.run_pass()
    (game,) = house.live.roster.games()
    assert {side.name for side in game.sides} == {"anna", "carl"}
    house.time.advance(S)
    game.move(game.referee.to_play, "resign", None, house.time.received())
    for session in house.sessions.values():
        session.seat.ready()  # type: ignore[union-attr]
    await house.run_pass()
    (game,) = house.live.roster.games()
    assert {side.name for side in game.sides} == {"anna", "bert"}
    assert game.sides[Color.BLACK].name != black
    assert second.words().count("setup") == 2


@pytest.mark.parametrize("which", [0, 1])
async def test_a_game_that_is_void_or_aborted_is_played_again(which: int) -> None:
    house = await opened()
    await house.arrive("anna", "bert")
    blacks = []
    for at in range(3 + which):
        await house.run_pass()
        (game,) = house.live.roster.games()
        blacks.append(game.sides[Color.BLACK].name)
        house.time.advance(S)
        if at == which:
            game.abort("the operator's wish")
        house.finish()
    counted = blacks[:which] + blacks[which + 1 :]
    assert counted[0] != counted[1], "one game with each color"
    if which == 1:
        assert blacks[1] == blacks[2], "the second game is played again as it was"


async def test_who_never_moves_after_an_opening_ends_it_unrated() -> None:
    house = await opened()
    await house.arrive("anna", "bert")
    await house.run_pass()
    house.time.advance(62 * S)
    (ended,) = house.store.of(GameEnded)
    assert ended.reason == Reason.ABORT
    assert ended.detail == "White made no first move in time"


async def test_halves_that_are_stored_are_played_after_a_restart() -> None:
    house = house_of(ONLY_ODD, openings_share=0.0)
    house.accounts.versions.update(anna=1, bert=2)

    async def halves(venue_id: int) -> list[Any]:
        return [Half(1, 2, "odd", 1, house.time.wall_ms() - 1000)]

    house.store.pairings_halves = halves  # type: ignore[method-assign]
    await house.open()
    await house.arrive("anna", "bert")
    await house.run_pass()
    (game,) = house.live.roster.games()
    assert (game.opening, [side.version for side in game.sides]) == ("odd", [2, 1])
    house.finish()
    await house.run_pass()
    (game,) = house.live.roster.games()
    assert game.opening == ""


async def test_a_first_game_that_cannot_be_read_back_asks_for_no_second_one() -> None:
    house = house_of(ONLY_ODD, openings_share=0.0)
    house.accounts.versions.update(anna=1, bert=2)

    async def halves(venue_id: int) -> list[Any]:
        return [Half(1, 2, "odd", 1, house.time.wall_ms() - 1000)]  # it still runs, as far as the store knows

    house.store.pairings_halves = halves  # type: ignore[method-assign]
    await house.open()
    broken = StoredGame(1, 1, 1, 2, "anna", "bert", "1800?", "1800?", "{}", "", 0, (), opening="odd")
    assert restore([broken], {1: house.live}) == (0, 0)
    await house.arrive("anna", "bert")
    await house.run_pass()
    (game,) = house.live.roster.games()
    assert game.opening == ""


async def test_a_stored_game_is_told_and_goes_on_with_its_opening() -> None:
    house = await opened()
    await house.arrive("anna", "bert")
    await house.run_pass()
    (added,) = house.store.of(GameAdded)
    (game,) = house.live.roster.games()
    stored = StoredGame(
        added.id, 1, 1, 2, "anna", "bert", added.black_label, added.white_label, added.terms, "", added.started_at,
        tuple(StoredMove(move, clock) for move, clock in ODD.stored(game.referee.terms)), opening=added.opening,
    )  # fmt: skip
    assert stored_setup(stored, "9x9").opening == "odd"
    again = await house_of(ONLY_ODD).open()
    again.live.roster.names.update({1: "anna", 2: "bert"})
    assert restore([stored], {1: again.live}) == (1, 0)
    (stored_game,) = again.live.roster.games()
    assert (stored_game.opening, stored_game.setup().opening, stored_game.ply) == ("odd", "odd", 3)
