"""What an owner is told of a version: one word and one sentence for whatever may stand in its way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.session import Availability
from cgos_server.service.standing import WAITING, Seen, Word, standing

seen_values = st.builds(
    Seen, here=st.booleans(), stopping=st.booleans(), venue_paused=st.booleans(), paused=st.booleans(),
    called_home=st.booleans(), availability=st.sampled_from(Availability), aside=st.sampled_from(["", "Aside."]),
    closed=st.sampled_from(["", "Closed."]), begun=st.integers(0, 3), most=st.none() | st.integers(0, 3),
    counting=st.booleans(), owing=st.booleans(), games=st.lists(st.integers(1, 9), max_size=2),
    full=st.booleans(), reserved=st.booleans(), alive=st.booleans(), others=st.integers(0, 3), free=st.integers(0, 3),
)  # fmt: skip


@given(seen_values)
def test_there_is_always_one_word_and_a_sentence(seen: Seen) -> None:
    word, why = standing(seen)
    assert isinstance(word, Word)
    assert why.endswith(".")
    held = (
        not seen.here or seen.stopping or seen.venue_paused or seen.paused or seen.aside or seen.closed or seen.owing
        or seen.availability is not Availability.READY or (seen.most is not None and seen.begun >= seen.most)
    )  # fmt: skip
    assert (word not in WAITING) or not held or seen.counting
    if word in WAITING and word is not Word.PAIRED and not seen.full:
        assert seen.alive
        assert not seen.counting


@pytest.mark.parametrize(
    ("seen", "word", "part"),
    [
        (Seen(here=False, games=[7]), Word.AWAY, "its clock runs"),
        (Seen(stopping=True), Word.STOPPING, "about to stop"),
        (Seen(venue_paused=True), Word.VENUE_PAUSED, "An operator"),
        (Seen(paused=True), Word.PAUSED, "Its owner has paused it"),
        (Seen(paused=True, games=[7]), Word.PAUSED, "Meanwhile game 7 goes on."),
        (Seen(paused=True, games=[7, 8]), Word.PAUSED, "Meanwhile its 2 running games go on."),
        (Seen(availability=Availability.DRAINING, called_home=True), Word.DRAINING, "Its owner sent it home"),
        (Seen(availability=Availability.DRAINING), Word.DRAINING, "It wants to leave"),
        (Seen(availability=Availability.PAUSED), Word.RESTING, "until it says ready"),
        (Seen(aside="You spoilt 3 games."), Word.ASIDE, "It was told: You spoilt 3 games."),
        (Seen(closed="No game before ten."), Word.CLOSED, "It was told: No game before ten."),
        (Seen(begun=3, most=3), Word.AT_LIMIT, "allows 3"),
        (Seen(begun=2, most=3, others=2, free=1), Word.IDLE, "1 other bot is free"),
        (Seen(owing=True), Word.OWING, "has not said ready"),
        (Seen(reserved=True), Word.PAIRED, "about to begin"),
        (Seen(full=True, games=[7]), Word.PLAYING, "one at a time"),
        (Seen(full=True, games=[7, 8]), Word.PLAYING, "2 at once"),
        (Seen(games=[7], others=1, free=0), Word.PLAYING, "It has room for another game. The other bot here is busy"),
        (Seen(counting=True, most=3), Word.COUNTING, "being counted"),
        (Seen(alive=False), Word.SLOW, "does not take"),
        (Seen(), Word.IDLE, "the only bot here"),
        (Seen(others=4), Word.IDLE, "All 4 other bots here are busy"),
        (Seen(others=4, free=2), Word.IDLE, "2 other bots are free"),
    ],
)
def test_the_words(seen: Seen, word: Word, part: str) -> None:
    found, why = standing(seen)
    assert found is word
    assert part in why
