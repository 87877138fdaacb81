"""Events of a database are rehearsed: who plays, how long games last, what is said of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from support.storage.storage_sample import put
from support.tournaments.held_events import START_MS, HeldEvent
from support.web.past import BOTS, NINE, Builder

from cgos_protocol.api.event_forecast import EventForecast
from cgos_protocol.errors import Refused
from cgos_server.presentation.events.reading import ReadEvents
from cgos_server.presentation.events.rehearsing import Wishes, about, answer, prepared, rehearse
from cgos_server.presentation.settings import WebSettings
from cgos_server.storage import schema
from cgos_server.storage.reading.history import History
from cgos_server.tournaments.base import BLACK_WINS
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import EventSettings, Play, Times

OPEN = EventSettings(name="Open", venue="9x9", system="swiss", rounds=3)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "cgos.sqlite"
    schema.prepare(path)
    put(path, Builder().build())
    return path


async def rehearsed(place: Path, held: HeldEvent, wishes: Wishes, now: int = START_MS) -> EventForecast:
    put(place, held.records(1, NINE, games=False))
    async with History(place) as history:
        record = await ReadEvents(history).named("Open")
        at = await prepared(history, WebSettings(), record, wishes, now)
    return answer(record, at, rehearse(at.rehearsal, 0.2))


async def test_an_announced_event_is_rehearsed_with_an_assumed_field(place: Path) -> None:
    ahead = await rehearsed(place, HeldEvent(OPEN), Wishes(entrants=8))
    assert (ahead.entrants, ahead.assumed) == (8, 8)
    assert ahead.seen_games > 10
    assert ahead.games.median == 12
    assert ahead.starts_at == START_MS
    assert ahead.ends.median == START_MS + round(1000 * ahead.duration_s.median)
    assert [each.number for each in ahead.schedule] == [1, 2, 3]
    assert ahead.sentence.startswith("8 entrants, 3 rounds, 12 games. This will take about ")


async def test_who_has_entered_is_in_the_field(place: Path) -> None:
    held = HeldEvent(OPEN)
    held.say(log.Opened())
    held.enter(1, 2400.0, BOTS[0])
    held.enter(2, 2300.0, BOTS[1])
    ahead = await rehearsed(place, held, Wishes(entrants=3, rounds=1, game_s=100.0))
    assert (ahead.entrants, ahead.assumed) == (3, 1)
    assert {each.name for each in ahead.favorites} <= {*BOTS[:2], "assumed-1"}
    assert ahead.game_s == 100.0
    assert ahead.games.median == 1


async def test_it_is_counted_from_the_time_of_the_start(place: Path) -> None:
    starts_at = START_MS + 86_400_000
    held = HeldEvent(replace(OPEN, times=Times(starts_at=starts_at, starts_with=6), ladder=False))
    ahead = await rehearsed(place, held, Wishes())
    assert ahead.entrants == 6, "as many as it starts with"
    first = ahead.schedule[0].begins
    assert first is not None
    assert first.median == ahead.starts_at == starts_at


async def test_a_clock_of_its_own_makes_other_lengths(place: Path) -> None:
    slow = HeldEvent(replace(OPEN, rated=False, play=Play(main_s=3000.0)))
    ahead = await rehearsed(place, slow, Wishes(entrants=4))
    async with History(place) as history:
        seen = await history.lengths.of_venue("9x9")
    assert ahead.game_s == pytest.approx(10 * sum(seen) / len(seen)), "the venue's clock has 300 s"


async def test_a_running_event_goes_on_from_where_it_stands(place: Path) -> None:
    held = HeldEvent(OPEN)
    held.start(BOTS)
    held.play_round(lambda _: BLACK_WINS)
    held.play_round(lambda _: BLACK_WINS)
    held.begin(held.state.due_games[0][1])
    ahead = await rehearsed(place, held, Wishes(), held.now + 1_000)
    assert ahead.seen_games == 6, "its own"
    assert ahead.starts_at == held.now + 1_000
    (last,) = ahead.schedule
    assert (last.number, last.begins) == (3, None)
    assert ahead.sentence.startswith("6 entrants, 3 rounds, 9 games. From now on it will take about ")


async def test_what_cannot_be_rehearsed_is_refused(place: Path) -> None:
    with pytest.raises(Refused, match=r"Open has 0 entrants\. Say how many to assume"):
        await rehearsed(place, HeldEvent(OPEN), Wishes())


async def test_what_is_over_is_not_rehearsed(place: Path) -> None:
    held = HeldEvent(OPEN)
    held.say(log.Cancelled(reason="No power."))
    with pytest.raises(Refused, match="Open is cancelled"):
        await rehearsed(place, held, Wishes())


async def test_who_plays_is_known_while_it_runs(place: Path) -> None:
    held = HeldEvent(OPEN)
    held.start(BOTS)
    with pytest.raises(Refused, match="its entrants are known"):
        await rehearsed(place, held, Wishes(entrants=20))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (41.7, "42 s"), (700.0, "12 min"), (12_010.0, "3 h 20 min"), (7_190.0, "2 h")],
)
def test_a_guess_is_not_said_to_the_second(seconds: float, text: str) -> None:
    assert about(seconds) == text
