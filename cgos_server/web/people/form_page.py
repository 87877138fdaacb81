"""A page with forms for a person who has signed in: what all such pages do alike.

A form posts to its own page and names its command, which the game process performs with the rights of this session, and
no others: nothing here decides who may have what done, except who may look. What was refused stands beside its form,
with the fields kept. Must not know: which pages and commands there are.
"""

from __future__ import annotations

import abc
import base64
import binascii
import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from cgos_protocol.api.people import Done, EndedGame, NewToken, NewWebhook, Previewed, Reloaded
from cgos_protocol.errors import Code, Refused
from cgos_server.service.commands.declaration import Command
from cgos_server.service.commands.surfaces import PageForm
from cgos_server.service.people.authority import Sight, may_see
from cgos_server.web.people import fields
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
from cgos_server.web.people.shown_forms import Declared, Offering, declared_for
from cgos_server.web.site import Site

SECRET_FIELDS: Final = frozenset({"password", "old", "new", "new-again", "secret", "csrf"})
"""Fields that never come back to a page."""

NOT_OURS: Final = (
    "This form did not come from a page of yours here, or that page is too old. Nothing was done. Go back, load the "
    "page again and send the form once more."
)

_SAID_S = 60
_SAID_MAX = 1500


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


class FormPage(abc.ABC):
    """One page with forms; under ``/admin`` only operators may look. Subclasses say its address, its template and its
    values; the forms are those that commands declare for the address.

    :cvar address: of the page whose forms these are
    :cvar following: where to go when a command was performed; empty: to the same page
    :cvar menu: the entry of the menu that it belongs to; empty: the account's, or the operators'
    """

    address = ""
    template = ""
    following = ""
    menu = ""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.forms = declared_for(self.address)
        self._operators = self.address.startswith("/admin")

    @abc.abstractmethod
    async def values(self, request: Request, here: Visit) -> dict[str, Any]:
        """What the template shows; `filled` and `choices` of it as in :class:`.shown_forms.Offering`. Raises
        HTTPException 404 where this person may not see it."""

    async def stranger(self, request: Request) -> Response:
        """What somebody gets who has not signed in."""
        return to_sign_in(request)

    def forms_for(self, _here: Visit) -> Declared:
        """Those of its forms that this person sees."""
        return self.forms

    async def other(self, _request: Request, _here: Visit, _form: Form) -> str | None:
        """Do what concerns the web process alone, and say what was done; None for a command. Raises
        Refused."""
        return None

    async def answer(self, request: Request) -> Response:
        """The page, or what becomes of a form of it."""
        here = await visit(self.site, request)
        if here is None:
            return await self.stranger(request)
        if self._operators:
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
        offering = Offering(
            forms=self.forms_for(here),
            address=request.path_params,
            filled=values.get("filled", {}),
            choices={"venue": {name: name for name in self.site.settings.venues}} | values.get("choices", {}),
        )
        sentence = sentence_before(self.site, request, here.session)
        response = self.site.render(
            self.template,
            status,
            here=self.menu or ("/admin" if self._operators else "/account"),
            person=here.person,
            token=token_of(here.session),
            tried=tried or Tried(),
            made=made,
            sentence_before=sentence,
            offered=offering.at,
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
            offered = self.forms.get(form.text("deed"))
            if offered is None:
                raise HTTPException(400)
            kind, declared = offered
            command, texts = self._read(kind, declared, form, request)
            if declared.warning and form.text("sure") != "yes":
                return self._confirm(request, here, form, declared.ask(texts))
            answer = await self.site.on_behalf(here.session, request, command)
        except Refused as refusal:
            if refusal.code is Code.NOT_SIGNED_IN:
                response = to_sign_in(request)
                drop_cookie(self.site, request, response, session_cookie(self.site, request))
                return response
            self.site.refused(refusal)
            response = await self.page(request, here, status_of(refusal), tried=tried(form, refusal))
            return wait(response, refusal)
        return await self.done(request, here, answer, form)

    def _read(
        self, kind: type[Command[Any]], declared: PageForm, form: Form, request: Request
    ) -> tuple[Command[Any], Mapping[str, str]]:
        """The command of the form, and the texts of which it is made by the command's fields. Raises Refused."""
        address: dict[str, str] = request.path_params
        texts = defaultdict(str, {name: form.text(name) for name in form.fields} | address)
        reading = fields.Reading(form, self.site.now_ms(), self.site.visitor(request), address)
        return reading.command(kind, declared), texts

    async def done(self, request: Request, here: Visit, answer: Any, _form: Form) -> Response:
        """What follows a command that was performed, as the form says it."""
        match answer:
            case NewToken():
                return await self.page(request, here, made=Made("token", answer.token))
            case NewWebhook():
                return await self.page(request, here, made=Made("secret of the webhook", answer.secret))
            case EndedGame():
                sentence = f"Game {answer.game} between {answer.black} and {answer.white} ended: {answer.result}."
                return self.back(request, here, sentence)
            case Reloaded():
                return self.back(request, here, " ".join(answer.changes) or "Nothing has changed in the configuration.")
            case Previewed():
                return await self.page(request, here, preview=answer)
            case Done():
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


def sentence_before(site: Site, request: Request, secret: str) -> str:
    """What the page before has to say, empty for nothing."""
    text, _, mark = request.cookies.get(said_cookie(site, request), "").strip('"').partition(".")
    if not text or not same(mark, signed(secret, "said " + text)):
        return ""
    try:
        return base64.urlsafe_b64decode(text).decode(errors="ignore")
    except (binascii.Error, ValueError):
        return ""
