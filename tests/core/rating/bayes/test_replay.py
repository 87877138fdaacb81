"""Refits of the headline rating: when they are due, how they are put in, and that replay gives the same bits."""

from __future__ import annotations

import contextlib
import json
import pickle
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.core.bayes_venue import BAYES, FIXED, Venue, pool, random_games

from cgos_protocol.errors import OurFault
from cgos_server.core.rating.base import Entry, Kind, Wanted
from cgos_server.core.rating.bayes.system import Bayes, thresholds_passed

# --- when a refit is due ---------------------------------------------------------------------------------------------


def test_thresholds_are_one_to_four_and_five_times_powers_of_the_root_of_two() -> None:
    steps = [games for games in range(1, 321) if thresholds_passed(games, 2) > thresholds_passed(games - 1, 2)]
    assert steps == [1, 2, 3, 4, 5, 7, 10, 14, 20, 28, 40, 56, 80, 113, 160, 226, 320]
    assert thresholds_passed(9, 10) == 1
    assert thresholds_passed(0, 0) == 0


def test_a_cold_refit_is_due_at_the_start_at_thresholds_and_when_the_pool_grew() -> None:
    venue = Venue()
    assert venue.system.wanted(venue.state) == Wanted(0, False, False)
    venue.enter(*range(1, 13))
    assert venue.system.wanted(venue.state) == Wanted(0, False, False), "of whom nothing is known needs no refit"
    venue.joined()
    assert venue.system.wanted(venue.state).cold
    venue.refit()
    assert venue.system.wanted(venue.state) == Wanted(0, False, False)
    for number in range(6):
        assert not venue.system.wanted(venue.state).cold
        venue.game(1 + number, 2 + number, 2)
    assert venue.system.wanted(venue.state) == Wanted(6, True, False)
    venue.game(7, 8, 2)
    venue.refit(cold=False)
    assert venue.system.wanted(venue.state) == Wanted(0, True, False)
    venue.refit()
    assert not venue.system.wanted(venue.state).cold
    venue.enter(20)
    venue.joined()
    assert not venue.system.wanted(venue.state).cold
    venue.enter(21)
    assert not venue.system.wanted(venue.state).cold
    venue.joined()
    assert venue.system.wanted(venue.state).cold


# --- refits that come late -------------------------------------------------------------------------------------------


def test_a_late_fit_has_the_later_entries_on_top() -> None:
    venue, true = pool(23, 6, 100)
    fit = venue.system.refit(venue.system.job(venue.state, True))
    alone, _ = pool(23, 6, 100)
    alone.state = alone.system.install(alone.state, fit)
    for replica in (venue, alone):
        for game in random_games(np.random.default_rng(1), true, 10):
            replica.game(*game)
        replica.enter(30, other=4)
        replica.anchor(5, 2100.0)
        replica.game(30, 5, 2)
    venue.state = venue.system.install(venue.state, fit)
    assert venue.ratings() == alone.ratings()
    assert venue.system.wanted(venue.state).results == 13


def test_a_warm_fit_that_began_before_a_cold_one_is_stale() -> None:
    venue, _ = pool(24, 5, 50)
    venue.refit()
    system = venue.system
    cold_job = system.job(venue.state, True)
    venue.game(3, 4, 2)
    overtaking = system.refit(system.job(venue.state, False))
    venue.game(3, 4, 2)
    late = system.refit(system.job(venue.state, False))
    venue.state = system.install(venue.state, overtaking)
    venue.game(3, 5, 2)
    cold = system.refit(cold_job)
    assert cold.included < venue.state.base.included
    assert not system.stale(venue.state, cold)
    venue.state = system.install(venue.state, cold)
    assert venue.state.base.included == cold.included
    assert system.wanted(venue.state).results == 3
    assert system.stale(venue.state, late)
    before = venue.ratings()
    venue.state = system.install(venue.state, late)
    assert venue.ratings() == before
    venue.refit(cold=False)
    assert system.stale(venue.state, cold)


def test_an_older_warm_fit_is_stale() -> None:
    venue, _ = pool(25, 5, 50)
    venue.refit()
    system = venue.system
    older = system.refit(system.job(venue.state, False))
    venue.game(3, 4, 2)
    venue.refit(cold=False)
    assert system.stale(venue.state, older)


def test_nothing_is_remembered_that_no_refit_can_need() -> None:
    venue, true = pool(26, 5, 50)
    venue.refit()
    assert venue.state.steps == []
    venue.system.job(venue.state, True)  # never heard of again
    for game in random_games(np.random.default_rng(0), true, 20):
        venue.game(*game)
    venue.refit(cold=False)
    assert len(venue.state.steps) == 20
    venue.refit()
    assert venue.state.steps == []


def test_a_recorded_refit_is_followed() -> None:
    venue, _ = pool(27, 6, 80)
    fit = venue.system.refit(venue.system.job(venue.state, True))
    notes = json.loads(fit.notes)
    assert set(notes) == {
        *("model", "s", "w", "step", "fresh", "tail", "equals"),
        *("advantage", "draw", "start", "iterations", "versions", "links", "mean_step"),
    }
    assert notes["model"] == 2
    assert notes["versions"] == 6
    assert fit.notes == json.dumps(notes, sort_keys=True, separators=(",", ":"))
    again = venue.system.refit(venue.system.job(venue.state, True, follow=fit.notes))
    assert again.notes == fit.notes
    assert np.array_equal(again.C, fit.C)
    assert np.array_equal(again.base.x, fit.base.x)
    notes["iterations"][-1] -= 1
    shorter = venue.system.refit(venue.system.job(venue.state, True, follow=json.dumps(notes)))
    assert not np.array_equal(shorter.base.x, fit.base.x)
    with pytest.raises(OurFault):
        venue.system.job(venue.state, True, follow="{}")


def test_jobs_and_fits_travel() -> None:
    venue, _ = pool(28, 5, 40)
    venue.refit()
    venue.game(3, 4, 2)
    for cold in (True, False):
        job = venue.system.job(venue.state, cold)
        here = venue.system.refit(job)
        there = pickle.loads(pickle.dumps(venue.system.refit(pickle.loads(pickle.dumps(job)))))
        assert there.notes == here.notes
        assert np.array_equal(there.C, here.C)


# --- replay and bytes ------------------------------------------------------------------------------------------------


schedules = st.lists(
    st.sampled_from(["game"] * 6 + ["enter", "successor", "anchor", "unanchor", "link", "unlink", "correct", "repeat"]
                    + ["warm", "cold", "cold late", "install"] * 2),
    min_size=10, max_size=40,
)  # fmt: skip


@settings(max_examples=30)
@given(schedules, st.integers(0, 2**32 - 1), st.sampled_from([BAYES, FIXED]))
def test_replay_gives_the_same_bits_through_bytes_at_any_instant(schedule: list[str], seed: int, system: Bayes) -> None:
    """One live run with fits that come late; one replay of its record, in which every state goes through bytes.

    Bytes are taken where no refit is on its way: who begins from saved bytes has nobody to bring him an older fit.
    """
    rng = np.random.default_rng(seed)
    live = Venue(system)
    live.enter(1, 2, 3)
    played: list[Entry] = []
    under_way: list[tuple[int, Any]] = []
    record: list[tuple[Any, ...]] = [("entry", entry) for entry in live.entries]
    shown = []
    for step in schedule:
        known = len(live.entries)
        versions = [*live.state.ids, *live.state.waiting]
        a, b = (versions[at] for at in rng.choice(len(versions), 2, replace=False))
        value = float(rng.integers(1500, 2500))
        match step:
            case "game" | "repeat":
                live.game(a, b, int(rng.integers(0, 3)), repeat=step == "repeat")
                played += live.entries[-1:] if step == "game" else []
            case "enter":
                live.enter(100 + known, value=value, sd=90.0 if rng.random() < 0.3 else None)
            case "successor":
                live.enter(100 + known, other=a)
            case "anchor" | "unanchor":
                live.say(Kind(step), a, value=value)
            case "link" | "unlink":
                live.say(Kind(step), a, other=b, sd=50.0)
            case "correct" if played:
                game = played.pop()
                score2 = [None, 0, 1, 2][int(rng.integers(0, 4))]
                live.say(Kind.CORRECTION, black=game.black, white=game.white, was2=game.score2, score2=score2)
            case "warm" | "cold" | "cold late":
                job = system.job(live.state, step != "warm")
                under_way.append((len(record), job))
                record.append(("job", len(record), job.cold))
            case "install" if under_way:
                last = len(under_way) - 1
                number, job = under_way.pop(int(rng.integers(0, last + 1)))
                fit = system.refit(job)
                if not system.stale(live.state, fit):
                    live.state = system.install(live.state, fit)
                    record.append(("install", number, fit.notes))
        if len(live.entries) > known:
            record.append(("entry", live.entries[-1]))
        shown.append((len(record), live.ratings()))

    installed = {number for kind, number, *_ in record if kind == "install"}
    state, jobs, at = system.start(), {}, 0
    notes = {number: note for kind, number, *rest in record if kind == "install" for note in rest}
    for position, (kind, *what) in enumerate(record):
        if kind == "entry":
            state, _ = system.fold(state, what[0])
        elif kind == "job" and what[0] in installed:
            jobs[what[0]] = system.job(state, what[1], follow=notes[what[0]])
        elif kind == "install":
            fit = system.refit(jobs.pop(what[0]))
            assert not system.stale(state, fit)
            state = system.install(state, fit)
        if not jobs:
            saved = system.dump(state)
            state = system.load(saved)
            assert system.dump(state) == saved
        while at < len(shown) and shown[at][0] == position + 1:
            assert dict(system.standings(state)) == shown[at][1]
            at += 1
    assert at == len(shown)
    assert system.wanted(state) == system.wanted(live.state)


@pytest.mark.parametrize("data", [b"", b"\x80", b"nonsense", b"\x93\x01\x02\x03", bytes(100)])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="no state of bayes"):
        BAYES.load(data)


@pytest.fixture(scope="module")
def saved() -> bytes:
    venue, _ = pool(29, 3, 6)
    venue.refit()
    venue.game(1, 2, 2)
    return BAYES.dump(venue.state)


@given(at=st.integers(0, 10_000), mask=st.integers(1, 255), cut=st.integers(0, 10_000))
def test_broken_bytes_are_refused(saved: bytes, at: int, mask: int, cut: int) -> None:
    data = bytearray(saved)
    data[at % len(data)] ^= mask
    for broken in (bytes(data), saved[: cut % len(saved)], saved + b"0"):
        with pytest.raises(ValueError, match="no state of bayes"):
            BAYES.load(broken)


def checked(data: bytes) -> bytes:
    return crc32(data).to_bytes(4, "big") + data


@given(at=st.integers(0, 10_000), mask=st.integers(1, 255))
def test_bytes_with_a_right_checksum_that_make_no_sense_raise_nothing_else(saved: bytes, at: int, mask: int) -> None:
    data = bytearray(saved[4:])
    data[at % len(data)] ^= mask
    with contextlib.suppress(ValueError):
        BAYES.load(checked(bytes(data)))


def test_a_state_of_another_pool_is_refused() -> None:
    venue, _ = pool(30, 3, 6)
    with pytest.raises(ValueError, match="initial=1500"):
        Bayes(1500.0).load(BAYES.dump(venue.state))
