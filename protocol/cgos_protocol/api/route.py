"""The words in which the routes of the API are written down: operations, parameters, scopes, limits.

Must not know: which routes there are, who handles them.
"""

from __future__ import annotations

import enum
from typing import Any, Final, Literal, NamedTuple

from cgos_protocol.options import Option

PREFIX: Final = "/api/v1"
"""Where all paths begin."""

LARGEST: Final = 2**53 - 1
"""The largest number that a parameter may be: every reader of JSON holds it exactly, and what is added to it stays in
the 64 bits of a database."""

LONGEST: Final = 200
"""Characters of a parameter's text, at most, unless it says so itself."""

JSON: Final = "application/json"
SGF: Final = "application/x-go-sgf"
NDJSON: Final = "application/x-ndjson"
SSE: Final = "text/event-stream"
CSV: Final = "text/csv"
TEXT: Final = "text/plain"
TAR: Final = "application/x-tar"
ZIP: Final = "application/zip"
PROBLEM: Final = "application/problem+json"


class Limit(enum.StrEnum):
    """What is limited, by the name that an answer 429 gives in its field `limit`."""

    REQUESTS = "requests"
    """Requests of one address in a minute."""
    BULK = "bulk"
    """Exports at once, of everybody together."""
    STREAMS = "streams"
    """Live streams at once, of one address and of everybody together."""
    SIGN_IN = "sign-in"
    """Attempts to sign in, of one address."""
    PASSWORDS = "passwords"
    """Wrong passwords for one name from one address."""
    ACCOUNTS = "accounts"
    """Accounts that are made from one address."""
    RECOMPUTE = "recompute"
    """Standings that are computed again, one at a time, and events that are rehearsed: not often for one address."""


class Needs(enum.StrEnum):
    """What a token must be made for."""

    NOTHING = "none"
    """Anybody may, without a token."""
    TOKEN = "token"
    """Any valid token."""
    BOTS = "bots"
    ADMIN = "admin"


class Param(NamedTuple):
    """A parameter of the path or the query.

    :ivar option: what it may be; the texts of a list have commas between them
    :ivar about: what it is for
    :ivar default: what holds without it; None: nothing does, or that is the handler's to say
    """

    name: str
    option: Option
    about: str
    default: str | int | bool | None = None


class Operation(NamedTuple):
    """One method at one path.

    :ivar id: its name, unique
    :ivar path: under :data:`PREFIX`, its parameters in braces
    :ivar answer: the type of the JSON answer, or of one line of a stream of JSON; a tuple where it
        depends on the query; None where it is something else
    :ivar about: what people should know besides the summary, in Markdown
    :ivar body: the type of the JSON body that is sent
    :ivar media: media types of the answer
    :ivar group: a heading of the documentation
    :ivar in_path: the parameters of the path, in its order
    :ivar also: what the operation counts for besides `limit`
    :ivar empty: when it answers 204, with nothing; empty where it never does
    """

    id: str
    method: Literal["GET", "POST", "PUT", "DELETE"]
    path: str
    summary: str
    answer: Any
    group: str
    about: str = ""
    query: tuple[Param, ...] = ()
    body: Any = None
    media: tuple[str, ...] = (JSON,)
    status: int = 200
    needs: Needs = Needs.NOTHING
    limit: Limit = Limit.REQUESTS
    in_path: tuple[Param, ...] = ()
    also: tuple[Limit, ...] = ()
    empty: str = ""

    @property
    def streams(self) -> bool:
        """True where the answer has no end that one should wait for."""
        return self.limit in (Limit.BULK, Limit.STREAMS)

    @property
    def reads(self) -> bool:
        """True for what changes nothing."""
        return self.method == "GET"
