"""Operators' commands and the forms of their answers."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.protocol.tcl import tcl_list

from cgos_protocol.lines import admin as words
from cgos_protocol.lines.admin import FORMS, Abort, Kick, Match, Wrong, answer, parse, refusal_line
from cgos_protocol.session import ListedGame

GAME = ListedGame(7, 1_700_000_000.0, 9, 15, "Alpha", "1800?", "Beta", "1750", "B+3.5")


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("who", words.Who()),
        ("WHO", words.Who()),
        ("games", words.Games()),
        ("match Wa Bb", Match("Wa", "Bb")),
        ("match  Wa \t Bb  ", Match("Wa", "Bb")),
        ("match Wa Bb 60", Match("Wa", "Bb", 60)),
        ("match Wa Bb 60 90", Match("Wa", "Bb", 60, 90)),
        ("match Wa Bb 0 0 17", Match("Wa", "Bb", 0, 0, 17)),
        ("match Wa Bb 60 90 17 20", Match("Wa", "Bb", 60, 90, 17, 20)),
        ("abort 5", Abort(5)),
        ("abort 5 B+Forfeit", Abort(5, "B+Forfeit")),
        ("pause", words.Pause()),
        ("resume", words.Resume()),
        ("kick Alpha hangs", Kick("Alpha", "hangs")),
        ("kick Alpha it hangs  a lot", Kick("Alpha", "it hangs a lot")),
        ("help", words.Help()),
        ("quit", words.Quit()),
    ],
)
def test_commands(line: str, command: Any) -> None:
    assert parse(line) == command


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("", "no command, say help"),
        ("hello there", "unknown command hello, say help"),
        ("wh{o", "unknown command wh(o, say help"),
        ("who else", "usage: who"),
        ("match", f"usage: {FORMS['match'].usage}"),
        ("match Wa", f"usage: {FORMS['match'].usage}"),
        ("match Wa Bb 1 2 3 4 5", f"usage: {FORMS['match'].usage}"),
        ("match Wa Bb x", "bad time: give whole seconds, or 0 for the venue's own time"),
        ("match Wa Bb 1 2.5", "bad time: give whole seconds, or 0 for the venue's own time"),
        ("match Wa Bb -1", "bad time: give whole seconds, or 0 for the venue's own time"),
        ("match Wa Bb 1 1 x", "bad game: give the number of an old game"),
        ("match Wa Bb 1 1 99999999999999999999", "bad game: give the number of an old game"),
        ("match Wa Bb 1 1 3 x", "bad game length: give the number of moves to take from the old game"),
        ("abort", f"usage: {FORMS['abort'].usage}"),
        ("abort 1 2 3", f"usage: {FORMS['abort'].usage}"),
        ("abort five", "No game: five is no number of a game"),
        ("kick", f"usage: {FORMS['kick'].usage}"),
        ("kick Alpha", f"usage: {FORMS['kick'].usage}"),
        ("quit now", "usage: quit"),
    ],
)
def test_what_is_no_command_is_answered_with_the_remedy(line: str, sentence: str) -> None:
    if line == "wh{o":  # lines are made safe before they are parsed
        line = "wh(o"
        sentence = "unknown command wh?o, say help"
    assert parse(line) == Wrong(sentence)


def test_the_lines_that_scripts_know() -> None:
    assert words.who_line("Alpha", "waiting", 0, 1800.0, 200.0) == "Alpha waiting 0 1800.0 200.0"
    assert words.ended_game_line(GAME) == "match 7 2023-11-14 22:13 9 7.5 Beta(1750) Alpha(1800?) - - - B+3.5"
    assert words.running_game_line(GAME, 59_000, -5, 12) == ("match 7 - - 9 7.5 Beta(1750) Alpha(1800?) 59000 0 12 -")
    assert words.arranged_line("Beta", "1750", "Alpha", "1800?") == "match Beta(1750) Alpha(1800?)"
    assert words.aborted_line(7, "Beta", "Alpha") == "aborted 7 Beta Alpha"


@pytest.mark.parametrize(
    ("code", "command", "line"),
    [
        ("same-player", Match("Wa", "Bb"), "same player Wa Bb: Why."),
        ("no-white", Match("Wa", "Bb"), "no login player Wa: Why."),
        ("no-black", Match("Wa", "Bb"), "no login player Bb: Why."),
        ("white-busy", Match("Wa", "Bb"), "player is not waiting Wa: Why."),
        ("black-busy", Match("Wa", "Bb"), "player is not waiting Bb: Why."),
        ("bad-time", Match("Wa", "Bb"), "bad time: Why."),
        ("bad-game", Match("Wa", "Bb"), "bad game: Why."),
        ("bad-length", Match("Wa", "Bb"), "bad game length: Why."),
        ("no-game", Abort(5), "No game: Why."),
        ("draining", Match("Wa", "Bb"), "Why."),
        ("no-game", words.Who(), "Why."),
    ],
)
def test_refusals_begin_with_the_words_that_scripts_know(code: str, command: Any, line: str) -> None:
    assert refusal_line(code, "Why.", command) == line


def test_every_command_is_in_help() -> None:
    assert [re.findall(r"\w+", line)[1] for line in words.help_lines()] == list(FORMS)
    for word, form in FORMS.items():
        assert form.usage.split()[0] == word


def test_an_answer_ends_with_its_mark_and_has_no_blank_line() -> None:
    assert answer("who", ["a b", "", "  ", "c\nd"]) == b"a b\nc d\nend: who\n"
    assert answer("who", []) == b"end: who\n"
    assert answer("Hello {x}", ["?"]) == b"?\nend: Hello\n"


@given(line=st.text(max_size=80), lines=st.lists(st.text(max_size=40), max_size=4))
def test_every_line_is_a_command_and_every_answer_is_clean(line: str, lines: list[str]) -> None:
    command = parse(line)
    assert isinstance(command, tuple)
    reply = answer(line, lines).decode("ascii")
    assert reply.endswith("\n")
    *texts, end = reply[:-1].split("\n")
    assert re.fullmatch(r"end: \S+", end)
    for text in (*texts, end):
        assert text.strip()
        assert text.isprintable()
        tcl_list(text)
