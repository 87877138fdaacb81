"""Performs commands, in the live server or on a closed database: decodes them, takes their turn, looks at rights.

Whoever comes by the control socket may do everything; who is asked for on somebody's behalf, what
:mod:`~cgos_server.service.people.authority` allows. Must not know: single commands, sockets, terminals, configuration
    files.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from cgos_protocol.errors import Code, Conflict, Forbidden, Invalid, Unavailable
from cgos_protocol.ids import QuestionId
from cgos_server.service.commands.context import Caller, CommandContext
from cgos_server.service.commands.declaration import Command
from cgos_server.service.commands.reasons import shown_address
from cgos_server.service.commands.registry import OnBehalf, answered, decode
from cgos_server.service.control import Control
from cgos_server.service.people.accounts import Accounts
from cgos_server.service.people.authority import NOT_YOURS, may
from cgos_server.service.people.passwords import digest, lets_people_in
from cgos_server.service.people.sessions import DAY_MS, Sessions
from cgos_server.service.personal.kept_files import KeptFiles
from cgos_server.service.pruning import Pruner
from cgos_server.service.ratings.venue_ledgers import LoadRatings, VenueLedgers
from cgos_server.storage.reading.stored import Person

A = TypeVar("A")


class Admin:
    """Performs commands. Each is one commit together with its audit row.

    :param control: the live server, or None on a closed database
    :param load_ratings: where there is no live server: a venue's ratings from its ledger; raises Refused for an
        unknown venue
    :param pruner: removes what is old; None where no command does
    :param session_ms: how long a person's session lasts, milliseconds
    :param accounts_open: True where people make their accounts themselves
    :param files: what is kept of people besides the database; None: nothing is
    """

    def __init__(
        self,
        accounts: Accounts,
        control: Control | None = None,
        *,
        load_ratings: LoadRatings | None = None,
        pruner: Pruner | None = None,
        session_ms: int = 30 * DAY_MS,
        accounts_open: bool = True,
        files: KeptFiles | None = None,
    ) -> None:
        self._accounts = accounts
        self._context = CommandContext(
            accounts=accounts,
            sessions=Sessions(accounts, session_ms, accounts_open),
            ledgers=VenueLedgers(accounts.store, control, load_ratings),
            control=control,
            pruner=pruner,
            files=files,
        )

    @property
    def ledgers(self) -> VenueLedgers:
        """Where commands reach the ratings."""
        return self._context.ledgers

    async def answer(self, line: bytes) -> bytes:
        """One line of the control socket: a command in JSON, answered by its answer or a refusal."""
        return await answered(line, self.handle)

    async def handle(self, command: Command[A]) -> A:
        """Perform it. Raises Refused with the sentence, CommitFailed where the database does not commit."""
        if isinstance(command, OnBehalf):
            answer: A = await self._on_behalf(command)
            return answer
        async with await self._turn(command):
            return await self._perform(command, self._context)

    async def _on_behalf(self, request: OnBehalf) -> Any:
        """The command inside, if whoever has the credential may have it done. Who that is, whose the bot is and the
        command are one turn of the bot: rights that are lost meanwhile are lost."""
        try:
            command = decode(request.request)
        except msgspec.DecodeError as error:
            raise Invalid(Code.BAD_REQUEST, f"The server does not understand this request: {error}.") from error
        async with await self._turn(command):
            person = None
            if lets_people_in(request.credential):
                person = await self._accounts.store.history.people.person(
                    digest(request.credential), self._accounts.now_ms()
                )
            person = await self._allow(person, command)
            caller = Caller(person, shown_address(request.address))
            command = msgspec.structs.replace(command, actor=f"{person.name} ({caller.address})")
            return await self._perform(command, replace(self._context, asker=caller))

    async def for_bot(self, command: Command[A], bot: str) -> A:
        """Perform what a signed-in version asks for, with the rights that the account which owns it has over its bots,
        and no others. Raises Refused: ``no-owner``, and as :meth:`handle`."""
        async with await self._turn(command):
            person = await self._owner_as_person(bot)
            await self._allow(person, command)
            command = msgspec.structs.replace(command, actor=f"bot {bot}")
            return await self._perform(command, replace(self._context, asker=Caller(person, "")))

    async def _owner_as_person(self, bot: str) -> Person:
        """Whoever owns it, with the rights of a token for its bots: an operator's bot is no operator."""
        people = self._accounts.store.history.people
        number = await people.owner_of(bot)
        owner = None if number is None else await people.account(number)
        if owner is None or owner.state != "active":
            raise Conflict(
                Code.NO_OWNER,
                f"{bot} belongs to no account that could be asked for. Claim it on the pages, or have an operator ask.",
            )
        return Person(
            access_id=0,
            owner_id=owner.id,
            name=owner.name,
            admin=False,
            kind="token",
            scopes=("bots",),
            expires_at=None,
        )

    async def _turn(self, command: Command[Any]) -> AbstractAsyncContextManager[object]:
        """One after the other what concerns one bot."""
        name = command.concerned() if command.concerns in ("bot", "version") else None
        bot = await self._accounts.store.history.people.bot_owner(name) if isinstance(name, str) and name else None
        return nullcontext() if bot is None else self._accounts.bot_lock(bot.bot_id)

    async def _allow(self, person: Person | None, command: Command[Any]) -> Person:
        """Return the person, if it may give the command. Raises as :func:`may`; ``unknown-bot`` without such a bot."""
        try:
            return may(person, command, await self._owner_of(command))
        except Forbidden as refusal:
            name = command.concerned()
            if refusal.sentence == NOT_YOURS and isinstance(name, str):
                await self._context.version(name)
            raise

    async def _owner_of(self, command: Command[Any]) -> int | None:
        """The account that owns what the command concerns."""
        match command.concerns, command.concerned():
            case "bot" | "version", str(name):
                bot = await self._accounts.store.history.people.bot_owner(name)
                return None if bot is None else bot.owner
            case "webhook", int(number):
                webhook = await self._context.webhook(number)
                return None if webhook is None else webhook.owner_id
            case "question", int(number):
                return await self._accounts.store.history.questions.owner_of(QuestionId(number))
            case "access", int(number):
                access = await self._context.access(number)
                return None if access is None else access.owner_id
        return None

    async def _perform(self, command: Command[A], context: CommandContext) -> A:
        if command.live and context.control is None:
            raise Unavailable(Code.NO_SERVER, "No server runs on this database. Start one with: cgos-server serve")
        return await command.perform(context)
