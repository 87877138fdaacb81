"""Pairing by maximum weight: single rounds, whole events, the published example."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.core.vectors import Vectors, parametrize
from support.tournaments.events import by_lot, entrants, finish, play, play_round
from support.tournaments.lots import Scripted

from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import (
    BLACK_WINS,
    DRAWN,
    NO_CONTEST,
    WHITE_WINS,
    Bye,
    Chance,
    Entrant,
    Event,
    Game,
    How,
    OptionValue,
    Request,
    Result,
    Round,
)
from cgos_server.tournaments.chance import COLOR_LOT, Lots
from cgos_server.tournaments.checking import checked
from cgos_server.tournaments.event import Field, begin, end, enter, forbid, rejoin, request_bye, withdraw
from cgos_server.tournaments.ledger import Ledger, Line, ledger
from cgos_server.tournaments.pairing.mwm_weights import LEVELS, ORDERS, Edges, edges_of, third_of
from cgos_server.tournaments.recheck import recheck
from cgos_server.tournaments.systems.mwm import Mwm
from cgos_server.tournaments.tournament import from_json, lots, next_round, standings, system_of, to_json

Case = dict[str, Any]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for fixture, name in (("classical", "mwm_table1"), ("single", "mwm_rounds")):
        if fixture in metafunc.fixturenames:
            parametrize(metafunc, fixture, name)


def number(id_: str) -> int:
    return int(id_[1:])


def pair(game: Game) -> frozenset[int]:
    return frozenset(game.pair)


def field_for(case: Case) -> tuple[Field, Ledger]:
    """The players of a vector in the order of registration, and what they have done."""
    players = sorted(case["players"], key=lambda player: player["order"])
    lines = {
        number(player["id"]): Line(
            score=player["score"], whites=max(0, player["c"]), blacks=max(0, -player["c"]), byes=player["byes"]
        )
        for player in players
    }
    met = Counter((min(pair), max(pair)) for pair in (tuple(map(number, pair)) for pair in case["met"]))
    there = tuple(
        Entrant(id=number(player["id"]), name=player["id"], rating=float(player["elo"])) for player in players
    )
    return Field(2, there, ()), Ledger(lines, met)


def script(case: Case, coins: dict[tuple[int, int], bool], otherwise: Chance) -> Chance:
    """Lots with the numbers of a vector, in the middle of their millionths, and its coins."""
    draws: dict[tuple[str | int, ...], float] = {}
    for first, second, value in case.get("uniform_millionths", []):
        keys = sorted(map(number, (first, second)))
        draws[("u", *keys)] = (value + 0.5) / 1_000_000
    for keys_of, better in coins.items():
        draws[(COLOR_LOT, *keys_of)] = 0.25 if better else 0.75

    class Both(Scripted):
        def unit(self, purpose: str, *keys: int) -> float:
            known = (purpose, *keys) in self.draws or (purpose == "u" and "uniform_millionths" in case)
            return super().unit(purpose, *keys) if known else otherwise.unit(purpose, *keys)

    return Both(draws)


def edges(system: str, beta: int, round_: Round, known: Ledger, rng: Chance) -> list[list[Any]]:
    """All possible pairs of a round at its level, as in the vectors."""
    ids = round_.explanation.details["ranked"]
    score = np.array([known.lines[id_].score for id_ in ids], dtype=np.int64)
    balance = np.array([known.lines[id_].balance for id_ in ids], dtype=np.int64)
    times = np.array([[known.met[min(a, b), max(a, b)] for b in ids] for a in ids], dtype=np.int64)

    def u(i: Any, j: Any) -> Any:
        pairs = (sorted((ids[a], ids[b])) for a, b in zip(i.tolist(), j.tolist(), strict=True))
        return np.array([int(rng.unit("u", *pair) * 1_000_000) for pair in pairs], dtype=np.int64)

    level = round_.explanation.details["level"]
    result: Edges = edges_of(level, score, balance, times, beta, third_of(system, score, u))
    rows = zip(result.i.tolist(), result.j.tolist(), *(part.tolist() for part in result.weight), strict=True)
    return [[ids[i], ids[j], weight] for i, j, *weight in rows]


def check(case: Case, expected: Case, round_: Round, known: Ledger, rng: Chance) -> None:
    """Everything of a vector's round but the boards."""
    details = round_.explanation.details
    assert (details["order"], details["beta"], details["level"]) == (case["system"], case["beta"], expected["level"])
    assert details["total"] == expected["optimal_total"]
    byes = [] if expected["bye"] is None else [Bye(number(expected["bye"]), 2)]
    assert list(round_.byes) == byes
    if "ranked_ids" in expected:
        assert details["ranked"] == list(map(number, expected["ranked_ids"]))
    if expected["optimal_matchings"] == 1:
        pairs = expected["pairs"] if "pairs" in expected else expected["pairs_played"]
        assert [pair(game) for game in round_.games] == [frozenset(map(number, pair_names)) for pair_names in pairs]
    if "edges" in expected:
        wanted = [[number(first), number(second), weight] for first, second, weight in expected["edges"]]
        assert sorted(edges(case["system"], case["beta"], round_, known, rng)) == sorted(wanted)


def is_single_round(case: Case) -> None:
    field, known = field_for(case)
    rng = script(case, {}, Lots(1, 2))
    event = Event(system="mwm", entrants=field.players)
    round_ = Mwm(case["system"], case["beta"]).decide(event, field, known, rng)
    check(case, case["expected"], round_, known, rng)
    for game in round_.games:
        assert known.lines[game.white].balance <= known.lines[game.black].balance
    level = case["expected"]["level"]
    assert ("Once more" in round_.explanation.summary) == ("rematch" in level)


def test_table_1(classical: Case) -> None:
    is_single_round(classical)


def test_single_rounds(single: Case) -> None:
    is_single_round(single)


def is_whole_event(case: Case) -> int:
    """Plays a vector's event. How many of its rounds were compared as boards."""
    players = sorted(case["players"], key=lambda player: player["order"])
    there = tuple(
        Entrant(id=number(player["id"]), name=player["id"], rating=float(player["elo"])) for player in players
    )
    event = Event(system=case["system"], entrants=there, options={"beta": case["beta"]}, planned=len(case["rounds"]))
    compared = 0
    for expected in case["rounds"]:
        known = ledger(event)
        for line_before in expected["state_before"]:
            line = known.lines[number(line_before["id"])]
            assert (line.score, line.balance, line.byes) == (
                line_before["score"],
                line_before["c"],
                line_before["byes"],
            )
        played = [tuple(map(number, pair_names)) for pair_names in expected["pairs_played"]]
        equal = [
            played_pair
            for played_pair in played
            if known.lines[played_pair[0]].balance == known.lines[played_pair[1]].balance
        ]
        coins = dict(zip(equal, expected["coins_better_ranked_white"], strict=True))
        rng = script(expected, coins, lots(event))
        round_ = system_of(event).pair(event, rng)
        check(case, expected, round_, known, rng)
        boards = [(number(board["white"]), number(board["black"])) for board in expected["boards"]]
        if expected["optimal_matchings"] == 1:
            assert [(game.white, game.black) for game in round_.games] == boards
            compared += 1
        halves = expected["results_white_half_points"]
        games = tuple(
            Game(black=black, white=white, result=Result(2 - half, half))
            for (white, black), half in zip(boards, halves, strict=True)
        )
        event = begin(event, replace(round_, games=games))
        after = ledger(event)
        assert sum(abs(line.balance) for line in after.lines.values()) == expected["abs_color_difference_after"]
        floats = sum(known.lines[a].score != known.lines[b].score for a, b in boards)
        assert floats == expected["float_pairs"]
    assert system_of(event).is_over(event)
    return compared


def test_whole_events(vectors: Vectors) -> None:
    cases = vectors("mwm_tournaments")["tournaments"]
    assert [is_whole_event(case) for case in cases] == [len(case["rounds"]) for case in cases]


def test_the_example_of_four_rounds(vectors: Vectors) -> None:
    assert is_whole_event(vectors("mwm_example_2_1")) == 3


def event_of(size: int, seed: int = 0, planned: int | None = None, **options: Any) -> Event:
    ratings: list[float | None] = [float(rating) for rating in random.Random(seed).sample(range(1_400, 2_200), size)]
    return Event(system="mwm", entrants=entrants(ratings), options=options, seed=seed, planned=planned)


def relaxed(round_: Round) -> str:
    return str(round_.explanation.details["level"])


@given(
    size=st.integers(2, 13),
    seed=st.integers(0, 9_999),
    order=st.sampled_from(ORDERS),
    beta=st.sampled_from([1, 1.7, 2, 3]),
    rounds=st.integers(2, 6),
)
@settings(max_examples=40)
def test_colors_stay_balanced_and_opponents_new(size: int, seed: int, order: str, beta: float, rounds: int) -> None:
    event = event_of(size, seed, order=order, beta=beta)
    bound = int(beta)
    for _ in range(rounds):
        before = ledger(event)
        event = play_round(event, by_lot(seed + len(event.rounds)))
        after, last = ledger(event), event.rounds[-1]
        level = relaxed(last)
        again = [game for game in last.games if game.pair in before.met]
        assert bool(again) == ("rematch" in level)
        for game in last.games:
            sides = (before.lines[game.white].balance, before.lines[game.black].balance)
            assert sides[0] <= sides[1]
            if "color" not in level:
                assert max(abs(after.lines[id_].balance) for id_ in game.pair) <= max(bound, *map(abs, sides))
        if all("color" not in relaxed(round_) for round_ in event.rounds):
            assert max(abs(line.balance) for line in after.lines.values()) <= bound
        points = [abs(before.lines[game.white].score - before.lines[game.black].score) for game in last.games]
        total = last.explanation.details["total"]
        assert total["rematch" in level] == -sum(points)
        byes = [line.byes for line in after.lines.values()]
        assert max(byes) - min(byes) <= 1


@given(size=st.integers(2, 9), seed=st.integers(0, 9_999), order=st.sampled_from(ORDERS), shuffle=st.randoms())
@settings(max_examples=20)
def test_the_order_of_the_list_is_nothing_with_distinct_ratings(
    size: int, seed: int, order: str, shuffle: random.Random
) -> None:
    event = event_of(size, seed, order=order)
    other = list(event.entrants)
    shuffle.shuffle(other)
    mixed = replace(event, entrants=tuple(other))
    for number_ in range(4):
        event, mixed = (play_round(variant, by_lot(seed + number_)) for variant in (event, mixed))
        assert event.rounds == mixed.rounds


@given(size=st.integers(0, 8), seed=st.integers(0, 9_999), order=st.sampled_from(ORDERS), data=st.data())
@settings(max_examples=30)
def test_whatever_happens_between_rounds(size: int, seed: int, order: str, data: st.DataObject) -> None:
    event = event_of(size, seed, order=order, ties=data.draw(st.sampled_from(["listed", "lot"])))
    strange = (WHITE_WINS, DRAWN, NO_CONTEST, Result(0, 2, "forfeit"), Result(0, 0, "forfeit"))
    for at in range(4):
        ids = [entrant.id for entrant in event.entrants]
        what = data.draw(st.sampled_from(["withdraw", "rejoin", "bye", "enter", "nothing"]))
        if what == "enter":
            event = enter(event, Entrant(id=len(ids) + 1, name=f"late-{at}"))
        elif ids and what != "nothing":
            id_ = data.draw(st.sampled_from(ids))
            points = data.draw(st.integers(0, 2))
            event = {
                "withdraw": lambda event, id_, _points: withdraw(event, id_),
                "rejoin": lambda event, id_, _points: rejoin(event, id_),
                "bye": lambda event, id_, points: request_bye(event, Request(id_, len(event.rounds) + 1, points)),
            }[what](event, id_, points)
        event = from_json(to_json(event))
        round_ = next_round(event)
        assert round_ == next_round(event)
        busy = [id_ for game in round_.games for id_ in game.pair] + [bye.entrant for bye in round_.byes]
        assert sorted(busy) == sorted({entrant.id for entrant in event.entrants} - set(event.withdrawn))
        rule = random.Random(seed + at)
        event = finish(begin(event, round_), lambda _game, rule=rule: rule.choice(strange))


def test_the_bye_goes_down_the_ranks_and_round_once() -> None:
    event = event_of(5, 3)
    had_bye = []
    for _ in range(5):
        known = ledger(event)
        event = play_round(event, by_lot(len(event.rounds)))
        (bye,) = event.rounds[-1].byes
        ranked = sorted(event.entrants, key=lambda entrant: (-known.lines[entrant.id].score, -(entrant.rating or 0)))
        left = [entrant.id for entrant in ranked if entrant.id not in had_bye]
        assert bye.entrant == left[-1]
        assert f"bot-{bye.entrant} sits out: the lowest in rank" in event.rounds[-1].explanation.summary
        had_bye.append(bye.entrant)
    assert sorted(had_bye) == [1, 2, 3, 4, 5]


def test_two_meet_again_and_again_with_colors_in_turn() -> None:
    event = play(event_of(2, planned=4), by_lot(1))
    assert [relaxed(round_) for round_ in event.rounds] == ["strict", "rematch", "rematch", "rematch"]
    assert [round_.explanation.details["total"][0] for round_ in event.rounds[1:]] == [-1, -2, -3]
    whites = [round_.games[0].white for round_ in event.rounds]
    assert (whites[0] != whites[1], whites[2] != whites[3]) == (True, True)
    assert "Once more: " in event.rounds[1].explanation.summary
    assert "they have met before" in event.rounds[1].games[0].reason
    assert "Once more" not in event.rounds[0].explanation.summary


def with_games(event: Event, *boards: tuple[int, int]) -> Event:
    """The event with rounds of one game each, won by White."""
    for white, black in boards:
        event = begin(
            event, Round(number=len(event.rounds) + 1, games=(Game(black=black, white=white, result=WHITE_WINS),))
        )
    return event


def test_each_relaxation_is_said() -> None:
    event = event_of(4, beta=1)
    crossed = with_games(event, (1, 2), (3, 4))
    strict = next_round(crossed)
    assert relaxed(strict) == "strict"
    forced = forbid(forbid(crossed, 1, 4), 2, 3)
    colors = next_round(forced)
    assert relaxed(colors) == "color_relaxed"
    assert "within 1, so this one need not" in colors.explanation.summary
    again = next_round(forbid(forbid(forced, 1, 3), 4, 2))
    assert relaxed(again) == "rematch"
    assert {game.pair for game in again.games} == {(1, 2), (3, 4)}
    stuck = with_games(event, (1, 2), (3, 4), (1, 2), (3, 4))
    for first, second in ((1, 4), (2, 3), (1, 2), (3, 4)):
        stuck = forbid(stuck, first, second)
    both = next_round(with_games(stuck, (1, 3), (2, 4)))
    assert relaxed(both) == "rematch_color_relaxed"
    assert {(game.white, game.black) for game in both.games} == {(3, 1), (4, 2)}
    assert "none that keeps everybody's colors within 1" in both.explanation.summary


def test_forbidden_pairs_never_meet() -> None:
    event = event_of(6, 5)
    for first, second in ((1, 2), (3, 4), (5, 6), (1, 6)):
        event = forbid(event, first, second)
    for _ in range(7):
        event = play_round(event, by_lot(3))
        assert not {game.pair for game in event.rounds[-1].games} & set(event.forbidden)
    assert relaxed(event.rounds[-1]).startswith("rematch")


def test_forbidden_pairs_that_leave_no_round_are_named() -> None:
    event = event_of(4)
    for other in (2, 3, 4):
        event = forbid(event, 1, other)
    with pytest.raises(Refused, match=r"bot-1 must not meet any of the others who are there. Allow one of these pairs"):
        next_round(event)
    paired = next_round(request_bye(event, Request(1, 1)))
    assert len(paired.games) == 1
    event = event_of(4)
    for first, second in ((1, 2), (1, 3), (2, 3)):
        event = forbid(event, first, second)
    with pytest.raises(Refused, match=r"Forbidden pairs leave no way to pair all 4 entrants who are there. Allow one"):
        next_round(event)


def test_another_sits_out_where_forbidden_pairs_ask_for_it() -> None:
    event = Event(system="mwm", entrants=entrants([2_000.0, 1_900.0, 1_800.0]))
    assert next_round(event).byes == (Bye(3),)
    paired = next_round(forbid(event, 1, 2))
    assert paired.byes == (Bye(2),)
    assert "with bot-3 out, forbidden pairs would leave others without opponents" in paired.explanation.summary
    nobody = forbid(forbid(forbid(event, 1, 2), 1, 3), 2, 3)
    with pytest.raises(Refused, match="no way"):
        next_round(nobody)
    crowd = forbid(event_of(31, 8), 1, 2)
    assert next_round(crowd).byes == next_round(replace(crowd, forbidden=())).byes


def test_ties_by_lot_are_the_same_in_every_round_and_in_the_standings() -> None:
    def event(ties: str, seed: int) -> Event:
        return Event(system="monrad", entrants=entrants([1_500.0] * 8), options={"ties": ties}, seed=seed)

    listed = next_round(event("listed", 1)).explanation.details["ranked"]
    assert listed == [1, 2, 3, 4, 5, 6, 7, 8]
    drawn = next_round(event("lot", 1)).explanation.details["ranked"]
    assert sorted(drawn) == listed
    assert len({tuple(next_round(event("lot", seed)).explanation.details["ranked"]) for seed in range(9)}) > 1
    at = {id_: place for place, id_ in enumerate(drawn)}
    later = event("lot", 1)
    for _ in range(3):
        later = play_round(later, lambda _game: DRAWN)
        assert next_round(later).explanation.details["ranked"] == drawn
    turned = play_round(event("lot", 1), lambda game: WHITE_WINS if at[game.white] > at[game.black] else BLACK_WINS)
    ranks = next_round(turned).explanation.details["ranked"]
    assert ranks == [id_ for id_ in drawn if at[id_] % 2] + [id_ for id_ in drawn if not at[id_] % 2]
    everybody = Event(system="monrad", entrants=entrants([1_500.0] * 8), options={"ties": "lot"}, seed=1)
    assert [row.entrant for row in standings(everybody).rows] == drawn


def test_the_lots_are_those_of_the_event() -> None:
    """The random orders draw by pairs of ids, whatever the ranks; another seed or round gives other pairs."""
    event = event_of(12, 4, order="random")
    first = {pair(game) for game in next_round(event).games}
    turned = replace(
        event, entrants=tuple(replace(entrant, rating=4_000 - (entrant.rating or 0)) for entrant in event.entrants)
    )
    assert {pair(game) for game in next_round(turned).games} == first
    assert {pair(game) for game in next_round(replace(event, seed=5)).games} != first
    assert {pair(game) for game in Mwm("random").pair(event, Lots(4, 2)).games} != first


def test_no_rating_ranks_last() -> None:
    event = Event(system="mwm", entrants=entrants([None, 1_500.0, None, -50.0]))
    assert next_round(event).explanation.details["ranked"] == [2, 4, 1, 3]


def test_beta_is_rounded_down_and_1_at_least() -> None:
    assert next_round(event_of(4, beta=1.9)).explanation.details["beta"] == 1
    for beta in (0, 0.99, -2):
        with pytest.raises(Refused, match="beta cannot be"):
            next_round(event_of(4, beta=beta))
    with pytest.raises(Refused, match="Choose one of: dutch, burstein, monrad, random, random2"):
        next_round(event_of(4, order="danish"))


def test_a_round_tells_why() -> None:
    round_ = next_round(play(event_of(7, 2), by_lot(2), 1))
    assert round_.explanation.summary.startswith("Round 2: 3 games, order burstein. bot-")
    details = round_.explanation.details
    assert set(details) == {"order", "beta", "level", "total", "ranked", "balances"}
    assert details["level"] in LEVELS
    assert len(details["ranked"]) == len(details["balances"]) == 6
    assert all(" point" in game.reason and ", ranks " in game.reason for game in round_.games)


def test_nobody_and_one() -> None:
    assert next_round(event_of(0)).games == ()
    alone = next_round(event_of(1))
    assert (alone.games, alone.byes) == ((), (Bye(1),))


def test_standings_end_with_the_rating_and_the_list() -> None:
    event = Event(system="mwm", entrants=entrants([1_500.0, 1_700.0, 1_600.0, 1_600.0]))
    assert [row.entrant for row in standings(event).rows] == [2, 3, 4, 1]


CUSTOM: dict[str, OptionValue] = {"forfeit_counts_as_met": False, "forfeit_win_takes_bye": True}


def _recorded(case: Case, **options: OptionValue) -> Event:
    """Return an event of nine with many forfeits, as it was paired before there were options about them."""
    rounds = [
        Round(
            number=number,
            games=tuple(Game(black=b, white=w, result=Result(*points)) for b, w, *points in each["games"]),
            byes=tuple(map(Bye, each["byes"])),
        )
        for number, each in enumerate(case["rounds"], 1)
    ]
    ratings = [2400.0 - 40 * id_ for id_ in range(1, 10)]
    return Event(
        system=case["system"], seed=7, entrants=entrants(ratings), rounds=tuple(rounds), planned=6, options=options
    )


def test_events_recorded_before_forfeits_had_options_are_paired_as_they_were(vectors: Vectors) -> None:
    for case in vectors("mwm_forfeits")["events"]:
        assert all(each.agrees for each in recheck(checked(_recorded(case)))), case["system"]
        assert not all(each.agrees for each in recheck(checked(_recorded(case, **CUSTOM)))), case["system"]


@pytest.mark.parametrize("system", ["dutch", "burstein", "monrad", "mwm"])
@pytest.mark.parametrize("seed", range(4))
def test_a_forfeit_leaves_two_unmet_and_its_winner_without_a_bye(system: str, seed: int) -> None:
    dice = random.Random(seed)
    event = Event(system=system, seed=seed, entrants=entrants([2000.0 - 40 * at for at in range(9)]), options=CUSTOM)
    used: Counter[int] = Counter()  # byes and wins by forfeit
    met: set[tuple[int, int]] = set()
    unplayed: set[tuple[int, int]] = set()
    repeated = 0
    for _ in range(6):
        round_ = next_round(event)
        assert met.isdisjoint(round_.pairs)
        assert ["they have met before" in game.reason for game in round_.games] == [False] * 4
        repeated += len(unplayed.intersection(round_.pairs))
        (bye,) = round_.byes
        assert used[bye.entrant] == min(used[one.id] for one in event.entrants)
        used[bye.entrant] += 1
        event = begin(event, round_)
        for game in event.rounds[-1].games:
            winner = dice.choice([game.black, game.white])
            by_forfeit = dice.random() < 0.4
            (unplayed if by_forfeit else met).add(game.pair)
            used[winner] += by_forfeit
            how: How = "forfeit" if by_forfeit else "played"
            points = (2, 0) if winner == game.black else (0, 2)
            event = end(event, game.id, Result(*points, how))
    assert repeated > 0
    assert "of those with the fewest byes and wins by forfeit." in round_.explanation.summary


def test_a_void_game_that_is_forfeited_when_it_is_played_again_leaves_two_unmet() -> None:
    games = tuple(Game(black=1, white=2, result=result) for result in (Result(0, 0, "void"), Result(2, 0, "forfeit")))
    event = checked(
        Event(
            system="mwm",
            entrants=entrants([2000.0, 1900.0]),
            rounds=(Round(number=1, games=games),),
            options=CUSTOM,
        )
    )
    assert next_round(event).explanation.details["level"] == "strict"
    (game,) = next_round(replace(event, options={})).games
    assert "they have met before" in game.reason
