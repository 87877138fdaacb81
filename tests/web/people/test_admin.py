"""What operators do by the pages, what is asked of them first, and what nobody else may."""

from __future__ import annotations

from typing import Any

import pytest
from support.service.acting import changed
from support.web.past import NOW, RUNNING
from web.people.conftest import HOSTILE, House
from web.people.test_owner import sound
from web.test_pages import Page

from cgos_server.service.commands.audit import audit
from cgos_server.service.commands.bots import BotDisable
from cgos_server.storage.writing.records import BotState, ConnectionClosed, ConnectionOpened
from cgos_server.web.people.admin_bots import AdminAccounts, AdminBot, AdminBots, AdminConnections, found_bots
from cgos_server.web.people.admin_server import AdminGames, AdminHome, AdminVenues
from cgos_server.web.site import Site
from cgos_server.web.strength_changes import FRESH_MS

PAGES = ("/admin", "/admin/bots", "/admin/bots/amigo", "/admin/connections", "/admin/games", "/admin/venues",
         "/admin/accounts", "/admin/audit")  # fmt: skip

NEW = {"new": "abcdefghij", "new-again": "abcdefghij"}
FORMS: list[tuple[str, str, dict[str, Any], bool]] = [
    ("/admin", "reload", {}, True),
    ("/admin", "drain", {"word": "drain"}, True),
    ("/admin/bots", "bot add", {"name": "newbot"} | NEW, False),
    ("/admin/bots/amigo", "bot disable", {"reason": "crashes", "days": "2"}, True),
    ("/admin/bots/amigo", "bot enable", {}, False),
    ("/admin/bots/amigo", "bot erase", {"reason": "its wish"}, True),
    ("/admin/bots", "approve", {"bot": "amigo"}, False),
    ("/admin/bots/amigo", "bot recall", {}, False),
    ("/admin/bots/amigo", "bot passwd", NEW, False),
    ("/admin/bots/amigo", "bot own", {"account": "root"}, False),
    ("/admin/bots/amigo", "family link", {"leader": "Kogo_mcts"}, False),
    ("/admin/bots/amigo", "family unlink", {}, False),
    ("/admin/bots/amigo", "version link", {"version": "amigo", "predecessor": "Kogo_mcts"}, False),
    ("/admin/bots/amigo", "version unlink", {"version": "amigo"}, False),
    ("/admin/connections", "kick", {"bot": "amigo", "reason": "stuck"}, True),
    ("/admin/games", "abort", {"game": str(RUNNING), "result": "Abort", "reason": "stuck"}, True),
    ("/admin/games", "correct", {"game": "1", "result": "Void", "reason": "our fault"}, True),
    ("/admin/games", "match", {"venue": "9x9", "white": "amigo", "black": "Kogo_mcts"}, False),
    ("/admin/venues", "pause", {"venue": "9x9"}, True),
    ("/admin/venues", "resume", {"venue": "9x9"}, False),
    ("/admin/venues", "pairing preview", {"venue": "9x9"}, False),
    ("/admin/venues", "anchor set", {"venue": "9x9", "version": "amigo", "rating": "1500", "sd": ""}, True),
    ("/admin/venues", "anchor unset", {"venue": "9x9", "version": "amigo"}, True),
    ("/admin/accounts", "account add", {"name": "carol", "admin": "yes"} | NEW, False),
    ("/admin/accounts", "account passwd", {"account": "root"} | NEW, False),
    ("/admin/accounts", "account grant", {"account": "root"}, True),
    ("/admin/accounts", "account revoke", {"account": "root"}, True),
    ("/admin/accounts", "account disable", {"account": "root", "reason": "gone"}, True),
    ("/admin/accounts", "account enable", {"account": "root"}, False),
    ("/admin/accounts", "account erase", {"account": "root", "reason": "its wish", "bots": "yes"}, True),
]


def test_every_command_of_operators_was_tried(house: House) -> None:
    site = Site.__new__(Site)
    offered = set(AdminBots(site).forms)
    for page in (AdminBot, AdminHome, AdminConnections, AdminGames, AdminVenues, AdminAccounts):
        offered |= set(page(site).forms)
    assert {deed for _, deed, _, _ in FORMS} == offered


async def test_pages_of_operators_are_sound(house: House) -> None:
    browser = await house.signed_in("root", admin=True)
    for path in PAGES:
        answer = await browser.get(path)
        assert answer.status_code == 200, path
        page = sound(answer.text)
        assert "Signed in as root" in page.text
        assert "<script>alert" not in answer.text


async def test_pages_of_operators_are_closed_to_others(house: House) -> None:
    browser = await house.signed_in("alice")
    for path in PAGES:
        assert (await browser.get(path)).status_code == 403, path
        assert (await house.browser().get(path)).status_code == 303, path


async def test_nobody_else_does_what_operators_do(house: House) -> None:
    browser = await house.signed_in("alice")
    mark = await browser.csrf("/account")
    before = await house.history.server.audit(1)
    for path, deed, fields, _ in FORMS:
        answer = await browser.post(path, {"csrf": mark, "deed": deed, "sure": "yes", **fields})
        assert answer.status_code == 403, deed
    assert await house.history.server.audit(1) == before
    assert house.live.calls == []


async def test_operators_need_the_mark_too(house: House) -> None:
    browser = await house.signed_in("root", admin=True)
    before = await house.history.server.audit(1)
    for path, deed, fields, _ in FORMS:
        answer = await browser.post(path, {"csrf": "0" * 64, "deed": deed, "sure": "yes", **fields})
        assert answer.status_code == 403, deed
    assert await house.history.server.audit(1) == before


async def test_what_is_grave_is_asked_first(house: House) -> None:
    browser = await house.signed_in("root", admin=True)
    before = await house.history.server.audit(1)
    for path, deed, fields, grave in FORMS:
        if grave:
            answer = await browser.send(path, deed, **fields)
            page = sound(answer.text)
            assert answer.status_code == 200, deed
            assert "Are you sure?" in page.text, deed
            for name, value in fields.items():
                assert page.attribute("input", "value", name=name) == value, deed
    assert await house.history.server.audit(1) == before
    assert house.live.calls == []


@pytest.mark.parametrize(
    ("path", "deed", "fields"),
    [
        ("/admin/bots/amigo", "bot disable", {"reason": " "}),
        ("/admin/connections", "kick", {"bot": "amigo", "reason": ""}),
        ("/admin/games", "abort", {"game": str(RUNNING), "result": "Abort", "reason": ""}),
        ("/admin/games", "abort", {"game": str(RUNNING), "result": "B+1.5", "reason": "x"}),
        ("/admin/games", "abort", {"game": "many", "result": "Abort", "reason": "x"}),
        ("/admin/games", "correct", {"game": "1", "result": "Void", "reason": ""}),
        ("/admin/accounts", "account disable", {"account": "root", "reason": ""}),
        ("/admin/bots/amigo", "bot disable", {"reason": "x", "days": "0"}),
        (
            "/admin/venues",
            "anchor set",
            {"venue": "9x9", "version": "amigo", "rating": "nan", "form": "anchor set:9x9"},
        ),
        ("/admin", "drain", {"word": "yes"}),
    ],
)
async def test_what_is_missing_is_refused_with_a_sentence(
    house: House, path: str, deed: str, fields: dict[str, str]
) -> None:
    browser = await house.signed_in("root", admin=True)
    answer = await browser.send(path, deed, sure="yes", **fields)
    assert answer.status_code == 422
    assert 'class="refused" role="alert"' in answer.text
    assert house.live.calls == []


async def test_a_bot_is_disabled_for_some_days_and_enabled(house: House) -> None:
    browser = await house.signed_in("root", admin=True)
    path = "/admin/bots/amigo"
    answer = await browser.send(path, "bot disable", reason=HOSTILE, days="2", sure="yes")
    assert answer.status_code == 303, answer.text
    bot = await house.history.bots.detail("amigo")
    assert (bot.state, bot.reason) == ("disabled", HOSTILE)
    assert bot.until == house.clock.ms + 2 * 86_400_000
    for page in (path, "/admin/bots"):
        text = (await browser.get(page)).text
        assert "<script>alert" not in text
        assert "alert(1)" in text
    await browser.send(path, "bot enable")
    assert (await house.history.bots.detail("amigo")).state == "active"


async def test_connections_are_closed_and_games_ended(house: House) -> None:
    browser = await house.signed_in("root", admin=True)
    page = sound((await browser.get("/admin/connections?search=AMIG&bot=amigo")).text)
    assert page.attribute("input", "value", name="bot") == "amigo"
    assert (
        await browser.send("/admin/connections", "kick", bot="amigo", reason="stuck", sure="yes")
    ).status_code == 303
    assert ("kick", "amigo", "The operator closes your connection: stuck") in house.live.calls
    fields = {"game": str(RUNNING), "result": "Abort", "reason": "by mistake", "sure": "yes"}
    assert (await browser.send("/admin/games", "abort", **fields)).status_code == 303
    assert "ended: Abort" in await browser.notice("/admin/games")
    assert ("end", RUNNING, None, "by mistake") in house.live.calls
    page = sound((await browser.get("/admin/audit")).text)
    deeds = [row[2:5] for row in page.rows[1:3]]
    assert deeds[0][1:] == ["abort", f"game {RUNNING}"]
    assert deeds[1][1:] == ["kick", "amigo"]
    assert all(row[0].startswith("root") for row in deeds)


async def test_the_audit_is_searched_and_paged(house: House) -> None:
    browser = await house.signed_in("root", admin=True)
    await house.store.commit([audit(number, HOSTILE, "approve", f"bot{number}", why=HOSTILE) for number in range(120)])
    answer = await browser.get("/admin/audit?action=approve")
    assert "<script>alert" not in answer.text
    page = sound(answer.text)
    assert [row[4] for row in page.rows[1:]] == [f"bot{number}" for number in range(119, 69, -1)]
    (older,) = [link for link in page.links() if "before=" in link]
    page = sound((await browser.get(f"/admin/audit{older}")).text)
    assert [row[4] for row in page.rows[1:]] == [f"bot{number}" for number in range(69, 19, -1)]
    page = sound((await browser.get("/admin/audit?subject=bot7")).text)
    assert [row[4] for row in page.rows[1:]] == ["bot7"]
    await house.store.commit([audit(1, "ann_b (192.0.2.1)", "kick", "a"), audit(2, "annxb (192.0.2.1)", "kick", "b")])
    page = sound((await browser.get("/admin/audit?actor=ann_b")).text)
    assert [row[4] for row in page.rows[1:]] == ["a"], "whatever the address"


async def test_the_audit_says_moments_as_dates(house: House) -> None:
    browser = await house.signed_in("root", admin=True)
    disabled = audit(1, "root", "bot disable", "amigo", reason="it hangs", until=2_000_000_000_000)
    for_good = audit(2, "root", "bot disable", "amigo", reason="it hangs", until=0)
    await house.store.commit([disabled, for_good])
    page = sound((await browser.get("/admin/audit?subject=amigo")).text)
    assert [row[5] for row in page.rows[1:3]] == [
        "reason: it hangs; until: no end",
        "reason: it hangs; until: 2033-05-18 03:33 UTC",
    ]


async def test_the_next_pairing_is_shown_and_nothing_comes_of_it(house: House) -> None:
    browser = await house.signed_in("root", admin=True)
    answer = await browser.send("/admin/venues", "pairing preview", venue="9x9")
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text
    assert f"amigo – Kogo_mcts: {HOSTILE}" in sound(answer.text).text


async def test_venues_pause_and_the_server_drains(house: House) -> None:
    browser = await house.signed_in("root", admin=True)
    await browser.send("/admin/venues", "pause", venue="9x9", sure="yes")
    assert ("pause", "9x9", True) in house.live.calls
    assert (await browser.send("/admin", "drain", word="drain", sure="yes")).status_code == 303
    assert ("drain",) in house.live.calls
    await browser.send("/admin", "reload", sure="yes")
    page = await browser.get("/admin")
    assert "<script>alert" not in page.text
    assert f"{HOSTILE} changed." in sound(page.text).text


async def test_accounts_are_made_and_lose_their_rights(house: House) -> None:
    browser = await house.signed_in("root", admin=True)
    await browser.send("/admin/accounts", "account add", name="carol", admin="yes", **NEW)
    carol = house.browser()
    await carol.sign_in("carol", "abcdefghij")
    assert (await carol.get("/admin")).status_code == 200
    await browser.send("/admin/accounts", "account revoke", account="carol", sure="yes")
    assert (await carol.get("/admin")).status_code == 403
    await browser.send("/admin/accounts", "account disable", account="carol", reason="left", sure="yes")
    assert (await carol.get("/account")).status_code == 303
    assert "carol" in sound((await browser.get("/admin/accounts?search=CAR")).text).text


async def test_bots_are_found_and_those_that_wait_come_first(house: House) -> None:
    await house.store.commit([BotState("pending", "", None, 5)])
    await house.admin.handle(BotDisable(bot="amigo", reason="x"))
    bots = await house.history.bots.page()
    assert [bot.name for bot in found_bots(bots, "", "pending")] == ["random-walk"]
    assert found_bots(bots, "", "")[0].name == "random-walk"
    assert [bot.name for bot in found_bots(bots, "MIG", "")] == ["amigo"]
    assert found_bots(bots, "no such", "") == []
    browser = await house.signed_in("root", admin=True)
    assert "/admin/bots/random-walk" in sound((await browser.get("/admin")).text).links()
    assert (await browser.send("/admin/bots", "approve", bot="random-walk")).status_code == 303
    assert (await house.history.bots.detail("random-walk")).state == "active"


async def test_who_came_from_an_address(house: House) -> None:
    browser = await house.signed_in("root", admin=True)
    came = [ConnectionOpened(9000 + n, 1, 6, address, "x", NOW) for n, address in enumerate(("192.0.2.9", "192.0.2.8"))]
    await house.store.commit([*came, ConnectionClosed(NOW, "it left", 9000)])
    bot = (await house.history.bots.connections(limit=1))[0].bot
    (link,) = [href for href in sound((await browser.get(f"/admin/bots/{bot}")).text).links() if "=192.0.2.9" in href]
    page = sound((await browser.get(link)).text)
    assert page.attribute("input", "value", name="address") == "192.0.2.9"
    assert [row[:2] for row in page.rows if "it left" in row[-1]] == [[bot, "9x9"]]
    other = (await browser.get("/admin/connections?address=192.0.2.8")).text
    assert "it left" not in other
    hostile = sound((await browser.get("/admin/connections?address=%22%3E%3Cscript%3E1")).text)
    assert 'Nobody has signed in from "><script>1.' in hostile.text


async def test_what_clients_call_themselves_is_harmless(house: House) -> None:
    browser = await house.signed_in("root", admin=True)
    await house.store.commit([ConnectionOpened(9999, 1, 6, "192.0.2.9", HOSTILE, house.clock.ms)])
    for path in ("/admin/connections", "/admin/bots/amigo"):
        answer = await browser.get(path)
        assert "<script>alert" not in answer.text
        assert HOSTILE in sound(answer.text).text


async def test_operators_see_which_versions_seem_to_have_changed(house: House) -> None:
    browser = await house.signed_in("root", admin=True)
    assert "seems to have" not in (await browser.get("/admin/venues")).text
    house.clock.ms += FRESH_MS
    house.live.changes = [changed("amigo"), changed("Sakura-5k", "watch")]
    venues = " ".join(Page((await browser.get("/admin/venues")).text).text.split())
    assert "amigo: Flagged: amigo seems to have become" in venues
    assert "Sakura-5k: On watch: Sakura-5k seems to have become" in venues
    one = (await browser.get("/admin/bots/amigo")).text
    assert "Flagged: amigo seems" in one
    assert "Sakura-5k seems" not in one
