"""The bubble: who is ranked where, who meets whom, against the rules written down once more."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.core.vectors import parametrize
from support.tournaments.events import by_lot, entrants, finish, play, play_round

from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import (
    BLACK_WINS,
    DRAWN,
    VOID,
    WHITE_WINS,
    Entrant,
    Event,
    Explanation,
    Game,
    Request,
    Result,
)
from cgos_server.tournaments.event import (
    Played,
    apply,
    begin,
    correct,
    enter,
    forbid,
    rejoin,
    request_bye,
    withdraw,
)
from cgos_server.tournaments.recheck import recheck
from cgos_server.tournaments.systems.bubble import Bubble, old_ranking
from cgos_server.tournaments.tournament import (
    from_json,
    is_over,
    lots,
    next_round,
    ready_games,
    standings,
    system_of,
    to_json,
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        parametrize(metafunc, "case", "muller_bubble_trace")


def event_of(count: int, **options: Any) -> Event:
    return Event(system="bubble", entrants=entrants([3000.0 - at for at in range(count)]), options=options)


def trace(event: Event) -> list[dict[str, Any]]:
    system = system_of(event)
    assert isinstance(system, Bubble)
    return system.trace(event)


def new_ranking(event: Event) -> list[int]:
    return [row.entrant for row in standings(event).rows if row.values[0] is not None]


def strongest(strength: dict[int, int]) -> Callable[[Game], Result]:
    return lambda game: WHITE_WINS if strength[game.white] > strength[game.black] else BLACK_WINS


# --- vectors


@pytest.mark.parametrize("games", [1, 2])
def test_vectors(case: dict[str, Any], games: int) -> None:
    strength = {_id(name): value for name, value in case["strength"].items()}
    upsets = {tuple(sorted(map(_id, pair))) for pair in case["upsets"]}
    draws = {tuple(sorted(map(_id, pair))) for pair in case["draws"]}

    def rule(game: Game) -> Result:
        if game.pair in draws:
            return DRAWN
        return WHITE_WINS if (strength[game.white] > strength[game.black]) != (game.pair in upsets) else BLACK_WINS

    options = {key: case[key] for key in ("active_size", "min_matches", "unpark_below")}
    old = tuple(Entrant(id=_id(name), name=name) for name in case["old_ranking_best_first"])
    event = play(Event(system="bubble", entrants=old, options={**options, "games_per_match": games}), rule)
    expected = [_with_ids(step) for step in case["events"]]
    assert [_unordered(step) for step in trace(event)] == [_unordered(step) for step in expected]
    details = [step for round_ in event.rounds for step in round_.explanation.details["events"]]
    assert details == trace(event)[: len(details)]
    assert not any(step["matches"] for step in trace(event)[len(details) : -1])

    assert [row.name for row in standings(event).rows] == case["new_ranking_best_first"]
    met = {game.pair for round_ in event.rounds for game in round_.games}
    assert len(met) == case["matches_total"]
    count = Counter(id_ for pair in met for id_ in pair)
    assert count == {_id(name): matches for name, matches in case["matches_per_engine"].items()}
    assert sum(len(round_.games) for round_ in event.rounds) == games * len(met)


def _id(name: str) -> int:
    return int(name[1:])


def _with_ids(value: Any) -> Any:
    if isinstance(value, str):
        return _id(value) if value[0] == "E" else value
    if isinstance(value, list):
        return [_with_ids(inner) for inner in value]
    if isinstance(value, dict):
        return {key: _with_ids(inner) for key, inner in value.items()}
    return value


def _unordered(event: dict[str, Any]) -> dict[str, Any]:
    """The order of matches, and of ids inside one, means nothing."""
    matches = sorted(sorted(match) for match in event.get("matches", ()))
    return {**event, "matches": matches}


# --- against the rules written down once more


class Literal:
    """The steps as they read, on plain lists; results by a table of match points."""

    def __init__(self, old: list[int], size: int, least: int, unpark: int, points: dict[tuple[int, int], int]) -> None:
        self.old, self.least, self.unpark, self.points = old, least, unpark, points
        self.below = old[::-1]
        self.active = [self.below.pop(0) for _ in range(min(size, len(old)))]
        self.parked: list[int] = []
        self.ranked: list[int] = []
        self.met: set[frozenset[int]] = set()
        self.over = False
        self._play()

    def _play(self) -> None:
        for id_ in self.active:
            self.met |= {frozenset((id_, other)) for other in self.active if id_ != other}

    def matches(self, id_: int) -> int:
        return sum(id_ in pair for pair in self.met)

    def standings(self, gone: list[int] | None = None) -> list[int]:
        active = [id_ for id_ in self.active if id_ not in (gone or [])]
        inside = {id_: {other: self.points[id_, other] for other in active if other != id_} for id_ in active}
        score = {id_: sum(inside[id_].values()) for id_ in active}
        berger = {id_: sum(inside[id_][other] * score[other] for other in inside[id_]) for id_ in active}
        wins = {id_: list(inside[id_].values()).count(2) for id_ in active}
        return sorted(active, key=lambda id_: (-score[id_], -berger[id_], -wins[id_], self.old.index(id_)))

    def _met_of(self, id_: int, stay: list[int]) -> int:
        return len([other for other in stay if frozenset((id_, other)) in self.met])

    def _replacement(self, stay: list[int], third: bool) -> int | None:
        for id_ in self.parked:
            if self._met_of(id_, stay) < min(self.unpark, len(stay)):
                return id_
        if self.below:
            return self.below[0]
        if third and self.parked:
            return min(self.parked, key=lambda parked_id: (self._met_of(parked_id, stay), self.parked.index(parked_id)))
        return None

    def _come(self, id_: int | None) -> None:
        if id_ is not None:
            (self.parked if id_ in self.parked else self.below).remove(id_)
            self.active.append(id_)

    def step(self) -> tuple[str, int | None, int | None]:
        """What happens, who leaves, who comes."""
        order = self.standings()
        if not self.below and not self.parked:
            self.ranked += order[::-1]
            self.active, self.over = [], True
            return "finish", None, None
        action = "drop" if self.matches(order[-1]) >= self.least else "park"
        while True:
            leaver = order[-1] if action == "drop" else order[0]
            stay = [id_ for id_ in self.active if id_ != leaver]
            new = self._replacement(stay, third=action == "drop")
            if new is not None:
                break
            action = "drop"
        self._come(new)
        self.active.remove(leaver)
        (self.ranked if action == "drop" else self.parked).append(leaver)
        self._play()
        return action, leaver, new

    def withdraw(self, gone: list[int]) -> None:
        self.below = [id_ for id_ in self.below if id_ not in gone]
        self.parked = [id_ for id_ in self.parked if id_ not in gone]
        for id_ in [active_id for active_id in self.active if active_id in gone]:
            stay = [other for other in self.active if other not in gone]
            new = self._replacement(stay, third=True)
            self.active.remove(id_)
            self._come(new)
        self._play()

    def provisional(self, gone: list[int]) -> list[int]:
        waiting = [id_ for id_ in (*self.below[::-1], *self.parked[::-1]) if id_ not in gone]
        return [*waiting, *self.standings(gone), *self.ranked[::-1]]


@st.composite
def runs(draw: st.DrawFn) -> tuple[int, int, int, int, int]:
    """Entrants, active size, least matches, unpark below, seed."""
    size = draw(st.integers(2, 6))
    return draw(st.integers(0, 13)), size, draw(st.integers(0, 12)), draw(st.integers(1, size - 1)), draw(st.integers())


@settings(max_examples=60)
@given(runs(), st.sampled_from([0.0, 0.0, 0.1, 0.3]), st.sampled_from([0.0, 0.3]))
def test_as_the_rules_written_down_once_more(run: tuple[int, int, int, int, int], leave: float, void: float) -> None:
    count, size, least, unpark, seed = run
    rng = random.Random(seed)
    event = event_of(count, active_size=size, min_matches=least, unpark_below=unpark)
    points: dict[tuple[int, int], int] = {}
    for id_ in range(1, count + 1):
        for other in range(1, id_):
            made = rng.choice([0, 1, 2, 0, 2])
            points[id_, other], points[other, id_] = made, 2 - made

    def rule(game: Game) -> Result:
        made = points[game.white, game.black]
        return VOID if rng.random() < void else Result(2 - made, made)

    literal = Literal([entrant.id for entrant in event.entrants], size, least, unpark, points)
    if literal.met:
        event = _played(event, rule)
    while not literal.over:
        gone = [entrant.id for entrant in event.entrants if rng.random() < leave and entrant.id not in event.withdrawn]
        for id_ in gone:
            event = withdraw(event, id_)
        if not is_over(event):
            assert new_ranking(event) == literal.provisional(gone)
        literal.withdraw(gone)
        while not literal.over and literal.met == _met(event):
            literal.step()
        assert is_over(event) == literal.over
        if not literal.over:
            event = _played(event, rule)
        assert _met(event) == literal.met
    assert is_over(event)
    assert new_ranking(event) == literal.ranked[::-1]
    assert len(_met(event)) <= count * (count - 1) // 2


def _met(event: Event) -> set[frozenset[int]]:
    return {frozenset(game.pair) for round_ in event.rounds for game in round_.games}


def _played(event: Event, rule: Callable[[Game], Result]) -> Event:
    """The event after a step, with what was void played again until nothing is."""
    event = play_round(event, rule)
    while not is_over(event) and next_round(event).number == len(event.rounds):
        event = play_round(event, rule)
    return event


# --- properties of whole runs


@settings(max_examples=25)
@given(runs(), st.integers(1, 2), st.sets(st.tuples(st.integers(1, 6), st.integers(7, 13)), max_size=4))
def test_everybody_is_ranked_and_two_meet_once(
    run: tuple[int, int, int, int, int], games: int, forbidden: set[tuple[int, int]]
) -> None:
    count, size, least, unpark, seed = run
    event = event_of(count, active_size=size, min_matches=least, unpark_below=unpark, games_per_match=games)
    for first, second in sorted(forbidden):
        event = forbid(event, first, second) if second <= count else event
    event = play(event, by_lot(seed, draws=0.3))
    meetings = Counter(game.pair for round_ in event.rounds for game in round_.games)
    assert set(meetings.values()) <= {games}
    assert not set(meetings) & set(event.forbidden)
    assert sorted(new_ranking(event)) == [entrant.id for entrant in event.entrants]
    assert all(round_.games for round_ in event.rounds)
    assert [row.place for row in standings(event).rows] == list(range(1, count + 1))
    colors = Counter((game.white, game.black) for round_ in event.rounds for game in round_.games)
    assert set(colors.values()) <= {1}
    assert all(game.reason for round_ in event.rounds for game in round_.games)
    assert all(round_.explanation.summary for round_ in event.rounds)
    plain = replace(event, rounds=tuple(replace(round_, explanation=Explanation()) for round_ in event.rounds))
    assert trace(plain) == trace(event)
    assert standings(plain) == standings(event)
    assert all(result.agrees for result in recheck(event))


def test_a_strong_newcomer_is_carried_to_the_top_and_a_long_list_takes_half_of_all_matches() -> None:
    count = 40
    strength = {id_: -id_ for id_ in range(1, count)} | {count: 1}
    event = play(event_of(count), strongest(strength))
    assert new_ranking(event) == [count, *range(1, count)]
    assert len(_met(event)) < count * (count - 1) / 4


def test_one_game_a_match_gives_everybody_both_colors() -> None:
    event = next_round(event_of(10, games_per_match=1))
    whites = Counter(game.white for game in event.games)
    assert len(event.games) == 45
    assert all(4 <= whites[id_] <= 5 for id_ in range(1, 11))


def test_other_words_come_after_the_list() -> None:
    event = play(event_of(6, active_size=3), by_lot(2), 3)
    plain, other = standings(event), standings(replace(event, tie_breakers=("sos", "wins")))
    assert plain.order == ("list", "points", "games-black")
    assert other.order == ("list", "sos", "wins")
    assert [row.entrant for row in other.rows] == [row.entrant for row in plain.rows]


def test_nobody_and_one_are_a_list_already() -> None:
    for count in (0, 1):
        assert is_over(event_of(count))
        assert ready_games(event_of(count)) == ()
        assert new_ranking(event_of(count)) == list(range(1, count + 1))
        with pytest.raises(Refused, match="over after 0 rounds"):
            next_round(event_of(count))


def test_planned_rounds_end_it() -> None:
    event = replace(event_of(8, active_size=3), planned=2)
    event = play(event, by_lot(4))
    assert len(event.rounds) == 2
    with pytest.raises(Refused, match="over after 2 rounds"):
        next_round(event)


# --- options


@pytest.mark.parametrize(("size", "unpark"), [(2, 1), (4, 3), (6, 5), (10, 5)])
def test_the_usual_threshold_is_lowered_for_a_small_active_set(size: int, unpark: int) -> None:
    assert Bubble(active_size=size).rules.unpark_below == unpark


def test_an_explicit_threshold_that_nobody_could_use_is_refused() -> None:
    assert Bubble(active_size=4, unpark_below=3).rules.unpark_below == 3
    with pytest.raises(Refused, match="a whole number from 1 to 3"):
        Bubble(active_size=4, unpark_below=4)


# --- matches


def match(*results: Result) -> tuple[int, int]:
    """Points of 1 and 2 by a match of two games, 2 having White in the first."""
    event = begin(event_of(2), next_round(event_of(2)))
    first, second = event.rounds[0].games
    assert (first.white, second.white) == (2, 1)
    event = apply(event, [Played(black=1, white=2, result=results[0]), Played(black=2, white=1, result=results[1])])
    (finished,) = (step for step in trace(event) if step["event"] == "finish")
    result = {id_: points for id_, points, _ in finished["table"]}
    return result[1], result[2]


@pytest.mark.parametrize(
    ("results", "points"),
    [
        ((WHITE_WINS, WHITE_WINS), (1, 1)),
        ((BLACK_WINS, WHITE_WINS), (2, 0)),
        ((WHITE_WINS, DRAWN), (0, 2)),
        ((DRAWN, WHITE_WINS), (2, 0)),
        ((DRAWN, DRAWN), (1, 1)),
        ((Result(0, 0, "forfeit"), Result(0, 0, "forfeit")), (0, 0)),
        ((Result(0, 2, "forfeit"), DRAWN), (0, 2)),
    ],
)
def test_the_sum_of_its_games_decides_a_match(results: tuple[Result, Result], points: tuple[int, int]) -> None:
    assert match(*results) == points


def test_what_was_void_is_played_again_with_the_same_colors() -> None:
    event = event_of(6, active_size=3)
    event = finish(begin(event, next_round(event)), lambda game: VOID if game.white == 6 else WHITE_WINS)
    again = next_round(event)
    assert [(game.white, game.black) for game in again.games] == [
        (game.white, game.black) for game in event.rounds[0].games if game.white == 6
    ]
    assert again.number == 1
    assert ready_games(event) == (again,)
    assert next_round(replace(event, planned=1)) == again
    event = finish(begin(event, again), lambda _game: BLACK_WINS)
    assert [step["event"] for step in trace(event)] == ["start"]
    assert [step["event"] for step in next_round(event).explanation.details["events"]] == ["park"]
    assert is_over(replace(event, planned=1))


def test_the_only_game_of_a_match_is_played_again_with_the_same_colors() -> None:
    event = event_of(8, active_size=4, games_per_match=1)
    event = begin(event, next_round(event))
    for game in event.rounds[0].games:
        alone = next_round(
            finish(apply(event, [Played(black=game.black, white=game.white, result=VOID)]), lambda _game: WHITE_WINS)
        )
        assert [(again.white, again.black) for again in alone.games] == [(game.white, game.black)]
    every = finish(event, lambda _game: VOID)
    assert [(g.white, g.black) for g in next_round(every).games] == [(g.white, g.black) for g in every.rounds[0].games]


def test_a_void_game_can_be_repeated_while_others_are_played() -> None:
    event = event_of(6, active_size=3)
    event = begin(event, next_round(event))
    assert ready_games(event) == ()
    event = apply(event, [Played(black=5, white=6, result=VOID)])
    (part,) = ready_games(event)
    assert part.number == 1
    assert [(game.white, game.black) for game in part.games] == [(6, 5)]
    event = begin(event, part)
    assert ready_games(event) == ()
    with pytest.raises(Refused, match="without a result"):
        next_round(event)
    event = finish(event, lambda _game: WHITE_WINS)
    assert ready_games(event) == (next_round(event),)
    assert [step["event"] for step in next_round(event).explanation.details["events"]] == ["park"]


def test_a_corrected_result_does_not_change_what_was_decided() -> None:
    event = play(event_of(7, active_size=3, min_matches=2), strongest({id_: -id_ for id_ in range(1, 8)}), 2)
    dropped = event.rounds[1].explanation.details["events"][0]
    assert (dropped["event"], dropped["who"]) == ("drop", 7)
    assert dropped["table"] == [[5, 4, 2], [6, 2, 2], [7, 0, 2]]
    for game in event.rounds[0].games:
        result = WHITE_WINS if game.white == 7 else BLACK_WINS if game.black == 7 else game.result
        event = correct(event, game.id, result)
    assert trace(event)[1]["who"] == 7
    assert next_round(event).explanation.details["events"][0]["step"] == 2
    plain = replace(event, rounds=tuple(replace(round_, explanation=Explanation()) for round_ in event.rounds))
    assert trace(plain)[1]["who"] == 6


# --- people come and go


def test_who_withdraws_is_replaced_and_is_in_no_ranking() -> None:
    event = play(event_of(8, active_size=4), strongest({id_: -id_ for id_ in range(1, 9)}), 1)
    event = withdraw(event, 6)
    paired = next_round(event)
    (first, *_) = paired.explanation.details["events"]
    assert first["event"] == "withdraw"
    assert (first["who"], first["replacement"], first["source"]) == (6, 4, "old")
    assert {game.pair for game in paired.games} == {(4, 5), (4, 7), (4, 8)}
    assert "bot-6 has withdrawn" in paired.explanation.summary
    event = finish(begin(event, paired), strongest({id_: -id_ for id_ in range(1, 9)}))
    park = next_round(event).explanation.details["events"][0]
    assert park["table"] == [[4, 6, 3], [5, 4, 4], [7, 2, 4], [8, 0, 4]]
    event = play(event, by_lot(1))
    assert sorted(new_ranking(event)) == [1, 2, 3, 4, 5, 7, 8]
    assert standings(event).rows[-1].entrant == 6
    assert all(result.agrees for result in recheck(event))


def test_everybody_withdraws() -> None:
    event = play(event_of(5, active_size=3), by_lot(1), 1)
    for id_ in range(1, 6):
        event = withdraw(event, id_)
    assert is_over(event)
    assert new_ranking(event) == []


def test_who_returns_before_the_bubble_came_by_takes_part() -> None:
    event = play(event_of(9, active_size=3), by_lot(1), 1)
    for id_ in (2, 8):
        event = withdraw(event, id_)
    event = play(event, by_lot(2), 1)
    for id_ in (2, 8):
        event = rejoin(event, id_)
    event = play(event, by_lot(3))
    assert sorted(new_ranking(event)) == [1, 2, 3, 4, 5, 6, 7, 9]
    assert len(new_ranking(event)) == 8


def test_who_was_parked_when_it_withdrew_does_not_return_to_the_parked() -> None:
    rule = strongest({id_: -id_ for id_ in range(1, 10)})
    event = play(event_of(9, active_size=3), rule, 2)
    assert trace(event)[-1]["parked"] == [7]
    event = play(withdraw(event, 7), rule, 1)
    event = play(rejoin(event, 7), rule)
    assert new_ranking(event) == [1, 2, 3, 4, 5, 6, 8, 9]


def test_withdrawing_and_returning_between_two_steps_is_nothing() -> None:
    event = play(event_of(9, active_size=3), by_lot(1), 2)
    assert next_round(rejoin(withdraw(event, 8), 8)) == next_round(event)


def test_late_entrants_take_part_if_their_rating_is_above_the_bubble() -> None:
    event = play(event_of(9, active_size=3), by_lot(1), 2)
    event = enter(event, Entrant(id=10, name="strong", rating=2998.5))
    event = enter(event, Entrant(id=11, name="weak", rating=2992.5))
    event = enter(event, Entrant(id=12, name="unknown"))
    event = enter(event, Entrant(id=13, name="the strongest", rating=4000.0))
    places = old_ranking(event.entrants)
    assert sorted(places, key=places.__getitem__) == [13, 1, 2, 10, 3, 4, 5, 6, 7, 8, 11, 9, 12]
    event = play(from_json(to_json(event)), by_lot(2))
    assert sorted(new_ranking(event)) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13]
    assert {row.entrant for row in standings(event).rows[-2:]} == {11, 12}
    plain = replace(event, rounds=tuple(replace(round_, explanation=Explanation()) for round_ in event.rounds))
    assert trace(plain) == trace(event)


def test_a_gap_in_the_active_set_is_filled_by_late_entrants() -> None:
    event = play(event_of(3, active_size=4), by_lot(1), 1)
    assert is_over(event)
    event = enter(event, Entrant(id=4, name="strong", rating=9000.0))
    paired = next_round(event)
    assert [step["event"] for step in paired.explanation.details["events"]] == ["enter"]
    assert {game.pair for game in paired.games} == {(1, 4), (2, 4), (3, 4)}
    event = finish(begin(event, paired), lambda game: WHITE_WINS if game.white == 4 else BLACK_WINS)
    assert new_ranking(event)[0] == 4


def test_byes_asked_for_mean_nothing() -> None:
    event = play(event_of(6, active_size=3), by_lot(1), 1)
    assert next_round(request_bye(event, Request(5, 2, 1))) == next_round(event)


def test_pairing_again_gives_the_same_and_changes_nothing() -> None:
    event = event_of(8, active_size=4)
    for number in range(5):
        before = to_json(event)
        paired = next_round(event)
        assert next_round(from_json(before)) == paired
        assert system_of(event).ready_games(event, lots(event)) == (paired,)
        assert to_json(event) == before
        event = finish(begin(event, paired), by_lot(number))
    numbers = [step["step"] for step in trace(event)]
    assert all(later == earlier + 1 for earlier, later in pairwise(numbers))
