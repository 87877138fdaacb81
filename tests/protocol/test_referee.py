"""The referee on a toy game: in time or not, legal or not, over or not, and nothing after the verdict."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol import referee as module
from cgos_protocol.clock import ClockState, TimeControl, TimeSystem
from cgos_protocol.errors import OurFault
from cgos_protocol.games.base import Color, Illegality, Ruleset, Start
from cgos_protocol.referee import Played, Referee
from cgos_protocol.terms import Terms
from cgos_protocol.verdict import Reason, Verdict

S = 1_000_000
LAG = 250_000


class Toy:
    """A game of one-letter moves: each letter once, two passes end it, every letter is a point for its player."""

    def __init__(self, first: Color = Color.BLACK) -> None:
        self.moves: list[int] = []
        self._first = first

    @property
    def ply(self) -> int:
        return len(self.moves)

    @property
    def to_play(self) -> Color:
        return self._first if len(self.moves) % 2 == 0 else self._first.other

    def read(self, text: str) -> int | None:
        word = text.upper()
        if word == "PASS":
            return 0
        return ord(word) if len(word) == 1 and word.isascii() and word.isalpha() else None

    def write(self, move: int) -> str:
        return chr(move) if move else "PASS"

    def play(self, move: int) -> Illegality | None:
        if move and move in self.moves:
            return Illegality.KO if move == ord("K") else Illegality.OCCUPIED
        self.moves.append(move)
        return None

    def is_over(self) -> bool:
        return self.moves[-2:] == [0, 0]

    def score(self) -> int:
        return sum((2 if i % 2 == self._first else -2) if move else 0 for i, move in enumerate(self.moves))


TERMS = Terms(
    rules=Ruleset(), time=TimeControl(system=TimeSystem.ABSOLUTE, main=60 * S), move_limit=20, first_move_limit=30 * S
)


def game(first: Color = Color.BLACK, **changed: object) -> Referee:
    return Referee(dataclasses.replace(TERMS, **changed), position=Toy(first))  # type: ignore[arg-type]


def play(referee: Referee, *texts: str) -> None:
    for text in texts:
        assert referee.submit(text, 0) is not None


def test_a_move_counts_and_the_turn_passes() -> None:
    referee = game()
    assert referee.submit("d", 1_250_000) == Played("D", ClockState(59 * S), 1_250_000)
    assert (referee.to_play, referee.ply, referee.verdict) == (Color.WHITE, 1, None)
    assert referee.moved == [True, False]
    assert referee.clocks == [ClockState(59 * S), ClockState(60 * S)]
    assert (referee.remaining_ms(Color.BLACK), referee.remaining_ms(Color.WHITE)) == (59_000, 60_000)
    assert referee.remaining_ms(Color.WHITE, elapsed=S) == 59_000


def test_two_passes_are_scored() -> None:
    referee = game()
    play(referee, "a", "b", "c", "pass", "PASS")
    assert referee.verdict == Verdict(Color.BLACK, Reason.SCORE, 2)
    assert referee.ply == 5


def test_even_score_is_a_draw() -> None:
    referee = game()
    play(referee, "a", "b", "pass")
    last = referee.submit("pass", 0)
    assert last is not None
    assert last.move_text == "PASS"
    assert referee.verdict is not None
    assert (referee.verdict.winner, referee.verdict.text, referee.verdict.rated) == (None, "Draw", True)


def test_move_limit_scores_the_board_as_it_stands() -> None:
    referee = game(move_limit=3)
    play(referee, "a", "b", "c")
    assert referee.verdict == Verdict(Color.BLACK, Reason.SCORE, 2, "scored at the limit of 3 moves")


@pytest.mark.parametrize("word", ["resign", "RESIGN", " Resign "])
def test_resignation(word: str) -> None:
    referee = game()
    play(referee, "a")
    assert referee.submit(word, 0) is None
    assert referee.verdict == Verdict(Color.BLACK, Reason.RESIGNATION)
    assert referee.verdict.text == "B+Resign"
    assert referee.ply == 1


def test_illegal_move_loses_at_once_and_is_not_played() -> None:
    referee = game()
    play(referee, "k", "b")
    assert referee.submit("K", S) is None
    assert referee.verdict == Verdict(Color.WHITE, Reason.ILLEGAL, None, "KO attempted: K")
    assert referee.verdict.text == "W+Illegal"
    assert referee.ply == 2
    assert referee.clocks[Color.BLACK] == ClockState(60 * S)


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("banana", "do not understand syntax: banana"),
        ('D4 {"winrate": [0.5]}', "do not understand syntax: D4 ??winrate?: ?0.5??"),
        ("a\tb\x00ü\\$", "do not understand syntax: a?b????"),
        ("", "do not understand syntax:"),
    ],
)
def test_unreadable_move_loses_with_a_harmless_detail(text: str, detail: str) -> None:
    referee = game()
    assert referee.submit(text, 0) is None
    assert referee.verdict == Verdict(Color.WHITE, Reason.ILLEGAL, None, detail)


@given(st.text(max_size=300))
def test_no_answer_raises_and_every_detail_is_fit_for_a_wire(text: str) -> None:
    referee = game()
    played = referee.submit(text, 0)
    assert (played is None) == (referee.verdict is not None)
    if referee.verdict is not None:
        detail = referee.verdict.detail
        assert len(detail) <= module.DETAIL_LIMIT
        assert detail.isascii()
        assert detail.isprintable()
        assert not set(detail) & set('{}[]"\\')


def test_very_long_answers_are_cut() -> None:
    referee = game()
    referee.submit("x" * 100_000, 0)
    assert referee.verdict is not None
    assert len(referee.verdict.detail) == module.DETAIL_LIMIT
    assert referee.verdict.detail.endswith("...")


def test_time_decides_before_the_answer_does() -> None:
    referee = game()
    play(referee, "a", "b")
    assert referee.deadline() == 60 * S + LAG
    assert referee.submit("resign", 60 * S + LAG + 1) is None
    assert referee.verdict == Verdict(Color.WHITE, Reason.TIME)


def test_the_last_microsecond_is_in_time() -> None:
    referee = game()
    play(referee, "a", "b")
    assert referee.submit("c", 60 * S + LAG) == Played("C", ClockState(0), 60 * S + LAG)


def test_a_received_time_before_the_start_counts_as_none() -> None:
    referee = game()
    assert referee.submit("a", -5) == Played("A", ClockState(60 * S), 0)


@pytest.mark.parametrize(("limit", "main"), [(30, 60), (60, 60), (90, 60)])
def test_missing_ones_own_first_move_aborts(limit: int, main: int) -> None:
    time = TimeControl(system=TimeSystem.ABSOLUTE, main=main * S)
    referee = game(first_move_limit=limit * S, time=time)
    play(referee, "a")
    in_time = min(limit, main) * S + LAG
    assert referee.deadline() == in_time
    assert referee.submit("b", in_time + 1) is None
    assert referee.verdict == Verdict(None, Reason.ABORT, None, "White made no first move in time")
    assert not referee.verdict.rated


def test_a_first_move_at_the_limit_counts_and_later_moves_have_the_whole_clock() -> None:
    referee = game()
    assert referee.submit("a", 30 * S + LAG) is not None
    play(referee, "b")
    assert referee.submit("c", 30 * S + LAG) == Played("C", ClockState(0), 30 * S + LAG)


def test_expire_is_an_abort_before_the_first_move_and_time_after() -> None:
    referee = game()
    play(referee, "a")
    assert referee.expire() == Verdict(None, Reason.ABORT, None, "White made no first move in time")
    referee = game()
    play(referee, "a", "b")
    assert referee.expire() == Verdict(Color.WHITE, Reason.TIME)


def test_rulings() -> None:
    assert game().abort("by admin") == Verdict(None, Reason.ABORT, None, "by admin")
    assert game().void("disk {full}") == Verdict(None, Reason.VOID, None, "disk ?full?")
    assert game().forfeit(Color.WHITE, "no show") == Verdict(Color.BLACK, Reason.FORFEIT, None, "no show")


def test_nothing_changes_a_verdict() -> None:
    referee = game()
    first = referee.forfeit(Color.BLACK, "no show")
    assert referee.submit("a", 0) is None
    for again in (referee.expire(), referee.abort("x"), referee.void("x"), referee.forfeit(Color.WHITE, "x")):
        assert again == first
    assert (referee.verdict, referee.ply) == (first, 0)


def test_white_may_start_after_handicap_stones() -> None:
    referee = game(first=Color.WHITE)
    assert referee.to_play is Color.WHITE
    assert referee.submit("a", 10 * S + LAG) == Played("A", ClockState(50 * S), 10 * S + LAG)
    assert referee.moved == [False, True]


def test_replay_restores_everything_without_spending_time() -> None:
    referee = game()
    stored = []
    for text, elapsed in (("a", 3 * S), ("b", 0), ("c", 5 * S)):
        played = referee.submit(text, elapsed)
        assert played is not None
        stored.append((played.move_text, played.clock))
    again = game()
    again.replay(stored)
    for name in ("clocks", "moved", "ply", "to_play", "verdict"):
        assert getattr(again, name) == getattr(referee, name)
    assert again.deadline() == referee.deadline()


def test_replay_of_nothing_is_the_start() -> None:
    referee = game()
    referee.replay([])
    assert (referee.ply, referee.to_play, referee.verdict) == (0, Color.BLACK, None)


def test_replay_of_a_finished_game_is_scored_again() -> None:
    referee = game()
    referee.replay([("A", ClockState(1)), ("PASS", ClockState(2)), ("PASS", ClockState(3))])
    assert referee.verdict == Verdict(Color.BLACK, Reason.SCORE, 2)


@pytest.mark.parametrize("bad", ["?!", "A"])
def test_replay_of_impossible_moves_is_our_fault(bad: str) -> None:
    with pytest.raises(OurFault, match="Move 2 of a stored game"):
        game().replay([("A", ClockState(1)), (bad, ClockState(1))])


def test_the_named_game_is_played_by_its_rules() -> None:
    rules = Ruleset(size=5, komi2=1)
    referee = Referee(dataclasses.replace(TERMS, rules=rules), Start(white=("C3",), to_play=Color.BLACK))
    play(referee, "c2")
    assert referee.submit("c2", 0) is None
    assert referee.verdict == Verdict(Color.BLACK, Reason.ILLEGAL, None, "move to occupied point: C2")
    referee = Referee(dataclasses.replace(TERMS, rules=rules))
    play(referee, "c3", "pass", "pass")
    assert referee.verdict == Verdict(Color.BLACK, Reason.SCORE, 49)


answers = st.sampled_from(["a", "b", "c", "d", "k", "pass", "resign", "??"])


@given(st.lists(st.tuples(answers, st.integers(0, 20 * S)), max_size=30))
def test_a_game_is_the_same_when_interrupted_after_every_move(moves: list[tuple[str, int]]) -> None:
    whole, stored = game(), []
    for text, elapsed in moves:
        resumed = game()
        resumed.replay(stored)
        played = whole.submit(text, elapsed)
        assert resumed.submit(text, elapsed) == played
        assert resumed.verdict == whole.verdict
        if played is None:
            assert whole.verdict is not None
            break
        assert min(played.clock) >= 0
        stored.append((played.move_text, played.clock))
        if whole.verdict is not None:
            break
