"""One game in simulated time: commit before delivery, whose clock runs, restarts, flags."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.live.one_game import S, Table
from support.live.simulated import RecordingSession

from cgos_protocol.clock import ClockState, TimeControl, TimeSystem
from cgos_protocol.games.base import Color
from cgos_protocol.referee import Referee
from cgos_server.live.games.phases import GamePhase
from cgos_server.service.ratings.venue_ratings import VenueRatings
from cgos_server.storage.reading.stored import StoredMove
from cgos_server.storage.writing import records as rows

BLACK, WHITE = Color.BLACK, Color.WHITE


@pytest.fixture
def table() -> Table:
    table = Table()
    table.begin()
    return table


def test_settle_pause_is_charged_to_nobody(table: Table) -> None:
    assert table.black.words() == ["setup", "genmove"]
    assert table.black.last() == ("genmove", BLACK, 60_000)
    assert table.white.words() == ["setup"]


def test_a_move_is_told_only_after_its_commit_and_the_disk_is_charged_to_nobody(table: Table) -> None:
    table.store.holding = True
    table.move(BLACK, "E5", after=2 * S)
    assert table.white.words() == ["setup"]
    assert table.facts == []
    table.time.advance(9 * S)
    table.store.release()
    assert table.white.last() == ("played", BLACK, "E5", 58_250, 60_000)
    table.move(WHITE, "D5", after=S)
    assert table.black.last() == ("played", WHITE, "D5", 59_250, 58_250)


def test_moves_are_relayed_in_their_normal_spelling(table: Table) -> None:
    table.move(BLACK, "e5")
    table.move(WHITE, "PASSED")
    assert table.white.last()[2] == "E5"
    assert table.black.last()[2] == "PASS"


def test_a_stalled_loop_is_never_charged(table: Table) -> None:
    """The line came at once but lay in the socket while the loop was busy: the poll before it counts."""
    before = table.time.received()
    table.time.stall(40 * S)
    table.game.move(BLACK, "E5", None, before)
    assert table.white.last() == ("played", BLACK, "E5", 60_000, 60_000)


def test_no_flag_falls_before_a_poll_begun_after_the_deadline(table: Table) -> None:
    in_time = table.time.received()
    table.time.stall(200 * S)
    table.game._woken()  # the timer is due, but nobody has looked into the sockets since
    assert table.game.phase is GamePhase.RUNNING
    table.game.move(BLACK, "E5", None, in_time)
    assert table.white.last()[0] == "played"


def test_thinking_is_charged_in_full_beyond_the_credit(table: Table) -> None:
    for _ in range(5):
        table.move(BLACK, ["E5", "E6", "E7", "E8", "E9"][table.game.ply // 2], after=S)
        table.move(WHITE, ["D5", "D6", "D7", "D8", "D9"][table.game.ply // 2])
    assert table.game.referee.clocks[BLACK].main == 60 * S - 5 * 750_000
    assert table.game.referee.clocks[WHITE].main == 60 * S


def test_flag_fall_is_a_loss_on_time_after_the_first_move(table: Table) -> None:
    table.move(BLACK, "E5")
    table.move(WHITE, "D5")
    table.time.advance(60 * S + 250_000)
    assert table.game.phase is GamePhase.RUNNING
    table.time.advance(1)
    assert table.black.last() == ("gameover", "W+Time", "")
    assert table.white.last() == ("gameover", "W+Time", "")
    assert table.ended == [table.game]


def test_a_side_that_never_moves_aborts_the_game_unrated(table: Table) -> None:
    table.move(BLACK, "E5")
    table.time.advance(61 * S)
    assert table.white.last()[:2] == ("gameover", "Abort")
    assert table.store.of(rows.LedgerAdded) == []
    assert table.store.of(rows.GameEnded)[0].reason == "abort"


def test_the_last_pass_is_relayed_before_gameover_and_rated_in_one_group(table: Table) -> None:
    table.move(BLACK, "E5")
    table.move(WHITE, "pass")
    table.store.holding = True
    table.move(BLACK, "pass")
    ((group, _),) = table.store.held
    kinds = [type(record) for record in group]
    assert kinds[:3] == [rows.MoveAdded, rows.GameEnded, rows.LedgerAdded]
    assert kinds.count(rows.RatingMoved) == 2
    table.store.release()
    assert table.white.words()[-2:] == ["played", "gameover"]
    assert table.white.last()[1] == "B+74.0"
    assert table.black.last()[1] == "B+74.0"


def test_illegal_and_resign_end_the_game_without_a_move(table: Table) -> None:
    table.move(BLACK, "E5")
    table.move(WHITE, "E5")
    assert table.black.last()[:2] == ("gameover", "B+Illegal")
    assert [record.ply for record in table.store.of(rows.MoveAdded)] == [1]
    other = Table()
    other.begin()
    other.move(BLACK, "Resign")
    assert other.white.last()[:2] == ("gameover", "W+Resign")


def mistake(*_: object) -> None:
    raise ZeroDivisionError("ours")


def test_a_mistake_of_the_referee_decides_nothing(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    table.move(BLACK, "E5")
    monkeypatch.setattr(Referee, "submit", mistake)
    table.move(WHITE, "D5")
    assert table.white.last()[:2] == table.black.last()[:2] == ("gameover", "Void")
    assert table.store.of(rows.GameEnded)[0].reason == "void"
    assert table.store.of(rows.LedgerAdded) == []


def test_a_mistake_of_the_rating_decides_nothing(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    table.move(BLACK, "E5")
    monkeypatch.setattr(VenueRatings, "game", mistake)
    table.move(WHITE, "resign")
    assert table.black.last()[:2] == ("gameover", "Void")
    assert table.store.of(rows.LedgerAdded) == []


def test_lines_out_of_turn_change_nothing(table: Table) -> None:
    table.move(WHITE, "E5")
    assert table.store.of(rows.MoveAdded) == []
    table.store.holding = True
    table.move(BLACK, "E5")
    table.move(BLACK, "E6")
    table.store.release()
    assert [record.move for record in table.store.of(rows.MoveAdded)] == ["E5"]


def test_a_disconnected_mover_finds_its_clock_running(table: Table) -> None:
    table.move(BLACK, "E5")
    table.game.left(WHITE)
    table.time.advance(10 * S)
    again = RecordingSession(3)
    table.game.returned(WHITE, again)
    assert again.entries[0][1].moves == (("E5", 60_000),)
    assert again.last() == ("genmove", WHITE, 50_000)
    table.game.move(WHITE, "D5", None, table.time.received())
    assert table.black.last() == ("played", WHITE, "D5", 50_250, 60_000)


def test_who_returns_during_a_commit_sees_the_committed_game_once(table: Table) -> None:
    table.store.holding = True
    table.move(BLACK, "E5")
    table.game.left(WHITE)
    again = RecordingSession(3)
    table.game.returned(WHITE, again)
    assert again.entries == []
    table.store.release()
    assert again.words() == ["setup", "genmove"]
    assert again.entries[0][1].moves == (("E5", 60_000),)


def test_who_returns_while_the_verdict_is_committed_is_told_it(table: Table) -> None:
    table.game.left(WHITE)
    table.store.holding = True
    table.move(BLACK, "resign")
    again = RecordingSession(3)
    table.game.returned(WHITE, again)
    table.store.release()
    assert again.words() == ["setup", "gameover"]
    assert table.store.of(rows.GameEnded)[0].white_told == 0
    assert [record.progress for record in table.store.of(rows.WhiteTold)] == [1]


def test_abort_during_a_commit_comes_after_the_move(table: Table) -> None:
    table.store.holding = True
    table.move(BLACK, "E5")
    table.game.abort("stopped by an operator")
    table.store.release()
    assert table.white.words() == ["setup", "played", "gameover"]
    assert table.white.last() == ("gameover", "Abort", "stopped by an operator")


def test_a_game_that_we_spoilt_ends_once_whatever_is_ruled_meanwhile(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Referee, "submit", mistake)
    table.store.holding = True
    table.move(BLACK, "E5")
    table.game.abort("stopped by an operator")
    table.game.forfeit(WHITE, "by ruling")
    table.store.release()
    assert [end.reason for end in table.store.of(rows.GameEnded)] == ["void"]
    assert table.black.words().count("gameover") == 1
    assert table.ended == [table.game]


# -- after a restart


def restarted(moves: int = 3) -> Table:
    table = Table()
    texts = ["E5", "D5", "E6", "D6"][:moves]
    table.game.resume([StoredMove(text, ClockState((50 - ply) * S)) for ply, text in enumerate(texts)])
    return table


def test_after_a_restart_the_movers_clock_starts_when_he_is_asked_again() -> None:
    table = restarted()
    table.time.advance(100 * S)
    table.game.returned(WHITE, table.white)
    assert table.white.last() == ("genmove", WHITE, 49_000)
    table.move(WHITE, "D6", after=S)
    assert table.game.referee.clocks[WHITE].main == 49 * S - 750_000


def test_after_a_restart_the_absent_mover_has_the_return_grace() -> None:
    table = restarted()
    table.time.advance(50 * S)
    table.game.returned(BLACK, table.black)
    assert table.black.words() == ["setup"]
    table.time.advance(120 * S + 49 * S)
    assert table.game.phase is GamePhase.RUNNING
    table.time.advance(S)
    assert table.black.last() == ("gameover", "B+Time", "")


def test_while_both_are_away_the_clock_stands_and_then_the_game_is_void() -> None:
    table = restarted()
    table.time.advance(10 * S)
    table.game.returned(BLACK, table.black)
    table.time.advance(100 * S)
    table.game.left(BLACK)
    table.time.advance(899 * S)
    assert table.game.phase is GamePhase.INTERRUPTED
    table.time.advance(2 * S)
    assert table.store.of(rows.GameEnded)[0].reason == "void"
    assert table.store.of(rows.LedgerAdded) == []


def test_after_a_restart_each_side_has_its_return_grace_also_when_the_other_moved_at_once() -> None:
    table = restarted()
    table.game.returned(WHITE, table.white)
    table.move(WHITE, "D6", after=S)
    table.time.advance(100 * S)  # Black, who has 48 s left, is still on his way back
    assert table.game.phase is GamePhase.INTERRUPTED
    table.game.returned(BLACK, table.black)
    assert table.black.last() == ("genmove", BLACK, 48_000)
    table.move(BLACK, "E7", after=S)
    assert table.game.referee.clocks[BLACK].main == 48 * S - 750_000
    table.game.left(WHITE)  # he was here already: an ordinary absence
    assert table.game.phase is GamePhase.RUNNING


def test_the_grace_of_the_second_side_counts_from_the_others_return_and_ends() -> None:
    table = restarted()
    table.game.returned(WHITE, table.white)
    table.move(WHITE, "D6", after=20 * S)
    table.time.advance(100 * S)
    assert table.game.phase is GamePhase.RUNNING
    table.time.advance(48 * S + 250_001)
    assert table.white.last() == ("gameover", "W+Time", "")


def test_who_waits_for_the_second_side_and_leaves_ends_nothing() -> None:
    table = restarted()
    table.game.returned(WHITE, table.white)
    table.move(WHITE, "D6", after=S)
    table.game.left(WHITE)
    table.time.advance(899 * S)
    assert table.game.phase is GamePhase.INTERRUPTED
    table.time.advance(2 * S)
    assert table.store.of(rows.GameEnded)[0].reason == "void"


# -- the server stops


def test_a_game_that_the_server_leaves_takes_no_move_and_no_flag_falls_in_it(table: Table) -> None:
    table.move(BLACK, "E5", after=S)
    table.game.suspend()
    table.move(WHITE, "D5", after=S)
    for color in (BLACK, WHITE):
        table.game.left(color)
    table.time.advance(500 * S)
    assert table.game.phase is GamePhase.INTERRUPTED
    assert [record.ply for record in table.store.of(rows.MoveAdded)] == [1]


def test_a_game_that_is_left_in_the_middle_of_a_commit_stands_after_it(table: Table) -> None:
    table.store.holding = True
    table.move(BLACK, "E5", after=S)
    table.game.suspend()
    table.store.release()
    assert table.white.words() == ["setup", "played"]
    assert table.game.phase is GamePhase.INTERRUPTED


# -- who is told, and when


def test_a_side_that_leaves_while_the_verdict_is_committed_was_not_told_it(table: Table) -> None:
    table.store.holding = True
    table.move(BLACK, "resign")
    table.game.left(WHITE)
    table.store.release()
    assert table.store.of(rows.GameEnded)[0].white_told == 1
    assert [record.progress for record in table.store.of(rows.WhiteTold)] == [0]
    assert table.store.of(rows.BlackTold) == []


def test_the_check_of_a_returning_movers_password_is_charged_to_nobody(table: Table) -> None:
    table.game.left(BLACK)
    table.time.advance(10 * S)
    received = table.time.received()
    table.time.advance(20 * S)  # a long queue of passwords
    again = RecordingSession(3)
    table.game.returned(BLACK, again, received)
    assert again.last() == ("genmove", BLACK, 50_000)
    table.time.advance(50 * S)
    assert table.game.phase is GamePhase.RUNNING
    table.game.move(BLACK, "E5", None, table.time.received())
    assert table.game.referee.clocks[BLACK].main == 250_000


def test_a_clock_that_started_during_the_check_starts_anew(table: Table) -> None:
    table.game.left(WHITE)
    received = table.time.received()
    table.move(BLACK, "E5", after=5 * S)
    table.time.advance(5 * S)
    again = RecordingSession(3)
    table.game.returned(WHITE, again, received)
    assert again.last() == ("genmove", WHITE, 60_000)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 8 * S), st.integers(0, 3 * S), st.integers(0, 5 * S)), min_size=1, max_size=30),
    st.sampled_from(
        [
            TimeControl(system=TimeSystem.ABSOLUTE, main=60 * S),
            TimeControl(system=TimeSystem.FISCHER, main=5 * S, increment=2 * S),
            TimeControl(system=TimeSystem.BYOYOMI, main=5 * S, period=3 * S, periods=3),
            TimeControl(system=TimeSystem.CANADIAN, main=5 * S, period=20 * S, stones=5),
            TimeControl(system=TimeSystem.FIXED, period=6 * S),
            TimeControl(system=TimeSystem.ABSOLUTE, main=20 * S, lag_bank=2 * S),
        ]
    ),
)
def test_stalls_of_loop_and_disk_are_never_charged_and_thinking_always(
    turns: list[tuple[int, int, int]], time_control: TimeControl
) -> None:
    """Each turn: thinking, then a stall of the loop with the line in the socket, then a stall of the disk.

    The same game without the stalls must end with the same clocks.
    """

    def play(stalls: bool) -> tuple[list[ClockState], str | None]:
        table = Table(time_control, size=19)
        table.begin()
        for ply, (think, busy, disk) in enumerate(turns):
            color = BLACK if ply % 2 == 0 else WHITE
            table.time.advance(think)
            came = table.time.received()
            if stalls:
                table.time.stall(busy)
            table.store.holding = True
            table.game.move(color, f"{'ABCDEFGHJKLMNOPQRST'[ply % 19]}{1 + ply // 19}", None, came)
            if stalls:
                table.time.advance(disk)
            table.store.release()
            for clock in table.game.referee.clocks:
                assert min(clock) >= 0
            if table.game.referee.verdict is not None:
                break
        verdict = table.game.referee.verdict
        return table.game.referee.clocks, verdict.text if verdict else None

    assert play(stalls=True) == play(stalls=False)


def test_no_flag_falls_while_the_mover_is_being_let_in(table: Table) -> None:
    """It asked in time; how long its password and its old connection are looked at is the server's doing."""
    expecting = table.context.expected.expecting
    for _ in range(2):
        table.move(table.game.referee.to_play, "E5" if table.game.ply == 0 else "D5")
    table.game.left(BLACK)
    table.time.advance(60 * S)
    received = table.time.received()
    with expecting("anna", received):
        table.time.advance(9 * S)
        assert table.game.phase is GamePhase.RUNNING
    again = RecordingSession(3)
    table.game.returned(BLACK, again, received)
    assert again.last() == ("genmove", BLACK, 0)
    table.time.advance(200_000)
    assert table.game.phase is GamePhase.RUNNING
    with expecting("anna", received):  # once a move
        table.time.advance(S)
    assert table.white.last() == ("gameover", "W+Time", "")


def test_a_flag_falls_for_whoever_asks_too_late_or_does_not_come_in(table: Table) -> None:
    for late in (0, 1):
        table.game = table.new_game()
        table.begin()
        table.move(BLACK, "E5")
        table.move(WHITE, "D5")
        deadline = table.time.now() + 60 * S + 250_001
        with table.context.expected.expecting("anna", deadline + late):
            table.time.advance(62 * S)
            assert (table.game.phase is GamePhase.OVER) is bool(late)
        table.time.advance(S)
        assert table.black.last() == ("gameover", "W+Time", "")


# -- who may see moves, and when


def delayed() -> Table:
    table = Table()
    table.context.venue = replace(table.context.venue, delay=30 * S)
    table.game = table.new_game()
    table.begin()
    return table


def test_a_venue_without_delay_keeps_no_instants(table: Table) -> None:
    table.move(BLACK, "E5", after=S)
    assert table.game._instants is None
    assert table.game.played_by(0) == 1


def test_with_a_delay_a_game_knows_what_was_played_by_an_instant_and_its_players_wait_for_nothing() -> None:
    table = delayed()
    table.move(BLACK, "E5", after=S)
    first = table.time.now()
    table.store.holding = True
    table.move(WHITE, "D5", after=2 * S)
    second = table.time.now()
    assert table.game.played_by(second) == 1
    table.time.advance(5 * S)
    table.store.release()
    assert table.black.last()[:3] == ("played", WHITE, "D5")
    assert [table.game.played_by(at) for at in (first - 1, first, second - 1, second)] == [0, 1, 1, 2]
    setup = table.game.setup(1)
    assert [move for move, _ in setup.moves] == ["E5"]
    assert setup.left_ms == (59_250, 60_000)
    table.move(BLACK, "resign", after=S)
    assert table.game.played_by(0) == table.game.ply


def test_after_a_restart_moves_are_shown_a_delay_later_and_an_opening_at_once() -> None:
    table = delayed()
    moves = [StoredMove("E5", ClockState(60 * S)), StoredMove("D5", ClockState(60 * S))]
    game = table.new_game()
    table.time.advance(100 * S)
    game.resume(moves)
    assert (game.played_by(table.time.now() - 1), game.played_by(table.time.now())) == (0, 2)
    game = table.new_game()
    game.continues(moves)
    assert game.played_by(0) == 2
