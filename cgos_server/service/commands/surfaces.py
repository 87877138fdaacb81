"""Where a command can be given: the command line, a route of the API, a form of a page, an operator's line.

Values only; `cli`, `web` and `live` make of them what people meet. A command has no surface that it does not name.
Must not know: single commands, click, HTTP.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from cgos_protocol.api.route import Limit


class _Line(msgspec.Struct, frozen=True):
    name: str
    help: str


class CommandLine(_Line, frozen=True, kw_only=True):
    """A command of `cgos-server`. Required fields without a sentence of their own are arguments, others options.

    :ivar name: with its group, such as ``bot disable``
    :ivar help: what its help says
    :ivar arguments: the arguments in their order, where that is not the fields' order
    :ivar server_only: True where only the running server is asked, and the database's lock is not tried
    """

    arguments: tuple[str, ...] = ()
    server_only: bool = False


class _Place(msgspec.Struct, frozen=True):
    id: str
    method: Literal["GET", "POST", "PUT", "DELETE"]
    path: str


class ApiRoute(_Place, frozen=True, kw_only=True):
    """A route of the API. What stands neither in the path nor is known to the server stands in the body.

    :ivar id: its name, unique
    :ivar path: under the API's prefix, its parameters in braces
    :ivar body: the name of the body's type
    :ivar body_says: what the body's description says
    :ivar summary: one sentence; empty: the first of the command's docstring
    :ivar about: what people should know besides, in Markdown
    :ivar required: fields that a body must have although the command has a default
    :ivar named: parameter of the path -> field, where they are called differently
    """

    body: str = ""
    body_says: str = ""
    summary: str = ""
    about: str = ""
    status: int = 200
    limit: Limit = Limit.REQUESTS
    required: tuple[str, ...] = ()
    named: Mapping[str, str] = {}


class _Form(msgspec.Struct, frozen=True):
    page: str
    button: str


class PageForm(_Form, frozen=True, kw_only=True):
    """A form of a page, which the page draws without knowing the command.

    :ivar page: the page's address; a field in braces is said by the address, and no form asks for it
    :ivar button: the word on its button
    :ivar place: where on the page it stands, by a name that its template has, such as a kind of row; empty: with all
        others for which there is no such place
    :ivar title: the heading above it; empty for none
    :ivar note: what people should know before; shown below the heading
    :ivar when: whether it is shown, asked of what its place shows (a bot, an account ...); None: always
    :ivar warning: what is asked before it is done, made of what was written (field -> text); a text has the fields in
        braces; empty where it is done at once
    :ivar grave: True where the color of the button warns
    :ivar fields: those that the form has; None: all
    :ivar groups: heading -> fields that stand folded up under it, in this order; those of the empty one stand above
        them, and then all that are in none
    :ivar fixed: fields whose value is always the same
    :ivar filled: what its fields hold at first, where it is not what the page says
    :ivar needed: texts that must not be empty although the command has a default
    :ivar typed: a word that must be typed before it is done
    """

    place: str = ""
    title: str = ""
    note: str = ""
    when: Callable[[Any], bool] | None = None
    warning: str | Callable[[Mapping[str, str]], str] = ""
    grave: bool = False
    fields: tuple[str, ...] | None = None
    groups: Mapping[str, tuple[str, ...]] = {}
    fixed: Mapping[str, str] = {}
    filled: Mapping[str, str] = {}
    needed: tuple[str, ...] = ()
    typed: str = ""

    def ask(self, written: Mapping[str, str]) -> str:
        """The warning for what was written."""
        return self.warning.format_map(written) if isinstance(self.warning, str) else self.warning(written)


class OperatorLine(msgspec.Struct, frozen=True):
    """A line of operators on a CGOS port: the command of :mod:`cgos_protocol.lines.admin` that it becomes."""

    line: type


Surface: TypeAlias = CommandLine | ApiRoute | PageForm | OperatorLine
