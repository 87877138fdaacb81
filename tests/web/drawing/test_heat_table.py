"""Cells of a crosstable: their colors, figures and links."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from cgos_server.web.drawing.heat_table import Cell, heat, heat_rows

ORDER = ["m5", "m4", "m3", "m2", "m1", "m0", "q1", "q2", "q3", "q4", "q5"]


@given(st.integers(1, 500), st.floats(0.01, 0.99), st.floats(0, 1), st.floats(0, 1))
def test_a_better_score_is_never_a_colder_cell(games: int, expected: float, first: float, second: float) -> None:
    low, high = sorted((first, second))
    assert ORDER.index(heat(Cell(low * games, games, expected))) <= ORDER.index(
        heat(Cell(high * games, games, expected))
    )


@given(st.integers(1, 500), st.floats(0.01, 0.99), st.floats(0, 1))
def test_the_other_side_has_the_opposite_color(games: int, expected: float, share: float) -> None:
    mine = ORDER.index(heat(Cell(share * games, games, expected)))
    theirs = ORDER.index(heat(Cell((1 - share) * games, games, 1 - expected)))
    assert abs(mine + theirs - (len(ORDER) - 1)) <= 1  # to the last digit of floats, at a step


def test_what_is_expected_is_pale_and_one_game_shouts_nothing() -> None:
    assert heat(Cell(30, 100, 0.3)) == "m0"
    assert heat(Cell(100, 100, 0.3)) == "q5"
    assert heat(Cell(0, 100, 0.5)) == "m5"
    assert heat(Cell(1, 1, 0.5)) in ("q1", "q2")


def test_rows_are_sound_and_escaped() -> None:
    names = ["Fox", 'x"><b>', "Ant"]
    cells = {("Fox", "Ant"): Cell(1.5, 2, 0.6), ("Ant", "Fox"): Cell(0.5, 2, 0.4)}
    rows = heat_rows(names, cells, "/venue/9x9/pair", dict.fromkeys(names, "/bot/x"))
    table = ET.fromstring(f"<table>{rows}</table>")
    assert [len(row) for row in table] == [4, 4, 4]
    assert "<b>" not in rows
    cell = table[0][3][0]
    assert cell.get("href") == "/venue/9x9/pair?a=Fox&b=Ant"
    assert cell.get("title") == "Fox scored 1.5 of 2 against Ant; 1.2 expected"
    assert "".join(cell.itertext()) == "752"
    assert list(table[0][2]) == []
    assert table[1][2].get("class") == "self"
