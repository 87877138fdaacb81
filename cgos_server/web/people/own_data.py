"""One's own data as a file, for whoever is signed in on the pages.

Counts as a bulk download. Must not know: what stands in the file.
"""

from __future__ import annotations

from contextlib import ExitStack

from starlette.requests import Request
from starlette.responses import Response

from cgos_protocol.api.route import Limit
from cgos_server.web.api.reading.exports import personal_data
from cgos_server.web.around.limiting import TooMuch
from cgos_server.web.people.sessions import PRIVATE, to_sign_in, visit
from cgos_server.web.site import Site


async def answer(site: Site, request: Request, *, packed: bool) -> Response:
    """The file, or why it cannot be had just now."""
    here = await visit(site, request)
    if here is None:
        return to_sign_in(request)
    with ExitStack() as held:
        try:
            held.enter_context(site.limits.slot(Limit.BULK, site.visitor(request)))
        except TooMuch as refusal:
            busy = site.render("failure.html", 429, title="Too much at once", sentence=refusal.sentence)
            busy.headers.update(PRIVATE)
            return busy
        response = await personal_data(site, here.person, packed=packed)
        response.ended = held.pop_all().close
    return response
