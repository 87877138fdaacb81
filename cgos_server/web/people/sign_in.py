"""Signing in, making an account, signing out.

Must not know: how passwords are checked, what an account may do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from cgos_protocol.api.people import Session
from cgos_protocol.api.route import Limit
from cgos_protocol.errors import Code, Refused
from cgos_server.service.commands.declaration import Command
from cgos_server.service.commands.sessions import AccountRegister, SignIn, SignOut
from cgos_server.service.commands.surfaces import PageForm
from cgos_server.web.people import fields
from cgos_server.web.people.form_page import Tried, refused_form, status_of, tried, wait
from cgos_server.web.people.sessions import (
    FORM_S,
    PRIVATE,
    drop_cookie,
    form_cookie,
    form_secret,
    is_ours,
    new_form_secret,
    own_path,
    read_form,
    said_cookie,
    session_cookie,
    set_cookie,
    to,
    token_of,
    visit,
)
from cgos_server.web.people.shown_forms import Offering
from cgos_server.web.site import Handler, Site


async def sign_in(site: Site, request: Request) -> Response:
    """The form, or the attempt."""
    if request.method == "POST":
        return await _attempt(site, request, "people/sign_in.html", SignIn)
    if await visit(site, request) is not None:
        return to(own_path(request.query_params.get("next", "")))
    return _page(site, request, "people/sign_in.html", SignIn)


async def register(site: Site, request: Request) -> Response:
    """The form for an account of one's own, where that is open, or the attempt."""
    if site.settings.accounts != "open":
        raise HTTPException(404, "The operators of this server make the accounts here: ask them for one.")
    if request.method == "POST":
        return await _attempt(site, request, "people/register.html", AccountRegister)
    return _page(site, request, "people/register.html", AccountRegister)


async def sign_out(site: Site, request: Request) -> Response:
    """End the session."""
    here = await visit(site, request)
    form = await read_form(request)
    if here is not None:
        if not is_ours(site, request, form, here.session):
            return refused_form(site)
        try:
            await site.on_behalf(here.session, request, SignOut())
        except Refused as refusal:
            if refusal.code is not Code.NOT_SIGNED_IN:  # it is still valid: whoever believes to be out would not be
                raise HTTPException(503, f"You are still signed in. {refusal.sentence}") from refusal
    response = to("/sign-in")
    drop_cookie(site, request, response, session_cookie(site, request))
    drop_cookie(site, request, response, said_cookie(site, request))
    return response


async def _attempt(site: Site, request: Request, template: str, kind: type[Command[Session]]) -> Response:
    form = await read_form(request)
    if not is_ours(site, request, form, form_secret(site, request)):
        return refused_form(site)
    try:
        site.limits.spend(Limit.SIGN_IN, site.visitor(request))
        (declared,) = kind.on(PageForm)
        reading = fields.Reading(form, site.now_ms(), site.visitor(request))
        session = await site.ask(reading.command(kind, declared))
    except Refused as refusal:
        site.refused(refusal)
        page = _page(site, request, template, kind, status=status_of(refusal), again=tried(form, refusal))
        return wait(page, refusal)
    response = to(own_path(request.query_params.get("next", "")))
    lasts_s = (session.until - site.now_ms()) // 1000
    name = session_cookie(site, request)
    set_cookie(site, request, response=response, name=name, value=session.session, lasts_s=lasts_s)
    drop_cookie(site, request, response, form_cookie(site, request))
    return response


def _page(
    site: Site,
    request: Request,
    template: str,
    kind: type[Command[Session]],
    *,
    status: int = 200,
    again: Tried | None = None,
) -> Response:
    (declared,) = kind.on(PageForm)
    secret = form_secret(site, request) or new_form_secret()
    response = site.render(
        template,
        status,
        here="/account",
        token=token_of(secret),
        tried=again or Tried(),
        offered=Offering(forms={kind.word(): (kind, declared)}).at,
        open=site.settings.accounts == "open",
    )
    set_cookie(site, request, response=response, name=form_cookie(site, request), value=secret, lasts_s=FORM_S)
    response.headers.update(PRIVATE)
    return response


PAGES: Final[Mapping[str, tuple[Handler, list[str]]]] = {
    "/sign-in": (sign_in, ["GET", "POST"]),
    "/register": (register, ["GET", "POST"]),
    "/sign-out": (sign_out, ["POST"]),
}
"""Addresses, with what answers there and by which methods."""
