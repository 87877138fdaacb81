"""Commands about whose a bot is, what lets people in, webhooks and the audit."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from support.storage.storage_sample import bot_row

from cgos_server.config.loader import load
from cgos_server.presentation.words import moment
from cgos_server.storage.opening import open_store
from cgos_server.storage.writing import records as r
from cgos_server.storage.writing.group_commit import CommitListener

T0 = 1_700_000_000_000


def put(data: Path, *records: r.Record) -> None:
    def failed(error: Exception) -> None:
        raise error

    async def work() -> None:
        store = await open_store(
            load(None, {}, {"server.data": data}).server.location, CommitListener(failed=failed, on_error=failed)
        )
        await store.commit(records)
        await store.close()

    asyncio.run(work())


@pytest.fixture
def person(run: Any, data: Path) -> str:
    run("account", "add", "Person", stdin="long-secret\n")
    put(
        data,
        r.AccessAdded(1, 1, "session", "d1", "", "", "192.0.2.7", T0, 2 * T0),
        r.AccessAdded(3, 1, "session", "d3", "", "", "192.0.2.7", T0, T0 + 1000),
        r.AccessAdded(2, 1, "token", "d2", "laptop", "bots admin", "192.0.2.7", T0, None),
        r.WebhookAdded(1, 1, None, "https://a.example/told", "cgoshook_secret", "game-ended", T0),
    )
    return "Person"


def test_whose_a_bot_is_and_what_it_is_to_do(run: Any, as_json: Any, data: Path, person: str) -> None:
    assert run("bot", "own", "Alpha", person).stderr == "Alpha belongs to Person.\n"
    assert "gets no new game" in run("bot", "pause", "Alpha").stderr
    names = ("--avoid", "Beta", "--avoid", "Gamma", "--accept", "Delta", "--accept", "*")
    run("bot", "limit", "Alpha", "--games-a-day", "5", *names, "--hours", "22 - 6")
    (bot,) = as_json("account", "bots", person)
    assert (bot["name"], bot["paused"], bot["limits"]) == (
        "Alpha",
        True,
        {"games_a_day": 5, "avoid": ["Beta", "Gamma"], "accepts": ["*", "Delta"], "hours": "22-6"},
    )
    assert "Beta, Gamma" in run("account", "bots", person).stdout
    assert "*, Delta" in run("account", "bots", person).stdout
    assert "22-6" in run("account", "bots", person).stdout
    assert "6-6" in run("bot", "limit", "Alpha", "--hours", "6-6", fails=1).stderr
    assert "No server runs" in run("bot", "now", "Alpha", fails=1).stderr
    assert "active, paused  Person" in run("bots").stdout
    (listed,) = (row for row in as_json("bots") if row["name"] == "Alpha")
    assert (listed["owner"], listed["paused"], listed["until"]) == ("Person", True, None)
    run("bot", "resume", "Alpha")
    run("bot", "limit", "Alpha")
    row = bot_row(data, "Alpha")
    assert (row["owner_id"], row["paused"], row["limits"]) == (1, 0, "")
    run("bot", "release", "Alpha")
    assert bot_row(data, "Alpha")["owner_id"] is None
    assert "has no owner" in run("bot", "release", "Alpha", fails=1).stderr
    assert "There is no account Nobody" in run("bot", "own", "Alpha", "Nobody", fails=1).stderr
    assert "No server runs" in run("bot", "drain", "Alpha", fails=1).stderr
    run("bot", "limit", "Alpha", "--games-a-day", "-1", fails=2)


def test_a_bot_is_shut_out_for_a_time(run: Any, data: Path) -> None:
    now = time.time_ns() // 1_000_000
    run("bot", "disable", "Alpha", "--reason", "it hangs", "--days", "0.5")
    until = moment(bot_row(data, "Alpha")["until"])
    assert f"disabled until {until}" in run("bots").stdout
    assert f"Alpha: disabled until {until} (it hangs)" in run("bot", "show", "Alpha").stdout
    assert 0 <= bot_row(data, "Alpha")["until"] - now - 43_200_000 < 60_000
    run("bot", "disable", "Alpha", "--reason", "it hangs", "--until", "2100-01-31")
    assert bot_row(data, "Alpha")["until"] == 4_105_036_800_000
    assert "lies in the future" in run(
        "bot", "disable", "Alpha", "--reason", "x", "--until", "2020-01-01", fails=1
    ).stderr  # fmt: skip
    run("bot", "disable", "Alpha", "--reason", "x", "--until", "soon", fails=2)
    run("bot", "disable", "Alpha", "--reason", "x", "--until", "2100-01-31", "--days", "1", fails=2)
    run("bot", "disable", "Alpha", "--days", "1", fails=2)
    assert "Give the reason why" in run("bot", "disable", "Alpha", "--reason", " ", fails=1).stderr
    run("bot", "enable", "Alpha")
    assert (bot_row(data, "Alpha")["state"], bot_row(data, "Alpha")["until"]) == ("active", None)


def test_what_lets_a_person_in(run: Any, as_json: Any, person: str) -> None:
    rows = as_json("account", "tokens", person)
    assert [(row["id"], row["kind"], row["scopes"]) for row in rows] == [
        (2, "token", ["bots", "admin"]), (1, "session", []),
    ]  # fmt: skip
    assert "laptop" in run("account", "tokens", person).stdout
    assert run("account", "end", "2").stderr == "The token 2 is ended.\n"
    assert "or it is ended already" in run("account", "end", "2", fails=1).stderr
    assert [row["id"] for row in as_json("account", "tokens", person)] == [1]
    assert [row["id"] for row in as_json("account", "tokens", person, "--all")] == [3, 2, 1]
    assert "There is no account" in run("account", "tokens", "Nobody", fails=1).stderr


def test_a_person_is_kept_out(run: Any, as_json: Any, person: str) -> None:
    assert "all its sessions and tokens are ended" in run("account", "disable", person, "--reason", "spam").stderr
    assert as_json("account", "list")[0]["state"] == "disabled"
    assert as_json("account", "tokens", person) == []
    run("account", "enable", person)
    assert as_json("account", "list")[0]["state"] == "active"
    run("account", "disable", person, fails=2)


def test_webhooks(run: Any, as_json: Any, person: str) -> None:
    (row,) = as_json("webhook", "list")
    assert (row["owner"], row["url"], row["events"], row["stopped_at"]) == (
        "Person", "https://a.example/told", ["game-ended"], None,
    )  # fmt: skip
    for words in (("webhook", "list"), ("webhook", "list", "--json"), ("webhook", "list", "--account", person)):
        shown = run(*words).stdout
        assert "a.example" in shown
        assert "cgoshook" not in shown
    assert run("webhook", "remove", "1").stderr == "Nothing is sent to webhook 1 any more.\n"
    assert as_json("webhook", "list")[0]["why"] == "removed"
    assert "removed already" in run("webhook", "remove", "1", fails=1).stderr


def test_the_audit_says_moments_as_dates(run: Any, as_json: Any) -> None:
    run("bot", "disable", "Alpha", "--reason", "it hangs")
    run("bot", "disable", "Beta", "--reason", "it hangs", "--until", "2033-05-18T03:33")
    shown = run("audit").stdout
    assert "reason: it hangs, until: 2033-05-18 03:33 UTC" in shown
    assert "reason: it hangs, until: no end" in shown
    assert [row["detail"]["until"] for row in as_json("audit")] == [1_999_999_980_000, 0]


def test_the_audit_is_read(run: Any, as_json: Any, person: str) -> None:
    run("bot", "pause", "Alpha")
    run("bot", "disable", "Beta", "--reason", "it hangs")
    rows = as_json("audit")
    assert [(row["action"], row["subject"]) for row in rows] == [
        ("bot disable", "Beta"), ("bot pause", "Alpha"), ("account add", "Person"),
    ]  # fmt: skip
    assert "reason: it hangs" in run("audit").stdout
    assert [row["action"] for row in as_json("audit", "--subject", "Alpha")] == ["bot pause"]
    assert [row["action"] for row in as_json("audit", "--action", "bot pause")] == ["bot pause"]
    assert [row["action"] for row in as_json("audit", "--limit", "1", "--before", str(rows[1]["id"]))] == [
        "account add"
    ]
    assert len(as_json("audit", "--actor", rows[0]["actor"])) == 3
    assert as_json("audit", "--actor", "nobody") == []
