"""When an engine that fails is started again: in a row, over time, for good."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cgos_client.bridge.restarts import Restarts


def test_failures_in_a_row_end_a_game_and_a_new_game_is_a_new_chance() -> None:
    restarts = Restarts(in_a_row=3)
    for at in range(2):
        restarts.failed(at)
        assert restarts.allowed
    assert restarts.count == "failure 2 of 3 in a row, 2 of 10 within 60 minutes"
    restarts.failed(2)
    assert not restarts.allowed
    assert restarts.gone is None
    restarts.new_game()
    assert restarts.allowed


def test_a_move_between_two_failures_parts_them() -> None:
    restarts = Restarts(in_a_row=2, within_window=100)
    for at in range(50):
        restarts.failed(at)
        assert restarts.allowed
        restarts.moved()


def test_an_unfit_engine_gets_no_new_chance() -> None:
    restarts = Restarts()
    restarts.failed(0, unfit=True)
    restarts.new_game()
    assert not restarts.allowed


def test_games_given_up_in_a_row() -> None:
    restarts = Restarts(in_a_row=2)
    restarts.failed(0, unfit=True)
    restarts.game_given_up()
    restarts.game_over()
    assert restarts.gone is None
    restarts.game_given_up()
    assert restarts.gone == "2 games in a row were lost because the engine failed"


def test_failures_count_for_so_long_and_what_is_given_up_stays_so() -> None:
    restarts = Restarts(within_window=3, window_s=120.0)
    for at in (0, 60, 122, 190, 260):
        restarts.failed(at)
        restarts.moved()
        assert restarts.gone is None
    restarts.failed(280)
    assert restarts.gone == "the engine failed 3 times within 2 minutes"
    restarts.moved()
    restarts.new_game()
    restarts.game_over()
    restarts.failed(10_000)
    assert not restarts.allowed
    assert restarts.gone is not None


@given(st.lists(st.floats(0, 100), max_size=40), st.integers(1, 5), st.floats(1, 100))
def test_given_up_exactly_where_so_many_fall_into_one_window(pauses: list[float], most: int, window: float) -> None:
    restarts = Restarts(in_a_row=1000, within_window=most, window_s=window)
    times: list[float] = []
    for pause in pauses:
        times.append((times[-1] if times else 0.0) + pause)
        restarts.failed(times[-1])
    full = any(last - first <= window for first, last in zip(times, times[most - 1 :], strict=False))
    assert (restarts.gone is not None) == full
