"""The built-in bots: legal to the end, sensible passes, stronger where they should be, quick where time is short."""

from __future__ import annotations

import asyncio
import json
import random

import pytest

from cgos_client.bots.engines import GreedyBot, IllegalMove, RandomBot, chains
from cgos_client.bots.in_process import InProcessEngine
from cgos_client.bots.mcts import MctsBot
from cgos_client.bridge.engine import EngineFailure, NewGame
from cgos_protocol.games.base import Color, Ruleset
from cgos_protocol.games.go_board import BLACK, EMPTY, WHITE, Board, tables
from cgos_protocol.games.go_rules import Go

B, W = Color.BLACK, Color.WHITE
PLENTY = 600_000


def make(kind, seed):
    rng = random.Random(seed)
    if kind == "random":
        return RandomBot(rng)
    return GreedyBot(rng) if kind == "greedy" else MctsBot(rng, kind)


def play(black, white, size=9, komi2=14):
    """Black's result (1, 0.5, 0) and the final position. The rules, not the bots, say what is legal."""
    position = Go().new(Ruleset(size=size, komi2=komi2))
    for bot in (black, white):
        bot.new_game(size, komi2)
    while not position.is_over():
        color = position.to_play
        mover, other = (black, white) if color is B else (white, black)
        text = mover.genmove(color, PLENTY)
        if text == "RESIGN":
            return float(color is W), position
        move = position.read(text)
        assert move is not None
        refusal = position.play(move)
        assert refusal is None, f"{mover.name} played {text}: {refusal}"
        assert position.ply <= max(200, 3 * size * size), "bots must come to an end"
        other.play(color, text)
    score = position.score()
    return (1.0 if score > 0 else 0.5 if score == 0 else 0.0), position


def wins(first, second, games, size=9):
    """Games that `first` won out of `games`, with colors alternating."""
    total = 0.0
    for number in range(games):
        a, b = make(first, number), make(second, 1000 + number)
        total += play(a, b, size)[0] if number % 2 else 1 - play(b, a, size)[0]
    return total


@pytest.mark.parametrize(
    ("first", "second", "size", "games"),
    [("random", "random", 9, 20), ("random", "greedy", 5, 20), ("greedy", "greedy", 13, 2), (5, "random", 7, 4)]
    + [("random", "random", size, 20) for size in (2, 3, 4)]
    + [(5, "greedy", size, 3) for size in (2, 3)],
)
def test_every_move_is_legal_and_games_end(first, second, size, games):
    for number in range(games):
        play(make(first, number), make(second, number + 50), size)


def test_greedy_beats_random():
    assert wins("greedy", "random", 20) >= 18


def test_mcts_beats_random():
    assert wins(60, "random", 4, 7) == 4


@pytest.mark.slow
def test_more_playouts_are_stronger():
    assert wins(120, 12, 8, 7) >= 6


def test_the_same_seed_plays_the_same_game():
    games = [play(make(20, 7), make("greedy", 8), 7)[1].rows() for _ in range(2)]
    assert games[0] == games[1]


def board_of(bot, *rows, komi2=0):
    """Set the bot's board: rows from the top, X black, O white."""
    size = len(rows)
    bot.new_game(size, komi2)
    shared = tables(size)
    marks = "".join(rows[::-1])
    stones = {mark: [p for p, m in zip(shared.points, marks, strict=True) if m == mark] for mark in "XO"}
    bot.board = Board(shared, black=stones["X"], white=stones["O"])
    bot.ply = len(stones["X"]) + len(stones["O"])
    return bot


@pytest.mark.parametrize("kind", ["random", "greedy", 20])
def test_no_bot_fills_its_own_last_eyes(kind):
    bot = board_of(make(kind, 1), ".X.X", "XXXX", "XXXX", "XXXX")
    assert bot.genmove(B, PLENTY) == "PASS"


@pytest.mark.parametrize("kind", ["greedy", 200])
def test_dead_stones_are_captured_before_passing(kind):
    """All stones count as alive: White's stone in Black's area costs the game while it stands there."""
    bot = board_of(make(kind, 1), "X.XOO", "OXXO.", ".XXOO", "XXXO.", "X.XOO", komi2=9)
    assert bot.margin2(B) < 0
    moves = []
    while "PASS" not in moves:
        bot.play(W, "PASS")
        moves.append(bot.genmove(B, PLENTY))
        assert len(moves) < 20
    assert "A3" in moves
    assert bot.margin2(B) > 0


@pytest.mark.parametrize("kind", ["greedy", 20])
def test_a_pass_is_answered_by_a_winning_pass(kind):
    rows = ("...", ".X.", "...")
    assert board_of(make(kind, 1), *rows).genmove(W, PLENTY) != "PASS"
    bot = board_of(make(kind, 1), *rows)
    bot.play(W, "PASS")
    assert bot.genmove(B, PLENTY) == "PASS"


def test_greedy_captures_saves_and_keeps_out_of_atari():
    assert board_of(make("greedy", 1), ".....", "..X..", ".XOX.", ".....", ".....").genmove(B, PLENTY) == "C2"
    assert board_of(make("greedy", 1), ".....", "..X..", ".XOX.", ".....", ".....").genmove(W, PLENTY) == "C2"
    assert board_of(make("greedy", 1), ".XX", ".XX", "XX.").genmove(W, PLENTY) == "PASS"


def test_mcts_is_quick_where_time_is_short():
    now = 0.0

    def clock():
        nonlocal now
        now += 0.01
        return now

    bot = MctsBot(random.Random(1), 10_000, clock)
    bot.genmove(B, 2_500)  # a twenty-fifth: 0.1 s
    assert json.loads(bot.analysis())["visits"] <= 12
    bot.genmove(W, 0)
    assert json.loads(bot.analysis())["visits"] == 1


def test_mcts_explains_itself():
    bot = make(50, 1)
    move = bot.genmove(B, PLENTY)
    analysis = json.loads(bot.analysis())
    assert analysis["moves"][0]["move"] == move
    assert analysis["visits"] == 50
    assert 0 <= analysis["winrate"] <= 1
    assert make("random", 1).analysis() is None


def test_mcts_resigns_where_all_is_lost():
    bot = board_of(make(150, 1), "OOOOO", "O.OOO", "OOOOO", "OOOO.", "..OO.")
    assert bot.genmove(B, PLENTY) == "RESIGN"


def test_moves_that_other_rules_allow_are_accepted():
    """Under simple ko and with suicide allowed, an opponent may do what the bots themselves never do."""
    bot = board_of(make("random", 1), ".XO.", "XO.O", ".XO.", "....")
    bot.play(B, "C3")
    assert bot.board.at(bot.board.tables.moves["B3"]) == EMPTY
    bot.play(W, "B3")
    assert bot.board.at(bot.board.tables.moves["C3"]) == EMPTY
    suicide = board_of(make("random", 1), ".X.", "X..", "...")
    suicide.play(W, "A3")
    assert suicide.board.at(suicide.board.tables.moves["A3"]) == EMPTY


@pytest.mark.parametrize("move", ["B2", "T19", "I1", "resign", "", "Z"])
def test_impossible_moves_are_refused(move):
    bot = board_of(make("random", 1), "...", ".X.", "...")
    with pytest.raises(IllegalMove):
        bot.play(W, move)


def test_chains():
    shared = tables(4)
    at = shared.moves
    board = Board(shared, black=[at["A1"], at["A2"], at["C3"]], white=[at["B1"]])
    by_point = chains(board)
    assert by_point[at["A1"]] is by_point[at["A2"]]
    assert by_point[at["A1"]].stones == {at["A1"], at["A2"]}
    assert by_point[at["A1"]].liberties == {at["A3"], at["B2"]}
    assert (by_point[at["B1"]].color, by_point[at["C3"]].color) == (WHITE, BLACK)
    assert len(by_point) == 4


async def test_a_bot_as_an_engine():
    engine = InProcessEngine(lambda: make(10, 1))
    await engine.start()
    await engine.new_game(NewGame(9, 14, 60_000))
    await engine.play(B, "E5")
    move = await engine.genmove(W, 60_000)
    assert json.loads(move.analysis)["visits"] == 10
    with pytest.raises(EngineFailure, match="E5"):
        await engine.play(B, "E5")
    await engine.settle(1)
    await engine.close()


async def test_a_bot_that_is_not_waited_for_any_more_stops():
    engine = InProcessEngine(lambda: make(1_000_000, 1))
    await engine.new_game(NewGame(9, 14, 60_000))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await engine.genmove(B, 100_000_000)
    await engine.settle(20)
    await engine.new_game(NewGame(9, 14, 60_000))
    await engine.close()


async def test_the_event_loop_runs_while_a_bot_thinks():
    """A slow bot in its thread: the loop turns many times before the answer is there."""
    engine = InProcessEngine(lambda: make(300, 1))
    await engine.new_game(NewGame(9, 14, 60_000))
    thinking = asyncio.ensure_future(engine.genmove(B, 60_000))
    turns = 0
    while not thinking.done():
        await asyncio.sleep(0)
        turns += 1
    await engine.close()
    assert turns > 20
