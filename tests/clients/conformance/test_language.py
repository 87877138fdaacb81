"""Reading transcripts, the shipped ones included."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from cgos_client.conformance.language import (
    BadTranscript,
    Case,
    Compare,
    Expect,
    Pair,
    Play,
    Quirk,
    SignsIn,
    Which,
    parse,
)
from cgos_client.conformance.runner import all_cases, chosen

README = resources.files("cgos_client.conformance") / "README.md"


def only(text: str) -> Case:
    (case,) = parse("x.txt", text)
    return case


def test_a_case_with_everything() -> None:
    case = only(
        "# a comment\n\n=== a-case: it has a title\nharsh: it hurts\npair saying x y\nplay E5 D5\n"
        "rival signs in as $black with a b saying z\nblack<... info * [within 2.5 s]\n"
        "  quirk tcl old: (nothing) -- no word\n  quirk python, goes on: ok\ncheck $a <= 5\n"
    )
    assert (case.name, case.title, case.topic, case.harsh, case.alone) == (
        "a-case",
        "it has a title",
        "x",
        "it hurts",
        True,
    )
    assert [step.action for step in case.steps] == [
        Pair("x y", False),
        Play(("E5", "D5")),
        SignsIn("rival", "$black", "a b", "z"),
        Expect(
            "black",
            "info *",
            Which.SOME,
            2.5,
            (Quirk(("tcl", "old"), "(nothing)", "no word", False), Quirk(("python",), "ok", "ok", True)),
        ),
        Compare(text="$a <= 5", left="$a", operator="<=", right="5", needed=False),
    ]
    assert [step.line for step in case.steps] == [5, 6, 7, 8, 11]


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("a connects\na< protocol *", False),
        ("a connects\na> $a.password", True),
        ("a signs in", True),
        ("pair", True),
        ("alone\na connects", True),
    ],
)
def test_cases_whose_bots_may_be_paired_are_alone(text: str, alone: bool) -> None:
    assert only(f"=== x: y\n{text}\n").alone is alone


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("pair", "line 1: a step before the first case"),
        ("=== No Name: x", "line 1: a case begins with"),
        ("=== x: y\nblack says hello", "line 2: no step"),
        ("=== x: y\nquirk tcl: ok", "line 2: a quirk belongs"),
        ("=== x: y\na< ok\nquirk tcl ok", "line 3: write 'quirk"),
        ("=== x: y\na< <ham>", "line 2: <ham>"),
        ("=== x: y\na< /(/", "line 2: /(/"),
        ("=== x: y\ncheck 1 = 2", "line 2: compare two values"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, why: str) -> None:
    with pytest.raises(BadTranscript) as raised:
        parse("file.txt", text)
    assert str(raised.value).startswith(f"file.txt, {why}")


def test_the_shipped_cases() -> None:
    cases = all_cases()
    assert len(cases) > 100
    assert len({case.title for case in cases if case.title != "quit closes"}) > 90
    peers = set()
    for case in cases:
        assert case.steps
        assert any(isinstance(step.action, Expect | Play) for step in case.steps), case.name
        for step in case.steps:
            if isinstance(step.action, Expect):
                peers |= {peer for quirk in step.action.quirks for peer in quirk.peers}
    assert peers == {"tcl", "python"}


def test_one_name_is_one_case(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("=== same: x\npair\n")
    (tmp_path / "b.txt").write_text("=== same: x\npair\n")
    with pytest.raises(BadTranscript, match=r"b.txt, line 1: a.txt has a case 'same' too"):
        all_cases(tmp_path)


def test_choosing() -> None:
    cases = all_cases()
    assert [case.name for case in chosen(cases, ["superko"])] == ["superko"]
    assert {case.name for case in chosen(cases, ["ko", "superko*"])} == {"ko", "superko"}
    assert chosen(cases, []) == cases


def test_the_description_shows_a_case_that_can_be_read() -> None:
    example = README.read_text().split("```")[1]
    assert only(example.strip() + "\n").name == "ko"
