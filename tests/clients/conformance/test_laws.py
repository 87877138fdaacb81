"""What may be said to real clients and what may not."""

from __future__ import annotations

import pytest

from cgos_client.conformance.laws import broken

SETUP = "setup 1 9 7.0 60000 Anna(1800?) Bert(1795)"


@pytest.mark.parametrize(
    "line",
    [
        "protocol",
        "protocol genmove_analyze",
        "username",
        "password",
        "Error: Sorry, password doesn't match",
        "info a word",
        SETUP,
        f"{SETUP} ",
        f"{SETUP}  D4 60000 PASS 0",
        "setup 1 9 -3.5 0 Anna(0) Bert(0?)",
        "play b D4 60000",
        "genmove w 0",
        "gameover 2026-01-31 B+3.5 ",
        "gameover 2026-01-31 W+Illegal suicide attempted: A1",
    ],
)
def test_players_may_hear(line: str) -> None:
    assert broken(line, viewer=False) is None


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("", "blank line"),
        (" \t", "blank line"),
        (" info x", "begins with white space"),
        ("info J\u00fcrgen", "printable ASCII"),
        ("info \x07", "printable ASCII"),
        ("ok", "'ok'"),
        ("update 1 D4 60000", "'update'"),
        ("Sorry, password doesn't match", "'Sorry,'"),
        ("gameover 2026-01-31 B+Illegal {D4", "no Tcl list"),
        ('info a "b" "c', "no Tcl list"),
        ("protocol genmove_analyze v3", "protocol"),
        ("username please", "no parameters"),
        ("setup 1 9 7.0 60000 Anna(1800)", "six parameters"),
        (f"{SETUP} D4", "even number"),
        (f"{SETUP} D4 60000.0", "'60000.0'"),
        (f"{SETUP} D4 -5", "'-5'"),
        (SETUP.replace("60000", "60000.5"), "milliseconds"),
        (SETUP.replace(" 9 ", " nine "), "'nine'"),
        (SETUP.replace("7.0", "seven"), "komi"),
        (SETUP.replace("(1800?)", ""), "rating"),
        (SETUP.replace("1795", "-5"), "rating"),
        ("play b D4", "three parameters"),
        ("play b D4 1 2", "three parameters"),
        ("play B D4 1", "'B'"),
        ("play b D4 1.5", "'1.5'"),
        ("genmove b", "two parameters"),
        ("genmove b 1 0", "two parameters"),
        ("genmove b -1", "'-1'"),
        ("gameover 2026-01-31", "date and a result"),
        ("gameover yesterday B+1.5", "no date"),
    ],
)
def test_players_may_not_hear(line: str, why: str) -> None:
    fault = broken(line, viewer=False)
    assert fault is not None
    assert why in fault


@pytest.mark.parametrize(
    "line", ["", "match 1 - - 9 7.0 a(1?) b(2) -", "update 1 B+3.5", "gameover 1 B+3.5 0 0", "setup 1 ?", "info x"]
)
def test_viewers_may_hear(line: str) -> None:
    assert broken(line, viewer=True) is None


@pytest.mark.parametrize("line", [" match 1", "genmove b 1", "update 1 {D4 5", "info \u00fc"])
def test_viewers_may_not_hear(line: str) -> None:
    assert broken(line, viewer=True) is not None
