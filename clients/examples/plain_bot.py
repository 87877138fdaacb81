"""A whole bot with nothing but a WebSocket library; docs/protocol.md has the messages. It takes the middle, and passes.

python plain_bot.py ws://localhost:6868 MyBot mybot.password 9x9
"""

import asyncio
import json
import random
import sys
import time
from pathlib import Path
from typing import Any

from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException
from websockets.typing import Subprotocol

games: dict[int, list[str]] = {}  # the moves that the server has told, by the game's number
mine: dict[int, tuple[int, str]] = {}  # the ply and the move that was sent last


def choose(moves: list[str]) -> str:
    return "pass" if "E5" in moves else "E5"  # your engine goes here


async def talk(url: str, name: str, password_file: str, venue: str) -> None:
    """One connection, to its end."""
    async with connect(url, subprotocols=[Subprotocol("cgos.v2")]) as server:

        async def say(kind: str, **fields: Any) -> None:
            await server.send(json.dumps({"type": kind, **fields}))

        async def move(game: int, ply: int) -> None:
            if game not in mine or mine[game][0] != ply:  # after a cut the same move is sent again
                mine[game] = ply, choose(games[game])
            await say("move", game=game, ply=ply, move=mine[game][1])

        known = [{"game": game, "ply": len(moves)} for game, moves in games.items()]
        secret = Path(password_file).read_text().strip()
        await say("sign_in", bot=name, secret=secret, venues=[venue], games=known)
        async for text in server:
            message = json.loads(text)
            game = message.get("game")
            match message["type"]:
                case "game":  # new, or what followed the moves that were known
                    games[game] = games.get(game, [])[: message["from_ply"]] + [ply[0] for ply in message["moves"]]
                case "turn":
                    await move(game, message["ply"])
                case "moved":  # the opponent's move; it shows that the one before it counts
                    if len(games[game]) < message["ply"] - 1:
                        games[game].append(mine[game][1])
                    games[game].append(message["move"])
                    if message["your_turn"]:
                        await move(game, message["ply"] + 1)
                case "over":
                    print("game", game, message["result"], flush=True)
                    games.pop(game, None)
                    await say("seen", game=game)
                case "error" | "info":
                    print(message["text"], flush=True)


async def main() -> None:
    pause = 1.0
    while True:
        began = time.monotonic()
        try:
            await talk(*sys.argv[1:5])
        except (OSError, WebSocketException) as end:
            print(end, flush=True)
        await asyncio.sleep(pause * random.uniform(0.5, 1))
        pause = 1.0 if time.monotonic() - began > 60 else min(60.0, 2 * pause)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    asyncio.run(main())
