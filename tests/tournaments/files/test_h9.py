"""Result tables of the European Go Federation (H9)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.tournaments.drawn_events import events
from support.tournaments.events import by_lot, entrants, play

from cgos_protocol.errors import Refused
from cgos_protocol.lines.misread import Misread
from cgos_server.tournaments import tournament as pure
from cgos_server.tournaments.base import VOID, Bye, Entrant, Event, Game, Request, Result, Round
from cgos_server.tournaments.files import formats as tournament_file
from cgos_server.tournaments.files.formats import TournamentFile
from cgos_server.tournaments.files.sniffing import sniff
from cgos_server.tournaments.ledger import ledger

TABLE = """\
; CL[A]
; EV[Spring Open]
;
; Pl Name                            Rk Co Club  MMS  SOSSOSOS
   1 Alder A.                        3D FR 75Ju   34   97  300 0    2+/w0    4+/b9    3=/w0
   2 Birch von der B.                3D XX xxxx   33   99  301 0    1-/b0    3+/w0       0=
   3 Cedar C.                        1D DE   Be   32   98  302 0    4+!w0    2-/b0    1=/b0   ; a comment
   4 Elm E.                          9K DE   Be   20   97  303 0    3-!b0    1-/w9       0-
"""


def read(text: str | bytes, system: str | None = None) -> TournamentFile:
    return tournament_file.read("a.h9", text if isinstance(text, bytes) else text.encode(), system)


def test_a_table_of_opengotha() -> None:
    file = read(TABLE)
    event = file.event
    assert (event.system, event.name, file.names_system) == ("mcmahon", "Spring Open", False)
    assert event.entrants[1] == Entrant(id=2, name="Birch von der B.", start=64, grade="3d")
    assert event.entrants[2] == Entrant(id=3, name="Cedar C.", start=61, grade="1d", country="DE", club="Be")
    assert event.rounds[0].games == (
        Game(black=2, white=1, result=Result(0, 2), id=1),
        Game(black=4, white=3, result=Result(0, 2, "forfeit"), id=2),
    )
    assert event.rounds[1].games[0] == Game(black=1, white=4, result=Result(2, 0), handicap=9, id=3)
    assert {row.entrant: row.values[0] for row in pure.standings(event).rows} == {1: 34, 2: 33, 3: 32, 4: 20}
    assert tournament_file.write(file, event) == TABLE.encode()


def test_halves_of_absences_that_were_rounded_down_are_absences() -> None:
    event = read(TABLE).event
    assert event.rounds[2].byes == (Bye(2, 0, requested=True),)
    assert event.requests == (Request(2, 3, 0),)
    halves = read(TABLE.replace("xxxx   33 ", "xxxx 32.5 ")).event
    assert halves.rounds[2].byes == (Bye(2, 1, requested=True),)
    assert halves.entrants[1].start == 62


def test_without_mms_it_is_a_swiss_one() -> None:
    event = read(TABLE.replace(" MMS ", " NBW ")).event
    assert (event.system, event.entrants[0].start) == ("swiss", None)
    assert read(TABLE, "godraw").event.system == "godraw"


def test_short_words_and_unknown_colors() -> None:
    event = read("1 A 3d FR Xx 1 0 0 0 2+ 0+\n2 B 2d FR Xx 0 0 0 0 1- 0-\n").event
    assert event.rounds[0].games == (Game(black=2, white=1, result=Result(0, 2), id=1),)
    assert event.rounds[1].byes == (Bye(1, 2),)


def test_shared_places_count_by_lines() -> None:
    event = read("1 A 3d FR Xx 1 0 0 0 2=/w0\n1 B 2d FR Xx 0 0 0 0 1=/b0\n").event
    assert [entrant.id for entrant in event.entrants] == [1, 2]


def test_players_without_a_place_follow_the_one_above() -> None:
    tied = TABLE.replace("   3 Cedar", "     Cedar")
    assert tied != TABLE
    assert read(tied).event == read(TABLE).event
    assert read(tied.replace("   2 Birch", "     Birch")).event == read(TABLE).event


def test_a_pin_of_the_federation_is_skipped() -> None:
    lines = [line if line.startswith(";") or ";" in line else f"{line} |12345678" for line in TABLE.splitlines()]
    assert read("\n".join(lines)).event == read(TABLE).event
    assert sniff("-", lines[4].encode()) == "h9"


TOU = (Path(__file__).parents[2] / "vectors/french_federation.tou").read_text()


@pytest.mark.parametrize("name", ["a.tou", "a.h9", "-"])
def test_a_table_of_the_french_federation_has_licenses_and_no_countries(name: str) -> None:
    event = tournament_file.read(name, TOU.replace("1000003 49An", "1000003     ").encode()).event
    assert event.name == "Spring"
    assert [(one.name, one.grade, one.country, one.club) for one in event.entrants] == [
        ("Alder Ann", "3d", "", "75Ju"),
        ("Birch Bob", "1d", "", "92Le"),
        ("Cedar Cyd", "2k", "", ""),
    ]
    assert {line.entrant: line.values[0] for line in pure.standings(event).rows} == {1: 2, 2: 0.5, 3: 0.5}


def test_who_came_late_has_no_rounds_before() -> None:
    event = read("1 A 3d FR Xx 1 0 0 0 0- 2?/w0\n2 B 2d FR Xx 0 0 0 0 0+ 1?/b0\n").event
    assert [entrant.joined for entrant in event.entrants] == [2, 1]
    assert event.rounds[1].games == (Game(black=2, white=1, id=1),)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("; nobody\n", 1, "no players"),
        ("1 A 3d FR Xx 0 2+/w0\nAlder\n", 2, "no line of a player"),
        ("1 A 33k FR Xx 0 2+/w0\n", 1, "'33k' is no grade"),
        ("1 A 3d FR Xx 0 2+/w0\n2 B 3d FR Xx 0\n", 2, "0 rounds, but 1 in line 1"),
        ("1 A 3d FR Xx 0 5+/w0\n", 1, "no opponent 5"),
        ("1 A 3d FR Xx 0 1+/w0\n", 1, "no opponent 1"),
        ("1 A 3d FR Xx 0 2+/w0\n2 B 3d FR Xx 0 0-\n", 1, "not the other way round"),
        ("1 A 3d FR Xx 0 2+/w0\n2 B 3d FR Xx 0 1+/w0\n", 1, "is another in line 2"),
        ("1 A 3d FR Xx 0 2+/w0\n2 B 3d FR Xx 0 1?/b0\n", 1, "is another in line 2"),
        ("1 A 3d FR Xx 0 2+/w2\n2 B 3d FR Xx 0 1-/b3\n", 1, "is another in line 2"),
        ("1 A 3d FR Xx 0 won\n", 1, "neither a score nor a round"),
        ("0 A 3d FR Xx 0 0+\n", 1, "0 is no place"),
    ],
)
def test_tables_that_cannot_be_are_refused_with_their_place(text: str, line: int, says: str) -> None:
    with pytest.raises(Misread, match=says) as refused:
        read(text)
    assert refused.value.line == line


def test_an_event_is_written_by_places_and_read_again() -> None:
    players = tuple(Entrant(id=at, name=f"bot-{at}", grade=f"{at}k", country="FR", club="Fam") for at in range(1, 8))
    event = play(Event(system="mcmahon", entrants=players, name="Bots; all]", bye_points=2), by_lot(3), 4)
    data = tournament_file.fresh(event, "h9")
    again = tournament_file.read("-", data)
    assert again.format == "h9"
    assert again.event.name == "Bots, all)"
    before, after = pure.standings(event), pure.standings(again.event)
    assert [(row.name, row.values[0]) for row in after.rows] == [(row.name, row.values[0]) for row in before.rows]
    lost = tournament_file.losses(event, "h9")
    assert any("numbers and the order of registration" in sentence for sentence in lost)
    assert not any("all of the games" in sentence for sentence in lost)


def test_grades_follow_from_ratings_where_there_are_none() -> None:
    event = Event(system="swiss", entrants=entrants([2149.0, 2150.0, None, 5000.0, -5000.0]))
    lines = tournament_file.fresh(event, "h9").decode().splitlines()[3:]
    assert [line.split()[2] for line in lines] == ["1D", "2D", "30K", "9D", "30K"]
    assert any("ratings" in sentence for sentence in tournament_file.losses(event, "h9"))


@pytest.mark.parametrize(
    ("round_", "code"),
    [
        (
            Round(
                number=1,
                games=(Game(black=2, white=1, result=Result(0, 2)), Game(black=1, white=2, result=Result(0, 2))),
            ),
            "h9-games",
        ),
        (Round(number=1, games=(Game(black=2, white=1, result=Result(0, 2), handicap=10),)), "h9-stones"),
        (Round(number=1, byes=(Bye(1, 4),)), "h9-points"),
    ],
)
def test_what_a_table_cannot_hold_is_refused(round_: Round, code: str) -> None:
    with pytest.raises(Refused) as refused:
        tournament_file.fresh(Event(system="swiss", entrants=entrants([1500, 1500]), rounds=(round_,)), "h9")
    assert refused.value.code == code


def test_a_void_game_is_no_game_and_that_is_said() -> None:
    event = Event(
        system="swiss",
        entrants=entrants([1500, 1500]),
        rounds=(Round(number=1, games=(Game(black=2, white=1, result=VOID),)),),
    )
    assert tournament_file.fresh(event, "h9").decode().count(" 0-") == 2
    assert any("all of the games" in sentence for sentence in tournament_file.losses(event, "h9"))


def test_it_is_not_changed_in_place() -> None:
    file = read(TABLE)
    with pytest.raises(Refused, match=r"Go on in JSON"):
        tournament_file.write(file, replace(file.event, planned=5))


@given(events(open_games=False))
@settings(max_examples=40)
def test_events_are_refused_or_keep_their_points(event: Event) -> None:
    event = replace(event, system="swiss", options={}, tie_breakers=())
    assume(event.entrants)
    try:
        data = tournament_file.fresh(event, "h9")
    except Refused:
        return
    again = tournament_file.read("a.h9", data).event
    assert sorted(line.score for line in ledger(again).lines.values()) == sorted(
        line.score for line in ledger(event).lines.values()
    )


@given(events(open_games=False), st.data())
@settings(max_examples=30)
def test_blank_places_and_pins_change_nothing(event: Event, data: st.DataObject) -> None:
    event = replace(event, system="swiss", options={}, tie_breakers=())
    assume(event.entrants and event.rounds)
    try:
        table = tournament_file.fresh(event, "h9").decode()
    except Refused:
        return
    lines = table.splitlines()
    players = [at for at, line in enumerate(lines) if not line.startswith(";")]
    for at in players[1:]:
        lines[at] = data.draw(st.sampled_from([lines[at], "    " + lines[at][4:], lines[at] + " |12345678"]))
    assert read("\n".join(lines)).event == read(table).event


@given(st.data())
def test_tables_with_some_bytes_changed_are_read_or_refused(data: st.DataObject) -> None:
    changed = bytearray(TABLE.encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(changed) - 1))
        changed[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    sentence = "read."
    try:
        read(bytes(changed))
    except Refused as refused:
        sentence = refused.sentence
    assert sentence.endswith(".")
