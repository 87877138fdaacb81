"""Headers of games in PGN: what is a tag, what is text of a comment, and where a game begins."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.errors import Invalid
from cgos_protocol.lines.misread import Misread
from cgos_server.tournaments.files import results, sniffing
from cgos_server.tournaments.files.games_list import GameResult, read
from cgos_server.tournaments.files.pgn import begins_with_header, headers

GAMES = """\
[White "A"]
[Black "B"]
[Result "1-0"]

1. e4 e5 1-0

[White "B"]
[Black "A"]
[Result "0-1"]

1. e4 e5 0-1
"""
TAGS = '[White "Elder"]\n[Black "Fir"]\n[Result "1/2-1/2"]\n'
"""What is no game where it stands in a comment."""


@pytest.mark.parametrize(
    "before",
    [
        ";; written by a tool\n",
        "; no { comment in braces\n",
        "% escape line of another program\n",
        "{ Played with tool 1.0 }\n",
        "{ Played with\n\n tool 1.0 } ",
        "*\n\n",
        '[X-Tag "t"]\n',
        '[Event"t"]\n',
        '[Event "5th "Nobody" Open"]\n',
        '[Event "5th "Nobody" Open"] [Site "?"]\n',
        '[Site "C:\\\\bots\\\\"]\n',
        '[Site "C:\\bots\\"]\n',
        '[Event "50% ; { ( ] off"]\n',
        '[Event\n"t"]\n',
        "[Round 1]\n",
        "\ufeff",
    ],
)
def test_whatever_comes_first_the_games_are_the_same(before: str) -> None:
    text = before + GAMES
    assert [(game.first, game.score) for game in read(text).games] == [("A", 1.0), ("B", 0.0)]
    assert [(one.white, one.score) for one in results.read(text.encode())] == [("A", "1-0"), ("B", "0-1")]
    with pytest.raises(Invalid, match="games in PGN"):
        sniffing.sniff("event.csv", text.encode())


@pytest.mark.parametrize(
    "moves",
    [
        "1. e4 { As in the game\n" + TAGS + "} e5 1-0",
        "1. e4 ; a comment in braces follows\n{\n" + TAGS + "}\n1... e5 1-0",
        "{\n" + TAGS + "}\n1. e4 e5 1-0",
        '1. e4 ; {\n; [White "Elder"]\n e5 1-0',
        '1. e4 ( 1. d4\n[White "Elder"]\n (1. c4 { ) } c5) d5 ) e5 1-0',
        '1. e4 [White "Elder"] e5 1-0',
        "1. e4\n[D37] e5\n[a remark] 1-0",
        '1. e4\n%[White "Elder"]\ne5 1-0',
    ],
)
def test_tags_inside_comments_and_variations_are_text(moves: str) -> None:
    text = GAMES.replace("1. e4 e5 1-0", moves)
    assert [(game.first, game.score) for game in read(text).games] == [("A", 1.0), ("B", 0.0)]
    assert [one.line for one in results.read(text.encode())] == [1, 7 + moves.count("\n")]


def test_a_comment_between_tags_begins_no_game() -> None:
    (game,) = read('[White "A"]\n{ tool says\n[Result "0-1"]\n}\n[Black "B"]\n[Result "1-0"]\n\n1. e4 1-0\n').games
    assert game == GameResult(first="A", second="B", score=1.0)


def test_a_game_in_one_line_and_the_next_behind_its_result() -> None:
    text = '[White "A"][Black "B"][Result "1-0"] 1. e4 1-0 [White "B"][Black "A"][Result "*"] *\n'
    assert [tags["result"] for _, tags in headers(text)] == ["1-0", "*"]


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (GAMES.replace('[Black "A"]', '[Black "A]'), 8, "a header cannot be read"),
        (GAMES.replace("e5 0-1", "{ e5 0-1"), 11, "a comment in braces is not closed"),
        (GAMES.replace("e5 1-0", "( e5 1-0"), 5, "a variation is not closed"),
    ],
)
def test_what_is_broken_is_named_with_its_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(Misread, match=problem) as refusal:
        read(text)
    assert refusal.value.line == line


def test_lists_and_tables_are_no_pgn() -> None:
    for text in ("[Clan X] beat [Clan Y]\n", "[A] [B] 1-0\n", "A,B\n", "# [White]\nA beat B\n", "; A\nB beat C\n", "{"):
        assert not begins_with_header(text)


COMMENT = st.lists(st.sampled_from([*'ab ;%{()[]"\\\n', "1-0", "*", TAGS]), max_size=12).map("".join)
MOVES = st.lists(
    st.one_of(
        st.sampled_from(["1. e4", "e5", "$1", "\n", "...", "exd5 e.p.", "O-O"]),
        COMMENT.map(lambda text: f"{{{text}}}"),
        COMMENT.map(lambda text: "; " + text.replace("\n", " ") + "\n"),
        COMMENT.map(lambda text: "\n%" + text.replace("\n", " ") + "\n"),
        COMMENT.map(lambda text: f"(1. d4 {{{text}}} d5)"),
    ),
    max_size=8,
)
NAMES = st.text(st.sampled_from('AB {};%()[]\\"'), min_size=1, max_size=8).map(str.strip).filter(bool)


@given(st.lists(st.tuples(NAMES, NAMES, MOVES), min_size=1, max_size=4))
def test_what_was_written_as_tags_and_nothing_else_is_read(games: list[tuple[str, str, list[str]]]) -> None:
    def tag(name: str, value: str) -> str:
        return '[{} "{}"]\n'.format(name, value.replace("\\", "\\\\").replace('"', '\\"'))

    text = "".join(
        tag("White", white) + tag("Black", black) + tag("Result", "1-0") + "\n" + " ".join(moves) + " 1-0\n\n"
        for white, black, moves in games
    )
    assert begins_with_header(text)
    assert [(tags["white"], tags["black"]) for _, tags in headers(text)] == [(w, b) for w, b, _ in games]
