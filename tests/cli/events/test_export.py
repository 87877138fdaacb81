"""`cgos-server event export`: files by their endings or by --format, and what they do not hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.storage.storage_sample import put
from support.tournaments.held_events import HeldEvent

from cgos_protocol.api.events import EventExport
from cgos_server.presentation.events.files import entries_of
from cgos_server.tournaments.running.settings import EventSettings
from cgos_server.tournaments.running.state import fold


@pytest.fixture
def held(data: Path) -> HeldEvent:
    held = HeldEvent(EventSettings(name="Open", venue="9x9", system="dutch", rounds=2))
    held.start(["Alpha", "Beta", "Gamma"])
    held.play_out()
    bubble = HeldEvent(EventSettings(name="Bubble", venue="9x9", system="bubble"))
    bubble.start(["Alpha", "Beta", "Gamma"])
    bubble.play_out()
    put(data / "cgos.sqlite", [*held.records(1, games=False), *bubble.records(2, games=False)])
    return held


def test_json_goes_to_standard_output_and_folds_again(run: Any, held: HeldEvent) -> None:
    export = msgspec.json.decode(run("event", "export", "Open").stdout, type=EventExport)
    assert fold(entries_of(export)) == held.state
    assert [line.sentence for line in export.log]


def test_a_file_is_of_the_format_that_its_ending_says(run: Any, held: HeldEvent, tmp_path: Path) -> None:
    for name, begins in (("a.json", b'{"export":1'), ("a.trf", b"012 Open"), ("a.csv", b"id,"), ("a.txt", b"Open\n")):
        said = run("event", "export", "Open", str(tmp_path / name))
        assert (tmp_path / name).read_bytes().startswith(begins), name
        assert "Written to" in said.stderr
        assert ("does not hold" in said.stderr) == (name != "a.json")
    shown = run("tournament", "standings", str(tmp_path / "a.json"), where=None)
    assert "Alpha" in shown.stdout
    assert "The file is an event of a server." in shown.stderr


def test_trf_2026_has_its_own_lines_alone(run: Any, held: HeldEvent) -> None:
    lines = run("event", "export", "Open", "--format", "trf-2026").stdout.splitlines()
    assert "192 CUSTOM_SWISS" in lines
    assert not any(line.startswith(("XXR", "XXS", "XXZ", "XXP")) for line in lines)


def test_what_cannot_be_is_refused_and_nothing_is_written(run: Any, held: HeldEvent, tmp_path: Path) -> None:
    target = tmp_path / "bubble.trf"
    assert "The bubble moves by matches, not by rounds" in run("event", "export", "Bubble", str(target), fails=1).stderr
    assert "says no format" in run("event", "export", "Open", str(tmp_path / "open.pdf"), fails=1).stderr
    assert "There is no event Nowhere" in run("event", "export", "Nowhere", fails=1).stderr
    assert not target.exists()
