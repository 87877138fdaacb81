"""Lines against patterns."""

from __future__ import annotations

import pytest

from cgos_client.conformance.patterns import BadPattern, Made, check, fill, fits, to_bytes

KNOWN = {"gid": "17", "black": "kit-a.b", "level": "60000"}
MOVES = [Made("E5", "61000"), Made("pass", "0")]


@pytest.mark.parametrize(
    ("pattern", "line", "values"),
    [
        ("username", "username", {}),
        ("username", "username  ", {}),
        ("play b D4 <ms>", "play  b\tD4 60000", {}),
        ("genmove b <ms:left>", "genmove b 59000", {"left": "59000"}),
        ("setup $gid *", "setup 17 9 7.0", {}),
        ("setup $gid *", "setup 17", {}),
        ("$black(<rating>)", "kit-a.b(1800?)", {}),
        ("match $new -", "match 18 -", {"new": "18"}),
        ("*", "", {}),
        ("*", "anything at all", {}),
        ("gameover <date> <result> <text>", "gameover 2026-01-31 B+Resign Resignation and more", {}),
        ("/play b [a-z]\\d <ms>|x \\d+/", "x 5", {}),
        ("/update $gid .*/", "update 17 D4", {}),
        ("setup $gid<moves>", "setup 17 e5 61000 PASS 0", {}),
    ],
)
def test_fits(pattern: str, line: str, values: dict[str, str]) -> None:
    values = fits(pattern, line, KNOWN, MOVES)
    assert values is not None
    assert values == values


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        ("username", "username?"),
        ("username", " username"),
        ("play b D4 <ms>", "play b D4 -5"),
        ("play b D4 <ms>", "play b D4 5.5"),
        ("play b D4 <ms>", "play b d4 5"),
        ("setup $gid *", "setup 170"),
        ("setup $gid *", "setup 1 7"),
        ("$black(<rating>)", "kit-axb(1800)"),
        ("gameover <date> <result>", "gameover 2026-1-31 B+1.5"),
        ("gameover <date> <result>", "gameover 2026-01-31 Jigo"),
        ("/update $gid .*/", "update 18 D4"),
        ("/gameover .* /", "gameover 2026-01-31 Draw"),
        ("setup $gid <moves>", "setup 17 E5 61000"),
        ("setup $gid <moves>", "setup 17 E5 60000 PASS 0"),
        ("setup $gid <moves>", "setup 17 E5 61000 PASS 0 D4 1"),
    ],
)
def test_does_not_fit(pattern: str, line: str) -> None:
    assert fits(pattern, line, KNOWN, MOVES) is None


def test_no_moves_are_nothing() -> None:
    assert fits("setup $gid <moves>", "setup 17", KNOWN, []) is not None
    assert fits("setup $gid <moves>", "setup 17 E5 1", KNOWN, []) is None


def test_texts_to_send() -> None:
    assert fill("observe $gid {x*3}{", KNOWN) == "observe 17 xxx{"
    assert fill("$black.", KNOWN) == "kit-a.b."
    assert to_bytes("a\\r\\n\\x00\\xff\\\\ {") == b"a\r\n\x00\xff\\ {"
    with pytest.raises(BadPattern, match=r"\$unknown"):
        fill("$unknown", KNOWN)


def test_bad_patterns_are_told() -> None:
    with pytest.raises(BadPattern, match="<seconds>"):
        check("genmove b <seconds>")
    with pytest.raises(BadPattern, match="unterminated"):
        check("/(open/")
