"""Who asks the API, and whether it may see what it asks for.

Must not know: operations, what is shown.
"""

from __future__ import annotations

from starlette.requests import Request

from cgos_server.service.people.authority import Sight, may_see
from cgos_server.service.people.passwords import digest, lets_people_in
from cgos_server.storage.reading.stored import Person
from cgos_server.web.api.framework import bearer
from cgos_server.web.site import Site


async def person_of(site: Site, request: Request, sight: Sight, owner: int | None = None) -> Person:
    """Whoever asks, if it may see this: see :func:`cgos_server.service.people.authority.may_see`."""
    credential, person = bearer(request), None
    if lets_people_in(credential):
        person = await site.history.people.person(digest(credential), site.now_ms())
    return may_see(person, sight, owner)
