"""One is not several."""

from __future__ import annotations

from cgos_server.tournaments.words import counted, in_points, listed, rematches_said


def test_one_and_several() -> None:
    assert [counted(k, "game") for k in (0, 1, 2)] == ["0 games", "1 game", "2 games"]
    assert [in_points(value) for value in (0, 0.5, 1, 2.5)] == ["0 points", "0.5 points", "1 point", "2.5 points"]
    assert [listed("abc"[:k]) for k in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert rematches_said(1).startswith("1 rematch: ")
    assert rematches_said(2).startswith("2 rematches: ")
