"""Events of the live server in files: what a report can hold comes back byte for byte, and what it cannot is said."""

from __future__ import annotations

import random
import re
from typing import get_args

import pytest
from support.tournaments.live_events import LiveEvent, settings_of

from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import BLACK_WINS, DRAWN, Event
from cgos_server.tournaments.event import begin, end, open_games
from cgos_server.tournaments.files import formats, trf
from cgos_server.tournaments.files.trf_event import to_event
from cgos_server.tournaments.files.trf_writing import Edition, from_event
from cgos_server.tournaments.registry import SYSTEMS
from cgos_server.tournaments.running.state import Phase
from cgos_server.tournaments.tournament import next_round, ready_games, standings

SHORT = ("dutch", "burstein", "monrad", "random", "random2", "tcec-double", "double-round-robin")
NEVER = {"bubble": "moves by matches, not by rounds", "tcec-double": "played several games"}
"""What of a system no report can hold."""


def played(system: str, seed: int) -> Event:
    """An event that went to its end, with everything that happens to one; seed 0 is undisturbed."""
    live = LiveEvent(settings_of(system, seed), random.Random(f"files {system} {seed}"))
    live.start(4 + seed)
    live.run(disturbances=4 * seed)
    assert live.state.phase is Phase.OVER
    return live.state.event


def report(event: Event, edition: Edition) -> bytes | None:
    """A fresh one; None: it cannot hold the event."""
    order = {row.entrant: place for place, row in enumerate(standings(event).rows, 1)}
    try:
        return trf.write(from_event(event, order, edition))
    except Refused as refusal:
        if refusal.sentence.endswith("a tournament report holds one game a round. Write JSON."):
            return None
        raise


def line_of(id_: int, cell: str = "") -> str:
    return f"001 {id_:4d}      {f'Player {id_}':33}{'':34}0.0 {id_:4d}  {cell}".rstrip()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("system", [*SYSTEMS, *SHORT])
def test_a_report_of_a_live_event_is_written_read_and_written_again(system: str, seed: int) -> None:
    event = played(system, seed)
    for edition in get_args(Edition):
        data = report(event, edition)
        if data is None:
            assert system in NEVER or system in ("cup", "double-elimination")
            continue
        assert system not in NEVER
        assert trf.write(trf.read(data)) == data
        again = formats.read("event.trf", data)
        assert report(again.event, edition) == data
        assert formats.check_scores(again) == ()
        assert {one.id: one.name for one in again.event.entrants} == event.names
        assert set(again.event.withdrawn) == set(event.withdrawn)


@pytest.mark.parametrize(("system", "sentence"), NEVER.items())
def test_what_a_report_cannot_hold_is_said(system: str, sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        from_event(played(system, 1))


def test_a_replayed_match_is_what_a_report_cannot_hold() -> None:
    live = LiveEvent(settings_of("cup", 1), random.Random(1))
    live.start(4)
    event = live.state.event
    event = end(event, open_games(event)[0][1].id, DRAWN)
    event = begin(event, ready_games(event)[0])
    with pytest.raises(Refused, match="A match of round 1 was played again after a draw"):
        from_event(event)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("system", [*SYSTEMS, *SHORT])
def test_a_table_of_a_live_event_is_written_read_and_written_again(system: str, seed: int) -> None:
    event = played(system, seed)
    data = formats.fresh(event, "csv")
    again = formats.read("event.csv", data, event.system)
    assert formats.write(again, again.event) == data
    assert {one.id: one.name for one in again.event.entrants} == event.names


@pytest.mark.parametrize("system", [*SYSTEMS, *SHORT])
def test_no_file_names_a_system_of_fide(system: str) -> None:
    event = Event(system=system, entrants=played("swiss", 1).entrants, planned=3)
    for edition in get_args(Edition):
        text = trf.write(from_event(event, edition=edition)).decode()
        assert not re.search(r"^[^#].*(FIDE_|FIDE(?!\)))", text, re.MULTILINE), text
        for line in text.splitlines():
            if re.match(r"[0-9]{3} ", line) and re.search("dutch|burstein", line, re.IGNORECASE):
                assert line.endswith("(no system of FIDE)"), line
    for format_ in ("csv", "json"):
        assert b"FIDE" not in formats.fresh(event, format_)


def test_a_file_of_fides_dutch_is_not_called_so_any_more_once_a_round_was_paired_here() -> None:
    lines = [
        "012 Open",
        "092 Individual: Swiss-System (Dutch)",
        "192 FIDE_DUTCH_2025",
        "142 5",
        *(
            f"001 {id_:4d}      {'Player ' + str(id_):33}                                  0.0 {id_:4d}"
            for id_ in range(1, 5)
        ),
    ]
    data = "\r\n".join([*lines, ""]).encode()
    file = formats.read("event.trf", data)
    assert formats.write(file, file.event) == data
    paired = formats.write(file, begin(file.event, next_round(file.event))).decode()
    assert "192 CUSTOM_SWISS" in paired
    assert "092 MWM dutch (no system of FIDE)" in paired
    assert "FIDE_DUTCH" not in paired
    assert formats.read("event.trf", paired.encode()).event.system == "dutch"


def test_results_alone_leave_the_name_that_the_file_gives() -> None:
    lines = ["192 FIDE_DUTCH_2025", line_of(1, "   2 w"), line_of(2, "   1 b")]
    file = formats.read("event.trf", "\r\n".join([*lines, ""]).encode())
    after = end(file.event, open_games(file.event)[0][1].id, BLACK_WINS)
    assert b"192 FIDE_DUTCH_2025" in formats.write(file, after)
    assert to_event(trf.read(formats.write(file, after))).rounds[0].games[0].result == BLACK_WINS
