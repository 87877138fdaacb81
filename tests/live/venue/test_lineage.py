"""A newcomer's entry in a venue's ledger names the version that it succeeds."""

from __future__ import annotations

from support.live.house import Accounts, House

from cgos_protocol.session import Credentials
from cgos_server.service.people.accounts import SignedIn
from cgos_server.storage.writing.records import ConnectionOpened, LedgerAdded


class Versions(Accounts):
    """Everybody may come in; ``Zen-2`` is a version of the bot Zen."""

    def __init__(self) -> None:
        super().__init__()
        self.bots: dict[str, int] = {}

    async def sign_in(self, credentials: Credentials) -> SignedIn:
        version = (await super().sign_in(credentials)).version_id
        bot = self.bots.setdefault(credentials.name.split("-")[0], version)
        return SignedIn(bot, version, credentials.name)


def entered(house: House) -> list[tuple[int | None, int | None]]:
    """(version, predecessor) of every ENTER."""
    return [(row.version_id, row.other_id) for row in house.store.of(LedgerAdded) if row.kind == "enter"]


async def test_a_bot_of_a_family_enters_as_its_successor() -> None:
    house = await House().open()
    house.families.lead(3, 1)
    house.families.lead(4, 1)
    await house.arrive("Zen-1", "Other", "Zen-2", "Zen-3")
    assert entered(house) == [(1, None), (2, None), (3, 1), (4, 3)]


async def test_a_new_version_of_a_bot_enters_as_its_successor_in_every_venue_for_itself() -> None:
    first = House()
    first.accounts = Versions()
    await first.open()
    second = House(beside=first)
    second.families = first.families
    await second.open()
    await first.check_in("Zen-1")
    await first.check_in("Other")
    await second.check_in("Zen-2")
    await first.check_in("Zen-2")
    await first.check_in("Zen-3", 1, None, (), second)
    assert entered(first) == [(1, None), (2, None), (3, None), (3, 1), (4, 3), (4, 3)]
    assert len(first.store.of(ConnectionOpened)) == 6


async def test_who_comes_again_enters_no_more() -> None:
    house = await House().open()
    house.families.lead(2, 1)
    await house.arrive("Zen-1", "Zen-2")
    house.live.lobby.left(house.live.roster.players[1], orderly=True)
    house.families.lead(2, None)
    session = await house.sign_in("Zen-1")
    assert session.words()[0] == "accepted"
    assert entered(house) == [(1, None), (2, 1)]
