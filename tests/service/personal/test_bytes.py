"""Whoever was erased is in no byte of the data directory, once the file of SQLite is written anew."""

from __future__ import annotations

import contextlib
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.storage.storage_sample import games, people, unexpected, version

from cgos_protocol.api.people import Done
from cgos_protocol.errors import StoreError
from cgos_server.service.admin import Admin
from cgos_server.service.ids import Ids
from cgos_server.service.people.accounts import Accounts
from cgos_server.service.people.passwords import Passwords
from cgos_server.service.personal.commands import AccountErase
from cgos_server.service.personal.kept_files import KeptFiles
from cgos_server.storage import schema
from cgos_server.storage.opening import open_store
from cgos_server.storage.sqlite.compacting import compact
from cgos_server.storage.store import Store
from cgos_server.storage.writing.group_commit import CommitListener
from cgos_server.storage.writing.records import (
    AnalysisAdded,
    AuditAdded,
    BotAdded,
    BotOwner,
    BotWishes,
    ConnectionClosed,
    ConnectionOpened,
    MoveAdded,
    OwnerAdded,
    Record,
    RoundAdded,
)

OWNER, BOT, ADDRESS = "Quillfeather", "Zebulonia", "203.0.113.77"
SECRETS = (OWNER, BOT, ADDRESS)


def past() -> Iterator[list[Record]]:
    """Commits of a server that has been there for a while: some name somebody, between others' rows; rows grow."""
    chance = random.Random(1)
    yield [
        *people(),
        *games(),
        OwnerAdded(9, OWNER, OWNER.lower(), "hash", 0, 5),
        OwnerAdded(8, "Oscar", "oscar", "h", 1, 5),
    ]
    yield [
        BotAdded(9, BOT, BOT.lower(), "hash", "active", 6),
        version(9, 9, BOT, 6),
        version(10, 9, f"{BOT}-2", 7, "2"),
    ]
    yield [BotOwner(9, 9)]
    for number in range(100, 900):
        who = chance.choice((BOT, "alpha", "Beta"))
        which = {BOT: 9, "alpha": 1, "Beta": 2}[who]
        address = ADDRESS if who == BOT else "192.0.2.1"
        text = f"{who} had waited. " * chance.randint(1, 40)
        yield [
            ConnectionOpened(number, 1, which, address, "client", 1_000 + number),
            RoundAdded(
                number,
                1,
                number,
                number,
                "rolling",
                "birk",
                "{}",
                "1",
                f'{{"candidates":[[1,"{who}",1.0]]}}',
                "{}",
                "[]",
            ),
            AuditAdded(number, f"{OWNER} ({ADDRESS})" if who == BOT else "Beta", "bot pause", who, "{}"),
            MoveAdded(3, number, "E5", 1, 1, 0, 0, 1, number),
            AnalysisAdded(3, number, f'{{"comment":"{text}"}}'),
        ]
        yield [ConnectionClosed(number + 5, f"told: {text}", number)]
        if number % 7 == 0:
            yield [BotWishes(0, f'{{"avoid":["{BOT}"],"hours":"{text}"}}', chance.choice((1, 2)))]


def naming(directory: Path) -> dict[str, list[str]]:
    """File -> who is named in it."""
    contents = {path.name: path.read_bytes() for path in directory.rglob("*") if path.is_file()}
    return {
        name: named
        for name, data in contents.items()
        if (named := [each for each in SECRETS if each.lower().encode() in data.lower()])
    }


async def filled(directory: Path) -> Store:
    schema.prepare(directory / "cgos.sqlite")
    store = await open_store(directory / "cgos.sqlite", CommitListener(failed=unexpected, on_error=unexpected))
    for records in past():
        await store.commit(records)
    return store


async def test_no_byte_names_who_was_erased_once_the_file_is_written_anew(
    tmp_path: Path, passwords: Passwords, clock: Any
) -> None:
    transcript = tmp_path / "transcripts" / "2" / "00000000000000000001.transcript"
    transcript.parent.mkdir(parents=True)
    transcript.write_text(f'#{{"name":"Beta","connection":1}}\n5>setup 1 9 7.0 {BOT}(1800?) Beta(1800)\n')
    store = await filled(tmp_path)
    assert naming(tmp_path)["cgos.sqlite"] == list(SECRETS)
    accounts = Accounts(store, Ids(await store.history.server.next_ids()), passwords, "open", clock)
    admin = Admin(accounts, files=KeptFiles(tmp_path / "transcripts"))
    done = await admin.handle(AccountErase(account=OWNER, reason=f"{OWNER} asked", bots=True))
    assert done == Done(sentence=f"{OWNER} is erased, and 1 of its bots: it is deleted-17 now.")
    await store.close()
    assert naming(tmp_path).keys() == {"cgos.sqlite"}, "pieces of rows that were there before"
    before, after = compact(tmp_path / "cgos.sqlite")
    assert after < before
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == {"cgos.sqlite", transcript.name}
    assert naming(tmp_path) == {}


def test_a_reader_keeps_it_from_being_done_and_the_answer_says_so(tmp_path: Path) -> None:
    schema.prepare(tmp_path / "cgos.sqlite")
    with contextlib.closing(sqlite3.connect(tmp_path / "cgos.sqlite", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM bots").fetchall()
        with pytest.raises(StoreError, match="could not be written anew: database is locked"):
            compact(tmp_path / "cgos.sqlite")
        assert reader.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
