"""An event room whose bots enter by themselves, and hear what happens."""

from __future__ import annotations

from typing import Any

from cgos_protocol.event_news import EventNews, EventWish
from cgos_server.live.events.herald import EventHerald
from support.live.event_room import EventRoom
from support.live.house import House
from support.live.simulated import RecordingSession


class Heralded(EventRoom):
    """An event room whose bots enter by themselves."""

    herald: EventHerald

    @classmethod
    async def open(cls, *names: str, beside: bool = False) -> Heralded:
        first = await House().open()
        others = [await House(beside=first).open()] if beside else []
        room = cls(first, *others)
        await room.director.open()
        await room.take_up()
        for name in names:
            await first.check_in(name)
        return room

    async def take_up(self) -> None:
        """The director has read its events: bots hear of them."""
        store: Any = self.house.store

        async def owner_of(name: str) -> int | None:
            return self.owners.get(name)

        store.people_owner_of = owner_of
        venues = {house.venue.name: house.live for house in self.houses}
        self.herald = EventHerald(self.director, venues, store, time=self.house.time, spawn=self.house.spawn)
        self.herald.open()

    async def wish(self, name: str, wish: EventWish = EventWish.ENTER, event: str = "E") -> None:
        seat = self.house.sessions[name].seat
        assert seat is not None
        seat.event(wish, event)
        await self.house.settle()

    def words(self, name: str) -> list[str]:
        return [news.what.value for news in self.news(name)]

    def news(self, name: str) -> list[EventNews]:
        return news_told(self.house.sessions[name])

    def refusal(self, name: str) -> tuple[str, str]:
        """Code and sentence of the last one."""
        word, _, code, sentence = self.house.sessions[name].last()
        assert word == "event refused"
        return code, sentence


def news_told(session: RecordingSession) -> list[EventNews]:
    return [entry[1] for entry in session.entries if entry[0] == "event"]
