"""Commands that write, through a server that runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.cli.audit import audits
from support.cli.in_thread import InThread
from support.service.loaded_ratings import loaded_ratings

from cgos_protocol.api.people import BotNow, EndedGame, GameNow, VenueNow
from cgos_protocol.games.base import Color
from cgos_protocol.session import Limits
from cgos_server.config.loader import load
from cgos_server.core.rating.registry import rating_system
from cgos_server.net import control_socket
from cgos_server.service.admin import Admin
from cgos_server.service.control import ArrangedGame, ServerStatus, VersionNow
from cgos_server.service.ids import Ids
from cgos_server.service.people.accounts import Accounts
from cgos_server.service.people.passwords import Passwords, digest
from cgos_server.service.ratings.families import Families
from cgos_server.service.ratings.venue_ratings import VenueRatings
from cgos_server.storage.lock import DatabaseLock
from cgos_server.storage.opening import open_store
from cgos_server.storage.writing.group_commit import CommitListener

STATUS = ServerStatus(
    pid=7,
    version="0.1",
    up_s=3700.0,
    ready=True,
    draining=False,
    venues=[VenueNow(name="9x9", port=6809, playing=2, idle=0, owing=1, games=1, paused=False)],
    games=[GameNow(game=2, venue="9x9", black="Beta", white="Alpha", ply=1, black_here=True, white_here=False)],
    bots=[
        BotNow(
            name="Beta",
            venue="9x9",
            state="playing",
            address="192.0.2.1",
            client="client 1",
            game=2,
            suspended="",
            paused=False,
            connection=0,
            since=0.0,
        )
    ],
    moves=12,
    ended={"score": 3},
    warnings=0,
    errors=1,
    web="http://127.0.0.1:8080",
    health="http://127.0.0.1:9809",
)


class Live(InThread):
    """A server as far as commands see it: it holds the lock, the store and the control socket, in a thread."""

    def __init__(self, data: Path) -> None:
        super().__init__()
        self.data = data
        self.dismissed: list[str] = []
        self.drained = False
        self.changed: list[str] = []
        self.ruled: list[tuple[Any, ...]] = []
        self.pool: VenueRatings | None = None

    async def run(self) -> None:
        config = load(None, {}, {"server.data": self.data})
        path = config.server.location

        def fail(error: Exception) -> None:
            raise error

        def now() -> int:
            return 1_700_000_000_000

        with DatabaseLock(path, "cgos-server serve"), Passwords(5) as passwords:
            store = await open_store(path, CommitListener(failed=fail, on_error=fail))
            self.pool = await loaded_ratings(store, 1, rating_system("cgos-elo", 1800.0, {}))
            ids = Ids(await store.history.server.next_ids())
            accounts = Accounts(store, ids, passwords, "open", now, families=await Families.load(store))
            admin = Admin(accounts, self)
            async with control_socket.serve(self.data, admin.answer):
                self.up.set()
                await self.end.wait()
            await store.close()

    def status(self) -> ServerStatus:
        return STATUS

    def dismiss(self, bot: int, sentence: str) -> int:
        self.dismissed.append(f"{bot}: {sentence}")
        return 1

    def ratings(self, venue: str) -> VenueRatings | None:
        return self.pool if venue == "9x9" else None

    def ratings_changed(self, venue: str) -> None:
        self.changed.append(venue)

    def drain(self) -> None:
        self.drained = True

    def match(self, venue: str, *, white: str, black: str, **more: Any) -> ArrangedGame:
        opening = more["opening"]
        begins = None if opening is None else opening.id
        self.ruled.append(("match", venue, white, black, more["mains_s"], begins, more["plies"]))
        return ArrangedGame(
            game=17,
            venue=venue,
            white=white,
            white_label="1800?",
            black=black,
            black_label="1750",
            rated=opening is None,
            plies=0,
        )

    def end_game(self, game: int, winner: Color | None, detail: str) -> EndedGame:
        self.ruled.append(("abort", game, winner, detail))
        return EndedGame(
            game=game, venue="9x9", white="Alpha", black="Beta", result="B+Forfeit" if winner is not None else "Abort"
        )

    def pause(self, venue: str, paused: bool) -> None:
        self.ruled.append(("pause", venue, paused))

    def wishes(self, bot: int, paused: bool, limits: Limits) -> None:
        self.ruled.append(("wishes", bot, paused, limits))

    def look(self, bot: int) -> list[VersionNow]:
        self.ruled.append(("look", bot))
        return [
            VersionNow(
                name="Alpha",
                venue="9x9",
                state="paused",
                since=1.7e9,
                began_at=1_700_000_000_000,
                games=[7, 8],
                slots=2,
                why="Its owner has paused it.",
                paired=False,
            )
        ][: bot == 1]

    def drain_bot(self, bot: int) -> int:
        self.ruled.append(("drain", bot))
        return 2

    def kick(self, name: str, sentence: str) -> int:
        self.ruled.append(("kick", name, sentence))
        return int(name == "Alpha")


@pytest.fixture
def live(data: Path) -> Iterator[Live]:
    with Live(data) as server:
        yield server


def test_what_a_bot_does_just_now(run: Any, live: Live, as_json: Any) -> None:
    shown = run("bot", "now", "Alpha").stdout
    assert "paused" in shown
    assert "2023-11-14 22:13" in shown
    assert "7, 8" in shown
    assert "Its owner has paused it." in shown
    (row,) = as_json("bot", "now", "Alpha")
    assert (row["name"], row["state"], row["games"]) == ("Alpha", "paused", [7, 8])
    assert (row["began_at"], row["since"]) == (1_700_000_000_000, 1_700_000_000)
    assert "is not signed in" in run("bot", "now", "Beta").stderr
    assert "Nobody" in run("bot", "now", "Nobody", fails=1).stderr


def test_writing_commands_go_through_the_running_server(run: Any, live: Live, as_json: Any) -> None:
    assert run("bot", "add", "Delta", stdin="secret\n").stderr == "The bot Delta may play.\n"
    assert "closed 1 connection of it" in run("bot", "disable", "Delta", "--reason", "it hangs").stderr
    assert live.dismissed == ["4: Delta was disabled: it hangs"]
    token = run("token", "make", "Alpha").stdout.strip()
    assert digest(token)
    run("anchor", "set", "Gamma", "1500", "--venue", "9x9")
    assert live.pool is not None
    assert live.pool.rating(3).mean == 1500
    assert [row["version"] for row in as_json("anchor", "list")["9x9"]] == ["Beta", "Gamma"]
    assert [row[1] for row in audits(live.data)] == ["bot add", "bot disable", "token make", "anchor set"]
    assert audits(live.data)[0][0].endswith(" (command)")
    assert live.changed == ["9x9"]


def test_corrections_and_families_go_through_the_running_server(run: Any, live: Live, as_json: Any) -> None:
    assert live.pool is not None
    before = live.pool.rating(1)
    assert before.games == 1
    run("correct", "1", "--result", "Void", "--reason", "it cheated")
    after = live.pool.rating(1)
    assert (after.games, after.mean < before.mean) == (0, True)
    assert "linked in 9x9" in run("family", "link", "Alpha", "Beta").stderr
    assert as_json("family", "list") == {"Beta": ["Alpha"]}
    run("family", "unlink", "Alpha")
    assert live.changed == ["9x9"] * 3
    assert [row[1] for row in audits(live.data)] == ["correct", "family link", "family unlink"]


def test_refusals_come_through_as_they_are(run: Any, live: Live) -> None:
    assert run("bot", "enable", "Nobody", fails=1).stderr.startswith("Error: There is no bot Nobody. ")


def test_status_and_drain(run: Any, live: Live) -> None:
    text = run("status").stdout
    assert "process 7, up 1 h 1 min: ready" in text
    assert "games ended: 3 by score" in text
    assert "0 warnings, 1 error\n" in text
    lines = [line.split() for line in text.splitlines()]
    assert ["9x9", "6809", "1", "2", "0", "1"] in lines
    assert ["2", "9x9", "Beta", "Alpha", "1", "white"] in lines
    assert ["Beta", "9x9", "playing", "2", "192.0.2.1", "client", "1"] in lines
    assert json.loads(run("status", "--json").stdout)["bots"][0]["client"] == "client 1"
    assert "No new game begins" in run("drain").stderr
    assert live.drained


def test_db_upgrade(run: Any, tmp_path: Path, live: Live) -> None:
    assert "in use by cgos-server serve" in run("db", "upgrade", fails=1).stderr
    assert "There is no database" in run("db", "upgrade", fails=1, where=tmp_path / "none").stderr


def test_rulings_go_through_the_running_server(run: Any, live: Live, as_json: Any) -> None:
    result = run("match", "Alpha", "Beta", "--venue", "9x9")
    assert result.stdout == "17\n"
    assert result.stderr.startswith("Beta (1750, Black) and Alpha (1800?, White) begin in 9x9, rated.")
    made = as_json("match", "Alpha", "Beta", "--venue", "9x9", "--white-s", "60", "--game", "1", "--moves", "2")
    assert (made["game"], made["white"], made["rated"]) == (17, "Alpha", False)
    assert "Game 2 of Beta (Black) and Alpha (White) is ended: Abort." in run("abort", "2", "--reason", "test").stderr
    assert as_json("abort", "2", "--result", "b+forfeit")["result"] == "B+Forfeit"
    assert "Nobody is paired in 9x9" in run("pause", "--venue", "9x9").stderr
    assert run("resume", "--venue", "9x9").stderr == "9x9 pairs again.\n"
    assert "Closed 1 connection of Alpha." in run("kick", "Alpha", "--reason", "it hangs").stderr
    assert "Nobody is not signed in" in run("kick", "Nobody", "--reason", "it hangs", fails=1).stderr
    assert live.ruled == [
        ("match", "9x9", "Alpha", "Beta", (0, 0), None, None),
        ("match", "9x9", "Alpha", "Beta", (60, 0), 1, 2),
        ("abort", 2, None, "test"),
        ("abort", 2, Color.BLACK, "By ruling of the operator"),
        ("pause", "9x9", True),
        ("pause", "9x9", False),
        ("kick", "Alpha", "The operator closes your connection: it hangs"),
        ("kick", "Nobody", "The operator closes your connection: it hangs"),
    ]
    rows = audits(live.data)
    assert [row[1] for row in rows] == ["match", "match", "abort", "abort", "pause", "resume", "kick"]
    assert rows[0][0].endswith(" (command)")
