"""Six lines to paste."""

from __future__ import annotations

import pytest

from cgos_server.core.sequential import Counts, Hypotheses, Scale, estimate, standing
from cgos_server.presentation.questions.paste import NO_ESTIMATE, SequentialTest, six_lines, with_interval


def lines(cells: tuple[int, ...], points: tuple[int, int, int] | None, scale: Scale = Scale.NORMALIZED) -> list[str]:
    asked, counts = Hypotheses(lower=-5, upper=10, beta=0.1, scale=scale), Counts(cells)
    tested = SequentialTest(
        older="Old",
        newer="New",
        hypotheses=asked,
        counts=counts,
        points=points,
        standing=standing(counts, asked),
        estimate=estimate(counts, asked),
    )
    return six_lines(tested, "https://cgos.example/question/7").split("\n")


def test_a_running_test() -> None:
    assert lines((3, 20, 41, 25, 6), (63, 60, 67)) == [
        "Test   | New against Old: goes on",
        lines((3, 20, 41, 25, 6), None)[1],
        "LLR    | 0.67 (-2.25, 2.89) [-5.00, 10.00] normalized Elo, alpha 0.05, beta 0.1",
        "Games  | N: 190 W: 63 L: 67 D: 60",
        "Pairs  | [3, 20, 41, 25, 6]",
        "Link   | https://cgos.example/question/7",
    ]


@pytest.mark.parametrize("cells", [(0, 0, 0, 0, 0), (0, 0, 0, 0, 9), (9, 0, 0), (0, 0, 1), (0, 0, 0, 1, 9)])
@pytest.mark.parametrize("scale", list(Scale))
def test_there_are_six_lines_whatever_was_counted(cells: tuple[int, ...], scale: Scale) -> None:
    told = lines(cells, None, scale)
    assert len(told) == 6
    assert all(line[7:9] == "| " for line in told)
    assert "None" not in "".join(told)
    assert told[4].startswith("Pairs" if len(cells) == 5 else "Single")


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ((1.42, 0.15, 2.66), "1.4 ± 1.3"),
        ((12.0, 3.0, 40.0), "12.0, 3.0 to 40.0"),
        ((331.0, -15.0, None), NO_ESTIMATE),
        ((-331.0, None, 15.0), NO_ESTIMATE),
        ((0.0, None, None), NO_ESTIMATE),
        ((None, None, None), NO_ESTIMATE),
    ],
)
def test_an_interval_with_an_open_end_is_no_estimate(given: tuple[float | None, ...], written: str) -> None:
    value, lower, upper = given
    assert with_interval(value, lower, upper) == written
