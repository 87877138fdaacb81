"""Clocks: worked examples of every time system, and what must hold for any control and any sequence of moves."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cgos_protocol import clock
from cgos_protocol.clock import ClockState, TimeControl, TimeSystem

S = 1_000_000


def absolute(main: int = 300 * S, **more: int | None) -> TimeControl:
    return TimeControl(system=TimeSystem.ABSOLUTE, main=main, **more)  # type: ignore[arg-type]


def byoyomi(main: int = 10 * S, period: int = 30 * S, periods: int = 3) -> TimeControl:
    return TimeControl(system=TimeSystem.BYOYOMI, main=main, period=period, periods=periods, lag=0)


def canadian(main: int = 10 * S, period: int = 60 * S, stones: int = 3) -> TimeControl:
    return TimeControl(system=TimeSystem.CANADIAN, main=main, period=period, stones=stones, lag=0)


def test_instant_player_keeps_start_value_for_ever() -> None:
    tc = absolute()
    state = clock.start(tc)
    for _ in range(1000):
        after = clock.spend(tc, state, 250_000)
        assert after == ClockState(300 * S)
        state = after
    assert clock.remaining_ms(tc, state) == 300_000


def test_absolute_charges_what_exceeds_the_credit() -> None:
    tc = absolute()
    assert clock.spend(tc, clock.start(tc), 1_250_000) == ClockState(299 * S)
    assert clock.deadline(tc, clock.start(tc)) == 300_250_000
    assert clock.spend(tc, ClockState(5), 250_005) == ClockState(0)
    assert clock.spend(tc, ClockState(5), 250_006) is None
    assert clock.spend(tc, ClockState(0), 250_000) == ClockState(0)


def test_fischer_adds_the_increment_after_the_move_only() -> None:
    tc = TimeControl(system=TimeSystem.FISCHER, main=10 * S, increment=3 * S, lag=0)
    assert clock.start(tc) == ClockState(10 * S)
    assert clock.spend(tc, ClockState(10 * S), 10 * S) == ClockState(3 * S)
    assert clock.spend(tc, ClockState(10 * S), 10 * S + 1) is None
    assert clock.spend(tc, ClockState(10 * S), 0) == ClockState(13 * S)
    assert clock.remaining_ms(tc, ClockState(13 * S)) == 13_000


@pytest.mark.parametrize(
    ("elapsed", "after"),
    [
        (4 * S, ClockState(6 * S, 0, 3)),
        (10 * S, ClockState(0, 0, 3)),
        (25 * S, ClockState(0, 0, 3)),
        (40 * S, ClockState(0, 0, 3)),  # exactly the whole first period: kept
        (40 * S + 1, ClockState(0, 0, 2)),
        (70 * S, ClockState(0, 0, 2)),
        (70 * S + 1, ClockState(0, 0, 1)),
        (100 * S, ClockState(0, 0, 1)),
        (100 * S + 1, None),
    ],
)
def test_byoyomi(elapsed: int, after: ClockState | None) -> None:
    tc = byoyomi()
    assert clock.spend(tc, clock.start(tc), elapsed) == after


def test_byoyomi_without_main_time_starts_in_its_first_period() -> None:
    tc = byoyomi(main=0)
    state = clock.start(tc)
    assert state == ClockState(0, 0, 3)
    assert clock.remaining_ms(tc, state) == 30_000
    assert clock.allowance(tc, state) == 90 * S
    assert clock.spend(tc, state, 30 * S) == state


@pytest.mark.parametrize(
    ("before", "elapsed", "after"),
    [
        (ClockState(10 * S), 4 * S, ClockState(6 * S)),
        (ClockState(10 * S), 10 * S, ClockState(0, 60 * S, 3)),  # exactly the main time: a whole period follows
        (ClockState(10 * S), 15 * S, ClockState(0, 55 * S, 2)),  # the move that crosses is the first of the period
        (ClockState(10 * S), 70 * S, ClockState(0, 0, 2)),
        (ClockState(10 * S), 70 * S + 1, None),
        (ClockState(0, 55 * S, 2), 5 * S, ClockState(0, 50 * S, 1)),
        (ClockState(0, 50 * S, 1), 50 * S, ClockState(0, 60 * S, 3)),  # the last one: a fresh period
        (ClockState(0, 50 * S, 1), 50 * S + 1, None),
        (ClockState(0, 0, 2), 0, ClockState(0, 0, 1)),
        (ClockState(0, 0, 2), 1, None),
    ],
)
def test_canadian(before: ClockState, elapsed: int, after: ClockState | None) -> None:
    assert clock.spend(canadian(), before, elapsed) == after


def test_canadian_without_main_time_and_with_one_stone() -> None:
    tc = canadian(main=0, stones=1)
    assert clock.start(tc) == ClockState(0, 60 * S, 1)
    assert clock.spend(tc, clock.start(tc), 59 * S) == ClockState(0, 60 * S, 1)
    assert clock.spend(canadian(stones=1), ClockState(10 * S), 20 * S) == ClockState(0, 60 * S, 1)


def test_fixed_time_a_move() -> None:
    tc = TimeControl(system=TimeSystem.FIXED, period=10 * S, lag=0)
    assert clock.spend(tc, clock.start(tc), 10 * S) == clock.start(tc)
    assert clock.spend(tc, clock.start(tc), 10 * S + 1) is None
    assert clock.remaining_ms(tc, clock.start(tc)) == 10_000


def test_bank_saves_unused_credit_up_to_its_cap() -> None:
    tc = absolute(main=10 * S, lag=100, lag_bank=250)
    state = clock.start(tc)
    assert clock.credit(tc, state) == 100  # nothing is saved at the start
    states = []
    for elapsed in (40, 0, 0, 300, 0):
        after = clock.spend(tc, state, elapsed)
        assert after is not None
        state = after
        states.append((state.main, state.bank))
    assert states == [(10 * S, 60), (10 * S, 160), (10 * S, 250), (10 * S - 50, 0), (10 * S - 50, 100)]


@pytest.mark.parametrize(
    ("tc", "state", "shown"),
    [
        (absolute(), ClockState(1999), 1),
        (absolute(), ClockState(0), 0),
        (byoyomi(), ClockState(10 * S, 0, 3), 40_000),
        (byoyomi(), ClockState(0, 0, 1), 30_000),
        (canadian(), ClockState(10 * S), 70_000),
        (canadian(), ClockState(0, 7 * S, 2), 7_000),
        (absolute(lag_bank=S), ClockState(S, 0, 0, 400_000), 1_000),  # saved credit is not time to plan with
    ],
)
def test_remaining(tc: TimeControl, state: ClockState, shown: int) -> None:
    assert clock.remaining_ms(tc, state) == shown


@pytest.mark.parametrize(
    ("elapsed", "shown"),
    [(0, 40_000), (10 * S, 30_000), (40 * S, 0), (40 * S + 1000, 29_999), (99 * S, 1_000), (100 * S, 0), (500 * S, 0)],
)
def test_remaining_of_a_move_under_way_is_the_rest_of_the_running_period(elapsed: int, shown: int) -> None:
    tc = byoyomi()
    assert clock.remaining_ms(tc, clock.start(tc), elapsed) == shown


@pytest.mark.parametrize(
    ("tc", "text"),
    [
        (absolute(), "5 min"),
        (absolute(main=7200 * S), "2 h"),
        (TimeControl(system=TimeSystem.FISCHER, main=300 * S, increment=3 * S), "5 min + 3 s a move"),
        (byoyomi(main=600 * S, periods=5), "10 min + 5 x 30 s"),
        (byoyomi(main=0, periods=5), "5 x 30 s"),
        (canadian(main=90 * S, period=300 * S, stones=25), "90 s + 25 moves in 5 min"),
        (TimeControl(system=TimeSystem.FIXED, period=500_000), "0.5 s a move"),
        (TimeControl(system=TimeSystem.FIXED, period=100 * S), "100 s a move"),
    ],
)
def test_describe(tc: TimeControl, text: str) -> None:
    assert clock.describe(tc) == text
    assert clock.check(tc) is None


@pytest.mark.parametrize(
    ("tc", "word"),
    [
        (absolute(main=0), "main"),
        (absolute(main=-1), "negative"),
        (absolute(lag=-1), "lag"),
        (absolute(lag=100, lag_bank=99), "bank"),
        (absolute(increment=S), "no increment"),
        (TimeControl(system=TimeSystem.FISCHER, main=S), "increment"),
        (byoyomi(periods=0), "periods"),
        (byoyomi(period=0), "period"),
        (canadian(stones=0), "stones"),
        (TimeControl(system=TimeSystem.FIXED, main=S, period=S), "no main"),
    ],
)
def test_impossible_controls_are_named(tc: TimeControl, word: str) -> None:
    sentence = clock.check(tc)
    assert sentence is not None
    assert word in sentence
    assert sentence.endswith(".")


amount = st.integers(1, 50)


@st.composite
def controls(draw: st.DrawFn) -> TimeControl:
    """Small figures, so that edges (exactly the period, exactly the main time) are hit all the time."""
    lag = draw(st.integers(0, 10))
    bank = draw(st.none() | st.integers(lag, 30))
    some = st.integers(0, 50)
    match draw(st.sampled_from(TimeSystem)):
        case TimeSystem.ABSOLUTE:
            return TimeControl(system=TimeSystem.ABSOLUTE, main=draw(amount), lag=lag, lag_bank=bank)
        case TimeSystem.FISCHER:
            return TimeControl(
                system=TimeSystem.FISCHER, main=draw(amount), increment=draw(amount), lag=lag, lag_bank=bank
            )
        case TimeSystem.BYOYOMI:
            periods = draw(st.integers(1, 5))
            period = draw(amount)
            return TimeControl(
                system=TimeSystem.BYOYOMI, main=draw(some), period=period, periods=periods, lag=lag, lag_bank=bank
            )
        case TimeSystem.CANADIAN:
            stones = draw(st.integers(1, 5))
            period = draw(amount)
            return TimeControl(
                system=TimeSystem.CANADIAN, main=draw(some), period=period, stones=stones, lag=lag, lag_bank=bank
            )
        case _:
            return TimeControl(system=TimeSystem.FIXED, period=draw(amount), lag=lag, lag_bank=bank)


@st.composite
def reached(draw: st.DrawFn) -> tuple[TimeControl, ClockState]:
    """A control and a state that play can reach."""
    tc = draw(controls())
    assert clock.check(tc) is None
    state = clock.start(tc)
    for elapsed in draw(st.lists(st.integers(0, 60), max_size=12)):
        after = clock.spend(tc, state, elapsed)
        if after is not None:
            state = after
    return tc, state


@given(reached(), st.integers(0, 400))
def test_flag_falls_exactly_beyond_the_deadline_and_nothing_is_ever_negative(
    situation: tuple[TimeControl, ClockState], elapsed: int
) -> None:
    tc, state = situation
    after = clock.spend(tc, state, elapsed)
    assert (after is None) == (elapsed > clock.deadline(tc, state))
    assert clock.deadline(tc, state) == clock.allowance(tc, state) + clock.credit(tc, state)
    if after is not None:
        assert min(after) >= 0
        assert clock.remaining_ms(tc, after) >= 0
        assert after.bank <= (tc.lag_bank or 0)


@given(reached(), st.integers(0, 400), st.integers(0, 400))
def test_thinking_longer_never_leaves_more(situation: tuple[TimeControl, ClockState], first: int, second: int) -> None:
    tc, state = situation
    quick, slow = (clock.spend(tc, state, t) for t in sorted((first, second)))
    if slow is not None:
        assert quick is not None
        assert clock.allowance(tc, quick) >= clock.allowance(tc, slow)
        assert clock.remaining_ms(tc, quick) >= clock.remaining_ms(tc, slow)
        assert quick.bank >= slow.bank
        assert clock.deadline(tc, quick) >= clock.deadline(tc, slow)


@given(controls(), st.lists(st.integers(0, 30), max_size=20))
def test_thinking_beyond_the_credit_is_charged_fully(tc: TimeControl, moves: list[int]) -> None:
    """Main time, increments apart, shrinks by exactly the sum of what exceeded the credit."""
    assume(tc.system in (TimeSystem.ABSOLUTE, TimeSystem.FISCHER))
    state = clock.start(tc)
    charged = made = 0
    for elapsed in moves:
        over = max(0, elapsed - clock.credit(tc, state))
        after = clock.spend(tc, state, elapsed)
        if after is None:
            assert over > state.main
            break
        charged += over
        made += 1
        state = after
    assert tc.main + made * tc.increment - state.main == charged


@given(controls(), st.lists(st.integers(0, 60), max_size=20))
def test_credit_given_in_all_never_exceeds_lag_for_each_move(tc: TimeControl, moves: list[int]) -> None:
    """A bank moves credit between moves; it makes none."""
    state = clock.start(tc)
    free = 0
    for made, elapsed in enumerate(moves, 1):
        free += min(elapsed, clock.credit(tc, state))
        assert free <= made * tc.lag
        after = clock.spend(tc, state, elapsed)
        if after is None:
            break
        state = after


@given(reached(), st.integers(0, 400))
def test_overtime_agrees_with_counting_it_down(situation: tuple[TimeControl, ClockState], elapsed: int) -> None:
    """The same rules as a clock on the table would apply them, one tick at a time."""
    tc, state = situation
    main, period, quota = state.main, state.period, state.quota
    left = period if tc.system is TimeSystem.CANADIAN else tc.period
    for _ in range(max(0, elapsed - clock.credit(tc, state))):
        if tc.system is not TimeSystem.FIXED and main:
            main -= 1
            if main == 0 and tc.system is TimeSystem.CANADIAN:
                left, quota = tc.period, tc.stones
            continue
        if left == 0 and tc.system is TimeSystem.BYOYOMI and quota > 1:
            quota -= 1
            left = tc.period
        if left == 0 or tc.system in (TimeSystem.ABSOLUTE, TimeSystem.FISCHER):
            assert clock.spend(tc, state, elapsed) is None
            return
        left -= 1
    after = clock.spend(tc, state, elapsed)
    assert after is not None
    match tc.system:
        case TimeSystem.CANADIAN:
            thought = elapsed > clock.credit(tc, state)
            if main == 0 and not (thought and state.main and left == tc.period):
                quota -= 1
                if quota == 0:
                    left, quota = tc.period, tc.stones
            assert after[:3] == (main, left if main == 0 else 0, quota)
        case TimeSystem.FISCHER:
            assert after[:3] == (main + tc.increment, 0, 0)
        case _:
            assert after[:3] == (main, 0, quota)
