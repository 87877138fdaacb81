"""Tournament files of every format: told apart, read, written and given back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.tournaments.drawn_events import events
from support.tournaments.events import by_lot, entrants, play

from cgos_protocol.errors import Refused
from cgos_protocol.lines.misread import Misread
from cgos_server.tournaments.base import Entrant, Event, Explanation, Game, Result, Round
from cgos_server.tournaments.files import formats as tournament_file
from cgos_server.tournaments.files.sniffing import Format, sniff, written_as
from cgos_server.tournaments.ledger import ledger
from cgos_server.tournaments.tournament import to_json

FORMATS: tuple[Format, ...] = ("trf", "csv", "json")
"""Those that are given back with what has changed."""
SAMPLES = sorted((Path(__file__).parent.parent.parent / "transcripts" / "trf").glob("*.trf"))


@pytest.fixture(scope="module")
def played() -> Event:
    """Three rounds of seven entrants, with their reasons."""
    return play(
        Event(system="swiss", entrants=entrants([2000.0 - 10 * at for at in range(7)]), name="Open", seed=3),
        by_lot(1),
        3,
    )


@pytest.mark.parametrize(
    ("name", "data", "format_"),
    [
        ("a.trf", b"", "trf"),
        ("a.TRFX", b"anything", "trf"),
        ("a.csv", b"name,r1", "csv"),
        ("a.tsv", b"name", "csv"),
        ("a.json", b"", "json"),
        ("a.trf", b'  {"system":1}', "json"),
        ("a.txt", b"012 Open\r001    1", "trf"),
        ("-", b"\xef\xbb\xbf001    1", "trf"),
        ("-", b"XXR 9\n", "trf"),
        ("-", b"name\trating", "csv"),
        ("", b"\xef\xbb\xbf{}", "json"),
        ("a.h9", b"", "h9"),
        ("a.txt", b"; EV[Open]\n   1 Alder A. 3D FR 75Ju 36 128 503 0 2+/w0\n", "h9"),
        ("a.xml", b"", "xml"),
        ("-", b'<?xml version="1.0"?><Tournament/>', "xml"),
        ("a.csv", b"<Tournament/>", "xml"),
        ("a.pgn", b"id;Name;rating", "csv"),
        ("-", b"", "csv"),
    ],
)
def test_formats_are_told_apart(name: str, data: bytes, format_: Format) -> None:
    assert sniff(name, data) == format_


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.pgn", b'\n[Event "x"]\n[White "A"]\n', "a.pgn is games in PGN"),
        ("a.csv", b'[Event "x"]\n', "a.csv is games in PGN"),
        ("-", b"(;GM[1])", "Standard input is a game in SGF"),
        ("a.ods", b"PK\x03\x04", "a spreadsheet"),
        ("a.csv", b"PK\x03\x04", "a spreadsheet"),
        ("a.xls", b"\xd0\xcf\x11\xe0", "an old spreadsheet"),
        ("a.csv.gz", b"\x1f\x8b", "compressed"),
        ("a.html", b"<!DOCTYPE html><html>", "a page in HTML"),
        ("a.pdf", b"%PDF-1", "a PDF"),
        ("a.tou", b"something else\n", "a.tou is of no kind known here"),
    ],
)
def test_files_of_other_kinds_are_refused_by_their_names(name: str, data: bytes, says: str) -> None:
    with pytest.raises(Refused, match=re.escape(says)):
        tournament_file.read(name, data)


@pytest.mark.parametrize(
    ("name", "source", "format_"),
    [
        ("b.h9", "a.csv", "h9"),
        ("b", "a.csv", "csv"),
        ("-", "a.csv", "csv"),
        ("b.txt", "a.txt", "csv"),
        ("b.TRF", "a", "trf"),
    ],
)
def test_the_ending_of_a_file_says_how_it_is_written(name: str, source: str, format_: Format) -> None:
    assert written_as(name, source, "csv") == format_


def test_nothing_is_written_under_an_unknown_ending() -> None:
    for name in ("u.pgn", "u.txt", "u.tou", "u.csv.bak"):
        with pytest.raises(Refused, match=r"is no ending known here\. Use \.trf, \.csv, \.json, \.h9"):
            written_as(name, "u.csv", "csv")


@pytest.mark.parametrize("format_", FORMATS)
def test_an_event_that_was_played_goes_through_every_format(played: Event, format_: Format) -> None:
    data = tournament_file.fresh(played, format_)
    file = tournament_file.read("-", data)
    assert file.format == format_
    assert tournament_file.check_scores(file) == ()
    assert tournament_file.write(file, file.event) == data
    assert [{game.pair for game in round_.games} for round_ in file.event.rounds] == [
        {game.pair for game in round_.games} for round_ in played.rounds
    ]
    longer = play(replace(file.event, system="swiss", options=played.options, seed=3), by_lot(2), 1)
    again = tournament_file.read("-", tournament_file.write(file, longer))
    assert again.format == format_
    assert {game.pair for game in again.event.rounds[3].games} == {game.pair for game in longer.rounds[3].games}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_an_unchanged_report_is_given_back_as_it_was(path: Path) -> None:
    file = tournament_file.read(path.name, path.read_bytes())
    assert tournament_file.write(file, file.event) == path.read_bytes()


def test_the_system_is_that_asked_for_then_the_files() -> None:
    event = Event(system="epm", entrants=(Entrant(id=1, name="A"),), options={"depth": 2})
    for format_ in ("trf", "json"):
        data = tournament_file.fresh(event, format_) if format_ == "json" else _report(event)
        by_file, by_choice = tournament_file.read("-", data), tournament_file.read("-", data, "swiss")
        assert (by_file.event.system, by_file.event.options, by_file.names_system) == ("epm", {"depth": 2}, True)
        assert (by_choice.event.system, by_choice.event.options) == ("swiss", {})
    table = tournament_file.read("-", b"name\nA\n")
    assert (table.event.system, table.names_system) == ("dutch", False)
    assert tournament_file.read("-", b"name\nA\n", "swiss").event.system == "swiss"


def _report(event: Event) -> bytes:
    data = tournament_file.fresh(replace(event, system="swiss", options={}), "trf")
    return data.replace(b'{"system":"swiss"}', b'{"system":"epm","options":{"depth":2}}')


@pytest.mark.parametrize(
    ("name", "data"),
    [
        (
            "a.json",
            to_json(
                Event(
                    system="swiss",
                    entrants=(Entrant(id=1, name="A"),),
                    rounds=(Round(number=1, games=(Game(black=2, white=1),)),),
                )
            ),
        ),
        ("a.json", to_json(Event(system="swiss", entrants=(Entrant(id=1, name="A"), Entrant(id=1, name="B"))))),
        ("a.csv", b"name,rating\nA,1e200\n"),
        ("a.trf", b'001    1 \n### cgos-server {"entrants":{"1":{"rating":-1e200}}}\n'),
        ("a.trf", b'001    1 \n### cgos-server {"entrants":{"1":{"grade":"\\u0000"}}}\n'),
    ],
)
def test_events_that_cannot_be_are_refused(name: str, data: bytes) -> None:
    with pytest.raises(Refused):
        tournament_file.read(name, data)


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[]",
        b"\xff{",
        b'{"system":1}',
        b'{"system":"x","rounds":[{"number":1,"explanation":{"details":{"a":' + b"[" * 100_000,
    ],
)
def test_json_that_is_none_is_refused(data: bytes) -> None:
    with pytest.raises(Refused, match="not an event's JSON"):
        tournament_file.read("a.json", data)


@given(st.sampled_from(["a.trf", "a.csv", "a.json", "-"]), st.binary() | st.text().map(str.encode))
def test_bytes_of_any_kind_are_read_or_refused(name: str, data: bytes) -> None:
    try:
        file = tournament_file.read(name, data)
    except Refused as refused:
        assert_sentence = refused.sentence
    else:
        assert_sentence = f"{file.format}."
    assert assert_sentence.endswith(".")


def test_a_new_file_says_what_it_does_not_hold(played: Event) -> None:
    event = replace(played, options={"method": "folding"}, planned=9, tie_breakers=("points",), bye_points=1)
    assert tournament_file.losses(event, "json") == ()
    why = "The file does not hold why rounds and games are as they are."
    ids = "The file does not hold the ids of the games, which it numbers anew."
    unexplained = replace(
        event,
        rounds=tuple(
            replace(
                round_, games=tuple(replace(game, reason="", id=0) for game in round_.games), explanation=Explanation()
            )
            for round_ in event.rounds
        ),
    )
    assert tournament_file.losses(event, "trf") == (ids, why)
    in_order = replace(unexplained, rounds=tournament_file.read("-", tournament_file.fresh(event, "trf")).event.rounds)
    assert tournament_file.losses(in_order, "trf") == ()
    lost = tournament_file.losses(event, "csv")
    assert lost[0] == "The file does not hold the system (swiss)."
    for word in ("options", "seed", "planned", "tie-breakers", "name of the event"):
        assert sum(word in sentence for sentence in lost) == 1
    assert lost[-2:] == (ids, why)
    plain = Event(
        system=tournament_file.DEFAULT_SYSTEM,
        entrants=(Entrant(id=1, name="A", rating=1500.0), Entrant(id=2, name="B")),
    )
    assert tournament_file.losses(plain, "csv") == ("The file does not hold the system (dutch).",)
    with pytest.raises(Refused, match="Write JSON"):
        tournament_file.losses(
            replace(event, rounds=(Round(number=1, games=(Game(black=2, white=1, result=Result(0, 4)),)),)), "csv"
        )


@given(events(open_games=False))
@settings(max_examples=30)
def test_what_is_not_said_to_be_lost_is_there(event: Event) -> None:
    event = replace(event, options={})
    for format_ in FORMATS:
        lost = " ".join(tournament_file.losses(event, format_))
        again = tournament_file.read(f"a.{format_}", tournament_file.fresh(event, format_)).event
        for word, field in (("seed", "seed"), ("name of the event", "name"), ("ratings", "entrants")):
            assert (word in lost) == (getattr(again, field) != getattr(event, field))
        if "games" not in lost:
            assert {id_: line.score for id_, line in ledger(again).lines.items()} == {
                id_: line.score for id_, line in ledger(event).lines.items()
            }


@pytest.mark.parametrize(
    ("data", "line", "column"),
    [
        (b'{"system":', 1, 11),
        (b'\xef\xbb\xbf{"name":"\xc3\xa9", 1}', 1, 14),
        (b'{"system":"a",\n"name":"\xff"}', 2, 9),
        (b'{"system" "a"}', 1, 11),
    ],
)
def test_json_that_is_none_is_refused_with_its_place(data: bytes, line: int, column: int) -> None:
    with pytest.raises(Misread, match=f"^Line {line}, column {column}: ") as refused:
        tournament_file.read("a.json", data)
    assert (refused.value.line, refused.value.column) == (line, column)


def test_json_of_another_shape_is_refused_with_its_path() -> None:
    with pytest.raises(Refused, match=re.escape("$.entrants[0].id")):
        tournament_file.read("a.json", b'{"system":"swiss","entrants":[{"id":"1","name":"A"}]}')


def test_json_that_could_not_be_read_again_is_not_written() -> None:
    report = tournament_file.read("a.trf", b"162  W 3.0    D 1.0\n" + b"\n".join(_player(at) for at in (1, 2)))
    with pytest.raises(Refused, match="A bye cannot be worth"):
        tournament_file.fresh(report.event, "json")


def _player(number: int) -> bytes:
    return b"001 %4d      %-33s      %-27s%4s %4d" % (number, b"Player", b"", b"0.0", number)


_NAMES = b"".join(b"C%d\n" % at for at in range(20_000))

LARGE = 200_000
"""Bytes; what takes long takes the square of it."""


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.trf", b"162 " + b" W 1.0" * (LARGE // 6), None),
        ("a.trf", b"001    1" + b" " * LARGE + b"x", "more than 999 rounds"),
        ("a.trf", _player(1) + b"  0000 - U" * (LARGE // 10), "more than 999 rounds"),
        (
            "a.trf",
            b"\n".join(map(_player, range(1, 1500))) + b"\nXXP " + b" ".join(b"%d" % at for at in range(1, 1500)),
            "more than 500000 pairs",
        ),
        ("a.csv", b"name," + b",".join(b"r%d" % at for at in range(1, 1000)) + b"\n" + _NAMES, None),
        ("a.csv", b"name,r999\nA,2+w\nB,1-b\n" + _NAMES, None),
        ("a.csv", b"name\n" + b"A\n" * (LARGE // 2), "^Line 50002, column 1: there are more than 50000 players"),
        ("a.trf", b"XXR " + b"9" * LARGE, "is no number of rounds|9\\.\\.\\."),
    ],
)
@pytest.mark.timeout(10)
def test_large_files_are_read_or_refused_at_once(name: str, data: bytes, says: str | None) -> None:
    if says is None:
        assert tournament_file.read(name, data).format in FORMATS
        return
    with pytest.raises(Misread, match=says) as refused:
        tournament_file.read(name, data)
    assert len(refused.value.sentence) < 400


CHANGED = [(path.name, path.read_bytes()) for path in SAMPLES]


@given(st.data())
def test_files_with_some_bytes_changed_are_read_or_refused_with_the_place(played: Event, data: st.DataObject) -> None:
    files = [*CHANGED, *((f"a.{format_}", tournament_file.fresh(played, format_)) for format_ in FORMATS)]
    name, whole = data.draw(st.sampled_from(files))
    changed = bytearray(whole[: data.draw(st.integers(0, len(whole)) | st.just(len(whole)))])
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, max(0, len(changed) - 1)))
        changed[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    try:
        file = tournament_file.read(name, bytes(changed))
    except Refused as problem:
        refused = problem
    else:
        assert tournament_file.write(file, file.event) == bytes(changed)
        return
    assert refused.sentence.endswith(".")
    if isinstance(refused, Misread):
        assert refused.sentence.startswith(f"Line {refused.line}, column {refused.column}: ")
        assert 1 <= refused.line <= len(re.split(rb"\r\n|\r|\n", changed))
        assert refused.column >= 1
