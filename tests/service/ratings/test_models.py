"""A server that an earlier model of its rating system has rated: it fills the ratings again, says so, and goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from service.ratings.test_ledger_fold import VERSIONS, Live, Toy, _Fit
from structlog.testing import capture_logs
from support.service.loaded_ratings import loaded_ratings
from support.storage.ledger_store import LedgerStore

from cgos_protocol.ids import VersionId
from cgos_server.core.rating.base import Rating
from cgos_server.service.ratings import venue_ratings
from cgos_server.service.ratings.ledger_fold import Retrace, Run
from cgos_server.service.ratings.models import Earlier, earlier_model, earlier_of, model, model_of
from cgos_server.service.ratings.replaying import Replay
from cgos_server.service.ratings.venue_ratings import VenueRatings
from cgos_server.storage.reading.answers import PublishedChange, PublishedPoint, PublishedRefit
from cgos_server.storage.reading.stored import StoredRefit


class LaterToy(Toy):
    """The same system after its model changed: another step, wider numbers, and nothing of before can be read."""

    model = 2

    def start(self) -> Any:
        return super().start() | {"model": 2, "scale": 3.0}

    def load(self, data: bytes) -> Any:
        state = super().load(data)
        if state.get("model") != 2:
            raise ValueError("a state of another model")
        return state

    def job(self, state: Any, cold: bool, follow: str | None = None) -> Any:
        assert follow is None or model_of(follow) == 2, "a refit of the model before cannot be taken again"
        return super().job(state, cold, follow)

    def refit(self, job: Any) -> _Fit:
        fit = super().refit(job)
        fit.notes = json.dumps({"model": 2, **json.loads(fit.notes)})
        return fit


def play(live: Live, games: int) -> None:
    """Games with refits between them."""
    for number in range(games):
        live.do("game", 1 + number % VERSIONS, 1 + (number + 1) % VERSIONS, number % 3)
        live.do("warm", 0, 0, 0)


async def old_venue(save: bool) -> LedgerStore:
    """A venue that the first model rated, with six refits."""
    store = LedgerStore()
    ratings = await loaded_ratings(store, 1, Toy(), (), "build")
    for version in range(1, VERSIONS + 1):
        store.submit(ratings.enter(version, 1800.0, 1_000).records)
    live = Live(ratings, store)
    play(live, 12)
    if save:
        live.do("save", 0, 0, 0)
    return LedgerStore(store.groups)


async def filled(store: LedgerStore) -> tuple[VenueRatings, list[tuple[str, Earlier, int]]]:
    """The ratings at a start with the new model, and what the start said."""
    said: list[tuple[str, Earlier, int]] = []
    ratings = VenueRatings(1, LaterToy(), (), "build", refilled=lambda *what: said.append(what))
    await ratings.load(store, 0)
    return ratings, said


@pytest.mark.parametrize("save", [False, True])
async def test_ratings_of_an_earlier_model_are_filled_again_and_the_start_says_so(save: bool) -> None:
    store = await old_venue(save)
    moved, points, shown = dict(store.moved), list(store.points), dict(store.now)
    ratings, said = await filled(store)
    entries = VERSIONS + 12
    assert said == [("toy", Earlier(model=1, refits=6, until=None), entries)]
    assert store.moved == moved, "what was published stays"
    assert store.points[: len(points)] == points
    (refit,) = store.recorded[6:]
    assert (refit.number, refit.base, refit.included, refit.applied, refit.cold) == (7, 6, entries, entries, 1)
    assert model_of(refit.notes) == 2
    run = Run(LaterToy())
    for entry in await store.history.ledger.entries(1):
        run.fold(entry)
    run.refit_now(cold=True)
    assert dict(ratings.standings()) == run.ratings
    # Everybody sees the new numbers, and that the refit brought them from the old ones.
    for version, rating in run.ratings.items():
        row = store.now["toy", version]
        assert abs(row.mean - rating.mean) <= 0.1
        if abs(rating.mean - shown["toy", version].mean) > 0.1:
            assert any((point.number, point.version_id) == (7, version) for point in store.points)


async def test_the_next_start_follows_the_new_model_and_says_nothing() -> None:
    store = await old_venue(save=True)
    live = Live((await filled(store))[0], store)
    live.games = 1_000
    play(live, 9)
    assert len(store.recorded) > 8
    committed = len(store.groups)
    for states in (dict(store.states), {}):  # without a state it begins with the first refit of its own model
        store.states = states
        again, said = await filled(store)
        assert said == []
        assert dict(again.standings()) == dict(live.ratings.system.standings(live.ratings._headline.state))
        assert not any(record for group in store.groups[committed:] for record in group if hasattr(record, "included"))


@given(st.integers(0, 60), st.integers(0, 5))
async def test_a_kill_while_it_is_filled_costs_nothing(kill: int, later: int) -> None:
    store = await old_venue(save=False)
    before = len(store.groups)
    live = Live((await filled(store))[0], store)
    live.games = 1_000
    play(live, later)
    survived = LedgerStore(store.groups[: before + kill % (len(store.groups) - before + 1)])
    ratings, _ = await filled(survived)
    run = Run(LaterToy())
    run.refits = 6
    trace = Retrace(run, await survived.history.refits.after(1, "toy", 6))
    for entry in await survived.history.ledger.entries(1):
        trace.step(entry)
    assert trace.done
    assert dict(ratings.standings()) == run.ratings


async def test_a_replay_compares_what_its_own_model_published_and_counts_the_rest() -> None:
    store = await old_venue(save=False)
    # A program of the new model that finds the old venue: there is nothing that it could compare.
    alone = await _replayed(store)
    assert (alone.earlier_model, alone.earlier_until, alone.earlier_refits) == (1, None, 6)
    assert alone.earlier_changes == len(store.moved)
    assert (alone.changes, alone.refits, alone.differing) == (0, 0, 0)
    assert alone.agrees
    live = Live((await filled(store))[0], store)
    live.games = 1_000
    play(live, 9)
    replayed = await _replayed(store)
    assert (replayed.earlier_model, replayed.earlier_until) == (1, VERSIONS + 12)
    assert replayed.earlier_changes == alone.earlier_changes
    assert replayed.changes == len(store.moved) - alone.earlier_changes == 2 * 9
    assert replayed.refits == len(store.recorded) - 6
    assert replayed.points > 0
    assert replayed.exact, replayed
    # It is still found where one of its own numbers is another one.
    last = max(store.moved)
    store.moved[last] = store.moved[last]._replace(after_mean=store.moved[last].after_mean + 1.0)
    assert (await _replayed(store)).differing == 1


async def test_the_log_names_the_venue(monkeypatch: pytest.MonkeyPatch) -> None:
    store = await old_venue(save=False)
    monkeypatch.setattr(venue_ratings, "rating_system", lambda *_: LaterToy())
    with capture_logs() as logs:
        await venue_ratings.load_ratings(store, _Nine(), build="build", at=0, progress=lambda _: None)  # type: ignore[arg-type]
    (line,) = (line for line in logs if "earlier model" in line["event"])
    assert (line["venue"], line["system"], line["results"], line["log_level"]) == ("9x9", "toy", 16, "warning")


class _Nine:
    """As much of a venue as its ratings need."""

    id, name, rating, views, initial = 1, "9x9", "toy", (), 1800.0
    rating_options: Mapping[str, Any] = MappingProxyType({})


@given(st.integers(0, 40), st.integers(0, 40))
async def test_the_last_refit_of_an_earlier_model_is_found(old: int, new: int) -> None:
    notes = ['{"draw":0.1}'] * old + ['{"draw":0.1,"model":2}'] * new
    refits = [
        StoredRefit(number, number, number - 1, 10 * number, False, text, "b1") for number, text in enumerate(notes, 1)
    ]

    class Refits:
        async def last(self, _venue: int, _system: str) -> int:
            return len(refits)

        async def after(self, _venue: int, _system: str, after: int, limit: int) -> list[StoredRefit]:
            return refits[after : after + limit]

    class Past:
        refits = Refits()

    expected = Earlier(1, old, 10 * (old + 1) if new else None) if old else None
    assert await earlier_model(Past(), 1, LaterToy()) == expected  # type: ignore[arg-type]
    assert earlier_of(refits, LaterToy()) == expected
    assert earlier_of(refits[:old], Toy()) is None


def test_models() -> None:
    assert (model(Toy()), model(LaterToy())) == (1, 2)
    assert [model_of(notes) for notes in ("", "pid 7", "[]", "{}", '{"model":3}')] == [1, 1, 1, 1, 3]


async def _replayed(store: LedgerStore) -> Any:
    """What a replay of everything finds."""
    system = LaterToy()
    stored = await store.history.refits.after(1, "toy")
    earlier = earlier_of(stored, system)
    under_way = Replay(system, "build", earlier)
    refits = [
        PublishedRefit(refit=refit, build=under_way.replayed.build, points=list(_points(store, refit.number)), at=0)
        for refit in stored[0 if earlier is None else earlier.refits :]
    ]
    changes = [
        PublishedChange(
            seq=row.seq,
            version=VersionId(row.version_id),
            before_mean=row.before_mean,
            before_spread=row.before_spread,
            after_mean=row.after_mean,
            after_spread=row.after_spread,
            games=row.games,
        )
        for row in store.moved.values()
    ]
    under_way.take(await store.history.ledger.entries(1), changes, refits)
    assert all(isinstance(rating, Rating) for rating in under_way.ratings.values())
    return under_way.replayed


def _points(store: LedgerStore, number: int) -> Iterator[PublishedPoint]:
    for point in store.points:
        if point.number == number:
            yield PublishedPoint(version=VersionId(point.version_id), mean=point.mean, spread=point.spread)
