"""`pairing explain`, `preview` and `stats`, `reload`, `bot recall`: on a database and through a running server."""

from __future__ import annotations

import asyncio
import json
import random
import sqlite3
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.cli.in_thread import InThread

from cgos_protocol.api.people import BotNow, Previewed, PreviewedPair
from cgos_server.config.loader import load
from cgos_server.core.pairing.base import Candidate, PairingPass
from cgos_server.core.pairing.explain import encode_inputs
from cgos_server.core.pairing.registry import matchmaker
from cgos_server.core.venue import Policy
from cgos_server.net import control_socket
from cgos_server.service.admin import Admin
from cgos_server.service.control import ServerStatus
from cgos_server.service.ids import Ids
from cgos_server.service.people.accounts import Accounts
from cgos_server.service.people.passwords import Passwords
from cgos_server.storage.lock import DatabaseLock
from cgos_server.storage.opening import open_store
from cgos_server.storage.writing import records as r
from cgos_server.storage.writing.asking import QuestionAdded, QuestionGame
from cgos_server.storage.writing.group_commit import CommitListener

T0 = 1_700_000_100_000

PAIRING_PASS = PairingPass(
    candidates=[
        Candidate(1, "Alpha", 1812.0, 2_500_000, sd=80.0, games=12, last_opponent=2, balance=1),
        Candidate(2, "Beta", 1900.0, 500_000, games=40, anchor=True),
        Candidate(3, "Gamma", 1500.0, 9_000_000, sat_out=2, provisional=True),
    ],
    policy=Policy.BARRIER,
)


def put(data: Path, *rows: r.Record) -> None:
    async def work() -> None:
        store = await open_store(
            load(None, {}, {"server.data": data}).server.location, CommitListener(failed=fail, on_error=fail)
        )
        await store.commit(rows)
        await store.close()

    asyncio.run(work())


def fail(error: Exception) -> None:
    raise error


@pytest.fixture
def paired(data: Path) -> Path:
    """A round of three in which Gamma and another one met; game 3."""
    method = matchmaker("entropy", {})
    pairing = method.pair(PAIRING_PASS, random.Random(5))
    (pair,) = pairing.pairs
    names = {candidate.id: candidate for candidate in PAIRING_PASS.candidates}
    labels = f"{names[pair.high].rating:.0f}", f"{names[pair.low].rating:.0f}?"
    put(
        data,
        r.ConnectionOpened(1, 1, pair.high, "", "", T0),
        r.RoundAdded(2, 1, 2, T0, "barrier", "entropy", json.dumps(dict(method.options)), "5",
                     encode_inputs(PAIRING_PASS),
                     json.dumps({str(version): why for version, why in pairing.sits_out.items()}), "[]",
                     pairing.total),
        r.GameAdded(3, 1, 2, pair.high, pair.low, *labels, "{}", "", T0),
        r.PairingAdded(3, 2, pair.high, pair.low, pair.reason, "By lot.",
                       json.dumps(dict(pair.detail) | {"expected": 0.75, "bits": 0.811})),
        r.GameEnded(T0 + 60_000, 0, "resignation", None, "", "B+Resign", 2, 2, 3),
    )  # fmt: skip
    return data


# -- on a database


def test_explain_a_game(run: Any, as_json: Any, paired: Path) -> None:
    explained = as_json("pairing", "explain", "3")
    high, low = explained["game"]["high"], explained["game"]["low"]
    text = run("pairing", "explain", "3").stdout
    lines = text.splitlines()
    assert lines[0] == "round 2 (number 2 of 9x9), 2023-11-14 22:15 (UTC): barrier, entropy"
    assert lines[1].startswith("options: anchor_cost 0.2, avoid_last true, ")
    assert f"game 3: {high} (Black) - {low} (White)" in lines
    assert explained["game"]["reason"] in lines
    order = "those that no rule kept apart first, by worth minus costs"
    assert f"whom {high} could have met, {order}" in lines
    starred = [line.split()[1] for line in lines if line.startswith("*")]
    assert starred == [low, high]
    words = [line.split() for line in lines]
    assert ["Alpha", "1812", "157", "12", "2.5", "0", "1", "Beta"] in [line[:8] for line in words]
    assert any(line[:2] == ["Beta", "1900"] and line[2] == "anchor" for line in words)
    assert any(line[:2] == ["Gamma", "1500?"] for line in words)
    (sentence,) = explained["sits_out"].values()
    assert f"  {sentence}" in lines
    assert lines[-1] == "Computed again from its record it gives the same pairs."
    assert explained["replay"]["agrees"] is True
    assert explained["total"] == explained["replay"]["total"]


def test_explain_a_round(run: Any, as_json: Any, paired: Path) -> None:
    whole = as_json("pairing", "explain", "--round", "2")
    assert (whole["game"], whole["partners"]) == (None, {})
    assert whole["ready"] == as_json("pairing", "explain", "3")["ready"]
    (pair,) = whole["pairs"]
    text = run("pairing", "explain", "--round", "2").stdout
    assert f"game 3, {pair['black']} (Black) - {pair['white']} (White): {pair['reason']} By lot." in text
    assert "could have met" not in text


def test_explain_a_round_with_nothing_to_decide_again(run: Any) -> None:
    text = run("pairing", "explain", "1").stdout
    assert "Alpha was drawn from 1 candidate." in text
    assert text.endswith("there is nothing to decide again.\n")


def test_what_cannot_be_explained(run: Any, data: Path) -> None:
    put(data, r.GameAdded(3, 1, None, 1, 2, "", "", "{}", "", T0))
    nobody = "No matchmaker paired game {}: {} did."
    assert nobody.format(3, "an operator") in run("pairing", "explain", "3", fails=1).stderr
    put(
        data,
        *(r.GameAdded(game, 1, None, 1, 2, "", "", "{}", "", T0) for game in (4, 5)),
        r.EventAdded(1, "Cup", 1, T0, "running"),
        r.EventGame(4, 1, 2, 7),
        QuestionAdded(9, 1, None, "test", "{}", T0, 0, "open", None, "", ""),
        QuestionGame(game_id=5, question_id=9, pair=3, opening=""),
    )
    assert nobody.format(4, "round 2 of event Cup") in run("pairing", "explain", "4", fails=1).stderr
    assert nobody.format(5, "question 9 (pair 3)") in run("pairing", "explain", "5", fails=1).stderr
    paired_by = "1 by events, 1 by questions, 1 by an operator"
    assert f"paired by birk 1; {paired_by}" in run("pairing", "stats", "--venue", "9x9").stdout.splitlines()
    assert "There is no game 9" in run("pairing", "explain", "9", fails=1).stderr
    assert "There is no round 9" in run("pairing", "explain", "--round", "9", fails=1).stderr
    for words in ([], ["1", "--round", "1"], ["x"]):
        run("pairing", "explain", *words, fails=2)


def test_show_names_the_opening(run: Any, as_json: Any, data: Path) -> None:
    assert "opening" not in run("show", "1").stdout
    terms = json.dumps(as_json("show", "1")["terms"])
    put(data, r.GameAdded(3, 1, None, 1, 2, "1800", "1900", terms, "", T0, "star.sgf 4"))
    assert "opening: star.sgf 4" in run("show", "3").stdout
    assert as_json("show", "3")["game"]["opening"] == "star.sgf 4"


def test_stats(run: Any, as_json: Any, paired: Path) -> None:
    stats = as_json("pairing", "stats", "--venue", "9x9")["9x9"]
    assert (stats["games"], stats["rounds"], stats["looked_at"]) == (3, 2, 2)
    assert (stats["methods"], stats["sat_out"]) == ({"entropy": 1, "birk": 1}, 1)
    assert (stats["waits"]["count"], stats["bits"]["mean"], stats["expected"]["mean"]) == (2, 0.811, 0.75)
    text = run("pairing", "stats").stdout
    lines = text.splitlines()
    assert lines[0] == "9x9: 3 games in 2 rounds, 2023-11-14 22:13 to 2023-11-14 22:16 (UTC)"
    assert lines[1] == "paired by entropy 1, birk 1; 0 by events, 0 by questions, 0 by an operator"
    assert "time in games: 100 %" in lines
    assert "information of a game (bit): mean 0.81, median 0.81, 90 % up to 0.81, largest 0.81" in lines
    (bar,) = (line for line in lines if line.startswith("      0.8 to 0.9"))
    assert bar.split()[-2:] == ["1", "█" * 40]
    assert [line.split()[0] for line in lines[-3:]] == [version["name"] for version in stats["versions"]]
    assert set(as_json("pairing", "stats")) == {"9x9", "13x13", "19x19"}


def test_stats_of_a_part(run: Any, as_json: Any, paired: Path) -> None:
    assert as_json("pairing", "stats", "--last", "1")["9x9"]["games"] == 1
    assert as_json("pairing", "stats", "--since", "2023-11-14 22:15:00")["9x9"]["games"] == 1
    assert as_json("pairing", "stats", "--since", "2023-11-14")["9x9"]["games"] == 3
    assert as_json("pairing", "stats", "--since", "2023-11-15")["9x9"]["games"] == 0
    assert "No games were paired in that time." in run("pairing", "stats", "--since", "2023-11-15").stderr
    assert "There is no venue '8x8'" in run("pairing", "stats", "--venue", "8x8", fails=1).stderr
    run("pairing", "stats", "--last", "0", fails=2)
    run("pairing", "stats", "--since", "yesterday", fails=2)


def test_without_a_server(run: Any) -> None:
    for words in (["pairing", "preview", "--venue", "9x9"], ["reload"], ["reload", "--json"]):
        result = run(*words, fails=1)
        assert "No server runs on" in result.stderr
        assert result.stdout == ""


def test_a_bot_is_taken_back_and_shown(run: Any, as_json: Any, data: Path) -> None:
    put(data, r.SuspensionNow(1, 1, 5, 1, "game 7: lost on time", T0), r.SuspensionNow(2, 2, 5, 1, "game 8: away", T0))
    (alpha, *_) = as_json("bots")
    assert alpha["suspended"] == [
        {"venue": "9x9", "version": "Alpha", "spoilt": 5, "reason": "game 7: lost on time", "at": T0}
    ]
    assert (
        "Alpha is suspended in 9x9 since 2023-11-14 22:15: 5 games in a row went wrong on its side, the last one was "
        "game 7: lost on time."
    ) in run("bots").stdout
    assert run("bot", "recall", "Alpha").stderr == "Alpha may play again in 9x9.\n"
    assert "Alpha is not suspended" in run("bot", "recall", "Alpha", fails=1).stderr
    assert "Beta is not suspended in 9x9" in run("bot", "recall", "Beta", "--venue", "9x9", fails=1).stderr
    run("bot", "recall", "Beta", "--venue", "13x13")
    assert "suspended" not in run("bots").stdout
    assert audits(data) == [("bot recall", "Alpha"), ("bot recall", "Beta")]


def audits(data: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(data / "cgos.sqlite")) as connection:
        return connection.execute("SELECT action, subject FROM audit ORDER BY id").fetchall()


# -- through a running server


class Live(InThread):
    """Holds the database and answers on the control socket, in a thread."""

    def __init__(self, data: Path) -> None:
        super().__init__()
        self.data = data
        self.calls: list[Any] = []
        self.changes = ["9x9: method was birk and is entropy."]
        self.reason = ""

    async def run(self) -> None:
        path = load(None, {}, {"server.data": self.data}).server.location
        with DatabaseLock(path, "cgos-server serve"), Passwords(5) as passwords:
            store = await open_store(path, CommitListener(failed=fail, on_error=fail))
            ids = Ids(await store.history.server.next_ids())
            accounts = Accounts(store, ids, passwords, "open", lambda: T0)
            admin = Admin(accounts, self)  # type: ignore[arg-type]
            async with control_socket.serve(self.data, admin.answer):
                self.up.set()
                await self.end.wait()
            await store.close()

    def status(self) -> ServerStatus:
        bot = BotNow(
            name="Beta",
            venue="9x9",
            state="idle",
            address="192.0.2.1",
            client="client",
            game=None,
            suspended=self.reason,
            paused=False,
            connection=0,
            since=0.0,
        )
        return ServerStatus(
            pid=7,
            version="1",
            up_s=61.0,
            ready=True,
            draining=False,
            venues=[],
            games=[],
            bots=[bot],
            moves=0,
            ended={},
            warnings=0,
            errors=0,
            web="",
            health="",
        )

    def recall(self, venue: str | None, versions: Collection[int]) -> dict[str, list[int]]:
        self.calls.append((venue, sorted(versions)))
        return {"9x9": [1]} if 1 in versions else {}

    async def preview(self, venue: str, method: str | None, options: Mapping[str, Any]) -> Previewed:
        self.calls.append((venue, method, options))
        pairs = [
            PreviewedPair(
                high="Beta", low="Alpha", reason="Beta (1900) met Alpha (1812): 0.96 bit.", detail={"worth": 0.96}
            )
        ]
        sits_out = {"Gamma": "Gamma (1500) sits out."}
        shown = {"patience_s": 2.5, "avoid_last": False}
        if venue == "13x13":
            return Previewed(
                venue=venue,
                policy="rolling",
                method="birk",
                options={},
                ready=[],
                pairs=[],
                sits_out={},
                notes=[],
                total=None,
            )
        return Previewed(
            venue=venue,
            policy="barrier",
            method="entropy",
            options=shown,
            ready=["Beta", "Alpha", "Gamma"],
            pairs=pairs,
            sits_out=sits_out,
            notes=["Odd."],
            total=None,
        )

    async def reload(self) -> list[str]:
        return self.changes


@pytest.fixture
def live(data: Path) -> Iterator[Live]:
    with Live(data) as server:
        yield server


def test_preview(run: Any, as_json: Any, live: Live) -> None:
    options = ["formula=one", "avoid_last=false", "patience_s=2.5", "repeat_most=3", "word=", 'text="x"']
    option_words = [word for option in options for word in ("--option", option)]
    text = run("pairing", "preview", "--venue", "9x9", "--method", "birk", *option_words).stdout
    assert live.calls == [
        (
            "9x9", "birk",
            {"formula": "one", "avoid_last": False, "patience_s": 2.5, "repeat_most": 3, "word": "", "text": '"x"'},
        )
    ]  # fmt: skip
    assert text.splitlines() == [
        "9x9, barrier, entropy: avoid_last false, patience_s 2.5",
        "ready: Beta, Alpha, Gamma",
        "would meet:",
        "  Beta (1900) met Alpha (1812): 0.96 bit.",
        "unpaired:",
        "  Gamma (1500) sits out.",
        "noted:",
        "  Odd.",
    ]
    preview = as_json("pairing", "preview", "--venue", "9x9")
    assert live.calls[-1] == ("9x9", None, {})
    assert msgspec.convert(preview, Previewed).pairs[0].detail == {"worth": 0.96}
    assert "Nobody would meet." in run("pairing", "preview", "--venue", "13x13").stdout


def test_a_preview_that_cannot_be(run: Any, live: Live) -> None:
    assert "there are several venues" in run("pairing", "preview", fails=2).stderr
    run("pairing", "preview", "--venue", "9x9", "--method", "clairvoyant", fails=2)
    assert "is not NAME=VALUE" in run("pairing", "preview", "--venue", "9x9", "--option", "formula", fails=2).stderr
    assert live.calls == []


def test_reload(run: Any, as_json: Any, live: Live) -> None:
    assert run("reload").stdout == "9x9: method was birk and is entropy.\n"
    assert as_json("reload") == ["9x9: method was birk and is entropy."]
    live.changes = []
    assert run("reload").stdout == "Nothing has changed.\n"
    assert audits(live.data) == [("reload", "configuration")] * 3


def test_recall_goes_through_the_running_server(run: Any, live: Live) -> None:
    assert run("bot", "recall", "Alpha").stderr == "Alpha may play again in 9x9.\n"
    assert "Beta is not suspended" in run("bot", "recall", "Beta", fails=1).stderr
    assert live.calls == [(None, [1]), (None, [2])]


def test_status_shows_who_is_suspended(run: Any, as_json: Any, live: Live) -> None:
    assert "suspended" not in run("status").stdout
    live.reason = "game 7: lost on time"
    text = run("status").stdout
    assert ["Beta", "9x9", "suspended"] in [line.split()[:3] for line in text.splitlines()]
    assert "Beta is suspended in 9x9: game 7: lost on time" in text
    assert as_json("status")["bots"][0]["suspended"] == "game 7: lost on time"
