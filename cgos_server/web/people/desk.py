"""A page with forms for a person who has signed in: what all such pages do alike.

A form posts to its own page and names its deed. The deed becomes a request that the game process does with the rights
of this session, and no others: nothing here decides who may do what, except who may look. What was refused stands
beside its form, with the fields kept. Must not know: which pages and deeds there are.
"""

from __future__ import annotations

import abc
import base64
import binascii
import math
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from cgos_protocol.errors import Code, Refused
from cgos_server.service import requests as deeds
from cgos_server.service.authority import Sight, may_see
from cgos_server.web.people.sessions import (
    PRIVATE,
    Form,
    Visit,
    drop_cookie,
    is_ours,
    read_form,
    said_cookie,
    same,
    session_cookie,
    set_cookie,
    signed,
    to,
    to_sign_in,
    token_of,
    visit,
)
from cgos_server.web.site import Site

SECRET_FIELDS: Final = frozenset({"password", "old", "new", "new-again", "secret", "csrf"})
"""Fields that never come back to a page."""

NOT_OURS: Final = (
    "This form did not come from a page of yours here, or that page is too old. Nothing was done. Go back, load the "
    "page again and send the form once more."
)

_SAID_S = 60
_SAID_MAX = 1500


class Deed(NamedTuple):
    """Something that a form asks for.

    :ivar make: the request, from the form and what the page's address names; raises Refused
    :ivar warning: what is asked before it is done, from the same; None where it is done at once
    """

    make: Callable[[Form, Mapping[str, Any]], deeds.Request]
    warning: Callable[[Form, Mapping[str, Any]], str] | None = None


class Tried(NamedTuple):
    """A form that was refused: which one, why, and what was in it but secrets."""

    form: str = ""
    sentence: str = ""
    fields: Mapping[str, list[str]] = {}

    def kept(self, form: str, field: str, otherwise: str = "") -> str:
        """What the field held when it was sent, else its usual value."""
        return self.fields.get(field, [otherwise])[-1] if form == self.form else otherwise

    def ticked(self, form: str, field: str, value: str, otherwise: bool = False) -> bool:
        """Whether this choice was made when it was sent."""
        return value in self.fields.get(field, []) if form == self.form else otherwise


class Made(NamedTuple):
    """A secret that is seen once."""

    what: str
    secret: str


class Desk(abc.ABC):
    """One page with forms. Subclasses say its template, its values and its deeds.

    :cvar admin: True where only operators may look
    :cvar following: where to go when a deed was done; empty: to the same page
    """

    template = ""
    admin = False
    following = ""
    offers: Mapping[str, Deed] = {}

    def __init__(self, site: Site) -> None:
        self.site = site

    @abc.abstractmethod
    async def values(self, request: Request, here: Visit) -> dict[str, Any]:
        """What the template shows. Raises HTTPException 404 where this person may not see it."""

    async def other(self, _request: Request, _here: Visit, _form: Form) -> str | None:
        """Do what concerns the web process alone, and say what was done; None for a deed of :attr:`offers`. Raises
        Refused."""
        return None

    async def answer(self, request: Request) -> Response:
        """The page, or what becomes of a form of it."""
        here = await visit(self.site, request)
        if here is None:
            return to_sign_in(request)
        if self.admin:
            try:
                may_see(here.person, Sight.SERVER)
            except Refused as refusal:
                raise HTTPException(403, refusal.sentence) from refusal
        if request.method == "POST":
            return await self._do(request, here)
        return await self.page(request, here)

    async def page(
        self,
        request: Request,
        here: Visit,
        status: int = 200,
        *,
        tried: Tried | None = None,
        made: Made | None = None,
        **more: Any,
    ) -> Response:
        """The page as it is now."""
        values = await self.values(request, here) | more
        values.setdefault("here", "/account")
        said = told(self.site, request, here.session)
        response = self.site.render(
            self.template,
            status,
            person=here.person,
            token=token_of(here.session),
            tried=tried or Tried(),
            made=made,
            said=said,
            **values,
        )
        if request.cookies.get(said_cookie(self.site, request)) is not None:
            drop_cookie(self.site, request, response, said_cookie(self.site, request))
        response.headers.update(PRIVATE)
        return response

    async def _do(self, request: Request, here: Visit) -> Response:
        form = await read_form(request)
        if not is_ours(self.site, request, form, here.session):
            return refused_form(self.site)
        try:
            sentence = await self.other(request, here, form)
            if sentence is not None:
                return self.back(request, here, sentence)
            deed = self.offers.get(form.text("deed"))
            if deed is None:
                raise HTTPException(400)
            wanted = deed.make(form, request.path_params)
            if deed.warning is not None and form.text("sure") != "yes":
                return self._confirm(request, here, form, deed.warning(form, request.path_params))
            answer = await self.site.on_behalf(here.session, request, wanted)
        except Refused as refusal:
            if refusal.code is Code.NOT_SIGNED_IN:
                response = to_sign_in(request)
                drop_cookie(self.site, request, response, session_cookie(self.site, request))
                return response
            response = await self.page(request, here, status_of(refusal), tried=tried(form, refusal))
            return wait(response, refusal)
        return await self.done(request, here, answer)

    async def done(self, request: Request, here: Visit, answer: deeds.Response) -> Response:
        """What follows a deed that was done."""
        match answer:
            case deeds.TokenMade() | deeds.AccessMade():
                return await self.page(request, here, made=Made("token", answer.token))
            case deeds.WebhookMade():
                return await self.page(request, here, made=Made("secret of the webhook", answer.secret))
            case deeds.Ended():
                sentence = f"Game {answer.game.game} between {answer.game.black} and {answer.game.white} ended: "
                return self.back(request, here, f"{sentence}{answer.game.result}.")
            case deeds.Reloaded():
                return self.back(request, here, " ".join(answer.changes) or "Nothing has changed in the configuration.")
            case deeds.Previewed():
                return await self.page(request, here, preview=answer.preview)
            case deeds.Done():
                return self.back(request, here, answer.sentence)
        return self.back(request, here, "Done.")

    def back(self, request: Request, here: Visit, sentence: str, path: str | None = None) -> Response:
        """To the same page again, or to `path`, which says what was done; loading it once more does nothing twice."""
        response = to(path or self.following or _address(request))
        tell(self.site, request, response=response, secret=here.session, sentence=sentence)
        return response

    def _confirm(self, request: Request, here: Visit, form: Form, warning: str) -> Response:
        hidden = [
            (name, value)
            for name, values in form.fields.items()
            if name not in SECRET_FIELDS | {"sure"}
            for value in values
        ]
        response = self.site.render(
            "people/confirm.html",
            here="/account",
            token=token_of(here.session),
            warning=warning,
            hidden=hidden,
            back=_address(request),
        )
        response.headers.update(PRIVATE)
        return response


def _address(request: Request) -> str:
    """The page's own address, with its query."""
    query = request.scope["query_string"].decode("ascii", "replace")
    return quote(request.scope["path"]) + (f"?{query}" if query else "")


def tried(form: Form, refusal: Refused) -> Tried:
    """The form as it comes back to its page."""
    kept = {name: values for name, values in form.fields.items() if name not in SECRET_FIELDS}
    return Tried(form.text("form"), refusal.sentence, kept)


def status_of(refusal: Refused) -> int:
    """With which status a page says it."""
    if refusal.code in (Code.NO_SERVER, Code.OUR_FAULT):
        return 503
    return 429 if refusal.retry_after_s is not None else 422


def wait(response: Response, refusal: Refused) -> Response:
    """Say when another attempt makes sense, where waiting helps."""
    if refusal.retry_after_s is not None:
        response.headers["Retry-After"] = str(max(1, math.ceil(refusal.retry_after_s)))
    return response


def refused_form(site: Site) -> Response:
    """A form that is not ours."""
    response = site.render("failure.html", 403, title="Not from here", sentence=NOT_OURS)
    response.headers.update(PRIVATE)
    return response


def tell(site: Site, request: Request, response: Response, secret: str, sentence: str) -> None:
    """Let the next page say it. Signed, so that nobody else can put words on a page."""
    text = base64.urlsafe_b64encode(sentence.encode()[:_SAID_MAX]).decode()
    set_cookie(
        site,
        request,
        response=response,
        name=said_cookie(site, request),
        value=f"{text}.{signed(secret, 'said ' + text)}",
        lasts_s=_SAID_S,
    )


def told(site: Site, request: Request, secret: str) -> str:
    """What the page before has to say, empty for nothing."""
    text, _, mark = request.cookies.get(said_cookie(site, request), "").strip('"').partition(".")
    if not text or not same(mark, signed(secret, "said " + text)):
        return ""
    try:
        return base64.urlsafe_b64decode(text).decode(errors="ignore")
    except (binascii.Error, ValueError):
        return ""
