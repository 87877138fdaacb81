"""Facts as messages of a database: whatever they are, they come out as they went in, and no message is too long."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.facts import (
    AnyFact,
    BotArrived,
    BotLeft,
    EventMoved,
    GameEnded,
    GameStarted,
    MovePlayed,
    NamesErased,
    QuestionMoved,
    RatingChanged,
)
from cgos_server.service.fact_notices import facts_of, notices

LARGEST = 400

names = st.text(max_size=20)
games = st.integers(0, 2**31 - 1)
floats = st.floats(0, 1e10)
facts = st.one_of(
    st.none(),
    st.builds(GameStarted, venue=names, game=games, black=names, white=names, at=floats),
    st.builds(MovePlayed, venue=names, game=games, ply=st.integers(1, 999), move=names, left_ms=st.integers(0, 10**9)),
    st.builds(GameEnded, venue=names, game=games, result=names, reason=names, at=floats),
    st.builds(RatingChanged, venue=names, seq=games, version=names, before=floats, after=floats),
    st.builds(BotArrived, venue=names, version=names),
    st.builds(BotLeft, venue=names, version=names),
    st.builds(
        EventMoved,
        venue=names,
        event=names,
        seq=games,
        kind=names,
        phase=names,
        round=st.integers(0, 99),
        at=floats,
    ),
    st.builds(
        QuestionMoved,
        venue=names,
        question=games,
        kind=names,
        what=names,
        state=names,
        version=names,
        against=names,
        games=games,
        at=floats,
        llr=st.none() | st.floats(-99, 99),
    ),
)


@given(st.lists(facts, max_size=30))
def test_facts_come_out_as_they_went_in(told: list[AnyFact | None]) -> None:
    messages = notices(told, LARGEST)
    assert [fact for message in messages for fact in facts_of(message)] == [_carried(fact) for fact in told]
    assert all(len(message.encode()) <= LARGEST for message in messages)


def _carried(fact: AnyFact | None) -> AnyFact | None:
    """As it comes out: one that is too long alone is missing."""
    return fact if len(notices([fact], 10**6)[0].encode()) <= LARGEST else None


def test_a_move_is_less_than_half_as_long_as_its_fact() -> None:
    move = MovePlayed(venue="9x9", game=1234567, ply=101, move="D4", left_ms=59_000)
    assert notices([move], LARGEST) == ['[["9x9",1234567,101,"D4",59000]]']


def test_moves_go_together_as_far_as_there_is_room() -> None:
    moves = [MovePlayed(venue="9x9", game=7, ply=ply, move="D4", left_ms=1) for ply in range(1, 101)]
    messages = notices(moves, LARGEST)
    assert len(messages) == 6
    assert [fact for message in messages for fact in facts_of(message)] == moves


def test_who_was_erased_makes_everything_doubtful() -> None:
    assert notices([NamesErased()], LARGEST) == ["[null]"]


def test_what_another_version_says_is_missing() -> None:
    for text in ("", "{}", '[{"fact":"Unheard"}]', '[["9x9",1]]', "[1]"):
        assert facts_of(text) == [None]
