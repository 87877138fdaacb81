"""An operator's commands on a live venue: games arranged and ended, pairing paused, bots sent away, all audited."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from support.live.acts import server_acts
from support.live.house import HistoryStore, House
from support.live.simulated import RecordingSession

from cgos_protocol.clock import ClockState, TimeControl, TimeSystem
from cgos_protocol.errors import CommitFailed
from cgos_protocol.games.base import Ruleset
from cgos_protocol.session import Availability, Limits
from cgos_protocol.terms import decode_terms, encode_terms
from cgos_server.core.venue import terms_of
from cgos_server.live.venue.live_control import Addresses, LiveControl
from cgos_server.live.venue.operator_session import Operators, OperatorSession
from cgos_server.observability.logs import LogCounts
from cgos_server.observability.metrics import Metrics
from cgos_server.service.admin import Admin
from cgos_server.service.holds import Hold
from cgos_server.service.people.accounts import Accounts, Operator
from cgos_server.storage.reading.stored import BotLogin, Owner, StoredGame, StoredMove
from cgos_server.storage.writing.records import AuditAdded, GameAdded, GameEnded, LedgerAdded, MoveAdded

S = 1_000_000
CLOCK = ClockState(50 * S)


class Store(HistoryStore):
    def __init__(self) -> None:
        super().__init__()
        self.owners = {"admin": Owner(1, "admin", "hash", True, "active")}
        self.recent: list[StoredGame] = []
        self.fails = False

    async def people_owner(self, name: str) -> Owner | None:
        await asyncio.sleep(0)
        return self.owners.get(name)

    async def bots_login(self, name: str) -> BotLogin | None:
        return BotLogin(3, 99, "Family", "", "active", "", frozenset()) if name == "Family" else None

    async def games_recent(self, venue_id: int, limit: int) -> list[StoredGame]:
        return self.recent[-limit:]

    async def commit(self, records: Sequence[Any]) -> None:
        if self.fails:
            raise CommitFailed("the disk is full")
        await super().commit(records)


class Post:
    """A venue, and an operator at its desk."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.store: Any = house.store
        live = house.live
        control = LiveControl(
            {"9x9": live}, self.store, house.time, Metrics.__new__(Metrics), LogCounts(), Addresses(),
            server_acts(self.reload),
        )  # fmt: skip
        self.control = control
        nobody: Any = None
        accounts = Accounts(self.store, nobody, nobody, "open", house.time.wall_ms)
        admin = Admin(accounts, control)
        operators = Operators({"9x9": live}, admin, self.store, house.spawn)
        self.desk: OperatorSession = operators("9x9", Operator("admin"), "127.0.0.1")

    async def reload(self) -> list[str]:
        return []

    @classmethod
    async def open(cls, time: TimeControl | None = None) -> Post:
        house = House()
        house.store = Store()
        if time is not None:
            house.venue = replace(house.venue, time=time)
        await house.open()
        return cls(house)

    async def say(self, line: str) -> list[str]:
        answers: list[list[str]] = []
        self.desk.command(line, lambda lines: answers.append(list(lines)))
        await asyncio.gather(*self.house.tasks)
        (lines,) = answers
        self.house.time.advance(0)
        return lines

    @property
    def games(self) -> list[Any]:
        return list(self.house.live.roster.games())

    @property
    def rated(self) -> bool:
        """Whether a game has changed ratings."""
        return any(row.kind == "game" for row in self.store.of(LedgerAdded))

    def audits(self) -> list[tuple[str, str, str, dict[str, Any]]]:
        return [(a.actor, a.action, a.subject, json.loads(a.detail)) for a in self.store.of(AuditAdded)]

    def old(self, number: int, moves: str, rules: Ruleset | None = None, start: str = "") -> None:
        """A game of the archive."""
        terms = terms_of(self.house.venue)
        terms = replace(terms, rules=rules or terms.rules)
        self.store.stored[number] = StoredGame(
            number, 1, 1, 2, "Alpha", "Beta", "1800?", "1800?", encode_terms(terms), start,
            1_700_000_000_000, tuple(StoredMove(move, CLOCK) for move in moves.split()), "B+Resign", "",
            1_700_000_100_000, 2, 2, 0, "resignation",
        )  # fmt: skip


@pytest.fixture
async def post() -> Post:
    post = await Post.open()
    await post.house.arrive("Alpha", "Beta", "Gamma")
    return post


# -- reading


def _but_spread(lines: list[str]) -> list[str]:
    """Name, state, game and rating; the last word is how sure the rating system is."""
    assert all(float(line.split()[4]) >= 0 for line in lines)
    return [line.rpartition(" ")[0] for line in lines]


async def test_who(post: Post) -> None:
    assert _but_spread(await post.say("who")) == [
        "Alpha waiting 0 1800.0",
        "Beta waiting 0 1800.0",
        "Gamma waiting 0 1800.0",
    ]
    await post.say("match Beta Alpha")
    assert _but_spread(await post.say("who"))[:2] == ["Alpha genmove 1 1800.0", "Beta ok 1 1800.0"]
    post.games[0].move(post.games[0].referee.to_play, "resign", None, post.house.time.received())
    lines = await post.say("who")
    assert [line.split()[:3] for line in lines[:2]] == [["Alpha", "gameover", "0"], ["Beta", "gameover", "0"]]
    seat = post.house.sessions["Gamma"].seat
    assert seat is not None
    seat.available(Availability.PAUSED)
    assert _but_spread(await post.say("who"))[2] == "Gamma paused 0 1800.0"
    seat.left(True)
    assert len(await post.say("who")) == 2


async def test_nobody_is_there() -> None:
    post = await Post.open()
    assert await post.say("who") == []
    assert await post.say("games") == []


async def test_games(post: Post) -> None:
    post.old(3, "D4 E5")
    post.store.recent = [post.store.stored[3]]
    await post.say("match Beta Alpha 60 30")
    expected = "match 3 2023-11-14 22:13 9 7.0 Beta(1800?) Alpha(1800?) - - - B+Resign"
    assert await post.say("games") == [expected, "match 1 - - 9 7.0 Beta(1800?) Alpha(1800?) 60000 30000 0 -"]
    game = post.games[0]
    post.house.time.advance(5 * S)
    game.move(game.referee.to_play, "D4", None, post.house.time.received())
    assert (await post.say("games"))[1] == "match 1 - - 9 7.0 Beta(1800?) Alpha(1800?) 60000 25250 1 -"
    post.house.time.advance(7 * S)
    game.move(game.referee.to_play, "E5", None, post.house.time.received())
    assert (await post.say("games"))[1] == "match 1 - - 9 7.0 Beta(1800?) Alpha(1800?) 53250 25250 2 -"


async def test_help_and_nonsense(post: Post) -> None:
    assert any(line.startswith("help match <white> <black>") for line in await post.say("help"))
    assert await post.say("hello") == ["unknown command hello, say help"]
    assert await post.say("abort") == ["usage: abort <game> [Abort|B+Forfeit|W+Forfeit]"]


# -- match


async def test_an_ordinary_match_is_rated(post: Post) -> None:
    assert await post.say("match Beta Alpha") == ["match Beta(1800?) Alpha(1800?)"]
    (game,) = post.games
    assert [side.name for side in game.sides] == ["Alpha", "Beta"]
    assert post.house.sessions["Alpha"].words() == ["accepted", "info", "setup", "genmove"]
    assert game.setup().why == "Arranged by admin (127.0.0.1)."
    game.move(game.referee.to_play, "resign", None, post.house.time.received())
    assert post.rated
    assert post.audits() == [
        ("admin (127.0.0.1)", "match", "game 1",
         {"venue": "9x9", "white": "Beta", "black": "Alpha", "white_s": 0, "black_s": 0, "opening": 0, "plies": 0,
          "rated": True}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("clocks", "mains", "rated"),
    [
        ("60", None, True),  # it is the venue's own
        ("0 60", None, True),
        ("30", (60 * S, 30 * S), False),
        ("0 30", (30 * S, 60 * S), False),
        ("600 300", (300 * S, 600 * S), False),
    ],
)
async def test_clocks(post: Post, clocks: str, mains: tuple[int, int] | None, rated: bool) -> None:
    assert await post.say(f"match Beta Alpha {clocks}") == ["match Beta(1800?) Alpha(1800?)"]
    (added,) = post.store.of(GameAdded)
    terms = decode_terms(added.terms)
    assert (terms.mains, terms.rated) == (mains, rated)
    (game,) = post.games
    if mains is not None:
        assert game.referee.remaining_ms(0) == mains[0] // 1000
        assert terms.first_move_limit >= max(mains)
    game.move(game.referee.to_play, "resign", None, post.house.time.received())
    assert post.rated is rated


async def test_other_time_systems_have_no_clock_of_one_game() -> None:
    post = await Post.open(TimeControl(system=TimeSystem.BYOYOMI, main=60 * S, period=10 * S, periods=3))
    await post.house.arrive("Alpha", "Beta")
    assert await post.say("match Beta Alpha 30") == [
        "bad time: Only absolute time can be set for one game, and 9x9 plays with byoyomi time."
    ]
    assert await post.say("match Beta Alpha") == ["match Beta(1800?) Alpha(1800?)"]


async def test_from_an_old_game(post: Post) -> None:
    post.old(3, "D4 E5 C3 D3")
    assert await post.say("match Beta Alpha 30 20 3 3") == ["match Beta(1800?) Alpha(1800?)"]
    (game,) = post.games
    setup = game.setup()
    assert setup.moves == (("D4", 20_000), ("E5", 30_000), ("C3", 20_000))
    assert setup.left_ms == (20_000, 30_000)
    assert setup.why == "Arranged by admin (127.0.0.1), from game 3 after move 3."
    assert [(row.ply, row.move, row.main_us) for row in post.store.of(MoveAdded)] == [
        (1, "D4", 20 * S), (2, "E5", 30 * S), (3, "C3", 20 * S),
    ]  # fmt: skip
    assert post.house.sessions["Beta"].last()[0] == "genmove"
    assert not decode_terms(post.store.of(GameAdded)[0].terms).rated
    game.move(game.referee.to_play, "D4", None, post.house.time.received())  # occupied
    assert post.store.of(GameEnded)[0].result == "B+Illegal"
    assert not post.rated


async def test_a_whole_old_game_with_the_venues_clocks(post: Post) -> None:
    post.old(3, "D4 E5")
    assert await post.say("match Beta Alpha 0 0 3") == ["match Beta(1800?) Alpha(1800?)"]
    assert post.games[0].setup().moves == (("D4", 60_000), ("E5", 60_000))


async def test_matches_that_cannot_be(post: Post) -> None:
    lobby, roster = post.house.live.lobby, post.house.live.roster
    post.old(3, "D4 PASS PASS")
    post.old(4, "D4", rules=Ruleset(size=13))
    post.old(5, "D4", start='{"black":["D4"]}')
    assert await post.say("match Alpha Alpha") == ["same player Alpha Alpha: Alpha cannot play itself."]
    assert await post.say("match Delta Alpha") == [
        "no login player Delta: Delta is not signed in to 9x9. Capitals count in names."
    ]
    assert await post.say("match Alpha alpha") == [
        "no login player alpha: alpha is not signed in to 9x9. Capitals count in names."
    ]
    assert await post.say("match Beta Alpha 700000") == [
        "bad time: Give whole seconds from 1 to 604800, or 0 for the venue's own time."
    ]
    assert await post.say("match Beta Alpha 0 0 99 1") == ["bad game: There is no game 99 to begin from."]
    assert await post.say("match Beta Alpha 0 0 0 1") == ["bad game: There is no game 0 to begin from."]
    assert await post.say("match Beta Alpha 0 0 4 1") == [
        "bad game: Game 4 was not played by the rules of this venue "
        "(go 9x9, komi 7.0, positional ko, suicide forbidden)."
    ]
    assert (await post.say("match Beta Alpha 0 0 5 1"))[0].startswith("bad game: Game 5 was not played by the rules")
    assert await post.say("match Beta Alpha 0 0 3 4") == [
        "bad game length: Game 3 has 3 moves: give a number from 1 to 3."
    ]
    assert await post.say("match Beta Alpha 0 0 3 0") == [
        "bad game length: Game 3 has 3 moves: give a number from 1 to 3."
    ]
    assert await post.say("match Beta Alpha 0 0 3") == [
        "bad game length: Game 3 is over after its move 3: take fewer moves of it."
    ]
    assert post.games == []
    assert post.audits() == []
    await post.say("match Beta Alpha")
    assert await post.say("match Gamma Alpha") == [
        "player is not waiting Alpha: Alpha is not waiting for a game: it plays game 1."
    ]
    assert await post.say("match Alpha Gamma") == [
        "player is not waiting Alpha: Alpha is not waiting for a game: it plays game 1."
    ]
    post.games[0].abort("")
    assert "it has not said ready since its last one ended" in (await post.say("match Alpha Gamma"))[0]
    gamma = next(player for player in roster.players.values() if player.name == "Gamma")
    post.house.live.lobby.change(gamma, Availability.PAUSED)
    beta = next(player for player in roster.players.values() if player.name == "Beta")
    lobby.ready(beta)
    assert "it has asked for a pause" in (await post.say("match Beta Gamma"))[0]
    post.house.live.lobby.change(gamma, Availability.READY)
    gamma.limits = Limits(games_a_day=0)
    assert "it has as many as it or its owner allows" in (await post.say("match Beta Gamma"))[0]
    gamma.limits = Limits()
    post.house.live.matchmaker.holds.add(Hold.STOPPING)
    assert await post.say("match Beta Gamma") == ["The server is going down and begins no new game."]


async def test_a_match_that_is_being_committed_takes_both(post: Post) -> None:
    post.store.holding = True
    answers: list[Any] = []
    post.desk.command("match Beta Alpha", answers.append)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert await post.say("match Gamma Alpha") == [
        "player is not waiting Alpha: Alpha is not waiting for a game: one is about to begin."
    ]
    assert post.games == []
    post.store.release()
    assert len(post.games) == 1


# -- abort


@pytest.mark.parametrize(
    ("words", "result", "rated"),
    [("", "Abort", False), (" Abort", "Abort", False), (" abort", "Abort", False), (" B+Forfeit", "B+Forfeit", True),
     (" W+Forfeit", "W+Forfeit", True)],
)  # fmt: skip
async def test_abort(post: Post, words: str, result: str, rated: bool) -> None:
    await post.say("match Beta Alpha")
    assert await post.say(f"abort 1{words}") == ["aborted 1 Beta Alpha"]
    (ended,) = post.store.of(GameEnded)
    assert (ended.result, ended.detail) == (result, "By ruling of the operator")
    assert post.rated is rated
    assert post.house.sessions["Alpha"].last() == ("gameover", result, "By ruling of the operator")
    assert post.audits()[-1] == (
        "admin (127.0.0.1)", "abort", "game 1",
        {"venue": "9x9", "white": "Beta", "black": "Alpha", "result": result, "reason": ""},
    )  # fmt: skip


async def test_aborts_that_cannot_be(post: Post) -> None:
    assert await post.say("abort 1") == ["No game: No game 1 is running. See: cgos-server status"]
    await post.say("match Beta Alpha")
    assert await post.say("abort 1 B+3.5") == [
        "A game can be given B+Forfeit or W+Forfeit, which is rated, or Abort, which is not."
    ]
    assert not post.store.of(GameEnded)
    post.store.holding = True
    game = post.games[0]
    game.move(game.referee.to_play, "resign", None, post.house.time.received())
    (reply,) = await post.say("abort 1 B+Forfeit")
    assert reply == "Game 1 is just ending by itself.", "how it ends is told after the commit"
    post.store.release()
    assert post.store.of(GameEnded)[0].result == "W+Resign"


async def test_abort_while_a_move_is_being_committed(post: Post) -> None:
    await post.say("match Beta Alpha")
    post.store.holding = True
    game = post.games[0]
    game.move(game.referee.to_play, "D4", None, post.house.time.received())
    answers: list[Any] = []
    post.desk.command("abort 1 W+Forfeit", answers.append)
    for _ in range(5):
        await asyncio.sleep(0)
    post.store.release()
    post.store.release()
    await asyncio.gather(*post.house.tasks)
    assert answers == [["aborted 1 Beta Alpha"]]
    assert post.store.of(GameEnded)[0].result == "W+Forfeit"
    assert [row.move for row in post.store.of(MoveAdded)] == ["D4"]


async def test_an_abort_is_told_after_its_commit_also_where_a_move_goes_before_it(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is busy with the move; what gathers meanwhile is its next batch, and the game's end comes after that."""
    await post.say("match Beta Alpha")
    store, game = post.store, post.games[0]
    flying: list[tuple[Any, Any]] = []
    gathered: list[tuple[Any, Any]] = []

    async def commit(records: Sequence[Any]) -> None:
        done = asyncio.get_running_loop().create_future()
        gathered.append((records, lambda: done.set_result(None)))
        await done

    async def turn() -> None:
        done, flying[:] = flying[:], gathered
        gathered.clear()
        for records, _ in done:
            store.records.extend(records)
        for _, then in done:
            if then is not None:
                then()
        for _ in range(10):
            await asyncio.sleep(0)

    monkeypatch.setattr(store, "submit", lambda records, then=None: gathered.append((records, then)))
    monkeypatch.setattr(store, "commit", commit)
    game.move(game.referee.to_play, "D4", None, post.house.time.received())
    await turn()
    answers: list[Any] = []
    post.desk.command("abort 1 W+Forfeit", answers.append)
    for _ in range(10):
        await asyncio.sleep(0)
    for _ in range(6):
        await turn()
        assert bool(answers) <= bool(store.of(GameEnded))
    assert answers == [["aborted 1 Beta Alpha"]]
    assert [row.action for row in store.of(AuditAdded)] == ["match", "abort"]


# -- pause, resume, kick


async def test_pause_and_resume(post: Post) -> None:
    (reply,) = await post.say("pause")
    assert reply.startswith("Nobody is paired in 9x9 until")
    await post.house.run_pass()
    assert post.games == []
    assert post.control._venue(post.house.live).paused
    assert await post.say("match Beta Alpha") == [
        "match Beta(1800?) Alpha(1800?)"
    ]  # a tournament of the operator's own
    post.games[0].abort("")
    for name in ("Alpha", "Beta"):
        seat = post.house.sessions[name].seat
        assert seat is not None
        seat.ready()
    assert await post.say("resume") == ["9x9 pairs again."]
    for _ in range(20):
        post.house.time.advance(5 * S)
        await post.house.run_pass()
    assert len(post.store.of(GameAdded)) > 1
    assert [audit[1] for audit in post.audits()] == ["pause", "match", "resume"]


async def test_kick(post: Post) -> None:
    (reply,) = await post.say("kick Alpha it  hangs")
    assert reply.startswith("Closed 1 connection of Alpha. It may come back; to keep it out: cgos-server bot disable")
    session = post.house.sessions["Alpha"]
    assert session.last() == ("refused", "The operator closes your connection: it hangs")
    assert post.audits() == [
        ("admin (127.0.0.1)", "kick", "Alpha", {"reason": "it hangs", "connections": 1}),
    ]
    assert (await post.say("kick Beta"))[0].startswith("usage: kick")
    assert await post.say("kick Delta away") == ["Delta is not signed in. See: cgos-server status"]


async def test_kick_by_the_name_of_a_bot_closes_its_versions() -> None:
    post = await Post.open()
    post.house.families.arrived(1, 3)
    await post.house.sign_in("Family-1", session=RecordingSession(7))
    for player in post.house.live.roster.players.values():
        player.bot = 3
    (reply,) = await post.say("kick Family too slow")
    assert reply.startswith("Closed 1 connection of Family.")


# -- who may


@pytest.mark.parametrize(
    "owner",
    [None, Owner(1, "admin", "hash", False, "active"), Owner(1, "admin", "hash", True, "disabled")],
    ids=["gone", "right taken", "disabled"],
)
async def test_a_right_that_was_taken_away_ends_at_once(post: Post, owner: Owner | None) -> None:
    if owner is None:
        del post.store.owners["admin"]
    else:
        post.store.owners["admin"] = owner
    for command in ("who", "games", "match Beta Alpha", "abort 1", "pause", "kick Alpha it hangs"):
        assert await post.say(command) == ["The account admin has not the right admin any more."]
    assert post.games == []


async def test_a_database_that_does_not_commit_is_told(post: Post) -> None:
    post.store.fails = True
    assert await post.say("pause") == ["The server could not do it: the disk is full"]


async def test_a_fault_of_ours_is_answered_too(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(post.desk, "_who", lambda: 1 // 0)
    assert (await post.say("who"))[0].startswith("The server made a mistake")
