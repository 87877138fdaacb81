"""Whole-history rating: its maximum against a model written out once more, and what the ledger makes of it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.errors import OurFault
from cgos_server.core.rating.base import Z95, Entry, Kind, Rating
from cgos_server.core.rating.bayes.linear import LEAF
from cgos_server.core.rating.bayes.system import Bayes
from cgos_server.core.rating.curvature import Ties, covariance
from cgos_server.core.rating.posterior_state import Step, StepKind
from cgos_server.core.rating.timeline import DAY_MS
from cgos_server.core.rating.whole_history.state import State
from cgos_server.core.rating.whole_history.system import WholeHistory

Q = math.log(10) / 400
START = 20_000
"""The day on which the ledgers here begin."""


def ledger(*events: tuple[Any, ...]) -> list[Entry]:
    """Entries from ("enter", version[, other]), ("game", black, white, score2, day), ("anchor", version, value), ...;
    days from :data:`START`."""
    entries = []
    for seq, (kind, *rest) in enumerate(events, 1):
        if kind == "game":
            entries.append(Entry(seq, Kind.GAME, None, *rest[:3], at=(START + rest[3]) * DAY_MS))
        elif kind == "anchor":
            entries.append(Entry(seq, Kind.ANCHOR, rest[0], value=rest[1], sd=rest[2] if len(rest) > 2 else None))
        else:
            entries.append(Entry(seq, Kind(kind), rest[0], other=rest[1] if len(rest) > 1 else None, at=START * DAY_MS))
    return entries


def folded(system: WholeHistory, entries: list[Entry], refit: bool = True) -> State:
    state = system.start()
    for entry in entries:
        state, _ = system.fold(state, entry)
    return system.install(state, system.refit(system.job(state, True))) if refit else state


def pool(n: int, games: int, seed: int, *, drawn: float = 0.0, advantage: float = 0.0, days: int = 30) -> list[Entry]:
    """A pool of known strengths: version v is of 1500 + 100 v."""
    random = Random(seed)
    events: list[tuple[Any, ...]] = [("enter", version) for version in range(n)]
    for game in range(games):
        black, white = random.sample(range(n), 2)
        difference = 100.0 * (black - white) + advantage
        win, loss = (10 ** (sign * difference / 800) for sign in (1, -1))
        result = random.random() * (win + drawn + loss)
        score2 = 2 if result < win else 1 if result < win + drawn else 0
        events.append(("game", black, white, score2, game * days // games))
    return ledger(*events)


def log_posterior(system: WholeHistory, entries: list[Entry], days: dict[int, list[int]]) -> Callable[[Any], float]:
    """Of one strength for each version and day in `days` (in order) and the advantage: the model, written out."""
    place = {(version, day): i for i, (version, day) in enumerate((v, d) for v in days for d in days[v])}

    def value(x: Any) -> float:
        total = 0.0
        for version, its in days.items():
            total -= ((x[place[(version, its[0])]] - system.initial) / system.prior_sd) ** 2 / 2
            for before, after in pairwise(its):
                step = x[place[(version, after)]] - x[place[(version, before)]]
                total -= step**2 / (2 * system.drift**2 * (after - before))
        total -= (x[len(place)] / system.advantage_sd) ** 2 / 2
        for entry in entries:
            if entry.kind is Kind.GAME and entry.black is not None and entry.white is not None:
                day = entry.at // DAY_MS
                d = x[place[(entry.black, day)]] - x[place[(entry.white, day)]] + x[len(place)]
                total -= math.log1p(math.exp(-Q * d)) if entry.score2 == 2 else math.log1p(math.exp(Q * d))
        return total

    return value


def test_the_refit_is_the_maximum_and_its_covariance_the_curvature_there() -> None:
    system = WholeHistory(1800.0, drift=20.0)
    games = [(1, 2, 2, 0), (1, 2, 0, 3), (2, 3, 2, 3), (3, 1, 2, 10), (3, 2, 0, 10), (1, 3, 2, 11), (2, 1, 2, 30)]
    entries = ledger(*[("enter", version) for version in (1, 2, 3)], *[("game", *game) for game in games])
    state = folded(system, entries)
    fit = state.fit
    days: dict[int, list[int]] = {version: [] for version in (1, 2, 3)}
    for span in fit.spans:
        days[span.version + 1].append(span.span)
    assert days == {1: [START + d for d in (0, 3, 10, 11, 30)], 2: [START + d for d in (0, 3, 10, 30)],
                    3: [START + d for d in (3, 10, 11)]}  # fmt: skip
    value = log_posterior(system, entries, days)
    x = np.array([*(span.mean for span in fit.spans), fit.advantage])

    def along(i: int, by: float) -> Any:
        return np.where(np.arange(len(x)) == i, by, 0.0)

    for i in range(len(x)):
        assert (value(x + along(i, 1e-3)) - value(x - along(i, 1e-3))) / 2e-3 == pytest.approx(0.0, abs=1e-7)
    curvature = np.array(
        [
            [
                sum(s * t * value(x + along(i, s) + along(j, t)) for s in (1, -1) for t in (1, -1)) / -4
                for i in range(len(x))
            ]
            for j in range(len(x))
        ]
    )
    last = [4, 8, 11]
    assert np.linalg.inv(curvature)[np.ix_(last, last)] == pytest.approx(fit.C, rel=2e-3)


def test_without_drift_it_is_the_normal_prior_of_the_headline() -> None:
    """The same model, maximized by other code: Bradley-Terry under a fixed normal prior, with an anchor and a link."""
    system = WholeHistory(1800.0, drift=0.0, advantage_sd=0.0)
    entries = pool(6, 150, seed=1)
    entries.append(Entry(len(entries) + 1, Kind.ANCHOR, 3, value=1800.0, sd=5.0))
    entries.append(Entry(len(entries) + 1, Kind.LINK, 5, other=4, sd=60.0))
    state = folded(system, entries)
    other = Bayes(1800.0, learned=False, advantage_sd=0.0)
    theirs = other.start()
    for entry in entries:
        theirs, _ = other.fold(theirs, entry)
    theirs = other.install(theirs, other.refit(other.job(theirs, True)))
    shown = other.standings(theirs)
    for version, rating in system.standings(state).items():
        assert rating.mean == pytest.approx(shown[version].mean, abs=0.01)
        assert rating.spread == pytest.approx(shown[version].spread, rel=1e-3)
    assert system.superiority(state, 5, 2) == pytest.approx(other.superiority(theirs, 5, 2), abs=1e-4)


def test_a_version_that_improves_has_a_history_that_rises() -> None:
    system = WholeHistory(1800.0, drift=20.0)
    random = Random(3)
    events: list[tuple[Any, ...]] = [("enter", 1), ("enter", 2), ("anchor", 2, 1800.0)]
    for day in range(200):
        win = 1 / (1 + 10 ** (-(2 * day - 200) / 400))
        events += [("game", 1, 2, 2 * (random.random() < win), day) for _ in range(5)]
    state = folded(system, ledger(*events))
    learner, anchor = state.index[1], state.index[2]
    width = int(state.timeline.snapshot().widths[learner])
    sds = np.sqrt(np.diagonal(covariance(state.fit.curvature)))  # one more for the first move's worth
    history = [
        ((span.span + 0.5) * width, span.mean, sd)
        for span, sd in zip(state.fit.spans, sds, strict=False)
        if span.version == learner
    ]
    assert 8 <= len(history) <= 20
    assert all(before[0] < after[0] for before, after in pairwise(history))
    assert START - 1 <= history[0][0] < START + 32
    assert max(abs(mean - (1600 + 2 * (day - START))) / sd for day, mean, sd in history) < 3.5
    assert history[-1][1] > history[0][1] + 250
    assert system.standings(state)[1].mean == pytest.approx(history[-1][1])
    assert [span.mean for span in state.fit.spans if span.version == anchor] == pytest.approx([1800.0], abs=2.0)


def test_intervals_and_strengths_of_a_pool_are_right() -> None:
    system = WholeHistory(1800.0)
    entries = pool(8, 1500, seed=5, drawn=0.8, advantage=60.0)
    entries += [Entry(len(entries) + 1, Kind.ANCHOR, 0, value=1500.0)]
    state = folded(system, entries)
    for version, rating in system.standings(state).items():
        assert abs(rating.mean - (1500 + 100 * version)) < 4 * rating.spread
        assert version == 0 or 10 < rating.spread < 50
    assert state.fit.advantage == pytest.approx(60.0, abs=25.0)
    assert state.fit.draw == pytest.approx(0.8, rel=0.25)
    outcome = system.predict(state, 3, 3 + 1)
    assert outcome.draw == pytest.approx(0.28, abs=0.05)
    turned = system.predict(state, 4, 3)
    assert outcome.score + turned.score > 1.0
    assert json.loads(state.fit.notes)["advantage"] == state.fit.advantage


def test_without_anchors_the_mean_of_the_established_is_the_initial_rating() -> None:
    system = WholeHistory(1800.0)
    state = folded(system, pool(6, 600, seed=2))
    state = system.install(state, system.refit(system.job(state, False)))
    ratings = [system.standings(state)[version] for version in range(6)]
    assert not any(rating.provisional for rating in ratings)
    assert sum(rating.mean for rating in ratings) / 6 == pytest.approx(1800.0)


def test_a_newcomer_to_a_pool_without_anchors_moves_nobody_established() -> None:
    """Nor does it after the state was saved and read back."""
    system = WholeHistory(1800.0)
    state = folded(system, pool(6, 600, seed=2))
    state = system.install(state, system.refit(system.job(state, False)))
    before = dict(system.standings(state))
    twin = system.load(system.dump(state))
    for begun in (state, twin):
        entered, _ = system.fold(begun, Entry(700, Kind.ENTER, 6, value=2600.0, sd=200.0))
        assert {version: system.standings(entered)[version] for version in before} == before
        refitted = system.install(entered, system.refit(system.job(entered, False)))
        for version, rating in before.items():
            assert system.standings(refitted)[version][:2] == pytest.approx(rating[:2], rel=1e-6)


def test_warm_and_cold_refits_find_the_same() -> None:
    system = WholeHistory(1800.0, drift=15.0)
    entries = pool(7, 400, seed=4, drawn=0.3, days=90)
    state = folded(system, entries[:300])
    for entry in entries[300:]:
        state, _ = system.fold(state, entry)
    warm, cold = (system.refit(system.job(state, cold)) for cold in (False, True))
    assert warm.x == pytest.approx(cold.x, abs=1e-4)
    assert np.allclose(warm.C, cold.C, rtol=1e-6, atol=1e-4)
    assert json.loads(warm.notes)["iterations"] < json.loads(cold.notes)["iterations"]
    assert (warm.cold, cold.cold) == (False, True)


def test_a_step_is_near_the_refit_that_follows() -> None:
    system = WholeHistory(1800.0)
    entries = pool(6, 300, seed=8)
    state = folded(system, [*entries, Entry(998, Kind.ANCHOR, 0, value=1500.0)])
    state, changes = system.fold(state, Entry(999, Kind.GAME, None, 1, 4, 2, at=(START + 29) * DAY_MS))
    stepped = dict(system.standings(state))
    assert [change.version for change in changes] == [1, 4]
    assert changes[0].after.mean > changes[0].before.mean
    assert changes[0].after.spread < changes[0].before.spread
    state = system.install(state, system.refit(system.job(state, False)))
    for version, rating in system.standings(state).items():
        assert abs(rating.mean - stepped[version].mean) < 0.1 * rating.spread
        assert rating.spread == pytest.approx(stepped[version].spread, rel=0.02)


def test_the_order_of_a_days_results_means_nothing() -> None:
    system = WholeHistory(1800.0)
    entries = pool(5, 200, seed=6, days=1)
    turned = [entry._replace(seq=i) for i, entry in enumerate(reversed(entries[5:]), 6)]
    first, second = folded(system, entries), folded(system, entries[:5] + turned)
    order = [second.index[version] for version in first.ids]
    assert order != list(range(5)), "they joined in another order"
    assert second.fit.x[order] == pytest.approx(first.fit.x, abs=1e-6)
    assert np.allclose(second.fit.C[np.ix_(order, order)], first.fit.C, rtol=1e-6)
    rated = [entry._replace(value=1700.0, sd=200.0) for entry in entries[:5]]  # who enters with a rating joins at once
    first, second = folded(system, rated + entries[5:]), folded(system, rated + turned)
    assert np.array_equal(first.fit.x, second.fit.x)
    assert np.array_equal(first.fit.C, second.fit.C)


def test_a_repeated_game_says_nothing_new() -> None:
    system = WholeHistory(1800.0)
    entries = pool(3, 20, seed=7)
    state, again = folded(system, entries), folded(system, entries)
    again, changes = system.fold(again, entries[-1]._replace(seq=24, repeat=True))
    for change in changes:
        assert change.after == change.before._replace(games=change.before.games + 1)
    assert system.wanted(again).results == 0
    again, changes = system.fold(again, Entry(25, Kind.CORRECTION, None, *entries[-1][3:5], None, was2=2, repeat=True))
    assert [change.after for change in changes] == [system.standings(state)[c.version] for c in changes]
    assert np.array_equal(system.refit(system.job(again, True)).x, state.fit.x)


def test_a_voided_result_is_as_if_it_had_never_been() -> None:
    system = WholeHistory(1800.0)
    entries = pool(4, 60, seed=9, days=1)
    state = folded(system, entries)
    last = entries[-1]
    void = Entry(65, Kind.CORRECTION, None, last.black, last.white, None, was2=last.score2, at=last.at + DAY_MS)
    state, changes = system.fold(state, void)
    for change in changes:
        assert change.after == change.before._replace(games=change.before.games - 1)
    assert system.wanted(state) == (1, False, True)
    state = system.install(state, system.refit(system.job(state, True)))
    assert system.wanted(state) == (0, False, False)
    without = folded(system, entries[:-1])
    assert np.array_equal(state.fit.x, without.fit.x)
    assert dict(system.standings(state)) == dict(system.standings(without))


def test_a_successor_starts_at_its_predecessor_then_and_is_tied_to_it() -> None:
    system = WholeHistory(1800.0, lineage_sd=50.0)
    events = [("enter", 1), ("enter", 2), ("anchor", 2, 2400.0), *[("game", 1, 2, 2 * (i % 2), i) for i in range(40)]]
    state = folded(system, ledger(*events))
    old = system.standings(state)[1]
    state, (change,) = system.fold(state, Entry(99, Kind.ENTER, 3, other=1, at=(START + 41) * DAY_MS))
    for _ in range(2):
        entered = system.standings(state)[3]
        assert entered.mean == pytest.approx(old.mean, abs=1.0)  # the prior's mean, 1800, is no part of it
        assert entered.spread == pytest.approx(math.hypot(old.spread, 50.0), rel=0.03)
        assert entered.provisional
        state = system.install(state, system.refit(system.job(state, False)))
    assert change.before == change.after
    state, _ = system.fold(state, Entry(100, Kind.UNLINK, 3, other=1))
    assert system.wanted(state).urgent
    state = system.install(state, system.refit(system.job(state, False)))
    assert system.standings(state)[3].spread == pytest.approx(500.0, rel=0.01)


def test_an_imported_rating_is_believed_somewhat() -> None:
    system = WholeHistory(1800.0)
    state, (change,) = system.fold(system.start(), Entry(1, Kind.ENTER, 1))
    state, _ = system.fold(state, Entry(2, Kind.ANCHOR, 1, value=1800.0))
    state, (change,) = system.fold(state, Entry(3, Kind.ENTER, 2, value=2500.0, sd=100.0))
    variance = 1 / (1 / 500**2 + 1 / 100**2)
    assert change.after.mean == pytest.approx(1800 + 700 * variance / 100**2)
    assert change.after.spread == pytest.approx(math.sqrt(variance))
    state = system.install(state, system.refit(system.job(state, True)))
    assert system.standings(state)[2][:2] == pytest.approx(change.after[:2])


def test_an_anchor_is_where_it_is_said_to_be_and_ordinary_again_when_freed() -> None:
    system = WholeHistory(1800.0)
    entries = pool(4, 200, seed=11)
    state = folded(system, entries)
    state, (change,) = system.fold(state, Entry(300, Kind.ANCHOR, 0, value=1500.0, sd=20.0))
    assert change.after[:2] == (1500.0, 20.0)
    assert change.after.anchor
    state = system.install(state, system.refit(system.job(state, False)))
    assert system.standings(state)[0] == change.after
    assert system.standings(state)[3].mean == pytest.approx(1800.0, abs=4 * system.standings(state)[3].spread)
    state, (change,) = system.fold(state, Entry(301, Kind.UNANCHOR, 0))
    assert not change.after.anchor
    assert system.wanted(state).urgent
    state = system.install(state, system.refit(system.job(state, False)))
    free = folded(system, entries)
    free = system.install(free, system.refit(system.job(free, False)))
    assert dict(system.standings(state)) == {
        version: Rating(*map(pytest.approx, rating)) for version, rating in system.standings(free).items()
    }


def test_who_never_lost_is_finite() -> None:
    system = WholeHistory(1800.0)
    events = [("enter", v) for v in (1, 2, 3)] + [("game", 1, 2, 2, 0)] * 500
    state = folded(system, ledger(*events))
    standings = system.standings(state)
    assert 600 < standings[1].mean - standings[2].mean < 4000
    assert standings[3].provisional
    assert system.superiority(state, 1, 2) > 0.999
    assert system.superiority(state, 1, 1) == 0.5
    assert all(rating.provisional == (Z95 * rating.spread > 100 or not rating.games) for rating in standings.values())


def test_a_late_fit_does_not_replace_a_later_one() -> None:
    system = WholeHistory(1800.0)
    entries = pool(4, 60, seed=12)
    state = folded(system, entries[:30], refit=False)
    assert system.wanted(state) == (26, True, False), "of whom nothing is known needs no refit"
    early = system.refit(system.job(state, True))
    for entry in entries[30:]:
        state, _ = system.fold(state, entry)
    state = system.install(state, system.refit(system.job(state, False)))
    assert system.stale(state, early)
    before = system.dump(state)
    assert system.dump(system.install(state, early)) == before
    assert system.wanted(state) == (0, False, False)


def test_idle_newcomers_cost_nothing() -> None:
    system = WholeHistory(1800.0)
    games = pool(4, 60, seed=12)
    state = folded(system, games)
    alone = len(system.dump(state))
    for version in range(100, 1100):
        state, (change,) = system.fold(state, Entry(version, Kind.ENTER, version))
        assert change.after.provisional
    assert system.wanted(state) == (0, False, False)
    assert state.belief.n == len(system.job(state, False).results.spans) == 4
    assert len(system.dump(state)) - alone < 4 * 1000
    state = system.install(state, system.refit(system.job(state, False)))
    shown = system.standings(state)
    assert list(shown) == [*(version for version in state.ids), *range(100, 1100)]
    assert shown[1000] == system.standings(system.load(system.dump(state)))[1000] == shown[100]
    assert shown[100] == pytest.approx(change.after, abs=1.0)


def test_waiting_changes_nothing() -> None:
    """Who waits stands where it would if it had joined."""
    system = WholeHistory(1800.0)
    for anchors in ([], [Entry(301, Kind.ANCHOR, 2, value=1750.0, sd=30.0)]):
        state = folded(system, pool(6, 300, seed=2))
        state = system.install(state, system.refit(system.job(state, False)))
        for entry in [*anchors, Entry(302, Kind.ENTER, 8), Entry(303, Kind.ENTER, 9)]:
            state, _ = system.fold(state, entry)

        def answers(state: State = state) -> list[Any]:
            pairs = [(8, 3), (3, 8), (8, 9)]
            return [
                *(number for version in range(6) for number in system.standings(state)[version]),
                *(number for version in (8, 9) for number in system.standings(state)[version]),
                *(number for pair in pairs for number in system.difference(state, *pair)),
                *(number for pair in pairs for number in system.predict(state, *pair)),
                *(system.superiority(state, *pair) for pair in pairs),
            ]

        before = answers()
        for version in (8, 9):
            assert state.join(version, 304, START * DAY_MS) == state.index[version]
        assert state.belief.n == 8
        assert answers() == pytest.approx(before)


def test_time_begins_when_a_version_joins() -> None:
    system = WholeHistory(1800.0)
    entries = [Entry(1, Kind.ENTER, 1, at=START * DAY_MS), Entry(2, Kind.ENTER, 2, at=(START + 1) * DAY_MS)]
    entries += [Entry(3, Kind.ENTER, 3, at=(START + 2) * DAY_MS)]
    entries += [Entry(4, Kind.LINK, 3, other=1, at=(START + 10) * DAY_MS)]
    entries += [Entry(5, Kind.GAME, None, 1, 2, 2, at=(START + 20) * DAY_MS)]
    state = folded(system, entries)
    assert [[span.span - START for span in state.fit.spans if span.version == at] for at in range(3)] == [
        [20],  # 1, which played
        [10],  # 3, linked
        [20],
    ]
    assert state.ids == [1, 3, 2]


def test_corrections_of_versions_of_which_nothing_is_known() -> None:
    system = WholeHistory(1800.0)
    state = folded(system, ledger(("enter", 1), ("enter", 2)), refit=False)
    before = system.dump(state)
    with pytest.raises(OurFault, match="never counted"):
        system.fold(state, Entry(3, Kind.CORRECTION, None, 1, 2, 0, was2=2))
    assert system.dump(state) == before
    assert system.fold(state, Entry(3, Kind.UNANCHOR, 1))[1] == ()
    assert system.fold(state, Entry(4, Kind.UNLINK, 1, other=2))[1] == ()
    assert state.belief.n == 0
    state, changes = system.fold(state, Entry(5, Kind.CORRECTION, None, 1, 2, 2))
    assert [change.after.games for change in changes] == [1, 1]
    assert system.wanted(state) == (1, True, True)
    state = system.install(state, system.refit(system.job(state, True)))
    assert system.superiority(state, 1, 2) > 0.6


def test_the_smallest_chances_are_not_nought() -> None:
    system = WholeHistory(1800.0)
    state = folded(system, ledger(("enter", 1), ("enter", 2), ("anchor", 1, 1500.0, 20.0), ("anchor", 2, 1900.0, 20.0)))
    assert system.superiority(state, 1, 2) == pytest.approx(math.erfc(400 / 20 / 2) / 2, rel=1e-6)
    assert 0.0 < system.superiority(state, 1, 2) < 1e-40


def many_sided(system: WholeHistory) -> State:
    """A pool with drift, an anchor, an heir and an imported rating, more spans than fit into one block."""
    entries = [*pool(12, 500, seed=3, drawn=0.3, days=200)]
    entries[4] = entries[4]._replace(value=1900.0)
    for entry in (
        Entry(0, Kind.ANCHOR, 2, value=1700.0, sd=15.0),
        Entry(0, Kind.ENTER, 20, other=7, sd=60.0, at=(START + 150) * DAY_MS),
        Entry(0, Kind.ENTER, 21),
        Entry(0, Kind.LINK, 3, other=5),
    ):
        entries.append(entry._replace(seq=len(entries) + 1))
    return folded(system, entries)


@pytest.mark.parametrize("system", [WholeHistory(1800.0), WholeHistory(1800.0, drift=0.0, advantage_sd=0.0)])
def test_the_covariance_comes_back_bit_for_bit_without_being_saved(system: WholeHistory) -> None:
    state = many_sided(system)
    assert len(state.fit.curvature.alone) == len(state.fit.spans)
    assert len(state.fit.spans) > 2 * LEAF or not system.drift
    state, _ = system.fold(state, Entry(600, Kind.GAME, None, 21, 3, 2, at=(START + 201) * DAY_MS))
    back = system.load(system.dump(state))
    assert np.array_equal(back.fit.C, state.fit.C)
    assert np.array_equal(back.fit.x, state.fit.x)
    assert back.fit._replace(x=0, C=0, curvature=0) == state.fit._replace(x=0, C=0, curvature=0)
    for mine, theirs in zip(flat(back.fit.curvature), flat(state.fit.curvature), strict=True):
        assert np.array_equal(mine, theirs)
    assert system.dump(back) == system.dump(state)
    assert dict(system.standings(back)) == dict(system.standings(state))


def flat(nested: Any) -> list[Any]:
    return [leaf for part in nested for leaf in flat(part)] if isinstance(nested, tuple) else [nested]


def test_a_saved_state_grows_with_who_met_not_with_the_square_of_all() -> None:
    system = WholeHistory(1800.0)
    state = folded(system, pool(300, 600, seed=3, days=1))
    n = state.belief.n
    assert n > 250
    assert len(system.dump(state)) < 200 * n < n**2


@given(st.data())
def test_bytes_that_were_changed_are_no_state(data: st.DataObject) -> None:
    system = WholeHistory(1800.0)
    saved = bytearray(system.dump(folded(system, pool(3, 10, seed=1))))
    at = data.draw(st.integers(0, len(saved) - 1))
    saved[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(ValueError, match="no state of WholeHistory"):
        system.load(bytes(saved))
    with pytest.raises(ValueError, match="no state of WholeHistory"):
        system.load(bytes(saved[:at]))


def test_parts_that_do_not_fit_together_are_no_state() -> None:
    system = WholeHistory(1800.0)

    def refused(spoil: Callable[[State], Any]) -> None:
        state = folded(system, pool(4, 40, seed=1))
        system.load(system.dump(state))
        spoil(state)
        with pytest.raises(ValueError, match="no state of WholeHistory"):
            system.load(system.dump(state))

    def with_curvature(**parts: Any) -> Callable[[State], None]:
        def spoil(state: State) -> None:
            state.fit = state.fit._replace(curvature=state.fit.curvature._replace(**parts))

        return spoil

    refused(lambda state: state.games.append(0))
    refused(lambda state: state.ids.append(state.ids[0]))
    refused(lambda state: state.timeline.join(0))
    refused(lambda state: state.waiting.update({state.ids[0]: None}))
    refused(lambda state: state.steps.append(Step(99, StepKind.RESULT, 1, 9, 2)))
    refused(with_curvature(alone=np.zeros(3)))
    refused(with_curvature(alone=np.full(len(folded(system, pool(4, 40, seed=1)).fit.spans), -1.0)))
    refused(with_curvature(last=np.array([0, 1, 2, 999])))
    refused(with_curvature(met=Ties(np.array([0]), np.array([999]), np.ones(1))))
    refused(with_curvature(tied=Ties(np.array([0]), np.array([1]), np.ones(2))))
    refused(with_curvature(alone=np.array([1, 2, 3, 4])))


def test_a_state_of_other_options_is_refused() -> None:
    data = WholeHistory(1800.0).dump(folded(WholeHistory(1800.0), pool(3, 10, seed=1)))
    with pytest.raises(ValueError, match="drift=4"):
        WholeHistory(1800.0, drift=4.0).load(data)
