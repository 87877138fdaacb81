"""Events that follow others are announced once, together with what the other's log says of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from msgspec.structs import replace
from support.tournaments.running import entered

from cgos_protocol.errors import Code, Invalid
from cgos_protocol.ids import EventId
from cgos_server.live.events.following import Following
from cgos_server.live.events.runner import EventRunner
from cgos_server.storage.store import Store
from cgos_server.tournaments.base import DRAWN, WHITE_WINS, Result
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import EventSettings, Times
from cgos_server.tournaments.running.state import Phase, announced
from cgos_server.tournaments.running.steps import paired
from cgos_server.tournaments.tournament import ready_games

DAY = 86_400_000
WEEKLY = EventSettings(
    name="Weekly", venue="9x9", system="round-robin", times=Times(starts_at=7 * DAY, every_days=7), playoff=True
)


class Hall:
    """Events without a server: what is submitted to the store is counted."""

    def __init__(self) -> None:
        self.now = 7 * DAY
        self.runners: dict[str, EventRunner] = {}
        self.submitted: list[Sequence[Any]] = []
        self.following = Following(self.announce, self.runners.get, lambda: self.now)
        self.refuses = False

    def submit(self, records: Sequence[Any], then: Callable[[], None]) -> None:
        self.submitted.append(records)

    def announce(self, said: Sequence[log.Said]) -> EventRunner:
        first = said[0]
        assert isinstance(first, log.Announced)
        if self.refuses:
            raise Invalid(Code.EVENT_SETTING, "The venue has changed.")
        name = first.settings.name
        assert name not in self.following.names
        self.following.names.add(name)
        runner = self.taken_up(EventId(len(self.following.names)), first.settings)
        for each in said:
            runner.say(each)
        return runner

    def taken_up(self, event: EventId, settings: EventSettings) -> EventRunner:
        runner = EventRunner(
            event, announced(settings), cast("Store", self), lambda: self.now, moved=self.following.look
        )
        self.runners[settings.name] = runner
        return runner

    def started(self, settings: EventSettings, entrants: int = 2) -> EventRunner:
        fields = [entered(number) for number in range(1, entrants + 1)]
        return self.announce([log.Announced(settings=settings), *fields, log.Closed(ratings={}), log.Started()])

    def play(self, runner: EventRunner, result: Result) -> None:
        while runner.state.phase is Phase.RUNNING:
            due = paired(runner.state, ready_games(runner.state.event))
            if due is not None:
                runner.say(due)
            for _, game in runner.state.due_games:
                runner.say(log.Ended(game=game.id, result=result))


def test_the_next_of_a_series_is_announced_when_one_starts() -> None:
    hall = Hall()
    weekly = hall.started(WEEKLY)
    assert weekly.state.followed == {"again": "Weekly-2"}
    following = hall.runners["Weekly-2"].state
    assert following.phase is Phase.ANNOUNCED
    assert following.settings.times.starts_at == 14 * DAY
    hall.following.look(weekly)
    assert list(hall.runners) == ["Weekly", "Weekly-2"], "once"


def test_a_cancelled_event_is_followed_too() -> None:
    hall = Hall()
    weekly = hall.announce([log.Announced(settings=WEEKLY)])
    weekly.say(log.Cancelled(reason="No power."))
    assert list(hall.runners) == ["Weekly", "Weekly-2"]
    assert weekly.state.followed == {"again": "Weekly-2"}


def test_the_playoff_begins_at_once_and_its_winner_stands_in_the_log_of_the_event() -> None:
    hall = Hall()
    main = hall.started(replace(WEEKLY, times=Times()), entrants=3)
    hall.play(main, DRAWN)
    assert main.state.followed == {"playoff": "Weekly-playoff"}
    playoff = hall.runners["Weekly-playoff"]
    assert playoff.state.phase is Phase.RUNNING
    playoff.say(log.Withdrawn(entrant=3))
    while playoff.state.phase is Phase.RUNNING:
        due = paired(playoff.state, ready_games(playoff.state.event))
        if due is not None:
            playoff.say(due)
        for _, game in playoff.state.due_games:
            playoff.say(log.Ended(game=game.id, result=WHITE_WINS if game.white == 2 else DRAWN))
    assert main.state.won_playoff == (2,)
    entries = main.state.seq
    hall.following.look(playoff)
    assert main.state.seq == entries, "once"


def test_a_playoff_that_is_cancelled_decides_nothing() -> None:
    hall = Hall()
    main = hall.started(replace(WEEKLY, times=Times()))
    hall.play(main, DRAWN)
    hall.runners["Weekly-playoff"].say(log.Cancelled(reason="They agreed to share."))
    assert main.state.won_playoff == ()


def test_what_cannot_be_announced_stops_nothing() -> None:
    hall = Hall()
    weekly = hall.announce([log.Announced(settings=WEEKLY)])
    hall.refuses = True
    weekly.say(log.Cancelled(reason="No power."))
    assert weekly.state.phase is Phase.CANCELLED
    assert not weekly.state.followed
