"""What the matchmaker remembers is what counting the games anew would find."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from cgos_server.core.pairing.memory import Memory
from cgos_server.core.pairing.rolling import paced_after

versions = st.integers(1, 6)
games = st.lists(st.tuples(versions, versions).filter(lambda pair: pair[0] != pair[1]), max_size=60)


def counted(past: list[tuple[int, int]], version: int, last: int) -> list[int]:
    """Its last opponents, oldest first."""
    return [b if a == version else a for a, b in past if version in (a, b)][-last:]


@given(games, games, st.integers(1, 12))
def test_counting_the_games_anew_finds_the_same(
    before: list[tuple[int, int]], after: list[tuple[int, int]], last: int
) -> None:
    memory = Memory(last, Counter(before), {v: counted(before, v, last) for v in range(1, 7)}, {})
    for black, white in after:
        memory.began(black, white, {})
    past = before + after
    for a in range(1, 7):
        recent = counted(past, a, last)
        assert memory.remembered(a) == len(recent)
        assert memory.last_opponent(a) == (recent[-1] if recent else None)
        assert memory.balance(a) == sum((a == black) - (a == white) for black, white in past)
        others = set(range(1, 7)) - {a}
        assert set(memory.met(a, others)) == {(min(a, b), max(a, b)) for b in recent}
        for b in others:
            meeting = memory.meeting(a, b)
            assert (meeting.recent_a, meeting.recent_b) == (recent.count(b), counted(past, b, last).count(a))
            assert (meeting.black_a, meeting.black_b) == (past.count((a, b)), past.count((b, a)))
            assert meeting.lately_a == recent[-10:].count(b)


@given(games, st.integers(2, 12), st.integers(1, 12))
def test_a_shorter_memory_forgets_at_once(past: list[tuple[int, int]], last: int, less: int) -> None:
    memory = Memory(last, {}, {}, {})
    for black, white in past:
        memory.began(black, white, {})
    memory.keep(less)
    kept = counted(past, 1, min(last, less))
    assert set(memory.met(1, range(9))) == {(min(1, b), max(1, b)) for b in kept}
    assert memory.remembered(1) == len(kept)
    memory.began(1, 2, {})
    assert memory.remembered(1) == min(less, len(counted(past, 1, last)) + 1)


def test_a_game_without_result_counts_for_no_color_and_one_that_goes_on_does() -> None:
    memory = Memory(5, {(1, 2): 3}, {1: [2], 2: [1]}, {})
    memory.restored(1, 2)
    assert (memory.as_black(1, 2), memory.balance(2), memory.remembered(1)) == (4, -4, 1)
    memory.undone(1, 2)
    assert (memory.as_black(1, 2), memory.balance(2), memory.remembered(1)) == (3, -3, 1)


def test_who_left_the_memory_was_not_met() -> None:
    memory = Memory(2, {}, {}, {})
    for white in (2, 3, 4):
        memory.began(1, white, {})
    assert memory.met(1, {2, 3, 4}) == [(1, 3), (1, 4)]
    assert memory.meeting(1, 2) == (1, 2, 0, 1, 1, 0, 0, 1)


@given(st.dictionaries(versions, st.floats(1, 1e9), max_size=6))
def test_paces_run_from_the_fastest_to_the_slowest(thinking: dict[int, float]) -> None:
    memory = Memory(10, {}, {}, thinking)
    paces = memory.paces([*thinking, 99])
    assert 99 not in paces
    assert paces.keys() == thinking.keys()
    if len(thinking) > 1:
        ranked = sorted(thinking, key=lambda version: (thinking[version], version))
        assert [paces[version] for version in ranked] == [at / (len(ranked) - 1) for at in range(len(ranked))]


def test_thinking_is_a_moving_average_that_begins_with_the_first_game() -> None:
    memory = Memory(10, {}, {}, {})
    memory.thought(1, 1000)
    memory.thought(2, 1500)
    assert memory.paces([1, 2]) == {1: 0.0, 2: 1.0}
    for _ in range(30):
        memory.thought(1, 3000)
    assert memory.paces([1, 2]) == {1: 1.0, 2: 0.0}


def test_paced_follows_the_opponents() -> None:
    memory = Memory(10, {}, {}, {})
    expected = 0.0
    for pace in (0.0, 1.0, 0.2):
        memory.began(1, 2, {2: pace})
        expected = paced_after(expected, pace)
    assert memory.paced(1) == expected != 0.0
    assert memory.paced(3) == 0.0
