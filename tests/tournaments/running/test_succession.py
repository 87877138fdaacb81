"""Events that follow others: the next of a series, clones, playoffs."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from msgspec.structs import replace
from support.tournaments.running import entered

from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import BLACK_WINS, DRAWN, WHITE_WINS, Result
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import EventSettings, Limits, Play, Times, require_settings
from cgos_server.tournaments.running.state import EventState, Phase, after, announced, fold
from cgos_server.tournaments.running.steps import paired
from cgos_server.tournaments.running.succession import (
    cloned,
    decided,
    final_standings,
    next_edition,
    next_name,
    playoff_of,
    shared_first,
    wants_next,
    wants_playoff,
)
from cgos_server.tournaments.tournament import ready_games, standings

DAY = 86_400_000
WEEKLY = EventSettings(
    name="Weekly",
    venue="9x9",
    system="swiss",
    rounds=5,
    limits=Limits(most=16),
    times=Times(opens_at=1 * DAY, closes_at=6 * DAY, starts_at=7 * DAY, every_days=7),
)


def said_in_turn(said: Iterable[log.Said]) -> EventState:
    return fold(log.LogEntry(seq, 1_000 * seq, "somebody", each) for seq, each in enumerate(said, 1))


def said_also(state: EventState, *said: log.Said) -> EventState:
    for each in said:
        state = after(state, log.LogEntry(state.seq + 1, 1_000, "somebody", log.decode(log.encode(each))))
    return state


def over(settings: EventSettings, entrants: int, result: Result) -> EventState:
    """The event at its end, where every game ended so."""
    fields = [entered(number) for number in range(1, entrants + 1)]
    state = said_in_turn([log.Announced(settings=settings), *fields, log.Closed(ratings={}), log.Started()])
    return ended(state, result)


def ended(state: EventState, result: Result) -> EventState:
    while state.phase is Phase.RUNNING:
        due = paired(state, ready_games(state.event))
        if due is not None:
            state = said_also(state, due)
        for _, game in state.due_games:
            state = said_also(state, log.Ended(game=game.id, result=result))
    return state


@pytest.mark.parametrize(
    ("name", "taken", "following"),
    [
        ("Weekly", {"Weekly"}, "Weekly-2"),
        ("Weekly-2", {"Weekly", "Weekly-2"}, "Weekly-3"),
        ("Weekly", {"Weekly", "Weekly-2", "Weekly-3"}, "Weekly-4"),
        ("Cup-2026", {"Cup-2026"}, "Cup-2027"),
        ("x" * 64, set(), "x" * 62 + "-2"),
        ("-1", set(), "-1-2"),
    ],
)
def test_the_next_name_is_the_next_number_that_is_free(name: str, taken: set[str], following: str) -> None:
    assert next_name(name, taken) == following


def test_a_clone_is_the_same_event_at_another_time() -> None:
    clone = cloned(WEEKLY, "Other", 2 * DAY)
    assert clone == replace(
        WEEKLY, name="Other", times=Times(opens_at=3 * DAY, closes_at=8 * DAY, starts_at=9 * DAY, every_days=7)
    )
    assert cloned(clone, "Weekly", -2 * DAY) == WEEKLY


def test_the_next_edition_is_so_many_days_later_with_other_lots() -> None:
    following = next_edition(WEEKLY, {"Weekly"}, now=7 * DAY + 5)
    assert following.name == "Weekly-2"
    assert following.times == Times(opens_at=8 * DAY, closes_at=13 * DAY, starts_at=14 * DAY, every_days=7)
    assert following.seed == WEEKLY.seed + 1
    assert following.limits == WEEKLY.limits
    require_settings(following)
    assert (WEEKLY.series_name, following.series_name) == ("Weekly", "Weekly")
    third = next_edition(following, {"Weekly", "Weekly-2"}, now=14 * DAY + 5)
    assert (third.name, third.series_name) == ("Weekly-3", "Weekly")
    last = replace(third, times=replace(third.times, every_days=None))
    assert last.series_name == "Weekly", "the last one is still of the series"
    assert cloned(last, "Other").series_name == ""


def test_a_series_that_was_late_goes_on_in_time_to_come() -> None:
    following = next_edition(WEEKLY, {"Weekly"}, now=27 * DAY + 5)
    assert following.times.closes_at == 34 * DAY
    assert following.times.starts_at == 35 * DAY


def test_an_event_that_was_opened_by_hand_is_followed_by_one_that_opens_at_once() -> None:
    by_hand = replace(WEEKLY, times=Times(starts_at=7 * DAY, every_days=1))
    following = next_edition(by_hand, {"Weekly"}, now=7 * DAY + 5)
    assert following.times == Times(opens_at=7 * DAY + 5, starts_at=8 * DAY, every_days=1)
    require_settings(following)


def test_an_event_is_followed_once_when_it_starts_or_is_cancelled() -> None:
    state = said_also(announced(WEEKLY), log.Announced(settings=WEEKLY))
    assert not wants_next(state)
    cancelled = said_also(state, log.Cancelled(reason="No power."))
    assert wants_next(cancelled)
    running = said_also(state, entered(1), entered(2), log.Closed(ratings={}), log.Started())
    assert wants_next(running)
    for each in (cancelled, running):
        followed = said_also(each, log.Followed(by="Weekly-2", why="again"))
        assert not wants_next(followed)
        with pytest.raises(Refused, match="Weekly is followed by Weekly-2 already"):
            said_also(followed, log.Followed(by="Weekly-3", why="again"))


CUPLESS = EventSettings(
    name="Three", venue="9x9", system="round-robin", seed=9, playoff=True, play=Play(komi=6.5), rated=False
)


def test_who_shares_the_first_place_plays_for_it() -> None:
    state = over(CUPLESS, 3, DRAWN)
    assert state.phase is Phase.OVER
    assert wants_playoff(state)
    playoff = said_in_turn(playoff_of(state, {"Three"}))
    assert playoff.phase is Phase.RUNNING
    assert playoff.settings.name == "Three-playoff"
    assert playoff.settings.playoff_of == "Three"
    assert playoff.settings.play == CUPLESS.play
    assert not playoff.settings.playoff
    assert [seat.version for seat in playoff.there] == [seat.version for seat in shared_first(state)]
    state = said_also(state, log.Followed(by="Three-playoff", why="playoff"))
    assert not wants_playoff(state)
    playoff = ended(playoff, WHITE_WINS)
    assert len(list(playoff.event.games)) == 6
    assert said_also(state, decided(state, playoff)).won_playoff == (1, 2, 3), "each won with White: it stays shared"


def test_the_winner_of_the_playoff_is_named_by_the_number_in_the_event() -> None:
    state = over(replace(CUPLESS, system="swiss", rounds=2), 4, DRAWN)
    first = [seat.entrant for seat in shared_first(state)]
    assert len(first) > 1
    playoff = said_in_turn(playoff_of(state, {"Three"}))
    playoff = said_also(playoff, log.Withdrawn(entrant=1))
    while playoff.phase is Phase.RUNNING:
        due = paired(playoff, ready_games(playoff.event))
        playoff = playoff if due is None else said_also(playoff, due)
        for _, game in playoff.due_games:
            result = WHITE_WINS if game.white > game.black else BLACK_WINS
            playoff = said_also(playoff, log.Ended(game=game.id, result=result))
    before = standings(state.event)
    assert final_standings(state) == before
    state = said_also(state, log.Followed(by="Three-playoff", why="playoff"), decided(state, playoff))
    assert state.won_playoff == (first[-1],)
    table = final_standings(state)
    assert [(row.place, row.entrant) for row in table.rows[: len(first)]] == [
        (1, first[-1]),
        *((2, row.entrant) for row in before.rows[: len(first)] if row.entrant != first[-1]),
    ]
    assert table.rows[len(first) :] == before.rows[len(first) :]
    assert table.remark.endswith(f"Bot-{first[-1]} won the playoff Three-playoff.")


def test_no_playoff_where_one_is_first_or_nobody_wants_it() -> None:
    assert not wants_playoff(over(replace(CUPLESS, playoff=False), 3, DRAWN))
    assert wants_playoff(over(CUPLESS, 2, DRAWN))
    assert not wants_playoff(over(CUPLESS, 2, WHITE_WINS))


def test_a_playoff_takes_another_name_where_its_own_is_taken() -> None:
    state = over(CUPLESS, 2, DRAWN)
    (announcement, *_) = playoff_of(state, {"Three", "Three-playoff"})
    assert isinstance(announcement, log.Announced)
    assert announcement.settings.name == "Three-playoff-2"
