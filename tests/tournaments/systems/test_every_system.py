"""What holds for every system by rounds, whatever happens to its event between the rounds."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.tournaments.events import by_lot, entrants, finish, play_round

from cgos_server.core.pairing.matching import best
from cgos_server.tournaments.base import (
    DRAWN,
    NO_CONTEST,
    WHITE_WINS,
    Entrant,
    Event,
    Game,
    Request,
    Result,
    Round,
)
from cgos_server.tournaments.event import begin, enter, field_of, forbid, rejoin, request_bye, withdraw
from cgos_server.tournaments.ledger import ledger
from cgos_server.tournaments.tournament import from_json, lots, next_round, standings, system_of, to_json

CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    *((word, {}) for word in ("dutch", "burstein", "monrad", "random", "random2")),
    ("mwm", {"beta": 1}),
    *(("swiss", {"method": method}) for method in ("folding", "double-folding", "translation", "random", "adjacent")),
    ("mcmahon", {}),
    ("godraw", {}),
    ("epm", {}),
    ("weighted", {}),
    ("accelrat", {}),
    ("tcec", {"seeding": "listed"}),
    ("tcec", {"games_per_match": 2}),
    ("tcec", {"seeding": "group"}),
)
NAMES = [" ".join([word, *map(str, options.values())]) for word, options in CASES]
REGISTERED = ("tcec listed",)
"""Those that go by the order of registration."""

STRANGE = (Result(0, 2, "forfeit"), Result(2, 0, "forfeit"), Result(0, 0, "forfeit"), NO_CONTEST, Result(0, 0))


@st.composite
def histories(draw: st.DrawFn, most: int = 9) -> tuple[int, list[list[tuple[str, int]]], int]:
    """How many enter, what happens before each round, and the seed of the results."""
    size = draw(st.integers(0, most))
    change = st.tuples(st.sampled_from(["withdraw", "rejoin", "enter", "bye0", "bye1", "bye2"]), st.integers(0, 99))
    rounds = draw(st.lists(st.lists(change, max_size=2), min_size=1, max_size=5))
    return size, rounds, draw(st.integers(0, 10_000))


def _changed(event: Event, changes: list[tuple[str, int]]) -> Event:
    for what, which in changes:
        ids = [entrant.id for entrant in event.entrants]
        if what == "enter":
            new = max(ids, default=0) + 1
            event = enter(event, Entrant(id=new, name=f"late-{new}", rating=1_500.0 + 7 * which + new / 100))
        elif ids:
            id_ = ids[which % len(ids)]
            if what == "withdraw":
                event = withdraw(event, id_)
            elif what == "rejoin":
                event = rejoin(event, id_)
            else:
                event = request_bye(event, Request(id_, len(event.rounds) + 1, int(what[-1])))
    return event


def _rule(seed: int, strange: bool) -> Any:
    rng = random.Random(seed)

    def rule(_game: Game) -> Result:
        if strange and rng.random() < 0.2:
            return rng.choice(STRANGE)
        return rng.choice([DRAWN, WHITE_WINS, Result(2, 0)])

    return rule


def _event(case: tuple[str, dict[str, Any]], size: int) -> Event:
    word, options = case
    rng = random.Random(size)
    return Event(system=word, entrants=entrants(rng.sample(range(1_200, 2_800), size)), options=options, seed=size)


def _opponents(round_: Round) -> dict[int, set[int]]:
    met: dict[int, set[int]] = {}
    for game in round_.games:
        met.setdefault(game.white, set()).add(game.black)
        met.setdefault(game.black, set()).add(game.white)
    return met


@pytest.mark.parametrize("case", CASES, ids=NAMES)
@settings(max_examples=12)
@given(history=histories(), strange=st.booleans())
def test_everybody_once_byes_fair_and_the_same_again(
    case: tuple[str, dict[str, Any]], history: tuple[int, list[list[tuple[str, int]]], int], strange: bool
) -> None:
    size, rounds, seed = history
    event = _event(case, size)
    games_per_match = case[1].get("games_per_match", 1)
    for number, changes in enumerate(rounds, 1):
        event = _changed(event, changes)
        before = to_json(event)
        paired = next_round(event)
        assert to_json(event) == before, "pairing changed the event"
        assert next_round(from_json(before)) == paired
        assert system_of(event).ready_games(event, lots(event)) == (paired,)
        assert paired.number == number
        field, known = field_of(event), ledger(event)
        there = {player.id for player in field.players}
        met = _opponents(paired)
        given_byes = [bye for bye in paired.byes if not bye.requested]
        assert [bye for bye in paired.byes if bye.requested] == list(field.byes)
        assert len(given_byes) == len(there) % 2
        assert set(met) | {bye.entrant for bye in given_byes} == there
        assert not set(met) & {bye.entrant for bye in given_byes}
        assert all(len(others) == 1 for others in met.values())
        assert len(paired.games) == (len(there) // 2) * games_per_match
        for bye in given_byes:
            least = min(known.lines[id_].byes for id_ in there)
            assert known.lines[bye.entrant].byes == least
            assert bye.points == event.bye_points * games_per_match
        assert all(game.result is None and game.reason for game in paired.games)
        assert paired.explanation.summary
        event = finish(begin(event, paired), _rule(seed + number, strange))
        _consistent(event)


def _consistent(event: Event) -> None:
    """Standings have everybody once, best first, and points that are those given."""
    table = standings(event)
    assert sorted(row.entrant for row in table.rows) == sorted(entrant.id for entrant in event.entrants)
    assert [row.place for row in table.rows] == sorted(row.place for row in table.rows)
    if "points" in table.order:
        at = table.order.index("points")
        given_points = sum(
            sum(game.result.white + game.result.black for game in round_.games if game.result)
            + sum(bye.points for bye in round_.byes)
            for round_ in event.rounds
        )
        assert sum(row.values[at] or 0.0 for row in table.rows) * 2 == given_points


@pytest.mark.parametrize(
    "case",
    [case for case, name in zip(CASES, NAMES, strict=True) if name not in REGISTERED],
    ids=[name for name in NAMES if name not in REGISTERED],
)
@settings(max_examples=6)
@given(size=st.integers(2, 9), seed=st.integers(0, 10_000))
def test_the_order_of_registration_is_nothing(case: tuple[str, dict[str, Any]], size: int, seed: int) -> None:
    event = _event(case, size)
    mixed = list(event.entrants)
    random.Random(seed).shuffle(mixed)
    other = replace(event, entrants=tuple(mixed))
    for number in range(4):
        assert next_round(other) == next_round(event)
        event, other = (play_round(variant, by_lot(seed + number)) for variant in (event, other))


def _could_avoid(event: Event, there: list[int]) -> bool:
    """These could be paired without a rematch or a forbidden pair."""
    known = ledger(event)
    edges = [
        (i, j)
        for i in range(len(there))
        for j in range(i + 1, len(there))
        if not known.have_met(there[i], there[j]) and tuple(sorted((there[i], there[j]))) not in event.forbidden
    ]
    if not edges:
        return not there
    i, j = np.array(edges).T
    return len(best(len(there), i, j, [1] * len(edges))) * 2 == len(there)


@pytest.mark.parametrize(
    "case", [case for case in CASES if case[0] != "tcec"], ids=[name for name in NAMES if not name.startswith("tcec")]
)
@settings(max_examples=10)
@given(size=st.integers(2, 8), rounds=st.integers(1, 7), seed=st.integers(0, 10_000), barred=st.integers(0, 3))
def test_nobody_meets_twice_while_that_can_be_avoided(
    case: tuple[str, dict[str, Any]], size: int, rounds: int, seed: int, barred: int
) -> None:
    event = _event(case, size)
    if size > 5:
        for k in range(barred):
            event = forbid(event, 1 + k, 2 + k)
    for number in range(rounds):
        paired = next_round(event)
        known = ledger(event)
        sits_out = {bye.entrant for bye in paired.byes}
        again = [game.pair for game in paired.games if game.pair in known.met]
        assert not any(game.pair in event.forbidden for game in paired.games)
        if again:
            assert not _could_avoid(event, [entrant.id for entrant in event.entrants if entrant.id not in sits_out])
        assert max(Counter(id_ for game in paired.games for id_ in game.pair).values(), default=0) <= 1
        event = finish(begin(event, paired), by_lot(seed + number))
