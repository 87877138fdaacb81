"""Who asks: the cookie of a session, the marks by which a form is known to be ours, and what a form says.

A session's text is its secret: the database keeps a digest of it alone, and every form of the session carries a keyed
digest of it (HMAC, RFC 2104), which no other site can know. Where there is no session yet, a cookie made for that form
takes its place. Must not know: what people may do, templates.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, quote, urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response

from cgos_server.service.people.passwords import digest
from cgos_server.storage.reading.stored import Person
from cgos_server.web.site import Site

BODY_MAX: Final = 65_536
"""Bytes of a form."""

FIELDS_MAX: Final = 500
BODY_LIMIT_S: Final = 10.0
"""Time that a form has to arrive."""

FORM_S: Final = 3600
"""How long the cookie of a form without a session lasts."""

PRIVATE: Final = {"Cache-Control": "no-store", "Referrer-Policy": "same-origin"}
"""What goes with every answer for one person."""

_FORM_TYPE = "application/x-www-form-urlencoded"
_OWN_PATH = re.compile(r"/(?:[A-Za-z0-9_.~%?=&+-][A-Za-z0-9_.~%?=&+/-]*)?")
_SECRET = re.compile(r"[A-Za-z0-9_-]{20,200}")


class Visit(NamedTuple):
    """A person at the pages, with the text of the session."""

    person: Person
    session: str


class Form:
    """What a form says. Blanks round a value do not count."""

    def __init__(self, fields: Mapping[str, list[str]]) -> None:
        self.fields = fields

    def text(self, name: str) -> str:
        """The last value of this name, empty for none."""
        return self.fields.get(name, [""])[-1].strip()

    def all(self, name: str) -> list[str]:
        """All values of this name that are not empty, each once."""
        return list(dict.fromkeys(value.strip() for value in self.fields.get(name, []) if value.strip()))


async def visit(site: Site, request: Request) -> Visit | None:
    """Who asks by the cookie; None for a stranger."""
    session = request.cookies.get(session_cookie(site, request), "")
    if not _SECRET.fullmatch(session):
        return None
    person = await site.history.people.person(digest(session), site.now_ms())
    # A token of the API opens no page, wherever a browser shows it.
    return Visit(person, session) if person is not None and person.kind == "session" else None


# -- cookies


def session_cookie(site: Site, request: Request) -> str:
    """The name of the session's cookie. With the prefix ``__Host-`` a browser takes it from this very host alone."""
    return f"{_prefix(site, request)}cgos-session"


def form_cookie(site: Site, request: Request) -> str:
    """The name of the cookie that belongs to a form without a session."""
    return f"{_prefix(site, request)}cgos-form"


def said_cookie(site: Site, request: Request) -> str:
    """The name of the cookie that carries a sentence to the next page."""
    return f"{_prefix(site, request)}cgos-said"


def set_cookie(site: Site, request: Request, response: Response, name: str, value: str, lasts_s: int) -> None:
    """Let the browser keep it, for pages alone and never for requests that other sites make."""
    response.set_cookie(
        name, value, max_age=max(0, lasts_s), path="/", secure=_secure(site, request), httponly=True, samesite="lax"
    )


def drop_cookie(site: Site, request: Request, response: Response, name: str) -> None:
    """Let the browser forget it."""
    set_cookie(site, request, response=response, name=name, value="", lasts_s=0)


def _secure(site: Site, request: Request) -> bool:
    return site.address(request).startswith("https://")


def _prefix(site: Site, request: Request) -> str:
    return "__Host-" if _secure(site, request) else ""


# -- forms


def token_of(secret: str) -> str:
    """What a form carries: 256 bits that only who knows the session's, or the form cookie's, text can compute."""
    return signed(secret, "form")


def signed(secret: str, text: str) -> str:
    """The hexadecimal HMAC-SHA256 of `text` under a session's text."""
    return hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()


def new_form_secret() -> str:
    """The text of a form's cookie: 256 random bits."""
    return secrets.token_urlsafe(32)


def form_secret(site: Site, request: Request) -> str | None:
    """The text of the form's cookie that the browser sent, if it has the form of one."""
    secret = request.cookies.get(form_cookie(site, request), "")
    return secret if _SECRET.fullmatch(secret) else None


async def read_form(request: Request) -> Form:
    """What was sent. Raises HTTPException 400, 408, 413, 415."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM_TYPE:
        raise HTTPException(415)
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_LIMIT_S):
            async for chunk in request.stream():
                body += chunk
                if len(body) > BODY_MAX:
                    raise HTTPException(413)
    except TimeoutError as error:
        raise HTTPException(408) from error
    except ClientDisconnect as error:
        raise HTTPException(400) from error
    fields: dict[str, list[str]] = {}
    try:
        pairs = parse_qsl(body.decode("latin-1"), keep_blank_values=True, max_num_fields=FIELDS_MAX, errors="replace")
    except ValueError as error:
        raise HTTPException(400) from error
    for name, value in pairs:
        fields.setdefault(name, []).append(value)
    return Form(fields)


def is_ours(site: Site, request: Request, form: Form, secret: str | None) -> bool:
    """Whether the form came from a page that we made for this very visitor.

    Every browser says where a form came from (Origin; Sec-Fetch-Site since 2020-2023); what says nothing of it is no
    browser, and must know the token all the same.
    """
    return secret is not None and _from_here(site, request) and same(form.text("csrf"), token_of(secret))


def same(word: str, right: str) -> bool:
    """Whether two words are the same, found out in a time that says nothing of where they differ."""
    return hmac.compare_digest(word.encode(errors="replace"), right.encode())


def _from_here(site: Site, request: Request) -> bool:
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = request.headers.get("origin")
    if origin is None:
        return True
    try:
        here = urlsplit(origin)
    except ValueError:
        return False
    # What somebody on the way put into a page without encryption is not ours where ours are encrypted.
    schemes = ("https",) if _secure(site, request) else ("http", "https")
    return (origin != "" and origin == site.settings.public_url) or (
        here.scheme in schemes and here.netloc == request.headers.get("host", "")
    )


# -- ways


def own_path(text: str, otherwise: str = "/account") -> str:
    """`text` where it is the path of a page here, and cannot be read as another host's."""
    return text if _OWN_PATH.fullmatch(text) and len(text) <= 500 else otherwise


def to(path: str) -> Response:
    """Go on there, by GET."""
    return RedirectResponse(path, 303, headers=PRIVATE)


def to_sign_in(request: Request) -> Response:
    """Sign in first, and come back to this page."""
    return to("/sign-in?next=" + quote(request.scope["path"], safe=""))
