"""Erasing on both databases: no text of any table names whoever was erased, and no result has changed."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from support.service.acting import code
from support.storage.storage_sample import events, execute, games, people, put, query, refits, unexpected, version

from cgos_protocol.api.people import Done
from cgos_protocol.ids import QuestionId, VenueId, VersionId
from cgos_server.core.questions.asked import Challenge, encode_asked
from cgos_server.core.renaming import Renaming
from cgos_server.presentation.personal import personal_json, personal_zip
from cgos_server.service.admin import Admin
from cgos_server.service.commands.accounts import AccountAdd
from cgos_server.service.commands.bots import BotAdd
from cgos_server.service.ids import Ids
from cgos_server.service.nodes.transcripts import OwnTranscripts
from cgos_server.service.people.accounts import Accounts
from cgos_server.service.people.passwords import Passwords
from cgos_server.service.personal.commands import AccountErase, BotErase
from cgos_server.service.personal.kept_files import KeptFiles
from cgos_server.storage import schema, tables
from cgos_server.storage.location import Location
from cgos_server.storage.opening import open_store
from cgos_server.storage.store import Store
from cgos_server.storage.writing.asking import QuestionAdded
from cgos_server.storage.writing.group_commit import CommitListener
from cgos_server.storage.writing.records import (
    AccessAdded,
    AuditAdded,
    BotOwner,
    OwnerAdded,
    SuspensionNow,
    TokenAdded,
    WebhookAdded,
)
from cgos_server.storage.writing.records import BotAdded as BotStored

NEVER = {
    "server.created_by", "venues.name", "venues.fixed", "owners.password", "owners.state", "bots.password",
    "bots.state", "tokens.digest", "access.address", "access.kind", "access.digest", "access.scopes", "webhooks.secret",
    "webhooks.events", "rounds.policy", "rounds.method", "rounds.options", "rounds.seed", "games.black_label",
    "games.white_label", "games.terms", "games.start", "games.reason", "games.result", "moves.move", "ledger.kind",
    "rating_changes.system", "ratings.system", "builds.id", "builds.text", "refits.system", "refits.notes",
    "refits.build", "refit_points.system", "rank_points.system", "rank_summaries.system", "rank_summaries.groups",
    "rating_states.system", "rating_plugins.system", "rating_plugins.plugin", "corrections.result", "audit.action",
    "events.name", "events.phase", "event_log.kind",
    "questions.kind", "questions.asked", "questions.state", "questions.why", "questions.answer",
    "question_games.opening", "server.incarnation",
}  # fmt: skip
"""Columns of words, numbers and digests: nobody is named there."""

NAMES = {"owners.name", "owners.name_key", "bots.name", "bots.name_key", "versions.wire_name", "versions.wire_key"}

SENTENCE = "By alpha. Against ALPHA-2.0 of Olive, not alphabet."
AS_JSON = {
    "bots.limits": {"accepts": ["*", "Olive", "alpha"], "avoid": ["alpha", "alphabet"], "games_a_day": 3},
    "versions.parameters": {"alpha": "a book of alpha"},
    "rounds.sits_out": {"3": SENTENCE},
    "rounds.notes": [SENTENCE],
    "pairings.detail": {"alpha": 1, "why": SENTENCE},
    "audit.detail": {"reason": SENTENCE, "origin": "192.0.2.1"},
    "event_log.body": {"kind": "withdrawn", "entrant": 1, "reason": SENTENCE},
    "rounds.inputs": {"candidates": [[1, "alpha", 1800.0], [4, "alpha-2.0", 0.1], [2, "Beta", 1750.0]]},
    "analysis.text": {"alpha": SENTENCE},
}


def texts() -> list[tuple[sa.Table, sa.Column[Any]]]:
    return [
        (table, column)
        for table in tables.metadata.tables.values()
        for column in table.columns
        if isinstance(column.type, sa.String)
    ]


def everywhere(location: Location) -> None:
    """Name somebody in every text of every row, wherever anybody may be named; a column that is new too."""
    for table, column in texts():
        where = str(column)
        if where in NEVER | NAMES:
            continue
        text = json.dumps(AS_JSON[where], separators=(",", ":")) if where in AS_JSON else SENTENCE
        # A label is unique for its bot, except of versions that are erased anyhow.
        rest = " WHERE id <> 4 AND label <> ''" if where == "versions.label" else ""
        execute(location, f"UPDATE {table.name} SET \"{column.name}\" = '{text}'{rest}")
    execute(location, "UPDATE audit SET actor = 'Olive (192.0.2.9)', subject = 'alpha' WHERE id = 1")


def naming(location: Location, *names: str) -> list[str]:
    """Where one of these names stands, in whatever letters."""
    there = []
    for table, column in texts():
        for (text,) in query(location, f'SELECT "{column.name}" FROM {table.name}'):
            there += [f"{column}: {text}" for name in names if text and Renaming({name: "-"}).text(text) != text]
    return [each for each in there if '"alpha":' not in each]  # a key of JSON that is called so


def numbers(location: Location) -> dict[str, Any]:
    """All that is no text, of all that stays."""
    gone = {"tokens", "access", "webhooks", "audit"}
    kept = {}
    for table in tables.metadata.tables.values():
        columns = [
            f'"{column.name}"'
            for column in table.columns
            if not isinstance(column.type, sa.String) and str(column) not in ("bots.owner_id", "owners.admin")
        ]
        if columns and table.name not in gone:
            kept[table.name] = sorted(map(str, query(location, f"SELECT {', '.join(columns)} FROM {table.name}")))
    for column in sorted(NEVER - {"owners.state", "owners.password", "bots.state", "bots.password"}):
        table, _, name = column.partition(".")
        if table not in gone:
            kept[column] = sorted(map(str, query(location, f'SELECT "{name}" FROM {table}')))
    return kept


@pytest.fixture(params=["sqlite", "postgres"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> Location:
    if request.param == "sqlite":
        schema.prepare(tmp_path / "cgos.sqlite")
        return tmp_path / "cgos.sqlite"
    return request.getfixturevalue("new_url")()  # type: ignore[no-any-return]


def question(number: int, owner: int | None) -> QuestionAdded:
    """By an account, or by an operator."""
    return QuestionAdded(
        id=QuestionId(number),
        venue_id=VenueId(1),
        owner_id=owner,
        kind="challenge",
        asked=encode_asked(Challenge(version=VersionId(1), most_games=2)),
        asked_at=370,
        priority=0,
        state="open",
        ended_at=None,
        why="",
        answer="",
    )


@pytest.fixture
def past(location: Location) -> Location:
    """Olive owns alpha, which has a second version; alpha has played Beta, also in an event."""
    put(
        location,
        [
            *people(),
            version(4, 1, "alpha-2.0", 220, "2.0"),
            OwnerAdded(2, "Oscar", "oscar", "hash", 1, 103),
            BotOwner(1, 1),
            *games(),
            *refits(),
            *events(),
            TokenAdded(3, 2, "d3", "Olive's", 320),
            AccessAdded(1, 1, "session", "s1", "", "", "192.0.2.9", 330, None),
            AccessAdded(2, 2, "token", "s2", "for alpha", "bots", "192.0.2.8", 331, None),
            WebhookAdded(1, 1, 1, "https://alpha.example/", "secret", "game-ended", 340),
            WebhookAdded(2, 2, None, "https://example.org/Olive", "secret", "game-ended", 341),
            SuspensionNow(1, 2, 3, 1, "alpha", 350),
            *(question(number, owner) for number, owner in ((1, 1), (2, 2), (3, None))),
            AuditAdded(360, "Olive (192.0.2.9)", "bot pause", "alpha", "{}"),
            AuditAdded(361, "operator", "bot add", "Beta", "{}"),
        ],
    )
    everywhere(location)
    return location


@pytest.fixture
async def store(past: Location) -> AsyncIterator[Store]:
    opened = await open_store(past, CommitListener(failed=unexpected, on_error=unexpected))
    yield opened
    await opened.close()


@pytest.fixture
async def admin(store: Store, passwords: Passwords, clock: Any, tmp_path: Path) -> Admin:
    accounts = Accounts(store, Ids(await store.history.server.next_ids()), passwords, "open", clock)
    return Admin(accounts, files=KeptFiles(tmp_path / "transcripts"))


def test_every_text_is_looked_at() -> None:
    known = {str(column) for _, column in texts()}
    assert known >= NEVER | NAMES | AS_JSON.keys()


async def test_nothing_names_an_account_and_its_bots_once_they_are_erased(
    past: Location, admin: Admin, tmp_path: Path
) -> None:
    before = numbers(past)
    assert naming(past, "Olive", "alpha", "alpha-2.0")
    folder = tmp_path / "transcripts"
    for bot in ("1", "2"):
        (folder / bot).mkdir(parents=True)
        heading = '#{"name":"Beta","connection":1}\n'
        (folder / bot / "00000000000000000001.transcript").write_text(heading + "5>setup alpha(1800?)\n6>alphabet\n")
    done = await admin.handle(AccountErase(account="Olive", reason="Olive asked, for alpha", bots=True))
    assert done == Done(sentence="Olive is erased, and 1 of its bots: it is deleted-1 now.")
    assert naming(past, "Olive", "alpha", "alpha-2.0") == []
    assert numbers(past) == before
    assert query(past, "SELECT name, name_key, admin, state FROM owners WHERE id = 1") == [
        ("deleted-1", "deleted-1", 0, "disabled")
    ]
    assert query(past, "SELECT name, state, reason, owner_id FROM bots WHERE id = 1") == [
        ("deleted-2", "disabled", "Erased.", None)
    ]
    assert query(past, "SELECT wire_name, label, engine, author FROM versions WHERE bot_id = 1 ORDER BY id") == [
        ("deleted-2", "", "", ""),
        ("deleted-2-2", "2", "", ""),
    ]
    assert query(past, "SELECT address, client FROM connections WHERE version_id = 1") == [("", "")]
    assert query(past, "SELECT count(*) FROM access WHERE owner_id = 1") == [(0,)]
    assert query(past, "SELECT id FROM tokens") == [(3,)]
    assert query(past, "SELECT id FROM webhooks") == [(2,)]
    assert query(past, "SELECT inputs FROM rounds WHERE id = 1") == [
        ('{"candidates":[[1,"deleted-2",1800.0],[4,"deleted-2-2",0.1],[2,"Beta",1750.0]]}',)
    ]
    assert query(past, "SELECT actor, subject FROM audit WHERE id = 1") == [("deleted-1", "deleted-2")]
    actor, action, subject, detail = query(past, "SELECT actor, action, subject, detail FROM audit ORDER BY id")[-1]
    assert (actor, action, subject) == ("operator", "account erase", "deleted-1")
    assert json.loads(detail) == {"bots": 1, "reason": "deleted-1 asked, for deleted-2"}
    assert not (folder / "1").exists()
    (kept,) = (folder / "2").iterdir()
    assert kept.read_text().splitlines()[1:] == ["5>setup deleted-2(1800?)", "6>alphabet"]


async def test_a_person_may_go_and_its_bots_play_on(past: Location, admin: Admin) -> None:
    await admin.handle(AccountErase(account="Olive", reason="its wish"))
    assert naming(past, "Olive") == []
    assert query(past, "SELECT name, state, owner_id, paused FROM bots WHERE id = 1") == [("alpha", "active", None, 0)]
    assert query(past, "SELECT id FROM tokens ORDER BY id") == [(1,), (2,), (3,)]


async def test_a_bot_is_erased_once_and_its_name_is_free_again(past: Location, admin: Admin) -> None:
    await admin.handle(BotErase(bot="alpha", reason="its author's wish"))
    assert naming(past, "alpha", "alpha-2.0") == []
    assert await code(admin.handle(BotErase(bot="alpha", reason="again"))) == "unknown-bot"
    await admin.handle(BotAdd(name="alpha", password="playing"))
    assert query(past, "SELECT name FROM bots WHERE name = 'alpha'") == [("alpha",)]


async def test_the_last_operator_stays(past: Location, admin: Admin) -> None:
    await admin.handle(AccountErase(account="Oscar", reason="its wish"))
    assert await code(admin.handle(AccountErase(account="Olive", reason="its wish"))) == "last-operator"
    assert query(past, "SELECT state FROM owners WHERE id = 1") == [("active",)]


@pytest.mark.parametrize("name", ["deleted-9", "DELETED-9-2"])
async def test_nobody_is_called_like_one_who_was_erased(admin: Admin, name: str) -> None:
    assert await code(admin.handle(BotAdd(name=name, password="playing"))) == "name-taken"
    assert await code(admin.handle(AccountAdd(name=name, password="long-secret"))) == "name-taken"


async def everything(store: Store, owner: int | None, *bots: int) -> dict[str, Any]:
    personal = store.history.personal
    written = [part async for part in personal_json(personal, await personal.about(owner, bots), 1_234)]
    return json.loads(b"".join(written))  # type: ignore[no-any-return]


async def test_all_that_is_kept_is_handed_out_but_secrets(past: Location, store: Store) -> None:
    kept = await everything(store, 1)
    assert (kept.pop("format"), kept.pop("at")) == ("cgos-personal-data/1", 1_234)
    assert [row["name"] for row in kept["account"]] == ["Olive"]
    assert [(row["kind"], row["address"]) for row in kept["sessions_and_tokens"]] == [("session", "192.0.2.9")]
    assert [row["wire_name"] for row in kept["versions"]] == ["alpha", "alpha-2.0"]
    assert [row["version_id"] for row in kept["connections"]] == [1]
    assert [row["id"] for row in kept["games"]] == [1, 2, 3, 4, 5, 6]
    assert {row["bot_id"] for row in kept["bot_tokens"] + kept["event_entries"] + kept["versions"]} == {1}
    assert [row["id"] for row in kept["questions"]] == [1]
    assert kept["audit"][0]["actor"] == "Olive (192.0.2.9)"
    assert [section for section, rows in kept.items() if not rows] == ["suspensions"]
    assert not {"password", "digest", "secret"} & {field for rows in kept.values() for row in rows for field in row}


async def test_of_a_bot_alone_nothing_of_its_owner_is_handed_out(past: Location, store: Store) -> None:
    kept = await everything(store, None, 2)
    assert (kept["account"], kept["sessions_and_tokens"]) == ([], [])
    assert [row["name"] for row in kept["bots"]] == ["Beta"]
    assert [row["subject"] for row in kept["audit"] if row["subject"] == "Beta"] == []


async def test_what_was_erased_is_handed_out_to_nobody(past: Location, store: Store, admin: Admin) -> None:
    await admin.handle(AccountErase(account="Olive", reason="its wish", bots=True))
    kept = await everything(store, 1)
    assert Renaming({"Olive": "-", "alpha": "-", "alpha-2.0": "-"}).text(json.dumps(kept)) == json.dumps(kept)


async def test_a_bot_of_a_thousand_versions_is_handed_out_and_erased(
    past: Location, store: Store, admin: Admin
) -> None:
    await store.commit([version(100 + number, 1, f"alpha-v{number}", 230, f"v{number}") for number in range(1_000)])
    assert len((await everything(store, None, 1))["versions"]) == 1_002
    await admin.handle(BotErase(bot="alpha", reason="its author's wish"))
    assert naming(past, "alpha", "alpha-2.0", "alpha-v999") == []


async def test_labels_that_are_numbers_are_in_nobodys_way(past: Location, store: Store, admin: Admin) -> None:
    await store.commit([version(5, 1, "alpha-3", 230, "3"), version(6, 1, "alpha-2", 231, "2")])
    await admin.handle(BotErase(bot="alpha", reason="its author's wish"))
    names = [name for (name,) in query(past, "SELECT wire_name FROM versions WHERE bot_id = 1 ORDER BY id")]
    assert names == ["deleted-2", "deleted-2-4", "deleted-2-5", "deleted-2-6"]


async def test_many_bots_are_handed_out_and_erased_and_nothing_twice(
    past: Location, store: Store, admin: Admin
) -> None:
    others = [f"{word}-bot" for word in ("red", "green", "blue", "white", "black", "gray")]
    for number, name in enumerate(others, 10):  # none of them ever signed in
        await store.commit([BotStored(number, name, name, "hash", "active", 400), BotOwner(1, number)])
        await store.commit([AuditAdded(500, "operator", "bot add", name, "{}")])
    await store.commit([AuditAdded(510, "operator", "said", "Olive", json.dumps({"reason": ", ".join(others)}))])
    audit = [row["id"] for row in (await everything(store, 1))["audit"]]
    assert sorted(audit) == list(range(1, 10))
    await admin.handle(AccountErase(account="Olive", reason="its wish", bots=True))
    assert naming(past, "Olive", "alpha", *others) == []


async def test_the_archive_has_the_transcripts(past: Location, store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "transcripts" / "1"
    folder.mkdir(parents=True)
    (folder / "1.transcript").write_text("said")
    personal = store.history.personal
    parts = [part async for part in personal_zip(personal, await personal.about(1, []), 1, OwnTranscripts(tmp_path))]
    with zipfile.ZipFile(io.BytesIO(b"".join(parts))) as archive:
        assert archive.namelist() == ["data.json", "transcripts/1/1.transcript"]
        assert archive.testzip() is None
        assert json.loads(archive.read("data.json"))["account"][0]["id"] == 1
