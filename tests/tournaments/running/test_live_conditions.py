"""Every system through what happens at live events: latecomers, withdrawals, void games, byes, rulings, all by lot."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
from support.tournaments.live_events import LiveEvent, settings_of

from cgos_protocol.errors import Invalid
from cgos_server.tournaments.base import DRAWN, WHITE_WINS, OptionValue
from cgos_server.tournaments.registry import SYSTEMS
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import EventSettings
from cgos_server.tournaments.running.state import Phase, announced, fold
from cgos_server.tournaments.tournament import standings

BARRED: Mapping[str, OptionValue] = {"bar": "1k", "floor": "10k"}
VARIANTS: tuple[tuple[str, Mapping[str, OptionValue]], ...] = (
    *((system, {}) for system in SYSTEMS),
    *((order, {}) for order in ("dutch", "monrad", "random2", "tcec-double", "double-round-robin")),
    ("mcmahon", BARRED),
    ("cup", {"third_place": True}),
    ("cup", {"bracket": "list", "passes": "lot"}),
)
SEEDS = range(8)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("system", "options"), VARIANTS)
def test_an_event_ends_whatever_happens_to_it(system: str, options: Mapping[str, OptionValue], seed: int) -> None:
    live = LiveEvent(settings_of(system, seed, options), random.Random(f"{system} {seed}"))
    live.start(3 + seed)
    live.run(disturbances=15)
    assert live.state.phase is Phase.OVER, live.state.paused
    assert fold(live.entries) == live.state
    for sentence in live.refusals:
        assert sentence.endswith((".", "!", "?")), sentence


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_ruling_after_the_end_is_folded_too_and_play_goes_on_where_it_must(system: str) -> None:
    live = LiveEvent(settings_of(system, 3), random.Random(system))
    live.start(6)
    live.run(disturbances=0)
    assert live.state.phase is Phase.OVER
    games = [game.id for _, game in live.state.event.games]
    for _ in range(12):
        ruling = log.Ruled(game=live.lots.choice(games), result=live.drawn_result(), reason="so", with_results=True)
        live.attempt(ruling)
        live.advance()
        live.run(disturbances=0)
        assert live.state.phase is Phase.OVER, live.state.paused
    assert fold(live.entries) == live.state


def test_a_bubble_of_fourteen_ends_with_everybody_ranked() -> None:
    live = LiveEvent(settings_of("bubble", 4), random.Random("bubble of fourteen"))
    live.start(14)
    live.run(disturbances=10)
    assert live.state.phase is Phase.OVER
    assert len(standings(live.state.event).rows) >= 14


def test_everybody_may_withdraw_and_the_event_ends() -> None:
    for system in SYSTEMS:
        live = LiveEvent(settings_of(system, 1), random.Random(system))
        live.start(5)
        while live.state.phase is Phase.RUNNING:
            live.say(log.Withdrawn(entrant=live.state.there[0].entrant))
            live.advance()
        assert live.state.phase is Phase.OVER, system
        assert len(standings(live.state.event).rows) == 5


@pytest.mark.parametrize("system", ["mcmahon", "godraw", "epm", "weighted"])
def test_an_event_with_handicap_stones_cannot_be_announced(system: str) -> None:
    settings = EventSettings(name="E", venue="9x9", system=system, options={"handicap": True}, rounds=4)
    with pytest.raises(Invalid, match="have no handicap stones"):
        announced(settings)
    assert announced(EventSettings(name="E", venue="9x9", system=system, options={"handicap": False}, rounds=4))


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"system": "swiss", "tie_breakers": ("strength",)}, "no tie-breaker 'strength'"),
        ({"system": "mcmahon", "options": {"bar": "5k", "floor": "1d"}}, "under the floor"),
        ({"system": "swiss", "seed": -1}, "Give 0 to"),
    ],
)
def test_what_could_not_be_played_cannot_be_announced(more: dict[str, object], sentence: str) -> None:
    with pytest.raises(Invalid, match=sentence):
        announced(EventSettings(name="E", venue="9x9", **more))  # type: ignore[arg-type]


def test_a_mcmahon_with_a_bar_has_one_top_group_and_even_games() -> None:
    live = LiveEvent(settings_of("mcmahon", 2, BARRED), random.Random(2))
    live.start(8)
    while live.state.phase is Phase.RUNNING:
        for _, game in live.state.due_games:
            assert game.handicap == 0
            live.begin(game)
        for _, game in live.state.open_games:
            live.say(log.Ended(game=game.id, result=live.lots.choice((WHITE_WINS, DRAWN))))
        live.advance()
    rows = standings(live.state.event).rows
    assert rows[0].place == 1
    assert len(rows) == 8
