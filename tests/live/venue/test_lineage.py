"""A newcomer's entry in a venue's ledger names the version that it succeeds."""

from __future__ import annotations

from support.live.house import Accounts, House
from support.live.simulated import RecordingSession

from cgos_protocol.errors import Code, Invalid
from cgos_protocol.ids import VersionId
from cgos_protocol.session import Credentials, Declaration, NamedPredecessor
from cgos_server.core.rating.lineage import Predecessor
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


class Naming(Accounts):
    """A bot names the version with the number that its predecessor is called; ``0`` is nobody's."""

    async def predecessor(self, signed: SignedIn, named: NamedPredecessor) -> Predecessor:
        if named.name == "0":
            raise Invalid(Code.PREDECESSOR, "There is no version 0 that you could succeed.")
        return Predecessor(VersionId(int(named.name)), named.sd, named.surely)


async def naming(house: House, name: str, predecessor: str, sd: float | None = None) -> RecordingSession:
    """A bot signs in that names its predecessor, surely."""
    declared = Declaration(predecessor=NamedPredecessor(predecessor, sd, True))
    session = RecordingSession(50 + len(house.sessions))
    credentials = Credentials(name, "secret", None, "test", False, "127.0.0.1", declared)
    house.live.arrivals.sign_in(session, credentials)
    await house.settle()
    house.sessions[name] = session
    return session


async def test_a_newcomer_succeeds_whom_it_names_where_that_one_has_been() -> None:
    house = House()
    house.accounts = Naming()
    await house.open()
    house.families.lead(3, 1)
    house.families.lead(4, 1)
    await house.arrive("One", "Two")
    await naming(house, "Three", "2", 40.0)
    await naming(house, "Four", "77")
    enters = [row for row in house.store.of(LedgerAdded) if row.kind == "enter"]
    assert [(row.version_id, row.other_id, row.sd, row.surely) for row in enters] == [
        (1, None, None, 0), (2, None, None, 0), (3, 2, 40.0, 1), (4, 3, None, 0)
    ]  # fmt: skip
    assert house.live.ratings.lineage.links() == [(3, Predecessor(2, 40.0, True)), (4, Predecessor(3))]


async def test_a_newcomer_that_names_nobody_who_is_stays_outside_and_who_is_in_may_say_what_it_likes() -> None:
    house = House()
    house.accounts = Naming()
    await house.open()
    refused = await naming(house, "One", "0")
    assert refused.code == "predecessor"
    assert entered(house) == []
    await house.sign_in("One")
    house.live.lobby.left(house.live.roster.players[1], orderly=True)
    again = await naming(house, "One", "0")
    assert again.words()[0] == "accepted"
    assert entered(house) == [(1, None)]


async def test_what_was_said_by_command_comes_before_what_a_bot_names() -> None:
    house = House()
    house.accounts = Naming()
    await house.open()
    await house.arrive("One", "Two")
    house.families.linked(VersionId(3), Predecessor(VersionId(1)))
    house.families.linked(VersionId(4), None)
    await naming(house, "Three", "2")
    await naming(house, "Four", "2")
    assert entered(house)[2:] == [(3, 1), (4, None)]


async def test_who_comes_again_enters_no_more() -> None:
    house = await House().open()
    house.families.lead(2, 1)
    await house.arrive("Zen-1", "Zen-2")
    house.live.lobby.left(house.live.roster.players[1], orderly=True)
    house.families.lead(2, None)
    session = await house.sign_in("Zen-1")
    assert session.words()[0] == "accepted"
    assert entered(house) == [(1, None), (2, 1)]
