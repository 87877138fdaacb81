"""What an event's log says to people."""

from __future__ import annotations

import pytest
from support.tournaments.held_events import START_MS, HeldEvent

from cgos_protocol.errors import OurFault
from cgos_server.presentation.events import answers
from cgos_server.presentation.events.record import EventRecord, GameTimes
from cgos_server.presentation.events.sentences import _SENTENCES
from cgos_server.tournaments.base import BLACK_WINS, DRAWN, NO_CONTEST, VOID, WHITE_WINS, Result
from cgos_server.tournaments.registry import SYSTEMS
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import EventSettings, Limits, Play, Times
from cgos_server.tournaments.running.steps import BOTH_FORFEIT, closing
from cgos_server.tournaments.scores import result_words

NAMES = ("Ann-1", "Bob-1", "Cid-1", "Dan-1", "Eve-1")


def record_of(held: HeldEvent) -> EventRecord:
    record = EventRecord(1, held.entries[0])
    for entry in held.entries[1:]:
        record.add(entry)
    return record


def swiss(**more: object) -> HeldEvent:
    return HeldEvent(EventSettings(name="Cup", venue="9x9", system="dutch", rounds=2, **more))  # type: ignore[arg-type]


def test_a_record_as_it_is_stays_so() -> None:
    held = swiss()
    held.start(NAMES)
    record = record_of(held)
    known, now = len(held.entries), record.as_it_is()
    games, standing = answers.games(now), now.standings
    held.play_round(lambda _: BLACK_WINS)
    for entry in held.entries[known:]:
        record.add(entry)
    assert len(now.entries) == len(now.sentences) == known
    assert now.times == {number: GameTimes() for number in now.times}
    assert (answers.games(now), now.standings) == (games, standing)
    assert answers.games(record) == answers.games(record_of(held)) != games
    assert record.standings == record_of(held).standings != standing


def test_standings_that_were_read_before_a_playoff_ended_are_not_shown_after_it() -> None:
    held = HeldEvent(EventSettings(name="Open", venue="9x9", system="round-robin", options={"double": True}))
    held.start(NAMES[:2])
    held.play_round(lambda _: BLACK_WINS)
    held.play_round(lambda _: BLACK_WINS)
    record = record_of(held)
    assert [row.place for row in record.standings.rows] == [1, 1]
    held.say(log.Decided(entrants=(2,), by="Open-playoff"))
    record.add(held.entries[-1])
    assert [(row.place, row.entrant) for row in record.standings.rows] == [(1, 2), (2, 1)]


def test_every_kind_of_entry_has_a_sentence() -> None:
    assert set(_SENTENCES) == set(log.KINDS)


def test_an_event_is_told_from_its_announcement_to_its_end() -> None:
    held = swiss()
    held.start(NAMES)
    held.play_round(lambda _: BLACK_WINS)
    held.play_round(lambda _: WHITE_WINS)
    sentences = record_of(held).sentences
    assert sentences[:3] == [
        "Cup is announced: MWM dutch in 9x9, 2 rounds, rated.",
        "Entry is open.",
        "Ann-1 entered as number 1, rated 1999.",
    ]
    assert sentences[7:9] == [
        "Entry is closed with 5 entrants. Ratings are taken, of 5 who have one.",
        "It has started with 5 entrants.",
    ]
    paired = sentences[9]
    assert paired.startswith("Round 1 is paired: ")
    assert "Ann-1" in paired
    assert "has a bye" in paired
    assert sentences[10].endswith("has begun, as game 101 of the server.")
    assert "won against" in sentences[12]
    assert sentences[12].endswith("in round 1 (game 1).")
    assert sentences[-1].startswith("It is over. ")


def test_what_is_changed_in_an_announcement_is_said() -> None:
    held = swiss()
    settings = held.state.settings
    held.say(log.Announced(settings=EventSettings(name="Cup", venue="9x9", system="dutch", rounds=7)))
    held.say(log.Announced(settings=settings))
    held.say(log.Announced(settings=settings))
    assert record_of(held).sentences[1:] == [
        "It is announced otherwise. Rounds: 7.",
        "It is announced otherwise. Rounds: 2.",
        "It is announced otherwise. Nothing is different.",
    ]


def test_waiting_checking_in_and_leaving_before_the_start_are_told() -> None:
    held = swiss(limits=Limits(most=2), times=Times(starts_at=START_MS + 60_000, check_in_s=3600))
    held.say(log.Opened())
    for number, name in enumerate(NAMES[:3], 1):
        held.enter(number, name=name)
    held.say(log.Withdrawn(entrant=1))
    held.advance()
    held.say(log.CheckedIn(entrant=3))
    held.say(log.CheckedIn(entrant=2))
    held.enter(4, name="Dan-1")
    held.say(closing(held.state, lambda _: None))
    held.say(log.Started())
    assert record_of(held).sentences[4:] == [
        "Cid-1 entered as number 3, without a rating, and waits for a place.",
        "Ann-1 took its entry back.",
        "Cid-1 has a place: it waited for one.",
        "Cid-1 checked in.",
        "Bob-1 checked in.",
        "Dan-1 entered as number 4, without a rating, and waits for a place.",
        "Entry is closed with 2 entrants. Nobody has a rating yet. 1 version still wait for a place.",
        "It has started with 2 entrants.",
    ]


def test_what_an_operator_does_is_told_with_its_reason_and_what_it_takes_back() -> None:
    held = HeldEvent(EventSettings(name="Cup", venue="9x9", system="cup"))
    held.start(NAMES[:4])
    held.play_round(lambda _: WHITE_WINS)
    final = next(game for number, game in held.state.open_games if number == 2)
    held.begin(final)
    held.say(log.Ruled(game=1, result=BLACK_WINS, reason="the komi was wrong", with_results=True), "operator")
    held.say(log.Paused(reason="lunch"), "operator")
    held.say(log.Resumed(), "operator")
    held.say(log.Extended(grace_s=600, reason="A slow network."), "operator")
    held.say(log.Forbidden(entrants=(1, 2), same="owner", reason="They are twins."), "operator")
    held.say(log.Lifted(same="owner", reason="few are left"), "operator")
    held.say(log.ByeAsked(entrant=4, round=3), "operator")
    held.say(log.ByeCancelled(entrant=4, round=3), "operator")
    held.say(log.Withdrawn(entrant=4, reason="it is broken"), "operator")
    held.say(log.Rejoined(entrant=4), "operator")
    held.say(log.Cancelled(reason="nobody came back"), "operator")
    record = record_of(held)
    ruled, *others = record.sentences[-11:]
    assert ruled.startswith("Game 1 of round 1 (")
    assert "counts otherwise: " in ruled
    assert "The komi was wrong. Taken back: game 3 (" in ruled
    assert others == [
        "It is paused: games that run go on, and no other begins. Lunch.",
        "It goes on.",
        "From now on games wait 10 min for who is away. A slow network.",
        "Ann-1 and Bob-1, and versions of one owner must not meet from now on. They are twins.",
        "Versions of one owner may meet again. Few are left.",
        "Dan-1 sits out round 3, for no points.",
        "Dan-1 plays in round 3 after all.",
        "Dan-1 withdrew: it plays no more, and forfeits open games. It is broken.",
        "Dan-1 is back, and is paired again.",
        "It is cancelled. Nobody came back.",
    ]
    assert answers.game(record, *held.state.event.games.__next__()).ruling == "the komi was wrong"
    assert answers.status(record) == "It is cancelled. Nobody came back."


def test_a_round_that_is_taken_back_keeps_its_place_in_the_log() -> None:
    held = swiss()
    held.start(NAMES[:4])
    held.play_round(lambda _: WHITE_WINS)
    held.say(log.TakenBack(reason="the wrong pairing"), "operator")
    held.advance()
    sentences = record_of(held).sentences
    assert "Round 2 is taken back, to be paired again. The wrong pairing. Taken back: games 3 (" in sentences[-2]
    assert sentences[-1].startswith("Round 2 is paired: ")


def test_later_games_of_a_round_are_told_as_such() -> None:
    held = HeldEvent(EventSettings(name="Cup", venue="9x9", system="cup"))
    held.start([f"Bot-{number}" for number in range(1, 9)])
    held.play_round(lambda _: BLACK_WINS)
    sentences = record_of(held).sentences
    assert any(sentence.startswith("Round 2 goes on: Bot-") for sentence in sentences)


@pytest.mark.parametrize("system", SYSTEMS)
def test_whatever_a_system_does_is_told(system: str) -> None:
    rounds = None if system in ("cup", "double-elimination", "bubble", "round-robin") else 3
    held = HeldEvent(EventSettings(name="Cup", venue="9x9", system=system, rounds=rounds))
    held.start([f"Bot-{number}" for number in range(1, 9)])
    held.play_out()
    record = record_of(held)
    assert len(record.sentences) == len(held.entries)
    assert all(sentence.endswith(".") and "None" not in sentence for sentence in record.sentences)
    assert record.state == held.state


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (BLACK_WINS, "Black wins"),
        (WHITE_WINS, "White wins"),
        (DRAWN, "Draw"),
        (VOID, "Void"),
        (NO_CONTEST, "No contest"),
        (BOTH_FORFEIT, "Both forfeit"),
        (Result(0, 2, "forfeit"), "White wins by forfeit"),
        (Result(0, 0), "Both lose"),
        (Result(2, 1), "Black 1, White 0.5"),
    ],
)
def test_results_are_said(result: Result, text: str) -> None:
    assert result_words(result) == text


def test_what_is_announced_is_said_in_words() -> None:
    settings = EventSettings(
        name="Cup",
        venue="9x9",
        system="swiss",
        rounds=5,
        rated=False,
        limits=Limits(most=16, per_owner=2, lowest=1500),
        play=Play(komi=6.5, main_s=60, increment_s=1, first_moves=("E5",)),
        times=Times(starts_with=8, every_days=7, starts_at=1_800_000_000_000),
    )
    held = HeldEvent(settings)
    now = answers.now(record_of(held))
    texts = {line.name: line.text for line in now.settings}
    assert texts["rounds"] == "5"
    assert (
        texts["limits"] == "at most 16 entrants; who comes later waits for a place; 2 of one owner; rated 1500 or more"
    )
    assert texts["komi"] == "6.5"
    assert texts["time"] == "1 min a side, and 1 s more a move"
    assert texts["first_moves"] == "E5"
    assert texts["starts"] == "as soon as 8 are in, or at the latest 2027-01-15 08:00 UTC"
    assert texts["every_days"] == "every 7 days, with a fresh field"
    assert now.rating == "Not rated: its games are not on the terms of 9x9."
    assert now.announced["limits"] == {"most": 16, "per_owner": 2, "lowest": 1500.0}
    assert not now.may_enter
    assert now.entry == "Entry to Cup has not opened yet."


def test_a_log_that_begins_otherwise_is_our_fault() -> None:
    with pytest.raises(OurFault, match="does not begin with its announcement"):
        EventRecord(1, log.LogEntry(1, 0, "server", log.Opened()))
