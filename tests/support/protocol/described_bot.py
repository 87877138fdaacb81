"""A bot that knows of ``cgos.v2`` only what ``docs/asyncapi.json`` says: subprotocol, patterns, examples, states.

What the server does otherwise than the document says is an AssertionError.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import string
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
from websockets.asyncio.client import ClientConnection, connect

DOCUMENT = Path(__file__).parents[3] / "docs" / "asyncapi.json"
Message = dict[str, Any]


class Description:
    """The document, as a client's author reads it."""

    def __init__(self, document: dict[str, Any]) -> None:
        (channel,) = document["channels"].values()
        self.channel = channel
        self.examples: dict[str, list[Message]] = {}
        self.validators: dict[str, jsonschema_rs.Draft7Validator] = {}
        for name, message in document["components"]["messages"].items():
            self.examples[name] = [example["payload"] for example in message["examples"]]
            schema = {**message["payload"], "components": document["components"]}
            if "$ref" in schema:
                schema = {"allOf": [message["payload"]], "components": document["components"]}
            self.validators[name] = jsonschema_rs.Draft7Validator(schema)
        self.fields = {
            name: document["components"]["schemas"][message["payload"]["$ref"].rsplit("/", 1)[1]]["properties"]
            for name, message in document["components"]["messages"].items()
        }

    def subprotocols(self) -> list[str]:
        """What to offer in the handshake."""
        offered: list[str] = self.channel["bindings"]["ws"]["headers"]["properties"]["Sec-WebSocket-Protocol"]["enum"]
        return offered

    def fits(self, message: Message) -> bool:
        """True where `message` has the shape that the document gives it."""
        return message["type"] in self.validators and self.validators[message["type"]].is_valid(message)

    def step(self, dialogue: str, state: str, by: str, message: Message) -> str | None:
        """The state after `message`; None where it cannot be said. The step that asks for most counts."""
        steps = [
            step
            for step in self.channel["x-dialogue"][dialogue][state]["steps"]
            if (step["by"], step["message"]) == (by, message["type"])
            and all(message.get(field) == value for field, value in step.get("where", {}).items())
        ]
        return max(steps, key=lambda step: len(step.get("where", {})))["then"] if steps else None

    def word(self, rng: random.Random, message: str, field: str) -> str:
        """A word that fits the pattern of a field."""
        pattern = self.fields[message][field]["pattern"]
        while True:
            word = "".join(rng.choices(string.printable[:94], k=rng.randint(1, 12)))
            if re.search(pattern, word):
                return word


def read() -> Description:
    """The checked-in document."""
    return Description(json.loads(DOCUMENT.read_text("utf-8")))


class DescribedBot:
    """Plays one game: a few stones, then passes, then leaves in order.

    :param before_move: awaited before the bot's first move
    :ivar waits: set once the bot was told that it may not move yet, having tried; only White tries
    """

    def __init__(self, description: Description, seed: int, stones: int = 3) -> None:
        self.description = description
        self.rng = random.Random(seed)
        self.name = description.word(self.rng, "sign_in", "bot")
        self.state = "opened"
        self.games: dict[int, str] = {}
        self.over: Message | None = None
        self.refused: list[str] = []
        self.waits = asyncio.Event()
        self._stones = stones
        self._taken: set[str] = set()
        self._size = 0
        self._color = ""

    async def play(self, url: str, venue: str, before_move: Callable[[], Awaitable[object]]) -> int:
        """Returns the code with which the server closed."""
        about = self.description
        async with connect(url, subprotocols=about.subprotocols()) as connection:  # type: ignore[arg-type]
            async for frame in connection:
                message = json.loads(frame)
                assert about.fits(message), message
                self._moved_on("server", message)
                match message["type"]:
                    case "welcome":
                        assert venue in [entry["name"] for entry in message["venues"]]
                        secret = about.word(self.rng, "sign_in", "secret")
                        await self._say(connection, "sign_in", bot=self.name, secret=secret, venues=[venue])
                    case "game":
                        self._size, self._color = message["rules"]["size"], message["color"]
                        if self._color == "white" and not self.refused:
                            await self._try(connection, message["game"], message["from_ply"] + 1)
                    case "turn":
                        await before_move()
                        await self._answer(connection, message["game"], message["ply"])
                    case "moved":
                        self._taken.add(message["move"])
                        if message["your_turn"]:
                            await self._answer(connection, message["game"], message["ply"] + 1)
                    case "over":
                        self.over = message
                        await self._say(connection, "seen", game=message["game"])
                        await self._say(connection, "drain")
                    case "error":
                        self.refused.append(message["code"])
                        assert message["code"] in about.channel["x-error-codes"]
                        self.waits.set()
            assert connection.close_code is not None
            return connection.close_code

    async def _answer(self, connection: ClientConnection, game: int, ply: int) -> None:
        move = "pass"
        if self._stones:
            self._stones -= 1
            letters = string.ascii_uppercase.replace("I", "")[: self._size]
            points = [f"{letter}{row}" for letter in letters for row in range(1, self._size + 1)]
            # Every other column is a side's own, so that nobody captures and nothing is repeated.
            own = [point for point in points if letters.index(point[0]) % 4 == (1 if self._color == "black" else 3)]
            move = self.rng.choice([point for point in own if point not in self._taken])
            self._taken.add(move)
        await self._say(connection, "move", game=game, ply=ply, move=move)

    async def _try(self, connection: ClientConnection, game: int, ply: int) -> None:
        """Move where it is not allowed: the document names the code of the error."""
        message = self.description.examples["move"][0] | {"game": game, "ply": ply}
        assert self.description.step("game", self.games[game], "client", message) is None
        await connection.send(json.dumps(message))

    async def _say(self, connection: ClientConnection, kind: str, **fields: Any) -> None:
        message = self.description.examples[kind][0] | fields
        assert self.description.fits(message), message
        self._moved_on("client", message)
        await connection.send(json.dumps(message))

    def _moved_on(self, by: str, message: Message) -> None:
        about = self.description
        then = about.step("connection", self.state, by, message)
        assert then is not None, f"{by} says {message} in the state {self.state}"
        self.state = then
        number = message.get("game")
        if number is not None and any(
            step["message"] == message["type"]
            for state in about.channel["x-dialogue"]["game"].values()
            for step in state["steps"]
        ):
            state = self.games.get(number, "unknown")
            then = about.step("game", state, by, message)
            assert then is not None, f"{by} says {message} in a game whose state is {state}"
            self.games[number] = then
