"""Whatever holds a version: one word and one sentence for its owner, one for the bot, one for an operator."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_server.service.holds import Hold, Seen, for_bot, for_operator, for_owner

KNOWN = Seen(
    games=[7, 8],
    begun=3,
    most=3,
    suspension="You spoilt 3 games.",
    hours="22-6",
    closed="No game before ten.",
    others=2,
)

SAID: dict[Hold, tuple[str, str, str]] = {
    Hold.AWAY: ("its clock runs", "", "it is not connected"),
    Hold.STOPPING: ("about to stop", "", "the server is going down"),
    Hold.VENUE_PAUSED: ("An operator", "", "the venue is paused"),
    Hold.PAUSED: ("Its owner has paused it", "Your owner has paused you", "its owner has paused it"),
    Hold.SENT_HOME: ("Its owner sent it home", "", "it wants no more"),
    Hold.DRAINING: ("It wants to leave", "", "it wants no more"),
    Hold.RESTING: ("until it says ready", "", "it has asked for a pause"),
    Hold.SUSPENDED: ("It was told: You spoilt 3 games.", "You spoilt 3 games.", "bot recall"),
    Hold.OUT_OF_HOURS: ("It was told: No game before ten.", "No game before ten.", "(UTC): 22-6"),
    Hold.AT_LIMIT: ("allows 3", "you or your owner allow 3", "as many as it or its owner allows"),
    Hold.OWES_READY: ("has not said ready", "Send ready to be paired again.", "it has not said ready"),
    Hold.PAIRED: ("about to begin", "", "one is about to begin"),
    Hold.EVENT: ("kept for its next game in an event", "", "it is kept for an event"),
    Hold.QUESTION: ("kept for its next game in a question", "", "it is kept for a question"),
    Hold.PLAYING: ("plays 2 at once", "", "it plays game 7, 8"),
    Hold.COUNTING: ("being counted", "", "being counted"),
    Hold.SLOW: ("does not take", "", "it is slow to read"),
}  # fmt: skip


@pytest.mark.parametrize("hold", Hold)
def test_every_hold_is_said_to_everybody_whom_it_concerns(hold: Hold) -> None:
    player_state = msgspec.structs.replace(KNOWN, holds={hold})
    owner, bot, operator = SAID[hold]
    status = for_owner(player_state)
    assert status.state == hold.state
    assert owner in status.why
    assert status.why.endswith("Meanwhile its 2 running games go on.") is (
        hold not in (Hold.AWAY, Hold.PAIRED, Hold.PLAYING)
    )
    assert status.waits is (hold in (Hold.PAIRED, Hold.EVENT, Hold.QUESTION, Hold.PLAYING))
    assert (bot in for_bot(player_state)) if bot else (for_bot(player_state) == "")
    assert operator in for_operator(player_state)
    assert not operator.endswith(".")


@given(st.sets(st.sampled_from(Hold)), st.lists(st.integers(1, 9), max_size=2), st.integers(0, 3), st.integers(0, 3))
def test_there_is_always_one_word_and_a_sentence_and_the_first_hold_is_named(
    holds: set[Hold], games: list[int], others: int, free: int
) -> None:
    player_state = Seen(holds=holds, games=games, others=others, free=free, suspension="Told.", closed="Told.", most=1)
    status = for_owner(player_state)
    assert status.why.endswith(".")
    assert "{" not in status.why + for_bot(player_state) + for_operator(player_state)
    order = [hold for hold in Hold if hold in holds]
    assert status.state == (order[0].state if order else "playing" if games else "idle")
    assert status.waits is (not order or order[0] in (Hold.PAIRED, Hold.EVENT, Hold.QUESTION, Hold.PLAYING))
    assert bool(for_operator(player_state)) is bool(holds)
    assert bool(for_bot(player_state)) is any(hold.bot for hold in holds)


@pytest.mark.parametrize(
    ("player_state", "state", "part"),
    [
        (Seen(holds={Hold.PAUSED}, games=[7]), "paused", "Meanwhile game 7 goes on."),
        (Seen(holds={Hold.PLAYING}, games=[7]), "playing", "one at a time"),
        (Seen(games=[7], others=1), "playing", "It has room for another game. The other bot here is busy"),
        (Seen(), "idle", "the only bot here"),
        (Seen(others=4), "idle", "All 4 other bots here are busy"),
        (Seen(others=4, free=2), "idle", "2 other bots are free"),
        (Seen(others=2, free=1), "idle", "1 other bot is free"),
    ],
)
def test_what_it_waits_for(player_state: Seen, state: str, part: str) -> None:
    status = for_owner(player_state)
    assert status.state == state
    assert part in status.why
