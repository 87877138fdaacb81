"""A database with events of several kinds: some run, some come, some are over."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from cgos_protocol.ids import BotId, VersionId
from cgos_server.storage import schema
from cgos_server.storage.writing.records import BotAdded, Record, VersionAdded
from cgos_server.tournaments.base import BLACK_WINS, DRAWN, VOID, WHITE_WINS, Game, Result
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import EventSettings, Limits, Times
from support.storage.storage_sample import put
from support.tournaments.held_events import HeldEvent
from support.web.past import BOTS, NINE, NOW, Builder

HOUR_MS = 3_600_000
NAMES = (*BOTS, *(f"Engine-{number}" for number in range(7, 21)))
"""Of the versions 1 to 20; each is a bot's only one."""

RUNNING = ("Autumn-Open", "Cup-2026", "Double", "Bubble")
COMING = ("Winter-Cup", "Someday")
OVER = ("All-meet", "Called-off")


def lots(seed: int) -> Callable[[Game], Result]:
    """Results by lot."""
    rng = random.Random(seed)
    return lambda _: rng.choice((BLACK_WINS, WHITE_WINS, WHITE_WINS, DRAWN))


def held_events() -> list[HeldEvent]:
    """All of them, in the order in which they were announced."""
    return [_open(), _of("Cup-2026", "cup", 11, 2), _of("Double", "double-elimination", 9, 3), _bubble(), _all_meet(),
            _called_off(), _winter_cup(), _someday()]  # fmt: skip


def write_held(path: Path, events: list[HeldEvent], games: bool = True) -> None:
    """Into a new database, with a past and the versions that took part.

    :param games: those of the first event are games of the past
    """
    schema.prepare(path)
    versions: list[Record] = []
    for number, name in enumerate(NAMES, 1):
        if number > len(BOTS):
            bot, version, at = BotId(number), VersionId(number), NOW - 48 * HOUR_MS
            versions.append(BotAdded(bot, name, name.lower(), "hash", "active", at))
            versions.append(VersionAdded(version, bot, name, name.lower(), "", "", "", "", at))
    records = [
        record for at, held in enumerate(events, 1) for record in held.records(at, NINE, games=games and at == 1)
    ]
    put(path, Builder(with_event=False).build())
    put(path, versions)
    put(path, records)


def _of(name: str, system: str, entrants: int, rounds: int, first_game: int = 5000) -> HeldEvent:
    held = HeldEvent(EventSettings(name=name, venue="9x9", system=system), at=NOW - 9 * HOUR_MS, first_game=first_game)
    held.start(NAMES[:entrants])
    for _ in range(rounds):
        held.play_round(lots(rounds))
    return held


def _open() -> HeldEvent:
    """Its games are the first ones of the server: round 3 of 5, two games run and one is void."""
    settings = EventSettings(
        name="Autumn-Open",
        venue="9x9",
        system="dutch",
        rounds=5,
        about="Five rounds <for> everybody & all.",
        options={},
    )
    held = HeldEvent(settings, at=NOW - 12 * HOUR_MS, first_game=1)
    held.start(NAMES[:10])
    held.play_round(lots(2))
    held.play_round(lots(3))
    due = [game for _, game in held.state.due_games]
    for game in due[:4]:
        held.begin(game)
    held.end(due[0], BLACK_WINS)
    held.end(due[1], VOID, "The server was stopped")
    held.say(log.Ruled(game=3, result=BLACK_WINS, reason="the loser's engine <had> crashed"), "ann")
    return held


def _bubble() -> HeldEvent:
    settings = EventSettings(name="Bubble", venue="9x9", system="bubble", options={"active_size": 4, "min_matches": 3})
    held = HeldEvent(settings, at=NOW - 8 * HOUR_MS, first_game=6000)
    held.start(NAMES[:9])
    for _ in range(5):
        held.play_round(lots(4))
    return held


def _all_meet() -> HeldEvent:
    held = _of("All-meet", "round-robin", 6, 0, first_game=7000)
    held.play_out()
    return held


def _called_off() -> HeldEvent:
    held = _of("Called-off", "dutch", 4, 0)
    held.say(log.Cancelled(reason="nobody has time"), "ann")
    return held


def _winter_cup() -> HeldEvent:
    times = Times(opens_at=NOW - HOUR_MS, closes_at=NOW + 5 * HOUR_MS, starts_at=NOW + 6 * HOUR_MS, check_in_s=32_400)
    settings = EventSettings(name="Winter-Cup", venue="9x9", system="cup", limits=Limits(most=4), times=times)
    held = HeldEvent(settings, at=NOW - 2 * HOUR_MS)
    held.say(log.Opened())
    for number in range(1, 7):
        held.enter(number, None if number == 2 else 2000.0 - number, NAMES[number - 1])
    held.say(log.CheckedIn(entrant=2), "ann")
    return held


def _someday() -> HeldEvent:
    return HeldEvent(EventSettings(name="Someday", venue="9x9", system="mcmahon", rounds=3), at=NOW - HOUR_MS)
