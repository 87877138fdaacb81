"""What holds for every rating system, whatever the ledger says: the contract that the rest of the server relies on."""

from __future__ import annotations

import math
import pickle
from itertools import permutations
from typing import Any
from zlib import crc32

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from cgos_protocol.errors import OurFault
from cgos_server.core.rating.base import Change, Entry, Kind, Rating, RatingSystem, Refitting
from cgos_server.core.rating.registry import SYSTEMS, rating_system

DAY = 86_400_000
NOT_ALONE = [name for name in SYSTEMS if isinstance(rating_system(name, 1800.0, {}), Refitting)]

every_system = pytest.mark.parametrize("name", SYSTEMS)
few = settings(max_examples=25)


def system_of(name: str) -> Any:
    return rating_system(name, 1800.0, {})


def same(first: Rating, second: Rating) -> bool:
    """The same but for rounding: whoever shows all ratings at once may add up in another order."""
    return first[2:] == second[2:] and first[:2] == pytest.approx(second[:2], rel=1e-9, abs=1e-9)


levels = st.floats(0.0, 4000.0)
sds = st.none() | st.floats(1.0, 300.0)


@st.composite
def ledgers(draw: st.DrawFn) -> list[Entry]:
    """Entries that make sense, of all kinds: what the server itself could have written."""
    entries: list[Entry] = []
    entered: list[int] = []
    played: list[Entry] = []
    at = 1_700_000_000_000

    def add(kind: Kind, *args: Any, **fields: Any) -> Entry:
        entries.append(Entry(len(entries) + 1, kind, *args, **fields, at=at))
        return entries[-1]

    def enter() -> None:
        other = draw(st.none() | st.sampled_from(entered)) if entered else None
        version = 7 + 3 * len(entered)
        add(Kind.ENTER, version, value=draw(st.none() | levels), sd=draw(sds), other=other)
        entered.append(version)

    for _ in range(draw(st.integers(2, 4))):
        enter()
    kinds = draw(st.lists(st.sampled_from([*Kind, Kind.GAME, Kind.GAME, Kind.GAME]), max_size=30))
    for kind in kinds:
        at += draw(st.integers(0, 60)) * DAY
        first, second = draw(st.permutations(entered))[:2]
        if kind is Kind.ENTER:
            enter()
        elif kind is Kind.GAME:
            score2, repeat = draw(st.integers(0, 2)), draw(st.booleans())
            played.append(add(kind, None, first, second, score2, repeat=repeat))
        elif kind is Kind.ANCHOR:
            add(kind, first, value=draw(levels), sd=draw(sds))
        elif kind is Kind.LINK:
            add(kind, first, other=second, sd=draw(sds))
        elif kind is Kind.UNLINK:
            add(kind, first, other=second)
        elif kind is Kind.UNANCHOR:
            add(kind, first)
        elif played:
            index = draw(st.integers(0, len(played) - 1))
            game = played[index]
            score2 = draw(st.integers(0, 2) if game.score2 is None else st.none() | st.integers(0, 2))
            where = (None, game.black, game.white, score2)
            played[index] = add(kind, *where, was2=game.score2, repeat=game.repeat)
    return entries


def folded(system: Any, entries: list[Entry], state: Any = None) -> tuple[Any, list[Change]]:
    state = system.start() if state is None else state
    changes: list[Change] = []
    for entry in entries:
        state, changed = system.fold(state, entry)
        changes += changed
    return state, changes


@every_system
@few
@given(entries=ledgers())
def test_ratings_are_finite_and_changes_tell_the_truth(name: str, entries: list[Entry]) -> None:
    system = system_of(name)
    state = system.start()
    before: dict[int, Rating] = {}
    for entry in entries:
        state, changes = system.fold(state, entry)
        after = dict(system.standings(state))
        changed = {change.version: change for change in changes}
        assert len(changed) == len(changes)
        if entry.kind is Kind.GAME or (entry.kind is Kind.CORRECTION and changed):
            assert set(changed) == {entry.black, entry.white}
        elif entry.kind is Kind.CORRECTION:
            assert entry.repeat
            assert entry.was2 is None, "only what is not for this system changes nothing"
        for version, change in changed.items():
            assert same(change.after, after[version])
            assert same(change.before, before.get(version, change.after))
        for version, rating in after.items():
            assert math.isfinite(rating.mean)
            assert math.isfinite(rating.spread)
            assert rating.spread >= 0
            assert rating.games >= 0
            if version not in changed:
                assert rating.games == before[version].games
            if rating.anchor:
                assert not rating.provisional
                if before[version].anchor and entry.kind is not Kind.ANCHOR:
                    assert rating.mean == before[version].mean
        before = after


@every_system
@few
@given(entries=ledgers())
def test_predictions_are_probabilities(name: str, entries: list[Entry]) -> None:
    system = system_of(name)
    state, _ = folded(system, entries)
    for black, white in permutations(system.standings(state), 2):
        outcome = system.predict(state, black, white)
        assert sum(outcome) == pytest.approx(1.0)
        assert all(0.0 <= chance <= 1.0 for chance in outcome)
        assert 0.0 <= outcome.score <= 1.0
        assert math.isfinite(outcome.log_loss(0))


def freed_successor() -> list[Entry]:
    """A successor is anchored, freed, plays, and is linked to its predecessor again."""
    return [
        Entry(1, Kind.ENTER, 7, value=1800.0, at=DAY),
        Entry(2, Kind.ENTER, 10, other=7, at=DAY),
        Entry(3, Kind.ANCHOR, 10, value=1500.0, at=DAY),
        Entry(4, Kind.UNANCHOR, 10, at=DAY),
        Entry(5, Kind.GAME, None, 7, 10, 0, at=DAY),
        Entry(6, Kind.LINK, 10, other=7, at=DAY),
    ]


@every_system
@few
@example(entries=freed_successor(), cut=6)
@example(entries=[*freed_successor(), Entry(7, Kind.UNLINK, 10, other=7, at=DAY)], cut=7)
@given(entries=ledgers(), cut=st.integers(0, 40))
def test_a_state_saved_at_any_instant_goes_on_bit_for_bit(name: str, entries: list[Entry], cut: int) -> None:
    system = system_of(name)
    half, _ = folded(system, entries[:cut])
    saved = system.dump(half)
    loaded = system.load(saved)
    assert system.dump(loaded) == saved
    assert dict(system.standings(loaded)) == dict(system.standings(half))
    state, changes = folded(system, entries[cut:], half)
    other, again = folded(system, entries[cut:], loaded)
    assert again == changes
    assert dict(system.standings(other)) == dict(system.standings(state))
    assert system.dump(other) == system.dump(state)


@every_system
@few
@given(entries=ledgers())
def test_the_same_ledger_gives_the_same_numbers(name: str, entries: list[Entry]) -> None:
    state, changes = folded(system_of(name), entries)
    other, again = folded(system_of(name), entries)
    assert again == changes
    assert dict(system_of(name).standings(state)) == dict(system_of(name).standings(other))


def linked_anchor() -> list[Entry]:
    """Version 1 is an anchor, loses to 2, is linked to it, and is no anchor any more; 3 and 4 have nothing to do with
    either."""
    entries = [Entry(seq, Kind.ENTER, seq, at=DAY) for seq in range(1, 5)]

    def add(kind: Kind, *args: Any, **fields: Any) -> None:
        entries.append(Entry(len(entries) + 1, kind, *args, **fields, at=len(entries) * DAY))

    add(Kind.ANCHOR, 1, value=0.0)
    for _ in range(7):
        add(Kind.GAME, None, 3, 4, 0)
    add(Kind.GAME, None, 1, 2, 0)
    add(Kind.LINK, 1, other=2)
    add(Kind.GAME, None, 1, 2, 0)
    add(Kind.UNANCHOR, 1)
    return entries


@pytest.mark.parametrize("included", range(16))
@pytest.mark.parametrize("name", NOT_ALONE)
def test_an_anchor_that_was_linked_has_a_place_when_it_is_none_any_more(name: str, included: int) -> None:
    """A link of a version that has joined comes in by a refit: until then its predecessor says nothing of it."""
    system, entries = system_of(name), linked_anchor()
    state, _ = folded(system, entries[:included])
    fit = system.refit(system.job(state, False))
    state, _ = folded(system, entries[included:], state)
    state = system.install(state, fit)
    for each_state in (state, system.load(system.dump(state))):
        for rating in system.standings(each_state).values():
            assert rating.spread < 1_500
            assert abs(rating.mean - 1800) < 1_500


@pytest.mark.parametrize("late", [False, True], ids=["no refit", "a refit that was begun before"])
@pytest.mark.parametrize("name", NOT_ALONE)
def test_a_link_says_nothing_of_a_successor_that_was_freed_before_it(name: str, late: bool) -> None:
    """The belief has its predecessor already, so it stands where it would stand if it had never been an anchor."""
    system, entries = system_of(name), freed_successor()
    state, _ = folded(system, entries[:1])
    fit = system.refit(system.job(state, False))
    state, _ = folded(system, entries[1:], state)
    never, _ = folded(system, [entries[0], entries[1], entries[4]])
    if late:
        state, never = system.install(state, fit), system.install(never, fit)
    expected = system.standings(never)
    for each_state in (state, system.load(system.dump(state))):
        for version, rating in system.standings(each_state).items():
            assert rating.mean == pytest.approx(expected[version].mean, abs=0.1)
            assert rating.spread == pytest.approx(expected[version].spread, abs=0.1)


@pytest.mark.parametrize(("name", "checksum"), [("bayes", 1804888006), ("whole-history", 1430490163)])
def test_states_that_earlier_servers_saved_have_the_same_bytes(name: str, checksum: int) -> None:
    """So they load to the numbers that the running server showed. A new layout needs new checksums."""
    system = system_of(name)
    assert crc32(system.dump(folded(system, freed_successor())[0])) == checksum


@pytest.mark.parametrize("name", NOT_ALONE)
@settings(max_examples=10)
@given(entries=ledgers(), begun=st.integers(0, 40), done=st.integers(0, 40), cold=st.booleans())
def test_a_refit_takes_its_place_whenever_it_is_done(
    name: str, entries: list[Entry], begun: int, done: int, cold: bool
) -> None:
    """Begun after one entry, installed after another, with a state that was saved in between and one that was not."""
    system = system_of(name)
    begun, done = sorted((begun, done))
    state, _ = folded(system, entries[:begun])
    job = pickle.loads(pickle.dumps(system.job(state, cold)))
    fit = pickle.loads(pickle.dumps(system.refit(job)))
    assert fit.included == min(begun, len(entries))
    state, _ = folded(system, entries[begun:done], state)
    twin = system.load(system.dump(state))
    fixed = {version: rating.mean for version, rating in system.standings(state).items() if rating.anchor}
    for each_state in (state, twin):
        assert not system.stale(each_state, fit)
        assert system.install(each_state, fit) is each_state
        assert system.wanted(each_state).results <= max(0, min(done, len(entries)) - begun)
    assert dict(system.standings(twin)) == dict(system.standings(state))
    assert {version: system.standings(state)[version].mean for version in fixed} == fixed
    state, changes = folded(system, entries[done:], state)
    twin, again = folded(system, entries[done:], system.load(system.dump(twin)))
    assert again == changes
    for rating in system.standings(state).values():
        assert math.isfinite(rating.mean)
        assert 0 < rating.spread < 10_000
    for first, second in permutations(system.standings(state), 2):
        assert system.superiority(state, first, second) + system.superiority(state, second, first) == pytest.approx(1.0)


@pytest.mark.parametrize("name", NOT_ALONE)
def test_a_recorded_refit_can_be_followed(name: str) -> None:
    system = system_of(name)
    state, _ = folded(system, GOOD)
    fit = system.refit(system.job(state, True))
    again = system.refit(system.job(state, True, follow=fit.notes))
    assert again.notes == fit.notes
    state = system.install(state, fit)
    state, _ = folded(system, [Entry(5, Kind.GAME, None, 1, 2, 0)], state)
    warm = system.refit(system.job(state, False))
    assert system.refit(system.job(state, False, follow=warm.notes)).notes == warm.notes
    assert not warm.cold
    with pytest.raises(OurFault, match="notes"):
        system.job(state, False, follow="{}")


GOOD = [
    Entry(1, Kind.ENTER, 1),
    Entry(2, Kind.ENTER, 2, value=2000.0),
    Entry(3, Kind.GAME, None, 1, 2, 2),
    Entry(4, Kind.ANCHOR, 2, value=2000.0, sd=10.0),
]

STRANGERS = {
    "game": Entry(5, Kind.GAME, None, 1, 9, 2),
    "game of another": Entry(5, Kind.GAME, None, 9, 1, 2),
    "anchor": Entry(5, Kind.ANCHOR, 9, value=2000.0),
    "unanchor": Entry(5, Kind.UNANCHOR, 9),
    "successor": Entry(5, Kind.ENTER, 3, other=9),
    "link": Entry(5, Kind.LINK, 1, other=9),
    "link of another": Entry(5, Kind.LINK, 9, other=1),
    "unlink": Entry(5, Kind.UNLINK, 9, other=1),
    "correction": Entry(5, Kind.CORRECTION, None, 1, 9, 2, was2=0),
}

NONSENSE = {
    "enters twice": Entry(5, Kind.ENTER, 1),
    "enters without version": Entry(5, Kind.ENTER),
    "enters at nan": Entry(5, Kind.ENTER, 3, value=math.nan),
    "alone": Entry(5, Kind.GAME, None, 1, 1, 2),
    "no opponent": Entry(5, Kind.GAME, None, 1, None, 2),
    "no result": Entry(5, Kind.GAME, None, 1, 2),
    "three half points": Entry(5, Kind.GAME, None, 1, 2, 3),
    "anchor without value": Entry(5, Kind.ANCHOR, 1),
    "anchor at infinity": Entry(5, Kind.ANCHOR, 1, value=math.inf),
    "anchor with sd 0": Entry(5, Kind.ANCHOR, 1, value=2000.0, sd=0.0),
    "anchor without version": Entry(5, Kind.ANCHOR, value=2000.0),
    "links to nobody": Entry(5, Kind.LINK, 1),
    "links to itself": Entry(5, Kind.LINK, 1, other=1),
    "link with sd nan": Entry(5, Kind.LINK, 1, other=2, sd=math.nan),
    "corrects itself": Entry(5, Kind.CORRECTION, None, 1, 1, 2, was2=0),
    "corrects from three": Entry(5, Kind.CORRECTION, None, 1, 2, 2, was2=3),
    "corrects to three": Entry(5, Kind.CORRECTION, None, 1, 2, 3, was2=2),
}


@every_system
@pytest.mark.parametrize("entry", STRANGERS.values(), ids=STRANGERS)
def test_strangers_are_key_errors_and_nothing_is_changed(name: str, entry: Entry) -> None:
    system = system_of(name)
    state, _ = folded(system, GOOD)
    before = system.dump(state)
    with pytest.raises(KeyError):
        system.fold(state, entry)
    assert system.dump(state) == before


@every_system
@pytest.mark.parametrize("entry", NONSENSE.values(), ids=NONSENSE)
def test_nonsense_is_our_fault_and_nothing_is_changed(name: str, entry: Entry) -> None:
    system = system_of(name)
    state, _ = folded(system, GOOD)
    before = system.dump(state)
    with pytest.raises(OurFault, match="5"):
        system.fold(state, entry)
    assert system.dump(state) == before


@every_system
def test_predicting_a_stranger_is_a_key_error(name: str) -> None:
    system = system_of(name)
    state, _ = folded(system, GOOD)
    for pair in ((1, 9), (9, 1)):
        with pytest.raises(KeyError):
            system.predict(state, *pair)


@every_system
def test_who_wins_is_above_who_loses_and_expected_to_win_again(name: str) -> None:
    system = system_of(name)
    entries = [Entry(seq, Kind.ENTER, seq) for seq in (1, 2)]
    entries += [Entry(seq, Kind.GAME, None, *((1, 2, 2) if seq % 2 else (2, 1, 0))) for seq in range(3, 33)]
    state, _ = folded(system, entries)
    standings = system.standings(state)
    assert standings[1].mean > standings[2].mean + 50
    assert system.predict(state, 1, 2).score > 0.55
    assert system.predict(state, 2, 1).score < 0.45


@pytest.mark.parametrize("name", [name for name in SYSTEMS if name not in NOT_ALONE])
@few
@given(entries=ledgers(), was=st.integers(0, 2), score2=st.integers(0, 2), void=st.booleans())
def test_a_correction_taken_back_is_nearly_as_before(
    name: str, entries: list[Entry], was: int, score2: int, void: bool
) -> None:
    """A third of what the whole game could move at most: steps depend on where the players stand by then."""
    system = system_of(name)
    state, _ = folded(system, entries)
    black, white = list(system.standings(state))[:2]
    for seq in range(100, 140):
        winner = (white, black, 1 + seq % 2)
        state, _ = system.fold(state, Entry(seq, Kind.GAME, None, *winner))
    before = {version: system.standings(state)[version] for version in (black, white)}
    assume(min(rating.mean for rating in before.values()) > 250)  # a floor forgets how far below it the way led
    for seq, (old, new) in enumerate([(was, None if void else score2), (None if void else score2, was)], 200):
        state, changes = system.fold(state, Entry(seq, Kind.CORRECTION, None, black, white, new, was2=old))
    for version, rating in before.items():
        after = system.standings(state)[version]
        assert after.games == rating.games
        moved = max(abs(change.after.mean - change.before.mean) for change in changes)
        assert after.mean == pytest.approx(rating.mean, abs=1e-9 + moved / 3)


@every_system
@pytest.mark.parametrize("data", [b"", b"nothing", bytes(100)])
def test_other_bytes_are_no_state(name: str, data: bytes) -> None:
    with pytest.raises(ValueError, match="state"):
        system_of(name).load(data)


@pytest.mark.parametrize("name", SYSTEMS)
def test_no_system_reads_the_state_of_another(name: str) -> None:
    data = system_of(name).dump(folded(system_of(name), GOOD)[0])
    for other in SYSTEMS:
        if other != name:
            with pytest.raises(ValueError, match="state"):
                system_of(other).load(data)


def test_the_registry_gives_rating_systems() -> None:
    """Checked by the type checker, too."""
    systems: list[RatingSystem] = [rating_system(name, 1800.0, {}) for name in SYSTEMS]
    assert [system.name for system in systems] == list(SYSTEMS)
