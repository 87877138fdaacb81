"""What operators may ask about pairing: a preview, a reload, a bot taken back."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from typing import Any

import pytest

from cgos_protocol.api.people import Done, Previewed, PreviewedPair, Reloaded
from cgos_protocol.errors import Code, NotFound, Refused
from cgos_protocol.session import Credentials, Declaration
from cgos_server.core.pairing.base import Candidate, Pair, Pairing, PairingPass
from cgos_server.core.pairing.registry import matchmaker
from cgos_server.core.venue import Policy
from cgos_server.service.admin import Admin
from cgos_server.service.commands.bots import BotAdd, BotRecall
from cgos_server.service.commands.games import Preview
from cgos_server.service.commands.registry import ask
from cgos_server.service.commands.server import Reload
from cgos_server.service.ids import Ids
from cgos_server.service.pairing.preview import preview
from cgos_server.service.people.accounts import Accounts
from cgos_server.service.people.passwords import Passwords
from cgos_server.storage.reading.stored import StoredSuspension
from cgos_server.storage.writing.records import AuditAdded, SuspensionNow

SHOWN = Previewed(
    venue="9x9",
    policy="rolling",
    method="birk",
    options={"formula": "one"},
    ready=["a", "b", "c"],
    pairs=[PreviewedPair(high="a", low="b", reason="They drew.", detail={"n": 1})],
    sits_out={"c": "Odd."},
    notes=["noted"],
    total=None,
)


class LiveServer:
    """As much of a live server as these requests use."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.suspended = {"9x9": [1], "13x13": [1, 2]}

    def recall(self, venue: str | None, versions: Collection[int]) -> dict[str, list[int]]:
        self.calls.append((venue, sorted(versions)))
        if venue not in (None, *self.suspended):
            raise NotFound(Code.UNKNOWN_VENUE, f"There is no venue {venue}.")
        recalled = {
            name: [v for v in there if v in versions] for name, there in self.suspended.items() if venue in (None, name)
        }
        return {name: there for name, there in recalled.items() if there}

    async def preview(self, venue: str, method: str | None, options: Mapping[str, Any]) -> Previewed:
        self.calls.append((venue, method, options))
        return SHOWN

    async def reload(self) -> list[str]:
        self.calls.append("reload")
        return ["9x9: method was birk and is entropy.", "web.port was 1 and is 2: restart the server for that."]


@pytest.fixture
def live() -> LiveServer:
    return LiveServer()


@pytest.fixture
def admin(store: Any, ids: Ids, accounts: Accounts, passwords: Passwords, clock: Callable[[], int], live: Any) -> Admin:
    return Admin(accounts, live)


@pytest.fixture
def closed(store: Any, ids: Ids, accounts: Accounts, passwords: Passwords, clock: Callable[[], int]) -> Admin:
    """As `admin`, on a database that no server holds."""
    return Admin(accounts)


def audits(store: Any) -> list[tuple[str, str, str, dict[str, Any]]]:
    """The audit rows."""
    return [(a.actor, a.action, a.subject, json.loads(a.detail)) for a in store.of(AuditAdded)]


async def a_bot_with_two_versions(admin: Admin, accounts: Accounts) -> None:
    await admin.handle(BotAdd(name="Zen", password="secret"))
    await accounts.sign_in(Credentials("Zen", "secret", None, "", True, "192.0.2.1", Declaration("2", "ZenTwo")))
    await admin.handle(BotAdd(name="Other", password="secret"))


async def test_a_preview_is_what_the_live_server_says(admin: Admin, live: LiveServer, store: Any) -> None:
    request = Preview(venue="9x9", method="birk", options={"formula": "one", "avoid_last": False, "patience_s": 2.5})
    assert await ask(admin.answer, request) == SHOWN
    assert live.calls == [("9x9", "birk", {"formula": "one", "avoid_last": False, "patience_s": 2.5})]
    assert store.groups == []


async def test_a_reload_is_written_down(admin: Admin, live: LiveServer, store: Any) -> None:
    response = await ask(admin.answer, Reload(actor="me"))
    assert response == Reloaded(changes=await live.reload())
    assert live.calls == ["reload", "reload"]
    ((actor, action, subject, detail),) = audits(store)
    assert (actor, action, subject) == ("me", "reload", "configuration")
    assert detail["changes"].startswith("9x9: method was birk and is entropy. web.port")


async def test_they_need_a_running_server(closed: Admin, store: Any) -> None:
    for request in (Preview(venue="9x9"), Reload()):
        with pytest.raises(Refused) as raised:
            await closed.handle(request)
        assert raised.value.code == "no-server"
    assert store.groups == []


async def test_a_bot_is_taken_back_by_the_live_server(
    admin: Admin, accounts: Accounts, live: LiveServer, store: Any
) -> None:
    await a_bot_with_two_versions(admin, accounts)
    assert await admin.handle(BotRecall(bot="Zen")) == Done(sentence="Zen, ZenTwo may play again in 13x13, 9x9.")
    assert await admin.handle(BotRecall(bot="ZenTwo", actor="me")) == Done(sentence="ZenTwo may play again in 13x13.")
    assert await admin.handle(BotRecall(bot="Zen", venue="9x9")) == Done(sentence="Zen may play again in 9x9.")
    assert live.calls == [(None, [1, 2]), (None, [2]), ("9x9", [1, 2])]
    assert audits(store)[-2] == ("me", "bot recall", "ZenTwo", {"versions": "ZenTwo", "venues": "13x13"})
    # The live server keeps the account itself.
    assert store.of(SuspensionNow) == []


async def test_a_bot_is_taken_back_on_a_closed_database(closed: Admin, accounts: Accounts, store: Any) -> None:
    await a_bot_with_two_versions(closed, accounts)
    await store.commit(
        [SuspensionNow(1, 1, 2, 0, "game 4: lost on time", 7), SuspensionNow(1, 2, 5, 1, "game 5: away", 8)]
    )
    assert await closed.handle(BotRecall(bot="Zen", venue="9x9")) == Done(sentence="ZenTwo may play again in 9x9.")
    assert await store.history.pairings.suspensions(1) == [StoredSuspension(1, 2, False, "game 4: lost on time", 7)]
    assert audits(store)[-1] == ("operator", "bot recall", "Zen", {"versions": "ZenTwo", "venues": "9x9"})
    assert len(store.groups[-1]) == 2


@pytest.mark.parametrize("which", ["admin", "closed"])
async def test_who_cannot_be_taken_back(
    which: str, accounts: Accounts, store: Any, request: pytest.FixtureRequest
) -> None:
    admin: Admin = request.getfixturevalue(which)
    await a_bot_with_two_versions(admin, accounts)
    before = len(store.groups)
    for command, code in (
        (BotRecall(bot="Other"), "not-suspended"),
        (BotRecall(bot="Zen", venue="8x8"), "unknown-venue"),
        (BotRecall(bot="Nobody"), "unknown-bot"),
    ):
        with pytest.raises(Refused) as raised:
            await admin.handle(command)
        assert raised.value.code == code
    assert len(store.groups) == before


def test_a_preview_by_names() -> None:
    pairing_pass = PairingPass(
        candidates=[Candidate(1, "low", 1000.0), Candidate(2, "high", 1900.0), Candidate(3, "mid", 1500.0)]
    )
    pairing = Pairing(pairs=[Pair(2, 3, "Why.", {"worth": 0.5})], sits_out={1: "Odd."}, notes=["noted"], total=500_000)
    listed = PairingPass(candidates=[Candidate(5, "black", 1200.0), Candidate(4, "white", 1600.0)])
    second = [Pair(4, 5, "Second game.")]
    shown = preview("9x9", matchmaker("birk", {"formula": "one"}), pairing_pass, pairing, listed, second)
    assert shown.options["formula"] == "one"
    assert shown == Previewed(
        venue="9x9",
        policy=Policy.BARRIER.value,
        method="birk",
        options=shown.options,
        ready=["high", "white", "mid", "black", "low"],
        pairs=[
            PreviewedPair(high="white", low="black", reason="Second game.", detail={}),
            PreviewedPair(high="high", low="mid", reason="Why.", detail={"worth": 0.5}),
        ],
        sits_out={"low": "Odd."},
        notes=["noted"],
        total=500_000,
    )
