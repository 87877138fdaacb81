"""Openings out of SGF files: the main line, names, sizes, what is refused and where."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sgfmill import sgf

from cgos_protocol.clock import TimeControl, TimeSystem
from cgos_protocol.games.base import Color, Ruleset
from cgos_protocol.games.notation import vertex
from cgos_protocol.openings import Draft, Fault
from cgos_protocol.sgf.reading import decode, main_lines
from cgos_protocol.sgf.writing import GameRecord, RecordedMove, write


def read(text: str, size: int = 9) -> list[Draft]:
    drafts, faults = main_lines(text, size, "book")
    assert faults == []
    return drafts


def refused(text: str, size: int = 9) -> list[Fault]:
    return main_lines(text, size, "book")[1]


@st.composite
def trees(draw: st.DrawFn, depth: int = 3) -> str:
    """A random tree whose colors alternate along every line; points need not be legal moves."""

    def nodes(ply: int, left: int) -> str:
        text = ""
        for _ in range(draw(st.integers(1, 4))):
            side = "BW"[ply % 2]
            point = draw(st.text("abcdefghi", min_size=2, max_size=2))
            space = draw(st.sampled_from(["", " ", "\n", "\r\n\t"]))
            comment = draw(
                st.sampled_from(["", r"C[a \] b (; ]", "C[\\\n]", f"{side}L[12]", "LB[aa:1][bb:2]", "MN[3]"])
            )
            text += f";{space}{side}{space}[{point}]{space}{comment}"
            ply += 1
        if left and draw(st.booleans()):
            text += "".join(f"({nodes(ply, left - 1)})" for _ in range(draw(st.integers(2, 3))))
        return text

    return f"(;GM[1]FF[4]SZ[9]GN[one]{nodes(0, depth)})"


@given(trees())
def test_the_main_line_is_the_one_that_sgfmill_finds(text: str) -> None:
    game = sgf.Sgf_game.from_string(text)
    expected = [
        "PASS" if move is None else vertex(move[1], move[0])
        for color, move in (node.get_move() for node in game.get_main_sequence())
        if color is not None
    ]
    (draft,) = read(text)
    assert list(draft.moves) == expected


@given(st.lists(st.text("abcdefghi", min_size=2, max_size=2), max_size=12), st.text(max_size=30))
def test_what_the_server_writes_it_reads(points: list[str], text: str) -> None:
    moves = tuple(vertex("abcdefghi".index(point[0]), "abcdefghi".index(point[1])) for point in points)
    record = GameRecord(
        game=17,
        black="A",
        black_label="1800",
        white="B",
        white_label="1700?",
        rules=Ruleset(),
        time=TimeControl(system=TimeSystem.ABSOLUTE, main=60_000_000),
        date="2026-01-02",
        result="Draw",
        ending=text,
        place=text,
        event="9x9",
        program="test:1",
        moves=tuple(RecordedMove(Color(ply % 2), move) for ply, move in enumerate(moves)),
        opening=text,
    )
    assert read(write(record)) == [Draft("17", moves, 1.0, 1)]


def test_a_collection_numbers_the_games_that_have_no_name() -> None:
    text = (
        "\N{ZERO WIDTH NO-BREAK SPACE}(;SZ[9];B[ee])\n\n(;SZ[9:9]GN[two\nlines\\]];B[cc];W[])(;GM[1]\nSZ[9]GN[];B[tt])"
    )
    assert read(text) == [
        Draft("book-1", ("E5",), 1.0, 1),
        Draft("two lines]", ("C7", "PASS"), 1.0, 3),
        Draft("book-3", ("PASS",), 1.0, 4),
    ]
    assert read("(;SZ[9];B[ee])")[0].name == "book"


def test_names_of_old_files_may_have_small_letters() -> None:
    (draft,) = read("(;GaMe[1]SiZe[9];Black[ee];White[cc])")
    assert draft.moves == ("E5", "C7")


def test_without_a_size_the_board_is_19() -> None:
    assert read("(;B[pd])", 19)[0].moves == ("Q16",)
    assert "the board is 19 and the venue's is 9" in refused("(;B[pd])")[0].problem


@pytest.mark.parametrize(
    ("game", "problem"),
    [
        ("(;SZ[9]AB[ee];W[cc])", "sets up stones"),
        ("(;SZ[9];B[ee];AE[ee];W[cc])", "sets up stones"),
        ("(;SZ[9];W[ee])", "move 1 of game book-2 is not black's"),
        ("(;SZ[9];B[ee];B[cc])", "move 2 of game book-2 is not white's"),
        ("(;SZ[9];B[ee]W[cc])", "move 1 of game book-2 is not black's"),
        ("(;SZ[9];B[jj])", "is not on the board"),
        ("(;SZ[9];B[E5])", "is not on the board"),
        ("(;SZ[13];B[ee])", "the board is 13"),
        ("(;SZ[9:13];B[ee])", "the board is 9:13"),
        ("(;GM[2]SZ[9];B[ee])", "this is not Go"),
    ],
)
def test_a_game_that_is_no_opening_here_is_refused_and_the_others_are_read(game: str, problem: str) -> None:
    drafts, faults = main_lines(f"(;SZ[9];B[ee])\n{game}\n(;SZ[9];B[cc])", 9, "book")
    assert [draft.moves for draft in drafts] == [("E5",), ("C7",)]
    (fault,) = faults
    assert problem in fault.problem
    assert fault.line == 2


def test_where_a_file_is_broken_is_said() -> None:
    assert refused("(;SZ[9]\n;B[ee]\n;W[cc)") == [
        Fault(3, "a property's value without its end is not expected here", "Give an SGF file")
    ]
    assert refused("(;SZ[9]\n;B[ee]\n=W[cc])")[0].problem == '"=" is not expected here'
    assert refused("(;SZ[9];B[ee];W[zz])")[0].problem == 'move 2 of game book, "zz", is not on the board'


@pytest.mark.parametrize(
    "text",
    [
        "", "  \n", "hello", "(", "()", "(;SZ[9]", "(;SZ[9]B)", "(;SZ[9];B[ee]))", "(;SZ[9];B[ee)",
        "(;SZ[9](;B[ee]);W[cc])",
        "((;SZ[9]))", ";SZ[9]", "(;[9])", "(;SZ[9];b[ee])", "(;SZ[9](B[ee]))", "[x]", "(;SZ[9] 7)",
    ],
)  # fmt: skip
def test_what_is_no_sgf_is_refused_with_a_sentence(text: str) -> None:
    faults = refused(text)
    assert faults
    assert all(fault.problem and fault.remedy and fault.line == 1 for fault in faults)


@given(st.text("(;)[]\\ BWSZaebGM19\n", max_size=60))
def test_nothing_makes_it_fail(text: str) -> None:
    drafts, faults = main_lines(text, 9, "book")
    assert drafts or faults
    assert all(re.fullmatch("[A-J][1-9]|PASS", move) for draft in drafts for move in draft.moves)


def test_the_root_may_lack_its_semicolon() -> None:
    assert read("(\nTE[one]\nSZ[9]\nKM[6.5]\n;B[ee];W[gc]\n)(SZ[9]\n;B[cc])") == [
        Draft("book-1", ("E5", "G7"), 1.0, 2),
        Draft("book-2", ("C7",), 1.0, 6),
    ]


MOVES = ";B[ee];W[gc]C[{comment}];B[cg];W[gg])\n"
ENCODINGS = {
    "Shift_JIS": ("cp932", "第一局ソ表"),
    "sjis": ("cp932", "①髙"),
    "EUC-JP": ("euc_jp", "第一局"),
    "ISO-2022-JP": ("iso2022_jp", "第一局"),
    "Big5": ("cp950", "許功蓋"),
    "GBK": ("gb18030", "橽橾"),
    "gb2312": ("gb18030", "围棋"),
    "EUC-KR": ("cp949", "제1국"),
    "KOI8-R": ("koi8_r", "Партия"),
    "windows-1252": ("cp1252", "Partie – été €"),
    "ISO-8859-1": ("cp1252", "été"),
    "UTF-8": ("utf-8", "第一局 été"),
    "ISO-8859-15": ("utf-8", "the program wrote another name 局"),
    "UTF-16": ("cp1252", "no such bytes – été"),
    "no-such-encoding": ("cp1252", "été"),
    "zlib": ("cp1252", "été"),
}


@pytest.mark.parametrize(("named", "encoding", "name"), [(named, *of) for named, of in ENCODINGS.items()])
def test_the_encoding_is_the_one_that_the_file_names(named: str, encoding: str, name: str) -> None:
    text = f"(;GM[1]CA[{named}]SZ[9]GN[{name}]" + MOVES.format(comment=name)
    assert read(decode(text.encode(encoding))) == [Draft(name, ("E5", "G7", "C3", "G3"), 1.0, 1)]


TREACHEROUS = {
    encoding: [
        letter
        for letter in map(chr, range(0x3000, 0xD7A4))
        if len(data := letter.encode(encoding, "ignore")) == 2 and data[1:] in (b"\\", b"]")
    ]
    for encoding in ("cp932", "gb18030", "cp950", "cp949")
}
"""Letters whose second byte is a backslash or a bracket."""


@given(st.sampled_from([encoding for encoding, letters in TREACHEROUS.items() if letters]), st.data())
def test_no_move_is_lost_to_half_a_letter(encoding: str, data: st.DataObject) -> None:
    comment = data.draw(st.text(st.sampled_from(TREACHEROUS[encoding]), min_size=1, max_size=5))
    named = data.draw(st.sampled_from(["", f"CA[{encoding}]", "CA[ISO-8859-1]"]))
    text = f"(;GM[1]{named}SZ[9]" + MOVES.format(comment=comment)
    assert read(decode(text.encode(encoding)))[0].moves == ("E5", "G7", "C3", "G3")


def test_one_broken_letter_does_not_change_the_encoding() -> None:
    data = ("(;CA[Shift_JIS]SZ[9]GN[第一局]" + MOVES.format(comment="ソ")).encode("cp932")
    (draft,) = read(decode(data.replace(b"W[gg]", b"C[\x80\xff]W[gg]")))
    assert (draft.name, len(draft.moves)) == ("第一局", 4)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_files_that_begin_with_a_mark_or_wide_letters(encoding: str) -> None:
    assert read(decode(f"(;CA[UTF-16]SZ[9]GN[局]{MOVES.format(comment='')}".encode(encoding)))[0].name == "局"


@given(st.binary(max_size=40), st.sampled_from([b"", b"(;CA[cp932]", b"(;CA[utf-16]", b"(;CA[punycode]", b"(;CA[hex]"]))
def test_any_bytes_are_some_text(data: bytes, begin: bytes) -> None:
    assert isinstance(decode(begin + data), str)


def test_a_deep_tree_is_read_like_any_other() -> None:
    rng = random.Random(1)
    text = "(;SZ[9]" + "".join(f"(;{'BW'[ply % 2]}[{rng.choice('abc')}a]" for ply in range(5_000)) + ")" * 5_001
    assert len(read(text)[0].moves) == 5_000
