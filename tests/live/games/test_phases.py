"""The tables of phases are what happens, and what the documentation shows."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from support.live.one_game import S, Table
from support.live.simulated import RecordingSession

from cgos_protocol.errors import OurFault
from cgos_protocol.games.base import Color
from cgos_protocol.session import Limits
from cgos_server.live.games.phases import GAME, PLAYER, GamePhase, PlayerPhase, check, drawn
from cgos_server.live.venue.player import Capacity, Player
from cgos_server.service.holds import PASSING, Hold

PAGE = Path(__file__).parents[3] / "docs" / "architecture.md"
TABLES: list[Mapping[Any, Mapping[Any, str]]] = [GAME, PLAYER]


@pytest.mark.parametrize(("table", "heading"), [(GAME, "## Phases of a game"), (PLAYER, "## Phases of a player")])
def test_the_documentation_shows_the_table(table: Mapping[Any, Mapping[Any, str]], heading: str) -> None:
    section = PAGE.read_text(encoding="utf-8").split(f"{heading}\n")[1].split("\n## ")[0]
    assert [line for line in section.splitlines() if line.startswith("|")] == drawn(table)


@pytest.mark.parametrize(("table", "phases", "first"), [
    (GAME, GamePhase, GamePhase.SETTLING), (PLAYER, PlayerPhase, PlayerPhase.AWAY),
])  # fmt: skip
def test_every_phase_is_in_its_table_and_can_be_reached(table: Any, phases: Any, first: Any) -> None:
    assert set(table) == set(phases)
    reached, news = {first}, [first]
    while news:
        after = set(table[news.pop()]) - reached
        reached |= after
        news += after
    assert reached == set(phases)


@pytest.mark.parametrize("table", TABLES)
def test_a_way_that_is_not_in_the_table_is_our_fault(table: Any) -> None:
    for before in table:
        for after in table:
            if after in table[before]:
                check(table, before, after)
            else:
                with pytest.raises(OurFault, match=f"no way from {before.word} to {after.word}"):
                    check(table, before, after)


def ways(table: Mapping[Any, Mapping[Any, str]]) -> set[tuple[Any, Any]]:
    return {(before, after) for before, leads in table.items() for after in leads}


def walk(rng: random.Random) -> set[tuple[Any, Any]]:
    """One game in which players, an operator, the disk and a stop do what they like; the ways that it went."""
    here = Table()
    game = here.game
    if rng.random() < 0.2:
        game.resume([])
    else:
        game.begin(here.black, here.white)

    def move() -> None:
        text = rng.choice(["pass", "A1", "B2", "C3", "D4", "resign"])
        game.move(game.referee.to_play, text, None, here.time.received())

    deeds: list[Callable[[], object]] = [
        lambda: here.time.advance(S),
        lambda: here.time.advance(130 * S),
        move,
        move,
        lambda: setattr(here.store, "holding", True),
        here.store.release,
        lambda: game.left(rng.choice(list(Color))),
        lambda: game.returned(rng.choice(list(Color)), here.black),
        lambda: game.suspend() if rng.random() < 0.3 else None,
        lambda: game.abort("by ruling") if rng.random() < 0.3 else None,
    ]
    for _ in range(30):
        if game.phase is not GamePhase.OVER:
            rng.choice(deeds)()
    return set(game.ways)


def test_a_game_goes_every_way_of_its_table_and_no_other() -> None:
    """Whatever happens in whatever order; `WatchedGame` objects to other ways."""
    rng = random.Random(5)
    assert set().union(*(walk(rng) for _ in range(400))) == ways(GAME)


class Ended:
    """As much of an ended game as a player looks at."""

    def __init__(self, number: int) -> None:
        self.id = number
        self.sides = tuple(type("Side", (), {"version": version}) for version in (1, 2))

    def present(self, _: Color) -> bool:
        return True

    def delivery(self, _: Color) -> Any:
        return type("ResultDelivery", (), {"acknowledged": lambda _: None})()


def test_a_player_goes_every_way_of_its_table_and_no_other() -> None:
    """Whatever a venue does to it; the player itself objects to other ways."""
    rng, gone = random.Random(5), set[tuple[Any, Any]]()
    for _ in range(3_000):
        player = Player(1, "anna", 1)
        waiting = [Ended(number) for number in range(9)]
        for _ in range(40):
            before, running = player.phase, list(player.games.values())
            match rng.randrange(8):
                case 0 if player.session is None:
                    player.arrive(RecordingSession(says_ready=rng.random() < 0.5), Capacity(rng.randint(1, 3)), 0)
                case 1 if player.session is not None:
                    player.leave()
                case 2 | 3 if player.available:
                    player.consider()
                case 4 if player.could_play and player.reserved and not player.chosen:
                    player.choose()
                case 5 if player.reserved:
                    if not player.chosen:
                        player.let_go()
                    elif waiting:
                        player.take(waiting.pop())  # type: ignore[arg-type]
                case 6 if running:
                    player.ended(running[0], 0)
                case 6 if player.phase is PlayerPhase.IDLE and player.session and player.session.says_ready:
                    player.told(99, Ended(99).delivery(Color.BLACK))
                case 7:
                    player.says_ready()
            if player.phase is not before:
                gone.add((before, player.phase))
    assert gone == ways(PLAYER)


def test_who_owes_a_word_is_not_considered() -> None:
    player = Player(1, "anna", 1)
    player.arrive(RecordingSession(), Capacity(1), 0)
    player.told(99, Ended(99).delivery(Color.BLACK))
    with pytest.raises(OurFault, match="no way from owing to considered"):
        player.consider()


def test_what_is_over_stays_over() -> None:
    assert not GAME[GamePhase.OVER]


def test_whoever_waits_for_a_game_at_most_is_awaited() -> None:
    """`awaited` looks at no connection; what it says of a player follows from all of its holds nevertheless."""
    for hold, games_a_day, slots, alive in itertools.product((None, *Hold), (None, 2, 3), (0, 1), (True, False)):
        player = Player(1, "anna", 1)
        session = RecordingSession()
        session.alive = alive
        player.arrive(session, Capacity(slots), 0)
        player.limits = Limits(games_a_day)
        player.daily.begun = 2
        if hold is not None:
            player.put(hold)
        assert player.awaited == (player.holds <= PASSING)
