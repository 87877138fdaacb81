"""A server elsewhere, over its API: what an author's CI asks, with a token.

Every request has a deadline; the token goes to that address alone, never where a server sends on to. Refusals are those
of the server. Must not know: questions, how an answer is shown.
"""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from cgos_protocol.api.messages import Index, Problem
from cgos_protocol.api.route import PREFIX
from cgos_protocol.errors import Code, Invalid, Refused, Unauthenticated, Unavailable
from cgos_server import __version__
from cgos_server.service.commands.declaration import Command
from cgos_server.service.commands.surfaces import ApiRoute

T = TypeVar("T")
A = TypeVar("A")

SILENCE_S: Final = 20.0
"""Nothing comes for so long: the server is gone."""

DEADLINE_S: Final = 60.0
"""An answer is complete by then."""

LARGEST: Final = 32 * 2**20
"""Bytes of an answer."""

_CHUNK: Final = 2**16


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The token is for one address."""

    def redirect_request(self, *_: object) -> None:
        return None


class Elsewhere:
    """One server.

    :param address: that of its pages, such as ``https://cgos.example.org``
    :param token: of its API; None for reading alone
    :raises Invalid: that is no such address
    """

    def __init__(self, address: str, token: str | None = None) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise Invalid(
                Code.INVALID, f"{address!r} is no address of a server. Give one such as https://cgos.example.org."
            )
        self.address = address.rstrip("/")
        self._token = token
        self._opener = urllib.request.build_opener(_NoRedirects)

    def get(self, path: str, kind: type[T], query: Mapping[str, object] | None = None) -> T:
        """What a reading route answers. Raises Refused.

        :param path: below the API's prefix
        :param query: those that are None are left out
        """
        asked = {name: value for name, value in (query or {}).items() if value is not None}
        answer: T = _decoded(self._ask("GET", path + (f"?{urlencode(asked)}" if asked else "")), kind)
        return answer

    def perform(self, command: Command[A]) -> A:
        """Have the server perform a command that the API has. Raises Refused."""
        if self._token is None:
            raise Unauthenticated(
                Code.NO_TOKEN,
                "This needs a token of the server's API with the scope bots. Give it by --token-file or in the "
                "environment variable CGOS_TOKEN.",
            )
        (route,) = command.on(ApiRoute)
        path, body = request_of(command, route)
        answer: A = _decoded(self._ask(route.method, path, body), command.answer())
        return answer

    def venue(self, named: str | None) -> str:
        """The named venue, or the only one that the server has. Raises Refused."""
        if named is not None:
            return named
        venues = self.get("", Index).venues
        if len(venues) != 1:
            raise Invalid(Code.INVALID, f"There are several venues. Say --venue, one of: {', '.join(venues)}.")
        return venues[0]

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> bytes:
        headers = {"Accept": "application/json", "User-Agent": f"cgos-server/{__version__}"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        if body is not None:
            headers["Content-Type"] = "application/json"
        data = None if body is None else msgspec.json.encode(body)
        request = urllib.request.Request(self.address + PREFIX + path, data, headers, method=method)
        until = time.monotonic() + DEADLINE_S
        try:
            with self._opener.open(request, timeout=SILENCE_S) as response:
                return self._read(response, until)
        except urllib.error.HTTPError as error:
            with error:
                raise self._refused(error, until) from error
        except (OSError, http.client.HTTPException) as error:
            why = getattr(error, "reason", None) or error
            raise Unavailable(Code.NO_SERVER, f"{self.address} does not answer: {why}.") from error

    def _read(self, response: Any, until: float) -> bytes:
        """All of an answer. Raises Unavailable, OSError, HTTPException."""
        parts, size = [], 0
        while part := response.read1(_CHUNK):
            parts.append(part)
            size += len(part)
            if size > LARGEST or time.monotonic() > until:
                raise Unavailable(Code.NO_SERVER, f"{self.address} answers without an end, or too slowly.")
        return b"".join(parts)

    def _refused(self, error: urllib.error.HTTPError, until: float) -> Refused:
        """What the server says, or that it is none of ours."""
        try:
            problem = msgspec.json.decode(self._read(error, until), type=Problem)
            return Refused.of(msgspec.convert(problem.code, Code), problem.detail, problem.retry_after_s)
        except (msgspec.MsgspecError, ValueError, OSError, http.client.HTTPException):
            where = error.headers.get("Location")
            sends = f" It sends on to {where}: give that address." if where else ""
            return Unavailable(
                Code.NO_SERVER, f"{self.address} answers {error.code} and is no server with this API.{sends}"
            )


def request_of(command: Command[Any], route: ApiRoute) -> tuple[str, dict[str, Any] | None]:
    """Path and body of a command on its route. What is as by default is left out."""
    values = {field.name: getattr(command, field.name) for field in msgspec.structs.fields(command)}
    in_path: dict[str, str] = {}
    for part in route.path.split("{")[1:]:
        name = part.partition("}")[0]
        in_path[name] = quote(str(values.pop(route.named.get(name, name))), safe="")
    if not route.body:
        return route.path.format_map(in_path), None
    defaults = {field.name: field.default for field in msgspec.structs.fields(command)}
    body = {name: value for name, value in values.items() if name != "actor" and value != defaults[name]}
    return route.path.format_map(in_path), msgspec.to_builtins(body)


def _decoded(answer: bytes, kind: Any) -> Any:
    try:
        return msgspec.json.decode(answer, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Unavailable(
            Code.NO_SERVER, f"The server's answer is not one of this program's version: {error}."
        ) from error
