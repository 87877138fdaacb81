"""Signing in and out, cookies, and the marks by which forms are known to be ours."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from web.people.conftest import BASE, HOSTILE, PASSWORD, House

from cgos_server.service.commands.accounts import AccountDisable
from cgos_server.web.people.sessions import BODY_MAX, own_path


def cookies(response: object) -> dict[str, str]:
    """Name -> the whole header."""
    lines = response.headers.get_list("set-cookie")  # type: ignore[attr-defined]
    return {line.split("=", 1)[0]: line for line in lines}


async def test_signing_in_and_out(house: House) -> None:
    await house.account("alice")
    browser = house.browser()
    assert (await browser.get("/account")).headers["location"] == "/sign-in?next=%2Faccount"
    answer = await browser.sign_in("alice", following="/account/password")
    assert (answer.status_code, answer.headers["location"]) == (303, "/account/password")
    page = await browser.get("/account")
    assert page.status_code == 200
    assert "Signed in as <strong>alice</strong>" in page.text
    session = browser.web.cookies["cgos-session"]
    out = await browser.post("/sign-out", {"csrf": await browser.csrf("/account")})
    assert out.status_code == 303
    assert (await browser.get("/account")).status_code == 303
    browser.web.cookies.set("cgos-session", session, domain="go.example.org")
    assert (await browser.get("/account")).status_code == 303, "a session that was ended lets nobody in"


async def test_cookies_of_a_site_on_https(house: House) -> None:
    await house.account("alice")
    browser = house.browser("https://go.example.org", public_url="https://go.example.org")
    form = cookies(await browser.get("/sign-in"))["__Host-cgos-form"]
    session = cookies(await browser.sign_in("alice"))["__Host-cgos-session"]
    for line in (form, session):
        words = [word.strip().lower() for word in line.split(";")[1:]]
        assert {"httponly", "secure", "path=/", "samesite=lax"} <= set(words)
        assert not any(word.startswith("domain") for word in words)
    age = int(session.lower().split("max-age=")[1].split(";")[0])
    assert age == 30 * 86_400


async def test_cookies_of_a_site_on_http(house: House) -> None:
    await house.account("alice")
    browser = house.browser()
    session = cookies(await browser.sign_in("alice"))["cgos-session"]
    assert "secure" not in session.lower()
    assert "httponly" in session.lower()


async def test_private_pages_are_kept_by_nobody(house: House) -> None:
    browser = await house.signed_in("alice", admin=True, owns="Sakura-5k")
    for path in ("/sign-in", "/account", "/account/password", "/account/bot/Sakura-5k", "/admin", "/admin/audit",
                 "/account/bot/Sakura-5k/transcript?game=71"):  # fmt: skip
        answer = await browser.get(path)
        assert answer.headers["cache-control"] == "no-store", path
        assert "etag" not in answer.headers
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


async def test_a_session_that_was_there_before_is_not_taken_over(house: House) -> None:
    await house.account("alice")
    browser = house.browser()
    planted = "cgos_" + "A" * 43
    browser.web.cookies.set("cgos-session", planted, domain="go.example.org")
    answer = await browser.sign_in("alice")
    assert planted not in cookies(answer)["cgos-session"]
    stranger = await house.browser().get("/account", headers={"Cookie": f"cgos-session={planted}"})
    assert stranger.status_code == 303


async def test_wrong_password_and_unknown_name_are_told_alike(house: House) -> None:
    await house.account("alice")
    wrong = await house.browser().sign_in("alice", "not-it")
    unknown = await house.browser().sign_in("alicf", "not-it")
    assert wrong.status_code == unknown.status_code == 422

    def text(page: str, name: str) -> str:
        return page.split("<main", 1)[1].replace(name, "NAME").split('name="csrf"')[0] + page.split('role="alert">')[1]

    assert text(wrong.text, "alice") == text(unknown.text, "alicf")
    assert 'value="alice"' in wrong.text, "the name is kept"
    assert "not-it" not in wrong.text, "the password is not"


async def test_wrong_passwords_pause_and_then_the_address_is_limited(house: House) -> None:
    await house.account("alice")
    browser = house.browser()
    for _ in range(3):
        assert (await browser.sign_in("alice", "wrong")).status_code == 422
    paused = await browser.sign_in("alice")
    assert paused.status_code == 429, "even the right one"
    assert int(paused.headers["retry-after"]) >= 1
    answers = [(await browser.sign_in(f"name{number}", "wrong")).status_code for number in range(30)]
    assert answers[-1] == 429, "whatever the names"


async def test_a_session_ends_by_itself(house: House) -> None:
    browser = await house.signed_in("alice")
    house.clock.ms += 30 * 86_400_000 - 1
    assert (await browser.get("/account")).status_code == 200
    house.clock.ms += 1
    session = browser.web.cookies.get("cgos-session", "")
    answer = await house.browser().get("/account", headers={"Cookie": f"cgos-session={session}"})
    assert answer.status_code == 303


async def test_a_disabled_account_is_out_at_once(house: House) -> None:
    browser = await house.signed_in("alice")
    await house.admin.handle(AccountDisable(account="alice", reason="for a test"))
    assert (await browser.get("/account")).status_code == 303
    assert (await browser.sign_in("alice")).status_code == 422


async def test_a_token_of_the_api_is_no_session(house: House) -> None:
    browser = await house.signed_in("alice")
    made = await browser.send("/account", "access make", label="a", scopes="bots", days="3")
    token = made.text.split('<pre class="copy"')[1].split("<code>")[1].split("<")[0]
    answer = await house.browser().get("/account", headers={"Cookie": f"cgos-session={token}"})
    assert answer.status_code == 303


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://go.example.org.evil.example"},
        {"Origin": "http://go.example.org:81"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
async def test_forms_from_elsewhere_are_refused(house: House, headers: dict[str, str]) -> None:
    await house.account("alice")
    browser = house.browser()
    fields = {"csrf": await browser.csrf("/sign-in"), "name": "alice", "password": PASSWORD}
    assert (await browser.post("/sign-in", fields, **headers)).status_code == 403
    assert "cgos-session" not in browser.web.cookies
    await browser.sign_in("alice")
    fields = {"csrf": await browser.csrf("/account"), "deed": "access make", "label": "x", "scopes": "bots"}
    assert (await browser.post("/account", fields, **headers)).status_code == 403
    person = (await house.history.people.access_of(1))[0]
    assert person.kind == "session", "no token was made"


@pytest.mark.parametrize("mark", ["", "0" * 64, "another's"])
async def test_forms_without_the_right_mark_are_refused(house: House, mark: str) -> None:
    other = await house.signed_in("mallory")
    browser = await house.signed_in("alice")
    mark = await other.csrf("/account") if mark == "another's" else mark
    for path in ("/account", "/account/password", "/sign-out"):
        answer = await browser.post(path, {"csrf": mark, "deed": "access make", "label": "x", "scopes": "bots"})
        assert answer.status_code == 403, path
    assert (await browser.get("/account")).status_code == 200, "still signed in"


async def test_signing_in_needs_the_cookie_of_the_form(house: House) -> None:
    await house.account("alice")
    mark = await house.browser().csrf("/sign-in")
    answer = await house.browser().post("/sign-in", {"csrf": mark, "name": "alice", "password": PASSWORD})
    assert answer.status_code == 403


async def test_registering(house: House) -> None:
    browser = house.browser()

    async def register(name: str, password: str, again: str) -> int:
        fields = {"csrf": await browser.csrf("/register"), "name": name, "new": password, "new-again": again}
        return (await browser.post("/register", fields)).status_code

    assert await register("bob", PASSWORD, "another") == 422
    assert await register("amigo", PASSWORD, PASSWORD) == 422, "a bot is called so"
    assert await register("bob", "ninechars", "ninechars") == 422
    assert "10 to 128 characters, also blanks and any letters" in (await browser.get("/register")).text
    assert await register("bob", "bl\u00e5 h\u00e4st i regn", "bl\u00e5 host i regn") == 422
    assert await register("bob", "bl\u00e5 h\u00e4st i regn", "bl\u00e5 h\u00e4st i regn") == 303
    assert "bob" in (await browser.get("/account")).text
    assert (await house.browser(accounts="closed").get("/register")).status_code == 404


async def test_what_is_sent_is_bounded(house: House) -> None:
    browser = await house.signed_in("alice")
    assert (await browser.post("/account", {"csrf": "x" * BODY_MAX})).status_code == 413
    assert (await browser.post("/account", [("a", "b")] * 1000)).status_code == 400
    json = await browser.web.post("/account", json={"csrf": await browser.csrf("/account")})
    assert json.status_code == 415
    assert (
        await browser.post("/account", {"csrf": await browser.csrf("/account"), "deed": "no such"})
    ).status_code == 400


async def test_what_was_refused_stands_beside_its_form(house: House) -> None:
    browser = await house.signed_in("alice")
    answer = await browser.send("/account", "bot claim", bot=HOSTILE, secret="not-the-one")
    assert answer.status_code == 422
    assert HOSTILE not in answer.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in answer.text
    assert "not-the-one" not in answer.text


async def test_without_the_live_server_pages_can_be_read(house: House) -> None:
    browser = await house.signed_in("alice", owns="amigo")
    house.reachable = False
    assert (await browser.get("/account")).status_code == 200
    answer = await browser.send("/account/bot/amigo", "bot pause")
    assert answer.status_code == 503
    assert "does not answer just now" in answer.text


async def test_nobody_else_puts_words_on_a_page(house: House) -> None:
    other = await house.signed_in("mallory", owns="amigo")
    await other.send("/account/bot/amigo", "bot pause")
    planted = other.web.cookies["cgos-said"]
    browser = await house.signed_in("alice")
    browser.web.cookies.set("cgos-said", planted, domain="go.example.org")
    assert 'class="said"' not in (await browser.get("/account")).text


@pytest.mark.parametrize(
    "path",
    ["//evil.example", "https://evil.example", "/\\evil.example", "\\\\evil", "/%0d%0aX: y\r\n", "javascript:1", "/ /"],
)
async def test_the_way_after_signing_in_stays_here(house: House, path: str) -> None:
    await house.account("alice")
    answer = await house.browser().sign_in("alice", following=path)
    assert answer.headers["location"] == "/account"


@given(st.text(alphabet="/\\.:@ee%\r\n\t?#aé", max_size=12))
def test_own_paths_never_name_a_host(text: str) -> None:
    path = own_path(text)
    assert path.startswith("/")
    assert not path.startswith("//")
    assert "\\" not in path
    assert path == "/account" or path == text


async def test_a_form_without_an_origin_needs_the_mark_alone(house: House) -> None:
    browser = await house.signed_in("alice", owns="amigo")
    mark = await browser.csrf("/account/bot/amigo")
    answer = await browser.web.post(
        "/account/bot/amigo",
        content=f"csrf={mark}&deed=bot+pause",
        headers={"Content-Type": "application/x-www-form-urlencoded", "Referer": BASE},
    )
    assert answer.status_code == 303


@pytest.mark.parametrize("mark", ["é", "\udc80", "\u202e" * 32, "\x00"])
async def test_marks_that_are_no_marks_are_refused(house: House, mark: str) -> None:
    browser = await house.signed_in("alice")
    fields = {"csrf": mark.encode("utf-8", "surrogateescape"), "deed": "access make", "label": "x", "scopes": "bots"}
    assert (await browser.post("/account", fields)).status_code == 403
    cookies = f"cgos-session={browser.web.cookies['cgos-session']}; cgos-said=aGFsbG8=.".encode() + b"\xe9\xff"
    answer = await house.browser().get("/account", headers=[("Cookie", cookies)])
    assert answer.status_code == 200
    assert "hallo" not in answer.text


@pytest.mark.parametrize(
    "origin", ["http://[", "http://go.example.org@evil.example", "//go.example.org", "http://", ""]
)
async def test_origins_that_are_none_are_not_ours(house: House, origin: str) -> None:
    browser = await house.signed_in("alice")
    fields = {"csrf": await browser.csrf("/account"), "deed": "access make", "label": "x", "scopes": "bots"}
    assert (await browser.post("/account", fields, Origin=origin)).status_code == 403


async def test_a_page_without_encryption_sends_nothing_to_one_with_it(house: House) -> None:
    await house.account("alice")
    browser = house.browser("https://go.example.org", public_url="https://go.example.org")
    fields = {"csrf": await browser.csrf("/sign-in"), "form": "sign-in", "name": "alice", "password": PASSWORD}
    assert (await browser.post("/sign-in", fields, Origin="http://go.example.org")).status_code == 403
    assert (await browser.post("/sign-in", fields)).status_code == 303


async def test_signing_out_without_the_live_server_is_not_claimed(house: House) -> None:
    browser = await house.signed_in("alice")
    mark = await browser.csrf("/account")
    house.reachable = False
    answer = await browser.post("/sign-out", {"csrf": mark})
    assert answer.status_code == 503
    assert "You are still signed in." in answer.text
    house.reachable = True
    assert (await browser.get("/account")).status_code == 200


async def test_signing_out_of_what_has_just_ended_is_no_failure(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = await house.signed_in("alice")
    mark = await browser.csrf("/account")
    inner = house.admin.answer

    async def ended_meanwhile(line: bytes) -> bytes:
        await house.admin.handle(AccountDisable(account="alice", reason="for a test"))
        return await inner(line)

    monkeypatch.setattr(house.admin, "answer", ended_meanwhile)
    answer = await browser.post("/sign-out", {"csrf": mark})
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
