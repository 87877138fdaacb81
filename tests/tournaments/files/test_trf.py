"""TRF as text: a file is written as it was read, whatever program wrote it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.lines.misread import Misread
from cgos_server.tournaments.files import trf
from cgos_server.tournaments.files.trf import Cell, Line

SAMPLES = Path(__file__).parent.parent.parent / "transcripts" / "trf"
FILES = sorted(SAMPLES.glob("*.trf"))

ANN = f"001    1      {'Ann':33} 2400 NOR {'':11} {'':10}  1.5    1     2 w 1  0000 - H"
BOB = f"001    2      {'Bob':33}      NOR {'':11} {'':10}  0.0    2     1 b 0"


def doc(*lines: str) -> trf.Document:
    return trf.read("\n".join(lines).encode())


def test_there_are_samples_with_every_line_end_and_encoding() -> None:
    read = [trf.read(path.read_bytes()) for path in FILES]
    assert {document.end for document in read} == {"\r", "\n", "\r\n"}
    assert {document.encoding for document in read} == {"utf-8", "cp1252"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_is_written_as_it_was_read(path: Path) -> None:
    assert trf.write(trf.read(path.read_bytes())) == path.read_bytes()


@given(st.binary() | st.text(st.sampled_from("\r\n\ufeff\x85\u2028é0 ")).map(str.encode))
def test_bytes_of_any_kind_are_written_as_they_were_read_or_refused(data: bytes) -> None:
    try:
        document = trf.read(data)
    except Misread:
        return
    assert trf.write(document) == data


def test_a_player_line() -> None:
    (ann, bob) = doc(ANN, BOB).players
    assert (ann.id, ann.name, ann.rating, ann.federation, ann.points, ann.rank) == (1, "Ann", 2400, "NOR", 15, 1)
    assert ann.cells == (Cell(2, "w", "1", 92), Cell(0, "-", "H", 102))
    assert bob.rating is None
    assert bob.cells == (Cell(1, "b", "0", 92),)


def test_real_programs_write_less_than_the_standard_asks() -> None:
    short, zero, lower, single = doc(
        "001    1      Ann",
        "001 0002      Bob                               0000",
        f"001    3      {'Cy':33} 1500 {'':27} 1.0    1     4 W 1  0000   z",
        f"001    4      {'Di':33} 1500 {'':27}  ,5    2     3 b 0     0 - h  ",
    ).players
    assert (short.name, short.rating, short.points, short.cells) == ("Ann", None, None, ())
    assert (zero.id, zero.rating) == (2, None)
    assert lower.cells == (Cell(4, "w", "1", 92), Cell(0, "-", "Z", 102))
    assert (single.points, single.cells[1]) == (5, Cell(0, "-", "H", 102))


def test_blank_rounds_at_the_end_are_none_and_before_others_are_blank() -> None:
    (player,) = doc(ANN[:91] + "                       2 w 1  0000      ").players
    assert [cell.is_blank for cell in player.cells] == [True, True, False]


@pytest.mark.parametrize("shift", [1, 7, 10, -1, -4])
def test_what_follows_a_name_that_is_too_long_or_padded_by_bytes_is_found(shift: int) -> None:
    width = 33 + shift
    (player,) = doc(ANN[:14] + f"{'Annabel'.ljust(width, 'l') if shift > 0 else 'Ann':{width}}" + ANN[47:]).players
    assert (player.shift, player.rating, player.federation, player.points, player.rank) == (shift, 2400, "NOR", 15, 1)
    assert player.name == ("Annabel".ljust(width, "l") if shift > 0 else "Ann")
    assert player.cells[0] == Cell(2, "w", "1", 92 + shift)


def test_no_line_is_shifted_that_can_be_read_where_it_stands() -> None:
    name = "Nobody knows why it says  1.5    1   "[:33]
    (player,) = doc(ANN[:14] + name + ANN[47:]).players
    assert (player.shift, player.points) == (0, 15)


def _with(text: str, column: int, part: str) -> str:
    return text[: column - 1] + part + text[column - 1 + len(part) :]


@pytest.mark.parametrize(
    ("column", "part", "problem", "at"),
    [
        (5, "   x", "'x' is no starting rank", 5),
        (5, "    ", "no starting rank", 5),
        (5, "   0", "no starting rank", 5),
        (49, "24k0", "'24k0' is no rating", 49),
        (81, " 1.x", "'1.x' is not a number of points", 81),
        (86, "   ?", "'?' is no rank", 86),
        (90, "|", "'|' stands before round 1", 90),
        (92, "   a", "'a' is no opponent", 92),
        (96, "!", "'!' stands between two columns", 96),
        (97, "g", "'g' is no color", 97),
        (99, "?", "'?' is no result", 99),
        (107, "x", "'x' is no color", 107),
        (109, "\N{LATIN SMALL LETTER SHARP S}", "is no result", 109),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(column: int, part: str, problem: str, at: int) -> None:
    with pytest.raises(Misread) as refused:
        doc("012 Open", _with(ANN, column, part), BOB)
    assert (refused.value.line, refused.value.column) == (2, at)
    assert problem in refused.value.sentence
    assert refused.value.sentence.startswith(f"Line 2, column {at}: ")


def test_a_starting_rank_is_one_players() -> None:
    with pytest.raises(Misread, match=r"Line 3, column 5: starting rank 1 is that of line 1 too"):
        doc(ANN, BOB, ANN)


def test_utf_16_is_refused() -> None:
    with pytest.raises(Misread, match="UTF-16"):
        trf.read("012 Open".encode("utf-16"))


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    data = ("\ufeff" + ANN).encode()
    document = trf.read(data)
    assert document.players[0].name == "Ann"
    assert trf.write(document) == data


def test_a_latin_1_file_with_other_letters_becomes_utf_8() -> None:
    old = trf.read("012 Zürich".encode("latin-1"))
    new = trf.document([*old.lines, Line("022 Łódź", "")], old.encoding)
    assert trf.write(new).decode() == "012 Zürich022 Łódź"


@pytest.mark.parametrize(
    ("text", "tenths"),
    [("11.5", 115), (" 4", 40), (".5", 5), ("0,5", 5), ("1.50", 15), ("", None), ("1.25", None), ("-1", None)],
)
def test_points_in_tenths(text: str, tenths: int | None) -> None:
    assert trf.tenths(text) == tenths


@given(st.data())
def test_player_lines_with_some_characters_changed_are_read_or_refused(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([line.text for path in FILES for line in trf.read(path.read_bytes()).lines]))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.text(max_size=3)) + text[at + data.draw(st.integers(0, 3)) :]
    raw = text.encode("utf-8", "replace")
    try:
        document = trf.read(raw)
    except Misread as refused:
        line, column = refused.line, refused.column
    else:
        assert trf.write(document) == raw
        line, column = 1, 1
    assert line >= 1
    assert column >= 1


@pytest.mark.parametrize(
    ("name", "encoding"),
    [("Żółw".encode(), "utf-8"), ("Šárka".encode("cp1252"), "cp1252"), (b"\x81\xe9", "latin-1")],
)
def test_every_encoding_goes_back_as_it_came(name: bytes, encoding: str) -> None:
    data = b"012 " + name + b"\n"
    document = trf.read(data)
    assert document.encoding == encoding
    assert document.lines[0].text[4:] == name.decode(encoding)
    assert trf.write(document) == data


def test_a_line_has_no_more_rounds_than_there_can_be() -> None:
    head = f"001    1      {'A':67}0.0    1"
    cells = "  0000 - U" * 1000
    assert len(trf.read((head + cells[:-10]).encode()).players[0].cells) == 999
    with pytest.raises(Misread, match=r"^Line 2, column 10082: there are more than 999 rounds"):
        trf.read(f"012 Open\n{head}{cells}".encode())
