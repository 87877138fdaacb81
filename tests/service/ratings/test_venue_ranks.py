"""Who takes part in ranks, what of them is news, and what it leaves behind."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from support.service.loaded_ratings import loaded_ratings
from support.storage.ledger_store import LedgerStore

from cgos_protocol.ids import VersionId
from cgos_server.core.rating.ranks import Ranks
from cgos_server.core.rating.registry import rating_system
from cgos_server.service.ratings.listed import RETIRED_MS
from cgos_server.service.ratings.venue_ranks import NOTICED, Ranking, VenueRanks
from cgos_server.service.ratings.venue_ratings import VenueRatings
from cgos_server.storage.writing.records import Record
from cgos_server.storage.writing.refitting import RankMoved, RanksSummed


def ranking(*versions: int, refit: int = 1) -> Ranking:
    return Ranking("bayes", refit, tuple(map(VersionId, versions)), lambda: found())


def found(
    lower: tuple[int, ...] = (1, 1), upper: tuple[int, ...] = (2, 2), best: tuple[float, ...] = (0.6, 0.4)
) -> Ranks:
    n = len(lower)
    return Ranks(
        lower=np.array(lower),
        upper=np.array(upper),
        best=np.array(best),
        first_three=np.ones(n),
        places=np.arange(1, n + 1),
        apart=0,
        groups=((1, n),) if n > 1 else (),
        turned=2,
    )


def test_what_is_said_first_is_news() -> None:
    assert VenueRanks(1).records(ranking(7, 9), found()) == [  # type: ignore[arg-type]
        RankMoved(1, "bayes", 7, 1, 1, 2, 0.6, 1.0),  # type: ignore[arg-type]
        RankMoved(1, "bayes", 9, 1, 1, 2, 0.4, 1.0),  # type: ignore[arg-type]
        RanksSummed(1, "bayes", 1, 7, 2, 0, 2, "[[7,9,2]]"),  # type: ignore[arg-type]
    ]


@pytest.mark.parametrize(
    ("change", "moved"),
    [
        ({}, []),
        ({"best": (0.6 + NOTICED / 2, 0.4 - NOTICED / 2)}, []),
        ({"best": (0.6 + 2 * NOTICED, 0.4)}, [7]),
        ({"upper": (1, 2)}, [7]),
        ({"lower": (1, 2)}, [9]),
    ],
)
def test_only_what_is_noticeable_is_said_again(change: dict[str, Any], moved: list[int]) -> None:
    ranks = VenueRanks(1)  # type: ignore[arg-type]
    ranks.records(ranking(7, 9), found())
    records = ranks.records(ranking(7, 9, refit=2), found(**change))
    assert [(record.version_id, record.number) for record in records if isinstance(record, RankMoved)] == [
        (version, 2) for version in moved
    ]
    assert not any(isinstance(record, RanksSummed) for record in records)


def test_a_long_interval_must_move_by_more_than_a_tenth() -> None:
    ranks = VenueRanks(1)  # type: ignore[arg-type]
    ranks.records(ranking(7), found((100,), (200,), (0.0,)))
    assert ranks.records(ranking(7), found((105,), (205,), (0.0,))) == []
    assert len(ranks.records(ranking(7), found((111,), (211,), (0.0,)))) == 1


def test_small_moves_add_up() -> None:
    ranks = VenueRanks(1)  # type: ignore[arg-type]
    ranks.records(ranking(7), found((1,), (1,), (0.5,)))
    said = [ranks.records(ranking(7), found((1,), (1,), (0.5 + 0.004 * step,))) for step in range(1, 4)]
    assert [len(records) for records in said] == [0, 0, 1]


def test_of_who_takes_part_no_more_nothing_is_said_once() -> None:
    ranks = VenueRanks(1)  # type: ignore[arg-type]
    ranks.records(ranking(7, 9), found())
    gone = RankMoved(1, "bayes", 9, 2, None, None, None, None)  # type: ignore[arg-type]
    assert gone in ranks.records(ranking(7, refit=2), found((1,), (1,), (1.0,)))
    assert ranks.records(ranking(7, refit=3), found((1,), (1,), (1.0,))) == []


def test_who_joined_since_the_refit_began_is_not_in_it() -> None:
    records = VenueRanks(1).records(ranking(7, 9, 11), found())  # type: ignore[arg-type]
    assert {record.version_id for record in records if isinstance(record, RankMoved)} == {7, 9}


def test_nobody_is_summed_up_to_nothing() -> None:
    assert VenueRanks(1).records(ranking(), found((), (), ())) == []  # type: ignore[arg-type]


# -- with ratings


async def played(store: LedgerStore, system: str = "bayes", days: tuple[float, ...] = (0.0,)) -> VenueRatings:
    """Versions 1..3 have games on day 0, and 1 and 2 on the other days, too; 4 has none."""
    ratings = await loaded_ratings(store, 1, rating_system(system, 2000.0, {}))
    for version in (1, 2, 3, 4):
        store.submit(ratings.enter(VersionId(version), 2000.0, 0).records)
    game = 0
    for day in days:
        for black, white in ((1, 2), (2, 3), (1, 3)) if day == days[0] else ((1, 2),):
            for _ in range(4):
                game += 1
                store.submit(ratings.game(game, black, white, 2, round(86_400_000 * day)).records)  # type: ignore[arg-type]
    return ratings


def refitted(store: LedgerStore, ratings: VenueRatings, system: str = "bayes") -> Ranking | None:
    begun = ratings.begin(system, cold=True)
    fit = ratings.refitting(system).refit(begun.job)
    records = ratings.finish(begun, fit, at=0, took_us=1)
    assert records is not None
    store.submit(records)
    return ratings.ranking(begun, fit)


def moves(records: list[Record]) -> dict[int, RankMoved]:
    return {record.version_id: record for record in records if isinstance(record, RankMoved)}


@pytest.mark.parametrize("system", ["bayes", "whole-history"])
async def test_those_with_a_rated_game_take_part(system: str) -> None:
    store = LedgerStore()
    ratings = await played(store, system)
    wanted = refitted(store, ratings, system)
    assert wanted is not None
    there = pickle.loads(pickle.dumps(wanted.task))  # it is computed in another process
    said = moves(ratings.ranked(wanted, there()))
    assert set(said) == {1, 2, 3}
    assert sum(record.best or 0.0 for record in said.values()) == pytest.approx(1.0)
    assert (said[1].best or 0.0) > (said[2].best or 0.0) > (said[3].best or 0.0)


async def test_a_system_without_a_joint_posterior_says_nothing_of_ranks() -> None:
    ratings = await loaded_ratings(LedgerStore(), 1, rating_system("cgos-elo", 2000.0, {}))
    assert ratings.missing_ranks() == []


@pytest.mark.parametrize("restarted", [False, True])
async def test_who_has_retired_takes_no_part(restarted: bool) -> None:
    store = LedgerStore()
    days = RETIRED_MS / 86_400_000
    ratings = await played(store, days=(0.0, days + 1.0))
    if restarted:
        ratings = await loaded_ratings(store, 1, rating_system("bayes", 2000.0, {}))
    wanted = refitted(store, ratings)
    assert wanted is not None
    assert wanted.versions == (1, 2)
    store.submit(ratings.game(99, 3, 1, 2, round(86_400_000 * (days + 2))).records)  # type: ignore[arg-type]
    again = refitted(store, ratings)
    assert again is not None
    assert again.versions == (1, 2, 3)


async def test_the_same_refit_gives_the_same_ranks_to_the_bit() -> None:
    store = LedgerStore()
    wanted = refitted(store, await played(store))
    assert wanted is not None
    one, other = wanted.task(), wanted.task()
    assert one.best.tobytes() == other.best.tobytes()
    assert one.first_three.tobytes() == other.first_three.tobytes()


async def test_after_an_upgrade_ranks_are_computed_at_the_start_and_only_then() -> None:
    store = LedgerStore()
    ratings = await played(store)
    refitted(store, ratings)
    store.submit(ratings.states(0))
    assert len(store.recorded) == 1
    again = await loaded_ratings(store, 1, rating_system("bayes", 2000.0, {}))
    (missing,) = again.missing_ranks()
    store.submit(again.ranked(missing, missing.task()))
    assert {record.number for record in store.ranks} == {1}
    later = await loaded_ratings(store, 1, rating_system("bayes", 2000.0, {}))
    assert later.missing_ranks() == []
    wanted = refitted(store, later)
    assert wanted is not None
    assert not moves(later.ranked(wanted, wanted.task())), "what was said before the stop is known"
