"""A move is one word, on both wires: whatever is sent, the same move reaches the game."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.net.ws_bot import Bot, errors, setup

from cgos_server.core.games.base import Color
from cgos_server.protocol.cgos_player import CgosPlayer, Move, State
from cgos_server.protocol.move_word import MOVE_MAX, first_word

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


def by_websocket(text: str) -> tuple[list[str], list[tuple[str, bool]]]:
    """The moves that reached the game, and what was told."""
    bot = Bot()
    bot.table().setup(setup(), Color.BLACK)
    bot.client.listen()
    bot.client.say(type="move", game=3, ply=1, move=text)
    return [said[3] for said in bot.told if said[0] == "move"], errors(bot.client)


@pytest.mark.parametrize("text", ["D4 E5", "D4 E5 C3", "pass D4", "D4\n{}", 'D4 {"winrate":0.5}'])
def test_what_follows_the_word_is_dropped_and_the_client_hears_so(text: str, at: At) -> None:
    assert by_websocket(text) == ([text.split()[0]], [("analysis", False)])
    move = at(State.GENMOVE).receive(text.encode())
    assert isinstance(move, Move)
    assert move.text == text.split()[0]


@given(st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=MOVE_MAX))
@settings(max_examples=40, deadline=None)
def test_both_wires_read_the_same_move(text: str) -> None:
    moves, told = by_websocket(text)
    word, rest = first_word(text.encode("utf-8", "replace"))
    assert moves == ([word] if word else [])
    assert told == ([("analysis", False)] if word and rest else [] if word else [("invalid", False)])
