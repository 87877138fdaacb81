"""Sends visitors who came without encryption on to the same page with it, and says nothing else.

Must not know: which pages there are.
"""

from __future__ import annotations

import re
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

HOST: Final = re.compile(r"([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:\d{1,5})?")
"""What may stand in the header `Host`: a name or an address, and perhaps a port. A stranger's word, which goes into
links."""

_HTTPS: Final = 443


def redirecting(public_url: str, port: int) -> ASGIApp:
    """The application.

    :param public_url: the pages' address without a slash at its end; empty: the host that was asked for
    :param port: where that host speaks TLS
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        host = HOST.fullmatch(Headers(scope=scope).get("host", ""))
        path: bytes = scope["raw_path"]
        if not path.startswith(b"/") or not (public_url or host):
            response = PlainTextResponse("This port only leads to https, and not from there.\n", 400)
        else:
            base = public_url or (host and f"https://{host[1]}" + ("" if port == _HTTPS else f":{port}"))
            query = scope["query_string"]
            where = f"{base}{path.decode('latin-1')}" + (f"?{query.decode('latin-1')}" if query else "")
            response = PlainTextResponse(f"{where}\n", 308, {"Location": where})
        await response(scope, receive, send)

    return answer
