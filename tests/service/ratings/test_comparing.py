"""Systems are held against the results: every game predicted before it is seen, the same games for all."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgos_server.core.rating.base import Entry, Kind, RatingSystem
from cgos_server.core.rating.registry import rating_system
from cgos_server.service.ratings.comparing import KNOWN, Comparison


def _systems(*names: str) -> list[RatingSystem]:
    return [rating_system(name, 1800.0, {}) for name in names]


def _entries(games: int, seed: int) -> list[Entry]:
    rng, entries = random.Random(seed), list[Entry]()
    for version in range(1, 5):
        entries.append(Entry(len(entries) + 1, Kind.ENTER, version, value=1800.0))
    for _ in range(games):
        black, white = rng.sample(range(1, 5), 2)
        won = rng.random() < 1 / (1 + 10 ** (0.5 * (white - black)))
        entries.append(Entry(len(entries) + 1, Kind.GAME, None, black, white, 2 if won else 0))
    return entries


@settings(max_examples=25)
@given(st.integers(0, 60), st.integers(0, 1000))
def test_the_figures_are_those_of_a_plain_loop(games: int, seed: int) -> None:
    entries = _entries(games, seed)
    under_way = Comparison(_systems("cgos-elo", "glicko2"), {})
    for start in range(0, len(entries), 7):  # portions make no difference
        under_way.take(entries[start : start + 7])
    comparison = under_way.result()
    assert (comparison.entries, comparison.games) == (len(entries), games)
    if not games:
        assert comparison.systems == []
        return
    losses: list[list[float]] = []
    for system, scored in zip(_systems("cgos-elo", "glicko2"), comparison.systems, strict=True):
        state, loss, squared, variance = system.start(), list[float](), 0.0, 0.0
        for entry in entries:
            if entry.kind is Kind.GAME:
                outcome = system.predict(state, entry.black, entry.white)  # type: ignore[arg-type]
                loss.append(-math.log(outcome.score if entry.score2 == 2 else 1 - outcome.score))
                squared += (outcome.score - (entry.score2 or 0) / 2) ** 2
                variance += outcome.score * (1 - outcome.score)
            state, _ = system.fold(state, entry)
        losses.append(loss)
        assert scored.log_loss == pytest.approx(sum(loss) / games)
        assert scored.squared == pytest.approx(squared / games)
        assert sum(tenth.games for tenth in scored.tenths) == games
        assert sum(tenth.games * tenth.scored for tenth in scored.tenths) == pytest.approx(
            sum((entry.score2 or 0) / 2 for entry in entries)
        )
        assert sum((tenth.games * tenth.error) ** 2 for tenth in scored.tenths) == pytest.approx(variance)
        for at, tenth in enumerate(scored.tenths):
            assert tenth.games == 0 or at / 10 - 1e-9 <= tenth.expected <= (at + 1) / 10 + 1e-9
    gaps = [other - first for first, other in zip(*losses, strict=True)]
    mean = sum(gaps) / games
    error = math.sqrt(sum((gap - mean) ** 2 for gap in gaps) / games / games)
    assert comparison.systems[1].behind == pytest.approx(mean)
    assert comparison.systems[1].behind_error == pytest.approx(error, abs=1e-9)


def test_what_is_not_counted() -> None:
    entries = _entries(30, 1)
    entries[10] = entries[10]._replace(repeat=True)
    void, turned = entries[20].seq, entries[21].seq
    score2 = 2 - (entries[21].score2 or 0)
    taken_back = entries[20]
    entries.append(taken_back._replace(seq=len(entries) + 1, kind=Kind.CORRECTION, score2=None, was2=taken_back.score2))
    under_way = Comparison(_systems("cgos-elo"), {void: None, turned: score2})
    under_way.take(entries)
    comparison = under_way.result()
    assert (comparison.games, comparison.repeats, comparison.void) == (28, 1, 1)
    plain = Comparison(_systems("cgos-elo"), {})
    plain.take(entries)
    assert comparison.systems[0].squared != plain.result().systems[0].squared


def test_a_better_system_is_ahead_and_refits_are_on_the_way() -> None:
    under_way = Comparison(_systems("bayes", "cgos-elo"), {})
    under_way.take(_entries(250, 2))
    comparison = under_way.result()
    bayes, elo = comparison.systems
    assert bayes.log_loss < math.log(2) - 0.1
    assert elo.behind > -0.02
    assert 0 < comparison.known < comparison.games
    assert comparison.games - comparison.known >= 2 * KNOWN  # at least until all four had that many
    assert bayes.known_log_loss is not None
