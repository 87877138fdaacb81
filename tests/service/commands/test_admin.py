"""What operators do: bots, approvals, accounts, tokens, and what is kept of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from support.service.loaded_ratings import loaded_ratings

from cgos_protocol.api.people import Done, EndedGame, NewToken
from cgos_protocol.clock import ClockState
from cgos_protocol.errors import Code, CommitFailed, Conflict, NotFound, Refused
from cgos_protocol.games.base import Color
from cgos_protocol.session import Credentials, Declaration, Limits
from cgos_server.core.rating.registry import rating_system
from cgos_server.service.admin import Admin
from cgos_server.service.commands.accounts import AccountAdd, AccountGrant, AccountPasswd, AccountRevoke
from cgos_server.service.commands.availability import Kick
from cgos_server.service.commands.bots import Approve, BotAdd, BotDisable, BotEnable, BotPasswd
from cgos_server.service.commands.families import FamilyLink
from cgos_server.service.commands.games import GameAbort, Match, VenuePause, VenueResume
from cgos_server.service.commands.ratings import AnchorSet, AnchorUnset
from cgos_server.service.commands.registry import COMMANDS, ask
from cgos_server.service.commands.server import Drain, StatusRequest
from cgos_server.service.commands.tokens import TokenMake, TokenRevoke
from cgos_server.service.control import ArrangedGame, ServerStatus
from cgos_server.service.ids import Ids
from cgos_server.service.people.accounts import Accounts, SignedIn
from cgos_server.service.people.passwords import Passwords, digest
from cgos_server.service.ratings.venue_ratings import VenueRatings
from cgos_server.storage.reading.stored import StoredGame, StoredMove
from cgos_server.storage.writing.records import BotState, LedgerAdded, RatingNow, TokenAdded, TokenRevoked

STATUS = ServerStatus(
    pid=1,
    version="0",
    up_s=1.0,
    ready=True,
    draining=False,
    venues=[],
    games=[],
    bots=[],
    moves=0,
    ended={},
    warnings=0,
    errors=0,
    web="",
    health="",
)


OLD = StoredGame(
    3, 1, 1, 2, "Alpha", "Beta", "1800?", "1800?", "{}", "", 0,
    (StoredMove("D4", ClockState(1)), StoredMove("E5", ClockState(1))), "B+Resign",
)  # fmt: skip


class LiveServer:
    """A :class:`Control` that notes what is asked of it."""

    def __init__(self) -> None:
        self.dismissed: list[tuple[str, str]] = []
        self.drained = False
        self.changed: list[str] = []
        self.calls: list[tuple[Any, ...]] = []
        self.pools = {"9x9": VenueRatings(1, rating_system("cgos-elo", 1800.0, {}))}

    def status(self) -> ServerStatus:
        return STATUS

    def dismiss(self, bot: str, sentence: str) -> int:
        self.dismissed.append((bot, sentence))
        return 2

    def ratings(self, venue: str) -> VenueRatings | None:
        return self.pools.get(venue)

    def ratings_changed(self, venue: str) -> None:
        self.changed.append(venue)

    def drain(self) -> None:
        self.drained = True

    def match(self, venue: str, *, white: str, black: str, **more: Any) -> ArrangedGame:
        self.calls.append(("match", venue, white, black, *more.values()))
        opening, plies = more["opening"], more["plies"]
        moves = 0 if opening is None else plies or len(opening.moves)
        return ArrangedGame(
            game=17,
            venue=venue,
            white=white,
            white_label="1800",
            black=black,
            black_label="1750?",
            rated=opening is None,
            plies=moves,
        )

    def end_game(self, game: int, winner: Color | None, detail: str) -> EndedGame:
        self.calls.append(("end", game, winner, detail))
        if game != 17:
            raise NotFound(Code.NO_GAME, "No such game.")
        result = "Abort" if winner is None else f"{winner.letter.upper()}+Forfeit"
        return EndedGame(game=game, venue="9x9", white="White", black="Black", result=result)

    def pause(self, venue: str, paused: bool) -> None:
        self.calls.append(("pause", venue, paused))
        if venue != "9x9":
            raise NotFound(Code.UNKNOWN_VENUE, "No such venue.")

    def wishes(self, bot: int, paused: bool, limits: Limits) -> None:
        self.calls.append(("wishes", bot, paused, limits))

    def drain_bot(self, bot: int) -> int:
        self.calls.append(("drain", bot))
        return 1

    def kick(self, name: str, sentence: str) -> int:
        self.calls.append(("kick", name, sentence))
        return 1 if name == "Present" else 0


@pytest.fixture
def live() -> LiveServer:
    return LiveServer()


@pytest.fixture
def admin(
    store: Any, ids: Ids, accounts: Accounts, passwords: Passwords, clock: Callable[[], int], live: LiveServer
) -> Admin:
    return Admin(accounts, live)


@pytest.fixture
def closed(store: Any, ids: Ids, accounts: Accounts, passwords: Passwords, clock: Callable[[], int]) -> Admin:
    """As `admin`, on a database that no server holds."""

    async def load(venue: str) -> VenueRatings:
        if venue != "9x9":
            raise NotFound(Code.UNKNOWN_VENUE, f"There is no venue {venue}.")
        return await loaded_ratings(store, 1, rating_system("cgos-elo", 1800.0, {}))

    return Admin(accounts, None, load_ratings=load)


async def code(admin: Admin, request: Any) -> str:
    with pytest.raises(Refused) as raised:
        await admin.handle(request)
    return raised.value.code


async def sentence(admin: Admin, request: Any) -> str:
    response = await admin.handle(request)
    assert isinstance(response, Done)
    return response.sentence


def signed(name: str, secret: str) -> Credentials:
    return Credentials(name, secret, None, "", False, "192.0.2.1")


def audits(store: Any) -> list[tuple[str, str, str, dict[str, Any]]]:
    """The audit row that must end every group."""
    return [(a.actor, a.action, a.subject, json.loads(a.detail)) for *_, a in store.groups]


async def test_a_bot_from_its_beginning_to_its_end(admin: Admin, accounts: Accounts, store: Any, live: Any) -> None:
    assert await sentence(admin, BotAdd(name="Newbot", password="first", actor="me")) == "The bot Newbot may play."
    assert await accounts.sign_in(signed("Newbot", "first"))
    await admin.handle(BotPasswd(bot="Newbot", password="second"))
    assert await accounts.sign_in(signed("Newbot", "second"))
    assert await sentence(admin, BotDisable(bot="Newbot", reason=" it \n cheats ")) == (
        "Newbot is disabled; closed 2 connections of it."
    )
    assert live.dismissed == [(1, "Newbot was disabled: it cheats")]
    with pytest.raises(Refused, match="it cheats"):
        await accounts.sign_in(signed("Newbot", "second"))
    await admin.handle(BotEnable(bot="Newbot"))
    assert await accounts.sign_in(signed("Newbot", "second"))
    assert audits(store) == [
        ("me", "bot add", "Newbot", {"origin": "command", "state": "active"}),
        ("operator", "bot passwd", "Newbot", {}),
        ("operator", "bot disable", "Newbot", {"reason": "it cheats", "until": 0}),
        ("operator", "bot enable", "Newbot", {}),
    ]
    assert "first" not in str(store.groups)
    assert "second" not in str(store.groups)


async def test_bots_that_cannot_be(admin: Admin, store: Any) -> None:
    await admin.handle(BotAdd(name="Newbot", password="long-secret"))
    await admin.handle(AccountAdd(name="Person", password="long-secret"))
    assert await code(admin, BotAdd(name="newbot", password="long-secret")) == "name-taken"
    assert await code(admin, BotAdd(name="person", password="long-secret")) == "name-taken"
    assert await code(admin, BotAdd(name="admin9", password="long-secret")) == "name-or-password"
    assert await code(admin, BotPasswd(bot="Newbot", password="x")) == "password"
    with pytest.raises(Refused, match=r"no bot newbot\. Did you mean Newbot\?$"):
        await admin.handle(BotPasswd(bot="newbot", password="long-secret"))
    assert await code(admin, BotDisable(bot="Nobody", reason="gone")) == "unknown-bot"
    assert len(store.groups) == 2


async def test_registering_at_once_by_command_and_by_sign_in(admin: Admin, accounts: Accounts, store: Any) -> None:
    results = await asyncio.gather(
        admin.handle(AccountAdd(name="Newbot", password="long-secret")),
        accounts.sign_in(signed("Newbot", "long-secret")),
        admin.handle(BotAdd(name="NEWBOT", password="long-secret")),
        return_exceptions=True,
    )
    assert [type(result) for result in results].count(Conflict) == 2
    assert len(store.groups) == 1


async def test_approval(admin: Admin, store: Any) -> None:
    await admin.handle(BotAdd(name="Newbot", password="long-secret"))
    assert await code(admin, Approve(bot="Newbot")) == "not-pending"
    await store.commit([BotState("pending", "", None, 1)])
    assert await code(admin, BotEnable(bot="Newbot")) == "waits-approval"
    assert await sentence(admin, Approve(bot="Newbot")) == "Newbot may play."
    assert (await store.history.bots.login("Newbot")).state == "active"


async def test_accounts(admin: Admin, store: Any, passwords: Passwords) -> None:
    await admin.handle(AccountAdd(name="admin1", password="long-secret", admin=True))
    await admin.handle(AccountAdd(name="Person", password="long-secret"))
    assert [(o.name, o.admin) for o in store.owners.values()] == [("admin1", True), ("Person", False)]
    await admin.handle(AccountGrant(account="Person", right="admin"))
    assert store.owners["Person"].admin
    await admin.handle(AccountPasswd(account="Person", password="long-other"))
    assert store.owners["Person"].admin
    assert await passwords.verify(store.owners["Person"].password, "long-other")
    await admin.handle(AccountRevoke(account="Person", right="admin"))
    assert not store.owners["Person"].admin
    assert await passwords.verify(store.owners["Person"].password, "long-other")
    assert await code(admin, AccountGrant(account="Person", right="king")) == "unknown-right"
    assert await code(admin, AccountGrant(account="Nobody", right="admin")) == "unknown-account"
    assert await code(admin, AccountAdd(name="PERSON", password="long-secret")) == "name-taken"
    assert await code(admin, AccountAdd(name="a b", password="long-secret")) == "name"
    assert await code(admin, AccountAdd(name="Other", password="x")) == "password"


async def test_two_changes_of_one_account_at_once_are_both_kept(admin: Admin, store: Any, passwords: Passwords) -> None:
    await admin.handle(AccountAdd(name="Person", password="long-secret"))
    await asyncio.gather(
        admin.handle(AccountPasswd(account="Person", password="long-other")),
        admin.handle(AccountGrant(account="Person", right="admin")),
    )
    assert store.owners["Person"].admin
    assert await passwords.verify(store.owners["Person"].password, "long-other")


async def test_tokens(admin: Admin, accounts: Accounts, store: Any) -> None:
    await admin.handle(BotAdd(name="Newbot", password="long-secret"))
    await admin.handle(BotAdd(name="Other", password="long-secret"))
    made = await admin.handle(TokenMake(bot="Newbot", label="home"))
    assert isinstance(made, NewToken)
    (row,) = store.of(TokenAdded)
    assert (row.digest, row.label, row.bot_id) == (digest(made.token), "home", 1)
    assert made.token not in str(store.groups)
    assert (await accounts.sign_in(signed("Newbot", made.token))).name == "Newbot"
    assert await code(admin, TokenRevoke(bot="Other", token=made.id)) == "unknown-token"
    assert await sentence(admin, TokenRevoke(bot="Newbot", token=made.id)) == "Token 1 of Newbot is revoked."
    with pytest.raises(Refused):
        await accounts.sign_in(signed("Newbot", made.token))
    assert await code(admin, TokenRevoke(bot="Newbot", token=made.id)) == "revoked"
    assert len(store.of(TokenRevoked)) == 1


async def test_anchors_in_the_live_server(admin: Admin, live: LiveServer, store: Any) -> None:
    await admin.handle(BotAdd(name="Newbot", password="long-secret"))
    request = AnchorSet(venue="9x9", version="Newbot", rating=1500.5)
    assert await sentence(admin, request) == "Newbot is an anchor of 9x9 at 1500.5."
    pool = live.pools["9x9"]
    assert (pool.rating(1).mean, pool.rating(1).anchor) == (1500.5, True)
    assert [(e.seq, e.kind) for e in store.groups[-1] if isinstance(e, LedgerAdded)] == [(1, "enter"), (2, "anchor")]
    assert audits(store)[-1] == ("operator", "anchor set", "Newbot", {"rating": 1500.5, "venue": "9x9"})
    await admin.handle(AnchorSet(venue="9x9", version="Newbot", rating=1600))
    assert [e.seq for e in store.groups[-1] if isinstance(e, LedgerAdded)] == [3]
    await admin.handle(AnchorUnset(venue="9x9", version="Newbot"))
    assert (pool.rating(1).mean, pool.rating(1).anchor) == (1600, False)
    assert await code(admin, AnchorUnset(venue="9x9", version="Newbot")) == "no-anchor"
    assert pool.seq == 4
    assert [entry.seq for entry in store.entries] == [1, 2, 3, 4]


async def test_anchors_on_a_closed_database_are_the_same(closed: Admin, admin: Admin, store: Any) -> None:
    await closed.handle(BotAdd(name="Newbot", password="long-secret"))
    await closed.handle(AnchorSet(venue="9x9", version="Newbot", rating=1500))
    await closed.handle(AnchorSet(venue="9x9", version="Newbot", rating=1700))
    await closed.handle(AnchorUnset(venue="9x9", version="Newbot"))
    assert [(e.seq, e.kind) for e in store.of(LedgerAdded)] == [
        (1, "enter"),
        (2, "anchor"),
        (3, "anchor"),
        (4, "unanchor"),
    ]
    assert store.of(RatingNow)[-1].mean == 1700


async def test_anchors_that_cannot_be(admin: Admin, closed: Admin, live: LiveServer, store: Any) -> None:
    await admin.handle(BotAdd(name="Newbot", password="long-secret"))
    for each_admin in (admin, closed):
        assert await code(each_admin, AnchorSet(venue="8x8", version="Newbot", rating=1500)) == "unknown-venue"
        assert await code(each_admin, AnchorSet(venue="9x9", version="Nobody", rating=1500)) == "unknown-bot"
        assert await code(each_admin, AnchorSet(venue="9x9", version="Newbot", rating=float("nan"))) == "rating"
        assert await code(each_admin, AnchorSet(venue="9x9", version="Newbot", rating=1e9)) == "rating"
        assert await code(each_admin, AnchorUnset(venue="9x9", version="Newbot")) == "no-anchor"
    assert live.pools["9x9"].seq == 0
    assert store.entries == []


async def test_anchors_are_a_basket_each_with_its_sd(admin: Admin, live: LiveServer, store: Any) -> None:
    for name in ("Exact", "Vague"):
        await admin.handle(BotAdd(name=name, password="long-secret"))
    await admin.handle(AnchorSet(venue="9x9", version="Exact", rating=1500))
    assert await sentence(admin, AnchorSet(venue="9x9", version="Vague", rating=2100, sd=60)) == (
        "Vague is an anchor of 9x9 at 2100, known to a standard deviation of 60."
    )
    assert audits(store)[-1][3] == {"rating": 2100, "sd": 60, "venue": "9x9"}
    entries = [(e.version_id, e.value, e.sd) for e in store.of(LedgerAdded) if e.kind == "anchor"]
    assert entries == [(1, 1500, None), (2, 2100, 60)]
    await admin.handle(AnchorSet(venue="9x9", version="Vague", rating=2100, sd=500))
    assert store.of(LedgerAdded)[-1].sd == 500
    assert live.changed == ["9x9"] * 3
    for sd in (0.0, -1.0, 500.1, float("nan"), float("inf")):
        assert await code(admin, AnchorSet(venue="9x9", version="Vague", rating=2100, sd=sd)) == "sd"


async def test_a_version_by_its_wire_name_may_be_an_anchor(
    admin: Admin, accounts: Accounts, live: LiveServer, store: Any
) -> None:
    declared = Credentials("Zen", "long-secret", None, "", True, "192.0.2.1", Declaration("2", "ZenTwo"))
    signed_in = await accounts.sign_in(declared)
    pool = live.pools["9x9"]
    pool.enter(1, 1800.0, 0)
    await admin.handle(AnchorSet(venue="9x9", version="ZenTwo", rating=2000))
    await admin.handle(AnchorSet(venue="9x9", version="Zen", rating=1900))
    assert isinstance(signed_in, SignedIn)
    assert pool.rating(signed_in.version_id).mean == 2000
    assert pool.rating(1).mean == 1900
    assert [audit[2] for audit in audits(store)[-2:]] == ["ZenTwo", "Zen"]
    await admin.handle(AnchorUnset(venue="9x9", version="ZenTwo"))
    assert not pool.rating(signed_in.version_id).anchor
    with pytest.raises(Refused, match=r"no bot zentwo\. Did you mean ZenTwo\?$"):
        await admin.handle(AnchorUnset(venue="9x9", version="zentwo"))


async def test_an_anchor_that_enters_by_being_one_succeeds_its_family(
    admin: Admin, live: LiveServer, store: Any
) -> None:
    for name in ("Older", "Newer"):
        await admin.handle(BotAdd(name=name, password="long-secret"))
    await admin.handle(AnchorSet(venue="9x9", version="Older", rating=1500))
    await admin.handle(FamilyLink(bot="Newer", leader="Older"))
    await admin.handle(AnchorSet(venue="9x9", version="Newer", rating=1600))
    assert [(e.version_id, e.other_id) for e in store.of(LedgerAdded) if e.kind == "enter"] == [(1, None), (2, 1)]


async def test_drain_and_status(admin: Admin, closed: Admin, live: LiveServer) -> None:
    assert await admin.handle(StatusRequest()) == STATUS
    assert isinstance(await admin.handle(Drain()), Done)
    assert live.drained
    assert await code(closed, StatusRequest()) == "no-server"
    assert await code(closed, Drain()) == "no-server"


# -- the live server


async def test_a_match_is_arranged_and_written_down(admin: Admin, live: LiveServer, store: Any) -> None:
    made = await admin.handle(Match(venue="9x9", black="Bb", white="Wa", white_s=60, actor="me"))
    assert made == (
        ArrangedGame(
            game=17, venue="9x9", white="Wa", white_label="1800", black="Bb", black_label="1750?", rated=True, plies=0
        )
    )
    assert live.calls == [("match", "9x9", "Wa", "Bb", (60, 0), None, None, "me")]
    assert audits(store) == [
        ("me", "match", "game 17",
         {"venue": "9x9", "white": "Wa", "black": "Bb", "white_s": 60, "black_s": 0, "opening": 0, "plies": 0,
          "rated": True}),
    ]  # fmt: skip


async def test_a_match_from_an_old_game(admin: Admin, live: LiveServer, store: Any) -> None:
    numbers: list[int] = []

    async def game(number: int) -> StoredGame | None:
        numbers.append(number)
        return OLD if number == 3 else None

    store.games_stored = game
    made = await admin.handle(Match(venue="9x9", black="Bb", white="Wa", game=3, moves=1))
    assert isinstance(made, ArrangedGame)
    assert (made.plies, made.rated) == (1, False)
    assert live.calls[0][5:7] == (OLD, 1)
    for number in (4, 0, -1, 2**63):
        assert await code(admin, Match(venue="9x9", black="Bb", white="Wa", game=number)) == "bad-game"
    assert numbers == [3, 4]
    assert len(live.calls) == len(audits(store)) == 1


@pytest.mark.parametrize(
    ("result", "winner", "written"),
    [(None, None, "Abort"), ("Abort", None, "Abort"), ("b+forfeit", Color.BLACK, "B+Forfeit"),
     ("W+Forfeit", Color.WHITE, "W+Forfeit")],
)  # fmt: skip
async def test_a_game_is_ended_and_written_down(
    admin: Admin, live: LiveServer, store: Any, result: str | None, winner: Color | None, written: str
) -> None:
    assert await admin.handle(GameAbort(game=17, result=result, reason=" it \n hangs ")) == (
        EndedGame(game=17, venue="9x9", white="White", black="Black", result=written)
    )
    assert live.calls == [("end", 17, winner, "it hangs")]
    assert audits(store)[0][1:3] == ("abort", "game 17")
    assert audits(store)[0][3]["result"] == written


async def test_rulings_that_cannot_be(admin: Admin, closed: Admin, live: LiveServer, store: Any) -> None:
    assert await code(admin, GameAbort(game=17, result="B+3.5")) == "result"
    assert await code(admin, GameAbort(game=18)) == "no-game"
    assert await code(admin, VenuePause(venue="none")) == "unknown-venue"
    assert await code(admin, VenueResume(venue="none")) == "unknown-venue"
    assert await code(admin, Kick(bot="Absent", reason="hangs")) == "not-here"
    assert await code(admin, Kick(bot="Present", reason=" \n")) == "reason"
    for request in (
        Match(venue="9x9", black="Bb", white="Wa", game=3),
        GameAbort(game=17),
        VenuePause(venue="9x9"),
        VenueResume(venue="9x9"),
        Kick(bot="Present", reason="hangs"),
    ):
        assert await code(closed, request) == "no-server"
    assert store.groups == []


async def test_pause_resume_and_kick(admin: Admin, live: LiveServer, store: Any) -> None:
    assert "Nobody is paired in 9x9" in await sentence(admin, VenuePause(venue="9x9"))
    assert await sentence(admin, VenueResume(venue="9x9")) == "9x9 pairs again."
    assert (await sentence(admin, Kick(bot="Present", reason="too  slow"))).startswith(
        "Closed 1 connection of Present."
    )
    await admin.handle(BotAdd(name="Absent", password="long-secret"))
    assert (await sentence(admin, Kick(bot="Absent", reason="hangs"))).startswith("Closed 2 connections of Absent.")
    assert live.calls == [
        ("pause", "9x9", True),
        ("pause", "9x9", False),
        ("kick", "Present", "The operator closes your connection: too slow"),
        ("kick", "Absent", "The operator closes your connection: hangs"),
    ]
    assert [audit[1:3] for audit in audits(store)] == [
        ("pause", "9x9"), ("resume", "9x9"), ("kick", "Present"), ("bot add", "Absent"), ("kick", "Absent"),
    ]  # fmt: skip


# -- as bytes


async def test_a_request_and_its_answer_as_lines(admin: Admin, store: Any) -> None:
    assert await ask(admin.answer, BotAdd(name="Newbot", password="long-secret")) == Done(
        sentence="The bot Newbot may play."
    )
    assert isinstance(await ask(admin.answer, TokenMake(bot="Newbot")), NewToken)
    assert await ask(admin.answer, StatusRequest()) == STATUS
    assert isinstance(await ask(admin.answer, Match(venue="9x9", black="Bb", white="Wa")), ArrangedGame)
    assert isinstance(await ask(admin.answer, GameAbort(game=17)), EndedGame)
    with pytest.raises(Refused, match="There is no bot Nobody") as raised:
        await ask(admin.answer, BotEnable(bot="Nobody"))
    assert raised.value.code == "unknown-bot"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\xff",
        b"[]",
        b'{"do": "fly"}',
        b'{"do": "bot enable"}',
        b'{"do": "bot enable", "name": 3}',
        b'{"do": "bot enable", "name": "x", "more": 1}',
        b'{"do": "on behalf", "credential": "x", "address": "y", "request": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    ],
    ids=lambda line: line[:50].decode(errors="replace"),
)
async def test_lines_that_are_no_request(admin: Admin, line: bytes) -> None:
    answer = msgspec.json.decode(await admin.answer(line))
    assert (answer["is"], answer["code"]) == ("refused", "bad-request")


async def test_a_database_that_does_not_commit_is_told(admin: Admin, store: Any) -> None:
    async def fail(_: Any) -> None:
        raise CommitFailed("the disk is full")

    store.commit = fail
    with pytest.raises(Refused, match="The server could not do it: the disk is full") as raised:
        await ask(admin.answer, BotAdd(name="Newbot", password="long-secret"))
    assert raised.value.code == "our-fault"


def test_every_request_has_its_own_word_and_says_who_asks() -> None:
    assert len({command.word() for command in COMMANDS}) == len(COMMANDS)
    for command in COMMANDS:
        assert command.__doc__
        assert "actor" in command.__struct_fields__
