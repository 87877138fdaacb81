"""Events are started, held up, extended, ruled, taken back and ended: by operators, with reasons, and in the audit."""

from __future__ import annotations

from typing import Any

import pytest
from support.service.acting import account, audits, behalf, bots, code
from support.service.event_desk import Desk

from cgos_protocol.errors import Refused
from cgos_server.service.admin import Admin
from cgos_server.service.commands.declaration import Right
from cgos_server.service.events.announcing import EventCreate
from cgos_server.service.events.commands import COMMANDS
from cgos_server.service.events.entering import EventCancelBye, EventStrike
from cgos_server.service.events.holding import (
    EventCancel,
    EventExtend,
    EventFinish,
    EventPause,
    EventResume,
    EventStart,
)
from cgos_server.service.events.keeping_apart import EventForbid, EventLift
from cgos_server.service.events.ruling import EventReplay, EventRule, EventTakeBack
from cgos_server.tournaments.base import BLACK_WINS, VOID, WHITE_WINS
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.state import Phase
from cgos_server.tournaments.scores import RESULTS

CUP = "Cup"
NAMES = ("One", "Two", "Three", "Four")


async def begin(admin: Admin, desk: Desk, system: str = "mwm", **said: Any) -> None:
    """An event of four whose first games are paired; the better one has the smaller number."""
    await bots(admin, *NAMES)
    desk.ratings = {1: 2000.0, 2: 1900.0, 3: 1800.0, 4: 1700.0}
    await admin.handle(EventCreate(event=CUP, system=system, venue="9x9", enter=list(NAMES), **said))
    await admin.handle(EventStart(event=CUP))
    desk.pair(CUP)


def rule(number: int, result: str, **more: Any) -> EventRule:
    return EventRule(event=CUP, number=number, result=result, reason=more.pop("reason", "Seen."), **more)


async def test_it_starts_from_wherever_it_is_with_ratings_of_now(admin: Admin, desk: Desk, store: Any) -> None:
    await bots(admin, "One", "Two")
    await admin.handle(EventCreate(event=CUP, system="mwm", venue="9x9", enter=["One", "Two"]))
    desk.ratings = {2: 1500.0}
    answer = await admin.handle(EventStart(event=CUP))
    assert answer.sentence == "Cup has started with 2 entrants."
    state = desk.states[CUP]
    assert (state.phase, [one.name for one in state.event.entrants]) == (Phase.RUNNING, ["Two", "One"])
    assert audits(store)[-1][1:3] == ("event start", CUP)
    with pytest.raises(Refused, match=r"^Cup has started already\.$"):
        await admin.handle(EventStart(event=CUP))


async def test_what_cannot_start_stays_open_for_entries(admin: Admin, desk: Desk) -> None:
    await bots(admin, "One")
    await admin.handle(EventCreate(event=CUP, system="mwm", venue="9x9", enter=["One"]))
    with pytest.raises(Refused, match="needs two to start"):
        await admin.handle(EventStart(event=CUP))
    assert desk.states[CUP].phase is Phase.ANNOUNCED


async def test_it_is_held_up_and_goes_on(admin: Admin, desk: Desk, store: Any) -> None:
    await begin(admin, desk)
    await admin.handle(EventPause(event=CUP, reason="A storm."))
    assert desk.states[CUP].paused == "A storm."
    assert audits(store)[-1][1:] == ("event pause", CUP, {"reason": "A storm."})
    assert await code(admin.handle(EventPause(event=CUP, reason="Another."))) == "event-paused"
    await admin.handle(EventResume(event=CUP))
    assert desk.states[CUP].paused is None
    assert await code(admin.handle(EventResume(event=CUP))) == "event-paused"


async def test_a_ruling_gives_a_game_its_result_and_another_one(admin: Admin, desk: Desk, store: Any) -> None:
    await begin(admin, desk)
    first, second = desk.open_numbers(CUP)
    answer = await admin.handle(rule(first, "1-0"))
    assert answer.sentence == "Game 1 of Cup (Four – One): White (One) wins; was: no result."
    desk.play(CUP, {second: BLACK_WINS})
    await admin.handle(rule(second, "+/-", reason="It never\ncame."))
    games = {game.id: game.result for _, game in desk.states[CUP].event.games}
    assert games[first] == WHITE_WINS
    assert games[second] == RESULTS["+/-"]
    assert audits(store)[-1][1:] == (
        "event rule",
        CUP,
        {"before": "0-1", "game": second, "reason": "It never came.", "result": "+/-", "with_results": False},
    )
    assert isinstance(desk.said[-1][2], log.Ruled)


@pytest.mark.parametrize(
    ("winner", "score", "words"),
    [
        ("one", "1-0", "White (One) wins"),
        ("Four", "0-1", "Black (Four) wins"),
        ("black", "0-1", "Black (Four) wins"),
        ("White", "1-0", "White (One) wins"),
        ("draw", "1/2-1/2", "Draw"),
        ("both-lose", "0-0", "Both lose"),
    ],
)
async def test_a_ruling_says_who_won(admin: Admin, desk: Desk, store: Any, winner: str, score: str, words: str) -> None:
    await begin(admin, desk)
    first, _ = desk.open_numbers(CUP)
    answer = await admin.handle(rule(first, "", winner=winner))
    assert answer.sentence == f"Game {first} of Cup (Four – One): {words}; was: no result."
    assert audits(store)[-1][3]["result"] == score
    again = await admin.handle(rule(first, "no-contest"))
    assert again.sentence.endswith(f": No contest; was: {words.replace('wins', 'won')}.")


async def test_a_winner_that_says_nothing_or_two_things(admin: Admin, desk: Desk) -> None:
    await bots(admin, "One", "White")
    await admin.handle(EventCreate(event=CUP, system="mwm", venue="9x9", enter=["One", "White"]))
    desk.ratings = {1: 2000.0, 2: 1900.0}
    await admin.handle(EventStart(event=CUP))
    desk.pair(CUP)
    for winner in ("Two", "white"):  # White plays Black
        with pytest.raises(
            Refused, match=rf"^'{winner}' does not say who won\. Give one of White, One, black, white, "
        ):
            await admin.handle(rule(1, "", winner=winner))
    assert await code(admin.handle(rule(1, "1-0", winner="black"))) == "score"
    assert await code(admin.handle(rule(1, ""))) == "score"
    assert desk.states[CUP].event.rounds[0].games[0].result is None


async def test_a_ruling_that_changes_nothing_is_refused(admin: Admin, desk: Desk, store: Any) -> None:
    await begin(admin, desk)
    first, second = desk.open_numbers(CUP)
    desk.play(CUP, {first: WHITE_WINS})
    kept = len(desk.said), len(audits(store))
    with pytest.raises(
        Refused, match=r"^Game 1 of Cup counts so already: White \(One\) wins\. Give another result\.$"
    ) as refused:
        await admin.handle(rule(first, "1-0"))
    assert refused.value.code == "no-change"
    assert await code(admin.handle(rule(first, "", winner="One", with_results=True))) == "no-change"
    assert (len(desk.said), len(audits(store))) == kept
    await admin.handle(rule(first, "+/-"))  # a forfeit is another result
    await admin.handle(EventReplay(event=CUP, number=second, reason="A fault."))
    assert await code(admin.handle(EventReplay(event=CUP, number=second, reason="A fault."))) == "no-change"


async def test_a_corrected_semifinal_takes_the_final_with_it(admin: Admin, desk: Desk) -> None:
    await begin(admin, desk, "cup")
    semifinals = desk.open_numbers(CUP)
    desk.play(CUP, dict.fromkeys(semifinals, WHITE_WINS))
    desk.pair(CUP)
    (final,) = desk.open_numbers(CUP)
    answer = await admin.handle(rule(semifinals[0], "0-1"))
    assert answer.sentence.endswith(
        f": Black (One) wins; was: White (Four) won. Taken back, since the old result led to it: game {final}."
    )
    desk.pair(CUP)
    (another,) = desk.open_numbers(CUP)
    desk.play(CUP, {another: WHITE_WINS})
    assert await code(admin.handle(rule(semifinals[0], "1-0"))) == "result-depends"
    await admin.handle(rule(semifinals[0], "1-0", with_results=True))
    assert desk.open_numbers(CUP) == []


async def test_a_game_is_played_again(admin: Admin, desk: Desk, store: Any) -> None:
    await begin(admin, desk)
    first, second = desk.open_numbers(CUP)
    desk.play(CUP, {first: WHITE_WINS, second: WHITE_WINS})
    answer = await admin.handle(EventReplay(event=CUP, number=first, reason="A fault."))
    assert answer.sentence.endswith(": Void; was: White (One) won.")
    assert desk.said[-1][2] == log.Ruled(game=first, result=VOID, reason="A fault.")
    assert audits(store)[-1][3] == {"before": "1-0", "game": first, "reason": "A fault.", "with_results": False}
    desk.pair(CUP)
    (again,) = desk.open_numbers(CUP)
    played = {game.id: game.pair for _, game in desk.states[CUP].event.games}
    assert played[again] == played[first]


async def test_a_ruling_after_the_end_and_what_is_no_ruling(admin: Admin, desk: Desk) -> None:
    await begin(admin, desk, rounds=1)
    first, second = desk.open_numbers(CUP)
    desk.play(CUP, {first: WHITE_WINS, second: WHITE_WINS})
    await admin.handle(EventFinish(event=CUP, reason="Done."))
    await admin.handle(rule(first, "1/2-1/2"))
    assert desk.states[CUP].phase is Phase.OVER
    assert await code(admin.handle(rule(99, "1-0"))) == "no-game"
    assert await code(admin.handle(rule(first, "2-0"))) == "score"
    assert await code(admin.handle(rule(first, "void"))) == "score"
    assert await code(admin.handle(EventRule(event="Nothing", number=1, result="1-0", reason="x"))) == "no-event"


async def test_the_last_round_is_taken_back(admin: Admin, desk: Desk, store: Any) -> None:
    await begin(admin, desk)
    first, *_ = desk.open_numbers(CUP)
    desk.play(CUP, {first: WHITE_WINS})
    assert await code(admin.handle(EventTakeBack(event=CUP, reason="Wrong."))) == "has-results"
    answer = await admin.handle(EventTakeBack(event=CUP, reason="Wrong.", with_results=True))
    assert answer.sentence == "Round 1 of Cup is taken back and will be paired again."
    assert desk.states[CUP].event.rounds == ()
    assert audits(store)[-1][3] == {"reason": "Wrong.", "round": 1, "with_results": True}
    assert await code(admin.handle(EventTakeBack(event=CUP, reason="Wrong."))) == "no-round"


async def test_the_last_round_is_taken_back_though_the_event_has_just_ended(admin: Admin, desk: Desk) -> None:
    await begin(admin, desk)
    for _, game in desk.states[CUP].open_games:
        await admin.handle(rule(game.id, "1-0"))
    await admin.handle(EventFinish(event=CUP, reason="Enough."))
    answer = await admin.handle(EventTakeBack(event=CUP, reason="Wrong.", with_results=True))
    assert answer.sentence == "Round 1 of Cup is taken back and will be paired again."
    assert desk.states[CUP].phase is Phase.RUNNING


async def test_a_round_that_is_not_the_last_one_any_more_is_not_taken_back(admin: Admin, desk: Desk) -> None:
    await begin(admin, desk, system="swiss")
    desk.play(CUP, dict.fromkeys(desk.open_numbers(CUP), WHITE_WINS))
    desk.pair(CUP)
    before = desk.states[CUP]
    assert await code(admin.handle(EventTakeBack(event=CUP, round=1, reason="A fault."))) == "round-begun"
    assert desk.states[CUP] is before
    answer = await admin.handle(EventTakeBack(event=CUP, round=2, reason="A fault."))
    assert answer.sentence == "Round 2 of Cup is taken back and will be paired again."


async def test_it_is_extended(admin: Admin, desk: Desk, store: Any) -> None:
    await begin(admin, desk, rounds=3)
    answer = await admin.handle(EventExtend(event=CUP, rounds=5, grace_s=60, reason="Ties."))
    assert answer.sentence == "Cup has 5 rounds and a grace of 60 seconds from now on."
    assert (desk.states[CUP].event.planned, desk.states[CUP].grace_s) == (5, 60)
    await admin.handle(EventExtend(event=CUP, grace_s=90, reason="Slow."))
    assert audits(store)[-1][3] == {"grace_s": 90, "reason": "Slow."}
    assert await code(admin.handle(EventExtend(event=CUP, reason="Why not."))) == "event-setting"
    assert await code(admin.handle(EventExtend(event=CUP, rounds=0, reason="None."))) == "planned"


async def test_it_ends_only_with_all_results_and_is_called_off_at_any_time(admin: Admin, desk: Desk) -> None:
    await begin(admin, desk)
    assert await code(admin.handle(EventFinish(event=CUP, reason="Late."))) == "round-open"
    await admin.handle(EventCancel(event=CUP, reason="Late."))
    assert desk.states[CUP].phase is Phase.CANCELLED
    for command in (EventFinish, EventCancel, EventPause):
        assert await code(admin.handle(command(event=CUP, reason="Late."))) == "no-event"
    assert await code(admin.handle(rule(1, "1-0"))) == "event-over"


@pytest.mark.parametrize(
    "command",
    [
        EventPause(event=CUP, reason=" "),
        EventFinish(event=CUP, reason=""),
        EventCancel(event=CUP, reason="\n"),
        EventExtend(event=CUP, rounds=5, reason=""),
        EventRule(event=CUP, number=1, result="1-0", reason=""),
        EventReplay(event=CUP, number=1, reason="\t"),
        EventTakeBack(event=CUP, reason=""),
        EventForbid(event=CUP, versions=["One", "Two"], reason=""),
        EventLift(event=CUP, same="owner", reason=" "),
        EventStrike(event=CUP, version="One", reason=""),
        EventCancelBye(event=CUP, version="One", reason=""),
    ],
    ids=lambda command: command.word(),
)
async def test_every_ruling_has_a_reason(admin: Admin, desk: Desk, command: Any) -> None:
    await begin(admin, desk)
    before = len(desk.said)
    assert await code(admin.handle(command)) == "reason"
    assert len(desk.said) == before
    assert "reason" in (type(command).audited or ())


async def test_holding_is_for_operators_alone(admin: Admin, desk: Desk) -> None:
    await begin(admin, desk)
    anna = await account(admin)
    for command in (EventPause, EventCancel, EventFinish, EventTakeBack):
        assert await code(behalf(admin, anna, command(event=CUP, reason="I want."))) == "not-allowed"
    owners = {command.word() for command in COMMANDS if command.allowed is not Right.OPERATOR}
    theirs = ("enter", "check-in", "withdraw", "rejoin", "bye", "cancel-bye")
    assert owners == {f"event {word}" for word in theirs}
    assert all(command.allowed in (Right.OPERATOR, Right.OWN_BOT) and command.live for command in COMMANDS)


async def test_without_a_server_there_are_no_events(accounts: Any) -> None:
    for command in (EventStart(event=CUP), rule(1, "1-0")):
        assert await code(Admin(accounts).handle(command)) == "no-server"
