"""The Go draw: fair lots, countries apart, who comes down."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.tournaments.events import better_wins, by_lot, finish

from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import BLACK_WINS, DRAWN, WHITE_WINS, Entrant, Event, Game, Round
from cgos_server.tournaments.event import begin, forbid, withdraw
from cgos_server.tournaments.ledger import ledger
from cgos_server.tournaments.systems import godraw
from cgos_server.tournaments.tournament import next_round

Pair = tuple[int, int]
SEEDS = 600


def started(*starts: int, countries: str = "", clubs: str = "", **options: Any) -> Event:
    """Entrants with so many half points at the start; a letter each for countries and clubs, - for none."""
    people = tuple(
        Entrant(
            id=at,
            name=f"bot-{at}",
            rating=2_000.0,
            start=start,
            country=countries[at - 1 : at].replace("-", ""),
            club=clubs[at - 1 : at].replace("-", ""),
        )
        for at, start in enumerate(starts, 1)
    )
    return Event(system="godraw", entrants=people, options=options)


def with_rounds(event: Event, *rounds: Iterable[Game]) -> Event:
    for number, games in enumerate(rounds, 1):
        event = begin(event, Round(number=number, games=tuple(games)))
    return event


def drawn(event: Event, seeds: int = SEEDS) -> list[Round]:
    return [next_round(replace(event, seed=seed)) for seed in range(seeds)]


def pairs(round_: Round) -> set[Pair]:
    return {game.pair for game in round_.games}


def fair(count: int, share: float, of: int = SEEDS) -> bool:
    """So many of so many drawn are within 5 sigma of their share."""
    return abs(count - share * of) <= 5 * math.sqrt(of * share * (1 - share))


def test_colors_of_equals_are_a_fair_lot() -> None:
    rounds = drawn(started(0, 0))
    assert fair(sum(round_.games[0].white == 1 for round_ in rounds), 1 / 2)


def test_all_opponents_are_as_likely() -> None:
    counts = Counter(pair for round_ in drawn(started(0, 0, 0, 0, 0, 0)) for pair in pairs(round_))
    assert len(counts) == 15
    assert all(fair(count, 1 / 5) for count in counts.values())


def test_who_comes_down_and_whom_he_meets_are_fair_lots() -> None:
    counts = Counter(
        pair for round_ in drawn(started(4, 4, 4, 0, 0, 0)) for pair in pairs(round_) if pair[0] <= 3 < pair[1]
    )
    assert sum(counts.values()) == SEEDS
    for upper in (1, 2, 3):
        assert fair(sum(counts[upper, other] for other in (4, 5, 6)), 1 / 3)
        assert fair(sum(counts[other, upper + 3] for other in (1, 2, 3)), 1 / 3)


def test_three_countries_of_two_are_spread_evenly() -> None:
    # Whichever two meet first, the third country is then the largest and meets both.
    counts = Counter(
        "".join(sorted("aabbcc"[id_ - 1] for id_ in pair))
        for round_ in drawn(started(*[0] * 6, countries="aabbcc"))
        for pair in pairs(round_)
    )
    assert set(counts) == {"ab", "ac", "bc"}
    assert all(count == SEEDS for count in counts.values())


def loser_in_the_top_group(result: Any) -> Event:
    """1, 2 and 3 have 1 point: 1 as the loser of a higher start, unless the result is another; 4, 5 and 6 have less."""
    event = started(2, 0, 0, 0, 0, 2)
    event = with_rounds(
        event,
        [
            Game(black=6, white=1, result=result),
            Game(black=4, white=2, result=WHITE_WINS),
            Game(black=5, white=3, result=WHITE_WINS),
        ],
    )
    return withdraw(event, 6)


def test_who_lost_last_comes_down() -> None:
    for round_ in drawn(loser_in_the_top_group(BLACK_WINS), 60):
        assert [down for down, _ in round_.explanation.details["floats"]] == [1]
        assert pairs(round_) >= {(2, 3)}


def test_if_nobody_lost_anybody_comes_down() -> None:
    rounds = drawn(loser_in_the_top_group(DRAWN), 60)
    assert {round_.explanation.details["floats"][0][0] for round_ in rounds} == {1, 2, 3}


def test_where_the_loser_has_met_all_below_another_comes_down() -> None:
    event = forbid(forbid(loser_in_the_top_group(BLACK_WINS), 1, 4), 1, 5)
    rounds = drawn(event, 60)
    assert {tuple(round_.explanation.details["floats"][0]) for round_ in rounds} == {(2, 5), (3, 4)}


def winner_below(result: Any) -> Event:
    """1 has 3 points and comes down; of 2, 3 and 4 with 2, 2 was paired down in the last round, against 5."""
    event = started(4, 2, 4, 4, 0, 4)
    event = with_rounds(
        event,
        [
            Game(black=3, white=1, result=WHITE_WINS),
            Game(black=4, white=6, result=WHITE_WINS),
            Game(black=5, white=2, result=result),
        ],
    )
    return withdraw(event, 6)


def test_who_was_paired_down_and_won_is_met() -> None:
    for round_ in drawn(winner_below(WHITE_WINS), 60):
        assert round_.explanation.details["floats"] == [[1, 2]]
        assert [bye.entrant for bye in round_.byes] == [5]
        assert pairs(round_) == {(1, 2), (3, 4)}


def test_if_nobody_was_anybody_is_met_but_never_again() -> None:
    event = winner_below(WHITE_WINS)
    event = replace(
        event, entrants=tuple(replace(entrant, start=2) if entrant.id == 5 else entrant for entrant in event.entrants)
    )
    met = {round_.explanation.details["floats"][0][1] for round_ in drawn(event, 60)}
    assert met == {2, 4}


def test_who_has_met_the_next_group_goes_on_to_the_one_below() -> None:
    event = started(4, 2, 2, 0, 0, 0)
    event = forbid(forbid(event, 1, 2), 1, 3)
    for round_ in drawn(event, 30):
        assert round_.explanation.details["floats"][0][1] in (4, 5, 6)
        assert (2, 3) in pairs(round_)
        assert round_.explanation.details["merged"] == []


@settings(max_examples=40)
@given(st.text("abc-", min_size=2, max_size=12).filter(lambda text: len(text) % 2 == 0), st.integers(0, 999))
def test_authors_meet_themselves_only_where_one_has_more_than_half(countries: str, seed: int) -> None:
    event = replace(started(*[0] * len(countries), countries=countries), seed=seed)
    same = sum(countries[a - 1] == countries[b - 1] != "-" for a, b in pairs(next_round(event)))
    most = max(Counter(countries.replace("-", "")).values(), default=0)
    assert same == max(0, most - len(countries) // 2)


@settings(max_examples=20)
@given(st.text("ab-", min_size=2, max_size=10).filter(lambda text: len(text) % 2 == 0), st.integers(0, 999))
def test_in_one_country_the_same_holds_of_clubs(clubs: str, seed: int) -> None:
    event = replace(started(*[0] * len(clubs), countries="x" * len(clubs), clubs=clubs), seed=seed)
    same = sum(clubs[a - 1] == clubs[b - 1] != "-" for a, b in pairs(next_round(event)))
    assert same == max(0, max(Counter(clubs.replace("-", "")).values(), default=0) - len(clubs) // 2)


def test_who_has_met_all_of_the_second_country_meets_the_third() -> None:
    event = started(*[0] * 6, countries="aaabbc")
    event = forbid(forbid(event, 1, 4), 1, 5)
    rounds = drawn(event, 40)
    assert all((1, 6) in pairs(round_) for round_ in rounds)
    assert all({min(pair) for pair in pairs(round_)} == {1, 2, 3} for round_ in rounds)
    assert {round_.explanation.details["restarts"].get("1", 0) for round_ in rounds} > {0}


def test_wishes_for_colors_are_met_where_they_fit() -> None:
    event = with_rounds(
        started(0, 0, 0, 0), [Game(black=2, white=1, result=DRAWN), Game(black=4, white=3, result=DRAWN)]
    )
    for round_ in drawn(event, 60):
        assert {(game.white, game.black) for game in round_.games} == {(2, 3), (4, 1)}


def test_who_had_it_less_gets_the_color_that_both_want() -> None:
    event = with_rounds(
        started(0, 0, 0, 0),
        [Game(black=2, white=1, result=DRAWN), Game(black=4, white=3, result=DRAWN)],
        [Game(black=4, white=1, result=DRAWN), Game(black=3, white=2, result=DRAWN)],
    )
    for round_ in drawn(event, 30):
        assert pairs(round_) == {(1, 3), (2, 4)}
        assert (3, 1) in {(game.white, game.black) for game in round_.games}, "1 had White twice, 3 once"


def only_one_way() -> Event:
    """Six of whom 1-2, 2-3, 3-4, 4-5 and 5-6 have not met: only 1-2, 3-4 and 5-6 pairs all."""
    event = started(*[0] * 6)
    for a in range(1, 6):
        for b in range(a + 2, 7):
            event = forbid(event, a, b)
    return event


def test_a_draw_that_cannot_be_completed_is_drawn_again() -> None:
    rounds = drawn(only_one_way(), 60)
    assert all(pairs(round_) == {(1, 2), (3, 4), (5, 6)} for round_ in rounds)
    again = [round_.explanation.details["restarts"].get("1", 0) for round_ in rounds]
    assert min(again) == 0
    assert max(again) > 0


def test_and_searched_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(godraw, "RESTARTS", 0)
    rounds = drawn(only_one_way(), 30)
    searched = [round_ for round_ in rounds if round_.explanation.details["searched"]]
    assert searched
    for round_ in searched:
        assert pairs(round_) == {(1, 2), (3, 4), (5, 6)}
        assert "Searched" in round_.explanation.summary


def test_groups_are_drawn_together_before_anybody_meets_twice() -> None:
    event = with_rounds(
        started(4, 4, 0, 0), [Game(black=2, white=1, result=DRAWN), Game(black=4, white=3, result=DRAWN)]
    )
    for round_ in drawn(event, 10):
        assert not pairs(round_) & {(1, 2), (3, 4)}
        assert round_.explanation.details["merged"] == [[1, 2]]
        assert "Drawn together" in round_.explanation.summary


def test_groups_above_those_drawn_together_stay_as_they_are() -> None:
    event = with_rounds(
        started(8, 8, 4, 4, 0, 0), [Game(black=4, white=3, result=DRAWN), Game(black=6, white=5, result=DRAWN)]
    )
    event = replace(
        event, entrants=tuple(replace(entrant, joined=2) if entrant.id <= 2 else entrant for entrant in event.entrants)
    )
    for round_ in drawn(event, 10):
        assert (1, 2) in pairs(round_)
        assert round_.explanation.details["merged"] == [[2, 3]]


def test_rematches_are_as_few_as_possible() -> None:
    event = started(0, 0, 0, 0)
    event = with_rounds(
        event,
        [Game(black=2, white=1, result=DRAWN), Game(black=4, white=3, result=DRAWN)],
        [Game(black=3, white=1, result=DRAWN), Game(black=4, white=2, result=DRAWN)],
    )
    event = forbid(event, 1, 4)
    rounds = drawn(event, 40)
    assert {frozenset(pairs(round_)) for round_ in rounds} == {frozenset({(1, 2), (3, 4)}), frozenset({(1, 3), (2, 4)})}
    assert all("2 rematches: with fewer," in round_.explanation.summary for round_ in rounds)


def test_two_who_must_not_meet_are_refused() -> None:
    with pytest.raises(Refused, match="must not meet"):
        next_round(forbid(started(0, 0), 1, 2))


def test_nobody_has_a_second_bye_while_somebody_has_had_none() -> None:
    event = started(6, 4, 2, 0, 0)
    out = []
    for _ in range(10):
        round_ = next_round(event)
        out += [bye.entrant for bye in round_.byes]
        event = finish(begin(event, round_), better_wins)
    assert sorted(out[:5]) == [1, 2, 3, 4, 5]
    assert sorted(out[5:]) == [1, 2, 3, 4, 5]


def test_handicap() -> None:
    game = next_round(started(8, 0, handicap=True)).games[0]
    assert (game.white, game.black, game.handicap) == (1, 2, 3)


@settings(max_examples=15)
@given(starts=st.lists(st.integers(0, 9), max_size=9), seed=st.integers(0, 99))
def test_colors_never_go_to_who_had_them_more(starts: list[int], seed: int) -> None:
    event = replace(started(*starts), seed=seed)
    for number in range(4):
        round_ = next_round(event)
        known = ledger(event).lines
        assert all(known[game.white].balance <= known[game.black].balance for game in round_.games)
        event = finish(begin(event, round_), by_lot(seed + number))
