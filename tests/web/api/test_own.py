"""The API for owners: account, tokens, and what one may do with one's own bot."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.observability.transcripts import keep_lines
from support.web.commands_server import DeedsServer, deeds_server

from cgos_protocol.api.route import JSON
from cgos_protocol.hours import parse
from cgos_protocol.session import Limits
from cgos_server.observability.transcript_files import TranscriptLine
from cgos_server.service.commands.accounts import AccountGrant, AccountRevoke
from cgos_server.service.commands.bots import BotAdd
from cgos_server.service.control import VersionNow
from cgos_server.service.events.announcing import EventCreate, EventOpen
from cgos_server.service.events.holding import EventStart
from cgos_server.service.people.passwords import ACCESS_PREFIX, SESSION_PREFIX
from cgos_server.web.api.operations import BY_ID, ROUTES
from cgos_server.web.api.reading.own import OWN, OWN_BOTS
from cgos_server.web.people.bots_now import FRESH_MS
from cgos_server.web.people.deliveries import Outcome


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[DeedsServer]:
    async with deeds_server(tmp_path) as opened:
        await opened.admin.handle(BotAdd(name="Newbot", password="playing"))
        yield opened


async def register(server: DeedsServer, name: str = "Anna") -> str:
    answer = await server.ask("POST", "/accounts", {"name": name, "password": "long-secret"}, status=201)
    return str(answer.json()["session"])


@pytest.fixture
async def session(server: DeedsServer) -> str:
    """Anna's, who owns Newbot."""
    text = await register(server)
    await server.ask("POST", "/bots/Newbot/claim", {"secret": "playing"}, text, 200)
    return text


async def token(server: DeedsServer, session: str, *scopes: str, **more: Any) -> dict[str, Any]:
    body = {"label": "laptop", "scopes": list(scopes), **more}
    return dict((await server.ask("POST", "/me/tokens", body, session, 201)).json())


async def code(server: DeedsServer, *arguments: Any, status: int) -> str:
    answer = await server.ask(*arguments)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    return str(answer.json()["code"])


async def test_an_account_from_the_beginning_to_the_end(server: DeedsServer) -> None:
    session = await register(server)
    assert session.startswith(SESSION_PREFIX)
    me = (await server.ask("GET", "/me", token=session, status=200)).json()
    assert (me["account"], me["admin"], me["scopes"]) == ("Anna", False, ["bots"])
    other = await server.sign_in("Anna")
    await server.ask("PUT", "/me/password", {"old": "long-secret", "new": "long-better"}, session, 200)
    assert await code(server, "GET", "/me", None, other, status=401) == "not-signed-in"
    sessions = (await server.ask("GET", "/me/sessions", token=session, status=200)).json()["items"]
    assert [row["revoked_at"] is None for row in sessions] == [False, True]
    assert await code(server, "POST", "/sign-in", {"name": "Anna", "password": "long-secret"}, status=401) == (
        "wrong-password"
    )  # fmt: skip
    await server.ask("DELETE", "/me/session", token=session, status=200)
    assert await code(server, "GET", "/me", None, session, status=401) == "not-signed-in"


async def test_answers_about_people_are_kept_nowhere(server: DeedsServer, session: str) -> None:
    for path in ("/me", "/me/bots", "/me/tokens", "/me/webhooks", "/bots/Newbot/tokens", "/bots/Newbot/transcript"):
        answer = await server.ask("GET", path, token=session, status=200)
        assert answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in answer.headers
    answer = await server.ask("POST", "/sign-in", {"name": "Anna", "password": "long-secret"}, status=200)
    assert answer.headers["cache-control"] == "no-store"


async def test_tokens(server: DeedsServer, session: str) -> None:
    made = await token(server, session, "bots", days=2)
    assert made["token"].startswith(ACCESS_PREFIX)
    listed = await server.ask("GET", "/me/tokens", token=made["token"], status=200)
    (row,) = listed.json()["items"]
    assert (row["id"], row["label"], row["scopes"]) == (made["id"], "laptop", ["bots"])
    assert made["token"] not in listed.text
    body = {"scopes": ["bots"]}
    assert await code(server, "POST", "/me/tokens", body, made["token"], status=403) == "scope"
    assert await code(server, "POST", "/me/tokens", {"scopes": ["admin"]}, session, status=403) == "not-allowed"
    assert await code(server, "GET", "/admin/status", None, made["token"], status=403) == "not-allowed"
    await server.ask("DELETE", f"/me/tokens/{made['id']}", token=made["token"], status=200)
    assert await code(server, "GET", "/me", None, made["token"], status=401) == "not-signed-in"


async def test_a_token_ends_with_its_time(server: DeedsServer, session: str) -> None:
    made = await token(server, session, "bots", days=1)
    server.clock_ms += 86_400_000 - 1
    await server.ask("GET", "/me", token=made["token"], status=200)
    server.clock_ms += 1
    assert await code(server, "GET", "/me", None, made["token"], status=401) == "not-signed-in"


async def test_without_its_scope_a_token_sees_nothing(server: DeedsServer, session: str) -> None:
    await server.admin.handle(AccountGrant(account="Anna", right="admin"))
    admins = (await token(server, session, "admin"))["token"]
    await server.admin.handle(AccountRevoke(account="Anna", right="admin"))
    for path in ("/me/bots", "/me/webhooks", "/bots/Newbot/tokens", "/bots/Newbot/transcript"):
        assert await code(server, "GET", path, None, admins, status=403) == "scope"
    assert await code(server, "POST", "/bots/Newbot/pause", None, admins, status=403) == "scope"


async def test_an_owner_does_with_a_bot_what_an_owner_may(server: DeedsServer, session: str) -> None:
    by = (await token(server, session, "bots"))["token"]
    await server.ask("POST", "/bots/Newbot/pause", None, by, 200)
    wanted = {"games_a_day": 3, "avoid": ["Other"], "accepts": ["Third", "*"], "hours": "22-6"}
    await server.ask("PUT", "/bots/Newbot/limits", wanted, by, 200)
    (bot,) = (await server.ask("GET", "/me/bots", token=by, status=200)).json()["items"]
    assert (bot["name"], bot["paused"], bot["games_a_day"], bot["avoid"]) == ("Newbot", True, 3, ["Other"])
    assert (bot["accepts"], bot["hours"]) == (["*", "Third"], "22-6")
    assert await code(server, "PUT", "/bots/Newbot/limits", {"hours": "6-6"}, by, status=422) == "hours"
    await server.ask("POST", "/bots/Newbot/resume", None, by, 200)
    await server.ask("POST", "/bots/Newbot/drain", None, by, 200)
    await server.ask("POST", "/bots/Newbot/recall", {}, by, 200)
    await server.ask("PUT", "/bots/Newbot/password", {"password": "replaced"}, by, 200)
    made = (await server.ask("POST", "/bots/Newbot/tokens", {"label": "home"}, by, 201)).json()
    listed = await server.ask("GET", "/bots/Newbot/tokens", token=by, status=200)
    assert [row["id"] for row in listed.json()["items"]] == [made["id"]]
    assert made["token"] not in listed.text
    await server.ask("DELETE", f"/bots/Newbot/tokens/{made['id']}", token=by, status=200)
    assert await code(server, "DELETE", f"/bots/Newbot/tokens/{made['id']}", None, by, status=409) == "revoked"
    await server.ask("DELETE", "/bots/Newbot/owner", token=by, status=200)
    limits = Limits(games_a_day=3, avoid=frozenset({"Other"}), accepts=frozenset({"Third", "*"}), hours=parse("22-6"))
    assert server.live.calls == [
        ("wishes", 1, True, Limits()), ("wishes", 1, True, limits), ("wishes", 1, False, limits), ("drain bot", 1),
        ("recall", None), ("wishes", 1, False, Limits()),
    ]  # fmt: skip
    assert await code(server, "POST", "/bots/Newbot/pause", None, by, status=403) == "not-allowed"


# In an order in which each of them can be done; `{...}` is what an earlier answer said.
WHOLE_LIFE: list[tuple[str, str, Any]] = [
    ("register", "/accounts", {"name": "Carl", "password": "long-secret"}),
    ("sign_in", "/sign-in", {"name": "Carl", "password": "long-secret"}),
    ("me", "/me", None),
    ("change_password", "/me/password", {"old": "long-secret", "new": "long-better"}),
    ("my_sessions", "/me/sessions", None),
    ("make_token", "/me/tokens", {"label": "laptop", "scopes": ["bots"]}),
    ("my_tokens", "/me/tokens", None),
    ("claim_bot", "/bots/Newbot/claim", {"secret": "playing"}),
    ("claim_bot", "/bots/Elder/claim", {"secret": "playing"}),
    ("my_bots", "/me/bots", None),
    ("my_data", "/me/data.json", None),
    ("my_data_packed", "/me/data.zip", None),
    ("bot_now", "/bots/Newbot/now", None),
    ("pause_bot", "/bots/Newbot/pause", None),
    ("resume_bot", "/bots/Newbot/resume", None),
    ("drain_bot", "/bots/Newbot/drain", None),
    ("recall_bot", "/bots/Newbot/recall", {}),
    ("set_limits", "/bots/Newbot/limits", {"games_a_day": 3}),
    ("enter_event", "/events/Coming/entrants", {"version": "Newbot"}),
    ("check_in", "/events/Coming/entrants/Newbot/check-in", None),
    ("withdraw", "/events/Coming/entrants/Newbot/withdraw", {}),
    ("request_bye", "/events/On/entrants/Newbot/bye", {"points": "1/2"}),
    ("cancel_bye", "/events/On/entrants/Newbot/cancel-bye", {}),
    ("withdraw", "/events/On/entrants/Newbot/withdraw", {"reason": "it crashes"}),
    ("rejoin", "/events/On/entrants/Newbot/rejoin", None),
    ("set_password", "/bots/Newbot/password", {"password": "replaced"}),
    ("link_version", "/versions/Newbot/predecessor", {"predecessor": "Elder", "sd": 40, "surely": True}),
    ("unlink_version", "/versions/Newbot/predecessor", None),
    ("ask_test", "/questions/tests", {"version": "Newbot", "against": "Elder", "venue": "9x9"}),
    ("ask_gauntlet", "/questions/gauntlets", {"version": "Newbot", "opponents": ["Elder"], "venue": "9x9"}),
    ("ask_challenge", "/questions/challenges", {"version": "Newbot", "most_games": 20, "venue": "9x9"}),
    ("prioritize_question", "/questions/1/priority", {"priority": 5}),
    ("stop_question", "/questions/1/stop", None),
    ("resume_question", "/questions/1/resume", None),
    ("make_bot_token", "/bots/Newbot/tokens", {"label": "home"}),
    ("bot_tokens", "/bots/Newbot/tokens", None),
    ("revoke_bot_token", "/bots/Newbot/tokens/{make_bot_token}", None),
    ("transcript", "/bots/Newbot/transcript", None),
    ("make_webhook", "/me/webhooks", {"url": "https://a.example/told", "events": ["game-ended"]}),
    ("my_webhooks", "/me/webhooks", None),
    ("remove_webhook", "/me/webhooks/{make_webhook}", None),
    ("release_bot", "/bots/Newbot/owner", None),
    ("revoke_token", "/me/tokens/{make_token}", None),
    ("sign_out", "/me/session", None),
    ("sign_in", "/sign-in", {"name": "Carl", "password": "long-better"}),
    ("erase_me", "/me/erase", {"name": "Carl", "password": "long-better"}),
]
BY_SESSION = ("change_password", "my_sessions", "make_token", "sign_out", "erase_me")


def test_all_that_owners_do_is_above() -> None:
    assert {row[0] for row in WHOLE_LIFE} == {
        operation.id for operation in ROUTES if operation.group in (OWN, OWN_BOTS)
    }


async def hold_events(server: DeedsServer) -> None:
    """One that versions may enter and check in at, one that is on."""
    now = server.live.events.now_ms()
    times = {"starts_at": now + 60_000, "check_in_s": 600}
    await server.admin.handle(EventCreate(event="Coming", system="mwm", venue="9x9", **times))
    await server.admin.handle(EventOpen(event="Coming"))
    await server.admin.handle(EventCreate(event="On", system="mwm", venue="9x9", enter=["Newbot", "Elder"]))
    await server.admin.handle(EventStart(event="On"))


async def test_everything_succeeds_by_a_token(server: DeedsServer) -> None:
    session, by, numbers = "", "", dict[str, int]()
    await server.admin.handle(BotAdd(name="Elder", password="playing"))
    await server.played(16, 1, 2)
    await hold_events(server)
    for name, path, body in WHOLE_LIFE:
        operation = BY_ID[name]
        secret = session if name in BY_SESSION or not by else by
        answer = await server.ask(operation.method, path.format(**numbers), body, secret, operation.status)
        if operation.media != (JSON,):
            continue
        msgspec.json.decode(answer.content, type=operation.answer)
        reply = answer.json()
        session = reply.get("session", session) if name in ("register", "sign_in") else session
        by = reply["token"] if name == "make_token" else by
        if name == "ask_test":
            await server.store.commit([server.live.questions.added(reply["question"])])
            server.live.events.ratings = {1: 1800.0, 2: 1800.0}  # a gauntlet needs them
        if "id" in reply:
            numbers[name] = reply["id"]


OWNERS = [
    ("POST", "/bots/Newbot/pause", None), ("POST", "/bots/Newbot/resume", None), ("POST", "/bots/Newbot/drain", None),
    ("POST", "/bots/Newbot/recall", {}), ("PUT", "/bots/Newbot/limits", {}), ("DELETE", "/bots/Newbot/owner", None),
    ("PUT", "/bots/Newbot/password", {"password": "replaced"}), ("GET", "/bots/Newbot/tokens", None),
    ("PUT", "/versions/Newbot/predecessor", {"predecessor": "Newbot"}),
    ("DELETE", "/versions/Newbot/predecessor", None),
    ("POST", "/bots/Newbot/tokens", {}), ("DELETE", "/bots/Newbot/tokens/1", None),
    ("GET", "/bots/Newbot/transcript", None), ("GET", "/bots/Newbot/now", None),
    ("POST", "/me/webhooks", {"url": "https://a.example", "events": ["suspended"], "bot": "Newbot"}),
    ("POST", "/events/On/entrants", {"version": "Newbot"}), ("POST", "/events/On/entrants/Newbot/check-in", None),
    ("POST", "/events/On/entrants/Newbot/withdraw", {}), ("POST", "/events/On/entrants/Newbot/rejoin", None),
    ("POST", "/events/On/entrants/Newbot/bye", {}),
]  # fmt: skip


async def test_a_stranger_may_nothing_with_it(server: DeedsServer, session: str) -> None:
    other = await register(server, "Berta")
    for request in OWNERS:
        assert await code(server, *request, other, status=403) == "not-allowed", request
        assert await code(server, *request, "cgosapi_" + "a" * 43, status=401) == "not-signed-in"
        assert await code(server, *request, status=401) == "no-token"


async def test_what_ones_bot_does_now(server: DeedsServer, session: str) -> None:
    server.live.views = [
        VersionNow(
            name="Newbot",
            venue="9x9",
            state="playing",
            since=1234.5,
            began_at=1_234_500,
            games=[7],
            slots=1,
            why="It plays.",
            paired=True,
        )
    ]
    now = (await server.ask("GET", "/bots/Newbot/now", token=session, status=200)).json()
    assert now == {
        "bot": "Newbot", "known": True, "sentence": "", "items": [{
            "version": "Newbot", "venue": "9x9", "state": "playing", "since": 1234.5, "games": [7], "why": "It plays.",
            "paired": True, "began_at": 1_234_500,
        }],
    }  # fmt: skip
    server.live.views = []
    server.clock_ms += FRESH_MS
    (away,) = (await server.ask("GET", "/bots/Newbot/now", token=session, status=200)).json()["items"]
    assert (away["state"], away["venue"], away["paired"]) == ("not connected", None, False)


async def test_claims_that_fail(server: DeedsServer, session: str) -> None:
    other = await register(server, "Berta")
    claim = "/bots/Newbot/claim"
    assert await code(server, "POST", claim, {"secret": "playing"}, other, status=409) == "owned"
    await server.ask("DELETE", "/bots/Newbot/owner", token=session, status=200)
    assert await code(server, "POST", claim, {"secret": "guess"}, other, status=403) == "wrong-password"
    change = {"old": "guess", "new": "long-better"}
    assert await code(server, "PUT", "/me/password", change, other, status=403) == "wrong-password"
    assert await code(server, "POST", "/bots/Nobody/claim", {"secret": "x"}, other, status=404) == "unknown-bot"


async def test_what_became_of_webhooks(server: DeedsServer, session: str) -> None:
    body = {"url": "https://a.example/told", "events": ["game-ended"]}
    made = (await server.ask("POST", "/me/webhooks", body, session, 201)).json()
    listing = (await server.ask("GET", "/me/webhooks", token=session, status=200)).json()
    assert listing["counted_since"] == server.now_ms()
    assert (
        listing["items"][0]["delivered"],
        listing["items"][0]["failed"],
        listing["items"][0]["failed_in_a_row"],
    ) == (
        None,
        None,
        0,
    )
    server.site.deliveries.note(
        made["id"], Outcome(at=5, event="game-ended", delivered=False, sentence="It was answered 500.", tries=2)
    )
    (hook,) = (await server.ask("GET", "/me/webhooks", token=session, status=200)).json()["items"]
    assert hook["failed"] == {"at": 5, "event": "game-ended", "sentence": "It was answered 500.", "tries": 2}
    assert (hook["delivered"], hook["failed_in_a_row"]) == (None, 1)


async def test_webhooks(server: DeedsServer, session: str) -> None:
    body = {"url": "https://a.example/told", "events": ["game-ended"], "bot": "Newbot"}
    made = (await server.ask("POST", "/me/webhooks", body, session, 201)).json()
    listed = await server.ask("GET", "/me/webhooks", token=session, status=200)
    (hook,) = listed.json()["items"]
    assert (hook["id"], hook["url"], hook["events"], hook["bot"]) == (made["id"], *body.values())
    assert made["secret"] not in listed.text
    other = await register(server, "Berta")
    assert (await server.ask("GET", "/me/webhooks", token=other, status=200)).json()["items"] == []
    assert await code(server, "DELETE", f"/me/webhooks/{made['id']}", None, other, status=403) == "not-allowed"
    await server.ask("DELETE", f"/me/webhooks/{made['id']}", token=session, status=200)
    (hook,) = (await server.ask("GET", "/me/webhooks", token=session, status=200)).json()["items"]
    assert (hook["why"], hook["stopped_at"]) == ("removed", server.clock_ms)
    for url, why in (
        ("ftp://a.example", "url"), ("http://a.example:25/told", "url"),
        ("https://127.0.0.1/told", "forbidden-address"),
        ("http://10.0.0.1:8080/", "forbidden-address"), ("http://[::1]:9000/", "forbidden-address"),
    ):  # fmt: skip
        assert await code(server, "POST", "/me/webhooks", body | {"url": url}, session, status=422) == why


async def test_a_transcript_is_read(server: DeedsServer, session: str) -> None:
    moves = [
        TranscriptLine(at=10**15 + ply, name="Newbot", connection=1, way="<", text=f"move {ply}", game=ply % 2)
        for ply in range(4)
    ]
    keep_lines(server.data, 1, moves)
    answer = await server.ask("GET", "/bots/Newbot/transcript", token=session, status=200)
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    assert [msgspec.json.decode(line)["text"] for line in answer.text.splitlines()] == [f"move {n}" for n in range(4)]
    first = msgspec.json.decode(answer.text.splitlines()[0])
    assert (first["said_at"], first["at"]) == (10**12, 10**15)
    answer = await server.ask("GET", "/bots/Newbot/transcript?game=1&limit=1", token=session, status=200)
    assert [msgspec.json.decode(line)["text"] for line in answer.text.splitlines()] == ["move 3"]
