"""Published ratings computed again: exact, and whatever was changed by hand is found."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.storage.rated_past import NAMES, VENUE, VOIDED, alter, open_past

from cgos_server.core.rating.base import Entry, Kind, Rating
from cgos_server.core.rating.registry import rating_system
from cgos_server.service.ratings import current_state as catching_up
from cgos_server.service.ratings.build import this_build, under
from cgos_server.service.ratings.current_state import caught_up
from cgos_server.service.ratings.recomputing import as_corrected, recompute
from cgos_server.service.ratings.replaying import Replayed, replay
from cgos_server.storage.reading.history import History


@pytest.fixture
def data(rated_past: Path, tmp_path: Path) -> Path:
    """A copy that may be changed."""
    return Path(shutil.copytree(rated_past, tmp_path / "data"))


async def again(data: Path, system: str = "bayes", build: str | None = None) -> Replayed:
    async with History(data / "cgos.sqlite") as history:
        text = this_build().text if build is None else build
        return await replay(history, VENUE, rating_system(system, 1800.0, {}), text)


@pytest.mark.parametrize("system", ["bayes", "cgos-elo"])
async def test_a_replay_gives_the_same_bits(rated_past: Path, system: str) -> None:
    heard: list[tuple[int, int]] = []
    async with History(rated_past / "cgos.sqlite") as history:
        last = await history.ledger.last_entry(VENUE)
        recorded = await history.refits.recorded(VENUE, system)
        replayed = await replay(
            history, VENUE, rating_system(system, 1800.0, {}), this_build().text, lambda *done: heard.append(done)
        )
    assert replayed.exact
    assert replayed.agrees
    assert replayed.entries == last == heard[-1][0] == heard[-1][1]
    assert replayed.refits == len(recorded)
    assert replayed.changes >= 2 * 46
    assert replayed.first is None
    if system == "bayes":
        # Refits went on beside the results, cold ones beside warm ones.
        assert any(refit.applied > refit.included for refit in recorded)
        assert any(refit.cold and refit.base != refit.number - 1 for refit in recorded)
        here = under(this_build().text, rating_system("bayes", 1800.0, {})).text
        assert replayed.builds == {here: len(recorded)}
        assert replayed.points > 0


@pytest.mark.parametrize(
    ("sql", "refit"),
    [
        ("UPDATE rating_changes SET after_mean = after_mean + 0.5 WHERE system = 'bayes' AND seq = 40", False),
        ("UPDATE rating_changes SET after_spread = after_spread * 1.01 WHERE system = 'bayes' AND seq = 40", False),
        ("UPDATE rating_changes SET games = games + 1 WHERE system = 'bayes' AND seq = 40", False),
        ("DELETE FROM rating_changes WHERE system = 'bayes' AND seq = 40", False),
        ("UPDATE refit_points SET mean = mean - 3 WHERE number = 15", True),
    ],
)
async def test_a_number_that_was_changed_by_hand_is_found(data: Path, sql: str, refit: bool) -> None:
    changed = alter(data, sql)
    assert changed > 0
    replayed = await again(data)
    assert not replayed.agrees
    assert replayed.differing == changed
    assert replayed.first is not None
    assert (replayed.first.refit == 15) if refit else (replayed.first.seq == 40)
    assert (await again(data, "cgos-elo")).exact


async def test_a_result_that_was_changed_by_hand_is_found(data: Path) -> None:
    assert alter(data, "UPDATE ledger SET score2 = 2 - score2 WHERE kind = 'game' AND seq = 30") == 1
    replayed = await again(data)
    assert not replayed.agrees
    assert replayed.first is not None
    assert replayed.first.seq == 30
    assert replayed.largest > 1.0


async def test_a_ledger_that_makes_no_sense_stops_the_replay(data: Path) -> None:
    alter(data, "UPDATE ledger SET white_id = black_id WHERE seq = 30")
    replayed = await again(data)
    assert "Entry 30" in replayed.stopped
    assert not replayed.agrees


async def test_under_another_build_a_millionth_of_an_elo_is_no_difference(data: Path) -> None:
    alter(data, "UPDATE rating_changes SET after_mean = after_mean + 3e-7 WHERE system = 'bayes' AND seq = 40")
    same, other = await again(data), await again(data, build="another build")
    assert same.largest == pytest.approx(3e-7, rel=1e-3)
    assert not same.exact
    assert not same.agrees
    assert not other.exact
    assert other.agrees


async def test_what_another_build_went_on_with_is_the_same_and_not_the_same_bits(data: Path) -> None:
    """As after a takeover by a node of another build: from entry 30 on its numbers differ in their last bits."""
    alter(data, "INSERT INTO builds (id, text) VALUES ('other', 'another build')")
    assert alter(data, "UPDATE refits SET build = 'other' WHERE system = 'bayes' AND applied >= 30") > 0
    alter(data, "UPDATE rating_changes SET after_mean = after_mean + 3e-9 WHERE system = 'bayes' AND seq >= 30")
    for build in (this_build().text, "another build"):  # wherever it is computed again
        replayed = await again(data, build=build)
        assert len(replayed.builds) == 2
        assert not replayed.exact
        assert replayed.agrees
        assert replayed.stopped == ""


async def test_other_options_are_named_where_the_numbers_differ(rated_past: Path) -> None:
    async with History(rated_past / "cgos.sqlite") as history:
        other = rating_system("bayes", 1800.0, {"advantage_sd": 0.0})
        replayed = await replay(history, VENUE, other, this_build().text)
    assert not replayed.agrees
    assert "advantage_sd=0.0" in replayed.build
    assert all("advantage_sd=50.0" in build for build in replayed.builds)


async def test_the_state_of_now_is_found_from_the_saved_one_and_from_nothing(data: Path) -> None:
    standings: list[dict[int, Rating]] = []
    for sql in ("SELECT 1", "DELETE FROM rating_states", "UPDATE rating_states SET state = x'00'"):
        alter(data, sql)
        async with History(data / "cgos.sqlite") as history:
            run = await caught_up(history, VENUE, rating_system("bayes", 1800.0, {}))
            assert run.seq == await history.ledger.last_entry(VENUE)
            published = {row.version: row for row in await history.ratings.standings(VENUE, "bayes")}
        standings.append(dict(run.ratings))
        for version, rating in run.ratings.items():
            assert published[NAMES[version - 1]].mean == pytest.approx(rating.mean, abs=0.1)
    assert standings[0] == standings[1] == standings[2]


async def test_other_options_are_computed_from_the_beginning(data: Path) -> None:
    async with History(data / "cgos.sqlite") as history:
        usual = await caught_up(history, VENUE, rating_system("bayes", 1800.0, {}))
        narrow = await caught_up(history, VENUE, rating_system("bayes", 1800.0, {"prior_sd": 40.0, "learned": False}))
    assert narrow.seq == usual.seq
    assert narrow.ratings[2].spread < 40.0 < usual.ratings[2].spread


def _game(seq: int, score2: int | None, **more: bool) -> Entry:
    return Entry(seq, Kind.GAME, None, 1, 2, score2, **more)


def test_every_game_counts_as_it_counts_now() -> None:
    entries = [
        Entry(1, Kind.ENTER, 1, value=1800.0),
        _game(2, 2),
        _game(3, 2, repeat=True),
        _game(4, 0),
        Entry(5, Kind.CORRECTION, None, 1, 2, None, was2=2),
        Entry(6, Kind.CORRECTION, None, 1, 2, 2, was2=None, repeat=True),
        Entry(7, Kind.CORRECTION, None, 1, 2, 1, was2=None),
        Entry(8, Kind.CORRECTION, None, 1, 2, 2, was2=0),
    ]
    # Game 2 was voided, so that its repeat 3 counts; a void game became a draw at entry 7; game 4 was turned round.
    corrected = list(as_corrected(entries, {2: None, 3: 2, 4: 2, 7: 1}))
    assert corrected == [entries[0], _game(3, 2), _game(4, 2), _game(7, 1)]


async def test_recomputed_is_what_would_stand_without_the_voided_game(rated_past: Path, tmp_path: Path) -> None:
    async with History(rated_past / "cgos.sqlite") as history:
        entries = await history.ledger.entries(VENUE)
        recomputed = await recompute(history, VENUE, rating_system("cgos-elo", 1800.0, {}))
        early = await recompute(history, VENUE, rating_system("cgos-elo", 1800.0, {}), last=30)
        posterior = await recompute(history, VENUE, rating_system("bayes", 1800.0, {}))
        published = {row.version: row for row in await history.ratings.standings(VENUE, "bayes")}
    void = len(NAMES) + 2 + VOIDED  # after the entries of versions and anchors
    assert entries[void - 1].kind is Kind.GAME
    system = rating_system("cgos-elo", 1800.0, {})
    state = system.start()
    for entry in entries:
        if entry.seq == void or entry.kind is Kind.CORRECTION:
            continue
        state, _ = system.fold(state, entry)
        if entry.seq == 30:
            assert dict(system.standings(state)) == early.ratings
    assert dict(system.standings(state)) == recomputed.ratings
    assert (recomputed.seq, recomputed.games, early.seq) == (entries[-1].seq, 1, 30)
    # The posterior takes a voided game out of its counts, so that there both answers come to the same.
    for version, rating in posterior.ratings.items():
        assert rating.games == published[NAMES[version - 1]].games
        assert rating.mean == pytest.approx(published[NAMES[version - 1]].mean, abs=rating.spread / 10)


async def test_an_empty_venue(tmp_path: Path) -> None:
    past = await open_past(tmp_path, names=())
    await past.store.close()
    async with History(tmp_path / "cgos.sqlite") as history:
        replayed = await replay(history, VENUE, rating_system("bayes", 1800.0, {}), "build")
        assert (replayed.exact, replayed.entries, replayed.changes) == (True, 0, 0)
        assert (await recompute(history, VENUE, rating_system("bayes", 1800.0, {}))).ratings == {}
        assert (await caught_up(history, VENUE, rating_system("bayes", 1800.0, {}))).ratings == {}


@pytest.mark.parametrize(("window", "refits"), [(1, 1), (7, 2), (1000, 3)])
async def test_portions_make_no_difference(
    rated_past: Path, monkeypatch: pytest.MonkeyPatch, window: int, refits: int
) -> None:
    whole = await again(rated_past)
    monkeypatch.setattr(catching_up, "WINDOW", window)
    monkeypatch.setattr(catching_up, "_REFITS", refits)
    assert await again(rated_past) == whole
