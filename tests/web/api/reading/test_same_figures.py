"""One past, three ways to ask: the API, the commands and the pages say the same; corrections and refits included."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
from click.testing import CliRunner
from support.storage.rated_past import NAMES, T0, VENUE, VOIDED
from support.web.pages_server import serving
from web.test_pages import Page

from cgos_client import api
from cgos_client.api_http import Http
from cgos_client.errors import ConnectionLost
from cgos_server.cli.main import main
from cgos_server.presentation import words
from cgos_server.presentation.settings import Rated, VenueSettings, WebSettings
from cgos_server.service.ratings.replaying_exports import replay

NOW = T0 + 86_400_000
SYSTEMS = ("bayes", "cgos-elo")
SETTINGS = WebSettings(venues={VENUE: VenueSettings(rated=Rated(SYSTEMS, initial=1800.0))}, requests_per_minute=100_000)
ONE, OTHER = "Fox", "Bee"


@pytest.fixture(scope="module")
def address(rated_past: Path) -> Iterator[str]:
    with serving(rated_past / "cgos.sqlite", SETTINGS, lambda: NOW) as where:
        yield where


@pytest.fixture
def server(address: str) -> api.Server:
    return api.Server(address, timeout=60, sleep=lambda _seconds: None)


@pytest.fixture
def json_of(rated_past: Path) -> Callable[..., Any]:
    """What a command says as JSON."""

    def ask(*arguments: str) -> Any:
        done = CliRunner().invoke(main, [*arguments, "--data", str(rated_past), "--json"])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    return ask


@pytest.fixture
def page(address: str) -> Callable[[str], Page]:
    def get(path: str) -> Page:
        answer = httpx2.get(address + path, timeout=60)
        assert answer.status_code == 200, path
        return Page(answer.text)

    return get


def plain(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("as_of", [None, 20, 41])
def test_standings(
    server: api.Server, json_of: Callable[..., Any], page: Callable[[str], Page], system: str, as_of: int | None
) -> None:
    rows = plain(server.standings(VENUE, system=system, as_of=as_of).items)
    then = [] if as_of is None else ["--as-of", str(as_of)]
    command = json_of("standings", "--venue", VENUE, "--system", system, *then)[VENUE]
    assert [{"system": system} | row for row in rows] == command
    lines = page(f"/venue/{VENUE}?system={system}" + ("" if as_of is None else f"&as_of={as_of}")).rows
    name = 1 + any(row["best"] is not None for row in rows)  # behind the rank, and what is said of it
    shown = [(cells[name], cells[name + 1]) for cells in lines if cells[0].isdecimal()][: len(rows)]
    assert [name.split()[0] for name, _ in shown] == [row["version"] for row in rows]
    for (_, rating), row in zip(shown, rows, strict=True):
        assert rating.startswith(f"{row['mean']:.0f}")


def test_standings_at_a_moment_are_those_of_the_entry_before_it(server: api.Server) -> None:
    entries = list(server.ledger(VENUE))
    for entry in (entries[20], entries[40]):
        later = [row.at for row in entries if row.at > entry.at]
        last = max(row.seq for row in entries if row.at == entry.at)
        for at in (entry.at, min(later) - 1):
            there = server.standings(VENUE, at=at)
            assert (there.seq, there.items) == (last, server.standings(VENUE, as_of=last).items)
    assert server.standings(VENUE, at=entries[0].at - 1).items == []
    assert server.standings(VENUE, at=NOW).items == server.standings(VENUE, as_of=entries[-1].seq).items


def test_standings_recomputed(server: api.Server, json_of: Callable[..., Any]) -> None:
    there = server.standings(VENUE, system="cgos-elo", recomputed=True)
    command = json_of("standings", "--venue", VENUE, "--system", "cgos-elo", "--as", "recomputed")[VENUE]
    figures = ("rank", "version", "mean", "spread", "half_width", "games", "provisional", "anchor")
    assert [[row[name] for name in figures] for row in command] == [
        [plain(row)[name] for name in figures] for row in there.items
    ]
    assert there.corrected == 1
    published = {row.version: row.games for row in server.standings(VENUE, system="cgos-elo").items}
    assert sum(row.games for row in there.items) == sum(published.values()), "the voided game counts nowhere"


def test_two_compared(server: api.Server, json_of: Callable[..., Any], page: Callable[[str], Page]) -> None:
    for first, second in ((ONE, OTHER), (OTHER, ONE), ("Ant", "Cat")):
        there = plain(server.pair(VENUE, first, second))
        command = json_of("pair", VENUE, first, second)
        assert {name: command[name] for name in there} == there
        record = there["record"]
        assert [game["id"] for game in command["games"]] == [
            game.id for game in server.games(venue=VENUE, bot=first, opponent=second)
        ]
        text = page(f"/venue/{VENUE}/pair?a={first}&b={second}").text
        points = record["wins"] + record["draws"] / 2
        assert f"{first} scored {points:g} of {record['rated']}" in text
        assert f"{there['expected'] * record['rated']:.1f} were to be expected" in text
        assert f"is expected to score {100 * there['expected_score_as_black']:.1f} %" in text
        assert f"with a probability of {100 * there['superiority']:.1f} %" in text
        assert there["jointly"] is True


def test_opponents_are_measured_as_pairs_are(
    server: api.Server, json_of: Callable[..., Any], page: Callable[[str], Page]
) -> None:
    there = server.opponents(ONE, venue=VENUE)
    (figures,) = json_of("bot", "show", ONE, "--venue", VENUE)["figures"]
    assert plain(there) == figures["opponents"]
    endings = plain(server.figures(ONE, venue=VENUE))
    assert {name: endings[name] for name in ("verdicts", "colors", "spoilt")} == {
        name: figures[name] for name in ("verdicts", "colors", "spoilt")
    }
    assert sum(row["games"] for row in endings["verdicts"]) == sum(row.games for row in there)
    rows = page(f"/bot/{ONE}").rows
    for row in there:
        pair = server.pair(VENUE, ONE, row.opponent)
        record = pair.record
        assert (row.games, row.wins, row.losses, row.draws, row.none, row.rated) == (
            record.games, record.wins, record.losses, record.draws, record.none, record.rated
        )  # fmt: skip
        assert (row.score, row.last_game, row.last_game_at) == (pair.score, record.last_game, record.last_game_at)
        assert row.expected == pytest.approx(pair.expected, abs=1e-12)
        score = "–" if row.score is None else f"{100 * row.score:.0f}"
        assert row.expected is not None
        line = next(cells for cells in rows if cells[0] == row.opponent)
        assert (line[1], line[4].removesuffix(" %"), line[5].removesuffix(" %")) == (
            str(row.games), score, f"{100 * row.expected:.0f}"
        )  # fmt: skip


def test_the_crosstable_is_made_of_pairs(
    server: api.Server, json_of: Callable[..., Any], page: Callable[[str], Page]
) -> None:
    table = server.crosstable(VENUE)
    assert plain(table) == json_of("crosstable", VENUE)
    for record in table.pairs:
        assert record == server.pair(VENUE, record.one, record.other).record
    assert sum(record.games for record in table.pairs) == len(list(server.games(venue=VENUE, running=False)))
    assert (
        f"{sum(record.with_result for record in table.pairs)} games with a result"
        in page(f"/venue/{VENUE}/crosstable").text
    )


@pytest.mark.parametrize("system", SYSTEMS)
def test_histories(server: api.Server, json_of: Callable[..., Any], system: str) -> None:
    """Every change of a version: the command's, the API's, and what the exports say."""
    refits = list(server.export_refits(VENUE, system=system))
    changes = list(server.export_ratings(VENUE, system=system))
    assert bool(refits) == (system == "bayes")
    for name in NAMES:
        whole = list(server.history(name, venue=VENUE, system=system))
        (command,) = json_of("history", name, "--venue", VENUE, "--system", system).values()
        assert command == [{"system": system} | point for point in plain(whole)]
        assert [
            (c.seq, c.game, c.before_mean, c.after_mean, c.after_spread, c.games) for c in whole if not c.refit
        ] == [
            (c.seq, c.game, c.before_mean, c.after_mean, c.after_spread, c.games) for c in changes if c.version == name
        ]
        moved = [
            (refit.applied, refit.number, refit.at, move.mean, move.spread)
            for refit in refits
            for move in refit.moved
            if move.version == name
        ]
        assert [(c.seq, c.refit, c.at, c.after_mean, c.after_spread) for c in whole if c.refit] == moved
        now = next(row for row in server.standings(VENUE, system=system).items if row.version == name)
        assert whole[-1].after_mean == pytest.approx(now.mean, abs=0.1)
        for point in whole:
            if point.kind == "game" and point.game is not None:
                game = server.game(point.game)
                assert {game.game.black, game.game.white} == {name, point.opponent}
                mine = next(row for row in game.ratings if (row.system, row.version) == (system, name))
                assert (mine.before_mean, mine.after_mean, mine.seq) == (point.before_mean, point.after_mean, point.seq)


def test_a_voided_game_counts_nowhere(
    server: api.Server, json_of: Callable[..., Any], page: Callable[[str], Page]
) -> None:
    detail = server.game(VOIDED)
    black, white = detail.game.black, detail.game.white
    assert detail.game.corrected == "Void"
    assert VOIDED in [game.id for game in server.games(result="none")]
    assert VOIDED in [game["id"] for game in json_of("games", "--result", "none")]
    assert VOIDED in [game.id for game in server.export_games(result="none")]
    assert VOIDED not in [game.id for game in server.games(bot=black, opponent=white, result="B")]
    assert "now Void" in page(f"/game/{VOIDED}").text or "Void" in page(f"/game/{VOIDED}").text
    record = server.pair(VENUE, black, white).record
    games = list(server.games(venue=VENUE, bot=black, opponent=white))
    assert (record.games, record.none, record.rated) == (len(games), 1, len(games) - 1)
    entry = next(ledger_entry for ledger_entry in server.ledger(VENUE) if ledger_entry.kind == "correction")
    assert (entry.game, entry.score2) == (VOIDED, None)
    assert [correction.seq for correction in detail.corrections] == [entry.seq]


def test_one_game(server: api.Server, json_of: Callable[..., Any]) -> None:
    for number in (1, VOIDED, 40):
        there, command = plain(server.game(number)), json_of("show", str(number))
        assert {name: command[name] for name in there} == there
        assert command["game"]["moves"] == len(command["moves"])


def test_games_by_every_filter_together(server: api.Server, json_of: Callable[..., Any]) -> None:
    every = list(server.games(venue=VENUE))
    for filters in (
        {"bot": ONE, "result": "B"},
        {"bot": ONE, "opponent": OTHER, "reason": "score"},
        {"since": every[20].started_at, "until": every[5].started_at, "bot": ONE},
        {"min_moves": 2, "max_moves": 2, "result": "W"},
    ):
        ids = [game.id for game in server.games(venue=VENUE, **filters)]
        assert ids == sorted(ids, reverse=True)
        assert sorted(ids) == [game.id for game in server.export_games(venue=VENUE, **filters)]
        options: list[str] = []
        for name, value in filters.items():
            date = name in ("since", "until")
            options += [f"--{name.replace('_', '-')}", words.moment(int(value)) if date else str(value)]
        if "since" not in filters:
            assert ids == [game["id"] for game in json_of("games", "--venue", VENUE, "--limit", "1000", *options)]
    begun = [game.id for game in every if every[20].started_at <= game.started_at < every[5].started_at]
    assert [g.id for g in server.games(since=every[20].started_at, until=every[5].started_at)] == begun


def test_everything_that_was_published_can_be_computed_again(server: api.Server) -> None:
    for system in SYSTEMS:
        replayed, ratings = replay(server, VENUE, system)
        assert replayed.exact
        assert replayed.largest == 0.0
        changes = list(server.export_ratings(VENUE, system=system))
        refits = list(server.export_refits(VENUE, system=system))
        assert replayed.changes == len(changes)
        assert replayed.points == sum(len(refit.moved) for refit in refits)
        assert replayed.refits == len(refits)
        rows = server.standings(VENUE, system=system).items
        assert [ratings[row.version].mean for row in rows] == [row.mean for row in rows]


def test_the_example_says_so(address: str, server: api.Server) -> None:
    example = Path(__file__).parents[4] / "clients" / "examples" / "replay_ratings.py"
    words = [sys.executable, str(example), address, VENUE, "cgos-elo"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert "the largest difference is 0\n" in done.stdout
    ranked = [line.split()[1] for line in done.stdout.splitlines()[2:]]
    assert ranked == [row.version for row in server.standings(VENUE, system="cgos-elo").items]


def test_an_altered_rating_is_found(server: api.Server, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = list(server.export_ratings(VENUE, system="cgos-elo"))
    wrong = msgspec.structs.replace(changes[30], after_mean=changes[30].after_mean + 1)
    altered = [*changes[:30], wrong, *changes[31:]]
    monkeypatch.setattr(server, "export_ratings", lambda _venue, system: iter(altered if system else ()))
    replayed, _ = replay(server, VENUE, "cgos-elo")
    assert replayed.largest == pytest.approx(1.0)
    assert not replayed.agrees


# -- cut streams


@pytest.mark.parametrize("name", ["ratings", "ledger", "refits", "games"])
def test_an_export_that_breaks_goes_on_where_it_broke(
    server: api.Server, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Cut after every few lines, in the midst of an entry too: in sum the same lines."""
    ask = {
        "ratings": lambda: server.export_ratings(VENUE, system="bayes"),
        "ledger": lambda: server.export_ledger(VENUE),
        "refits": lambda: server.export_refits(VENUE, system="bayes"),
        "games": lambda: server.export_games(),
    }[name]
    whole = list(ask())
    lines, cuts = Http.lines, []

    def cut(self: Http, *arguments: Any) -> Iterator[bytes]:
        for at, line in enumerate(lines(self, *arguments)):
            if at == 4 + len(cuts) % 3:
                cuts.append(line)
                raise ConnectionLost("cut")
            yield line

    monkeypatch.setattr(Http, "lines", cut)
    assert list(ask()) == whole
    assert len(cuts) > 2 or name == "refits"


@pytest.mark.parametrize("path", ["games.ndjson", f"venues/{VENUE}/ledger.ndjson", f"venues/{VENUE}/ledger.csv"])
def test_bytes_in_sum_are_the_same(address: str, path: str) -> None:
    """What is asked for after the last whole line goes on exactly there."""
    whole = httpx2.get(f"{address}/api/v1/export/{path}", timeout=60).content
    lines = re.findall(rb"[^\n]*\n", whole)
    table = path.endswith(".csv")
    head = lines[: 12 + table]
    last = (
        head[-1].split(b",")[0].decode()
        if table
        else str(json.loads(head[-1]).get("seq") or json.loads(head[-1])["id"])
    )
    rest = httpx2.get(f"{address}/api/v1/export/{path}?after={last}", timeout=60).content
    if table:
        rest = rest[len(lines[0]) :]  # its head comes again
    assert b"".join(head) + rest == whole
