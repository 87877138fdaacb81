"""Which version succeeds which: stated, changed, withdrawn, refused, and what the venues' ledgers say of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.service.real_pool import T0, Elsewhere, RealPool, pool_of_four
from support.storage.rated_past import alter

from cgos_protocol.errors import Refused
from cgos_server.core.rating.base import Kind
from cgos_server.core.rating.registry import rating_system
from cgos_server.service.commands.families import FamilyLink, FamilyUnlink
from cgos_server.service.commands.registry import OnBehalf
from cgos_server.service.commands.successions import VersionLink, VersionUnlink
from cgos_server.service.people.passwords import ACCESS_PREFIX, digest, new_token
from cgos_server.service.ratings.families import Families
from cgos_server.service.ratings.replaying import replay
from cgos_server.storage.reading.history import History
from cgos_server.storage.writing import records as r


@pytest.fixture
async def pool(tmp_path: Path) -> AsyncIterator[RealPool]:
    async with pool_of_four(tmp_path) as opened:
        yield opened


async def link(pool: RealPool, version: str, predecessor: str, sd: float | None = None, surely: bool = False) -> str:
    return (
        await pool.admin.handle(VersionLink(version=version, predecessor=predecessor, sd=sd, surely=surely))
    ).sentence


async def unlink(pool: RealPool, version: str) -> str:
    return (await pool.admin.handle(VersionUnlink(version=version))).sentence


async def links(pool: RealPool, venue: int = 1) -> list[tuple[str, int | None, int | None, float | None, bool]]:
    return [
        (entry.kind.value, entry.version, entry.other, entry.sd, entry.surely)
        for entry in await pool.store.history.ledger.entries(venue)
        if entry.kind in (Kind.LINK, Kind.UNLINK) or entry.other is not None
    ]


async def refused(work: Any) -> tuple[str, str]:
    with pytest.raises(Refused) as raised:
        await work
    return raised.value.code, raised.value.sentence


async def succeeds(pool: RealPool, *versions: int) -> list[tuple[str, str, str, float | None, bool]]:
    return [
        (link.version, link.venue, link.predecessor, link.sd, link.surely)
        for link in await pool.store.history.ledger.predecessors(versions)
    ]


async def test_a_link_is_stated_in_every_venue_where_both_are(pool: RealPool) -> None:
    assert await link(pool, "Cc", "Aa") == "Cc succeeds Aa in 9x9, 19x19."
    assert await links(pool, 1) == await links(pool, 2) == [("link", 3, 1, None, False)]
    assert pool.changed == ["9x9", "19x19"]
    assert await link(pool, "Bb", "Cc", 40.0, surely=True) == (
        "Bb surely succeeds Cc by a step of standard deviation 40 Elo in 9x9."
    )
    assert (await links(pool))[1:] == [("link", 2, 3, 40.0, True)]
    assert await links(pool, 2) == [("link", 3, 1, None, False)]
    assert await succeeds(pool, 2, 3) == [
        ("Bb", "9x9", "Cc", 40.0, True),
        ("Cc", "9x9", "Aa", None, False),
        ("Cc", "19x19", "Aa", None, False),
    ]
    audits = [(row.action, row.subject, row.detail) for row in await pool.store.history.server.audit(9)][::-1]
    assert audits == [
        ("version link", "Cc", {"predecessor": "Aa", "venues": "9x9, 19x19", "surely": False}),
        ("version link", "Bb", {"predecessor": "Cc", "venues": "9x9", "surely": True, "sd": 40.0}),
    ]


async def test_a_link_is_changed_by_stating_it_again(pool: RealPool) -> None:
    await link(pool, "Cc", "Aa")
    await link(pool, "Cc", "Aa", 60.0)
    await link(pool, "Cc", "Aa", surely=True)
    assert await links(pool) == [("link", 3, 1, None, False), ("link", 3, 1, 60.0, False), ("link", 3, 1, None, True)]
    assert (await refused(link(pool, "Cc", "Aa", surely=True))) == (
        "no-change",
        "Cc succeeds Aa like that already: nothing would change.",
    )
    assert await succeeds(pool, 3) == [("Cc", "9x9", "Aa", None, True), ("Cc", "19x19", "Aa", None, True)]


async def test_a_link_is_withdrawn_and_comes_back(pool: RealPool) -> None:
    await link(pool, "Bb", "Aa")
    await link(pool, "Cc", "Bb", surely=True)
    assert await unlink(pool, "Bb") == "Bb does not succeed Aa any more in 9x9."
    assert await succeeds(pool, 2, 3) == [("Cc", "9x9", "Bb", None, True)]
    code, sentence = await refused(unlink(pool, "Bb"))
    assert (code, sentence) == (
        "not-linked",
        "Bb succeeds no version in any venue. See: cgos-server version list",
    )
    await link(pool, "Bb", "Aa", 30.0)
    assert await succeeds(pool, 2) == [("Bb", "9x9", "Aa", 30.0, False)]


async def test_what_can_be_no_link_is_refused_with_what_to_do(pool: RealPool) -> None:
    await link(pool, "Bb", "Aa")
    await link(pool, "Cc", "Bb")
    before = await links(pool), pool.families.predecessor(2, {1, 2, 3})
    assert (await refused(link(pool, "Cc", "Nobody")))[0] == "unknown-bot"
    assert (await refused(link(pool, "Nobody", "Cc")))[0] == "unknown-bot"
    assert await refused(link(pool, "Cc", "Cc")) == (
        "itself",
        "Cc cannot succeed itself: name the version that was before it.",
    )
    assert await refused(link(pool, "Aa", "Cc")) == (
        "circle",
        "Cc comes from Aa itself in 9x9, so Aa cannot succeed it. See: cgos-server version list",
    )
    assert await refused(link(pool, "Cc", "Aa")) == (
        "linked",
        "Cc succeeds Bb in 9x9, and a version has one predecessor: of several, the one that it plays most like. To "
        "name another one, first: cgos-server version unlink Cc",
    )
    assert await refused(link(pool, "Dd", "Aa")) == (
        "not-rated",
        "There is no venue in which both Dd and Aa have been. Link them when both have come, or let the bot name its "
        "predecessor when it signs in by cgos.v2.",
    )
    for sd in (0.0, -40.0, 0.99, 1000.1, float("nan"), float("inf")):
        code, sentence = await refused(link(pool, "Bb", "Aa", sd))
        assert (code, sentence[-28:]) == ("sd", "know it: the ratings learn it."[-28:])
    assert (await links(pool), pool.families.predecessor(2, {1, 2, 3})) == before


async def test_a_link_that_is_refused_in_one_venue_is_written_in_none(pool: RealPool) -> None:
    await pool.bot("Ee", "19x19")
    await pool.admin.handle(FamilyLink(bot="Cc", leader="Ee"))  # 5 succeeds 3 where both are
    assert await links(pool, 2) == [("link", 5, 3, None, False)]
    await link(pool, "Aa", "Ee")
    code, _ = await refused(link(pool, "Cc", "Aa"))
    assert code == "circle"
    assert await links(pool, 1) == []


async def test_withdrawn_and_stated_links_hold_in_venues_that_come_later_and_after_a_restart(pool: RealPool) -> None:
    newer = await pool.bot("Aa", "9x9", version="2")
    newest = await pool.bot("Aa", "9x9", version="3")
    assert await links(pool) == [("enter", newer, 1, None, False), ("enter", newest, newer, None, False)]
    await unlink(pool, "Aa-2")
    await unlink(pool, "Aa-3")
    await link(pool, "Aa-3", "Cc", 25.0, surely=True)
    for families in (pool.families, await Families.load(pool.store)):
        assert families.predecessor(newer, {1}) is None
        assert families.predecessor(newest, {1, 3}) == (3, 25.0, True)
        assert families.predecessor(newest, {1}) == (1, None, False)  # whom it was said to succeed is not there


async def test_a_version_that_comes_later_succeeds_the_newest_again(pool: RealPool) -> None:
    await pool.bot("Aa", "9x9", version="2")
    await unlink(pool, "Aa-2")
    third = await pool.bot("Aa", "9x9", version="3")
    assert (await links(pool))[-1] == ("enter", third, 5, None, False)


async def test_a_family_leaves_stated_links_alone(pool: RealPool) -> None:
    await link(pool, "Bb", "Cc", 20.0)
    await pool.admin.handle(FamilyLink(bot="Bb", leader="Aa"))
    assert await links(pool) == [("link", 2, 3, 20.0, False)]
    await pool.admin.handle(FamilyUnlink(bot="Bb"))
    assert await links(pool) == [("link", 2, 3, 20.0, False)]  # Cc was never of that family


async def test_the_same_after_a_restart_and_on_a_closed_database(pool: RealPool) -> None:
    await link(pool, "Cc", "Aa", 40.0, surely=True)
    await pool.reopen()
    assert pool.rated["9x9"].lineage.links() == [(3, (1, 40.0, True))]
    (rated,) = pool.rated["9x9"]._headline.state.links.values()
    assert (rated.sd, rated.surely) == (40.0, True)
    assert (await refused(link(pool, "Aa", "Cc")))[0] == "circle"
    answer = await Elsewhere(pool).admin.handle(VersionUnlink(version="Cc"))
    assert answer.sentence == "Cc does not succeed Aa any more in 9x9, 19x19."
    assert pool.changed == ["9x9", "19x19"]


@pytest.mark.parametrize("lost", ["", "surely = 0", "sd = NULL"])
async def test_a_replay_needs_all_that_a_link_states(pool: RealPool, lost: str) -> None:
    for _ in range(8):
        await pool.game(1, 2, "B+Resign")
    await link(pool, "Cc", "Aa", 40.0, surely=True)
    await pool.game(3, 2, "W+Resign")
    if lost:
        alter(pool.path.parent, f"UPDATE ledger SET {lost} WHERE kind = 'link'")
    async with History(pool.path) as history:
        replayed = await replay(history, "9x9", rating_system("bayes", 1800.0, {}), "")
    assert replayed.changes > 20
    assert replayed.exact == (not lost)


async def person(pool: RealPool, number: int, name: str, *bots: int, admin: bool = False) -> str:
    """A person with a session who owns these bots."""
    credential = new_token(ACCESS_PREFIX)
    group: list[r.Record] = [
        r.OwnerAdded(id=number, name=name, name_key=name.lower(), password="none", admin=int(admin), created_at=T0),
        r.AccessAdded(
            id=number,
            owner_id=number,
            kind="session",
            digest=digest(credential),
            label="",
            scopes="",
            address="192.0.2.7",
            created_at=T0,
            expires_at=None,
        ),
        *(r.BotOwner(number, bot) for bot in bots),
    ]
    await pool.store.commit(group)
    return credential


async def test_an_owner_links_versions_of_own_bots_and_an_operator_any(pool: RealPool) -> None:
    anna = await person(pool, 1, "Anna", 1, 3)
    oper = await person(pool, 2, "Oper", admin=True)

    async def ask(credential: str, command: Any) -> Any:
        inner = msgspec.Raw(msgspec.json.encode(command))
        return await pool.admin.handle(OnBehalf(credential=credential, address="192.0.2.7", request=inner))

    assert (await ask(anna, VersionLink(version="Cc", predecessor="Aa"))).sentence == "Cc succeeds Aa in 9x9, 19x19."
    assert (await refused(ask(anna, VersionLink(version="Bb", predecessor="Aa"))))[0] == "not-allowed"
    assert (await refused(ask(anna, VersionUnlink(version="Bb"))))[0] == "not-allowed"
    await ask(anna, VersionUnlink(version="Cc"))
    assert (await refused(ask(anna, VersionLink(version="Cc", predecessor="Bb"))))[0] == "not-allowed"
    assert (await refused(ask(anna, VersionLink(version="Cc", predecessor="Nobody"))))[0] == "unknown-bot"
    assert await succeeds(pool, 2, 3) == []
    assert (await ask(oper, VersionLink(version="Cc", predecessor="Bb"))).sentence == "Cc succeeds Bb in 9x9."
