"""Bulk downloads: what they hold, how they go on, what is refused before they begin."""

from __future__ import annotations

import asyncio
import csv
import gc
import io
import tarfile
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
from sgfmill import sgf as sgfmill
from support.storage.rated_past import VENUE
from support.web.past import ENDED, EVENT, FRESH, NOW, RUNNING

from cgos_protocol.api.bulk import ExportedChange, ExportedGame
from cgos_protocol.api.figures import LedgerEntry
from cgos_protocol.api.games import Game
from cgos_protocol.sgf.reading import main_lines
from cgos_server.presentation.settings import Rated, VenueSettings, WebSettings
from cgos_server.storage.reading.bulk import Bulk
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.reading.history import History
from cgos_server.web.api.reading import exports
from cgos_server.web.application import create_app

EXPORT = "/api/v1/export"
SETTINGS = WebSettings(
    venues={name: VenueSettings(rated=Rated(("cgos-elo",))) for name in ("9x9", "13x13", "19x19")}, exports_at_once=2
)


@pytest.fixture
async def client(history: History) -> AsyncIterator[httpx2.AsyncClient]:
    app = create_app(history, SETTINGS, lambda: NOW)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://test") as opened:
        yield opened


def decoded(text: str, kind: Any) -> list[Any]:
    return [msgspec.json.decode(line, type=kind) for line in text.splitlines()]


async def test_games_are_those_that_have_ended_oldest_first(client: httpx2.AsyncClient, history: History) -> None:
    answer = await client.get(f"{EXPORT}/games.ndjson")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    games = decoded(answer.text, Game)
    assert [game.id for game in games] == list(range(1, ENDED + 1))
    listed = {row.id: row for row in await history.games.find(GameFilter(), 200)}
    for game in games:
        assert {name: getattr(game, name) for name in Game.__struct_fields__} == {
            name: getattr(listed[game.id], name) for name in Game.__struct_fields__
        }
    assert answer.headers["next-after"] == str(RUNNING - 1)


async def test_an_export_goes_on_after_a_number(client: httpx2.AsyncClient) -> None:
    answer = await client.get(f"{EXPORT}/games.ndjson?after=60&venue=9x9")
    assert [game.id for game in decoded(answer.text, Game)] == list(range(61, ENDED + 1))
    assert (await client.get(f"{EXPORT}/games.ndjson?after={FRESH}")).text == ""


async def test_games_are_filtered_as_in_the_list(client: httpx2.AsyncClient) -> None:
    for query in ("bot=amigo&result=B", "reason=score", "min_moves=40&max_moves=90", "bot=amigo&opponent=Sakura-5k"):
        ids = [game.id for game in decoded((await client.get(f"{EXPORT}/games.ndjson?{query}")).text, Game)]
        page = (await client.get(f"/api/v1/games?{query}&running=false&limit=500")).json()
        assert ids == sorted(item["id"] for item in page["items"])
        assert 0 < len(ids) < ENDED


async def test_what_is_unknown_is_refused_before_the_stream_begins(client: httpx2.AsyncClient) -> None:
    for path in (
        "games.csv?bot=Nobody",
        "games.tar?venue=8x8",
        "venues/8x8/ledger.csv",
        "venues/9x9/ratings.csv?system=gor",
    ):
        answer = await client.get(f"{EXPORT}/{path}")
        assert answer.status_code == 404, path
        assert answer.headers["content-type"] == "application/problem+json"
    assert (await client.get(f"{EXPORT}/games.csv?beyond=1")).status_code == 400


async def test_tables_hold_the_same_as_lines(client: httpx2.AsyncClient) -> None:
    kinds = {"games": ExportedGame, "venues/9x9/ratings": ExportedChange, "venues/9x9/ledger": LedgerEntry}
    for name, kind in kinds.items():
        table = await client.get(f"{EXPORT}/{name}.csv")
        assert table.headers["content-type"].startswith("text/csv")
        rows = list(csv.DictReader(io.StringIO(table.text, newline="")))
        values = decoded((await client.get(f"{EXPORT}/{name}.ndjson")).text, kind)
        assert len(rows) == len(values) > 50
        for row, value in zip(rows, values, strict=True):
            for field in kind.__struct_fields__:
                cell = getattr(value, field)
                expected = "" if cell is None else str(cell).lower() if isinstance(cell, bool) else str(cell)
                assert row[field] == expected, (name, field)


async def test_games_have_their_ratings_as_numbers(client: httpx2.AsyncClient, history: History) -> None:
    games = decoded((await client.get(f"{EXPORT}/games.ndjson")).text, ExportedGame)
    for game in games:
        for side in ("black", "white"):
            label = f"{getattr(game, side + '_rating')}{'?' if getattr(game, side + '_provisional') else ''}"
            assert label == getattr(game, f"{side}_label")
    changes = {change.version: change for change in (await history.games.detail(1)).ratings}
    first = games[0]
    assert (first.system, first.black_mean, first.white_mean) == (
        "cgos-elo", changes[first.black].before_mean, changes[first.white].before_mean,
    )  # fmt: skip
    assert first.black_half_width is None, "a system with a K-factor has no interval"
    void = games[ENDED - 1]
    assert (void.system, void.black_mean, void.white_half_width) == (None, None, None)


async def test_games_have_intervals_where_the_system_says_one(rated: History) -> None:
    settings = WebSettings(venues={VENUE: VenueSettings(rated=Rated(("bayes", "cgos-elo")))})
    transport = httpx2.ASGITransport(create_app(rated, settings, lambda: NOW))
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as web:
        games = decoded((await web.get(f"{EXPORT}/games.ndjson")).text, ExportedGame)
    for game in games:
        changes = {
            rating.version: rating for rating in (await rated.games.detail(game.id)).ratings if rating.system == "bayes"
        }
        assert game.system == "bayes"
        assert game.white_mean == changes[game.white].before_mean
        before = changes[game.white]
        assert game.white_half_width == (before.before_upper - before.before_lower) / 2
        assert (game.white_lower, game.white_upper) == (before.before_lower, before.before_upper)


async def test_the_ratings_are_the_published_ones(client: httpx2.AsyncClient, history: History) -> None:
    changes = decoded((await client.get(f"{EXPORT}/venues/9x9/ratings.ndjson")).text, ExportedChange)
    last: dict[str, ExportedChange] = {change.version: change for change in changes}
    for row in await history.ratings.standings("9x9", "cgos-elo"):
        assert (last[row.version].after_mean, last[row.version].games) == (row.mean, row.games)
    assert [change.seq for change in changes] == sorted(change.seq for change in changes)


async def test_the_ledger_is_whole(client: httpx2.AsyncClient, history: History) -> None:
    answer = await client.get(f"{EXPORT}/venues/9x9/ledger.ndjson")
    entries = decoded(answer.text, LedgerEntry)
    assert [entry.seq for entry in entries] == list(range(1, await history.ledger.last_entry("9x9") + 1))
    assert answer.headers["next-after"] == str(entries[-1].seq)
    later = decoded((await client.get(f"{EXPORT}/venues/9x9/ledger.ndjson?after=10")).text, LedgerEntry)
    assert later == entries[10:]


async def test_an_event_as_one_collection_and_as_files(client: httpx2.AsyncClient, history: History) -> None:
    row = await history.events.named(EVENT)
    rounds = {played.game_id: played.round for played in await history.events.games(row.id)}
    collection = await client.get(f"{EXPORT}/events/{EVENT}/games.sgf")
    assert collection.headers["content-type"] == "application/x-go-sgf"
    games = [f"(;{tree}" for tree in collection.text.split("(;")[1:]]
    answer = await client.get(f"{EXPORT}/events/{EVENT}/games.zip")
    assert answer.headers["content-disposition"] == f'attachment; filename="{EVENT}.zip"'
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.namelist() == [f"{EVENT}/{game}.sgf" for game in sorted(rounds)]
        assert [archive.read(name).decode() for name in archive.namelist()] == games
    for game, text in zip(sorted(rounds), games, strict=True):
        root = sgfmill.Sgf_game.from_bytes(text.encode()).get_root()
        assert (root.get("EV"), root.get("RO"), root.get("GN")) == (EVENT, str(rounds[game]), str(game))
        assert (await client.get(f"/api/v1/games/{game}.sgf")).text == text, "and so says the game by itself"
    assert (await client.get(f"{EXPORT}/events/Winter/games.sgf")).status_code == 404


async def test_every_file_of_the_archive_is_a_game(client: httpx2.AsyncClient, history: History) -> None:
    answer = await client.get(f"{EXPORT}/games.tar")
    assert answer.headers["content-type"] == "application/x-tar"
    again = await client.get(f"{EXPORT}/games.tar", headers={"Accept-Encoding": "identity"})
    assert again.content == answer.content
    with tarfile.open(fileobj=io.BytesIO(answer.content)) as archive:
        members = archive.getmembers()
        assert [member.name for member in members] == [f"9x9/{game}.sgf" for game in range(1, ENDED + 1)]
        for member in members:
            extracted = archive.extractfile(member)
            assert extracted is not None
            data = extracted.read()
            detail = await history.games.detail(int(Path(member.name).stem))
            assert member.mtime == detail.game.started_at // 1000
            text = data.decode()
            response = await client.get(f"/api/v1/games/{detail.game.id}.sgf")
            assert response.text == text
            (draft,), faults = main_lines(text, 9, "game")
            assert faults == []
            played = [move.move for move in detail.moves]
            assert list(draft.moves) == played[: len(draft.moves)]
            assert len(draft.moves) == len(played) or played[len(draft.moves)] == "PASS"
            tree = sgfmill.Sgf_game.from_bytes(data)
            assert tree.get_size() == 9
            assert tree.get_player_name("b") == detail.game.black


async def test_downloads_are_packed_on_request(client: httpx2.AsyncClient) -> None:
    plain = await client.get(f"{EXPORT}/games.ndjson", headers={"Accept-Encoding": "identity"})
    packed = await client.get(f"{EXPORT}/games.ndjson", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.content == plain.content


async def test_a_reader_who_goes_away_ends_the_query_and_gives_the_place_back(history: History) -> None:
    """The stream's source is closed, the slot free, and no further portion was read than were sent."""
    numbers: list[int] = []
    closed: list[bool] = []

    class Watched(Bulk):
        async def games(self, wanted: Any, after: int = 0) -> Any:
            try:
                row = (await history.games.find(wanted, 1))[0]
                for number in range(1000):
                    numbers.append(number)
                    yield [msgspec.structs.replace(row, id=number + 1)] * 300
            finally:
                closed.append(True)

    watched = History(history.source.location)
    watched.bulk = Watched(watched.bulk_source)
    app = create_app(watched, SETTINGS, lambda: NOW)
    sent: list[bytes] = []
    left = False

    async def receive() -> dict[str, Any]:
        while not left:
            await _turn()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        nonlocal left
        sent.append(message.get("body", b""))
        if len(sent) >= 6:
            left = True
            await _turn()
            await _turn()
            await _turn()

    await app(_scope(f"{EXPORT}/games.ndjson"), receive, send)
    await watched.close()
    assert closed == [True]
    assert len(sent) - 1 <= len(numbers) <= len(sent) + 2
    assert app._site.limits.taken(exports.api_route.Limit.BULK) == 0


async def test_readers_who_go_away_leave_nothing_behind(history: History) -> None:
    """Whoever leaves in the middle of a question is not heard of again, neither from the loop nor from the database."""
    faults: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, fault: faults.append(fault))
    app = create_app(history, SETTINGS, lambda: NOW)

    async def send(_message: Any) -> None:
        await asyncio.sleep(0)

    for turns in range(0, 60, 2):
        begun = asyncio.Event()

        class Begun(Bulk):
            async def games(self, wanted: Any, after: int = 0) -> Any:
                begun.set()  # noqa: B023
                async for portion in super().games(wanted, after):
                    yield portion

        async def receive() -> dict[str, Any]:
            await begun.wait()  # noqa: B023
            for _ in range(turns):  # noqa: B023
                await asyncio.sleep(0)
            return {"type": "http.disconnect"}

        history.bulk.__class__ = Begun
        await app(_scope(f"{EXPORT}/games.ndjson"), receive, send)
    gc.collect()
    assert not faults


async def test_memory_is_one_portion(history: History) -> None:
    """However long the export is, portions are read one by one, each after the one before was taken."""
    ahead: list[int] = []
    read_so_far = taken = 0

    async def chunks() -> AsyncIterator[list[Any]]:
        nonlocal read_so_far
        for _ in range(500):
            read_so_far += 1
            ahead.append(read_so_far - taken)
            yield rows

    rows = [
        Game(**{name: getattr(row, name) for name in Game.__struct_fields__})
        for row in await history.games.find(GameFilter(), 50)
    ]
    async for portion in exports.stream(chunks(), lambda chunk: chunk, exports.Ndjson()):
        taken += 1
        assert len(portion) < 50 * 400
    assert taken == 500
    assert max(ahead) == 1


async def test_exports_are_limited_by_name(history: History) -> None:
    app = create_app(history, SETTINGS, lambda: NOW)
    with app._site.limits.slot(exports.api_route.Limit.BULK, "127.0.0.1"):
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://test") as client:
            answer = await client.get(f"{EXPORT}/games.tar")
    assert answer.status_code == 429
    assert answer.json()["limit"] == "bulk"
    assert int(answer.headers["retry-after"]) > 0


async def test_the_head_of_an_export_holds_no_place(client: httpx2.AsyncClient) -> None:
    for _ in range(4):
        answer = await client.head(f"{EXPORT}/games.csv")
        assert answer.status_code == 200
        assert answer.content == b""
    assert (await client.get(f"{EXPORT}/games.csv")).status_code == 200


async def _turn() -> None:
    import asyncio

    await asyncio.sleep(0.002)


def _scope(path: str) -> dict[str, Any]:
    return {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "method": "GET",
        "scheme": "http", "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "", "headers": [],
        "client": ("127.0.0.1", 1), "server": ("test", 80),
    }  # fmt: skip


async def test_a_cursor_of_games_counts_within_one_venue_where_there_are_several_groups(history: History) -> None:
    grouped = msgspec.structs.replace(SETTINGS, several_groups=True)
    transport = httpx2.ASGITransport(create_app(history, grouped, lambda: NOW))
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as web:
        whole = await web.get(f"{EXPORT}/games.ndjson")
        assert whole.status_code == 200
        refused = await web.get(f"{EXPORT}/games.ndjson?after=1")
        assert (refused.status_code, refused.json()["code"]) == (422, "bad-request")
        assert "With `after` name one venue." in refused.json()["detail"]
        part = await web.get(f"{EXPORT}/games.ndjson?after=1&venue={VENUE}")
        assert part.status_code == 200
        newest = (await history.games.find(GameFilter(venue=VENUE), 1))[0].id
        running = [game.id for game in await history.games.running(VENUE)]
        assert int(part.headers[exports.NEXT_AFTER]) == (min(running) - 1 if running else newest)
