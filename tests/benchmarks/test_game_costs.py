"""A begin and an end are told apart by when they happen, without what idling costs."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.moves import game_costs


def in_step(begin: float, end: float, idle: float) -> list[Any]:
    """Four bots' samples a tenth of a second apart: two games begin a second after those before have ended, and so on.
    As much again is spent in the interval after it."""
    samples, process, due = [], 0.0, 0.0
    begun = ended = 4
    for at in range(100):
        process, due = process + due + idle * 0.1, 0.0
        if at % 20 == 5:
            begun, process, due = begun + 4, process + begin, begin
        elif at % 20 == 15:
            ended, process, due = ended + 4, process + end, end
        samples.append(game_costs.Sample(at=at / 10, process=process, loop=process / 2, begun=begun, ended=ended))
    return samples


def test_a_begin_and_an_end() -> None:
    begin, end = game_costs.phases(in_step(300e-6, 500e-6, 0.02))
    assert (begin.process, begin.loop) == pytest.approx((300.0, 150.0))
    assert (end.process, end.loop) == pytest.approx((500.0, 250.0))


def test_bots_out_of_step_are_refused() -> None:
    with pytest.raises(RuntimeError, match="did not play in step"):
        game_costs.phases(in_step(300e-6, 500e-6, 0.02)[:12])
