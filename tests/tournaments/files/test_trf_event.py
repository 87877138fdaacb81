"""The event that a TRF report tells of: games, byes, contradictions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.tournaments.drawn_events import as_in_files, events, growths
from support.tournaments.events import without_ids

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
from cgos_server.tournaments.event import Played, apply, begin, enter, forbid, request_bye, withdraw
from cgos_server.tournaments.files import trf
from cgos_server.tournaments.files.trf import Document
from cgos_server.tournaments.files.trf_event import check_scores, cut_lines, hindrances, remarks, system_said, to_event
from cgos_server.tournaments.files.trf_records import records
from cgos_server.tournaments.files.trf_writing import from_event, with_event
from cgos_server.tournaments.ledger import ledger

SAMPLES = Path(__file__).parent.parent.parent / "transcripts" / "trf"


def sample(name: str) -> Document:
    return trf.read((SAMPLES / f"{name}.trf").read_bytes())


def player(number: int, points: str, *cells: str) -> str:
    head = f"001 {number:4d}      {'Player ' + str(number):33} 1500 {'':27}"
    return f"{head}{points:>4} {number:4d}  {'  '.join(cells)}"


def doc(*lines: str) -> Document:
    return trf.read("\n".join(lines).encode())


def texts(document: Document) -> list[str]:
    return [line.text for line in document.lines]


@pytest.mark.parametrize(
    ("first", "second", "game"),
    [
        ("   2 w 1", "   1 b 0", Game(black=2, white=1, result=WHITE_WINS)),
        ("   2 b 0", "   1 w 1", Game(black=1, white=2, result=WHITE_WINS)),
        ("   2 b 1", "   1 w 0", Game(black=1, white=2, result=BLACK_WINS)),
        ("   2 w =", "   1 b =", Game(black=2, white=1, result=DRAWN)),
        ("   2 b D", "   1 w D", Game(black=1, white=2, result=DRAWN)),
        ("   2 w W", "   1 b L", Game(black=2, white=1, result=WHITE_WINS)),
        ("   2 w 0", "   1 b 0", Game(black=2, white=1, result=Result(0, 0))),
        ("   2 w =", "   1 b 0", Game(black=2, white=1, result=Result(0, 1))),
        ("   2 b +", "   1 w -", Game(black=1, white=2, result=Result(2, 0, "forfeit"))),
        ("   2 b -", "   1 w -", Game(black=1, white=2, result=Result(0, 0, "forfeit"))),
        ("   2 - -", "   1 - +", Game(black=2, white=1, result=Result(2, 0, "forfeit"))),
        ("   2   +", "   1 w -", Game(black=1, white=2, result=Result(2, 0, "forfeit"))),
        ("   2 b", "   1 w  ", Game(black=1, white=2)),
        ("   2 b *", "   1 w *", Game(black=1, white=2)),
        ("   2 w *", "   1 b", Game(black=2, white=1)),
    ],
)
def test_games(first: str, second: str, game: Game) -> None:
    document = doc(player(1, "", first), player(2, "", second))
    assert without_ids(to_event(document).rounds) == (Round(number=1, games=(game,)),)


@pytest.mark.parametrize(
    ("cell", "bye"),
    [
        ("0000 - U", Bye(3, 2)),
        ("0000 - +", Bye(3, 2)),
        ("0000 - F", Bye(3, 2, requested=True)),
        ("0000 - h", Bye(3, 1, requested=True)),
        ("0000 - =", Bye(3, 1, requested=True)),
        ("       Z", Bye(3, 0, requested=True)),
        ("0000 - -", Bye(3, 0, requested=True)),
        ("        ", None),
    ],
)
def test_byes(cell: str, bye: Bye | None) -> None:
    event = to_event(doc(player(1, "", "   2 w 1"), player(2, "", "   1 b 0"), player(3, "", cell)))
    assert event.rounds[0].byes == ((bye,) if bye else ())
    assert event.requests == ((Request(3, 1, bye.points),) if bye and bye.requested else ())
    assert event.entrants[2].joined == (1 if bye else 2)


@pytest.mark.parametrize(
    ("first", "second", "column", "problem"),
    [
        ("   2 w 1", "   3 b 0", 92, "not the other way round"),
        ("   2 w 1", "0000 - U", 92, "not the other way round"),
        ("   1 w 1", "        ", 92, "has no opponent 1"),
        ("   9 w 1", "        ", 92, "has no opponent 9"),
        ("   2 w 1", "   1 w 0", 97, "not one White and one Black"),
        ("   2 - 1", "   1 - 0", 97, "not one White and one Black"),
        ("   2 w 1", "   1 b 1", 99, "has the results '1' and '1'"),
        ("   2 w 1", "   1 b =", 99, "has the results '1' and '='"),
        ("   2 w 1", "   1 b -", 99, "has the results '1' and '-'"),
        ("   2 w +", "   1 b +", 99, "has the results '+' and '+'"),
        ("   2 w 1", "   1 b  ", 99, "has the results '1' and ' '"),
        ("   2 w U", "   1 b 0", 99, "has the results 'U' and '0'"),
        ("0000 w 1", "        ", 92, "w 1 without an opponent"),
        ("0000 - 1", "        ", 92, "1 without an opponent"),
    ],
)
def test_lines_that_contradict_each_other_are_refused(first: str, second: str, column: int, problem: str) -> None:
    played = "   4 w 1", "   3 b 0"
    rest = [player(3, "", played[0]), player(4, "", played[1])]
    with pytest.raises(Misread) as refused:
        to_event(doc("012 Open", player(1, "", first), player(2, "", second), *rest))
    assert (refused.value.line, refused.value.column) == (2, column)
    assert problem in refused.value.sentence


def test_lines_about_nobody_are_refused() -> None:
    with pytest.raises(Misread, match=r"Line 2, column 7: there is no player 7"):
        to_event(doc(player(1, "0.0"), "XXZ 1 7"))
    with pytest.raises(Misread, match=r"Line 2, column 7: there is no player 2"):
        to_event(doc(player(1, "0.0"), "XXP 1 2"))


def test_a_whole_report_of_javafo_kind() -> None:
    event = to_event(sample("open_trfx"))
    assert (event.name, event.planned, event.system) == ("Autumn Open of Programs", 5, "dutch")
    assert [(entrant.id, entrant.rating) for entrant in event.entrants][2:5] == [(3, 2601.0), (4, None), (5, 2210.0)]
    assert event.forbidden == ((1, 2), (5, 6), (5, 7), (6, 7))
    assert Request(6, 4) in event.requests
    assert len(event.rounds) == 3
    assert list(check_scores(sample("open_trfx"))) == []
    assert tuple(hindrances(records(sample("open_trfx")))) == ()
    assert len(tuple(remarks(records(sample("open_trfx"))))) == 2


def test_a_whole_report_of_2026() -> None:
    event = to_event(sample("report_2026"))
    assert (event.system, event.planned, event.bye_points) == ("dutch", 4, 1)
    assert event.requests[-4:] == (Request(3, 3, 0), Request(5, 3, 1), Request(6, 3, 1), Request(1, 4, 2))
    assert event.forbidden == ((1, 6),)  # of three lines, the one that holds for round 3
    assert event.entrants[5].joined == 2
    assert [text.split()[:4] for text in remarks(records(sample("report_2026")))] == [
        ["The", "file", "names", "FIDE_DUTCH_2025."],
        ["The", "acceleration", "is", "kept"],
        ["The", "initial", "color", "is"],
        ["Pairs", "forbidden", "for", "some"],
    ]


def test_a_column_with_byes_only_asks_for_the_next_round() -> None:
    rows = player(1, "1.0", "   2 w 1", "0000 - H"), player(2, "0.0", "   1 b 0")
    event = to_event(doc(*rows))
    assert (len(event.rounds), event.requests) == (1, (Request(1, 2, 1),))
    everybody = to_event(doc(rows[0], player(2, "0.0", "   1 b 0", "0000 - Z")))
    assert [len(round_.byes) for round_ in everybody.rounds] == [0, 2]


def test_the_order_of_registration_is_that_of_starting_ranks_or_of_lines() -> None:
    lines = player(2, "0.0"), player(1, "0.0")
    assert [entrant.id for entrant in to_event(doc(*lines)).entrants] == [1, 2]
    assert [entrant.id for entrant in to_event(doc("XXC rank", *lines)).entrants] == [2, 1]


def test_other_points_are_counted_but_not_paired() -> None:
    document = doc("XXS W=3 D=1", player(1, "3.0", "   2 w 1"), player(2, "0.0", "   1 b 0"))
    assert ledger(to_event(document)).lines[1].score == 6
    assert "WW 3.0" in next(hindrances(records(document)))
    assert list(check_scores(document)) == []
    with pytest.raises(Refused, match=r"0\.3 points \(WD\)"):
        to_event(doc("XXS D=0.3", player(1, "0.0")))


def test_teams_are_not_paired() -> None:
    assert "team" in next(hindrances(records(sample("teams_cr"))))
    assert len(to_event(sample("teams_cr")).rounds) == 1


@pytest.mark.parametrize(
    ("code", "system"),
    [
        ("FIDE_DUTCH", "dutch"),
        ("FIDE_DUTCH_2026_BAKU", "dutch"),
        ("FIDE_BURSTEIN", "burstein"),
        ("FIDE_ROUNDROBIN", "round-robin"),
        ("BERGER_ROUNDROBIN_G2", "double-round-robin"),
        ("FIDE_DUBOV", None),
        ("CUSTOM_SWISS", None),
        ("FIDE_TEAM_ROUNDROBIN", None),
    ],
)
def test_the_coded_type_names_the_system(code: str, system: str | None) -> None:
    general = records(doc(f"192 {code}"))
    assert system_said(general) == system
    problem = " ".join(remarks(general))
    assert (code in problem) == (not code.startswith("CUSTOM") and not general.of_teams)


def test_a_tournament_of_single_players_may_name_teams() -> None:
    lines = [player(1, "0.0"), player(2, "0.0"), player(3, "0.0")]
    document = doc("082 0", "092 Individual: Swiss-System", *lines, "240 H   1    3", f"013 {'Reds':32}   1    2")
    general = records(document)
    assert list(hindrances(general)) == []
    assert to_event(document).requests == (Request(3, 1, 1),)  # 240 names players here, not teams
    assert any("teams have no effect" in remark for remark in remarks(general))


@pytest.mark.parametrize(
    ("system", "code"),
    [("round-robin", "CUSTOM_ROUNDROBIN"), ("dutch", "CUSTOM_SWISS"), ("cup", "CUSTOM_KNOCKOUT")],
)
def test_a_fresh_report_has_the_code_of_its_type(system: str, code: str) -> None:
    event = Event(system=system, entrants=(Entrant(id=1, name="A"), Entrant(id=2, name="B")))
    document = from_event(event, edition="trf-2026")
    assert f"192 {code}" in texts(document)
    for each in (document, from_event(event)):
        without = trf.document(line for line in each.lines if not line.text.startswith("###"))
        assert system_said(records(without)) == system


def test_a_game_that_is_still_played_keeps_its_sign_until_it_ends() -> None:
    document = doc(
        *(player(first, "0.0", f"   {second} {side} *") for first, second, side in ((1, 2, "w"), (2, 1, "b")))
    )
    event = to_event(document)
    assert texts(with_event(document, enter(event, Entrant(id=3, name="C"))))[0] == document.lines[0].text
    ended = with_event(document, apply(event, [Played(black=2, white=1, result=WHITE_WINS)]))
    assert [line.text[91:99] for line in ended.lines[:2]] == ["   2 w 1", "   1 b 0"]


def test_points_are_compared_with_results() -> None:
    wrong = doc(player(1, "1.5", "   2 w 1"), player(2, "0.0", "   1 b 0"))
    assert list(check_scores(wrong)) == ["Line 1, column 81: player 1 has 1.5 points, but the results give 1.0."]
    (sentence,) = check_scores(sample("latin1_shifted"))
    assert ": player 4 has " in sentence


def test_a_line_that_may_be_cut_short_is_told() -> None:
    first, second = player(1, "1.0", "0000 - U"), player(2, "0.0", "0000 - Z")
    for column, where in ((16, "before the points that other lines have"), (50, "inside the rating")):
        document = doc(first[:column], second)
        assert list(cut_lines(document)) == [
            f"Line 1 (player 1) ends in column {column}, {where}. It may be cut short."
        ]
    for column in (82, 89, 97):  # the bye is lost: points tell
        assert list(check_scores(doc(first[:column], second))) == [
            "Line 1, column 81: player 1 has 1.0 points, but the results give 0.0."
        ]
    for lines in ((first, second), (first.rstrip(" U"), second), ("001    1      Ann", "001    2      Bob")):
        assert list(cut_lines(doc(*lines))) == [], "programs leave out what is blank, and all points"


@pytest.mark.parametrize("points", ["1.0", "1.5", "2.0", "2.5"])
def test_points_may_hold_an_acceleration_and_the_next_rounds_bye(points: str) -> None:
    lines = player(1, points, "   2 w 1", "0000 - H"), player(2, "0.0", "   1 b 0"), "XXA    1  1.0  1.0"
    assert list(check_scores(doc(*lines))) == []


@given(events())
def test_what_is_written_afresh_is_read_as_the_same_event(event: Event) -> None:
    document = trf.read(trf.write(from_event(event)))
    assert as_in_files(to_event(document)) == as_in_files(event)
    assert list(check_scores(document)) == []
    assert with_event(document, to_event(document)) is document


@settings(max_examples=60)
@given(growths())
def test_what_is_written_into_a_report_is_read_as_the_same_event(pair: tuple[Event, Event]) -> None:
    before, after = pair
    document = trf.read(trf.write(from_event(before)) + b"DAT    1 kept\r\n")
    grown = trf.read(trf.write(with_event(document, after)))
    assert as_in_files(to_event(grown)) == as_in_files(after)
    assert list(check_scores(grown)) == []
    assert "DAT    1 kept" in texts(grown)


def test_only_what_has_changed_is_rewritten() -> None:
    document = sample("open_trfx")
    event = to_event(document)
    games = tuple(Game(black=black, white=white, result=DRAWN) for white, black in ((1, 4), (3, 2), (5, 7)))
    event = begin(event, Round(number=4, games=games, byes=(Bye(6, 0, requested=True),)))
    new = with_event(document, event, {entrant.id: entrant.id for entrant in event.entrants})
    old_texts, new_texts = texts(document), texts(new)
    assert [text for text in old_texts if text[:3] != "001" and text not in new_texts] == ["XXZ 6"]
    added = [text for text in new_texts if text[:3] != "001" and text not in old_texts]
    assert [text[:15] for text in added] == ["### cgos-server"]
    lines = [text for text in new_texts if text.startswith("001")]
    assert lines[0] == old_texts[document.players[0].line].replace(" 2.5 ", " 3.0 ") + "     4 w ="
    assert lines[4][116:] == "b L     7 w ="  # less than a move: kept
    assert lines[6][109:] == "  0000 - f     5 b ="
    assert lines[5][80:89] == " 1.0    6"
    assert {line.end for line in new.lines} == {"\r\n"}


def test_a_new_round_changes_the_columns_of_the_round_alone() -> None:
    document = sample("report_2026")
    event = to_event(document)
    number = len(event.rounds) + 1
    there = [entrant.id for entrant in event.entrants if entrant.joined <= number]
    games = tuple(Game(black=second, white=first) for first, second in zip(there[::2], there[1::2], strict=False))
    new = with_event(
        document, begin(event, Round(number=number, games=games)), {entrant.id: 99 for entrant in event.entrants}
    )
    column = 91 + 10 * (number - 1)
    for old in document.players:
        text = new.lines[old.line].text
        cells = document.lines[old.line].text[:column].ljust(column)
        assert text.ljust(column)[:column] == cells
        assert (text[column:].strip() != "") == (old.id in {id_ for game in games for id_ in game.pair})
    kept = [line.text for line in document.lines if line.text[:3] not in ("001", "240", "XXZ")]
    assert [text for text in kept if text not in texts(new)] == []
    results = apply(
        begin(event, Round(number=number, games=games)),
        [Played(black=game.black, white=game.white, result=DRAWN) for game in games],
    )
    ended = with_event(document, results, {entrant.id: 99 for entrant in event.entrants})
    assert {line.rank for line in ended.players} == {99}


def test_the_number_of_players_grows_with_them() -> None:
    document = doc("062 2 (1)", "062 7", "072 2", player(1, "0.0"), player(2, "0.0"))
    new = with_event(document, enter(to_event(document), Entrant(id=3, name="Late")))
    assert texts(new)[:3] == ["062 3 (1)", "062 7", "072 2"]


def test_requests_and_withdrawals_are_told_to_other_programs() -> None:
    document = sample("open_trfx")
    event = withdraw(request_bye(to_event(document), Request(2, 4, 1)), 7)
    event = request_bye(event, Request(2, 5, 2))
    new = texts(with_event(document, event))
    assert "XXZ 2 6 7" in new
    assert "XXZ 6" not in new
    assert {"240 Z   4    6    7", "240 H   4    2", "240 F   5    2"} <= set(new)
    assert to_event(doc(*new)).withdrawn == (7,)


def test_a_request_in_a_column_can_be_taken_back() -> None:
    document = doc(player(1, "1.0", "   2 w 1", "0000 - H"), player(2, "0.0", "   1 b 0"))
    new = with_event(document, replace(to_event(document), requests=()))
    assert texts(new)[0] == player(1, "1.0", "   2 w 1")
    assert to_event(new).requests == ()


def test_a_late_entrant_gets_a_line_after_the_others_and_a_last_line_its_end() -> None:
    document = doc(player(1, "1.0", "   2 w 1"), player(2, "0.0", "   1 b 0"))
    event = enter(to_event(document), Entrant(id=3, name="Late", rating=1234.0, country="NOR"))
    new = with_event(document, forbid(event, 1, 3))
    assert [line.end for line in new.lines] == ["\n"] * 5
    assert texts(new)[2] == f"001    3      {'Late':33} 1234 NOR {'':11} {'':10}  0.0    3"
    assert texts(new)[3] == "XXP 1 3"
    assert to_event(new).entrants[2].joined == 2


def test_a_shifted_line_stays_shifted() -> None:
    document = sample("latin1_shifted")
    event = to_event(document)
    new = with_event(
        document,
        replace(event, rounds=(*event.rounds, Round(number=4, games=(Game(black=1, white=2, result=Result(0, 6)),)))),
    )
    line = new.players[1]
    assert (line.shift, line.points, line.cells[3].opponent) == (8, 70, 1)
    assert line.name == "A program whose makers never found an end"


@pytest.mark.parametrize(
    ("round_", "code"),
    [
        (
            Round(
                number=1, games=(Game(black=2, white=1, result=WHITE_WINS), Game(black=1, white=2, result=WHITE_WINS))
            ),
            "trf-games",
        ),
        (Round(number=1, games=(Game(black=2, white=1, result=Result(0, 6)),)), "trf-result"),
        (Round(number=1, games=(Game(black=2, white=1, result=Result(1, 1, "forfeit")),)), "trf-result"),
        (Round(number=1, games=(), byes=(Bye(1, 7),)), "trf-result"),
    ],
)
def test_what_a_report_cannot_hold_is_refused(round_: Round, code: str) -> None:
    with pytest.raises(Refused) as refused:
        from_event(Event(system="dutch", entrants=(Entrant(id=1, name="A"), Entrant(id=2, name="B")), rounds=(round_,)))
    assert refused.value.code == code


def test_an_id_may_not_be_too_large_and_nobody_may_vanish() -> None:
    with pytest.raises(Refused, match="holds up to 9999"):
        from_event(Event(system="dutch", entrants=(Entrant(id=10_000, name="A"),)))
    document = doc(player(1, "0.0"), player(2, "0.0"))
    with pytest.raises(Refused, match="Player 2 of the file"):
        with_event(document, replace(to_event(document), entrants=(Entrant(id=1, name="Player 1", rating=1500.0),)))


def test_what_the_format_has_no_place_for_is_in_a_comment() -> None:
    event = Event(
        system="mwm",
        entrants=(
            Entrant(id=1, name="A", rating=1.5, start=3, grade="4d", country="Author of a program", club="Family"),
            Entrant(id=2, name="B" * 40, rating=-3.0),
        ),
        options={"order": "burstein", "beta": 2},
        seed=9,
        rounds=(Round(number=1, games=(Game(black=2, white=1, result=VOID, handicap=2, id=1),)),),
        tie_breakers=("points",),
    )
    document = from_event(event)
    assert [text[:4] for text in texts(document)] == ["012 ", "062 ", "092 ", "### ", "001 ", "001 "]
    assert to_event(document) == event
    others = doc(*(text for text in texts(document) if not text.startswith("###")))
    assert to_event(others).entrants == (
        Entrant(id=1, name="A", rating=2.0, country="Aut"),
        Entrant(id=2, name="B" * 33),
    )
    assert to_event(others).rounds[0].games == (Game(black=2, white=1, result=Result(0, 0, "forfeit"), id=1),)


def test_a_comment_gives_way_to_a_line_that_was_changed_elsewhere() -> None:
    document = from_event(
        Event(system="dutch", entrants=(Entrant(id=1, name="A" * 40, rating=1000.5, country="Norway"),))
    )
    changed = doc(*(text.replace("A" * 33, "B" + " " * 32).replace("1000 Nor", "1100 SWE") for text in texts(document)))
    assert to_event(changed).entrants == (Entrant(id=1, name="B", rating=1100.0, country="SWE"),)


def test_results_that_arrive_fill_blank_cells() -> None:
    event = Event(
        system="dutch",
        entrants=(Entrant(id=1, name="A"), Entrant(id=2, name="B")),
        rounds=(Round(number=1, games=(Game(black=2, white=1),)),),
    )
    document = from_event(event)
    assert document.players[0].cells[0].result == " "
    new = with_event(document, apply(to_event(document), [Played(black=2, white=1, result=BLACK_WINS)]))
    assert [line.cells[0].result for line in new.players] == ["0", "1"]
    assert [(line.points, line.rank) for line in new.players] == [(0, 2), (10, 1)]


@given(st.data())
def test_reports_with_some_characters_changed_are_read_or_refused(data: st.DataObject) -> None:
    lines = texts(sample(data.draw(st.sampled_from(["open_trfx", "report_2026", "teams_cr", "latin1_shifted"]))))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(lines) - 1))
        column = data.draw(st.integers(0, len(lines[at])))
        part = data.draw(st.text(st.sampled_from('0123456789 wb-+=UHFZ1.XRPSAC#{"é²\x1f'), max_size=3))
        lines[at] = lines[at][:column] + part + lines[at][column + len(part) :]
    try:
        document = doc(*lines)
        event = to_event(document)
        tuple(remarks(records(document))), tuple(hindrances(records(document))), tuple(check_scores(document))
        to_event(from_event(replace(event, seed=event.seed + 1)))
        with_event(document, replace(event, seed=event.seed + 1))
    except Refused as refused:
        sentence = refused.sentence
    else:
        sentence = "."
    assert sentence.endswith(".")


def test_a_bye_given_with_other_points_than_usual_is_still_one_that_was_given() -> None:
    event = Event(
        system="dutch",
        entrants=(Entrant(id=1, name="A"),),
        rounds=(Round(number=1, games=(), byes=(Bye(1, 1),)), Round(number=2, games=(), byes=(Bye(1, 2),))),
    )
    document = from_event(event)
    assert [cell.result for cell in document.players[0].cells] == ["H", "U"]
    assert to_event(document) == event


def test_names_and_ratings_that_change_are_rewritten() -> None:
    document = sample("latin1_shifted")
    entrants = list(to_event(document).entrants)
    entrants[1] = replace(entrants[1], name="Two", rating=None)
    entrants[3] = replace(entrants[3], name="Four and more", rating=77.0)
    new = with_event(document, replace(to_event(document), entrants=tuple(entrants)))
    assert [(line.name, line.rating) for line in new.players] == [
        ("Zoé", 2000),
        ("Two", None),
        ("Three", None),
        ("Four and more", 77),
    ]
    assert [line.cells for line in new.players] == [line.cells for line in document.players]


def test_control_characters_in_names_are_blanks() -> None:
    assert to_event(doc(player(1, "0.0").replace("Player 1", "Play\tr 1"))).entrants[0].name == "Play r 1"


def test_a_request_in_a_column_stays_there_while_it_holds() -> None:
    document = doc(player(1, "1.0", "   2 w 1", "0000 - H"), player(2, "0.0", "   1 b 0"))
    new = with_event(document, replace(to_event(document), name="Open"))
    assert texts(new)[:2] == texts(document)
    assert texts(new)[2] == "012 Open"


def test_points_of_their_own_hinder_pairing_and_missing_ones_differ_from_nothing() -> None:
    document = doc(player(1, "", "   2 w 1"), player(2, "0.0", "   1 b 0"), "299 H       0.5   1    1")
    assert "299" in next(hindrances(records(document)))
    assert list(check_scores(document)) == []


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"bye_points": 1}, "What a bye gives cannot be changed"),
        ({"requests": (Request(2, 2, 3),)}, r"Player 2 asked for a bye of 1\.5 points"),
        (
            {"entrants": (Entrant(id=1, name="A"), Entrant(id=2, name="B"), Entrant(id=10_000, name="C"))},
            "holds up to 9999",
        ),
    ],
)
def test_changes_that_a_report_cannot_hold_are_refused(changes: dict[str, Any], problem: str) -> None:
    document = doc(player(1, "1.0", "   2 w 1"), player(2, "0.0", "   1 b 0"))
    with pytest.raises(Refused, match=problem):
        with_event(document, replace(to_event(document), **changes))


def test_more_points_than_a_column_holds_are_refused() -> None:
    lines = "XXS W=60", player(1, "60.0", "   2 w 1"), player(2, "0.0", "   1 b 0")
    event = to_event(doc(*lines))
    with pytest.raises(Refused, match=r"has 120 points, and a report holds up to 99\.9"):
        with_event(
            doc(*lines),
            replace(
                event, rounds=(*event.rounds, Round(number=2, games=(Game(black=2, white=1, result=Result(0, 120)),)))
            ),
        )


def test_controls_of_a_terminal_are_in_no_name() -> None:
    document = trf.read(b"012 Op\x1ben\n" + player(1, "0.0").replace("Player 1", "A\x9bB\x81C   ").encode("latin-1"))
    assert document.encoding == "latin-1"
    event = to_event(document)
    assert (event.name, event.entrants[0].name) == ("Op en", "A B C")


def test_an_event_can_be_too_long_for_a_report() -> None:
    event = Event(
        system="swiss",
        entrants=(Entrant(id=1, name="A"),),
        rounds=tuple(Round(number=number) for number in range(1, 1001)),
    )
    with pytest.raises(Refused, match="1000 rounds"):
        from_event(event)
