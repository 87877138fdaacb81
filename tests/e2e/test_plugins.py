"""The packages of docs/plugins.md, installed: a server plays, rates and pairs with them, and a tournament is held."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from support.e2e.plugins import changed, declared, install, written
from support.e2e.processes import ServerProcess, bots, end, until

from cgos_server.core.pairing.base import Candidate, PairingPass
from cgos_server.core.pairing.explain import recorded_plugin
from cgos_server.live.pairing.executor import MOST_INLINE, PairingProcess

pytestmark = pytest.mark.e2e

VENUE = """time = { system = "absolute", main = "2m" }
game = "first-capture"
rating = { system = "steady-elo", views = "bayes", options = { steady-elo = { k = 32 } } }"""
PAIRING = 'pairing = { method = "closest", options = { reach = 300 }, '

PLAYERS = {"One": (["bot", "random"], ()), "Two": (["bot", "greedy"], ()), "Three": (["bot", "random"], ())}


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all four packages."""
    directory = tmp_path_factory.mktemp("plugins")
    return install(directory / "site", *written(directory))


@pytest.fixture
def with_packages(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is started from now on finds the packages."""
    on_path(monkeypatch, packages)


def on_path(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> None:
    rest = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([*map(str, folders), *([rest] if rest else [])]))


def prepared(directory: Path, venue: str = VENUE, pairing: str = PAIRING) -> ServerProcess:
    """A server that is not started, on a venue of the packages' making."""
    # A bot may have left a game that had just begun.
    serving = ServerProcess(directory, venue=venue, settings="drain_limit_s = 1")
    serving.config.write_text(serving.config.read_text().replace("pairing = { ", pairing))
    return serving


@pytest.fixture
def played(tmp_path: Path, with_packages: None) -> Iterator[ServerProcess]:
    """A running server on which several rated games have ended."""
    serving = prepared(tmp_path)
    try:
        serving.start()
        with bots(serving, PLAYERS):
            until(lambda: serving.query("select count(*) from ledger where kind = 'game'") > [(3,)], 40, "no games")
        yield serving
    finally:
        if serving.process is not None:
            end(serving.process)


def run(*arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """A `cgos-server` command without a server."""
    command = [sys.executable, "-m", "cgos_server", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, input=stdin, check=False)


def test_a_server_plays_rates_and_pairs_with_them(
    played: ServerProcess, packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (game, margin, plies), *_ = played.query("select id, margin2, plies from games where reason = 'score'")
    assert abs(margin) >= 2 or margin == 0
    assert plies < 200
    assert {row[0] for row in played.query("select distinct system from ratings")} == {"steady-elo", "bayes"}
    assert {row[0] for row in played.query("select distinct spread from ratings where system = 'steady-elo'")} == {32}
    methods = played.query("select distinct method from rounds")
    assert methods == [("closest",)]

    status = played.command("status")
    for phrase in ("game first-capture of cgos-first-capture 1.0", "pairing method closest of cgos-closest 1.0"):
        assert f"plug-in: {phrase}" in status.stdout, status.stderr

    pages = {
        f"/game/{game}": "9×9",
        "/venue/9x9?system=steady-elo": "steady-elo",
        "/venue/9x9?system=bayes": "±",
        "/venue/9x9/rules": "Elo with one K for everybody",
        "/wall": "9x9",
        "/venue/9x9/rounds": "closest",
        f"/round/{played.query('select max(id) from rounds')[0][0]}": "Elo apart",
    }
    for address, part in pages.items():
        code, page = played.page(address)
        assert (code, part in page) == (200, True), address
    _, rules = played.page("/venue/9x9/rules")
    for part in (
        "Go in which whoever takes a stone first has won", "The first capture wins", "provisional (?) for 10 games",
        "those meet whose ratings are nearest", "Elo over which a game&#39;s worth falls to a third",
    ):  # fmt: skip
        assert part in rules, part

    for arguments in (("pairing", "preview", "--method", "closest"), ("standings", "--system", "steady-elo")):
        done = played.command(*arguments)
        assert done.returncode == 0, done.stderr
    assert played.stop() == 0

    explained = json.loads(played.command("pairing", "explain", str(game), "--json").stdout)
    assert explained["replay"]["agrees"] is True
    done = played.command("rate", "replay", "--system", "steady-elo", "--json")
    (replayed,) = json.loads(done.stdout)["9x9"]
    assert (replayed["exact"], replayed["plugins"], replayed["plugin"]) == (
        True, ["cgos-steady-elo 1.0"], "cgos-steady-elo 1.0",
    )  # fmt: skip

    # Another version of both is installed now.
    newer = [changed(folder, ('version = "1.0"', 'version = "2.0"')) for folder in written(tmp_path / "newer")]
    on_path(
        monkeypatch, install(tmp_path / "site", *(wheel for wheel in newer if wheel.name in ("steady-elo", "closest")))
    )
    stderr = played.command("rate", "replay", "--system", "steady-elo").stderr
    assert "ratings were computed by cgos-steady-elo 1.0; cgos-steady-elo 2.0 is installed now." in stderr
    stdout = played.command("pairing", "explain", str(game)).stdout
    assert "It was decided by cgos-closest 1.0; cgos-closest 2.0 is installed now." in stdout


async def test_a_large_pass_is_decided_in_the_child(with_packages: None) -> None:
    pairing_pass = PairingPass(
        candidates=[Candidate(number, f"bot{number}", 1500.0 + 10 * number) for number in range(MOST_INLINE + 2)]
    )
    with closing(PairingProcess()) as deciding:
        pairing, inputs = await deciding.decide("closest", {"reach": 300}, pairing_pass, 1)
    assert {abs(pair.high - pair.low) for pair in pairing.pairs} == {1}
    assert recorded_plugin(inputs) == "cgos-closest 1.0"


def test_a_venue_whose_plug_in_is_gone_is_refused_by_name(tmp_path: Path) -> None:
    serving = prepared(tmp_path)
    done = serving.command("serve")
    assert done.returncode == 2
    for sentence in (
        'There is no game "first-capture". Choose go.',
        "There is no rating system 'steady-elo'. Choose one of: bayes,",
        "There is no pairing method 'closest'. Choose one of: information,",
    ):
        assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_tournament_is_held(tmp_path: Path, with_packages: None) -> None:
    file = tmp_path / "event.json"
    entrants = [{"id": number, "name": name} for number, name in enumerate(("Ann", "Bob", "Cid", "Dan"), 1)]
    file.write_text(json.dumps({"system": "king-of-the-hill", "entrants": entrants, "planned": 3}))
    done = run("tournament", "next", str(file), "--option", "start=listed", "--json")
    assert done.returncode == 0, done.stderr
    assert {(1, 2), (3, 4)} == {
        tuple(sorted((game["white"], game["black"]))) for game in json.loads(done.stdout)["games"]
    }
    done = run("tournament", "systems")
    assert "king-of-the-hill" in done.stdout
    done = run(
        *("lab", "swiss", "--players", "8", "--rounds", "3", "--events", "40", "--jobs", "2"),
        *("--system", "king-of-the-hill", "--system", "mwm", "--json"),
    )
    assert done.returncode == 0, done.stderr
    assert "king-of-the-hill" in done.stdout


def test_what_clashes_or_fails_is_left_out_with_a_sentence(
    tmp_path: Path, packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    (site / "broken").mkdir(parents=True)
    (site / "broken" / "__init__.py").write_text("raise RuntimeError('no such library')\n")
    declared(site, "own-name", "cgos_server.rating_systems", "bayes", "cgos_steady_elo:SYSTEM")
    declared(site, "other-name", "cgos_server.rating_systems", "steady-elo", "cgos_steady_elo:SYSTEM")
    declared(site, "broken", "cgos_server.matchmakers", "broken", "broken:METHOD")
    declared(site, "nonsense", "cgos_server.games", "nonsense", "cgos_steady_elo:SYSTEM")
    on_path(monkeypatch, packages, site)
    serving = ServerProcess(tmp_path)
    try:
        serving.start()
        left_out = [event["reason"] for event in serving.log_events() if event["event"] == "a plug-in is left out"]
        status = serving.command("status").stdout
    finally:
        if serving.process is not None:
            end(serving.process)
    sentences = (
        "The rating system 'bayes' of own-name 1.0 is left out: the server has its own of that name. Rename it.",
        "The rating system 'steady-elo' is in cgos-steady-elo 1.0 and other-name 1.0. Uninstall one of them.",
        "The pairing method 'broken' of broken 1.0 cannot be loaded: RuntimeError: no such library. Install a version "
        "that works, or none.",
    )
    for sentence in sentences:
        assert sentence in left_out
        assert sentence in status
    assert any("'nonsense' of nonsense 1.0 is no" in sentence for sentence in left_out)
    done = serving.command("rate", "replay", "--system", "steady-elo")
    assert "Traceback" not in done.stderr
    serving.config.write_text(serving.config.read_text().replace("pairing = { ", 'pairing = { method = "broken", '))
    done = serving.command("check")
    assert done.returncode == 2
    assert sentences[2] in done.stderr
