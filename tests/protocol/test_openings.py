"""Openings as they are written, and the board that they leave."""

from __future__ import annotations

import random
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.clock import TimeControl, TimeSystem
from cgos_protocol.games.base import Color, Ruleset
from cgos_protocol.games.registry import game_kind
from cgos_protocol.openings import NAME_MAX, WEIGHT_MOST, Draft, Fault, Opening, OpeningSet, checked, parse
from cgos_protocol.referee import Referee
from cgos_protocol.terms import Terms

NINE = Ruleset()
NAMES = st.text(st.characters(codec="ascii", categories=("Lu", "Ll")), min_size=5, max_size=12)


def faults(text: str, rules: Ruleset = NINE, limit: int = 243) -> list[Fault]:
    drafts, faults_found = parse(text)
    made = [checked(draft, rules, limit) for draft in drafts]
    return sorted(faults_found + [part for part in made if isinstance(part, Fault)])


def opening(text: str) -> Opening:
    (draft,), faults_found = parse(text)
    assert not faults_found
    made = checked(draft, NINE, 243)
    assert isinstance(made, Opening)
    return made


@st.composite
def played(draw: st.DrawFn) -> list[str]:
    """Some legal moves from the empty board, none of which ends the game."""
    rng = random.Random(draw(st.integers(0, 1 << 32)))
    position = game_kind("go").new(NINE)
    moves: list[str] = []
    for _ in range(draw(st.integers(1, 30))):
        while True:
            text = f"{rng.choice('ABCDEFGHJ')}{rng.randint(1, 9)}"
            move = position.read(text)
            if move is not None and position.play(move) is None:
                moves.append(text)
                break
    return moves


@given(NAMES, played(), st.one_of(st.none(), st.integers(1, 999)), st.booleans())
def test_what_is_written_is_read(name: str, moves: list[str], weight: int | None, small: bool) -> None:
    words = " ".join(moves)
    line = ("" if weight is None else f"{weight}: ") + f"{name}  {words.lower() if small else words}  # a comment"
    assert opening(f"# more\n\n  {line}\n") == Opening(name, tuple(moves), float(weight or 1))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("x: tengen E5", '"x" is no weight'),
        ("0: tengen E5", '"0" is no weight'),
        ("-1: tengen E5", '"-1" is no weight'),
        ("nan: tengen E5", '"nan" is no weight'),
        ("1e9: tengen E5", '"1e9" is no weight'),
        ("1e-9: tengen E5", '"1e-9" is no weight'),
        (": tengen E5", '"" is no weight'),
        ("2:", '"" is no name'),
        ("e5 C3", '"e5" is a move'),
        ("tengen", "opening tengen has no moves"),
        ("tengen I5", "move 1 of opening tengen, I5, cannot be played (do not understand syntax)"),
        ("tengen E5 E5", "move 2 of opening tengen, E5, cannot be played (move to occupied point)"),
        ("tengen E5 J10", "move 2 of opening tengen"),
        ("tengen resign", "move 1 of opening tengen"),
        ("tengen E5 pass pass", "leaves nothing to play"),
        ("t" * (NAME_MAX + 1) + " E5", "is no name"),
    ],
)
def test_faults_name_the_line_and_the_trouble(line: str, problem: str) -> None:
    (fault,) = faults(f"# first\nok E5\n{line}\nfine C3 # last")
    assert fault.line == 3
    assert problem in fault.problem
    assert fault.remedy


def test_limits_are_allowed() -> None:
    assert opening(f"1000000: {'n' * NAME_MAX} E5") == Opening("n" * NAME_MAX, ("E5",), WEIGHT_MOST)
    assert opening("0.000001: small E5").weight == 1e-6


def test_a_pass_is_a_move_and_a_name_may_begin_like_one() -> None:
    assert opening("Park E5 pass C3") == Opening("Park", ("E5", "PASS", "C3"))


def test_ko_is_ruled_as_the_venue_rules_it() -> None:
    ko = "ko D5 E5 E6 F6 E4 F4 A1 G5 F5 E5"  # White takes back at once
    (fault,) = faults(ko)
    assert "move 10" in fault.problem
    assert "KO" in fault.problem


def test_an_opening_leaves_something_to_play() -> None:
    assert faults("short E5 C3", limit=3) == []
    (fault,) = faults("short E5 C3", limit=2)
    assert "2 moves end a game" in fault.problem


def test_the_board_is_the_venues() -> None:
    big = Ruleset(size=19)
    assert faults("far Q16 D4", big) == []
    (fault,) = faults("far Q16 D4")
    assert "9x9" in fault.remedy


def test_weights_are_how_often_an_opening_is_chosen() -> None:
    weights = {"a": 1.0, "b": 2.5, "c": 0.1, "d": 6.4}
    book = OpeningSet(tuple(Opening(name, ("E5",), weight) for name, weight in weights.items()))
    rng, rounds = random.Random(5), 200_000
    counts = dict.fromkeys(weights, 0)
    for _ in range(rounds):
        counts[book.choose(rng).name] += 1
    total = sum(weights.values())
    for name, weight in weights.items():
        share = weight / total
        assert abs(counts[name] / rounds - share) < 5 * sqrt(share * (1 - share) / rounds), name


class Fixed:
    """An rng that always says the same."""

    def __init__(self, value: float) -> None:
        self.value = value

    def random(self) -> float:
        return self.value


@given(
    st.lists(st.floats(1e-6, WEIGHT_MOST), min_size=1, max_size=30),
    st.floats(0, 1, exclude_max=True) | st.just(1 - 2**-53),
)
def test_every_draw_chooses_the_opening_in_whose_share_it_falls(weights: list[float], value: float) -> None:
    book = OpeningSet(tuple(Opening(f"n{at}", ("E5",), weight) for at, weight in enumerate(weights)))
    at = int(book.choose(Fixed(value)).name[1:])
    share = value * sum(weights)
    slack = 1e-9 * sum(weights)
    assert sum(weights[:at]) <= share + slack
    assert sum(weights[: at + 1]) >= share - slack


def test_a_set_is_a_value() -> None:
    first, second = (OpeningSet((Opening("a", ("E5",)), Opening("b", ("C3",)))) for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)
    assert len(first) == 2
    assert first.named("b") == Opening("b", ("C3",))
    assert first.named("x") is None
    assert not OpeningSet()
    with pytest.raises(IndexError):
        OpeningSet().choose(Fixed(0.5))


@pytest.mark.parametrize("mains", [None, (5_000_000, 9_000_000)])
def test_a_game_goes_on_from_it_with_untouched_clocks(mains: tuple[int, int] | None) -> None:
    control = TimeControl(system=TimeSystem.BYOYOMI, main=60_000_000, period=10_000_000, periods=3)
    terms = Terms(rules=NINE, time=control, move_limit=243, first_move_limit=30_000_000, mains=mains)
    begun = opening("three E5 C3 G7")
    referee = Referee(terms)
    referee.replay(begun.stored(terms), given=True)
    fresh = Referee(terms)
    assert referee.clocks == fresh.clocks
    assert (referee.to_play, referee.ply, referee.moved) == (Color.WHITE, 3, [False, False])
    assert referee.deadline() == fresh.deadline()


@given(NAMES, played())
def test_moves_come_out_in_their_normal_spelling(name: str, moves: list[str]) -> None:
    draft = Draft(name, tuple(move.lower() for move in moves), 1.0, 1)
    made = checked(draft, NINE, 243)
    assert isinstance(made, Opening)
    assert made.moves == tuple(moves)
