"""OpenGotha's XML: five players and two of three rounds, their scores and sums counted by hand as it counts them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.errors import Refused
from cgos_protocol.lines.misread import Misread
from cgos_server.tournaments import tournament as pure
from cgos_server.tournaments.base import Bye, Entrant, Event, Game, Request, Result
from cgos_server.tournaments.files import formats as tournament_file
from cgos_server.tournaments.files import opengotha_xml
from cgos_server.tournaments.files.formats import TournamentFile

PLAYERS = (
    ("Alder", "A.", "1D", "111"),
    ("Birch", "B.", "1K", "111"),
    ("Cédar", "C.", "2K", "111"),
    ("Elm", "E.", "12K", "110"),
    ("Fir", "F.", "25K", "101"),
)
GAMES = (
    (1, 1, "ALDERA.", "BIRCHB.", 0, "WHITEWINS"),
    (1, 2, "CÉDARC.", "ELME.", 9, "BLACKWINS"),
    (2, 1, "ALDERA.", "CÉDARC.", 0, "BLACKWINS"),
    (2, 2, "BIRCHB.", "ELME.", 9, "WHITEWINS_BYDEF"),
)


def xml(general: str = "", criteria: tuple[str, ...] = ("MMS", "SOSM", "SOSOSM", "SODOSM"), more: str = "") -> bytes:
    players = "".join(
        f'<Player name="{name}" firstName="{first}" rank="{rank}" rating="1500" country="FR" club="75Ju" '
        f'participating="{there}"/>'
        for name, first, rank, there in PLAYERS
    )
    games = "".join(
        f'<Game roundNumber="{number}" tableNumber="{table}" whitePlayer="{white}" blackPlayer="{black}" '
        f'handicap="{stones}" result="RESULT_{result}"/>'
        for number, table, white, black, stones, result in GAMES
    )
    order = "".join(f'<PlacementCriterion number="{at}" name="{name}"/>' for at, name in enumerate(criteria, 1))
    return f"""<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<Tournament dataVersion="201">
<Players>{players}</Players>
<Games>{games}</Games>
<ByePlayers><ByePlayer player="FIRF." roundNumber="1"/></ByePlayers>
<TournamentParameterSet>
<GeneralParameterSet name="Open" numberOfRounds="3" genMMZero="30K" genMMFloor="20K" genMMBar="4D"
 genMMS2ValueAbsent="1" genMMS2ValueBye="2" genNBW2ValueAbsent="0" genNBW2ValueBye="2" {general}/>
<PlacementParameterSet><PlacementCriteria>{order}</PlacementCriteria></PlacementParameterSet>
{more}</TournamentParameterSet>
<TeamTournamentParameterSet><TeamPlacementParameterSet>
<PlacementCriteria><PlacementCriterion number="1" name="TEAMP"/></PlacementCriteria>
</TeamPlacementParameterSet></TeamTournamentParameterSet>
</Tournament>
""".encode()


def read(data: bytes) -> TournamentFile:
    return tournament_file.read("a.xml", data)


def values(event: Event) -> dict[str, tuple[float | None, ...]]:
    return {row.name[:5].strip(): row.values for row in pure.standings(event).rows}


def test_a_mcmahon_event_has_the_scores_and_sums_of_opengotha() -> None:
    file = read(xml())
    event = file.event
    assert (event.system, event.name, event.planned, file.names_system) == ("weighted", "Open", 3, True)
    assert event.entrants[2] == Entrant(
        id=3, name="Cédar C.", rating=1500.0, start=56, grade="2k", country="FR", club="75Ju"
    )
    assert event.rounds[1].games[1] == Game(black=4, white=2, result=Result(0, 2, "forfeit"), handicap=9, id=4)
    assert event.rounds[0].byes == (Bye(5, 2),)
    assert event.rounds[1].byes == (Bye(5, 0, requested=True),)  # half a point, rounded down with the bye's
    assert event.requests == (Request(5, 2, 0), Request(4, 3, 0))
    assert event.tie_breakers == ("mms", "sosm", "sososm", "sodosm")
    assert values(event) == {
        "Alder": (31, 59, 118, 30),
        "Birch": (30, 59, 100, 28),
        "Cédar": (29, 59, 100, 31),
        "Elm E": (19, 41, 118, 20),
        "Fir F": (11, 20, 40, 0),
    }
    assert pure.next_round(event).number == 3


def test_games_that_were_not_played_may_count_as_half_points() -> None:
    event = read(xml('genCountNotPlayedGamesAsHalfPoint="true"', ("MMS", "SOSM", "SOSM-1"))).event
    assert event.tie_breakers == ("mms", "sosm-half", "sosm-1-half")
    sums = {name: row[1:] for name, row in values(event).items()}
    assert sums == {
        "Alder": (58.5, 29.5),
        "Birch": (59.5, 31),
        "Cédar": (59.5, 31),
        "Elm E": (40.5, 20.5),
        "Fir F": (20, 10),
    }


def test_absences_that_are_not_rounded_down_give_their_halves() -> None:
    event = read(xml('genRoundDownNBWMMS="false"', ("MMS",))).event
    assert event.rounds[1].byes == (Bye(5, 1, requested=True),)
    assert values(event)["Fir F"] == (11.5,)


def test_a_swiss_event_starts_with_nothing() -> None:
    event = read(xml("", ("NBW", "SOSW", "SOSOSW", "SODOSW"))).event
    assert {entrant.start for entrant in event.entrants} == {0}
    assert values(event) == {
        "Alder": (1, 2, 4, 1),
        "Birch": (1, 2, 4, 1),
        "Cédar": (1, 2, 4, 1),
        "Elm E": (1, 2, 4, 1),
        "Fir F": (1, 0, 0, 0),
    }


def test_parameters_become_options_and_the_rest_is_named() -> None:
    more = (
        '<HandicapParameterSet hdBasedOnMMS="true" hdCeiling="5" hdCorrection="2" hdNoHdRankThreshold="1K"/>'
        '<PairingParameterSet paiMaSeedSystem2="SPLITANDSLIP" paiMaDUDDUpperMode="BOT" '
        'paiMaLastRoundForSeedSystem1="2" paiSeAvoidSameGeo="100000000000" paiBaRandom="0"/>'
    )
    file = read(xml("", ("MMS", "SOSM", "DC", "NULL"), more))
    assert file.event.options == {
        "absences": "none",
        "handicap": True,
        "reduction": 2,
        "floor": "30k",
        "bar": "1k",
        "method": "translation",
        "from_above": "bottom",
        "from_below": "middle",
    }
    remarks = " ".join(file.remarks)
    assert "no effect here: DC." in remarks
    assert "countries and clubs kept apart" in remarks
    assert "The ceiling of handicaps" in remarks
    assert "chance" not in remarks
    assert file.event.tie_breakers == ("mms", "sosm")


def test_pairgoth_wraps_byes_otherwise() -> None:
    data = xml().replace(b"ByePlayers>", b"ByePlayer>").replace(b'"FIRF."', b'"FirF."')
    assert read(data).event == read(xml()).event
    empty = xml().replace(
        b'<ByePlayers><ByePlayer player="FIRF." roundNumber="1"/></ByePlayers>', b"<ByePlayer>\n</ByePlayer>"
    )
    assert read(empty).event.rounds[0].byes == ()


def test_pairgoth_spells_a_game_that_both_lose_otherwise() -> None:
    lost = xml().replace(b'RESULT_WHITEWINS"', b'RESULT_BOTHLOSE"')
    assert read(lost.replace(b"BOTHLOSE", b"BOTHLOOSE")).event == read(lost).event
    assert read(lost).event.rounds[0].games[0].result == Result(0, 0)


def test_another_system_may_be_asked_for() -> None:
    event = tournament_file.read("a.xml", xml(), "mcmahon").event
    assert (event.system, event.options) == ("mcmahon", {})


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("<Tournament ", '<!DOCTYPE t [<!ENTITY a "b">]><Tournament ', "declares a document type"),
        ("Tournament", "Other", "XML of another kind \\(<Other>\\)"),
        ("</Players>", "", "this is no XML: mismatched tag"),
        ("ELME.", "OAKO.", "there is no player 'OAKO.'"),
        ('name="Birch" firstName="B."', 'name="Alder" firstName="A."', "there is a second 'Alder A.'"),
        ('roundNumber="2" tableNumber="1"', 'roundNumber="1" tableNumber="1"', "is in another game of round 1"),
        ("RESULT_BLACKWINS", "RESULT_LOST", "'LOST' is no result"),
        ('rank="2K"', 'rank="2X"', "rank is '2X', which is no grade"),
        ('numberOfRounds="3"', 'numberOfRounds="999"', "numberOfRounds is '999'"),
        ('encoding="UTF-8"', 'encoding="klingon"', "this is no XML"),
    ],
)
def test_files_that_cannot_be_are_refused_with_their_place(old: str, new: str, says: str) -> None:
    changed = xml().decode().replace(old, new).encode()
    with pytest.raises(Misread, match=says) as refused:
        read(changed)
    assert refused.value.line >= 1


@pytest.mark.parametrize(
    "data",
    [
        b"<a>" * 20 + b"</a>" * 20,
        b"<Tournament>" + b"<a/>" * (opengotha_xml.MOST_ELEMENTS + 1) + b"</Tournament>",
        b"<Tournament>" + b" " * opengotha_xml.MOST_BYTES + b"</Tournament>",
    ],
)
@pytest.mark.timeout(20)
def test_files_have_limits(data: bytes) -> None:
    with pytest.raises(Misread, match="more than"):
        read(data)


def test_it_is_read_but_not_written() -> None:
    file = read(xml())
    with pytest.raises(Refused, match="read, not written"):
        tournament_file.fresh(file.event, "xml")
    assert tournament_file.write(file, file.event) == xml()
    begun = pure.from_json(pure.to_json(file.event))
    assert begun == file.event  # JSON holds everything


@given(st.data())
def test_files_with_some_bytes_changed_are_read_or_refused(data: st.DataObject) -> None:
    changed = bytearray(xml())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(changed) - 1))
        changed[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    sentence = "read."
    try:
        read(bytes(changed))
    except Refused as refused:
        sentence = refused.sentence
    assert sentence.endswith(".")
