"""What went wrong as an answer of the API: status and ``application/problem+json`` (RFC 9457) of each failure.

Must not know: routes, pages.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Final

import msgspec
from starlette.responses import Response

from cgos_server.errors import CgosError, OurFault, Refused, StoreError
from cgos_server.protocol.api_messages import Problem
from cgos_server.protocol.api_route import PROBLEM, Limit
from cgos_server.web.limiting import TooMuch


class Wrong(Refused):
    """What was asked cannot be read, or is out of range.

    :ivar parameter: which part of it: a parameter's name, or ``body``
    """

    def __init__(self, parameter: str, sentence: str, status: int = 400) -> None:
        super().__init__("invalid", sentence)
        self.parameter = parameter
        self.status = status


class HttpRefused(Refused):
    """Refused with a status of its own, and headers that go with it."""

    def __init__(self, status: int, code: str, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(code, sentence)
        self.status = status
        self.headers = dict(headers or {})


STATUS: Final[Mapping[str, int]] = MappingProxyType(
    {
        # Not there. A prefix ``no-`` or ``unknown-`` says so unless it is listed here otherwise.
        "rating-system": 404,
        # Whoever asks may not, or is not known.
        "wrong-password": 401,
        "not-signed-in": 401,
        "expired": 401,
        "no-person": 401,
        "no-token": 401,
        "unknown-credential": 401,
        "not-yours": 403,
        "no-scope": 403,
        "scope": 403,
        "not-allowed": 403,
        "not-ours": 403,
        "forbidden": 403,
        "disabled": 403,
        "no-right": 403,
        "no-admin": 403,
        "registration-closed": 403,
        "accounts-closed": 403,
        # It does not go together with how things are.
        "already-arriving": 409,
        "already-here": 409,
        "ambiguous": 400,
        "draining": 409,
        "ending": 409,
        "exists": 409,
        "full": 409,
        "in-use": 409,
        "joined": 409,
        "leads": 409,
        "linked": 409,
        "name-taken": 409,
        "no-anchor": 409,
        "no-change": 409,
        "not-here": 409,
        "not-linked": 409,
        "not-paired": 409,
        "not-pending": 409,
        "not-rated": 409,
        "not-set-aside": 409,
        "no-owner": 409,
        "owned": 409,
        "revoked": 409,
        "running": 409,
        "same-player": 409,
        "same-version": 409,
        "itself": 409,
        "waits-approval": 409,
        # Too much.
        "too-many": 429,
        "too-many-failures": 429,
        # Not now.
        "busy": 503,
        "no-server": 503,
        "not-now": 503,
        "store": 503,
        # What it takes was not said.
        "no-password": 422,
        "no-reason": 422,
        "no-reload": 409,
        "no-players": 422,
    }
)
"""Code of a refusal -> status; one that is not here is about the input (422), unless it begins with ``no-`` or
``unknown-`` (404)."""


LIMITS: Final[Mapping[str, Limit]] = MappingProxyType(
    {"too-many": Limit.ACCOUNTS, "too-many-failures": Limit.PASSWORDS}
)
"""Code of what the game process refuses because it was too much -> the limit."""

AGAIN_S: Final = 60.0
"""After so long another attempt makes sense where nobody says it better."""


def status_of(code: str) -> int:
    """The status that goes with a refusal."""
    return STATUS.get(code) or (404 if code.startswith(("no-", "unknown-")) else 422)


def problem_of(failure: CgosError) -> Problem:
    """A failure in the API's one shape of errors."""
    if isinstance(failure, StoreError):
        return _problem(
            503, "store", "The database cannot be read just now. Games go on; please try again in a minute."
        )
    if isinstance(failure, OurFault) or not isinstance(failure, Refused):
        return our_fault()
    status = failure.status if isinstance(failure, Wrong | HttpRefused) else status_of(failure.code)
    limit, again = None, failure.retry_after_s
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        limit = failure.limit if isinstance(failure, TooMuch) else LIMITS.get(failure.code)
        again = AGAIN_S if again is None else again
    return _problem(
        status,
        failure.code,
        failure.sentence,
        again,
        parameter=failure.parameter if isinstance(failure, Wrong) else None,
        limit=limit,
    )


def our_fault() -> Problem:
    """Something failed on our side; it is in the log."""
    return _problem(500, "our-fault", "This failed, and that is our fault. It was noted in the server's log.")


def _problem(
    status: int,
    code: str,
    detail: str,
    retry_after_s: float | None = None,
    parameter: str | None = None,
    limit: str | None = None,
) -> Problem:
    return Problem(
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        code=code,
        retry_after_s=retry_after_s,
        parameter=parameter,
        limit=limit,
    )


def answered(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """The problem as an answer of HTTP."""
    more = dict(headers or {})
    if problem.retry_after_s is not None:
        more["Retry-After"] = str(max(1, math.ceil(problem.retry_after_s)))
    if problem.status == 401:
        more.setdefault("WWW-Authenticate", "Bearer")
    return Response(msgspec.json.encode(problem), problem.status, more, PROBLEM)


def failed(failure: CgosError) -> Response:
    """The failure as an answer of HTTP."""
    return answered(problem_of(failure), failure.headers if isinstance(failure, HttpRefused) else None)
