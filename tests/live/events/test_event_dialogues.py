"""Dialogues of ``cgos.v2`` about events as text files, held against real connections and real events in simulated time.

A file has one step a line; ``NAME`` is a bot::

    hold {...}           the operator announces the event E so, and opens entry; `starts_in` and `check_in` in seconds
    start, cancel        the operator does so
    enter NAME, withdraw NAME   likewise
    pass 30 s            time passes
    NAME wins            the running game ends
    NAME signs in        on cgos.v2; `in lines`: on the CGOS lines
    NAME drops           its connection is lost
    NAME> {...}          it says so
    NAME< {...}          the next message about events has these fields, the next `info` of a bot in lines this text
    NAME<! nothing       no such message came
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from support.live.heralded import Heralded, news_told
from support.net.websocket import WsClient, WsDesk

from cgos_server.live.signing_in.multi_venue import MultiVenueSignIn
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import Limits, Times

FOLDER = Path(__file__).with_name("dialogues")


class Stage:
    """The bots and the event of one file."""

    def __init__(self, room: Heralded) -> None:
        house = self.house = room.house
        self.room = room
        reception = MultiVenueSignIn({house.venue.name: house.live.arrivals})
        self.desk = WsDesk([house.venue.name], concierge=reception, time=house.time)
        self.clients: dict[str, WsClient] = {}
        self.messages: dict[str, list[dict[str, Any]]] = {}
        self.in_lines: dict[str, int] = {}

    async def step(self, line: str) -> None:
        match line.split():
            case ["hold", *_]:
                await self.hold(json.loads(line.removeprefix("hold ")))
            case ["start"]:
                await self.room.start()
            case ["cancel"]:
                self.room.say(log.Cancelled(reason="The power failed."))
            case ["enter", name]:
                self.room.enter(name)
            case ["withdraw", name]:
                self.room.say(log.Withdrawn(entrant=self.room.seat(name), by="operator"))
            case ["pass", seconds, "s"]:
                for _ in range(int(seconds)):
                    await self.room.look(1)
                    self.room.herald.look()
                    for name in self.clients:  # which answers pings
                        self.unread(name)
            case [name, "wins"]:
                await self.room.end(next(iter(self.room.running)), name)
            case [name, "signs", "in"]:
                self.clients[name] = self.desk.connect()
                self.messages[name] = []
                self.say(name, {"type": "sign_in", "bot": name, "secret": "secret", "venues": ["9x9"]})
            case [name, "signs", "in", "in", "lines"]:
                await self.house.sign_in(name)
                self.in_lines[name] = 0
            case [name, "drops"]:
                self.clients.pop(name).transport.lose(ConnectionResetError())
            case [speaker, *_] if speaker.endswith(">"):
                self.say(speaker[:-1], json.loads(line.partition("> ")[2]))
            case _:
                self.hear(line)
        await self.house.settle()
        self.house.time.advance(0)
        await self.room.look()

    async def hold(self, settings: dict[str, Any]) -> None:
        starts_in = settings.pop("starts_in", None)
        starts_at = None if starts_in is None else self.house.time.wall_ms() + 1000 * starts_in
        times = Times(
            starts_at=starts_at,
            check_in_s=settings.pop("check_in", 0),
            grace_s=60,
            every_days=settings.pop("every_days", None),
        )
        limits = replace(Limits(), most=settings.pop("most", None))
        await self.room.hold(start=False, times=times, limits=limits, **settings)

    def say(self, name: str, message: dict[str, Any]) -> None:
        self.clients[name].say(**message)

    def hear(self, line: str) -> None:
        if "<! " in line:
            name = line.partition("<")[0]
            assert self.unread(name) == []
            return
        name, _, wanted = line.partition("< ")
        if name in self.in_lines:
            texts = [news.text for news in news_told(self.house.sessions[name])]
            assert texts[self.in_lines[name] :][:1] == [wanted]
            self.in_lines[name] += 1
            return
        fields = json.loads(wanted)
        messages = self.unread(name)
        assert messages, "nothing came"
        message = messages.pop(0)
        assert {key: message.get(key) for key in fields} == fields, message

    def unread(self, name: str) -> list[dict[str, Any]]:
        """What came of events and was not looked at."""
        messages = self.messages[name]
        messages += [message for message in self.clients[name].listen() if message.get("event")]
        return messages


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.txt")), ids=lambda file: file.stem)
async def test_a_dialogue_about_events_goes_as_it_is_written(file: Path) -> None:
    stage = Stage(await Heralded.open())
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        if line and not line.startswith("#"):
            try:
                await stage.step(line)
            except AssertionError as error:
                raise AssertionError(f"{file.name}:{number}: {line}") from error
    for name in stage.clients:
        assert stage.unread(name) == [], f"{name} heard more"
