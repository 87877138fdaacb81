"""A venue's ratings go on after any stop as if there had been none, and replaying them gives the same bits."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.service.loaded_ratings import loaded_ratings
from support.storage.ledger_store import LedgerStore

from cgos_protocol.errors import OurFault
from cgos_server.core.rating.base import Change, Entry, Kind, Outcome, Rating, Wanted
from cgos_server.core.rating.registry import rating_system
from cgos_server.core.rating.repeats import game_digest
from cgos_server.service.ratings import venue_ratings as service_ratings
from cgos_server.service.ratings.ledger_fold import Begun, Retrace, Run
from cgos_server.service.ratings.venue_ratings import VenueRatings
from cgos_server.storage.writing.records import RatingMoved

VERSIONS = 4


@dataclass
class _Fit:
    included: int
    cold: bool
    notes: str
    shift: float
    colds: int


class Toy:
    """A rating system with refits whose every number depends on the whole order of events."""

    name = "toy"
    sure = True

    def start(self) -> Any:
        return {"mean": {}, "games": {}, "later": [], "colds": 0, "included": 0, "seq": 0, "scale": 1.0}

    def fold(self, state: Any, entry: Entry) -> tuple[Any, tuple[Change, ...]]:
        before = {
            who: self._rating(state, who)
            for who in (entry.version, entry.black, entry.white)
            if who is not None and who in state["mean"]
        }
        if entry.kind is Kind.ENTER and entry.version is not None:
            state["mean"][entry.version], state["games"][entry.version] = entry.value, 0
            before[entry.version] = self._rating(state, entry.version)
        elif entry.kind is Kind.GAME:
            assert entry.black is not None
            assert entry.white is not None
            for who in (entry.black, entry.white):
                state["games"][who] += 1
            state["later"].append((entry.seq, entry.black, entry.white, entry.score2))
            self._step(state, entry.black, entry.white, entry.score2)
        state["seq"] = entry.seq
        return state, tuple(Change(who, was, self._rating(state, who)) for who, was in before.items())

    @staticmethod
    def _step(state: Any, black: int, white: int, score2: int | None) -> None:
        assert score2 is not None
        move = state["scale"] * (score2 - 1) * 7.0 + (state["mean"][white] - state["mean"][black]) * 0.01
        state["mean"][black] += move
        state["mean"][white] -= move

    @staticmethod
    def _rating(state: Any, who: int) -> Rating:
        return Rating(state["mean"][who], 100.0 / (1 + state["games"][who]), state["games"][who], False)

    def standings(self, state: Any) -> Mapping[int, Rating]:
        return {who: self._rating(state, who) for who in state["mean"]}

    def predict(self, state: Any, black: int, white: int) -> Outcome:
        return Outcome(0.5, 0.0, 0.5)

    def dump(self, state: Any) -> bytes:
        return json.dumps(state).encode()

    def load(self, data: bytes) -> Any:
        state = json.loads(data)
        for key in ("mean", "games"):
            state[key] = {int(who): value for who, value in state[key].items()}
        state["later"] = [tuple(step) for step in state["later"]]
        return state

    def wanted(self, state: Any) -> Wanted:
        return Wanted(len(state["later"]), len(state["later"]) > 6)

    def job(self, state: Any, cold: bool, follow: str | None = None) -> Any:
        return {"mean": dict(state["mean"]), "seq": state["seq"], "cold": cold, "colds": state["colds"]}

    def refit(self, job: Any) -> _Fit:
        shift = sum(who * mean for who, mean in job["mean"].items()) % 3.1
        return _Fit(
            included=job["seq"], cold=job["cold"], notes=json.dumps({"shift": shift}), shift=shift, colds=job["colds"]
        )

    def stale(self, state: Any, fit: _Fit) -> bool:
        return not fit.cold and (fit.colds != state["colds"] or fit.included < state["included"])

    def install(self, state: Any, fit: _Fit) -> Any:
        for who in state["mean"]:
            state["mean"][who] += fit.shift * (1 if who % 2 else -1)
        state["scale"] = 1.0 + fit.shift / 10
        state["colds"] += fit.cold
        state["included"] = max(fit.included, state["included"])
        later = [step for step in state["later"] if step[0] > fit.included]
        for _, black, white, score2 in later:
            self._step(state, black, white, score2)
        state["later"] = later
        return state

    def superiority(self, state: Any, first: int, second: int) -> float:
        return 0.5


class Live:
    """A venue at work: events come, refits begin and end, states are saved, and it may be killed after any commit."""

    def __init__(self, ratings: VenueRatings, store: LedgerStore) -> None:
        self.ratings, self.store = ratings, store
        self.under_way: dict[bool, Begun] = {}
        self.games = 0

    def do(self, what: str, first: int, second: int, score2: int) -> None:
        ratings = self.ratings
        if what == "game" and first != second:
            self.games += 1
            digest = game_digest((str(first), str(score2)), score2) if score2 else None
            self.store.submit(ratings.game(self.games, first, second, score2, 1_000, digest).records)
        elif what in ("warm", "cold"):
            cold = what == "cold"
            begun = self.under_way.pop(cold, None)
            if begun is None:
                self.under_way[cold] = ratings.begin(ratings.system.name, cold)
            else:
                fit = ratings.refitting(begun.system).refit(begun.job)
                done = ratings.finish(begun, fit, 1_000, 5)
                if done is not None:
                    self.store.submit(done)
        elif what == "save" and not self.under_way:
            self.store.submit(ratings.states(1_000))


EVENT = st.tuples(
    st.sampled_from(("game", "game", "game", "warm", "cold", "save")),
    st.integers(1, VERSIONS),
    st.integers(1, VERSIONS),
    st.integers(0, 2),
)


def systems(which: str) -> tuple[Any, Sequence[Any]]:
    if which == "toy":
        return Toy(), (rating_system("cgos-elo", 1800.0, {}),)
    return rating_system("bayes", 1800.0, {}), ()


async def begun(which: str) -> Live:
    store = LedgerStore()
    headline, views = systems(which)
    ratings = await loaded_ratings(store, 1, headline, views, "build")
    for version in range(1, VERSIONS + 1):
        store.submit(ratings.enter(version, 1800.0, 1_000).records)
    return Live(ratings, store)


async def check(which: str, events: Sequence[tuple[str, int, int, int]], kill: int, after: Sequence[Any]) -> None:
    live = await begun(which)
    for event in events:
        live.do(*event)
    survived = LedgerStore(live.store.groups[: max(VERSIONS, kill % (len(live.store.groups) + 1))])
    headline, views = systems(which)
    ratings = await loaded_ratings(survived, 1, headline, views, "build")
    if len(survived.groups) == len(live.store.groups):
        mine, its = ratings._headline.state, live.ratings._headline.state
        assert dict(headline.standings(mine)) == dict(headline.standings(its))
        assert ratings.seq == live.ratings.seq
    # Whatever goes on from here is replayed from the records alone, to the same bits.
    again = Live(ratings, survived)
    again.games = 1_000
    for event in after:
        again.do(*event)
    for system in (headline, *views):
        run = Run(system)
        trace = Retrace(run, await survived.history.refits.after(1, system.name))
        for entry in await survived.history.ledger.entries(1):
            changes, _ = trace.step(entry)
            for version, old, new in changes:
                row = survived.moved[entry.seq, system.name, version]
                assert (row.before_mean, row.before_spread) == (old.mean, old.spread)
                assert (row.after_mean, row.after_spread, row.games) == (new.mean, new.spread, new.games)
        assert trace.done
        assert dict(system.standings(run.state)) == dict(system.standings(ratings._runs[system.name].state))


@settings(max_examples=150)
@given(st.lists(EVENT, max_size=40), st.integers(0, 200), st.lists(EVENT, max_size=15))
async def test_a_stop_at_any_commit_changes_nothing(
    events: list[tuple[str, int, int, int]], kill: int, after: list[tuple[str, int, int, int]]
) -> None:
    await check("toy", events, kill, after)


@settings(max_examples=8)
@given(st.lists(EVENT, min_size=10, max_size=40), st.integers(0, 200), st.lists(EVENT, max_size=15))
async def test_the_posterior_survives_a_stop_bit_for_bit(
    events: list[tuple[str, int, int, int]], kill: int, after: list[tuple[str, int, int, int]]
) -> None:
    await check("bayes", events, kill, after)


async def test_a_new_view_is_filled_from_the_results_and_the_headline_stays() -> None:
    live = await begun("toy")
    for number in range(30):
        live.do("game", 1 + number % VERSIONS, 1 + (number + 1) % VERSIONS, number % 3)
    shown = dict(live.ratings.standings())
    views = (rating_system("cgos-elo", 1800.0, {}), rating_system("bayes", 1800.0, {}))
    store = LedgerStore(live.store.groups)
    before = len(store.moved)
    ratings = await loaded_ratings(store, 1, Toy(), views, "build")
    assert dict(ratings.standings()) == shown
    bayes = [row for row in store.moved.values() if row.system == "bayes"]
    assert len(bayes) == VERSIONS + 2 * 30
    assert len(store.moved) == before + len(bayes)
    assert any(refit.system == "bayes" and refit.cold for refit in store.recorded)
    assert {system for system, _ in store.now} == {"toy", "cgos-elo", "bayes"}
    # At the next start nothing is left to do.
    committed = len(store.groups)
    await loaded_ratings(store, 1, Toy(), views, "build")
    assert len(store.groups) == committed


async def test_a_view_that_was_away_is_filled_where_it_stopped() -> None:
    live = await begun("toy")
    live.do("game", 1, 2, 2)
    store = LedgerStore(live.store.groups)
    alone = await loaded_ratings(store, 1, Toy(), (), "build")
    store.submit(alone.game(77, 3, 4, 0, 1_000).records)
    back = await loaded_ratings(store, 1, Toy(), (rating_system("cgos-elo", 1800.0, {}),), "build")
    assert back.seq == alone.seq
    assert (back.seq, "cgos-elo", 3) in store.moved


async def test_a_view_that_breaks_costs_no_game() -> None:
    class Broken(Toy):
        name = "broken"

        def fold(self, state: Any, entry: Entry) -> Any:
            if entry.kind is Kind.GAME:
                raise ZeroDivisionError
            return super().fold(state, entry)

    failures: list[str] = []
    ratings = VenueRatings(1, Toy(), (Broken(),), view_failed=lambda name, error: failures.append(f"{name} {error!r}"))
    for version in (1, 2):
        ratings.enter(version, 1800.0, 0)
    applied = ratings.game(1, 1, 2, 2, 0)
    assert applied.changes
    assert {record.system for record in applied.records if isinstance(record, RatingMoved)} == {"toy"}
    assert failures == ["broken ZeroDivisionError()"]
    assert ratings.game(2, 1, 2, 2, 0).changes


async def test_a_headline_that_breaks_says_so_before_anything_is_numbered() -> None:
    class Broken(Toy):
        def fold(self, state: Any, entry: Entry) -> Any:
            if entry.kind is Kind.GAME:
                raise ZeroDivisionError
            return super().fold(state, entry)

    ratings = VenueRatings(1, Broken())
    for version in (1, 2):
        ratings.enter(version, 1800.0, 0)
    with pytest.raises(ZeroDivisionError):
        ratings.game(1, 1, 2, 2, 0)
    assert ratings.seq == 2


async def test_the_same_game_again_is_marked_and_a_loss_on_time_is_not() -> None:
    live = await begun("bayes")
    ratings = live.ratings
    digest = game_digest(("e5", "c3"), 2)
    first = ratings.game(1, 1, 2, 2, 0, digest)
    assert not first.entry.repeat
    again = ratings.game(2, 1, 2, 2, 0, digest)
    assert again.entry.repeat
    assert [change.after.games for change in again.changes] == [2, 2]
    assert [change.after[:2] for change in again.changes] == [change.before[:2] for change in again.changes]
    assert not ratings.game(3, 2, 1, 2, 0, digest).entry.repeat, "the colors are the other way round"
    assert not ratings.game(4, 1, 2, 2, 0, None).entry.repeat
    assert digest != game_digest(("e5", "c3"), 0)
    live.store.submit(first.records)
    live.store.submit(again.records)
    loaded = await loaded_ratings(live.store, 1, ratings.system, (), "build")
    assert loaded.game(9, 1, 2, 2, 0, digest).entry.repeat, "what was played is remembered over a restart"


async def test_records_that_do_not_fit_do_not_keep_the_server_from_starting() -> None:
    live = await begun("toy")
    for number in range(12):
        live.do("game", 1 + number % VERSIONS, 1 + (number + 1) % VERSIONS, number % 3)
        live.do("warm", 0, 0, 0)
    store = LedgerStore(live.store.groups)
    assert len(store.recorded) == 6
    store.recorded[3] = store.recorded[3]._replace(base=99)
    moved, points = dict(store.moved), list(store.points)
    ratings = await loaded_ratings(store, 1, Toy(), (), "build")
    assert ratings.seq == live.ratings.seq
    assert store.moved == moved, "what was published stays"
    assert store.points[: len(points)] == points
    assert (store.recorded[-1].number, store.recorded[-1].cold) == (7, 1), "a refit from the counts alone"
    # It goes on, and numbers its refits after those that are there.
    again = Live(ratings, store)
    again.do("cold", 0, 0, 0)
    again.do("cold", 0, 0, 0)
    assert store.recorded[-1].number == 8


class Broken(Toy):
    """A view that one game is too much for."""

    name = "broken"
    at = 7

    def fold(self, state: Any, entry: Entry) -> Any:
        if entry.seq == self.at:
            raise ValueError("too much")
        return super().fold(state, entry)


async def test_a_view_that_breaks_while_it_is_filled_does_not_keep_the_server_from_starting() -> None:
    live = await begun("toy")
    for number in range(10):
        live.do("game", 1 + number % VERSIONS, 1 + (number + 1) % VERSIONS, number % 3)
    failures: list[str] = []
    views = (Broken(), rating_system("glicko2", 1800.0, {}))
    ratings = await loaded_ratings(
        LedgerStore(live.store.groups),
        1,
        Toy(),
        views,
        "build",
        lambda name, _: failures.append(name),  # type: ignore[arg-type]
    )
    assert failures == ["broken"]
    assert dict(ratings.standings()) == dict(live.ratings.standings())
    assert ratings._runs["glicko2"].seq == ratings.seq == live.ratings.seq


async def test_a_headline_that_breaks_while_it_is_loaded_says_so_once() -> None:
    live = await begun("toy")
    for number in range(10):
        live.do("game", 1 + number % VERSIONS, 1 + (number + 1) % VERSIONS, number % 3)
    with pytest.raises(ValueError, match="too much"):
        await loaded_ratings(LedgerStore(live.store.groups), 1, Broken(), (), "build")


async def test_a_first_refit_that_does_not_fit_the_saved_state_is_left_out() -> None:
    live = await begun("toy")
    for number in range(3):
        live.do("game", 1 + number, 2 + number, 2)
    live.do("save", 0, 0, 0)
    live.do("warm", 0, 0, 0)
    live.do("warm", 0, 0, 0)
    store = LedgerStore(live.store.groups)
    store.recorded[0] = store.recorded[0]._replace(base=99)
    ratings = await loaded_ratings(store, 1, Toy(), (), "build")
    assert ratings.seq == live.ratings.seq


async def test_a_rating_that_is_no_number_is_not_stored() -> None:
    class Astray(Toy):
        name = "astray"

        def _rating(self, state: Any, who: int) -> Rating:
            rating = super()._rating(state, who)
            return rating if rating.games < 2 else rating._replace(mean=float("nan"))

    failures: list[str] = []
    ratings = VenueRatings(1, Toy(), (Astray(),), view_failed=lambda name, _: failures.append(name))
    alone = VenueRatings(1, Astray())
    for version in (1, 2):
        ratings.enter(version, 1800.0, 0)
        alone.enter(version, 1800.0, 0)
    ratings.game(1, 1, 2, 2, 0)
    records = ratings.game(2, 1, 2, 2, 0).records
    assert failures == ["astray"]
    assert {record.system for record in records if isinstance(record, RatingMoved)} == {"toy"}
    alone.game(1, 1, 2, 2, 0)
    before = dict(alone.standings())
    with pytest.raises(OurFault, match="nan"):
        alone.game(2, 1, 2, 2, 0)
    assert (alone.seq, dict(alone.standings())) == (3, before)


async def test_a_refit_that_gives_no_numbers_is_not_published() -> None:
    class Astray(Toy):
        def refit(self, job: Any) -> Any:
            fit = super().refit(job)
            fit.shift = float("nan")
            return fit

    ratings = VenueRatings(1, Astray())
    for version in (1, 2):
        ratings.enter(version, 1800.0, 0)
    begun_ = ratings.begin("toy", True)
    shown = dict(ratings.standings())
    with pytest.raises(OurFault, match="nan"):
        ratings.finish(begun_, ratings.refitting("toy").refit(begun_.job), 0, 0)
    assert dict(ratings.standings()) == shown


async def test_a_game_that_could_not_be_rated_is_no_first_of_repeats() -> None:
    class Once(Toy):
        fails = True

        def fold(self, state: Any, entry: Entry) -> Any:
            if entry.kind is Kind.GAME and self.fails:
                self.fails = False
                raise ZeroDivisionError
            return super().fold(state, entry)

    ratings = VenueRatings(1, Once())
    for version in (1, 2):
        ratings.enter(version, 1800.0, 0)
    with pytest.raises(ZeroDivisionError):
        ratings.game(1, 1, 2, 2, 0, 5)
    assert not ratings.game(2, 1, 2, 2, 0, 5).entry.repeat
    assert ratings.game(3, 1, 2, 2, 0, 5).entry.repeat


@pytest.mark.parametrize("name", ["cgos-elo", "bayes"])
async def test_after_a_change_of_options_everybody_sees_the_ratings_that_pair(name: str) -> None:
    store = LedgerStore()
    options: dict[str, dict[str, Any]] = {"cgos-elo": {"max_k": 100.0}, "bayes": {"learned": False}}
    live = Live(await loaded_ratings(store, 1, rating_system(name, 1800.0, {}), (), "build"), store)
    for version in range(1, VERSIONS + 1):
        store.submit(live.ratings.enter(version, 1800.0, 1_000).records)
    for number in range(12):
        live.do("game", 1 + number % VERSIONS, 1 + (number + 1) % VERSIONS, 2 * (number % 2))
    if name == "bayes":
        live.do("cold", 0, 0, 0)
        live.do("cold", 0, 0, 0)
    before = {version: row.mean for (_, version), row in store.now.items()}
    history = dict(store.moved)
    other = await loaded_ratings(store, 1, rating_system(name, 1800.0, options[name]), (), "build")
    again = Live(other, store)
    if name == "bayes" and other.wanted():
        again.do("warm", 0, 0, 0)
        again.do("warm", 0, 0, 0)
    assert {version: row.mean for (_, version), row in store.now.items()} == pytest.approx(
        {version: rating.mean for version, rating in other.standings().items()}, abs=0.1
    )
    assert {version: rating.mean for version, rating in other.standings().items()} != pytest.approx(before, abs=1.0)
    assert store.moved == history, "what was published stays"


@pytest.mark.parametrize("view", ["toy", "cgos-elo", "bayes"])
async def test_a_new_view_may_be_killed_at_any_commit_while_it_is_filled(
    view: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_ratings, "CHUNK", 7)
    headline = rating_system("egf2021", 1800.0, {})

    def views() -> Sequence[Any]:
        return (Toy() if view == "toy" else rating_system(view, 1800.0, {}),)

    alone = LedgerStore()
    ratings = await loaded_ratings(alone, 1, headline, (), "build")
    for version in range(1, VERSIONS + 1):
        alone.submit(ratings.enter(version, 1800.0, 1_000).records)
    for number in range(30):
        black, white = 1 + number % VERSIONS, 1 + (number + 1) % VERSIONS
        alone.submit(ratings.game(number, black, white, number % 3, 1_000).records)
    whole = LedgerStore(alone.groups)
    await loaded_ratings(whole, 1, headline, views(), "build")
    assert len(whole.groups) > len(alone.groups) + 3
    for kill in range(len(alone.groups), len(whole.groups) + 1):
        survived = LedgerStore(whole.groups[:kill])
        # The store itself refuses what was published before.
        again = await loaded_ratings(survived, 1, headline, views(), "build")
        assert {key for key in survived.moved if key[1] == view} == {key for key in whole.moved if key[1] == view}
        run = Run(views()[0])
        trace = Retrace(run, await survived.history.refits.after(1, view))
        for entry in await survived.history.ledger.entries(1):
            changes, _ = trace.step(entry)
            for version, _, new in changes:
                row = survived.moved[entry.seq, view, version]
                assert (row.after_mean, row.after_spread, row.games) == (new.mean, new.spread, new.games)
        assert dict(run.system.standings(run.state)) == dict(run.system.standings(again._runs[view].state))


async def test_months_of_refits_are_not_computed_again_where_no_saved_state_serves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    live = await begun("bayes")
    for number in range(20):
        live.do("game", 1 + number % VERSIONS, 1 + (number + 1) % VERSIONS, 2 * (number % 2))
        live.do("warm", 0, 0, 0)
    store = LedgerStore(live.store.groups)
    recorded = len(store.recorded)
    assert recorded == 10
    monkeypatch.setattr("cgos_server.service.ratings.venue_ratings.MOST_FOLLOWED", 5)
    system = rating_system("bayes", 1800.0, {})
    ratings = await loaded_ratings(store, 1, system, (), "build")
    # One refit, from the counts alone, before anybody is let in; recorded in its place.
    (last,) = store.recorded[recorded:]
    assert (last.number, last.base, last.included, last.applied, last.cold) == (11, 10, ratings.seq, ratings.seq, 1)
    shown = {version: rating.mean for version, rating in ratings.standings().items()}
    run = Run(system)
    trace = Retrace(run, await store.history.refits.after(1, "bayes"))
    for entry in await store.history.ledger.entries(1):
        trace.step(entry)
    assert trace.done
    for version, rating in system.standings(run.state).items():
        assert shown[version] == pytest.approx(rating.mean, abs=1e-6)
