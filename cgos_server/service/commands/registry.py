"""All commands, and how they travel: as JSON on the control socket and inside what is asked on somebody's behalf.

Must not know: what a command does.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Final, TypeVar, Union

import msgspec

from cgos_protocol.errors import CgosError, Code, Refused
from cgos_server.service.commands import (
    accounts,
    availability,
    bots,
    families,
    games,
    ownership,
    ratings,
    server,
    sessions,
    successions,
    tokens,
    webhooks,
)
from cgos_server.service.commands.context import CommandContext
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.surfaces import Surface
from cgos_server.service.events import commands as events
from cgos_server.service.nodes import commands as nodes
from cgos_server.service.personal import commands as personal
from cgos_server.service.questions import commands as questions

A = TypeVar("A")
S = TypeVar("S", bound=Surface)


class OnBehalf(Command[Any], frozen=True, kw_only=True, tag="on behalf"):
    """Perform `request` with the rights of whoever has this session or token, and no others.

    :ivar credential: the session's or token's text
    :ivar address: the person's
    :ivar request: any other command as JSON; its `actor` is not believed
    """

    allowed = Right.NOBODY
    audited = None

    credential: str
    address: str
    request: msgspec.Raw

    async def perform(self, context: CommandContext) -> Any:
        """:class:`cgos_server.service.admin.Admin` looks at the rights and performs the command inside."""
        raise NotImplementedError


COMMANDS: Final[tuple[type[Command[Any]], ...]] = (
    *sessions.COMMANDS,
    *tokens.COMMANDS,
    *webhooks.COMMANDS,
    *ownership.COMMANDS,
    *availability.COMMANDS,
    *bots.COMMANDS,
    *families.COMMANDS,
    *successions.COMMANDS,
    *games.COMMANDS,
    *ratings.COMMANDS,
    *events.COMMANDS,
    *questions.COMMANDS,
    *server.COMMANDS,
    *accounts.COMMANDS,
    *personal.COMMANDS,
    *nodes.COMMANDS,
    OnBehalf,
)
"""Every command once, in the order of the documentation."""


def on(kind: type[S]) -> Iterator[tuple[type[Command[Any]], S]]:
    """Every surface of one kind, with its command."""
    return ((command, surface) for command in COMMANDS for surface in command.on(kind))


class Refusal(msgspec.Struct, frozen=True, tag_field="is", tag="refused"):
    """It was not done; see :class:`cgos_protocol.errors.Refused`."""

    code: Code
    sentence: str
    retry_after_s: float | None = None


class _Answered(msgspec.Struct, frozen=True, tag_field="is", tag="done"):
    """It was done; `answer` is of the command's type of answer."""

    answer: msgspec.Raw


_COMMAND: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(Union[COMMANDS])  # noqa: UP007
_ANSWER: Final[msgspec.json.Decoder[_Answered | Refusal]] = msgspec.json.Decoder(_Answered | Refusal)


def decode(line: bytes) -> Command[Any]:
    """A command as it came over the control socket. Raises msgspec.DecodeError."""
    try:
        command: Command[Any] = _COMMAND.decode(line)
    except RecursionError as error:
        raise msgspec.DecodeError("it is nested too deeply") from error
    return command


async def answered(line: bytes, perform: Callable[[Command[Any]], Awaitable[Any]]) -> bytes:
    """The answer to one line of the control socket: that of the command in it, or a :class:`Refusal`.

    :param perform: performs it; raises CgosError
    """
    try:
        return answer_line(await perform(decode(line)))
    except msgspec.DecodeError as error:
        refusal = Refusal(Code.BAD_REQUEST, f"The server does not understand this request: {error}.")
    except Refused as refused:
        refusal = Refusal(refused.code, refused.sentence, refused.retry_after_s)
    except CgosError as error:
        refusal = Refusal(Code.OUR_FAULT, f"The server could not do it: {error}")
    return msgspec.json.encode(refusal)


def answer_line(answer: Any) -> bytes:
    """What a command answered, as it goes over the control socket."""
    return msgspec.json.encode(_Answered(msgspec.Raw(msgspec.json.encode(answer))))


Call = Callable[[bytes], Awaitable[bytes]]
"""Takes one line to a control socket and brings the answer."""

CallAll = Callable[[bytes], Awaitable[Sequence[bytes]]]
"""The same to those of several servers: at least one answer."""


async def ask(call: Call, command: Command[A]) -> A:
    """Have a running server perform `command`. Raises Refused where the server refuses, or `call` does."""
    return _answered(await call(msgspec.json.encode(command)), command)


async def ask_on_behalf(call: Call, command: Command[A], credential: str, address: str) -> A:
    """As :func:`ask`, with the rights of whoever has this session or token."""
    return _answered(await call(_on_behalf(command, credential, address)), command)


async def ask_all(call: CallAll, command: Command[A]) -> list[A]:
    """As :func:`ask`, of several servers. Raises Refused where none performs it."""
    return _all_answered(await call(msgspec.json.encode(command)), command)


async def ask_all_on_behalf(call: CallAll, command: Command[A], credential: str, address: str) -> list[A]:
    """As :func:`ask_all`, with the rights of whoever has this session or token."""
    return _all_answered(await call(_on_behalf(command, credential, address)), command)


def refusal_in(line: bytes) -> Refusal | None:
    """What an answer says that was no command performed; None where one was."""
    response = _ANSWER.decode(line)
    return response if isinstance(response, Refusal) else None


def _on_behalf(command: Command[Any], credential: str, address: str) -> bytes:
    inner = msgspec.Raw(msgspec.json.encode(command))
    return msgspec.json.encode(OnBehalf(credential=credential, address=address, request=inner))


def _answered(line: bytes, command: Command[A]) -> A:
    response = _ANSWER.decode(line)
    if isinstance(response, Refusal):
        raise Refused.of(response.code, response.sentence, response.retry_after_s)
    answer: A = msgspec.json.decode(response.answer, type=command.answer())
    return answer


def _all_answered(lines: Sequence[bytes], command: Command[A]) -> list[A]:
    performed = [line for line in lines if refusal_in(line) is None]
    return [_answered(line, command) for line in performed or lines[:1]]
