"""What handlers of owners' and operators' deeds share: who asks, and what the game process answers to a deed.

Must not know: single deeds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from cgos_protocol.api import people
from cgos_protocol.errors import OurFault
from cgos_server.service import requests as deeds
from cgos_server.service.authority import Sight, may_see
from cgos_server.service.passwords import digest, lets_people_in
from cgos_server.storage.reading.stored import Person
from cgos_server.web.api.framework import Asked, Handler
from cgos_server.web.site import Site

R = TypeVar("R", bound=deeds.Response)


async def person_of(site: Site, asked: Asked, sight: Sight, owner: int | None = None) -> Person:
    """Whoever asks, if it may see this: see :func:`cgos_server.service.authority.may_see`."""
    found = None
    if lets_people_in(asked.credential):
        found = await site.history.people.person(digest(asked.credential), site.now_ms())
    return may_see(found, sight, owner)


def doing(site: Site, build: Callable[[Asked], deeds.Request]) -> Handler:
    """The handler of a deed that is answered with a sentence; `build` says what the game process is asked for."""

    async def handler(asked: Asked) -> people.Done:
        return people.Done(sentence=(await answered(site, asked, build(asked), deeds.Done)).sentence)

    return handler


async def answered(site: Site, asked: Asked, deed: deeds.Request, kind: type[R]) -> R:
    """Have it done with the rights of whoever asks; the answer is to be of `kind`. Raises Refused, OurFault."""
    return expected(await site.on_behalf(asked.credential, asked.request, deed), kind)


def expected(answer: deeds.Response, kind: type[R]) -> R:
    """The answer as what it is to be. Raises OurFault."""
    if not isinstance(answer, kind):
        raise OurFault(f"the server answered with {type(answer).__name__} where {kind.__name__} was expected")
    return answer
