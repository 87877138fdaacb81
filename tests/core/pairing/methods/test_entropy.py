"""Entropy pairing: the vectors, the printed tables with their error explained, repeats, both models."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.core.vectors import Vectors, parametrize

from cgos_server.core.pairing.base import Candidate, Knowledge, Meeting, PairingPass
from cgos_server.core.pairing.methods.entropy import Entropy, bits, gor_win, term, venue_win
from cgos_server.core.rating.incremental.gor import expectancy


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        parametrize(metafunc, "case", "entropy_matrix")


def wins(case: dict[str, Any]) -> Any:
    return lambda first, second: gor_win(first, second, case["a_integer_division"])


def as_sets(pairs: Any) -> set[frozenset[str]]:
    return {frozenset(pair) for pair in pairs}


def matchings(players: list[Any]) -> Iterator[list[tuple[Any, Any]]]:
    """All perfect matchings of an even number."""
    if not players:
        yield []
        return
    first, *others = players
    for at, other in enumerate(others):
        for rest in matchings(others[:at] + others[at + 1 :]):
            yield [(first, other), *rest]


# --- the vectors ------------------------------------------------------------------------------------------------


def test_the_matrix_of_a_case(case: dict[str, Any], vectors: Vectors) -> None:
    tolerance = vectors("entropy_matrix")["tolerance"]
    ratings, win = case["ratings"], wins(case)
    for name, row in case["win"].items():
        for other, expected in row.items():
            p = win(ratings[name], ratings[other])
            assert float(p) == pytest.approx(expected, abs=tolerance)
            assert float(term(p)) == pytest.approx(case["term"][name][other], abs=tolerance)
    for pair in case["pair_entropy"]:
        p = win(ratings[pair["i"]], ratings[pair["j"]])
        assert float(bits(p)) == pytest.approx(pair["bits"], abs=tolerance)


def test_all_rounds_of_a_case(case: dict[str, Any], vectors: Vectors) -> None:
    tolerance = vectors("entropy_matrix")["tolerance"]
    ratings, win = case["ratings"], wins(case)
    totals = sorted(
        (sum(float(bits(win(ratings[a], ratings[b]))) for a, b in pairs), sorted(map(sorted, pairs)))
        for pairs in matchings(sorted(ratings))
    )
    assert len(totals) == case["matchings"]
    for (total, pairs), expected in zip(reversed(totals), [case["optimal"], *case["runners_up"]], strict=False):
        assert as_sets(pairs) == as_sets(expected["pairs"])
        assert total == pytest.approx(expected["total_bits"], abs=tolerance)
    assert as_sets(totals[0][1]) == as_sets(case["worst"]["pairs"])
    assert totals[0][0] == pytest.approx(case["worst"]["total_bits"], abs=tolerance)


def test_the_printed_table_of_probabilities(vectors: Vectors) -> None:
    """It was computed with a = 200 - (R - 100) div 20, and F against B with the slope of E (340) instead of F's."""
    file = vectors("entropy_matrix")
    ratings = file["cases"][0]["ratings"]
    wrong = []
    for name, row in file["printed"]["table_2_2"].items():
        for other, printed in zip(file["printed"]["column_order"], row, strict=True):
            if printed is not None and abs(float(gor_win(ratings[name], ratings[other], True)) - printed) > 5.01e-6:
                wrong.append((name, other, printed))
    assert [(first, second) for first, second, _ in wrong] == [("B", "F"), ("F", "B")]
    slope_of_e = 200 - (ratings["E"] - 100) // 20
    of_f = 1 / (1 + math.exp((ratings["B"] - ratings["F"]) / slope_of_e))
    assert [printed for *_, printed in wrong] == [pytest.approx(1 - of_f, abs=5e-6), pytest.approx(of_f, abs=5e-6)]


def test_the_printed_table_of_entropies(vectors: Vectors) -> None:
    """Each cell is the row player's own term of the printed probabilities, so that the error is in it too."""
    file = vectors("entropy_matrix")
    printed = file["printed"]
    for name, row in printed["table_2_3"].items():
        for cell, p in zip(row, printed["table_2_2"][name], strict=True):
            assert (cell is None) == (p is None)
            if cell is not None:
                assert float(term(p)) == pytest.approx(cell, abs=1e-5)


def test_the_printed_tables_choose_the_same_round(vectors: Vectors) -> None:
    file = vectors("entropy_matrix")
    names, table = file["printed"]["column_order"], file["printed"]["table_2_3"]
    cell = {(name, other): table[name][names.index(other)] for name in names for other in names}
    for worth in (
        lambda a, b: cell[a, b] + cell[b, a],
        lambda a, b: cell[min(a, b), max(a, b)],
        lambda a, b: cell[max(a, b), min(a, b)],
    ):
        best = max(matchings(list(names)), key=lambda pairs: sum(worth(a, b) for a, b in pairs))
        assert as_sets(best) == as_sets(file["cases"][0]["optimal"]["pairs"])


# --- formulas ---------------------------------------------------------------------------------------------------


@given(st.floats(-500, 4000), st.floats(-500, 4000))
def test_gor_for_arrays_is_gor(first: float, second: float) -> None:
    expected = expectancy(first, second, variant="thesis", eps=0.0)[0]
    assert float(gor_win(first, second)) == pytest.approx(expected, abs=1e-12)
    assert float(gor_win(first, second) + gor_win(second, first)) == pytest.approx(1.0, abs=1e-12)


def test_entropy_of_a_game() -> None:
    assert bits([0.5, 0.0, 1.0]).tolist() == [1.0, 0.0, 0.0]
    assert float(bits(0.6)) == pytest.approx(-sum(q * math.log2(q) for q in (0.6, 0.4)))


@given(st.floats(-1500, 1500), st.floats(0, 400))
def test_the_venues_model_is_the_average_over_what_is_not_known(gap: float, sd: float) -> None:
    grid = np.linspace(-8, 8, 4001)
    density = np.exp(-0.5 * grid**2)
    exact = float(density @ (1 / (1 + 10 ** (-(gap + sd * grid) / 400))) / density.sum())
    assert float(venue_win(1500 + gap, 1500.0, sd * sd)) == pytest.approx(exact, abs=2e-4)


def test_worth_by_the_venue_knows_of_uncertainty() -> None:
    """Nobody can say how a game against a newcomer ends, whatever number it begins with; joint knowledge says that
    two newcomers that are tied to each other are not so unlike."""
    candidates = [Candidate(1, "Ann", 2400.0), Candidate(2, "Bea", 1600.0, sd=350.0)]
    i, j = np.array([0]), np.array([1])

    def worth(pairing_pass: PairingPass, model: str = "venue") -> float:
        return float(Entropy(model).look(pairing_pass, random.Random(0)).of(i, j)[0])

    sure = worth(PairingPass(candidates=[c._replace(sd=0.0) for c in candidates]))
    assert sure == pytest.approx(float(bits(1 / (1 + 10**2))))
    assert worth(PairingPass(candidates=candidates)) > 2 * sure
    assert worth(PairingPass(candidates=candidates), "gor") == worth(
        PairingPass(candidates=[c._replace(sd=0.0) for c in candidates]), "gor"
    )
    apart = np.array([[0.0, 0.0], [0.0, 350.0**2]])
    assert worth(PairingPass(candidates=candidates, knowledge=Knowledge(apart, apart))) == pytest.approx(
        worth(PairingPass(candidates=candidates))
    )
    tied = np.full((2, 2), 350.0**2)
    assert worth(PairingPass(candidates=candidates, knowledge=Knowledge(tied, tied))) == pytest.approx(sure)


# --- repeats ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("meeting", "expected"),
    [
        (Meeting(1, 2, recent_a=50, recent_b=50), 0),
        (Meeting(1, 2, lately_a=1, lately_b=3, recent_a=50, recent_b=50), 3),
        (Meeting(2, 1, lately_a=4, lately_b=3), 4),
    ],
)
def test_a_meeting_halves_what_a_game_is_worth(meeting: Meeting, expected: int) -> None:
    candidates = [Candidate(k, f"bot-{k}", 2000.0, recent=100) for k in (1, 2, 3)]
    worths = Entropy().look(PairingPass(candidates=candidates, meetings=[meeting]), random.Random(0))
    i, j = np.array([0, 1, 0]), np.array([1, 2, 2])
    assert worths.of(i, j).tolist() == pytest.approx([0.5**expected, 1.0, 1.0])
    assert worths.of(j, i).tolist() == pytest.approx([0.5**expected, 1.0, 1.0])
    assert (f"{0.5**expected:.2f} after" in worths.say(0, 1)) == (expected > 0)
    assert "meetings" not in worths.say(1, 2)


def test_in_words() -> None:
    pairing_pass = PairingPass(candidates=[Candidate(1, "Ann", 800.0), Candidate(2, "Bea", 902.0)])
    for model, p in (("gor", float(gor_win(800.0, 902.0))), ("venue", 1 / (1 + 10 ** (102 / 400)))):
        sentence = Entropy(model).look(pairing_pass, random.Random(0)).say(0, 1)
        assert sentence == f"{float(bits(p)):.2f} bit, expected score {p:.2f}"
