"""The Python reader against a real server with a made-up past."""

from __future__ import annotations

import itertools
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest
from sgfmill import sgf as sgfmill
from support.web.pages_server import serving
from support.web.past import BOTS, ENDED, EVENT, FRESH, NOW, RUNNING

from cgos_client import api
from cgos_client.api_http import Http
from cgos_client.errors import ConnectionLost
from cgos_protocol.api.live import VenueGames
from cgos_server.presentation.settings import Rated, VenueSettings, WebSettings

SETTINGS = WebSettings(
    server_name="Test & Go",
    venues={name: VenueSettings(rated=Rated(("cgos-elo",))) for name in ("9x9", "13x13", "19x19")},
    requests_per_minute=100_000,
)


@pytest.fixture(scope="module")
def address(database: Path) -> Iterator[str]:
    with serving(database, SETTINGS, lambda: NOW) as where:
        yield where


@pytest.fixture
def server(address: str) -> api.Server:
    return api.Server(address, timeout=20, sleep=lambda _seconds: None)


def test_what_the_server_is(server: api.Server) -> None:
    assert server.index().server == "Test & Go"
    assert [venue.name for venue in server.venues()] == ["9x9", "13x13", "19x19"]
    assert server.venue("9x9").rules.size == 9
    assert server.status().running == 2


def test_standings_and_bots(server: api.Server) -> None:
    rows = server.standings("9x9").items
    assert [row.rank for row in rows] == list(range(1, len(BOTS) + 1))
    assert {row.version for row in rows} == set(BOTS)
    early = server.standings("9x9", as_of=20, system="cgos-elo")
    assert early.seq == 20
    assert {bot.name for bot in server.bots()} == set(BOTS)
    assert server.bot("amigo").versions[0].name == "amigo"
    assert server.version("amigo").version.bot == "amigo"


def test_a_history_comes_whole_over_all_pages(server: api.Server, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = list(server.history("amigo", venue="9x9"))
    assert whole[-1].after_mean == next(row.mean for row in server.standings("9x9").items if row.version == "amigo")
    for before, after in itertools.pairwise(whole):
        assert after.before_mean == pytest.approx(before.after_mean)
    monkeypatch.setattr(api.Server, "_pages", _small(api.Server._pages))
    assert list(server.history("amigo", venue="9x9")) == whole
    assert [game.id for game in server.games()] == list(range(FRESH, 0, -1))
    assert len(list(server.rounds("9x9"))) == RUNNING
    assert [entry.seq for entry in server.ledger("9x9")] == [entry.seq for entry in server.export_ledger("9x9")]


def test_a_curve_has_few_points(server: api.Server) -> None:
    points = server.curve("amigo", venue="9x9", points=5)
    whole = list(server.history("amigo", venue="9x9"))
    assert points[-1].mean == whole[-1].after_mean
    assert len(points) < len(whole)


def test_games_filtered_and_one_by_one(server: api.Server) -> None:
    games = list(server.games(venue="9x9", bot="amigo", result="B", running=False))
    assert games
    assert all("amigo" in (game.black, game.white) for game in games)
    assert [game.id for game in server.games(running=True)] == [FRESH, RUNNING]
    game = server.game(games[0].id)
    assert game.game == games[0]
    moves = server.moves(games[0].id)
    assert len(moves) == games[0].moves
    assert server.moves(games[0].id, after=10) == moves[10:]
    tree = sgfmill.Sgf_game.from_string(server.sgf(games[0].id))
    assert tree.get_player_name("b") == games[0].black


def test_pairs_and_rounds(server: api.Server) -> None:
    first, second = BOTS[:2]
    record = server.pair("9x9", first, second).record
    games = list(server.games(bot=first, opponent=second, running=False))
    assert record.games == len(games)
    table = server.crosstable("9x9", versions=[first, second])
    assert table.pairs[0].games == record.games
    assert {opponent.opponent for opponent in server.opponents(first, venue="9x9")} == set(BOTS) - {first}
    assert server.metrics("9x9").venue == "9x9"


def test_questions(server: api.Server) -> None:
    assert [question.question for question in server.questions()] == [3, 2, 1]
    (stopped,) = server.questions(state="stopped", bot="Kogo_mcts")
    detail = server.question(stopped.question)
    assert (detail.kind, detail.against) == ("challenge", ["Kogo_mcts"])
    assert len(detail.text.splitlines()) == 6
    games = server.question_games(1)
    assert games
    assert all({game.black, game.white} == {"Sakura-5k", "gnugo-3.8-L1"} for game in games)


def test_events(server: api.Server) -> None:
    (line,) = server.events()
    assert line == server.event(EVENT).summary
    assert list(server.events(phase="cancelled")) == []
    assert server.event_standings(EVENT) == server.event(EVENT).standings
    assert len(server.event_crosstable(EVENT).rows) == 3
    assert server.event_rounds(EVENT) == server.event(EVENT).rounds
    games = server.event_games(EVENT)
    assert [entry.seq for entry in server.event_log(EVENT)] == list(range(1, line.seq + 1))
    (own,) = server.bot_events(BOTS[0])
    assert (own.event, own.entrants[0].bot) == (line, BOTS[0])
    played = {game.game: game for game in games if game.game is not None}
    assert {game.id for game in server.games(event=EVENT)} == set(played)
    for number, shown in played.items():
        game = server.game(number)
        assert game.event is not None
        assert (game.event.event, game.event.round, game.event.number) == (EVENT, shown.round, shown.number)
        assert (game.game.black, game.game.white) == (shown.black, shown.white)
    assert server.game(next(one for one in range(1, 70) if one not in played)).event is None


def test_exports(server: api.Server, tmp_path: Path) -> None:
    games = list(server.export_games())
    assert [game.id for game in games] == list(range(1, ENDED + 1))
    assert list(server.export_games(bot="amigo", after=30)) == [
        game for game in games if game.id > 30 and "amigo" in (game.black, game.white)
    ]
    changes = list(server.export_ratings("9x9", system="cgos-elo"))
    last = {change.version: change.after_mean for change in changes}
    assert last == {row.version: row.mean for row in server.standings("9x9").items}
    target = tmp_path / "games.tar"
    assert server.export_sgf(target, venue="9x9") == target.stat().st_size
    with tarfile.open(target) as archive:
        assert len(archive.getnames()) == ENDED


def test_an_archive_replaces_an_earlier_one_only_when_it_is_whole(
    server: api.Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_self: object, _path: str, _query: object, target: IO[bytes]) -> int:
        target.write(b"half")
        raise ConnectionLost("the connection broke")

    (tmp_path / "games.tar").write_bytes(b"earlier")
    monkeypatch.setattr(Http, "download", broken)
    with pytest.raises(ConnectionLost):
        server.export_sgf(tmp_path / "games.tar")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("games.tar", b"earlier")]


def test_an_ended_game_is_watched_to_its_end(server: api.Server) -> None:
    *moves, end = server.live(1)
    assert [move.ply for move in moves if isinstance(move, api.LiveMove)] == list(range(1, len(server.moves(1)) + 1))
    assert isinstance(end, api.LiveEnd)
    assert end.result == server.game(1).game.result


def test_a_venues_stream_begins_with_what_runs(server: api.Server) -> None:
    events = server.live_venue("9x9")
    first = next(events)
    events.close()  # type: ignore[attr-defined]
    assert isinstance(first, VenueGames)
    assert [game.game for game in first.games] == [RUNNING]


def test_what_is_refused_is_raised_with_its_sentence(server: api.Server, address: str) -> None:
    with pytest.raises(api.ApiRefused) as raised:
        server.standings("8x8")
    assert raised.value.status == 404
    assert raised.value.code == "no-venue"
    assert "8x8" in str(raised.value)
    with pytest.raises(api.ApiRefused, match="no game 99999"):
        server.game(99999)
    with pytest.raises(api.ApiRefused) as raised:
        api.Server(address, token="wrong").me()
    assert raised.value.status in (401, 503)


def _small(pages):  # type: ignore[no-untyped-def]
    def three(self, kind, path, query, cursor, limit):  # type: ignore[no-untyped-def]
        return pages(self, kind, path, query, cursor, 3 if limit > 3 else limit)

    return three


def test_the_example_draws_every_game(address: str, server: api.Server, tmp_path: Path) -> None:
    example = Path(__file__).parents[3] / "clients" / "examples" / "rating_history.py"
    target = tmp_path / "history.svg"
    words = [sys.executable, str(example), address, "9x9", "amigo", str(target)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    picture = ET.fromstring(target.read_text("utf-8"))
    games = [change for change in server.history("amigo", venue="9x9") if change.opponent is not None]
    assert len([node for node in picture.iter() if node.tag.endswith("circle")]) == len(games)
    assert f"{len(games)} games" in done.stdout
    assert subprocess.run(words[:3], capture_output=True, timeout=60, check=False).returncode == 1
