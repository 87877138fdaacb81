"""A built-in bot as a GTP program."""

from __future__ import annotations

import io
import random

import pytest

from cgos_client.bots.engines import RandomBot
from cgos_client.bots.gtp_shell import UNTIMED_MS, GtpShell
from cgos_client.bots.mcts import MctsBot


class Told:
    """A bot that writes down what it is told."""

    name = "told"
    analyses = False

    def __init__(self):
        self.calls = []

    def new_game(self, size, komi2):
        self.calls.append(("new", size, komi2))

    @property
    def komi2(self):
        raise AssertionError("nobody has to ask")

    @komi2.setter
    def komi2(self, komi2):
        self.calls.append(("komi", komi2))

    def play(self, color, move):
        self.calls.append(("play", color.letter, move))

    def genmove(self, color, left_ms):
        self.calls.append(("genmove", color.letter, left_ms))
        return "D4"

    def analysis(self):
        return None


@pytest.fixture
def bot():
    return Told()


@pytest.fixture
def shell(bot):
    return GtpShell(bot)


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("protocol_version", "= 2\n\n"),
        ("12 protocol_version", "=12 2\n\n"),
        ("  name # a comment\r", "= cgos-client told\n\n"),
        ("known_command genmove", "= true\n\n"),
        ("known_command undo", "= false\n\n"),
        ("7 undo", "?7 unknown command\n\n"),
        ("boardsize", "? syntax error\n\n"),
        ("boardsize 9", "=\n\n"),
        ("komi 7.5", "=\n\n"),
        ("komi nan", "? syntax error\n\n"),
        ("play b", "? syntax error\n\n"),
        ("play green D4", "? syntax error\n\n"),
        ("genmove w", "= D4\n\n"),
        ("genmove", "? syntax error\n\n"),
        ("time_left b 10", "? syntax error\n\n"),
        ("", None),
        ("# only a comment", None),
    ],
)
def test_answers(shell, line, answer):
    assert shell.answer(line) == answer


def test_what_the_bot_is_told(shell, bot):
    for line in (
        "boardsize 13",
        "komi -0.5",
        "clear_board",
        "play White d4",
        "genmove b",
        "time_settings 60 0 0",
        "genmove b",
        "time_left b 5 0",
        "genmove b",
        "time_left b 30 10",
        "genmove b",
        "genmove w",
        "clear_board",
        "time_settings 0 10 0",
        "genmove b",
    ):
        assert shell.answer(line).startswith("=")
    assert bot.calls == [
        ("new", 13, 14),
        ("komi", -1),
        ("new", 13, -1),
        ("play", "w", "d4"),
        ("genmove", "b", UNTIMED_MS),
        ("genmove", "b", 60_000),
        ("genmove", "b", 5_000),
        ("genmove", "b", 3_000),
        ("genmove", "w", 60_000),
        ("new", 13, -1),
        ("genmove", "b", UNTIMED_MS),
    ]


def test_refusals_of_a_real_bot():
    shell = GtpShell(RandomBot(random.Random(1)))
    assert shell.answer("boardsize 26") == "? unacceptable size\n\n"
    assert shell.answer("play b D4") == "=\n\n"
    assert shell.answer("play w D4") == "? illegal move\n\n"
    assert shell.answer("cgos-genmove_analyze b") == "? unknown command\n\n"


def test_analysis():
    answer = GtpShell(MctsBot(random.Random(1), 5)).answer("cgos-genmove_analyze b")
    first, analysis, move, *end = answer.split("\n")
    assert (first.strip(), end) == ("=", ["", ""])
    assert analysis.startswith('{"winrate":')
    assert move.startswith("play ")


def test_serving_ends_with_quit(shell):
    answers = io.StringIO()
    shell.serve(io.StringIO("1 name\n\n2 quit\n3 name\n"), answers)
    assert answers.getvalue() == "=1 cgos-client told\n\n=2\n\n"
