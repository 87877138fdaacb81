"""What is removed and what stays, on both databases; a run that is cut off is gone on with; nothing goes twice."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.storage.rated_past import RatedPast, open_past
from support.storage.storage_sample import people, query, unexpected, version

from cgos_protocol.errors import StoreError
from cgos_server.service import pruning
from cgos_server.service.people.sessions import DAY_MS
from cgos_server.service.pruning import Days, Kind, Pruner, would_go
from cgos_server.storage import schema
from cgos_server.storage.location import Location
from cgos_server.storage.opening import open_store
from cgos_server.storage.store import Store
from cgos_server.storage.writing import records as r
from cgos_server.storage.writing import refitting
from cgos_server.storage.writing.group_commit import CommitListener

NOW = 400 * DAY_MS
ALL = dict.fromkeys(Kind, 100.0)
OLD, NEW = NOW - 101 * DAY_MS, NOW - 99 * DAY_MS


@pytest.fixture(params=["sqlite", "postgres"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> Location:
    if request.param == "postgres":
        return request.getfixturevalue("new_url")()  # type: ignore[no-any-return]
    schema.prepare(tmp_path / "cgos.sqlite")
    return tmp_path / "cgos.sqlite"


@pytest.fixture
async def store(location: Location) -> AsyncIterator[Store]:
    opened = await open_store(location, CommitListener(failed=unexpected, on_error=unexpected))
    yield opened
    await opened.close()


def pruner(store: Store, days: Days = ALL) -> Pruner:
    return Pruner(store, lambda: days, now_ms=lambda: NOW)


async def pruned(store: Store, days: Days = ALL) -> dict[str, int]:
    """Rows that went, by kind; as many as were said before, and a second run finds none."""
    before = await would_go(store.history.keeping, days, NOW)
    removed = await pruner(store, days).prune()
    assert removed == before
    assert not any((await pruner(store, days).prune()).values())
    return {kind.value: rows for kind, rows in removed.items() if rows}


def signed_in(number: int, bot: int, opened: int, closed: int | None) -> list[r.Record]:
    began: list[r.Record] = [r.ConnectionOpened(number, 1, bot, f"192.0.2.{number}", "c", opened)]
    return began if closed is None else [*began, r.ConnectionClosed(closed, "quit", number)]


async def test_connections(store: Store, location: Location) -> None:
    spans = {
        3: (1, OLD - 9, OLD),  # goes: alpha came again
        4: (1, OLD - 8, NEW),  # ended lately
        5: (2, OLD - 7, OLD),  # Beta's last one: only its address goes
        6: (3, OLD - 6, None),  # has not ended
        7: (3, OLD - 5, OLD),  # gamma's last one
        8: (1, NEW, NEW + 1),
    }
    await store.commit([*people(), *(each for n, span in spans.items() for each in signed_in(n, *span))])
    # Of the sample's own two, 1 goes as well; 2 has not ended.
    assert await pruned(store) == {"connections": 4}
    assert query(location, "SELECT id, address FROM connections ORDER BY id") == [
        (2, "192.0.2.2"),
        (4, "192.0.2.4"),
        (5, ""),
        (6, "192.0.2.6"),
        (7, ""),
        (8, "192.0.2.8"),
    ]
    assert (await store.history.server.next_ids()).connection == 9


def game(number: int, round_id: int, began: int, ended: int | None) -> list[r.Record]:
    records: list[r.Record] = [r.GameAdded(number, 1, round_id, 1, 2, "", "", "{}", "", began)]
    for ply in (1, 2, 3):
        records.append(r.MoveAdded(number, ply, "E5", 0, 0, 0, 0, 0, began))
        records.append(r.AnalysisAdded(number, ply, f'{{"ply":{ply}}}'))
    if ended is not None:
        records.append(r.GameEnded(ended, 0, "score", 2, "", "B+1", 2, 2, number))
    records.append(r.PairingAdded(number, round_id, 1, 2, "They are near.", "", "{}"))
    return records


async def test_rounds_and_analyses(store: Store, location: Location, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "_READ", 2)
    monkeypatch.setattr(pruning, "AT_ONCE", 2)
    records = people()
    times = [(OLD, OLD + 1), (OLD, None), (OLD, NEW), (OLD, OLD + 5), (NEW, NEW + 1), (NEW, None)]
    for number, (began, ended) in enumerate(times, 1):
        records.append(r.RoundAdded(number, 1, number, began, "rolling", "birk", "{}", "1", '{"a":1}', "{}", "[]"))
        records += game(number, number, began, ended)
    await store.commit(records)
    assert await pruned(store, {Kind.ROUNDS: 100.0}) == {"rounds": 4}
    assert query(location, "SELECT id FROM rounds WHERE inputs <> '' ORDER BY id") == [(5,), (6,)]
    assert await pruned(store, {Kind.ANALYSES: 100.0}) == {"analyses": 6}
    assert query(location, "SELECT DISTINCT game_id FROM analysis ORDER BY 1") == [(2,), (3,), (5,), (6,)]
    assert query(location, "SELECT count(*) FROM moves") == [(18,)]
    assert query(location, "SELECT count(*) FROM pairings WHERE reason = 'They are near.'") == [(6,)]


@pytest.mark.parametrize("emptied", range(6))
async def test_a_cut_run_of_rounds_is_gone_on_with(store: Store, location: Location, emptied: int) -> None:
    rounds = [r.RoundAdded(2 * n, 1, n, OLD, "rolling", "birk", "{}", "1", '{"a":1}', "{}", "[]") for n in range(1, 6)]
    await store.commit([*people(), *rounds, *(r.RoundInputs("", 2 * n) for n in range(1, emptied + 1))])
    assert await store.history.keeping.last_emptied_round() == 2 * emptied
    assert (await pruner(store).prune())[Kind.ROUNDS] == 5 - emptied
    assert query(location, "SELECT count(*) FROM rounds WHERE inputs <> ''") == [(0,)]


@pytest.mark.parametrize(("ages", "kept"), [([OLD, OLD], 1), ([OLD, OLD, NEW], 1), ([NEW], 1), ([], 0)])
async def test_the_last_entry_of_the_audit_stays(store: Store, location: Location, ages: list[int], kept: int) -> None:
    await store.commit([r.AuditAdded(at, "me", "drain", "", "{}") for at in ages])
    await pruned(store)
    assert query(location, "SELECT count(*) FROM audit") == [(kept,)]
    assert query(location, "SELECT max(id) FROM audit") == [(len(ages) or None,)]


async def test_of_each_version_and_day_the_last_point_of_refits_stays(
    store: Store, location: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "_READ", 3)
    monkeypatch.setattr(pruning, "AT_ONCE", 2)
    rng = random.Random(1)
    records: list[r.Record] = [*people(), version(4, 1, "alpha-2", 5, label="2"), r.BuildSeen("b", "a test")]
    days: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    at = OLD - 4 * DAY_MS
    for number in range(1, 61):
        at += rng.choice((DAY_MS // 9, DAY_MS // 3, DAY_MS // 50))
        records.append(refitting.RefitAdded(1, "bayes", number, number, 0, number, 0, "{}", "b", at, 1))
        for moved in rng.sample(range(1, 5), 2):
            records.append(refitting.RefitMoved(1, "bayes", moved, number, number, 1800.0, 9.0))
            records.append(refitting.RankMoved(1, "bayes", moved, number, 1, 2, 0.5, 0.9))
            days[moved, at // DAY_MS].append(number)
        records.append(refitting.RanksSummed(1, "bayes", number, 1, 4, 3, None, "[]"))
        days[0, at // DAY_MS].append(number)
    now = [r.RatingNow(1, "bayes", each, 1800.0, 9.0, 1, 0, 0, 1) for each in range(1, 5)]
    await store.commit([*records, *now])
    limit = (NOW - 100 * DAY_MS) // DAY_MS
    assert at // DAY_MS > limit, "some days are not old"
    stays = {of: numbers[-1:] if of[1] < limit else numbers for of, numbers in days.items()}
    left = sorted((of[0], number) for of, numbers in stays.items() for number in numbers)
    assert (await pruned(store))["refits"] > 60
    for table in ("refit_points", "rank_points"):
        rows = query(location, f"SELECT version_id, number FROM {table}")
        assert sorted(map(tuple, rows)) == [each for each in left if each[0]]
    rows = query(location, "SELECT number FROM rank_summaries ORDER BY number")
    assert [number for (number,) in rows] == [number for of, number in left if of == 0]
    assert query(location, "SELECT count(*) FROM refits") == [(60,)]


async def test_without_days_nothing_goes(store: Store) -> None:
    await store.commit([*people(), *signed_in(3, 1, OLD, OLD), *signed_in(4, 1, OLD, OLD)])
    assert await pruner(store, {}).prune() == {} == await would_go(store.history.keeping, {}, NOW)


class Cut(Exception):
    """The process is killed."""


async def test_wherever_a_run_is_cut_off_the_next_one_comes_to_the_same(tmp_path: Path) -> None:
    """All kinds at once, in a venue with ratings; cut after each commit."""
    ends = set()
    for cut in (0, 1, 4, 9, 10**6):
        data = tmp_path / str(cut)
        data.mkdir()
        past = await _past(data)
        later = past.at + 101 * DAY_MS
        left = cut

        async def pause(_seconds: float) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise Cut

        try:
            await Pruner(past.store, lambda: ALL, now_ms=lambda now=later: now, pause=pause).prune()  # type: ignore[misc]
        except Cut:
            await Pruner(past.store, lambda: ALL, now_ms=lambda now=later: now).prune()  # type: ignore[misc]
        await past.store.close()
        ends.add(tuple(query(data / "cgos.sqlite", f"SELECT * FROM {table}").__repr__() for table in TABLES))
    assert len(ends) == 1


TABLES = ("refit_points", "rank_points", "rank_summaries", "rounds", "analysis", "connections")


async def _past(data: Path) -> RatedPast:
    past = await open_past(data)
    await past.store.commit([each for n in range(1, 6) for each in signed_in(n, 1, past.at, past.at)])
    await past.play(24)
    return past


async def test_a_database_that_fails_is_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(_after: int, _some: int) -> list[object]:
        raise StoreError("the database could not be read")

    monkeypatch.setattr(store.history.keeping, "connections", fails)
    with pytest.raises(StoreError):
        await pruner(store).prune()
