"""A move is one word on ``cgos.v2``, as on the lines: whatever is sent, the same move reaches the game."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.net.ws_bot import Bot, errors, setup

from cgos_protocol.games.base import Color
from cgos_protocol.lines.move_word import MOVE_MAX, first_word


def by_websocket(text: str) -> tuple[list[str], list[tuple[str, bool]]]:
    """The moves that reached the game, and what was told."""
    bot = Bot()
    bot.table().setup(setup(), Color.BLACK)
    bot.client.listen()
    bot.client.say(type="move", game=3, ply=1, move=text)
    return [entry[3] for entry in bot.calls if entry[0] == "move"], errors(bot.client)


@pytest.mark.parametrize("text", ["D4 E5", "D4 E5 C3", "pass D4", "D4\n{}", 'D4 {"winrate":0.5}'])
def test_what_follows_the_word_is_dropped_and_the_client_hears_so(text: str) -> None:
    assert by_websocket(text) == ([text.split()[0]], [("analysis", False)])


@given(st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=MOVE_MAX))
@settings(max_examples=40, deadline=None)
def test_both_wires_read_the_same_move(text: str) -> None:
    moves, faults = by_websocket(text)
    word, rest = first_word(text.encode("utf-8", "replace"))
    assert moves == ([word] if word else [])
    assert faults == ([("analysis", False)] if word and rest else [] if word else [("invalid", False)])
