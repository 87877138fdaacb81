"""The one table of all routes of the API ``/api/v1``: what is read, and what commands declare.

Routing, OpenAPI, the documentation and their tests come of it. Must not know: who handles them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, cast

import msgspec

from cgos_protocol.api import people
from cgos_protocol.api.people import Body
from cgos_protocol.api.route import Needs, Operation
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.fields import Parameter, Source, parameters
from cgos_server.service.commands.registry import on
from cgos_server.service.commands.surfaces import ApiRoute
from cgos_server.web.api.reading.handlers import READING
from cgos_server.web.api.reading.operators import ADMIN
from cgos_server.web.api.reading.own import OWN, OWN_BOTS
from cgos_server.web.api.reading.parameters import IN_PATHS
from cgos_server.web.api.typed import param_of

_NEEDS: Final = {
    Right.OPERATOR: Needs.ADMIN,
    Right.OWN_BOT: Needs.BOTS,
    Right.OWN_BOT_IF_NAMED: Needs.BOTS,
    Right.OWN_WEBHOOK: Needs.BOTS,
    Right.OWN_QUESTION: Needs.BOTS,
    Right.SIGNED_IN: Needs.BOTS,
    Right.OWN_ACCESS: Needs.TOKEN,
    Right.SESSION: Needs.TOKEN,
    Right.STRANGER: Needs.NOTHING,
}
"""What a token must be made for, by the right; what has none of these has no route."""

ANSWERS: Final[Mapping[str, type[Any]]] = MappingProxyType(
    {"admin_status": people.ServerNow, "arrange_match": people.Arranged, "bot_now": people.OwnBotNow}
)
"""Operation id -> its answer, where that is less than the command answers, or made elsewhere."""


_ABOUT_BOTS: Final = ("/bots/", "/versions/", "/events/", "/questions/")
"""Paths of what owners do for their bots."""


def in_path(route: ApiRoute) -> dict[str, str]:
    """Parameter of the path -> field of the command."""
    return {name: route.named.get(name, name) for name in re.findall(r"{(\w+)}", route.path)}


def body_type(command: type[Command[Any]], route: ApiRoute) -> type[Body] | None:
    """What is sent: the fields that do not stand in the path; None where there is none."""
    if not route.body:
        return None
    elsewhere = in_path(route).values()
    fields = [
        _in_body(each, each.required or each.name in route.required)
        for each in parameters(command)
        if each.name not in elsewhere and each.field.source not in (Source.VISITOR, Source.MACHINE)
    ]
    says = {"__doc__": route.body_says}
    body: Any = msgspec.defstruct(
        route.body, fields, bases=(Body,), namespace=says, frozen=True, kw_only=True, forbid_unknown_fields=True
    )
    return cast(type[Body], body)


def _in_body(each: Parameter, required: bool) -> tuple[str, Any] | tuple[str, Any, Any]:
    return (each.name, each.body) if required else (each.name, each.body, each.default)


def _operation(command: type[Command[Any]], route: ApiRoute) -> Operation:
    needs = _NEEDS[command.allowed]
    return Operation(
        id=route.id,
        method=route.method,
        path=route.path,
        summary=route.summary or _first(inspect.getdoc(command) or ""),
        answer=ANSWERS.get(route.id) or command.answer(),
        group=ADMIN if needs is Needs.ADMIN else OWN_BOTS if route.path.startswith(_ABOUT_BOTS) else OWN,
        about=route.about,
        in_path=tuple(param_of(name, IN_PATHS[name]) for name in in_path(route)),
        body=body_type(command, route),
        status=route.status,
        needs=needs,
        limit=route.limit,
    )


def _first(docstring: str) -> str:
    """The first paragraph as one line."""
    return " ".join(docstring.partition("\n\n")[0].split())


WRITING: Final = tuple(_operation(command, route) for command, route in on(ApiRoute))
"""Those that commands declare."""

ROUTES: Final[tuple[Operation, ...]] = (*READING, *WRITING)
"""Every operation once."""

BY_ID: Final = MappingProxyType({operation.id: operation for operation in ROUTES})
"""Operation id -> operation."""
