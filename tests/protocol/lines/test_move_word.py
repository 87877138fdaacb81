"""A move is one word: what follows it is dropped."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cgos_protocol.lines.move_word import MOVE_MAX, first_word
from cgos_protocol.lines.player import CgosPlayer, Move, State

At = Callable[[State], CgosPlayer]


@pytest.mark.parametrize(
    ("text", "word", "rest"),
    [
        (b"D4", "D4", b""),
        (b" pass\r\n", "pass", b""),
        (b"D4 E5", "D4", b"E5"),
        (b"D4\t {1: 2}", "D4", b"{1: 2}"),
        (b"D{4\xff", "D(4?", b""),
        (b"x" * 99, "x" * MOVE_MAX, b""),
        (b" \t", "", b""),
        (b"", "", b""),
    ],
)
def test_the_first_word_is_the_move(text: bytes, word: str, rest: bytes) -> None:
    assert first_word(text) == (word, rest)


@pytest.mark.parametrize("text", ["D4 E5", "D4 E5 C3", "pass D4", "D4\n{}", 'D4 {"winrate":0.5}'])
def test_what_follows_the_word_is_dropped(text: str, at: At) -> None:
    move = at(State.GENMOVE).receive(text.encode())
    assert isinstance(move, Move)
    assert move.text == text.split()[0]
