"""What games and rounds say of themselves is so."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.tournaments.events import by_lot, entrants, finish, play

from cgos_server.tournaments.base import Event, Request
from cgos_server.tournaments.event import begin, request_bye
from cgos_server.tournaments.ledger import ledger
from cgos_server.tournaments.pairing.colors import BY_LOT, LOWER_BALANCE, last_color
from cgos_server.tournaments.tournament import next_round

CHANGED = "colors change from the last game"


@pytest.mark.parametrize("word", ["swiss", "mcmahon", "godraw", "epm", "weighted", "accelrat", "dutch", "random2"])
@settings(max_examples=8)
@given(size=st.integers(2, 9), seed=st.integers(0, 10_000), rounds=st.integers(1, 7))
def test_colors_rematches_and_byes(word: str, size: int, seed: int, rounds: int) -> None:
    event = Event(system=word, entrants=entrants([2000.0 - 30 * k for k in range(size)]), seed=seed)
    event = replace(request_bye(event, Request(1 + seed % size, 2)), bye_points=seed % 3)
    for number in range(rounds):
        known, paired = ledger(event), next_round(event)
        for game in paired.games:
            white, black = known.lines[game.white], known.lines[game.black]
            if LOWER_BALANCE in game.reason:
                assert white.balance < black.balance
            else:
                assert white.balance == black.balance
                last = (last_color(white), last_color(black))
                if CHANGED in game.reason:
                    assert last in [(False, True), (False, None), (None, True)]
                else:
                    assert BY_LOT in game.reason
                    assert last[0] == last[1] or word in ("godraw", "dutch", "random2")
            assert ("; they have met before" in game.reason) == (game.pair in known.met)
        again = sum(game.pair in known.met for game in paired.games)
        summary = paired.explanation.summary
        pairs = re.search(r"(\d+) rematch", summary)
        assert again == (summary.count(" - ") if word in ("dutch", "random2") else int(pairs[1]) if pairs else 0)
        assert re.match(rf"Round {number + 1}: {len(paired.games)} games?\b", summary)
        for bye in paired.byes:
            assert bye.requested or f"bot-{bye.entrant} sits out: " in summary
        event = finish(begin(event, paired), by_lot(seed + number, 0.3))


@pytest.mark.parametrize("word", ["swiss", "dutch", "epm", "mcmahon", "weighted", "accelrat"])
@settings(max_examples=6)
@given(size=st.integers(2, 9), seed=st.integers(0, 10_000), rounds=st.integers(0, 4))
def test_numbers_in_reasons(word: str, size: int, seed: int, rounds: int) -> None:
    people = tuple(
        replace(entrant, start=(seed + entrant.id) % 7) for entrant in entrants([2000.0 - 30 * k for k in range(size)])
    )
    event = play(Event(system=word, entrants=people, seed=seed), by_lot(seed, 0.3), rounds)
    known, paired = ledger(event), next_round(event)
    details = paired.explanation.details
    for game in paired.games:
        numbers = [float(result) for result in re.findall(r"[0-9.]+", game.reason.replace("; ", " "))]
        points = sorted((known.lines[id_].score / 2 for id_ in game.pair), reverse=True)
        if word == "accelrat":
            ratings = sorted((details["ratings"][str(id_)] for id_ in game.pair), reverse=True)
            assert numbers == pytest.approx([*ratings, ratings[0] - ratings[1]], abs=0.51)
        elif word in ("epm", "mcmahon"):
            groups = sorted((details["scores"][str(id_)] // 1 for id_ in game.pair), reverse=True)
            assert numbers == ([groups[0]] if groups[0] == groups[1] else groups)
        elif word == "weighted":
            of = {id_: number for number, group in enumerate(details["groups"], 1) for id_ in group}
            groups = sorted(of[id_] for id_ in game.pair)
            assert numbers[-1] in details["weights"]
            if groups[0] == groups[1]:
                group = details["groups"][groups[0] - 1]
                places = sorted(1 + group.index(id_) for id_ in game.pair)
                assert numbers[:-1] == [*places, len(group), groups[0]]
            else:
                assert numbers[:-1] == groups
        else:
            shown = numbers[: 1 + (points[0] != points[1])]
            assert shown == ([points[0]] if points[0] == points[1] else points)
            assert ("each" in game.reason or "both" in game.reason) == (points[0] == points[1])
            if word == "dutch":
                ranks = [int(number) for number in numbers[len(shown) :]]
                assert sorted(details["ranked"][rank - 1] for rank in ranks) == list(game.pair)
                assert ranks == sorted(ranks)
