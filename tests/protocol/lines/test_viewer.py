"""What viewers are told, held against a double of the Tk viewer and, where there is one, a real Tcl."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.protocol.tcl import ClientStops
from support.protocol.viewers import TkViewer

from cgos_protocol.facts import BotArrived, GameEnded, GameStarted, RatingChanged
from cgos_protocol.games.base import Color
from cgos_protocol.lines.viewer import CgosViewer, Ignored, MatchLines, Observe, Quit
from cgos_protocol.session import GameOver, GameSetup, ListedGame, ShownGame, Turn
from cgos_protocol.verdict import Reason, Verdict, by_score

AT = 1_700_000_000.0  # 2023-11-14 22:13:20 UTC
BLACK, WHITE = Color.BLACK, Color.WHITE

VERDICTS = (
    by_score(7),
    by_score(-14),
    by_score(0),
    Verdict(WHITE, Reason.RESIGNATION),
    Verdict(BLACK, Reason.TIME),
    Verdict(BLACK, Reason.ILLEGAL),
    Verdict(WHITE, Reason.FORFEIT),
    Verdict(None, Reason.FORFEIT),
    Verdict(None, Reason.VOID),
    Verdict(None, Reason.ABORT),
)
"""One of every kind."""


def listed(game: int, result: str | None = None, black: str = "Alpha", white: str = "Beta") -> ListedGame:
    return ListedGame(game, AT, 9, 14, black, "1800?", white, "1750", result)


def over(verdict: Verdict, plies: int = 2) -> GameOver:
    return GameOver("2023-11-14", verdict.text, verdict.winner, verdict.reason.value, verdict.detail, plies)


def shown(game: int, moves: int = 2, verdict: Verdict | None = None) -> ShownGame:
    played = (("D4", 59_000), ("E5", 58_000), ("PASS", 57_000), ("PASS", 56_000))[:moves]
    setup = GameSetup(
        game, 9, 14, 60_000, "Alpha", "1800?", "Beta", "1750", played,
        (59_000 if moves else 60_000, 58_000 if moves > 1 else 60_000),
    )  # fmt: skip
    return ShownGame(setup, AT, None if verdict is None else over(verdict, moves))


def turn(ply: int, move: str, left: int = 50_000) -> Turn:
    return Turn(
        ply=ply, color=WHITE if ply % 2 == 0 else BLACK, move=move, left_ms=left, other_left_ms=60_000, at=0, on=False
    )


def started(game: int, venue: str = "9x9") -> GameStarted:
    return GameStarted(
        venue=venue, game=game, black="Alpha", white="Beta", at=AT, black_label="1800?", white_label="1750"
    )


@pytest.fixture
def viewer() -> CgosViewer:
    return CgosViewer(9, 14, MatchLines())


@pytest.fixture
def tk() -> TkViewer:
    return TkViewer()


# -- what it hears


@pytest.mark.parametrize("line", [b"observe 17", b" observe   17 \r\n", b"OBSERVE 17"])
def test_a_game_can_be_asked_for(viewer: CgosViewer, line: bytes) -> None:
    assert viewer.receive(line) == Observe(17)


@pytest.mark.parametrize(
    "line",
    [
        b"", b"observe", b"observe x", b"observe -1", b"observe 1 2", b"observe 1.0", b"observe 9223372036854775808",
        b"observe 99999999999999999999", "observe ٣".encode(), b"observe\x0017", b"unobserve 17", b"ready", b"\xff",
        b"quit now", b"match a b",
    ],
)  # fmt: skip
def test_everything_else_is_ignored(viewer: CgosViewer, line: bytes) -> None:
    assert viewer.receive(line) == Ignored()


def test_quit(viewer: CgosViewer) -> None:
    assert viewer.receive(b"quit\r\n") == Quit()


@given(line=st.binary(max_size=60) | st.from_regex(rb"observe\s+\w+", fullmatch=True))
def test_any_line_is_an_event(line: bytes) -> None:
    assert isinstance(CgosViewer(9, 14, MatchLines()).receive(line), Observe | Quit | Ignored)


# -- the list


def test_the_list(viewer: CgosViewer, tk: TkViewer) -> None:
    data = viewer.listed([listed(1, "B+3.5"), listed(2, "Draw"), listed(3)], 0)
    assert data.decode().splitlines() == [
        "match 1 2023-11-14 22:13 9 7.0 Beta(1750) Alpha(1800?) B+3.5",
        "match 2 2023-11-14 22:13 9 7.0 Beta(1750) Alpha(1800?) Draw",
        "match 3 - - 9 7.0 Beta(1750) Alpha(1800?) -",
    ]
    tk.hear(data)
    assert tk.listed == {"1": "B+3.5", "2": "Draw", "3": "-"}


def test_an_empty_venue_is_told_in_words_and_not_by_a_blank_line(viewer: CgosViewer, tk: TkViewer) -> None:
    assert viewer.listed([], 0) == b"info No game was played here yet.\n"


def test_games_that_begin_and_end(viewer: CgosViewer, tk: TkViewer) -> None:
    data = viewer.facts(
        [
            started(4),
            BotArrived("9x9", "Gamma"),
            RatingChanged(venue="9x9", seq=1, version="Alpha", before=1800.0, after=1810.0),
            GameEnded(
                venue="9x9",
                game=4,
                result="W+Resign",
                reason="resignation",
                at=AT,
                black_used_ms=4_000,
                white_used_ms=9_000,
            ),
        ]
    )
    assert data == b"match 4 - - 9 7.0 Beta(1750) Alpha(1800?) -\ngameover 4 W+Resign 9000 4000\n"
    tk.hear(data)


def test_a_gameover_only_for_games_that_were_announced_and_once(viewer: CgosViewer, tk: TkViewer) -> None:
    viewer.listed([listed(1, "B+3.5"), listed(2)], 0)
    ended = [GameEnded(venue="9x9", game=game, result="B+Time", reason="time", at=AT) for game in (1, 2, 2, 3)]
    assert viewer.facts(ended) == b"gameover 2 B+Time 0 0\n"


def test_what_a_slow_viewer_missed_is_made_up_for(viewer: CgosViewer, tk: TkViewer) -> None:
    tk.hear(viewer.listed([listed(1, "B+3.5"), listed(2), listed(3), listed(4)], 0))
    data = viewer.listed([listed(1, "B+3.5"), listed(3, "Void"), listed(5, "W+Time"), listed(4), listed(6)], 7)
    assert tk.hear(data) == [
        "info You read too slowly: 7 events were skipped. The list goes on as it is now.",
        "gameover 2 ? 0 0",
        "gameover 3 Void 0 0",
        "match 5 2023-11-14 22:13 9 7.0 Beta(1750) Alpha(1800?) W+Time",
        "match 6 - - 9 7.0 Beta(1750) Alpha(1800?) -",
    ]
    assert tk.hear(viewer.facts([GameEnded(venue="9x9", game=4, result="B+1.0", reason="score", at=AT)])) == [
        "gameover 4 B+1.0 0 0"
    ]
    assert viewer.facts([GameEnded(venue="9x9", game=2, result="B+1.0", reason="score", at=AT)]) == b""


# -- one game


def test_a_running_game_to_its_end(viewer: CgosViewer, tk: TkViewer) -> None:
    data = viewer.shown(3, shown(3), 0)
    assert data == b"setup 3 - - 9 7.0 Beta(1750) Alpha(1800?) 60000 D4 59000 E5 58000\n"
    tk.hear(data)
    tk.hear(viewer.moved(3, [turn(3, "C3", 51_000), turn(4, "D3", 52_000)]))
    data = viewer.ended(3, over(Verdict(WHITE, Reason.RESIGNATION)))
    assert data == b"update 3 resign 51000\nupdate 3 W+Resign\n"
    tk.hear(data)
    assert tk.boards == {"3": ["D4", "E5", "C3", "D3"]}
    assert tk.shown == {"3": "W+Resign"}


def test_an_archived_game(viewer: CgosViewer, tk: TkViewer) -> None:
    data = viewer.shown(3, shown(3, 4, by_score(0)), 0)
    assert data == (
        b"setup 3 2023-11-14 22:13 9 7.0 Beta(1750) Alpha(1800?) 60000 D4 59000 E5 58000 PASS 57000 PASS 56000 0+Draw\n"
    )
    tk.hear(data)
    assert tk.shown == {"3": "0+Draw"}


def test_a_game_that_is_none(viewer: CgosViewer) -> None:
    assert viewer.shown(3, None, 0) == b"setup 3 ?\n"


def test_a_game_is_set_up_once_and_then_only_what_is_new(viewer: CgosViewer, tk: TkViewer) -> None:
    """After it was passed over; a second `setup` would be a second board of one name."""
    tk.hear(viewer.shown(3, shown(3, 0), 0))
    tk.hear(viewer.shown(3, shown(3, 2), 0))
    assert tk.hear(viewer.shown(3, shown(3, 4, by_score(7)), 2)) == [
        "update 3 PASS 57000",
        "update 3 PASS 56000",
        "update 3 B+3.5",
    ]
    assert tk.boards == {"3": ["D4", "E5", "PASS", "PASS"]}


def test_whoever_asks_again_gets_the_whole_game_again(viewer: CgosViewer) -> None:
    viewer.shown(3, shown(3), 0)
    viewer.receive(b"observe 3")
    assert viewer.shown(3, shown(3), 0).startswith(b"setup 3 - - ")


@pytest.mark.parametrize("verdict", VERDICTS, ids=lambda verdict: f"{verdict.reason} {verdict.text}")
def test_every_ending_is_told_from_a_move_by_its_second_character(verdict: Verdict) -> None:
    for message in ("update", "setup"):
        viewer, tk = CgosViewer(9, 14, MatchLines()), TkViewer()
        tk.hear(viewer.facts([started(3)]))
        if message == "update":
            tk.hear(viewer.shown(3, shown(3), 0))
            tk.hear(viewer.ended(3, over(verdict)))
        else:
            tk.hear(viewer.shown(3, shown(3, 2, verdict), 0))
        tk.hear(viewer.facts([GameEnded(venue="9x9", game=3, result=verdict.text, reason=verdict.reason.value, at=AT)]))
        assert tk.shown["3"][1] == "+"
        assert tk.shown["3"][0] == {BLACK: "B", WHITE: "W", None: "0"}[verdict.winner]
        assert tk.listed["3"] == verdict.text


def test_the_double_refuses_what_kills_the_viewer() -> None:
    for lines in (
        b"\n",
        b"gameover 1 B+1.0 0 0\n",
        b"match 1 - - 9 7.0 {a(1) b(2) -\n",
        b"hello\n",
        b"update 1 D4 5\n",
    ):
        with pytest.raises(ClientStops):
            TkViewer().hear(lines)
    tk = TkViewer()
    tk.hear(b"setup 1 - - 9 7.0 a(1) b(2) 60000\n")
    for line in (b"update 1 Draw\n", b"update 1 Draw 5\n", b"update 1 Z9 5\n", b"setup 1 - - 9 7.0 a(1) b(2) 60000\n"):
        with pytest.raises(ClientStops):
            tk.hear(line)


# -- whatever happens

_NAMES = st.text(min_size=1, max_size=8) | st.sampled_from(["Alpha", "a{b", "x\ny", "", "[exit]", "pä", '"', "a b"])


@st.composite
def _stories(draw: st.DrawFn) -> list[Any]:
    """What a gallery may tell, in an order in which it may."""
    steps: list[Any] = [("listed", draw(st.integers(0, 4)), 0)]
    running: set[int] = set(range(1, steps[0][1] + 1))
    watched: dict[int, int] = {}
    number = 10
    for _ in range(draw(st.integers(0, 25))):
        match draw(st.sampled_from(["start", "end", "show", "move", "skip", "archive", "none", "info"])):
            case "start":
                number += 1
                running.add(number)
                steps.append(("started", number, draw(_NAMES)))
            case "end" if running:
                game = draw(st.sampled_from(sorted(running)))
                running.discard(game)
                verdict = draw(st.sampled_from(VERDICTS))
                if game in watched:
                    del watched[game]
                    steps.append(("over", game, verdict))
                steps.append(("ended", game, verdict))
            case "show" if running:
                game = draw(st.sampled_from(sorted(running)))
                steps.append(("show", game, watched.get(game, 0), game in watched))
                watched.setdefault(game, 2)
            case "move" if watched:
                game = draw(st.sampled_from(sorted(watched)))
                watched[game] += 1
                steps.append(("move", game, watched[game]))
            case "skip":
                steps.append(("skip", sorted(running), draw(st.integers(1, 99))))
            case "archive":
                steps.append(("archive", 1000 + number, draw(st.sampled_from(VERDICTS))))
                number += 1
            case "none":
                steps.append(("none", 7777))
            case "info":
                steps.append(("info", draw(st.text(max_size=20))))
    return steps


@given(story=_stories())
def test_no_story_stops_a_viewer(story: list[Any]) -> None:
    viewer, tk = CgosViewer(9, 14, MatchLines()), TkViewer()
    for step in story:
        match step:
            case "listed", count, _:
                data = viewer.listed([listed(game) for game in range(1, count + 1)], 0)
                assert data
            case "started", game, name:
                data = viewer.facts(
                    [
                        GameStarted(
                            venue="9x9", game=game, black=name, white="Beta", at=AT, black_label=name, white_label="?"
                        )
                    ]
                )
            case "ended", game, verdict:
                data = viewer.facts(
                    [
                        GameEnded(
                            venue="9x9",
                            game=game,
                            result=verdict.text,
                            reason=verdict.reason.value,
                            at=AT,
                            black_used_ms=-5,
                            white_used_ms=5,
                        )
                    ]
                )
            case "over", game, verdict:
                data = viewer.ended(game, over(verdict))
            case "show", game, since, _:
                data = viewer.shown(game, shown(game, 2 if not since else min(since, 4)), since)
            case "move", game, ply:
                data = viewer.moved(game, [turn(ply, "D5", -3)])
            case "skip", running, missed:
                data = viewer.listed([listed(game) for game in running], missed)
            case "archive", game, verdict:
                data = viewer.shown(game, shown(game, 4, verdict), 0)
            case "none", game:
                data = viewer.shown(game, None, 0)
            case "info", text:
                data = viewer.info(text)
        tk.hear(data)


# -- a real Tcl

_TCL = r"""
# Reads the server's lines as a viewer does; stops with an error where one would.
while {[gets stdin line] >= 0} {
    if {[string trim $line] eq ""} { error "blank line" }
    set word [lindex [split $line] 0]
    switch -- $word {
        match {
            lassign $line word game day hour size komi white black result
            if {![info exists games($game)]} { set games($game) $result }
        }
        gameover {
            lassign $line word game result white black
            set before $games($game)
            set games($game) [list $result [expr {$white + $black}]]
        }
        setup {
            set rest [lassign $line word game day hour size komi white black level]
            if {$day eq "?"} continue
            incr size 0
            set moves($game) {}
            foreach {move left} $rest {
                if {[string index $move 1] eq "+"} { set results($game) $move } else { lappend moves($game) $move }
            }
        }
        update {
            lassign $line word game move left
            if {$move eq "resign"} continue
            if {[string index $move 1] eq "+"} { set results($game) $move } else { lappend moves($game) $move }
        }
    }
}
foreach game [lsort [array names results]] {
    foreach move $moves($game) {
        if {![regexp {^([A-HJ-T][0-9]+|PASS)$} $move]} { error "no move: $move" }
    }
    puts "$game $results($game) [llength $moves($game)]"
}
"""


@pytest.mark.skipif(shutil.which("tclsh") is None, reason="there is no tclsh here")
def test_a_real_tcl_reads_every_ending(tmp_path: Path) -> None:
    viewer = CgosViewer(9, 14, MatchLines())
    data = viewer.listed([listed(900 + n, verdict.text) for n, verdict in enumerate(VERDICTS)], 0)
    expected = []
    for number, verdict in enumerate(VERDICTS, 10):
        data += viewer.facts([started(number)])
        data += viewer.shown(number, shown(number), 0)
        data += viewer.moved(number, [turn(3, "PASS"), turn(4, "J9")])
        data += viewer.facts(
            [
                GameEnded(
                    venue="9x9",
                    game=number,
                    result=verdict.text,
                    reason=verdict.reason.value,
                    at=AT,
                    black_used_ms=1,
                    white_used_ms=2,
                )
            ]
        )
        data += viewer.ended(number, over(verdict))
        data += viewer.shown(number + 100, shown(number + 100, 4, verdict), 0)
        plus = verdict.text if "+" in verdict.text else f"0+{verdict.text}"
        expected += [f"{number} {plus} 4", f"{number + 100} {plus} 4"]
    data += viewer.shown(5, None, 0) + viewer.info('a word with [brackets], {braces} and a "quote')
    script = tmp_path / "viewer.tcl"
    script.write_text(_TCL)
    done = subprocess.run(["tclsh", str(script)], input=data, capture_output=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.decode().splitlines()) == sorted(expected)
