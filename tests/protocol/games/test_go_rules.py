"""The rules of Go on positions small enough to check by eye."""

from __future__ import annotations

import pytest

from cgos_protocol.games.base import Color, Illegality, Ko, Position, Ruleset, Start
from cgos_protocol.games.go_board import tables
from cgos_protocol.games.go_rules import Go, GoPosition, handicap
from cgos_protocol.games.notation import vertex

B, W = Color.BLACK, Color.WHITE


def drawn(*rows: str, to_play: Color = B, ko: Ko = Ko.POSITIONAL, suicide: bool = False, komi2: int = 0) -> GoPosition:
    """The position that `rows` show (from the top; X black, O white), nothing played yet."""
    size = len(rows)
    points: dict[str, list[str]] = {"X": [], "O": [], ".": []}
    for down, row in enumerate(rows):
        assert len(row) == size
        for column, mark in enumerate(row):
            points[mark].append(vertex(column, size - 1 - down))
    rules = Ruleset(size=size, ko=ko, suicide=suicide, komi2=komi2)
    return Go().new(rules, Start(tuple(points["X"]), tuple(points["O"]), to_play))


def play(position: Position, moves: str) -> list[Illegality | None]:
    results = []
    for word in moves.split():
        move = position.read(word)
        assert move is not None
        results.append(position.play(move))
    return results


def refused(position: GoPosition, text: str) -> Illegality | None:
    """The refusal of `text`, after checking that it changed nothing that can be seen."""
    before = (position.rows(), position.ply, position.to_play, position.captures, position.is_over(), position.score())
    (reason,) = play(position, text)
    after = (position.rows(), position.ply, position.to_play, position.captures, position.is_over(), position.score())
    assert reason is None or before == after
    return reason


# Turns, passes, the end


def test_the_sides_take_turns_and_passes_count_as_moves() -> None:
    position = Go().new(Ruleset(size=9))
    assert (position.ply, position.to_play) == (0, B)
    assert play(position, "D4 pass E5") == [None] * 3
    assert (position.ply, position.to_play) == (3, W)
    assert position.stones() == {"D4": B, "E5": B}


def test_two_passes_end_the_game_even_as_its_first_moves() -> None:
    position = Go().new(Ruleset(size=9, komi2=15))
    assert play(position, "pass pa") == [None, None]
    assert position.is_over()
    assert (position.ply, position.score()) == (2, -15)
    assert refused(position, "D4") is Illegality.OVER
    assert refused(position, "pass") is Illegality.OVER


def test_passes_that_are_not_in_a_row_do_not_end_the_game() -> None:
    position = Go().new(Ruleset(size=9))
    play(position, "pass D4 pass E5 pass")
    assert not position.is_over()
    play(position, "pass")
    assert position.is_over()


def test_an_occupied_point_is_refused() -> None:
    position = Go().new(Ruleset(size=9))
    play(position, "D4")
    assert refused(position, "D4") is Illegality.OCCUPIED
    assert position.play(0) is Illegality.SYNTAX


# Captures


def test_a_stone_without_liberties_is_taken_off() -> None:
    position = drawn(
        "....",
        ".X..",
        "XO..",
        ".X..",
    )
    assert play(position, "C2") == [None]
    assert position.rows() == ["....", ".X..", "X.X.", ".X.."]
    assert position.captures == (1, 0)


def test_one_move_takes_several_chains_and_a_chain_that_it_touches_twice() -> None:
    position = drawn(
        ".XX..",
        "XOOX.",
        "XO.OX",
        ".XXOX",
        "...X.",
    )
    assert play(position, "C3") == [None]
    assert position.rows() == [".XX..", "X..X.", "X.X.X", ".XX.X", "...X."]
    assert position.captures == (5, 0)


def test_a_capture_goes_before_the_question_of_suicide() -> None:
    position = drawn(
        ".XO.",
        "XO.O",
        ".XO.",
        "....",
    )
    assert play(position, "C3") == [None]
    assert position.rows()[1] == "X.XO"


def test_snapback() -> None:
    position = drawn(
        "....",
        "XXXX",
        "OOOX",
        "..OX",
    )
    assert play(position, "B1 A1") == [None, None]
    assert position.captures == (0, 1)
    assert play(position, "B1") == [None]
    assert position.rows() == ["....", "XXXX", "...X", ".X.X"]
    assert position.captures == (5, 1)


# Suicide


def test_suicide_is_refused_for_one_stone_and_for_many() -> None:
    position = drawn(
        ".X.O",
        "X.OO",
        ".OXX",
        "OOX.",
        to_play=W,
    )
    assert refused(position, "A4") is Illegality.SUICIDE
    shape = (
        "XO..",
        ".O..",
        "OO..",
        "....",
    )
    assert refused(drawn(*shape), "A3") is Illegality.SUICIDE


def test_suicide_of_a_chain_where_it_is_allowed() -> None:
    position = drawn(
        "XO..",
        ".O..",
        "OO..",
        "....",
        suicide=True,
    )
    assert play(position, "A3") == [None]
    assert position.rows() == [".O..", ".O..", "OO..", "...."]
    assert position.captures == (0, 2)
    assert position.to_play is W
    assert play(position, "pass") == [None]
    assert refused(position, "A4") is Illegality.KO, "the first position"
    assert play(position, "A3 pass") == [None, None]
    assert refused(position, "A4") is Illegality.KO, "the position after the first suicide"


def test_the_order_of_set_up_stones_is_no_history() -> None:
    position = drawn(
        "OX..",
        ".X..",
        "XX..",
        "....",
        to_play=W,
        ko=Ko.SIMPLE,
        suicide=True,
    )
    assert play(position, "A3") == [None], "the position without A4 was never on the board"


EYE = (
    ".O..",
    "OO..",
    "....",
    "..XX",
)


def test_suicide_of_one_stone_is_a_repetition_under_positional_superko() -> None:
    assert refused(drawn(*EYE, suicide=True), "A4") is Illegality.KO


def test_suicide_of_one_stone_under_situational_superko_hands_over_the_turn_once() -> None:
    position = drawn(
        ".O.X",
        "OO.X",
        "..XX",
        ".XX.",
        suicide=True,
        ko=Ko.SITUATIONAL,
    )
    assert play(position, "A4") == [None]
    assert (position.to_play, position.ply, position.captures) == (W, 1, (0, 1))
    assert refused(position, "D1") is Illegality.KO


def test_suicide_of_one_stone_under_simple_ko_is_refused_only_right_after_a_pass() -> None:
    position = drawn(*EYE, suicide=True, ko=Ko.SIMPLE)
    assert play(position, "A4") == [None]
    assert play(position, "pass") == [None]
    assert refused(position, "A4") is Illegality.KO


# Ko

KO = (
    ".XO.",
    "XO.O",
    ".XO.",
    "....",
)


@pytest.mark.parametrize("ko", list(Ko))
def test_a_ko_may_not_be_taken_back_at_once_but_after_an_exchange(ko: Ko) -> None:
    position = drawn(*KO, ko=ko)
    assert play(position, "C3") == [None]
    assert refused(position, "B3") is Illegality.KO
    assert play(position, "D1 A1 B3") == [None, None, None]
    assert position.captures == (1, 1)


def test_a_pass_lifts_no_superko() -> None:
    """White sends two stones, Black takes them, White takes one back: the first position again."""
    sending = (
        "....",
        "....",
        "XXO.",
        ".O.O",
    )
    for ko, reason in (
        (Ko.POSITIONAL, Illegality.KO),
        (Ko.SITUATIONAL, Illegality.KO),
        (Ko.SIMPLE, None),
    ):
        position = drawn(*sending, ko=ko)
        assert play(position, "pass A1 C1") == [None, None, None]
        assert refused(position, "B1") is reason


def test_sending_two_returning_one_is_no_repetition_where_the_side_to_move_matters() -> None:
    sending = (
        "....",
        "....",
        "XXO.",
        ".O.O",
    )
    for ko, reason in (
        (Ko.POSITIONAL, Illegality.KO),
        (Ko.SITUATIONAL, None),
        (Ko.SIMPLE, None),
    ):
        position = drawn(*sending, to_play=W, ko=ko)
        assert play(position, "A1 C1") == [None, None]
        assert refused(position, "B1") is reason
        if reason is None:
            assert tuple(position.rows()) == sending


def test_a_triple_ko_ends_with_the_sixth_capture() -> None:
    """White holds the first and the third ko, Black the second; each side takes where it can, round and round."""
    cycle = "E3 D7 E11 D3 E7"
    for ko, reason in (
        (Ko.POSITIONAL, Illegality.KO),
        (Ko.SITUATIONAL, Illegality.KO),
        (Ko.SIMPLE, None),
    ):
        position = drawn(
            ".............",
            "...XO........",
            "..XO.O.......",
            "...XO........",
            ".............",
            "...XO........",
            "..X.XO.......",
            "...XO........",
            ".............",
            "...XO........",
            "..XO.O.......",
            "...XO........",
            ".............",
            ko=ko,
        )
        first = position.rows()
        assert play(position, cycle) == [None] * 5
        assert refused(position, "D11") is reason
        if reason is None:
            assert position.rows() == first


def test_set_up_stones_are_the_first_position_of_the_history() -> None:
    taken_back = (
        ".XO.",
        "X.XO",
        ".XO.",
        "....",
    )
    position = drawn(*taken_back, to_play=W)
    assert play(position, "B3") == [None]
    assert refused(position, "C3") is Illegality.KO


# Score

SEKI = (
    ".OX.OX.",
    "OOXXOXX",
    ".OXXOX.",
    "OOXXOXX",
    "OOXXOXX",
    "OOXXOXX",
    "OOX.OXX",
)


def test_shared_liberties_of_a_seki_belong_to_nobody() -> None:
    # Black 24 stones and 2 eyes, White 19 stones and 2 eyes; D7 and D1 reach both.
    assert drawn(*SEKI).score() == 2 * (26 - 21)


def test_komi_counts_in_half_points_and_can_make_a_draw() -> None:
    assert drawn(*SEKI, komi2=9).score() == 1
    assert drawn(*SEKI, komi2=10).score() == 0
    assert drawn(*SEKI, komi2=11).score() == -1
    assert drawn(*SEKI, komi2=-1).score() == 11


def test_every_stone_on_the_board_is_alive_and_open_space_belongs_to_nobody() -> None:
    position = Go().new(Ruleset(size=9, komi2=0))
    assert position.score() == 0
    play(position, "E5")
    assert position.score() == 2 * 81
    play(position, "A1")
    assert position.score() == 0


def test_the_area_of_a_winding_corridor_is_followed_to_its_end() -> None:
    corridor = (
        ".......",
        "XXXXXX.",
        ".......",
        ".XXXXXX",
        ".......",
        "XXXXXX.",
    )
    assert drawn(*corridor, ".......").score() == 2 * 49
    assert drawn(*corridor, "O......").score() == 2 * (18 - 1)


# Set-up stones and handicap


@pytest.mark.parametrize(
    ("start", "sentence"),
    [
        (Start(black=("A1", "a1")), "Two set-up stones lie on A1"),
        (Start(black=("A1",), white=("A1",)), "Two set-up stones lie on A1"),
        (Start(black=("K10",)), "'K10' is not a point of a board of size 9"),
        (Start(white=("pass",)), "'pass' is not a point of a board of size 9"),
        (Start(black=("A1",), white=("A2", "B1")), "takes a chain's last liberty"),
        (Start(black=("B1", "A2"), white=("A1",)), "takes a chain's last liberty"),
    ],
)
@pytest.mark.parametrize("suicide", [False, True])
def test_an_impossible_start_is_refused_with_a_sentence(start: Start, sentence: str, suicide: bool) -> None:
    with pytest.raises(ValueError, match=sentence):
        Go().new(Ruleset(size=9, suicide=suicide), start)


def test_set_up_stones_are_no_moves_and_no_captures() -> None:
    position = Go().new(Ruleset(size=9), Start(("D4",), ("E5",), W))
    assert (position.ply, position.to_play, position.captures) == (0, W, (0, 0))
    assert position.stones() == {"D4": B, "E5": W}


@pytest.mark.parametrize(
    ("size", "stones", "points"),
    [
        (19, 2, "D4 Q16"),
        (19, 3, "D4 Q16 D16"),
        (19, 4, "D4 Q16 D16 Q4"),
        (19, 5, "D4 Q16 D16 Q4 K10"),
        (19, 6, "D4 Q16 D16 Q4 D10 Q10"),
        (19, 7, "D4 Q16 D16 Q4 D10 Q10 K10"),
        (19, 8, "D4 Q16 D16 Q4 D10 Q10 K4 K16"),
        (19, 9, "D4 Q16 D16 Q4 D10 Q10 K4 K16 K10"),
        (13, 4, "D4 K10 D10 K4"),
        (9, 9, "C3 G7 C7 G3 C5 G5 E3 E7 E5"),
        (7, 4, "C3 E5 C5 E3"),
        (8, 4, "C3 F6 C6 F3"),
    ],
)
def test_fixed_handicap_points(size: int, stones: int, points: str) -> None:
    start = handicap(size, stones)
    assert set(start.black) == set(points.split())
    assert len(start.black) == stones
    assert (start.white, start.to_play) == ((), W)
    assert Go().new(Ruleset(size=size), start).to_play is W


@pytest.mark.parametrize(
    ("size", "stones", "remedy"),
    [
        (19, 1, "choose 2 to 9 stones"),
        (19, 10, "choose 2 to 9 stones"),
        (7, 5, "choose 2 to 4 stones"),
        (12, 5, "choose 2 to 4 stones"),
        (6, 2, "choose a size from 7 to 25"),
        (26, 2, "choose a size from 7 to 25"),
    ],
)
def test_a_handicap_that_a_board_has_not_is_refused_with_the_choice(size: int, stones: int, remedy: str) -> None:
    with pytest.raises(ValueError, match=remedy):
        handicap(size, stones)


# What can be offered


@pytest.mark.parametrize("size", [-1, 0, 1, 26])
def test_a_size_that_cannot_be_played_is_refused_with_the_range(size: int) -> None:
    sentence = Go().check(Ruleset(size=size))
    assert sentence is not None
    assert "from 2 to 25" in sentence
    with pytest.raises(ValueError, match="from 2 to 25"):
        Go().new(Ruleset(size=size))


@pytest.mark.parametrize("size", range(2, 26))
def test_every_size_that_is_offered_can_be_played(size: int) -> None:
    rules = Ruleset(size=size, komi2=0)
    assert Go().check(rules) is None
    position = Go().new(rules)
    assert len(position.empties()) == Go().points(rules) == size * size
    last = vertex(size - 1, size - 1)
    assert play(position, f"A1 {last}") == [None, None]
    assert position.rows()[-1][0] == "X"
    assert position.rows()[0][-1] == "O"
    assert len(position.empties()) == size * size - 2


def test_rules_for_another_game_are_refused() -> None:
    assert Go().check(Ruleset(game="chess")) == 'These rules are for the game "chess": set game to "go".'


# What playing programs ask


def test_eyes() -> None:
    position = drawn(
        ".X...X.",
        "XX...XX",
        "...XO..",
        "..X.X..",
        "...X...",
        "XO.....",
        ".X.....",
    )
    # A1 has White on its only diagonal, D4 on one of four; C7 is open, B7 is taken.
    for point, eye in (("A7", True), ("G7", True), ("D4", True), ("A1", False), ("C7", False), ("B7", False)):
        move = position.read(point)
        assert move is not None
        assert position.is_eye(B, move) is eye, point
        assert not position.is_eye(W, move)
    assert play(position, "A4 C3") == [None, None]
    middle = position.read("D4")
    assert middle is not None
    assert not position.is_eye(B, middle), "two of four diagonals are White's"


@pytest.mark.parametrize("ko", list(Ko))
def test_a_copy_and_its_original_go_their_own_ways(ko: Ko) -> None:
    position = drawn(*KO, ko=ko)
    play(position, "C3")
    twin = position.copy()
    assert (twin.ply, twin.to_play, twin.rows(), twin.captures) == (1, W, position.rows(), (1, 0))
    assert play(twin, "B3") == [Illegality.KO], "the copy has the same past"
    before = position.rows()
    assert play(twin, "D1 A1 B3 A4") == [None] * 4
    assert position.rows() == before
    assert (position.ply, position.captures) == (1, (1, 0))
    assert play(position, "D1 A1 B3") == [None] * 3, "the moves of the copy are not the original's past"
    assert play(twin, "pass pass") == [None, None]
    assert not position.is_over()
    assert twin.copy().is_over()


def test_games_of_one_size_share_their_tables() -> None:
    first, second = Go().new(Ruleset(size=9)), Go().new(Ruleset(size=9))
    assert first.board.tables is second.board.tables is tables(9)


def test_zobrist_numbers_are_those_of_splitmix64_from_zero_and_all_differ() -> None:
    # The first outputs of SplitMix64 for seed 0, as its authors' program prints them, without the last four bits.
    keys = tables(19).keys
    assert keys[0][:3] == (0xE220A8397B1DCDAF >> 4, 0x6E789E6AA1B965F4 >> 4, 0x06C45D188009454F >> 4)
    assert len({*keys[0], *keys[1]}) == 2 * len(keys[0])
