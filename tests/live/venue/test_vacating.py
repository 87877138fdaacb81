"""A bot that is being erased ends its play, and the venue uses its new name at once."""

from __future__ import annotations

from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from support.live.acts import server_acts
from support.live.event_room import EventRoom
from support.live.house import House
from support.service.acting import changed

from cgos_protocol.errors import Unavailable
from cgos_protocol.facts import NamesErased
from cgos_protocol.ids import BotId, VersionId
from cgos_server.core.renaming import Renaming
from cgos_server.live.events.director import EventDirector
from cgos_server.live.venue import vacating
from cgos_server.live.venue.live_control import Addresses, LiveControl
from cgos_server.observability.logs import LogCounts
from cgos_server.observability.metrics import Metrics
from cgos_server.storage.writing import records as rows
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.renamed import renamed
from cgos_server.tournaments.running.state import fold


async def reload() -> list[str]:
    return []


def control_of(house: House, director: EventDirector) -> LiveControl:
    store: Any = house.store
    control = LiveControl(
        {"9x9": house.live}, store, house.time, Metrics(CollectorRegistry(), "test"), LogCounts(),
        Addresses(), server_acts(reload),
    )  # fmt: skip
    control.events = director
    return control


async def test_its_games_are_aborted_and_it_is_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    room = await EventRoom.open("anna", "bert")
    house = room.house
    control = control_of(house, room.director)
    await house.run_pass()
    (game,) = house.live.roster.games()
    anna = house.live.roster.named("anna")
    assert anna is not None
    session: Any = anna.session
    said: list[str] = []

    def refused(_code: str, sentence: str, _retry_after_s: float | None = None) -> None:
        said.append(sentence)
        session.seat.left(True)

    monkeypatch.setattr(session, "refused", refused)
    await control.vacate([anna.bot], "This bot is being erased.")
    assert said == ["This bot is being erased."]
    assert game.over is not None
    assert (game.over.reason, game.over.detail) == ("abort", vacating.ABORTED)
    assert house.live.roster.named("anna") is None
    assert house.live.roster.named("bert") is not None
    facts: list[object] = []
    house.live.context.bus.subscribe(NamesErased, facts.append)
    house.live.watch._changes = {anna.version: changed("anna"), VersionId(7): changed("bert")}
    await control.erased({anna.version: "deleted-2"}, Renaming({"anna": "deleted-2"}))
    assert house.live.roster.names[anna.version] == "deleted-2"
    assert house.live.watch.changes() == [changed("bert"), changed("deleted-2")]
    assert facts == [NamesErased()]


async def test_what_does_not_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    house = await House().open()
    await house.arrive("anna", "bert")
    monkeypatch.setattr(vacating, "PATIENCE_S", 0.01)
    monkeypatch.setattr(vacating, "_send_away", lambda *_: None)
    anna = house.live.roster.named("anna")
    assert anna is not None
    store: Any = house.store
    with pytest.raises(Unavailable, match="nothing was erased"):
        await vacating.vacate([house.live], store, [anna.bot], "Away.")


async def test_it_withdraws_from_events_which_are_read_again_with_its_new_name() -> None:
    room = await EventRoom.open("anna", "bert", "carl")
    await room.hold("anna", "bert", "carl")
    director, seat = room.director, room.seat("anna")
    director.leave([BotId(room.version("anna"))])
    assert director.state("E").seats[seat].out
    renaming = Renaming({"anna": "deleted-2"})
    store = room.house.store
    store.records[:] = [
        record._replace(body=log.encode(renamed(log.decode(record.body), renaming.text)))
        if isinstance(record, rows.EventLogged)
        else record
        for record in store.records
    ]
    before = director.state("E")
    await director.read_again()
    after = director.state("E")
    assert after.seats[seat].name == "deleted-2"
    assert (after.seq, after.open, after.played_as) == (before.seq, before.open, before.played_as)
    assert after == fold(_entries(room))


def _entries(room: EventRoom) -> list[log.LogEntry]:
    (event,) = (added.id for added in room.house.store.of(rows.EventAdded))
    return [log.LogEntry(row.seq, row.at, row.actor, log.decode(row.body)) for row in room.log(event)]
