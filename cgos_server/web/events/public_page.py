"""A page that anybody may read, with forms for whoever has signed in.

Must not know: which pages and commands there are.
"""

from __future__ import annotations

import abc
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from cgos_server.service.commands.declaration import Right
from cgos_server.web.people.form_page import FormPage
from cgos_server.web.people.sessions import Visit
from cgos_server.web.people.shown_forms import Declared


class PublicPage(FormPage):
    """Strangers see it without forms, operators alone the forms of their commands."""

    async def stranger(self, request: Request) -> Response:
        if request.method == "POST":
            return await super().stranger(request)
        values = await self.shown(request)
        return self.site.render(self.template, here=self.menu, person=None, **values)

    def forms_for(self, here: Visit) -> Declared:
        if here.person.admin:
            return self.forms
        return {word: each for word, each in self.forms.items() if each[0].allowed is not Right.OPERATOR}

    async def values(self, request: Request, here: Visit) -> dict[str, Any]:
        shown = await self.shown(request)
        return shown | await self.own(request, here, shown)

    @abc.abstractmethod
    async def shown(self, request: Request) -> dict[str, Any]:
        """What everybody sees. Raises HTTPException 404."""

    async def own(self, _request: Request, _here: Visit, _shown: dict[str, Any]) -> dict[str, Any]:
        """What the template shows besides to a person who has signed in."""
        return {}


def not_there(sentence: str) -> HTTPException:
    """A page that is not there."""
    return HTTPException(404, sentence)
