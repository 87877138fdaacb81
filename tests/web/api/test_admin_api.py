"""The API for operators: each of their deeds, and that nobody else can do it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.web.commands_server import DeedsServer, deeds_server
from support.web.past import NOW

from cgos_protocol.api.route import Needs
from cgos_protocol.games.base import Color
from cgos_server.service.commands.accounts import AccountAdd
from cgos_server.service.commands.bots import BotAdd
from cgos_server.service.events.announcing import EventCreate
from cgos_server.service.events.holding import EventStart
from cgos_server.storage.writing.records import ConnectionClosed, ConnectionOpened, Record
from cgos_server.web.api.operations import BY_ID, ROUTES, WRITING

ADMINS = [operation for operation in ROUTES if operation.path.startswith("/admin")]
UNTIL = 2_000_000_000_000


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[DeedsServer]:
    async with deeds_server(tmp_path) as opened:
        for name in ("Newbot", "Other"):
            await opened.admin.handle(BotAdd(name=name, password="playing"))
        await opened.admin.handle(AccountAdd(name="Olive", password="long-secret", admin=True))
        await opened.admin.handle(AccountAdd(name="Anna", password="long-secret"))
        await opened.played(16, 1, 2)
        await opened.waiting(90, "Waiter")
        for name in ("On", "Full"):
            await opened.admin.handle(EventCreate(event=name, system="mwm", venue="9x9", enter=["Newbot", "Other"]))
        await opened.admin.handle(EventStart(event="On"))
        opened.live.events.pair("On")
        yield opened


@pytest.fixture
async def operator(server: DeedsServer) -> str:
    """An operator's token."""
    session = await server.sign_in("Olive")
    made = await server.ask("POST", "/me/tokens", {"scopes": ["admin"]}, session, 201)
    return str(made.json()["token"])


EVERYTHING: list[tuple[str, str, str, Any, int]] = [
    ("admin_status", "GET", "/admin/status", None, 200),
    ("admin_audit", "GET", "/admin/audit", None, 200),
    ("admin_connections", "GET", "/admin/connections", None, 200),
    ("account_access", "GET", "/admin/accounts/Olive/access", None, 200),
    ("add_bot", "POST", "/admin/bots", {"name": "Third", "password": "playing"}, 201),
    ("set_owner", "PUT", "/admin/bots/Newbot/owner", {"account": "Anna"}, 200),
    ("link_family", "PUT", "/admin/bots/Newbot/family", {"leader": "Other"}, 200),
    ("unlink_family", "DELETE", "/admin/bots/Newbot/family", None, 200),
    ("disable_bot", "POST", "/admin/bots/Newbot/disable", {"reason": "it hangs", "until": UNTIL}, 200),
    ("enable_bot", "POST", "/admin/bots/Newbot/enable", None, 200),
    ("approve_bot", "POST", "/admin/bots/Waiter/approve", None, 200),
    ("kick_bot", "POST", "/admin/bots/Newbot/kick", {"reason": "it hangs"}, 200),
    ("abort_game", "POST", "/admin/games/17/abort", {"reason": "it hangs"}, 200),
    ("correct_game", "POST", "/admin/games/16/correct", {"reason": "cheat", "result": "Void"}, 200),
    ("pause_venue", "POST", "/admin/venues/9x9/pause", None, 200),
    ("resume_venue", "POST", "/admin/venues/9x9/resume", None, 200),
    ("set_anchor", "PUT", "/admin/venues/9x9/anchors/Newbot", {"rating": 1500, "sd": 20}, 200),
    ("unset_anchor", "DELETE", "/admin/venues/9x9/anchors/Newbot", None, 200),
    ("arrange_match", "POST", "/admin/matches", {"venue": "9x9", "black": "Newbot", "white": "Other"}, 201),
    ("preview_pairing", "POST", "/admin/venues/9x9/preview", {"method": "optimal", "options": {"x": 1}}, 200),
    ("reload", "POST", "/admin/reload", None, 200),
    ("upgrade", "POST", "/admin/upgrade", None, 200),
    ("drain_server", "POST", "/admin/drain", None, 200),
    ("create_event", "POST", "/admin/events", {"event": "Cup", "system": "cup", "venue": "9x9", "komi": None}, 201),
    ("change_event", "PUT", "/admin/events/Cup", {"system": "mwm", "rounds": 5, "usual": ["most"]}, 200),
    ("open_event", "POST", "/admin/events/Cup/open", None, 200),
    ("close_event", "POST", "/admin/events/Cup/close", None, 200),
    ("clone_event", "POST", "/admin/events/Cup/clone", {"name": "Later", "starts_at": UNTIL}, 201),
    ("cancel_event", "POST", "/admin/events/Cup/cancel", {"reason": "rain"}, 200),
    ("start_event", "POST", "/admin/events/Full/start", None, 200),
    ("pause_event", "POST", "/admin/events/On/pause", {"reason": "storm"}, 200),
    ("resume_event", "POST", "/admin/events/On/resume", None, 200),
    ("rule_game", "POST", "/admin/events/On/games/1/ruling", {"result": "1-0", "reason": "seen"}, 200),
    ("replay_game", "POST", "/admin/events/On/games/1/replay", {"reason": "a fault"}, 200),
    ("take_back_round", "POST", "/admin/events/On/take-back", {"reason": "wrong", "with_results": True}, 200),
    ("strike", "POST", "/admin/events/On/entrants/Newbot/strike", {"reason": "another was meant"}, 200),
    ("forbid_meetings", "POST", "/admin/events/On/forbid", {"versions": ["Newbot", "Other"], "reason": "twins"}, 200),
    ("allow_meetings", "POST", "/admin/events/On/lift", {"versions": ["Newbot", "Other"], "reason": "none"}, 200),
    ("extend_event", "POST", "/admin/events/On/extend", {"reason": "ties", "rounds": 9}, 200),
    ("finish_event", "POST", "/admin/events/On/finish", {"reason": "enough"}, 200),
    ("accounts", "GET", "/admin/accounts", None, 200),
    ("add_account", "POST", "/admin/accounts", {"name": "Berta", "password": "long-secret"}, 201),
    ("erase_account", "POST", "/admin/accounts/Berta/erase", {"reason": "her wish", "bots": True}, 200),
    ("erase_bot", "POST", "/admin/bots/Third/erase", {"reason": "its author's wish"}, 200),
    ("set_account_password", "PUT", "/admin/accounts/Anna/password", {"password": "long-another"}, 200),
    ("disable_account", "POST", "/admin/accounts/Anna/disable", {"reason": "spam"}, 200),
    ("enable_account", "POST", "/admin/accounts/Anna/enable", None, 200),
    ("grant_right", "PUT", "/admin/accounts/Anna/rights/admin", None, 200),
    ("revoke_right", "DELETE", "/admin/accounts/Anna/rights/admin", None, 200),
]


def test_all_operators_commands_are_below() -> None:
    assert {row[0] for row in EVERYTHING} == {operation.id for operation in ADMINS}
    assert {row[0]: row[4] for row in EVERYTHING} == {operation.id: operation.status for operation in ADMINS}


async def test_an_operator_does_all_that_operators_do(server: DeedsServer, operator: str) -> None:
    answers = {}
    for name, method, path, body, status in EVERYTHING:
        answer = await server.ask(method, path, body, operator, status)
        msgspec.json.decode(answer.content, type=BY_ID[name].answer)
        answers[name] = answer.json()
    assert answers["admin_status"]["moves"] == 5
    assert answers["arrange_match"]["game"] == 17
    assert answers["abort_game"]["result"] == "Abort"
    assert answers["preview_pairing"]["pairs"][0]["reason"] == "close"
    assert answers["reload"]["changes"] == ["9x9 is paired by another method."]
    assert [row["name"] for row in answers["accounts"]["items"]] == ["Anna", "Olive"]
    assert server.live.calls == [
        ("dismiss", 1, "Newbot was disabled until 2033-05-18 03:33 UTC: it hangs"),
        ("kick", "Newbot", "The operator closes your connection: it hangs"),
        ("end", 17, None, "it hangs"), ("pause", "9x9", True), ("pause", "9x9", False),
        ("match", "9x9", "Other", "Newbot"), ("preview", "9x9", "optimal", {"x": 1}),
        ("check upgrade", None), ("upgrade",), ("drain",),
        ("erased", {}, ["berta"]), ("vacate", [3], "This bot is being erased."),
        ("erased", {3: "deleted-6"}, ["third"]),
    ]  # fmt: skip
    rows = (await server.ask("GET", "/admin/audit?limit=3", token=operator, status=200)).json()
    assert [row["action"] for row in rows["items"]] == ["account revoke", "account grant", "account enable"]
    assert {row["actor"] for row in rows["items"]} == {"Olive (127.0.0.1)"}
    more = await server.ask("GET", f"/admin/audit?before={rows['next']}&action=kick", token=operator, status=200)
    assert [row["detail"] for row in more.json()["items"]] == [{"reason": "it hangs", "connections": 1}]
    assert more.json()["next"] is None


async def test_a_forfeit_is_a_ruling(server: DeedsServer, operator: str) -> None:
    body = {"reason": "it cheats", "result": "B+Forfeit"}
    await server.ask("POST", "/admin/games/17/abort", body, operator, 200)
    assert server.live.calls == [("end", 17, Color.BLACK, "it cheats")]


async def test_who_came_from_where(server: DeedsServer, operator: str) -> None:
    came: list[Record] = [
        ConnectionOpened(number, 1, 1 + number % 2, address, "client 1.0", NOW + number)
        for number, address in enumerate(("192.0.2.1", "192.0.2.1", "2001:db8::7", "192.0.2.1"), 1)
    ]
    await server.store.commit([*came, ConnectionClosed(NOW + 9, "left", 4)])

    async def connections(query: str) -> list[tuple[int, str]]:
        answer = await server.ask("GET", f"/admin/connections?{query}", token=operator, status=200)
        return [(row["id"], row["bot"]) for row in answer.json()["items"]]

    assert await connections("address=192.0.2.1") == [(4, "Newbot"), (2, "Newbot"), (1, "Other")]
    assert await connections("address=2001:db8::7") == [(3, "Other")]
    assert await connections("address=192.0.2.1&open=true&bot=Newbot") == [(2, "Newbot")]
    assert await connections("venue=9x9&before=2") == [(1, "Other")]
    first = (await server.ask("GET", "/admin/connections?limit=3", token=operator, status=200)).json()
    assert first["next"] == 2
    assert (first["items"][0]["reason"], first["items"][1]["closed_at"]) == ("left", None)
    assert await connections(f"limit=3&before={first['next']}") == [(1, "Other")]
    await server.ask("GET", "/admin/connections?bot=Nobody", token=operator, status=404)


async def test_an_operator_ends_somebodys_session(server: DeedsServer) -> None:
    theirs, operators = await server.sign_in("Anna"), await server.sign_in("Olive")
    listed = await server.ask("GET", "/admin/accounts/Anna/access", token=operators, status=200)
    (row,) = listed.json()["items"]
    assert (row["kind"], row["address"], row["revoked_at"]) == ("session", "127.0.0.1", None)
    assert theirs not in listed.text
    await server.ask("DELETE", f"/me/tokens/{row['id']}", token=operators, status=200)
    await server.ask("GET", "/me", token=theirs, status=401)
    await server.ask("GET", "/admin/accounts/Nobody/access", token=operators, status=404)


async def test_nobody_else_may(server: DeedsServer) -> None:
    session = await server.sign_in("Anna")
    operators = await server.sign_in("Olive")
    bots = (await server.ask("POST", "/me/tokens", {"scopes": ["bots"]}, operators, 201)).json()["token"]
    before = await server.history.server.audit(100)
    for name, method, path, body, _ in EVERYTHING:
        codes = [
            (await server.ask(method, path, body, session, 403)).json()["code"],
            (await server.ask(method, path, body, bots, 403)).json()["code"],
            (await server.ask(method, path, body, status=401)).json()["code"],
        ]
        assert (name, codes) == (name, ["not-allowed", "scope", "no-token"])
    assert server.live.calls == []
    assert await server.history.server.audit(100) == before


IMPOSSIBLE: list[tuple[str, Any]] = [
    ("/admin/bots/Newbot/kick", {}), ("/admin/bots/Newbot/kick", {"reason": ""}),
    ("/admin/bots/Newbot/kick", {"reason": " "}), ("/admin/bots/Newbot/disable", {"reason": "x", "until": 5}),
    ("/admin/bots/Newbot/disable", {"reason": "x", "until": 10**18}), ("/admin/bots/Newbot/disable", {}),
    ("/admin/games/17/abort", {"reason": "x", "result": "B+3"}), ("/admin/accounts/Anna/disable", {}),
    ("/admin/accounts", {"name": "Berta", "password": "ninechars"}),
    ("/admin/bots", {"name": "Third", "password": "x"}), ("/admin/bots", {"name": "x y", "password": "playing"}),
]  # fmt: skip


async def test_what_cannot_be_done_is_said(server: DeedsServer, operator: str) -> None:
    for path, body in IMPOSSIBLE:
        answer = await server.ask("POST", path, body, operator, 422)
        assert answer.json()["detail"], (path, body)
    assert server.live.calls == []


@pytest.mark.parametrize("moment", [UNTIL // 1000, UNTIL * 1000], ids=["seconds", "microseconds"])
@pytest.mark.parametrize(
    ("path", "field", "body"),
    [
        ("/admin/bots/Newbot/disable", "until", {"reason": "it hangs"}),
        ("/admin/events", "starts_at", {"event": "Cup", "system": "cup", "venue": "9x9"}),
        ("/admin/events", "opens_at", {"event": "Cup", "system": "cup", "venue": "9x9"}),
        ("/admin/events/Cup/clone", "starts_at", {"name": "Later"}),
        ("/questions/challenges", "ends_at", {"version": "Newbot", "venue": "9x9", "most_games": 4}),
    ],
)
async def test_a_moment_in_another_unit_is_refused(
    server: DeedsServer, operator: str, path: str, field: str, body: dict[str, Any], moment: int
) -> None:
    problem = (await server.ask("POST", path, body | {field: moment}, operator, 422)).json()
    assert (problem["parameter"], problem["code"]) == (field, "invalid")
    assert f"The parameter {field!r} must be a Unix time in milliseconds" in problem["detail"]
    assert server.live.calls == []


def test_all_of_them_need_the_right_scope() -> None:
    assert {operation.needs for operation in ADMINS} == {Needs.ADMIN}
    open_to_all = {operation.id for operation in WRITING if operation.needs is Needs.NOTHING}
    assert open_to_all == {"sign_in", "register"}
