"""Files of openings as a configuration names them, and what is said of their faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from cgos_protocol.games.base import Ruleset
from cgos_protocol.openings import Opening, OpeningSet
from cgos_server.config.openings import LARGEST, absolute, read
from cgos_server.config.problems import ConfigErrors
from cgos_server.config.values import Words

PLACE = "cgos.toml: venue.9x9.pairing.openings"


def openings(words: str, base: Path) -> OpeningSet:
    return read(absolute(Words.parse(words), base), Ruleset(), 243, PLACE)


def problems(words: str, base: Path) -> list[str]:
    with pytest.raises(ConfigErrors) as caught:
        openings(words, base)
    return [str(problem) for problem in caught.value.problems]


@pytest.fixture
def books(tmp_path: Path) -> Path:
    (tmp_path / "set").mkdir()
    (tmp_path / "set/b.txt").write_text("2: second E5 C3\n")
    (tmp_path / "set/a.txt").write_text("\ufefffirst C3 # comment\n\nthird D4\n", "utf-8")
    (tmp_path / "set/c.other").write_text("fourth G7\n")
    (tmp_path / "book.SGF").write_bytes("(;SZ[9]GN[f\xfcnfte];B[ee](;W[cc])(;W[gg]))".encode("latin-1"))
    return tmp_path


def test_files_are_read_in_order_with_their_weights(books: Path) -> None:
    book = openings("set/*.txt, 0.5: book.SGF, 3 : set/?.other, set/b.txt", books)
    assert book == OpeningSet(
        (
            Opening("first", ("C3",), 1.0),
            Opening("third", ("D4",), 1.0),
            Opening("second", ("E5", "C3"), 2.0),
            Opening("fünfte", ("E5", "C7"), 0.5),
            Opening("fourth", ("G7",), 3.0),
        )
    )


def test_sgf_is_read_in_the_encoding_that_it_names(tmp_path: Path) -> None:
    text = "(;CA[Shift_JIS]SZ[9]GN[第一局];B[ee]C[テソ];W[gc]C[予予])"
    (tmp_path / "book.sgf").write_bytes(text.encode("cp932"))
    assert openings("book.sgf", tmp_path) == OpeningSet((Opening("第一局", ("E5", "G7"), 1.0),))


def test_no_words_are_no_openings(tmp_path: Path) -> None:
    assert read(Words(), Ruleset(), 243, PLACE) == OpeningSet()


def test_paths_count_from_the_given_directory_and_stay_when_absolute(books: Path) -> None:
    placed = absolute(Words.parse(f"set/a.txt, 2: {books}/book.SGF"), books)
    assert placed.parts == (f"{books}/set/a.txt", f"2: {books}/book.SGF")
    assert absolute(placed, Path("/elsewhere")) == placed


def test_brackets_in_a_path_are_themselves(tmp_path: Path) -> None:
    (tmp_path / "x[1]").mkdir()
    (tmp_path / "x[1]/a.txt").write_text("one E5\n")
    assert openings("x[1]/*.txt", tmp_path) == openings("x[1]/a.txt", tmp_path)


def test_every_fault_is_told_with_file_and_line(books: Path) -> None:
    (books / "bad.txt").write_text("one E5\ntwo E5 E5\nx: three E5\nfirst C3\n")
    (books / "bad.sgf").write_text("(;SZ[9];B[ee])\n(;SZ[19];B[ee])")
    (books / "empty.txt").write_text("# nothing\n")
    (books / "latin.txt").write_bytes(b"\xfc E5\n")
    (books / "large.txt").write_bytes(b"#" * (LARGEST + 1))
    faults = problems(
        "set/a.txt, bad.txt, bad.sgf, empty.txt, latin.txt, large.txt, gone.txt, *.none, 0: set/b.txt", books
    )
    expected = [
        (f"{PLACE}: {books}/bad.txt, line 2: ", "move 2 of opening two, E5, cannot be played"),
        (f"{PLACE}: {books}/bad.txt, line 3: ", '"x" is no weight'),
        (f"{PLACE}: {books}/bad.txt, line 4: ", f"opening first stands in {books}/set/a.txt, line 1 already"),
        (f"{PLACE}: {books}/bad.sgf, line 2: ", "the board is 19 and the venue's is 9"),
        (f"{PLACE}: {books}/empty.txt, line 1: ", "there is no opening in the file"),
        (f"{PLACE}: {books}/latin.txt: ", "is not UTF-8 text"),
        (f"{PLACE}: {books}/large.txt: ", "is larger than"),
        (f"{PLACE}: {books}/gone.txt: ", "cannot be read (No such file or directory)"),
        (f"{PLACE}: ", f"no file is called {books}/*.none"),
        (f"{PLACE}: ", "has no weight that can be read"),
    ]
    unfound = [(where, what) for where, what in expected if not any(f.startswith(where) and what in f for f in faults)]
    assert unfound == []
    assert len(faults) == len(expected)
    assert all(problem.endswith(".") for problem in faults)


def test_of_a_file_full_of_faults_some_are_told(tmp_path: Path) -> None:
    (tmp_path / "all.txt").write_text("bad Z9\n" * 1_000)
    assert 5 < len(problems("all.txt", tmp_path)) < 100
