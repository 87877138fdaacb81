"""What is answered where there is nothing to show: 404 and its like, a database that does not answer, a fault of ours.

Must not know: the addresses.
"""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from cgos_protocol.errors import Refused, StoreError
from cgos_server.observability.web_metrics import Lack
from cgos_server.web.site import Site


async def refused(site: Site, _request: Request, error: Exception) -> Response:
    """Nothing here, or not so: 404, 405 and their like."""
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, Refused):
        site.refused(error.__cause__)
    elif error.status_code == 503:
        site.metrics.limited[Lack.OTHER] += 1
    sentence = (
        error.detail
        if error.status_code in (400, 403, 404, 503) and error.detail not in ("Bad Request", "Forbidden", "Not Found")
        else _SENTENCES.get(error.status_code, "The server does not answer this request.")
    )
    return site.render("failure.html", error.status_code, title=_TITLES.get(error.status_code, "No"), sentence=sentence)


async def unreadable(site: Site, _request: Request, error: Exception) -> Response:
    """The database does not answer."""
    assert isinstance(error, StoreError)
    site.refused(error)
    sentence = "The database cannot be read just now. Games go on; please try again in a minute."
    return site.render("failure.html", 503, title="Not now", sentence=sentence)


async def failed(site: Site, _request: Request, _error: Exception) -> Response:
    """A fault of ours; it is in the log."""
    sentence = "This page failed, and that is our fault. It was noted in the server's log. Games are not affected."
    return site.render("failure.html", 500, title="Our fault", sentence=sentence)


_TITLES = {400: "Bad request", 403: "Not for you", 404: "Not here", 405: "Not so", 503: "Not now"}
_SENTENCES = {
    400: "This request cannot be understood.",
    404: "There is no page at this address. The venues, with all their games and bots, are linked above.",
    405: "Nothing can be sent to this page.",
    408: "The form did not arrive in time. Please send it again.",
    413: "This form is too long.",
    415: "Only forms of these pages can be sent here.",
}
