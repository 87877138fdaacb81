"""Commands that write: on the database where nobody holds it, else through the server that does.

Must not know: what a command does.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from functools import partial
from typing import TypeVar

import msgspec

from cgos_protocol.errors import Code, CommitFailed, DatabaseLocked, NotFound, Unavailable
from cgos_server.assembly.reaching import kept_files
from cgos_server.cli.commands.asking import ask_server
from cgos_server.cli.common import Setup, caller
from cgos_server.cli.output import say
from cgos_server.cli.reading import now_ms
from cgos_server.config.venues import enroll_venues
from cgos_server.observability.transcript_files import FOLDER, newest_bot
from cgos_server.presentation.words import count
from cgos_server.service.admin import Admin
from cgos_server.service.commands.declaration import Command
from cgos_server.service.ids import open_ids
from cgos_server.service.people.accounts import Accounts
from cgos_server.service.people.passwords import Passwords
from cgos_server.service.pruning import Pruner
from cgos_server.service.ratings.build import one_thread, this_build
from cgos_server.service.ratings.families import Families
from cgos_server.service.ratings.venue_ratings import CHUNK, VenueRatings, load_ratings
from cgos_server.storage import schema
from cgos_server.storage.lock import DatabaseLock
from cgos_server.storage.opening import open_store
from cgos_server.storage.writing.group_commit import CommitListener

PATIENCE_S = 5.0
"""How long another command, or a server that is just starting or stopping, may hold the database without answering."""

_AGAIN_S = 0.1
A = TypeVar("A")


def perform(setup: Setup, command: Command[A]) -> A:
    """Have `command` performed by whoever may. Raises Refused, DatabaseLocked, OurFault."""
    creating = command.creates
    if not creating and schema.current(setup.database) is None:  # asked before the lock, which makes the directory
        schema.refuse_elsewhere(setup.database)
        raise NotFound(
            Code.NO_DATABASE,
            f"There is no database at {setup.database}. Start the server, which makes one, with: cgos-server serve. "
            "If there is one elsewhere, give the right --data.",
        )
    command = msgspec.structs.replace(command, actor=caller())
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            with DatabaseLock(setup.database, f"cgos-server {command.word()}") as lock:
                if creating:
                    schema.prepare(setup.database)
                else:
                    schema.check(setup.database)
                return asyncio.run(_alone(setup, command, lock))
        except DatabaseLocked as locked:
            try:
                return ask_server(setup, command)
            except Unavailable as refusal:
                if refusal.code is not Code.NO_SERVER:
                    raise
                if time.monotonic() > deadline:
                    raise locked from refusal
        time.sleep(_AGAIN_S)


async def _alone(setup: Setup, command: Command[A], lock: DatabaseLock) -> A:
    """Do it here, with the database's lock held."""
    config = setup.config
    async with AsyncExitStack() as stack:
        store = await open_store(
            setup.database,
            CommitListener(failed=_failed, on_error=_failed),
            lock=lock,
            durability=config.server.durability,
            commit_timeout=config.server.commit_timeout_s,
        )
        stack.push_async_callback(store.close)
        ids = await open_ids(store, newest_bot(config.server.data / FOLDER))
        passwords = stack.enter_context(Passwords(1))
        families = await Families.load(store, config.server.families)
        accounts = Accounts(
            store=store,
            ids=ids,
            passwords=passwords,
            registration=config.server.registration.value,
            now_ms=now_ms,
            families=families,
        )

        async def ratings_of(name: str) -> VenueRatings:
            for venue in await enroll_venues(config, store, now_ms(), setup.origin):
                if venue.name == name:
                    one_thread()
                    return await load_ratings(
                        store, venue, build=this_build().text, at=now_ms(), progress=partial(_folded, name)
                    )
            raise NotFound(Code.UNKNOWN_VENUE, f"There is no venue {name} in {setup.origin}.")

        pruner = Pruner(store, config.retention.days, now_ms=now_ms)
        files = kept_files(config)
        return await Admin(accounts, load_ratings=ratings_of, pruner=pruner, files=files).handle(command)


def _folded(venue: str, entries: int) -> None:
    """Only where it takes long enough to be wondered at."""
    if entries > CHUNK:
        say(f"{venue}: folded {count(entries, 'result')} into ratings")


def _failed(error: CommitFailed | Exception) -> None:
    """Whoever waits for the commit hears of it as well."""
    say(f"The database does not commit: {error}")
