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

from cgos_protocol.api.messages import Problem
from cgos_protocol.api.route import PROBLEM, Limit
from cgos_protocol.errors import CgosError, Code, Invalid, OurFault, RateLimited, Refused, StoreError
from cgos_server.observability.web_metrics import Lack
from cgos_server.web.around.limiting import TooMuch


class Wrong(Invalid):
    """What was asked cannot be read, or is out of range.

    :ivar parameter: which part of it: a parameter's name, or ``body``
    """

    def __init__(self, parameter: str, sentence: str, status: int = 400) -> None:
        super().__init__(Code.INVALID, sentence)
        self.parameter = parameter
        self.status = status


class HttpRefused(Invalid):
    """What only HTTP knows is wrong with a request: a status of its own, and headers that go with it."""

    def __init__(self, status: int, code: Code, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(code, sentence)
        self.status = status
        self.headers = dict(headers or {})


LIMITS: Final[Mapping[Code, Limit]] = MappingProxyType(
    {Code.TOO_MANY: Limit.ACCOUNTS, Code.TOO_MANY_FAILURES: Limit.PASSWORDS}
)
"""Code of what the game process refuses because it was too much -> the limit."""

_LACKS: Final[Mapping[str, Lack]] = MappingProxyType({Code.STORE: Lack.DATABASE, Code.NO_SERVER: Lack.SERVER})

AGAIN_S: Final = 60.0
"""After so long another attempt makes sense where nobody says it better."""


def problem_of(failure: CgosError, status: int | None = None) -> Problem:
    """A failure in the API's one shape of errors.

    :param status: instead of the one that its class has
    """
    if isinstance(failure, StoreError):
        return _problem(
            503, Code.STORE, "The database cannot be read just now. Games go on; please try again in a minute."
        )
    if isinstance(failure, OurFault) or not isinstance(failure, Refused):
        return our_fault()
    limit, again = None, failure.retry_after_s
    if isinstance(failure, RateLimited):
        limit = failure.limit if isinstance(failure, TooMuch) else LIMITS.get(failure.code)
        again = AGAIN_S if again is None else again
    return _problem(
        status or failure.status,
        failure.code,
        failure.sentence,
        again,
        parameter=failure.parameter if isinstance(failure, Wrong) else None,
        limit=limit,
    )


def lack_of(problem: Problem) -> Limit | Lack | None:
    """What another attempt later may find: a limit that is not reached any more, or what was lacking; None where the
    problem stays."""
    if problem.limit is not None:
        return Limit(problem.limit)
    return _LACKS.get(problem.code, Lack.OTHER) if problem.status in (429, 503) else None


def our_fault() -> Problem:
    """Something failed on our side; it is in the log."""
    return _problem(500, Code.OUR_FAULT, "This failed, and that is our fault. It was noted in the server's log.")


def _problem(
    status: int,
    code: Code,
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


def failed(failure: CgosError, status: int | None = None) -> Response:
    """The failure as an answer of HTTP, see :func:`problem_of`."""
    return answered(problem_of(failure, status), failure.headers if isinstance(failure, HttpRefused) else None)
