"""The words in which the routes of the API are written down: operations, parameters, scopes, limits.

Must not know: which routes there are, who handles them.
"""

from __future__ import annotations

import enum
import re
from typing import Any, Final, Literal, NamedTuple

from cgos_protocol.names import NAME_PATTERN

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
TAR: Final = "application/x-tar"
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
    """Standings that are computed again: one at a time, and not often for one address."""


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

    :ivar kind: ``names`` is a list of names with commas between them
    :ivar least: smallest number
    :ivar most: greatest number; of a text or of each name the greatest length; of names their greatest number is `many`
    :ivar choices: the words to choose from
    :ivar pattern: what a text, or each name, that there can be looks like; others are only not there
    :ivar default: what holds without it; None: nothing does, or that is the handler's to say
    """

    name: str
    kind: Literal["text", "number", "flag", "names"]
    about: str
    least: int = 0
    most: int = LARGEST
    choices: tuple[str, ...] = ()
    default: str | int | bool | None = None
    many: int = 200
    pattern: str = ""


def name_param(name: str, about: str) -> Param:
    """The name of a venue, a bot, a version or an account."""
    return Param(name=name, kind="text", about=about, least=1, most=64, pattern=NAME_PATTERN)


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
    :ivar in_path: the parameters of the path, in its order; empty: those that :data:`IN_PATH` has under their names
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

    def params(self) -> list[Param]:
        """The parameters of its path."""
        return list(self.in_path) or [IN_PATH[name] for name in re.findall(r"{(\w+)}", self.path)]


IN_PATH: Final = {
    param.name: param
    for param in (
        name_param("venue", "Name of a venue."),
        name_param("bot", "Name of a bot."),
        name_param("version", "Name of a version."),
        Param("game", "number", "Number of a game.", 1),
        Param("token", "number", "Number of a token.", 1),
        Param("webhook", "number", "Number of a webhook.", 1),
        name_param("account", "Name of a person's account."),
        Param("right", "text", "What an account may be given.", choices=("admin",)),
    )
}
"""Parameters of the paths of the deeds' routes; of a text `least` and `most` are lengths."""
