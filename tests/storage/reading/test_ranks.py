"""Places: how many are rated, and where some stand among all, against the standings themselves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.storage.rated_past import NAMES, VENUE

from cgos_protocol.errors import Refused
from cgos_server.storage.reading.history import History


@pytest.fixture
async def rated(rated_past: Path) -> AsyncIterator[History]:
    async with History(rated_past / "cgos.sqlite") as opened:
        yield opened


async def test_places_are_those_of_the_standings(rated: History) -> None:
    ranked_rows = {(row.venue, row.system, row.version): row for row in await rated.ratings.ranked(NAMES)}
    assert len(ranked_rows) == 2 * len(NAMES)
    for system in ("bayes", "cgos-elo"):
        for rank, row in enumerate(await rated.ratings.standings(VENUE, system), 1):
            ranked = ranked_rows[VENUE, system, row.version]
            assert (ranked.rank, ranked.mean, ranked.spread, ranked.games) == (rank, row.mean, row.spread, row.games)
            assert (ranked.provisional, ranked.anchor, ranked.seq) == (row.provisional, row.anchor, row.seq)


async def test_equals_have_places_by_name(rated_past: Path, tmp_path: Path) -> None:
    import shutil

    from support.storage.rated_past import alter

    data = Path(shutil.copytree(rated_past, tmp_path / "data"))
    alter(data, "UPDATE ratings SET mean = 1500")
    async with History(data / "cgos.sqlite") as history:
        rows = [row for row in await history.ratings.ranked(NAMES[::2]) if row.system == "bayes"]
        order = [row.version for row in await history.ratings.standings(VENUE, "bayes")]
    assert {row.version: row.rank for row in rows} == {name: order.index(name) + 1 for name in NAMES[::2]}


async def test_counts_and_means(rated: History) -> None:
    assert await rated.ratings.rated_counts(VENUE) == {"bayes": len(NAMES), "cgos-elo": len(NAMES)}
    assert await rated.ratings.rated_counts("13x13") == {}
    means = {row.version: row.mean for row in await rated.ratings.standings(VENUE, "bayes")}
    assert await rated.ratings.means(VENUE, "bayes", ["Fox", "nobody"]) == {"Fox": means["Fox"]}
    assert await rated.ratings.ranked([]) == []
    with pytest.raises(Refused, match="8x8"):
        await rated.ratings.rated_counts("8x8")
