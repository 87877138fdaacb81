"""Cells of tables and lines of commands."""

from __future__ import annotations

from cgos_server.cli.output import shown
from cgos_server.presentation.words import count


def test_a_large_count_keeps_its_space_and_controls_become_marks() -> None:
    assert shown(f"after {count(12_345, 'game')}\x1b[2J") == "after 12\N{NARROW NO-BREAK SPACE}345 games?[2J"
