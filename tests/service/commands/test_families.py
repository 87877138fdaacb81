"""One engine under several names: by a naming convention, by an operator, and what the venues' ledgers say of it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from support.service.real_pool import Elsewhere, RealPool, pool_of_four, refit_of

from cgos_protocol.errors import Conflict, Refused
from cgos_protocol.session import Credentials
from cgos_server.core.rating.base import Kind
from cgos_server.core.rating.lineage import Predecessor
from cgos_server.service.commands.families import FamilyLink, FamilyUnlink
from cgos_server.service.ids import Ids
from cgos_server.service.people.accounts import Accounts
from cgos_server.service.people.passwords import Passwords
from cgos_server.service.ratings.families import Families, family_by_name
from cgos_server.storage.reading.history import History
from cgos_server.storage.writing.records import BotFamily

NUMBERED = re.compile(r"(?P<family>[A-Za-z]+)-[0-9.]+")


# -- the naming convention


@pytest.mark.parametrize(
    ("name", "bots", "leader"),
    [
        ("Zen-2.0", [(1, "Zen-1.0", None)], 1),
        ("zen-2", [(1, "Other-1", None), (2, "ZEN-1", None)], 2),
        ("Zen-3", [(1, "Zen-1", None), (2, "Zen-2", 1)], 1),  # the oldest leads
        ("Zen-3", [(4, "Zen", None)], 4),  # the bare word is of the family, too
        ("Zen-3", [(2, "Zen-2", 7)], 7),  # and where the oldest was put into another family, that one's leader does
        ("Zen-2", [(1, "Zenith-1", None), (2, "AZen-1", None)], None),
        ("Zen-2b", [(1, "Zen-1", None)], None),  # the whole name has to match
        ("Zen", [(1, "Zen-1", None)], None),
        ("Zen-2", [], None),
    ],
)
def test_the_family_by_name(name: str, bots: list[tuple[int, str, int | None]], leader: int | None) -> None:
    assert family_by_name(name, NUMBERED, bots) == leader


def test_a_convention_whose_group_has_no_part_in_a_match_relates_nobody() -> None:
    pattern = re.compile(r"(?P<family>[A-Za-z]+)-[0-9.]+|.+")
    assert family_by_name("Zen_2", pattern, [(1, "Zen", None), (2, "Zen_1", None)]) is None
    assert family_by_name("Zen-2", pattern, [(1, "Other_1", None), (2, "Zen-1", None)]) == 2


async def test_a_bot_that_registers_joins_the_family_that_its_name_tells(
    store: Any, ids: Ids, passwords: Passwords, clock: Any
) -> None:
    families = Families({}, {}, NUMBERED)
    accounts = Accounts(store, ids, passwords, "open", clock, families=families)
    for name in ("Zen-1", "Other-1", "ZEN-2", "zen-3.1", "Zenith"):
        await accounts.sign_in(Credentials(name, "secret", None, "", False, "192.0.2.1"))
    assert store.of(BotFamily) == [(1, 3), (1, 4)]
    assert families.members(1) == [3, 4]
    assert [families.leader(bot) for bot in (1, 2, 3, 4, 5)] == [1, 2, 1, 1, 5]
    assert any(BotFamily(1, 3) in group and len(group) > 1 for group in store.groups)


async def test_without_a_convention_nobody_is_related(store: Any, ids: Ids, passwords: Passwords, clock: Any) -> None:
    accounts = Accounts(store, ids, passwords, "open", clock)
    for name in ("Zen-1", "Zen-2"):
        await accounts.sign_in(Credentials(name, "secret", None, "", False, "192.0.2.1"))
    assert store.of(BotFamily) == []


# -- who belongs together


def test_the_predecessor_is_the_newest_of_the_family_in_the_venue() -> None:
    families = Families({1: 1, 2: 2, 3: 3, 4: 1}, {2: 1})
    assert families.predecessor(3, {1, 2, 4}) is None
    assert families.predecessor(4, {1, 2, 3, 4}) == Predecessor(2)
    assert families.predecessor(2, {1}) == Predecessor(1)
    families.lead(3, 1)
    assert families.predecessor(1, {1, 2, 3}) == Predecessor(3)
    families.lead(2, None)
    assert families.predecessor(2, {1, 3, 4}) is None
    families.arrived(9, 2)
    assert families.predecessor(9, {2, 1}) == Predecessor(2)
    assert (families.family(9), families.family(3), families.bot(77)) == (2, 1, -77)


# -- an operator's links


@pytest.fixture
async def pool(tmp_path: Path) -> AsyncIterator[RealPool]:
    async with pool_of_four(tmp_path) as opened:
        yield opened


async def link(pool: RealPool, bot: str, leader: str) -> str:
    return (await pool.admin.handle(FamilyLink(bot=bot, leader=leader))).sentence


async def unlink(pool: RealPool, bot: str) -> str:
    return (await pool.admin.handle(FamilyUnlink(bot=bot))).sentence


async def links(pool: RealPool, venue: int = 1) -> list[tuple[str, int | None, int | None]]:
    return [
        (entry.kind.value, entry.version, entry.other)
        for entry in await pool.store.history.ledger.entries(venue)
        if entry.kind in (Kind.LINK, Kind.UNLINK) or entry.other is not None
    ]


async def test_a_link_is_in_every_venue_where_both_have_entered(pool: RealPool) -> None:
    assert await link(pool, "Cc", "Aa") == "Cc belongs to the family of Aa. Its versions are linked in 9x9, 19x19."
    assert await links(pool, 1) == await links(pool, 2) == [("link", 3, 1)]
    assert pool.changed == ["9x9", "19x19"]
    assert await link(pool, "Dd", "Aa") == "Dd belongs to the family of Aa."
    assert await link(pool, "Bb", "Aa") == "Bb belongs to the family of Aa. Its versions are linked in 9x9."
    assert (await links(pool, 1), await links(pool, 2)) == ([("link", 3, 1), ("link", 2, 1)], [("link", 3, 1)])
    assert await pool.store.history.bots.names() == [(1, "Aa", None), (2, "Bb", 1), (3, "Cc", 1), (4, "Dd", 1)]
    fresh = await Families.load(pool.store)
    assert fresh.members(1) == pool.families.members(1) == [2, 3, 4]
    async with History(pool.path) as history:
        assert [(row.name, row.family) for row in await history.bots.page()][1:3] == [("Bb", "Aa"), ("Cc", "Aa")]


async def test_a_link_to_a_newer_bot_makes_that_the_successor(pool: RealPool) -> None:
    await link(pool, "Aa", "Cc")
    assert await links(pool) == [("link", 3, 1)]


async def test_a_link_joins_the_newest_that_came_before(pool: RealPool) -> None:
    await pool.bot("Cc", "9x9", version="2")
    await link(pool, "Bb", "Aa")
    await link(pool, "Cc", "Aa")
    assert await links(pool) == [("enter", 5, 3), ("link", 2, 1), ("link", 3, 2)]


async def test_a_new_bot_of_a_family_succeeds_its_newest_version(pool: RealPool) -> None:
    await link(pool, "Cc", "Aa")
    await link(pool, "Dd", "Cc")  # whose leader leads it, too
    assert pool.families.leader(4) == 1
    await pool.bot("Dd", "9x9", version="1")
    assert await links(pool) == [("link", 3, 1), ("enter", 5, 3)]


async def test_a_link_moves_the_ratings(pool: RealPool) -> None:
    for _ in range(8):
        await pool.game(1, 2, "B+Resign")
    ratings = pool.rated["9x9"]
    state = ratings._headline.state
    before = ratings.system.standings(state)[3].mean
    await link(pool, "Cc", "Aa")
    after = ratings.system.standings(state)[3].mean
    assert after > before + 5
    await pool.reopen()
    again = pool.rated["9x9"]
    assert again.system.standings(again._headline.state)[3].mean == pytest.approx(after)


async def test_an_unlink_takes_back_what_linked_the_bot_and_closes_the_gap(pool: RealPool) -> None:
    await link(pool, "Bb", "Aa")
    await link(pool, "Cc", "Aa")
    assert await links(pool) == [("link", 2, 1), ("link", 3, 2)]
    pool.changed.clear()
    sentence = await unlink(pool, "Bb")
    assert sentence == "Bb does not belong to the family of Aa any more. Its versions are unlinked in 9x9."
    assert (await links(pool))[2:] == [("unlink", 2, 1), ("unlink", 3, 2), ("link", 3, 1)]
    assert await links(pool, 2) == [("link", 3, 1)]
    assert pool.changed == ["9x9"]
    assert pool.families.leader(2) == 2
    assert (await pool.store.history.bots.names())[1] == (2, "Bb", None)
    await unlink(pool, "Cc")
    assert (await links(pool))[5:] == [("unlink", 3, 1)]
    assert (await links(pool, 2))[1:] == [("unlink", 3, 1)]
    assert refit_of(pool.rated["9x9"]).links[0].tolist() == []
    assert await link(pool, "Bb", "Aa")
    assert (await links(pool))[6:] == [("link", 2, 1)]


async def test_an_unlink_of_a_bot_that_entered_as_a_successor(pool: RealPool) -> None:
    await link(pool, "Dd", "Aa")
    newcomer = await pool.bot("Dd", "19x19", version="1")
    later = await pool.bot("Dd", "19x19", version="2")
    assert await links(pool, 2) == [("enter", newcomer, 1), ("enter", later, newcomer)]
    await unlink(pool, "Dd")
    assert (await links(pool, 2))[2:] == [("unlink", newcomer, 1)]


async def test_links_that_cannot_be(pool: RealPool) -> None:
    await link(pool, "Bb", "Aa")

    async def code(work: Any) -> tuple[str, str]:
        with pytest.raises(Refused) as raised:
            await work
        return raised.value.code, raised.value.sentence

    assert (await code(link(pool, "Nobody", "Aa")))[0] == "unknown-bot"
    assert (await code(link(pool, "Dd", "Nobody")))[0] == "unknown-bot"
    assert (await code(unlink(pool, "aa"))) == ("unknown-bot", "There is no bot aa. Did you mean Aa?")
    assert (await code(link(pool, "Cc", "Cc")))[0] == "itself"
    assert (await code(link(pool, "Aa", "Bb")))[0] == "itself"
    assert await code(link(pool, "Bb", "Aa")) == ("linked", "Bb belongs to the family of Aa already.")
    assert await code(link(pool, "Bb", "Cc")) == (
        "linked",
        "Bb belongs to the family of Aa. First: cgos-server family unlink Bb",
    )
    assert (await code(link(pool, "Aa", "Cc"))) == (
        "leads",
        "Aa leads a family of its own (Bb). Unlink its members first, or link Cc to Aa instead.",
    )
    assert await code(unlink(pool, "Cc")) == ("not-linked", "Cc belongs to no other bot's family.")
    assert (await code(unlink(pool, "Aa")))[1].endswith("It leads one of 2: unlink the others from it.")
    assert await links(pool) == [("link", 2, 1)]


async def test_two_links_at_once_come_one_after_the_other(pool: RealPool) -> None:
    results = await asyncio.gather(link(pool, "Dd", "Aa"), link(pool, "Aa", "Cc"), return_exceptions=True)
    assert [type(result) for result in results] == [str, Conflict]
    assert pool.families.leader(4) == 1
    results = await asyncio.gather(unlink(pool, "Dd"), unlink(pool, "Dd"), return_exceptions=True)
    assert [type(result) for result in results] == [str, Conflict]


async def test_on_a_closed_database_and_without_one_of_the_venues(pool: RealPool) -> None:
    del pool.rated["19x19"]
    sentence = (await Elsewhere(pool).admin.handle(FamilyLink(bot="Cc", leader="Aa"))).sentence
    assert sentence.endswith("linked in 9x9.")
    assert (await links(pool, 1), await links(pool, 2)) == ([("link", 3, 1)], [])
    await Elsewhere(pool).admin.handle(FamilyUnlink(bot="Cc"))
    assert (await links(pool, 1))[1:] == [("unlink", 3, 1)]
    assert pool.changed == []
