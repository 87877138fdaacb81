"""Asks a server's API over HTTP: one answer or a stream of lines, with deadlines, and refusals as exceptions.

An answer 429 or 503 that says when to come again is waited for, within bounds. Must not know: which operations there
are, what the answers mean.
"""

from __future__ import annotations

import contextlib
import gzip
import http.client
import io
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from email.message import Message
from types import MappingProxyType
from typing import IO, Any, Final, cast
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from cgos_client.addresses import proxy_before
from cgos_client.errors import CannotConnect, CgosClientError, ConnectionLost, ServerFault
from cgos_client.settings import BadSetting
from cgos_protocol.api.messages import Problem
from cgos_protocol.api.route import NDJSON, PREFIX

BROKEN: Final = (OSError, http.client.HTTPException, EOFError, zlib.error)
"""What reading raises where a connection breaks."""

_LARGEST_ANSWER: Final = 256 * 2**20
_LONGEST_LINE: Final = 16 * 2**20
_PORTS: Final = MappingProxyType({"http": 80, "https": 443})
_WORTH_WAITING: Final = frozenset((429, 503))

Value = str | int | bool | None


class ApiRefused(CgosClientError):
    """The API does not answer what was asked; its sentence says why.

    :ivar status: of HTTP
    :ivar problem: the whole of what the server said
    """

    def __init__(self, problem: Problem, retry_after: float | None = None) -> None:
        super().__init__(problem.code, problem.detail or problem.title, retry_after=retry_after)
        self.status = problem.status
        self.problem = problem


@dataclass(kw_only=True, repr=False)
class Http:
    """The way to one server's API. Its token is never shown.

    :ivar server: ``http://host:8080``
    :ivar token: of the API; None for what anybody may read
    :ivar timeout: seconds without a byte after which a connection counts as broken
    :ivar patience: seconds that one call may spend waiting where the server says when to come again; 0: not at all
    :raises BadSetting: the server's address is none
    """

    server: str
    token: str | None
    timeout: float
    patience: float
    sleep: Callable[[float], None]

    def __post_init__(self) -> None:
        server, parts = self.server, urlsplit(self.server)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise BadSetting(f"{server!r} is not the address of a server's pages. Give one such as http://host:8080.")
        self._base = server.rstrip("/") + PREFIX
        # A token must not follow the server's word to another host, so nothing follows at all.
        self._opener = urllib.request.build_opener(_NoRedirects)

    def answer(
        self, path: str, query: Mapping[str, Value], accept: str = "application/json", least_s: float = 0.0
    ) -> bytes:
        """The whole answer. Raises ApiRefused, CannotConnect, ConnectionLost.

        :param least_s: seconds that a healthy server may need before it says anything
        """
        with self._opened(path, query, accept, max(self.timeout, least_s)) as (body, _):
            try:
                data = body.read(_LARGEST_ANSWER + 1)
            except BROKEN as error:
                raise _lost(error) from error
        if len(data) > _LARGEST_ANSWER:
            raise ServerFault(f"The answer of {path} is longer than {_LARGEST_ANSWER} bytes.")
        return data

    def lines(
        self, path: str, query: Mapping[str, Value], timeout: float | None, known: dict[str, str]
    ) -> Iterator[bytes]:
        """The lines of a stream, empty ones left out. Raises as :meth:`answer`; ConnectionLost where it breaks.

        :param known: gets what is to be asked with it when the stream is opened again where it broke
        """
        with self._opened(path, query, NDJSON, timeout or self.timeout) as (body, headers):
            if "Incarnation" in headers:
                known["incarnation"] = headers["Incarnation"]
            while True:
                try:
                    line = body.readline(_LONGEST_LINE)
                except BROKEN as error:
                    raise _lost(error) from error
                if not line:
                    return
                if not line.endswith(b"\n"):
                    raise _lost(EOFError("the last line is not whole"))
                if line.strip():
                    yield line

    def download(self, path: str, query: Mapping[str, Value], target: IO[bytes]) -> int:
        """Write an answer of any length to a file; its length in bytes. Raises as :meth:`answer`."""
        length = 0
        with self._opened(path, query, "*/*", self.timeout) as (body, _):
            while True:
                try:
                    portion = body.read(1 << 16)
                except BROKEN as error:
                    raise _lost(error) from error
                if not portion:
                    return length
                target.write(portion)
                length += len(portion)

    @contextlib.contextmanager
    def _opened(
        self, path: str, query: Mapping[str, Value], accept: str, timeout: float
    ) -> Iterator[tuple[IO[bytes], Message]]:
        waited = 0.0
        while True:
            try:
                response = self._response(path, query, accept, timeout)
                break
            except ApiRefused as refused:
                pause = refused.retry_after
                if refused.status not in _WORTH_WAITING or pause is None or waited + pause > self.patience:
                    raise
                pause = max(pause, 0.1)
                waited += pause
                self.sleep(pause)
        with response:
            packed = response.headers.get("Content-Encoding", "").lower() == "gzip"
            body = cast("IO[bytes]", response)
            if packed:
                body = cast("IO[bytes]", io.BufferedReader(cast("Any", gzip.GzipFile(fileobj=body))))
            yield body, response.headers

    def _response(self, path: str, query: Mapping[str, Value], accept: str, timeout: float) -> http.client.HTTPResponse:
        given = {name: _word(value) for name, value in query.items() if value is not None}
        url = f"{self._base}{path}" + (f"?{urlencode(given)}" if given else "")
        # A live stream's lines would wait in a packed block.
        headers = {"Accept": accept, "User-Agent": "cgos-client"}
        if not path.endswith("/live"):
            headers["Accept-Encoding"] = "gzip"
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        request = urllib.request.Request(url, headers=headers)
        try:
            response: http.client.HTTPResponse = self._opener.open(request, timeout=timeout)
        except urllib.error.HTTPError as error:
            with error:
                raise _refusal(error) from error
        except (urllib.error.URLError, *BROKEN) as error:
            reason = getattr(error, "reason", None) or error or type(error).__name__
            parts = urlsplit(self.server)
            proxy = proxy_before(parts.hostname or "", parts.port or _PORTS[parts.scheme], (parts.scheme,))
            if proxy is not None:
                raise CannotConnect(
                    f"{proxy} before {self._base} does not answer: {reason}; {proxy.remedy}."
                ) from error
            what = "cannot be reached" if isinstance(error, urllib.error.URLError) else "does not answer"
            raise CannotConnect(f"{self._base} {what}: {reason}.") from error
        return response


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_args: Any) -> None:
        return None


def path_of(*parts: str | int) -> str:
    """A path of these parts, each of which may hold anything."""
    return "".join("/" + quote(str(part), safe="") for part in parts)


def decoded(data: bytes, kind: Any) -> Any:
    """The value of JSON. Raises ServerFault where it is another one."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.DecodeError as error:
        raise ServerFault(f"The server's answer cannot be read: {error}.") from error


def _word(value: Value) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _lost(error: BaseException) -> ConnectionLost:
    return ConnectionLost(f"The connection broke while the answer was read: {error or type(error).__name__}.")


def _refusal(error: urllib.error.HTTPError) -> CgosClientError:
    try:
        data = error.read(1 << 20)
        if error.headers.get("Content-Encoding", "").lower() == "gzip":
            data = gzip.decompress(data)
    except BROKEN as broken:
        return _lost(broken)
    seconds = error.headers.get("Retry-After", "")
    retry_after = float(seconds) if seconds.isascii() and seconds.isdecimal() else None
    try:
        return ApiRefused(msgspec.json.decode(data, type=Problem), retry_after)
    except msgspec.DecodeError:
        if 300 <= error.code < 400:
            return CannotConnect(f"The server has moved to {error.headers.get('Location')}: use that address.")
        sentence = f"The server says {error.code} {error.reason}."
        problem = Problem(title=str(error.reason), status=error.code, detail=sentence, code="http")
        return ApiRefused(problem, retry_after)
