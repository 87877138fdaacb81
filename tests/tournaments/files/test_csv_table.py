"""Tournaments as tables: delimiters, encodings, games, byes, what cannot be read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.tournaments.drawn_events import as_in_files, events, growths

from cgos_protocol.errors import Refused
from cgos_protocol.lines.misread import Misread
from cgos_server.tournaments.base import (
    BLACK_WINS,
    DRAWN,
    VOID,
    WHITE_WINS,
    Bye,
    Entrant,
    Event,
    Game,
    Request,
    Result,
    Round,
)
from cgos_server.tournaments.event import begin, withdraw
from cgos_server.tournaments.files import csv_table as tournament_csv
from cgos_server.tournaments.files import table as tournament_table

TABLE = """\
No;ID;Name;Rating;Country;r1;r2;Remark;r3
1;7;"Ann; the first";2400,5;NOR;9+b;bye;"two
lines";off
2;9;Bob;;SWE;7-w;--;;
3;4;Cy;1500;;;;late;
"""


def read(text: str) -> Event:
    return tournament_csv.to_event(tournament_csv.read(text.encode()), "swiss")


def without_what_a_table_cannot_hold(event: Event) -> Event:
    return as_in_files(replace(event, system="swiss", options={}, name="", planned=None, seed=0, tie_breakers=()))


def test_a_table() -> None:
    event = read(TABLE)
    assert event.entrants == (
        Entrant(id=7, name="Ann; the first", rating=2400.5, country="NOR"),
        Entrant(id=9, name="Bob", rating=None, country="SWE"),
        Entrant(id=4, name="Cy", rating=1500.0, joined=3),
    )
    assert event.rounds == (
        Round(number=1, games=(Game(black=7, white=9, result=BLACK_WINS),)),
        Round(number=2, games=(), byes=(Bye(7),)),
    )
    assert event.requests == (Request(7, 3, 0),)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_delimiter_mark_and_encoding_are_found(delimiter: str, mark: str, encoding: str) -> None:
    text = "NAME,rating\r\nZoé,1\r\n".replace(",", delimiter)
    data = (mark if encoding == "utf-8" else "").encode() + text.encode(encoding)
    table = tournament_csv.read(data)
    assert tournament_csv.to_event(table, "swiss").entrants == (Entrant(id=1, name="Zoé", rating=1.0),)
    assert (table.delimiter, table.end) == (delimiter, "\r\n")


@pytest.mark.parametrize(
    ("first", "second", "game"),
    [
        ("2+w", "1-b", Game(black=2, white=1, result=WHITE_WINS)),
        ("2=B", "1=W", Game(black=1, white=2, result=DRAWN)),
        ("2-w", "1-b", Game(black=2, white=1, result=Result(0, 0))),
        ("2-b4", "1+w4", Game(black=1, white=2, result=WHITE_WINS, handicap=4)),
        ("2-b4", "1+w", Game(black=1, white=2, result=WHITE_WINS, handicap=4)),
        ("2+!", "1-!", Game(black=2, white=1, result=Result(0, 2, "forfeit"))),
        ("2-b!", "1-w!", Game(black=1, white=2, result=Result(0, 0, "forfeit"))),
        ("2x", "1xw", Game(black=1, white=2, result=VOID)),
        ("2?b", "1?w", Game(black=1, white=2)),
    ],
)
def test_games(first: str, second: str, game: Game) -> None:
    assert read(f"name,r1\nA,{first}\nB,{second}\n").rounds == (Round(number=1, games=(game,)),)


def test_several_games_of_a_round() -> None:
    event = read('name,r1\nA,"2+w,2-b"\nB,"1+w,1-b"\n')
    assert event.rounds[0].games == (
        Game(black=2, white=1, result=WHITE_WINS),
        Game(black=1, white=2, result=WHITE_WINS),
    )


@pytest.mark.parametrize(
    ("cell", "bye"),
    [
        ("bye", Bye(3, 2)),
        ("BYE+", Bye(3, 2)),
        ("bye=", Bye(3, 1)),
        ("bye-", Bye(3, 0)),
        ("off", Bye(3, 0, requested=True)),
        ("off=", Bye(3, 1, requested=True)),
        ("off+", Bye(3, 2, requested=True)),
    ],
)
def test_byes(cell: str, bye: Bye) -> None:
    event = read(f"name,r1\nA,2+w\nB,1-b\nC,{cell}\n")
    assert event.rounds[0].byes == (bye,)
    assert event.requests == ((Request(3, 1, bye.points),) if bye.requested else ())
    assert event.bye_points == (2 if bye.requested else bye.points)


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        ("", 1, 1, "empty"),
        ("id,rating\n1,2", 1, 1, "no column is called name"),
        ("name,r1,R1\n", 1, 3, "second column 'r1'"),
        ("name,rating\nA,much", 2, 2, "'much' is no number"),
        ("name,rating\nA,nan", 2, 2, "'nan' is no number"),
        ("name,rating\nA,1e999", 2, 2, "'1e999' is no number"),
        ("id,name\n0,A", 2, 1, "'0' is no number of a player"),
        ("id,name\n²,A", 2, 1, "is no number of a player"),
        ("id,name\n1,A\n\n1,B", 4, 1, "player 1 is in line 2 too"),
        ("id,name\n1,", 2, 2, "no name"),
        ("rating,name\n2000,Ann\n1900,Bob\n1800,ANN\n", 4, 2, "ANN is in line 2 too"),
        ('name,club\nA,"B\nC"', 2, 2, "an end of line or the like"),
        ("name,start\nA,1.3", 2, 2, "not in whole or half points"),
        ("name,status\nA,gone", 2, 2, "'gone' is no status"),
        ("name,forbidden\nA,1", 2, 2, "'1' is no other player's id"),
        ("name,r1\nA,2+\nB,1-", 2, 2, "'2+' is not understood"),
        ("name,r1\nA,won", 2, 2, "'won' is not understood"),
        ("name,r1\nA,2?w!\nB,1?b!", 2, 2, "'2?w!' is not understood"),
        ("name,r1\nA,7+w", 2, 2, "no player 7"),
        ("name,r1\nA,1+w", 2, 2, "not the other way round"),
        ("name,r1\nA,2+w\nB,", 2, 2, "not the other way round (line 3)"),
        ("name,r1\nA,2+w\nB,1+b", 2, 2, "another in line 3"),
        ("name,r1\nA,2+w\nB,1-w", 2, 2, "another in line 3"),
        ("name,r1\nA,2+w!\nB,1-b", 2, 2, "another in line 3"),
        ("name,r1\nA,2+w3\nB,1-b4", 2, 2, "another in line 3"),
        ("name,r1\nA,,7", 2, 3, "more cells than there are columns"),
        ('name\n"two\nlines"\n"A', 4, 1, "unexpected end of data"),
        ('name\n"A"x', 2, 1, "expected after"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(text: str, line: int, column: int, problem: str) -> None:
    with pytest.raises(Misread) as refused:
        read(text)
    assert (refused.value.line, refused.value.column) == (line, column), refused.value.sentence
    assert problem in refused.value.sentence


def test_utf_16_is_refused() -> None:
    with pytest.raises(Misread, match="UTF-16"):
        tournament_csv.read("name\nA".encode("utf-16"))


@given(events())
def test_what_is_written_afresh_is_read_as_the_same_event(event: Event) -> None:
    data = tournament_table.from_event(event, {})
    table = tournament_csv.read(data)
    back = tournament_csv.to_event(table, "swiss")
    assert as_in_files(back) == without_what_a_table_cannot_hold(event)
    assert list(tournament_csv.check_scores(table, back)) == []
    assert tournament_table.with_event(table, data, back, {}) == data


@settings(max_examples=60)
@given(growths())
def test_what_is_written_into_a_table_is_read_as_the_same_event(pair: tuple[Event, Event]) -> None:
    before, after = pair
    data = tournament_table.from_event(before, {})
    data = tournament_table.with_event(tournament_csv.read(data), data, after, {})
    table = tournament_csv.read(data)
    back = tournament_csv.to_event(table, "swiss")
    assert as_in_files(back) == without_what_a_table_cannot_hold(after)
    assert list(tournament_csv.check_scores(table, back)) == []


def test_only_what_has_changed_is_rewritten() -> None:
    data = TABLE.encode()
    table = tournament_csv.read(data)
    event = begin(
        read(TABLE),
        Round(number=3, games=(Game(black=9, white=4, result=DRAWN, handicap=2),), byes=(Bye(7, 0, requested=True),)),
    )
    new = tournament_table.with_event(table, data, withdraw(event, 7), {})
    assert new.decode() == (
        "No;ID;Name;Rating;Country;r1;r2;Remark;r3;status\n"
        '1;7;"Ann; the first";2400,5;NOR;9+b;bye;"two\nlines";off;withdrawn\n'
        "2;9;Bob;;SWE;7-w;--;;4=b2;\n"
        "3;4;Cy;1500;;;;late;9=w2;\n"
    )


def test_points_and_places_are_written_and_compared() -> None:
    event = read("name,r1\nA,2+w\nB,1-b\n")
    data = tournament_table.from_event(event, {1: 1, 2: 2})
    assert data.decode() == "id,name,rating,points,place,r1\r\n1,A,,1,1,2+w\r\n2,B,,0,2,1-b\r\n"
    table = tournament_csv.read(data.replace(b",1,1,2+w", b",1.5,1,2+w"))
    assert list(tournament_csv.check_scores(table, event)) == [
        "Line 2, column 4: A has 1.5 points, but the results give 1."
    ]


def test_other_points_do_not_fit_and_nobody_may_vanish() -> None:
    event = read("name,r1\nA,2+w\nB,1-b\n")
    with pytest.raises(Refused, match="gives 3 points"):
        tournament_table.from_event(
            replace(event, rounds=(Round(number=1, games=(Game(black=2, white=1, result=Result(0, 6)),)),)), {}
        )
    data = tournament_table.from_event(event, {})
    for entrants in (event.entrants[:1], event.entrants[::-1]):
        with pytest.raises(Refused, match="Players of the file are no longer in the event, or elsewhere"):
            tournament_table.with_event(tournament_csv.read(data), data, Event(system="swiss", entrants=entrants), {})


@given(
    st.binary() | st.text().map(str.encode) | st.text(st.sampled_from('name,id;r1\n\r"2+-=wb?x!\x00é')).map(str.encode)
)
def test_bytes_of_any_kind_are_read_or_refused(data: bytes) -> None:
    for raw in (data, b"name,id,r1,r2\n" + data):
        try:
            sentence = tournament_csv.to_event(tournament_csv.read(raw), "swiss").system + "."
        except Refused as refused:
            sentence = refused.sentence
        assert sentence.endswith(".")


def test_a_table_without_ids_gets_them_where_they_no_longer_count_the_lines() -> None:
    data = b"name\nA\nB\n"
    event = read(data.decode())
    same = replace(event, entrants=(*event.entrants, Entrant(id=3, name="C")))
    other = replace(event, entrants=(*event.entrants, Entrant(id=7, name="C")))
    table = tournament_csv.read(data)
    assert tournament_table.with_event(table, data, same, {}) == b"name\nA\nB\nC\n"
    assert tournament_table.with_event(table, data, other, {}) == b"name,id\nA,1\nB,2\nC,7\n"


def test_namesakes_with_numbers_of_their_own_are_two_players() -> None:
    event = read("id,name\n1,Ann\n2,Bob\n3,Ann\n")
    assert event.names == {1: "Ann #1", 2: "Bob", 3: "Ann #3"}
    assert [one.name for one in event.entrants] == ["Ann", "Bob", "Ann"]
    assert read(tournament_table.from_event(event, {}).decode()) == event


def test_what_a_table_could_not_be_read_with_is_not_written() -> None:
    with pytest.raises(Refused, match="1000 rounds"):
        tournament_table.from_event(
            Event(
                system="swiss",
                entrants=(Entrant(id=1, name="A"),),
                rounds=tuple(Round(number=number) for number in range(1, 1001)),
            ),
            {},
        )
    with pytest.raises(Refused, match="holds up to 999999999"):
        tournament_table.from_event(Event(system="swiss", entrants=(Entrant(id=10**9, name="A"),)), {})


@pytest.mark.parametrize(("column", "number"), [("rating", "1e200"), ("start", "-5001")])
def test_numbers_that_are_too_large_have_their_place(column: str, number: str) -> None:
    with pytest.raises(Misread, match=f"^Line 2, column 2: .{column}. '{number}' is too large"):
        read(f"name,{column}\nA,{number}\n")
