"""Events as files: JSON that has everything and is read back, reports where they can hold an event, tables, text."""

from __future__ import annotations

import random
from typing import get_args

import msgspec
import pytest
from support.tournaments.live_events import LiveEvent, settings_of

from cgos_protocol.api.events import EventExport
from cgos_protocol.errors import Refused
from cgos_server.presentation.events.files import FileWord, entries_of, file_of, losses
from cgos_server.presentation.events.record import EventRecord
from cgos_server.tournaments.files import formats
from cgos_server.tournaments.registry import SYSTEMS
from cgos_server.tournaments.running.state import fold


def played(system: str, disturbances: int = 12) -> LiveEvent:
    live = LiveEvent(settings_of(system, 2), random.Random(f"export {system}"))
    live.start(6)
    live.run(disturbances)
    return live


def record_of(live: LiveEvent) -> EventRecord:
    record = EventRecord(1, live.entries[0])
    for entry in live.entries[1:]:
        record.add(entry)
    return record


@pytest.mark.parametrize("system", [*SYSTEMS, "dutch", "tcec-double"])
def test_json_has_everything_and_its_log_folds_to_the_same_event(system: str) -> None:
    live = played(system)
    data = file_of(record_of(live), "json")
    export = msgspec.json.decode(data, type=EventExport)
    assert entries_of(export) == live.entries
    assert fold(entries_of(export)) == live.state
    assert export.announced["system"] == live.state.settings.system
    assert {game.number: game.game for game in export.games} == {
        game.id: live.state.played_as.get(game.id) for _, game in live.state.event.games
    }
    assert losses(record_of(live), "json") == ()


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_commands_on_files_read_it(system: str) -> None:
    live = played(system)
    data = file_of(record_of(live), "json")
    file = formats.read("event.json", data)
    assert file.event == live.state.event
    assert file.remarks == (
        "The file is an event of a server. Only its record is used here: what is changed is written without its log.",
    )
    assert formats.write(file, file.event) == data
    changed = msgspec.structs.replace(file.event, name="Another")
    assert formats.read("event.json", formats.write(file, changed)).event == changed


def test_a_broken_record_in_it_is_refused_with_a_sentence() -> None:
    for text in (
        b'{"export": 1, "record": {"system": 4}}',
        b'{"export": 1, "record": 1}',
        b'{"export": 1}',
        b'{"export',
    ):
        with pytest.raises(Refused, match=r"\.$"):
            formats.read("event.json", text)


def test_text_has_standings_and_crosstable() -> None:
    live = played("swiss")
    text = file_of(record_of(live), "text").decode()
    assert text.startswith("E\n")
    for seat in live.state.seats.values():
        assert text.count(seat.name) >= 2
    assert "buchholz" in text
    assert losses(record_of(live), "text") == ("The file does not hold the log of the event: it is in JSON alone.",)


def test_what_a_report_cannot_hold_is_refused() -> None:
    with pytest.raises(Refused, match="The bubble moves by matches"):
        file_of(record_of(played("bubble")), "trf16")
    with pytest.raises(Refused, match="played several games"):
        file_of(record_of(played("tcec-double")), "trf-2026")


@pytest.mark.parametrize("system", ["dutch", "burstein"])
def test_neither_edition_names_a_system_of_fide(system: str) -> None:
    record = record_of(played(system))
    for word in ("trf16", "trf-2026"):
        assert b"FIDE_" not in file_of(record, word)
        assert f"092 MWM {system} (no system of FIDE)\r\n".encode() in file_of(record, word)
        assert "The file does not hold why rounds and games are as they are." in losses(record, word)


@pytest.mark.parametrize("word", [word for word in get_args(FileWord) if word != "json"])
def test_before_the_start_there_is_json_alone(word: FileWord) -> None:
    live = LiveEvent(settings_of("swiss", 2), random.Random(2))
    with pytest.raises(Refused, match="has not started"):
        file_of(record_of(live), word)
    assert msgspec.json.decode(file_of(record_of(live), "json"), type=EventExport).games == []
