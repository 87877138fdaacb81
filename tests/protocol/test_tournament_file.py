from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from support.tournaments import by_lot, entrants, play

from cgos_server.core.tournaments.base import Entrant, Event, Game, Round
from cgos_server.core.tournaments.tournament import to_json
from cgos_server.errors import Refused
from cgos_server.protocol import tournament_file
from cgos_server.protocol.tournament_file import FORMATS, Format

SAMPLES = sorted((Path(__file__).parent.parent / "transcripts" / "trf").glob("*.trf"))


@pytest.fixture(scope="module")
def played() -> Event:
    """Three rounds of seven entrants, with their reasons."""
    return play(Event("swiss", entrants([2000.0 - 10 * at for at in range(7)]), name="Open", seed=3), by_lot(1), 3)


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
    ],
)
def test_formats_are_told_apart(name: str, data: bytes, format_: Format) -> None:
    assert tournament_file.sniff(name, data) == format_


@pytest.mark.parametrize("format_", FORMATS)
def test_an_event_that_was_played_goes_through_every_format(played: Event, format_: Format) -> None:
    data = tournament_file.fresh(played, format_)
    file = tournament_file.read("-", data)
    assert file.format == format_
    assert tournament_file.check_scores(file) == ()
    assert tournament_file.write(file, file.event) == data
    assert [{game.pair for game in each.games} for each in file.event.rounds] == [
        {game.pair for game in each.games} for each in played.rounds
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
    event = Event("epm", (Entrant(1, "A"),), options={"depth": 2})
    for format_ in ("trf", "json"):
        data = tournament_file.fresh(event, format_) if format_ == "json" else _report(event)
        said, asked = tournament_file.read("-", data), tournament_file.read("-", data, "swiss")
        assert (said.event.system, said.event.options, said.names_system) == ("epm", {"depth": 2}, True)
        assert (asked.event.system, asked.event.options) == ("swiss", {})
    table = tournament_file.read("-", b"name\nA\n")
    assert (table.event.system, table.names_system) == ("dutch", False)
    assert tournament_file.read("-", b"name\nA\n", "swiss").event.system == "swiss"


def _report(event: Event) -> bytes:
    data = tournament_file.fresh(replace(event, system="swiss", options={}), "trf")
    return data.replace(b'{"system":"swiss"}', b'{"system":"epm","options":{"depth":2}}')


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.json", to_json(Event("swiss", (Entrant(1, "A"),), rounds=(Round(1, (Game(1, 2),)),)))),
        ("a.json", to_json(Event("swiss", (Entrant(1, "A"), Entrant(1, "B"))))),
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
