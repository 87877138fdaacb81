"""Events that follow others on the live server, and a server that is killed in between."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest
from support.live.event_room import EventRoom

from cgos_server.storage.writing import records as rows
from cgos_server.tournaments.base import BLACK_WINS, WHITE_WINS
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import Times
from cgos_server.tournaments.running.state import Phase

WEEK_MS = 7 * 86_400_000
PLAYOFF = "Weekly-playoff"


class Commits:
    """What a store submits in one turn of the loop is one commit.

    :ivar ends: how many records there were after each
    """

    def __init__(self, room: EventRoom) -> None:
        self.ends: list[int] = []
        self._store = room.house.store
        self._submit = self._store.submit
        self._open = False
        self._store.submit = self.submit  # type: ignore[method-assign]

    def submit(self, records: Sequence[rows.Record], then: Callable[[], None] | None = None) -> None:
        if not self._open:
            self._open = True
            asyncio.get_running_loop().call_soon(self._end)
        self._submit(records, then)

    def _end(self) -> None:
        self._open = False
        if not self.ends or self.ends[-1] < len(self._store.records):
            self.ends.append(len(self._store.records))


async def cut(room: EventRoom, records: int) -> None:
    """The server is killed when so many records were committed, and starts again; games that ran are void."""
    store = room.house.store
    del store.records[records:]
    ended = {record.id for record in store.of(rows.GameEnded)}
    for record in store.of(rows.EventGame):
        if record.game_id not in ended:
            store.records.append(
                rows.GameEnded(
                    ended_at=room.house.time.wall_ms(),
                    winner=None,
                    reason="void",
                    margin2=None,
                    detail="The server was killed.",
                    result="Void",
                    black_told=2,
                    white_told=2,
                    id=record.game_id,
                )
            )
    await room.restart("anna", "bert")
    await room.look()


async def entered(room: EventRoom, delay_s: int = 5) -> None:
    """One of a series, with a playoff, before its start."""
    starts_at = room.house.time.wall_ms() + 1000 * delay_s
    times = Times(starts_at=starts_at, every_days=7)
    await room.hold("anna", "bert", start=False, name="Weekly", options={"double": True}, playoff=True, times=times)


async def to_the_end(room: EventRoom) -> None:
    """Each wins with Black, so that both share the first place; anna wins the playoff for it."""
    await room.look(6)
    while room.running:
        names = {row.name for row in room.house.store.of(rows.EventAdded)}
        for game in room.running:
            await room.end(game, "anna" if PLAYOFF in names else game.sides[0].name)
        await room.look()


def kinds(room: EventRoom, name: str) -> list[str]:
    """Of the entries of an event's log."""
    (event,) = (row.id for row in room.house.store.of(rows.EventAdded) if row.name == name)
    return [row.kind for row in room.house.store.of(rows.EventLogged) if row.event_id == event]


def require_each_once(room: EventRoom) -> None:
    """The next of the series and the playoff were announced once, and the playoff decided once."""
    assert sorted(row.name for row in room.house.store.of(rows.EventAdded)) == ["Weekly", "Weekly-2", PLAYOFF]
    assert kinds(room, "Weekly").count("followed") == 2
    assert kinds(room, "Weekly").count("decided") == 1
    assert kinds(room, PLAYOFF)[-1] == "finished"
    assert kinds(room, "Weekly-2") == ["announced", "opened"]
    decided = [row.body for row in room.house.store.of(rows.EventLogged) if row.kind == "decided"]
    assert [log.decode(body) for body in decided] == [log.Decided(entrants=(1,), by=PLAYOFF)]


async def held() -> tuple[EventRoom, list[int]]:
    """A series and its playoff, to the end; how many records there were when all had entered, and after each commit
    from then on."""
    room = await EventRoom.open("anna", "bert")
    await entered(room)
    before = len(room.house.store.records)
    commits = Commits(room)
    await to_the_end(room)
    require_each_once(room)
    return room, [before, *commits.ends]


async def test_killed_after_any_commit_a_series_goes_on_and_its_playoff_too() -> None:
    _, ends = await held()
    assert len(ends) > 10
    for at in range(len(ends)):
        room, again = await held()
        assert again == ends
        await cut(room, ends[at])
        await to_the_end(room)
        require_each_once(room)
        await room.restart("anna", "bert")
        await room.look(5)
        require_each_once(room)


@pytest.mark.parametrize(("kind", "brought"), [("started", "Weekly-2"), ("finished", PLAYOFF)])
async def test_what_follows_is_announced_in_the_commit_that_brings_it_about(kind: str, brought: str) -> None:
    """Or a kill in between would lose it: nobody reads the logs of events that are over."""
    room, ends = await held()
    records = room.house.store.records
    cause = next(at for at, row in enumerate(records) if isinstance(row, rows.EventLogged) and row.kind == kind)
    added = next(at for at, row in enumerate(records) if isinstance(row, rows.EventAdded) and row.name == brought)
    (_, until) = next((begin, end) for begin, end in zip([0, *ends], ends, strict=False) if begin <= cause < end)
    assert cause < added < until
    followed = next(row for row in records[added:until] if isinstance(row, rows.EventLogged) and row.kind == "followed")
    assert brought in followed.body


async def shared(room: EventRoom) -> None:
    """anna and bert each win one of their two games."""
    await room.hold("anna", "bert", options={"double": True}, playoff=True)
    await room.end(room.game_of("anna", "bert"), "anna")
    await room.end(room.game_of("anna", "bert"), "bert")


async def test_a_shared_first_place_is_played_for_at_once() -> None:
    room = await EventRoom.open("anna", "bert")
    await shared(room)
    assert room.state().phase is Phase.OVER
    assert room.state("E-playoff").phase is Phase.RUNNING
    assert room.playing() == {frozenset({"anna", "bert"})}
    await room.play_on("E-playoff")
    assert room.state().won_playoff == (room.seat("anna"),)


async def test_a_playoff_goes_on_after_the_server_was_killed_and_decides_once() -> None:
    room = await EventRoom.open("anna", "bert")
    await shared(room)
    await room.end(room.game_of("anna", "bert"), "bert")
    await room.restart("anna", "bert")
    ((_, game),) = room.state("E-playoff").open_games
    bert_has_black = room.names(room.state("E-playoff"), game)[0] == "bert"
    result = BLACK_WINS if bert_has_black else WHITE_WINS
    room.say(log.Ruled(game=game.id, result=result, reason="It was won when the power failed."), "E-playoff")
    await room.look()
    assert room.state().won_playoff == (room.seat("bert"),)
    await room.restart("anna", "bert")
    await room.look()
    kinds = [row.kind for row in room.house.store.of(rows.EventLogged) if row.event_id == 1]
    assert kinds.count("followed") == 1
    assert kinds.count("decided") == 1


async def test_the_next_of_a_series_is_announced_once_however_often_the_server_starts() -> None:
    room = await EventRoom.open("anna", "bert")
    starts_at = room.house.time.wall_ms() + 3_600_000
    await room.hold("anna", "bert", name="Weekly", times=Times(starts_at=starts_at, every_days=7))
    await room.restart("anna", "bert")
    await room.look()
    names = [row.name for row in room.house.store.of(rows.EventAdded)]
    assert names == ["Weekly", "Weekly-2"]
    following = room.state("Weekly-2")
    assert following.phase is Phase.ENTRY, "as the first one was opened by hand"
    assert following.settings.times.starts_at == starts_at + WEEK_MS
    room.say(log.Cancelled(reason="Holidays."), "Weekly-2")
    assert room.state("Weekly-3").settings.times.starts_at == starts_at + 2 * WEEK_MS
