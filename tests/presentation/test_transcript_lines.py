"""Transcripts as people read them: times between lines, and whose clock ran."""

from __future__ import annotations

from cgos_server.observability.transcript_files import TranscriptLine
from cgos_server.presentation.transcript_lines import as_text, timed

SAID = [
    (">", "genmove b 300000", 0),
    ("<", "info of no kind", 400_000),
    ("<", "D4", 1_000_000),
    (">", "play w E5 290000", 3_500_000),
    ("<", "a word out of turn", 3_600_000),
    (">", '{"type":"turn","game":7,"ply":3}', 4_000_000),
    ("<", '{"type":"move","game":7}', 64_000_000),
    (">", '{"type":"moved","game":7,"ply":4,"move":"C3","your_turn":true}', 65_000_000),
    ("<", '{"type":"move","game":7}', 67_000_000),
    (">", '{"type":"moved","game":8,"ply":4,"move":"C3","your_turn":false}', 68_000_000),
    ("<", '{"type":"resume"}', 69_000_000),
]
LINES = [
    TranscriptLine(at=1_800_000_000_000_000 + at, name="Bot", connection=1, way=way, text=text)
    for way, text, at in SAID
]


def test_the_clock_runs_from_the_question_to_the_servers_next_word() -> None:
    assert [line.clock for line in timed(LINES)] == [
        *(False, True, True, False, False, False, True),
        *(False, True, False, False),
    ]


def test_times_are_those_since_the_line_before() -> None:
    assert [line.since for line in timed(LINES)] == [
        "",
        "0.400",
        "0.600",
        "2.500",
        "0.100",
        "0.400",
        "60.000",
        "1.000",
        "2.000",
        "1.000",
        "1.000",
    ]
    assert timed(LINES)[0].at == "08:00:00.000"
    assert timed([]) == []


def test_a_file_has_one_line_for_each() -> None:
    lines = as_text(LINES).splitlines()
    assert lines[0] == "08:00:00.000     0.000 > genmove b 300000"
    assert lines[2] == "08:00:01.000     0.600 < D4"
    assert len(lines) == len(LINES)
