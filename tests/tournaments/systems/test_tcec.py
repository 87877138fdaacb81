"""TCEC's rules against a literal transcription of them."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.core.vectors import Vectors
from support.tournaments.events import Rule, by_lot, entrants, finish, play, play_round

from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import (
    DRAWN,
    NO_CONTEST,
    Entrant,
    Event,
    Explanation,
    Game,
    Request,
    Result,
    Round,
)
from cgos_server.tournaments.event import (
    Played,
    apply,
    begin,
    enter,
    forbid,
    rejoin,
    request_bye,
    withdraw,
)
from cgos_server.tournaments.ledger import ledger
from cgos_server.tournaments.systems.tcec import Tcec, history
from cgos_server.tournaments.tournament import from_json, next_round, standings, to_json


def number_of(name: str | None) -> int | None:
    return None if name is None else int(name[1:])


def pairs_of(pairs: list[list[str]]) -> list[list[int | None]]:
    return [[number_of(first), number_of(second)] for first, second in pairs]


def event_of(count: int, **options: Any) -> Event:
    return Event(
        system="tcec",
        entrants=entrants([3000 - at for at in range(count)]),
        options={"seeding": "listed", **options},
        seed=5,
    )


def test_vectors(vectors: Vectors) -> None:
    for case in vectors("tcec_rounds")["tournaments"]:
        seeds = [Entrant(id=int(name[1:]), name=name) for name in case["seed_order"]]
        event = Event(
            system="tcec",
            entrants=tuple(seeds),
            options={"games_per_match": 2 if case["format"] == "double" else 1, "seeding": "listed"},
        )
        for expected in case["rounds"]:
            for name in expected["before"].get("withdraw", ()):
                event = withdraw(event, int(name[1:]))
            for name in expected["before"].get("join", ()):
                event = enter(event, Entrant(id=int(name[1:]), name=name))
            round_ = next_round(event)
            _as_expected(round_.explanation.details, expected, case["name"])
            assert round_.number == expected["round"]
            order = [[game.white, game.black] for game in round_.games]
            assert order == pairs_of(expected["playing_order"])
            boards = [[board["white"], board["black"]] for board in expected["boards"]]
            assert order[: len(boards)] == pairs_of(boards[::-1])

            event = from_json(to_json(begin(event, round_)))
            results = zip(round_.games, expected["results_white_half_points"], strict=True)
            event = apply(
                event,
                [
                    Played(
                        black=game.black,
                        white=game.white,
                        result=NO_CONTEST if points is None else Result(2 - points, points),
                    )
                    for game, points in results
                ],
            )
            lines = ledger(event).lines
            assert {f"P{id_:02}": line.score for id_, line in lines.items()} == expected["scores_after_half_points"]
            assert {f"P{id_:02}": line.balance for id_, line in lines.items()} == expected["wgd_after"]
            assert {f"P{id_:02}": line.byes for id_, line in lines.items()} == expected["byes_after"]
        _final(event, case["final"])


def _as_expected(details: dict[str, Any], expected: dict[str, Any], name: str) -> None:
    assert details["pairing_order"] == [number_of(name_) for name_ in expected["pairing_order"]], name
    assert details["bye"] == number_of(expected["bye"])
    assert details["history_removed"] == expected["history_removed"]
    assert details["color_bound"] == expected["color_bound"]
    assert details["pairs"] == pairs_of(expected["pairs"])
    assert details["playing_order"] == pairs_of(expected["playing_order"])


def _final(event: Event, final: dict[str, Any]) -> None:
    table = standings(event)
    assert [row.name for row in table.rows] == final["ranking"]
    values = {row.name: dict(zip(table.order, row.values, strict=True)) for row in table.rows}
    for name, value in values.items():
        assert value["points"] == final["score_half_points"][name] / 2
        assert value["byes"] == final["byes"][name]
        assert value["games-black"] == final["black_games"][name]
        assert value["sonneborn-berger"] == final["sonneborn_berger_quarter_points"][name] / 4


class Literal:
    """The rules once more, step by step, as slow as they read, with a state of its own."""

    def __init__(self, seeds: list[int], double: bool) -> None:
        self.seeds = seeds
        self.double = double
        self.round = 0
        self.score = dict.fromkeys(seeds, 0)
        self.byes = dict.fromkeys(seeds, 0)
        self.wgd = dict.fromkeys(seeds, 0)
        self.history: list[tuple[int, set[frozenset[int]]]] = []

    def enter(self, id_: int) -> None:
        self.seeds.append(id_)
        self.score[id_] = self.byes[id_] = self.wgd[id_] = 0

    def pair(self, active: list[int]) -> dict[str, Any]:
        self.round += 1
        order = sorted(active, key=self.seeds.index)
        order.sort(key=lambda id_: self.score[id_], reverse=True)
        details: dict[str, Any] = {"pairing_order": list(order), "bye": None, "history_removed": []}
        if len(order) % 2 == 1:
            fewest = min(self.byes[id_] for id_ in order)
            details["bye"] = [id_ for id_ in order if self.byes[id_] == fewest][-1]
            order.remove(details["bye"])
        bound = 2
        while not self._all_pairings(order, bound, without_history=True):
            bound += 1
        while not self._all_pairings(order, bound):
            details["history_removed"].append(self.history.pop(0)[0])
        result = self._all_pairings(order, bound)
        pairs = min(result, key=lambda pairs: [order.index(second) for _, second in pairs])
        if pairs:
            self.history.append((self.round, {frozenset(pair) for pair in pairs}))
        if details["bye"] is not None:
            self.byes[details["bye"]] += 1
            self.score[details["bye"]] += 4 if self.double else 2
        details["pairs"] = [list(pair) for pair in pairs]
        details["color_bound"] = bound
        details["playing_order"] = self._playing_order(pairs)
        return details

    def _all_pairings(self, left: list[int], bound: int, without_history: bool = False) -> list[list[tuple[int, int]]]:
        if not left:
            return [[]]
        first = left[0]
        collected: list[list[tuple[int, int]]] = []
        for second in left[1:]:
            colors = abs(self.wgd[first] + self.wgd[second]) <= bound
            met = any({first, second} in pairs for _, pairs in self.history)
            if colors and (without_history or not met):
                rest = [id_ for id_ in left if id_ not in (first, second)]
                collected += [[(first, second), *others] for others in self._all_pairings(rest, bound, without_history)]
        return collected

    def _playing_order(self, pairs: list[tuple[int, int]]) -> list[list[int]]:
        boards = [[f, s] if not self.double and self._first_is_white(f, s) else [s, f] for f, s in pairs]
        boards.reverse()
        return boards + [[black, white] for white, black in boards] if self.double else boards

    def _first_is_white(self, f: int, s: int) -> bool:
        if self.wgd[f] != self.wgd[s]:
            return self.wgd[f] < self.wgd[s]
        if self.score[f] != self.score[s]:
            return self.score[f] < self.score[s]
        return {1: False, 2: True, 3: True, 0: False}[self.round % 4]

    def played(self, white: int, black: int, result: Result) -> None:
        self.score[white] += result.white
        self.score[black] += result.black
        if result.how == "played":
            self.wgd[white] += 1
            self.wgd[black] -= 1


CHANGES = ("withdraw", "rejoin", "enter", "bye", "nothing")
UNPLAYED = (NO_CONTEST, Result(0, 2, "forfeit"), Result(2, 0, "forfeit"), Result(0, 0, "forfeit"))


@st.composite
def courses(draw: st.DrawFn) -> tuple[int, bool, list[list[tuple[str, int]]], int, float]:
    """How many enter first, double rounds, what happens before each round, a seed and a share for the results."""
    changes = st.lists(st.tuples(st.sampled_from(CHANGES), st.integers(0, 99)), max_size=3)
    return (
        draw(st.integers(0, 8)),
        draw(st.booleans()),
        draw(st.lists(changes, min_size=1, max_size=8)),
        draw(st.integers(0, 10_000)),
        draw(st.sampled_from([0.0, 0.0, 0.2, 0.6])),
    )


@settings(max_examples=120)
@given(courses())
def test_as_a_literal_transcription_of_the_rules(
    course: tuple[int, bool, list[list[tuple[str, int]]], int, float],
) -> None:
    size, double, rounds, seed, unplayed = course
    rng = random.Random(seed)
    event = event_of(size, games_per_match=2 if double else 1)
    literal = Literal([entrant.id for entrant in event.entrants], double)
    for number, changes in enumerate(rounds, 1):
        collected: set[int] = set()
        for what, which in changes:
            ids = [entrant.id for entrant in event.entrants]
            if what == "enter" and len(ids) < 8:
                event = enter(event, Entrant(id=len(ids) + 1, name=f"bot-{len(ids) + 1}"))
                literal.enter(len(ids) + 1)
            elif ids and what == "withdraw":
                event = withdraw(event, ids[which % len(ids)])
            elif event.withdrawn and what == "rejoin":
                event = rejoin(event, event.withdrawn[which % len(event.withdrawn)])
            elif ids and what == "bye" and ids[which % len(ids)] not in event.withdrawn:
                collected.add(ids[which % len(ids)])
                event = request_bye(event, Request(ids[which % len(ids)], number, which % 3))
        active = [
            entrant.id
            for entrant in event.entrants
            if entrant.id not in event.withdrawn and entrant.id not in collected
        ]
        round_ = next_round(event)
        assert round_.explanation.details == literal.pair(active)
        assert [[game.white, game.black] for game in round_.games] == round_.explanation.details["playing_order"]
        for bye in round_.byes:
            if bye.requested:
                literal.score[bye.entrant] += bye.points
        event = from_json(to_json(begin(event, round_)))
        for game in round_.games:
            result = (
                rng.choice(UNPLAYED)
                if rng.random() < unplayed
                else rng.choice([Result(0, 2), Result(2, 0), Result(1, 1)])
            )
            event = apply(event, [Played(black=game.black, white=game.white, result=result)])
            literal.played(game.white, game.black, result)
        lines = ledger(event).lines
        assert {id_: line.score for id_, line in lines.items()} == literal.score
        assert {id_: line.balance for id_, line in lines.items()} == literal.wgd
        assert {id_: line.byes for id_, line in lines.items()} == literal.byes
        kept = [(round_number, {frozenset(pair) for pair in pairs}) for round_number, pairs in history(event)]
        assert kept == literal.history
        assert history(_without_explanations(event)) == history(event)


def _without_explanations(event: Event) -> Event:
    return replace(event, rounds=tuple(replace(round_, explanation=Explanation()) for round_ in event.rounds))


@settings(max_examples=25)
@given(st.integers(2, 12), st.booleans(), st.integers(0, 10_000))
def test_colors_stay_within_two_and_byes_within_one(size: int, double: bool, seed: int) -> None:
    event = event_of(size, games_per_match=2 if double else 1)
    for number in range(1, size + 4):
        event = play_round(event, by_lot(seed + number, draws=0.3))
        lines = ledger(event).lines.values()
        assert max(abs(line.balance) for line in lines) <= (0 if double else 2)
        assert max(line.byes for line in lines) - min(line.byes for line in lines) <= 1
        if size % 2 == 0 and number % 2 and not double:
            assert {abs(line.balance) for line in lines} == {1}
        assert event.rounds[-1].explanation.details["color_bound"] == 2


@pytest.mark.parametrize("size", [12, 20])
def test_nobody_meets_again_before_a_round_has_left_the_history(size: int) -> None:
    event = play(event_of(size), by_lot(size), size + 2)
    met: set[tuple[int, int]] = set()
    rematches = removals = 0
    for round_ in event.rounds:
        removals += len(round_.explanation.details["history_removed"])
        rematches += len(met & {game.pair for game in round_.games})
        assert removals or not rematches
        met |= {game.pair for game in round_.games}
    assert rematches
    assert all(
        any(
            str(number) in past_round.explanation.summary
            for number in past_round.explanation.details["history_removed"]
        )
        for past_round in event.rounds
        if past_round.explanation.details["history_removed"]
    )


def test_a_second_game_has_the_other_colors() -> None:
    round_ = next_round(event_of(6, games_per_match=2))
    first, second = round_.games[:3], round_.games[3:]
    assert [(game.black, game.white) for game in second] == [(game.white, game.black) for game in first]
    assert all("game 1 of 2" in game.reason for game in first)
    assert all("game 2 of 2" in game.reason for game in second)


def test_a_bye_is_worth_what_the_event_says_for_each_game() -> None:
    worth = [
        next_round(replace(event_of(5, games_per_match=2 if double else 1), bye_points=points)).byes[0].points
        for double in (False, True)
        for points in (0, 1, 2)
    ]
    assert worth == [0, 1, 2, 0, 2, 4]


@settings(max_examples=20)
@given(st.integers(4, 9), st.sets(st.tuples(st.integers(1, 4), st.integers(5, 9)), max_size=5), st.integers(0, 99))
def test_forbidden_pairs_never_meet(size: int, forbidden: set[tuple[int, int]], seed: int) -> None:
    event = event_of(size)
    for first, second in sorted(forbidden):
        if second <= size:
            event = forbid(event, first, second)
    for number in range(1, size + 2):
        try:
            event = play_round(event, by_lot(seed + number))
        except Refused as refusal:
            assert "must not meet" in refusal.sentence  # noqa: PT017 - most events have no such round
            return
        assert not {game.pair for game in event.rounds[-1].games} & set(event.forbidden)


def test_where_forbidden_pairs_leave_nobody_it_says_what_to_do() -> None:
    event = event_of(4)
    for other in (2, 3, 4):
        event = forbid(event, 1, other)
    with pytest.raises(Refused, match="Allow one of these pairs, or let somebody ask for a bye"):
        next_round(event)
    assert {game.pair for game in next_round(request_bye(request_bye(event, Request(1, 1)), Request(4, 1))).games} == {
        (2, 3)
    }


def test_the_field_is_odd_and_only_one_may_sit_out() -> None:
    event = event_of(3)
    for first, second in ((1, 2), (1, 3)):
        event = forbid(event, first, second)
    round_ = next_round(event)
    assert [bye.entrant for bye in round_.byes] == [1]
    assert {game.pair for game in round_.games} == {(2, 3)}


@pytest.mark.parametrize("method", ["random", "group", "equal-distance"])
def test_seeds_decide_the_first_round_and_the_last_tie(method: str) -> None:
    event = event_of(9, seeding=method, groups=3)
    seeds = Tcec(seeding=method, groups=3).seeds(event)
    assert seeds != sorted(seeds)
    assert next_round(event).explanation.details["pairing_order"] == seeds
    assert [row.entrant for row in standings(event).rows] == seeds

    def nothing(_game: Any) -> Result:
        return NO_CONTEST

    rule: Rule = nothing
    event = finish(begin(event, next_round(event)), rule)
    late = enter(event, Entrant(id=10, name="late", rating=9000.0))
    assert next_round(late).explanation.details["pairing_order"] == [seeds[-1], *seeds[:-1], 10]  # whose bye was a win


def test_everybody_has_a_place_of_his_own_and_other_orders_can_be_had() -> None:
    event = play(event_of(7), by_lot(3), 3)
    assert [row.place for row in standings(event).rows] == [1, 2, 3, 4, 5, 6, 7]
    assert standings(replace(event, tie_breakers=("points", "buchholz"))).order == ("points", "buchholz")


def test_nobody_one_and_two() -> None:
    nobody = play(event_of(0), by_lot(1), 2)
    assert [round_.games for round_ in nobody.rounds] == [(), ()]
    alone = play(event_of(1), by_lot(1), 3)
    assert ledger(alone).lines[1].byes == 3
    two = play(event_of(2), by_lot(1), 4)
    assert [round_.explanation.details["history_removed"] for round_ in two.rounds] == [[], [1], [2], [3]]
    assert history(alone) == []


def test_what_an_explanation_says_was_removed_stays_removed() -> None:
    event = play(event_of(4), by_lot(2), 4)
    first = event.rounds[0]
    assert history(event)[0][0] > 1
    corrected = replace(
        event,
        rounds=(
            replace(first, games=tuple(replace(game, result=NO_CONTEST) for game in first.games)),
            *event.rounds[1:],
        ),
    )
    assert history(corrected) == history(event)


def games(*colors: tuple[int, int]) -> tuple[Game, ...]:
    return tuple(Game(black=black, white=white, result=DRAWN) for white, black in colors)


def test_rounds_from_elsewhere_may_have_a_pair_twice() -> None:
    rounds = [games((1, 2), (3, 4)), games((2, 1), (4, 3)), games((1, 3), (2, 4)), games((4, 1), (3, 2))]
    event = replace(
        event_of(4), rounds=tuple(Round(number=at, games=games_of_round) for at, games_of_round in enumerate(rounds, 1))
    )
    assert [number for number, _ in history(event)] == [1, 2, 3, 4]
    paired = next_round(event)
    assert paired.explanation.details["history_removed"] == [1, 2]
    assert "Pairs of rounds 1, 2 may meet again" in paired.explanation.summary


def test_the_color_bound_grows_no_more_than_it_must() -> None:
    event = replace(
        event_of(4), rounds=(Round(number=1, games=games((1, 3), (2, 4))), Round(number=2, games=games((1, 4))))
    )
    for id_ in (3, 4):
        event = withdraw(event, id_)
    paired = next_round(event)
    assert paired.explanation.details["color_bound"] == 3
    assert [(game.white, game.black) for game in paired.games] == [(2, 1)]
    assert "may add up to 3" in paired.explanation.summary


def test_a_pair_that_was_forbidden_later_has_been_paired_by_the_rules_of_then() -> None:
    event = forbid(play(event_of(2), by_lot(1), 4), 1, 2)
    assert [number for number, _ in history(event)] == [4]
    assert history(_without_explanations(event)) == history(event)


def test_forbidden_pairs_make_rounds_leave_the_history_sooner() -> None:
    event = play(forbid(event_of(4), 1, 2), by_lot(1), 5)
    assert [len(round_.explanation.details["history_removed"]) for round_ in event.rounds] == [0, 0, 1, 1, 1]
    assert history(_without_explanations(event)) == history(event)
