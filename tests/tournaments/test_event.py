"""How an event's record changes, what is refused, and what the ledger reads off it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from support.tournaments.events import entrants

from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import (
    BLACK_WINS,
    DRAWN,
    VOID,
    WHITE_WINS,
    Bye,
    Entrant,
    Event,
    Game,
    Request,
    Result,
    Round,
)
from cgos_server.tournaments.event import (
    Played,
    apply,
    begin,
    correct,
    end,
    enter,
    field_of,
    forbid,
    game_between,
    game_by_id,
    open_games,
    rejoin,
    request_bye,
    require_results,
    withdraw,
)
from cgos_server.tournaments.ledger import Entry, ledger

EVENT = Event(system="swiss", entrants=entrants([2000, 1900, 1800, 1700, 1600]))


def _round(number: int, *games: tuple[int, int], byes: tuple[Bye, ...] = ()) -> Round:
    return Round(number=number, games=tuple(Game(black=black, white=white) for white, black in games), byes=byes)


def test_rounds_begin_and_results_arrive() -> None:
    event = begin(EVENT, _round(1, (1, 2), (3, 4), byes=(Bye(5),)))
    assert [(number, game.pair) for number, game in open_games(event)] == [(1, (1, 2)), (1, (3, 4))]
    with pytest.raises(Refused, match=r"Round 1 has games without a result \(bot-2 - bot-1, and 1 more\)"):
        require_results(event)
    event = apply(event, [Played(black=4, white=3, result=DRAWN), Played(black=2, white=1, result=BLACK_WINS, round=1)])
    require_results(event)
    assert [game.result for game in event.rounds[0].games] == [BLACK_WINS, DRAWN]
    assert event.rounds[0].is_complete
    assert not EVENT.rounds


def test_games_get_ids_in_the_order_in_which_they_join() -> None:
    event = begin(begin(EVENT, _round(1, (1, 2), (3, 4))), _round(2, (1, 3)))
    event = begin(event, _round(1, (1, 2)))
    assert [[game.id for game in round_.games] for round_ in event.rounds] == [[1, 2, 4], [3]]
    assert game_by_id(event, 4) == (1, 2, Game(black=2, white=1, id=4))
    event = end(event, 4, DRAWN)
    with pytest.raises(Refused, match=r"Game 4 \(bot-2 - bot-1, round 1\) has a result"):
        end(event, 4, WHITE_WINS)
    assert game_by_id(correct(event, 4, WHITE_WINS), 4).game.result == WHITE_WINS
    for change in (end, correct):
        with pytest.raises(Refused, match="No game has the number 5; the highest is 4"):
            change(event, 5, DRAWN)


def test_of_several_games_of_a_pair_one_is_named_by_its_id() -> None:
    event = begin(EVENT, _round(1, (1, 2), (1, 2)))
    several = r"2 games are of bot-2 \(Black\) and bot-1 \(White\): game 1 in round 1, game 2 in round 1"
    with pytest.raises(Refused, match=several):
        apply(event, [Played(black=2, white=1, result=WHITE_WINS)])
    event = end(event, 2, WHITE_WINS)
    event = apply(event, [Played(black=2, white=1, result=DRAWN)])
    assert [game.result for game in event.rounds[0].games] == [DRAWN, WHITE_WINS]
    with pytest.raises(Refused, match=several):
        game_between(event, 1, 2, 1, is_open=False)


def test_further_games_of_a_round_join_it() -> None:
    event = begin(begin(EVENT, _round(1, (1, 2))), _round(2, (3, 4)))
    event = begin(event, _round(1, (3, 5), byes=(Bye(4),)))
    assert [game.pair for game in event.rounds[0].games] == [(1, 2), (3, 5)]
    assert event.rounds[0].byes == (Bye(4),)
    assert [round_.number for round_ in event.rounds] == [1, 2]


@pytest.mark.parametrize(
    ("round_", "words"),
    [
        (_round(2, (1, 2)), "Round 2 cannot begin: 0 rounds have begun"),
        (_round(0, (1, 2)), "Round 0 cannot begin"),
        (_round(1, (1, 9)), "has a player 9, but nobody entered as 9"),
        (_round(1, byes=(Bye(8),)), "has a player 8"),
    ],
)
def test_rounds_that_cannot_be(round_: Round, words: str) -> None:
    with pytest.raises(Refused, match=words):
        begin(EVENT, round_)


def test_results_that_cannot_be() -> None:
    event = begin(EVENT, _round(1, (1, 2)))
    with pytest.raises(Refused, match=r"No round has a game of bot-1 \(Black\) and bot-2 \(White\)"):
        apply(event, [Played(black=1, white=2, result=DRAWN)])
    with pytest.raises(Refused, match="Round 2 has no game"):
        apply(event, [Played(black=2, white=1, result=DRAWN, round=2)])
    with pytest.raises(Refused, match="Nobody entered as 7"):
        apply(event, [Played(black=7, white=1, result=DRAWN)])
    with pytest.raises(Refused, match="Round 3 has no game"):
        game_between(event, 1, 2, 3, is_open=False)
    done = apply(event, [Played(black=2, white=1, result=DRAWN)])
    with pytest.raises(Refused, match="without a result"):
        apply(done, [Played(black=2, white=1, result=DRAWN)])


def test_who_is_there() -> None:
    event = begin(EVENT, _round(1, (1, 2)))
    event = enter(event, Entrant(id=9, name="late", rating=2100.0))
    assert event.entrants[-1].joined == 2
    event = withdraw(withdraw(event, 3), 3)
    event = request_bye(request_bye(event, Request(1, 2, 0)), Request(1, 2, 1))
    there = field_of(event)
    assert [player.id for player in there.players] == [2, 4, 5, 9]
    assert there.byes == (Bye(1, 1, requested=True),)
    assert [player.id for player in field_of(event, 1).players] == [1, 2, 4, 5]
    assert 3 in [player.id for player in field_of(rejoin(event, 3)).players]


def test_people_that_cannot_be() -> None:
    for id_ in (0, 5):
        with pytest.raises(Refused, match="The next free number is 6"):
            enter(EVENT, Entrant(id=id_, name="somebody"))
    for change in (withdraw, rejoin):
        with pytest.raises(Refused, match="Nobody entered as 6"):
            change(EVENT, 6)
    with pytest.raises(Refused, match="Ask for a bye in a later one"):
        request_bye(begin(EVENT, _round(1)), Request(1, 1))
    with pytest.raises(Refused, match="cannot be kept from itself"):
        forbid(EVENT, 2, 2)
    assert forbid(forbid(EVENT, 4, 2), 2, 4).forbidden == ((2, 4),)


def test_the_ledger() -> None:
    event = begin(EVENT, _round(1, (1, 2), (3, 4), byes=(Bye(5),)))
    event = apply(
        event, [Played(black=2, white=1, result=WHITE_WINS), Played(black=4, white=3, result=Result(2, 0, "forfeit"))]
    )
    event = begin(event, _round(2, (5, 1), (2, 4), byes=(Bye(3, 1, requested=True),)))
    event = apply(event, [Played(black=1, white=5, result=DRAWN), Played(black=4, white=2, result=VOID)])
    event = begin(enter(event, Entrant(id=6, name="late")), _round(3, (1, 4), (4, 1)))
    event = apply(event, [Played(black=1, white=4, result=BLACK_WINS)])
    known = ledger(event)
    line = known.lines[1]
    assert line.entries == [
        Entry(1, "game", 2, 0, 2, True),
        Entry(2, "game", 1, 1, 5, False),
        Entry(3, "open", 0, 0, 4, True),
        Entry(3, "game", 2, 0, 4, False),
    ]
    assert (line.score, line.whites, line.blacks, line.balance, line.opponents) == (5, 1, 2, -1, [2, 5, 4])
    assert [line.score_before(number) for number in (1, 2, 3, 4)] == [0, 2, 3, 5]
    assert [entry.kind for entry in known.lines[2].entries] == ["game", "void", "absent"]
    assert (known.lines[4].score, known.lines[4].whites, known.lines[4].blacks) == (2, 1, 0)
    assert [entry.kind for entry in known.lines[3].entries] == ["forfeit", "requested", "absent"]
    assert (known.lines[3].score, known.lines[3].byes) == (1, 0)
    assert (known.lines[5].score, known.lines[5].byes) == (3, 1)
    assert [entry.round for entry in known.lines[6].entries] == [3]
    assert dict(known.met) == {(1, 2): 1, (3, 4): 1, (1, 5): 1, (2, 4): 1, (1, 4): 1}
    assert known.have_met(4, 2)
    assert not known.have_met(2, 3)
    assert ledger(event, 1) == ledger(replace(event, rounds=event.rounds[:1], entrants=event.entrants), None)


def test_who_asks_again_for_the_same_round_gets_the_last_wish_alone() -> None:
    event = Event(system="swiss", entrants=entrants([None] * 3))
    for request in (Request(1, 1, 2), Request(2, 1, 1), Request(1, 2, 1), Request(1, 1, 0)):
        event = request_bye(event, request)
    assert set(event.requests) == {Request(2, 1, 1), Request(1, 2, 1), Request(1, 1, 0)}
