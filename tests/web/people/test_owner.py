"""What owners do and see, and what nobody else does."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest
from support.observability.transcripts import keep_lines
from support.service.acting import changed
from support.web.past import BOTS, RUNNING
from web.people.conftest import BASE, HOSTILE, PASSWORD, Browser, House
from web.test_pages import Page

from cgos_protocol.api.messages import BotDetail, VersionDetail
from cgos_protocol.api.people import NewToken
from cgos_protocol.api.route import Limit
from cgos_protocol.hours import parse
from cgos_protocol.session import Limits
from cgos_server.observability.transcript_files import TranscriptLine
from cgos_server.presentation.words import moment
from cgos_server.service.commands.bots import BotDisable
from cgos_server.service.commands.ownership import BotOwn
from cgos_server.service.commands.tokens import TokenMake
from cgos_server.service.control import VersionNow
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.writing.records import OwnerChanged, WebhookStopped
from cgos_server.web.people import account
from cgos_server.web.people.bots_now import FRESH_MS, SILENT
from cgos_server.web.people.deliveries import Outcome
from cgos_server.web.people.own_bot import OwnBotPage
from cgos_server.web.site import Site

OWN = "/account/bot/Sakura-5k"


def sound(text: str) -> Page:
    page = Page(text)
    assert not [tag for tag, _ in page.tags if tag in ("style", "iframe", "object")]
    assert not [key for _, attributes in page.tags for key in attributes if key == "style" or key.startswith("on")]
    assert sum(tag == "h1" for tag, _ in page.tags) == 1
    assert not re.search(r"<p\b[^>]*>(?:(?!</p>).)*<form", text, re.DOTALL), "a browser would end the paragraph there"
    return page


async def test_an_owner_claims_pauses_limits_and_gives_up(house: House) -> None:
    browser = await house.signed_in("alice", owns="Sakura-5k")
    assert "Sakura-5k" in await browser.notice("/account")
    page = sound((await browser.get("/account")).text)
    assert OWN in page.links()
    assert await status_of(browser, "bot pause") == 303
    assert "paused" in sound((await browser.get("/account")).text).text
    assert await status_of(browser, "bot resume") == 303
    wanted = {"games_a_day": "7", "avoid": "amigo, Kogo_mcts", "accepts": "bob *"}
    assert await status_of(browser, "bot limit", **wanted, hours="6-6") == 422
    assert await status_of(browser, "bot limit", **wanted, hours="sat, 22-6") == 303
    wishes = [call for call in house.live.calls if call[0] == "wishes"]
    assert wishes[-1][3].games_a_day == 7
    assert isinstance(wishes[-1][3], Limits)
    page = sound((await browser.get(OWN)).text)
    assert page.attribute("input", "value", name="games_a_day") == "7"
    assert page.attribute("input", "value", name="hours") == str(parse("22-6, Sat"))
    assert set((page.attribute("input", "value", name="avoid") or "").split()) == {"amigo", "Kogo_mcts"}
    assert page.attribute("input", "value", name="accepts") == "* bob"
    answer = await browser.send(OWN, "bot release", sure="yes")
    assert answer.headers["location"] == "/account"
    assert (await browser.get(OWN)).status_code == 404


async def test_an_owner_sees_what_its_bot_does_just_now(house: House) -> None:
    browser = await house.signed_in("alice", owns="Sakura-5k")
    text = sound((await browser.get(OWN)).text).text
    assert "not connected" in text
    house.live.views = [
        VersionNow(
            name="Sakura-5k",
            venue="9x9",
            state="out of hours",
            since=1.7e9,
            games=[71],
            slots=1,
            why=HOSTILE,
            paired=False,
        )
    ]
    looks = house.live.calls.count(("look", 1))
    for _ in range(3):
        assert "out of hours" not in (await browser.get(OWN)).text
    assert house.live.calls.count(("look", 1)) == looks == 1
    house.clock.ms += FRESH_MS
    page = sound((await browser.get(OWN)).text)
    assert "out of hours: game 71" in " ".join(page.text.split())
    assert "not connected" not in page.text
    assert "/game/71" in page.links()
    house.live.views = []
    assert await status_of(browser, "bot pause") == 303
    assert "not connected" in sound((await browser.get(OWN)).text).text, "what was done shows at once"
    house.reachable = False
    house.clock.ms += FRESH_MS
    page = sound((await browser.get(OWN)).text)
    assert SILENT in page.text
    assert "not connected" not in page.text


async def test_an_owner_sees_what_became_of_its_webhooks(house: House) -> None:
    browser = await house.signed_in("alice", owns="Sakura-5k")
    await browser.send("/account", "webhook add", url="https://example.org/hook", events=["game-ended"])
    (row,) = await house.history.people.webhooks(1)
    assert "none yet" in (await browser.get("/account")).text
    deliveries = house.app()._site.deliveries
    at = house.clock.ms
    deliveries.note(
        row.id, Outcome(at=at - 120_000, event="game-ended", delivered=True, sentence="It was answered 200.", tries=1)
    )
    deliveries.note(
        row.id,
        Outcome(
            at=at - 60_000, event="game-ended", delivered=False, sentence=f"It was answered 500. {HOSTILE}", tries=2
        ),
    )
    page = sound((await browser.get("/account")).text)
    text = " ".join(page.text.split())
    assert "failed 1 min ago (game-ended, try 2). It was answered 500." in text
    assert "1 try failed in a row." in text
    assert "Last delivered 2 min ago (game-ended)." in text
    assert f"known since {moment(deliveries.since)} UTC" in text
    deliveries.note(
        row.id, Outcome(at=at, event="game-ended", delivered=True, sentence="It was answered 204.", tries=3)
    )
    text = " ".join(sound((await browser.get("/account")).text).text.split())
    assert "delivered" in text
    assert "It was answered 204. Last failed 1 min ago (game-ended). It was answered 500." in text


async def status_of(browser: Browser, deed: str, **fields: Any) -> int:
    return (await browser.send(OWN, deed, **fields)).status_code


async def test_what_is_grave_is_asked_first(house: House) -> None:
    browser = await house.signed_in("alice", owns="Sakura-5k")
    for deed in ("bot release", "bot drain"):
        confirmation = await browser.send(OWN, deed)
        page = sound(confirmation.text)
        assert confirmation.status_code == 200
        assert "Are you sure?" in page.text
        assert page.attribute("input", "value", name="sure") == "yes"
        assert page.attribute("input", "value", name="deed") == deed
    assert (await browser.get(OWN)).status_code == 200
    assert ("drain bot", 1) not in house.live.calls
    assert await status_of(browser, "bot drain", sure="yes") == 303
    assert ("drain bot", 1) in house.live.calls


async def test_secrets_are_seen_once(house: House) -> None:
    browser = await house.signed_in("alice", owns="Sakura-5k")
    for path, deed, fields in (
        ("/account", "access make", {"label": HOSTILE, "scopes": "bots", "days": "1"}),
        (OWN, "token make", {"label": HOSTILE}),
        ("/account", "webhook add", {"url": "https://example.org/hook", "events": ["game-ended", "suspended"]}),
    ):
        made = await browser.send(path, deed, **fields)
        assert made.status_code == 200
        secret = made.text.split('<pre class="copy"')[1].split("<code>")[1].split("<")[0]
        assert len(secret) >= 30
        later = await browser.get(path)
        assert secret not in later.text
        assert "<script>alert" not in later.text
    rows = await house.history.people.webhooks(1)
    assert rows[0].events == ["game-ended", "suspended"]


async def test_tokens_and_sessions_end(house: House) -> None:
    browser = await house.signed_in("alice", owns="Sakura-5k")
    other = house.browser()
    await other.sign_in("alice")
    await browser.send("/account", "access make", label="mine", scopes="bots")
    rows = {row.kind: row for row in reversed(await house.history.people.access_of(1))}
    sessions = [row.id for row in await house.history.people.access_of(1) if row.kind == "session"]
    assert len(sessions) == 2
    await browser.send("/account", "access revoke", access=str(max(sessions)))
    assert (await other.get("/account")).status_code == 303
    await browser.send("/account", "access revoke", access=str(rows["token"].id))
    assert "mine" not in sound((await browser.get("/account")).text).text
    made = await house.admin.handle(TokenMake(bot="Sakura-5k", label="laptop"))
    assert isinstance(made, NewToken)
    assert "laptop" in (await browser.get(OWN)).text
    await browser.send(OWN, "token revoke", token=str(made.id), sure="yes")
    assert "laptop" not in (await browser.get(OWN)).text


async def test_another_password_ends_the_other_sessions(house: House) -> None:
    browser = await house.signed_in("alice")
    other = house.browser()
    await other.sign_in("alice")
    path = "/account/password"
    fields = {"new": "battery-staple", "new-again": "battery-staple"}
    wrong = await browser.send(path, "password change", old="nope", **fields)
    assert wrong.status_code == 422
    assert (await browser.send(path, "password change", old=PASSWORD, **fields)).headers["location"] == "/account"
    assert (await browser.get("/account")).status_code == 200
    assert (await other.get("/account")).status_code == 303
    assert (await house.browser().sign_in("alice", "battery-staple")).status_code == 303


async def test_ones_own_data_is_a_file(house: House) -> None:
    alice = await house.signed_in("alice", owns="Sakura-5k")
    assert 'href="/account/data.json"' in (await alice.get("/account")).text
    answer = await alice.get("/account/data.json")
    assert answer.headers["content-disposition"] == 'attachment; filename="alice.json"'
    assert answer.headers["cache-control"] == "no-store"
    data = answer.json()
    assert [row["name"] for row in data["account"] + data["bots"]] == ["alice", "Sakura-5k"]
    assert (await alice.get("/account/data.zip")).content.startswith(b"PK")
    assert (await house.browser().get("/account/data.json")).status_code == 303
    busy = await house.signed_in("carol", exports_at_once=2)
    with house.app(exports_at_once=2)._site.limits.slot(Limit.BULK, "192.0.2.7"):
        assert (await busy.get("/account/data.json")).status_code == 429
    assert (await busy.get("/account/data.json")).status_code == 200
    assert (await busy.get("/account/data.json")).status_code == 200


async def test_who_types_name_and_password_is_erased_with_its_bots_or_without(house: House) -> None:
    alice = await house.signed_in("alice", owns="Sakura-5k")
    path = "/account/erase"
    page = sound((await alice.get(path)).text)
    assert "It cannot be undone." in page.text
    assert "Sakura-5k" in page.text
    for wrong in ({"name": "Alice", "password": PASSWORD}, {"name": "alice", "password": "not-her-password"}):
        assert (await alice.send(path, "account erase own", **wrong)).status_code == 422
    assert "alice" in (await alice.get("/account")).text
    done = await alice.send(path, "account erase own", name="alice", password=PASSWORD, bots="yes")
    assert done.status_code == 200
    assert "alice is erased, and 1 of its bots: it is deleted-" in sound(done.text).text
    assert (await alice.get("/account")).status_code == 303
    assert (await house.browser().sign_in("alice")).status_code == 422
    assert (await house.browser().get("/bot/Sakura-5k")).status_code == 404
    assert ("vacate", [1], "This bot is being erased.") in house.live.calls
    bob = await house.signed_in("bob", owns="amigo")
    await bob.send(path, "account erase own", name="bob", password=PASSWORD)
    assert (await house.browser().get("/bot/amigo")).status_code == 200
    assert [entry.actor.partition("-")[0] for entry in await house.history.server.audit(2)] == ["deleted", "deleted"]


FORMS: list[tuple[str, str, dict[str, Any]]] = [
    (OWN, "bot pause", {}),
    (OWN, "bot resume", {}),
    (OWN, "bot drain", {}),
    (OWN, "bot limit", {"games_a_day": "1"}),
    (OWN, "token make", {"label": "x"}),
    (OWN, "token revoke", {"token": "1"}),
    (OWN, "bot passwd", {"new": "abcdefghij", "new-again": "abcdefghij"}),
    (OWN, "bot recall", {}),
    (OWN, "version link", {"version": "Sakura-5k", "predecessor": "amigo", "sd": "", "surely": "yes"}),
    (OWN, "version unlink", {"version": "Sakura-5k"}),
    (OWN, "bot release", {}),
]


@pytest.mark.parametrize(("path", "deed", "fields"), FORMS)
async def test_nobody_acts_on_anothers_bot(house: House, path: str, deed: str, fields: dict[str, Any]) -> None:
    await house.signed_in("alice", owns="Sakura-5k")
    mallory = await house.signed_in("mallory", owns="amigo")
    before = await house.history.server.audit(1)
    mark = await mallory.csrf("/account")
    answer = await mallory.post(path, {"csrf": mark, "deed": deed, "form": "x", "sure": "yes", **fields})
    assert answer.status_code == 404
    assert await house.history.server.audit(1) == before, "nothing was done"


def test_every_command_on_a_bot_was_tried() -> None:
    assert {deed for _, deed, _ in FORMS} == set(OwnBotPage(Site.__new__(Site)).forms)


async def test_a_predecessor_is_named_for_one_of_the_bots_versions(house: House) -> None:
    browser = await house.signed_in("alice", owns="Sakura-5k")
    page = sound((await browser.get(OWN)).text)
    assert "Predecessor" in page.text
    assert page.attribute("option", "value") == "Sakura-5k"
    fields = {"version": "Sakura-5k", "predecessor": "Sakura-5k", "form": "version link:"}
    itself = await browser.send(OWN, "version link", **fields, sd="40", surely="yes")
    assert itself.status_code == 422
    shown = sound(itself.text)
    assert "Sakura-5k cannot succeed itself" in shown.text
    assert shown.attribute("input", "value", name="sd") == "40", "what was written is kept"
    none = await browser.send(OWN, "version unlink", version="Sakura-5k", form="version unlink:")
    assert "Sakura-5k succeeds no version in any venue." in sound(none.text).text


async def test_nobody_ends_what_is_anothers(house: House) -> None:
    alice = await house.signed_in("alice")
    await alice.send("/account", "access make", label="mine", scopes="bots")
    await alice.send("/account", "webhook add", url="https://example.org/", events="game-ended")
    mallory = await house.signed_in("mallory")
    for row in await house.history.people.access_of(1):
        answer = await mallory.send("/account", "access revoke", access=str(row.id))
        assert answer.status_code == 422
    (hook,) = await house.history.people.webhooks(1)
    assert (await mallory.send("/account", "webhook remove", webhook=str(hook.id), sure="yes")).status_code == 422
    assert (await mallory.send("/account", "webhook test", webhook=str(hook.id))).status_code == 422
    assert all(row.revoked_at is None for row in await house.history.people.access_of(1))
    assert (await house.history.people.webhooks(1))[0].stopped_at is None
    answer = await mallory.send("/account", "webhook add", url="https://example.org/", events="game-ended", bot=BOTS[0])
    assert answer.status_code == 422, "the bot is nobody's"
    assert (await mallory.send("/account", "access make", label="x", scopes="admin")).status_code == 422


async def test_private_pages_of_a_bot_are_closed_to_others(house: House) -> None:
    await house.signed_in("alice", owns="Sakura-5k")
    mallory = await house.signed_in("mallory", owns="amigo")
    for path in (OWN, f"{OWN}/transcript?game={RUNNING}", f"{OWN}/transcript?game={RUNNING}&format=text"):
        assert (await mallory.get(path)).status_code == 404
        assert (await house.browser().get(path)).status_code == 303
    nothing = (await mallory.get("/account/bot/nobody-at-all")).text
    others = (await mallory.get(OWN)).text
    assert nothing == others, "whether there is such a bot is not told"
    operator = await house.signed_in("root", admin=True)
    assert (await operator.get(OWN)).status_code == 200


async def test_the_transcript_of_a_game(house: House) -> None:
    browser = await house.signed_in("alice", owns="Sakura-5k")
    began = 1000 * (await house.history.games.detail(RUNNING)).game.started_at
    transcript = [
        TranscriptLine(
            at=began,
            name="Sakura-5k",
            connection=1,
            way=">",
            text="setup 71 9 7.0 300000 Sakura-5k(1800) gnugo(1800)",
            game=RUNNING,
        ),
        TranscriptLine(
            at=began + 1_500_000, name="Sakura-5k", connection=1, way=">", text="genmove b 300000", game=RUNNING
        ),
        TranscriptLine(at=began + 3_750_000, name="Sakura-5k", connection=1, way="<", text=HOSTILE, game=RUNNING),
        TranscriptLine(
            at=began + 4_000_000, name="Sakura-5k", connection=1, way=">", text="of another game", game=RUNNING + 1
        ),
    ]
    keep_lines(house.data, 1, transcript)
    path = f"{OWN}/transcript?game={RUNNING}"
    assert path in sound((await browser.get(OWN)).text).links()
    answer = await browser.get(path)
    page = sound(answer.text)
    assert [row[1:] for row in page.rows[1:]] == [
        ["", "server", transcript[0].text],
        ["1.500", "server", "genmove b 300000"],
        ["2.250", "bot", HOSTILE],
    ]
    assert page.attribute("strong", "title", title="its clock ran")
    file = await browser.get(f"{path}&format=text")
    assert file.headers["content-type"] == "text/plain; charset=utf-8"
    assert file.headers["content-disposition"] == f'attachment; filename="Sakura-5k-{RUNNING}.txt"'
    assert file.text.splitlines()[2].endswith(f"    2.250 < {HOSTILE}")
    for wrong in ("transcript", "transcript?game=999999", "transcript?game=x", "transcript?game=72&x=1"):
        response = await browser.get(f"{OWN}/{wrong}")
        assert response.status_code == (200 if "72" in wrong else 404 if "99" in wrong else 400), wrong
    games = await house.history.games.find(GameFilter(), 100)
    other = next(game.id for game in games if "Sakura-5k" not in (game.black, game.white))
    assert (await browser.get(f"{OWN}/transcript?game={other}")).status_code == 404


async def test_how_a_bot_loses_is_counted(house: House) -> None:
    games = [game for game in await house.history.games.find(GameFilter(), 500) if game.result]
    loser = next(g.black if g.result == "W+Time" else g.white for g in games if g.reason == "time")
    own = [game for game in games if loser in (game.black, game.white)]
    late = [g for g in own if g.reason == "time" and (g.result == "W+Time") == (g.black == loser)]
    browser = await house.signed_in("alice", owns=loser)
    page = sound((await browser.get(f"/account/bot/{loser}")).text)
    days = [row for row in page.rows if re.fullmatch(r"\d{4}-\d\d-\d\d", row[0])]
    assert sum(int(row[1]) for row in days) == len(own)
    assert sum(int(row[2].split(" ")[0]) for row in days) == len(late) > 0
    home = sound((await browser.get("/account")).text)
    row = next(row for row in home.rows if row[0] == loser)
    assert row[4] == str(len(own))
    assert row[5] == f"{100 * len(late) / len(own):.0f} %"


async def test_hostile_texts_are_harmless(house: House) -> None:
    browser = await house.signed_in("alice", owns="Sakura-5k")
    await house.admin.handle(BotDisable(bot="Sakura-5k", reason=HOSTILE))
    await browser.send("/account", "webhook add", url="https://example.org/?a=%22%3Cscript%3E", events="game-ended")
    await house.store.commit([WebhookStopped(1, HOSTILE, 1)])
    for path in ("/account", OWN):
        text = (await browser.get(path)).text
        sound(text)
        assert "<script>alert" not in text
        assert "alert(1)" in text


async def test_rights_are_looked_up_at_every_request(house: House) -> None:
    browser = await house.signed_in("alice", admin=True, owns="Sakura-5k")
    assert (await browser.get("/admin")).status_code == 200
    owner = await house.store.history.people.owner("alice")
    assert owner is not None
    await house.store.commit([OwnerChanged(owner.password, 0, "active", owner.id)])
    for path in ("/admin", "/admin/bots", "/admin/audit"):
        assert (await browser.get(path)).status_code == 403
    assert BASE in browser.base


async def test_many_bots_stand_on_several_pages(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account, "BOTS", 2)
    browser = await house.signed_in("alice", owns="Sakura-5k")
    for name in ("amigo", "Tengen.bot"):
        await house.admin.handle(BotOwn(bot=name, account="alice"))
    first = sound((await browser.get("/account")).text)
    later = sound((await browser.get("/account?from=2")).text)
    assert "?from=2" in first.links()
    shown = [[link for link in page.links() if link.startswith("/account/bot/")] for page in (first, later)]
    assert [len(links) for links in shown] == [2, 1]
    assert "?from=4" not in later.links()


async def test_an_owner_is_told_that_a_version_seems_to_have_changed(house: House) -> None:
    """With what to do; everybody sees the change, and the rating since, beside the headline."""
    browser = await house.signed_in("alice", owns="Sakura-5k")
    house.live.changes = [changed("Sakura-5k"), changed("amigo", "watch")]
    own = sound((await browser.get(OWN)).text)
    text = " ".join(own.text.split())
    assert "9x9, Flagged: Sakura-5k seems to have become 210 Elo stronger." in text
    assert "Its rating since its game 81: 2010 ± 125, by 33 games." in text
    assert "Give Sakura-5k another name." in text
    assert "amigo seems" not in text
    home = " ".join(sound((await browser.get("/account")).text).text.split())
    assert "Sakura-5k in 9x9. Flagged: Sakura-5k seems to have become" in home
    assert "amigo seems" not in home
    public = sound((await house.browser().get("/bot/Sakura-5k")).text)
    assert "Flagged: Sakura-5k seems to have become" in public.text
    assert "Give Sakura-5k another name." not in public.text, "that is for its owner"
    (row,) = [cells for cells in public.rows if cells and cells[0] == "9x9"]
    rating = next(cell for cell in row if "since its game 81" in cell)
    assert not rating.startswith("since"), "the headline stays"
    assert "On watch: amigo seems" in sound((await house.browser().get("/bot/amigo")).text).text
    assert "seems to have" not in sound((await house.browser().get("/bot/Kogo_mcts")).text).text
    answer = await house.browser().get("/api/v1/bots/Sakura-5k")
    detail = msgspec.json.decode(answer.content, type=BotDetail)
    assert detail.strength_changes == house.live.changes[:1]
    answer = await house.browser().get("/api/v1/versions/amigo")
    assert msgspec.json.decode(answer.content, type=VersionDetail).strength_changes == house.live.changes[1:]
