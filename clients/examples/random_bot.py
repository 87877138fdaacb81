"""A whole bot: any legal move that does not fill an eye of its own.

python random_bot.py ws://localhost:6868 MyBot mybot.password 9x9
"""

import asyncio
import random
import sys
from pathlib import Path

from cgos_client import CgosClientError, Game, Position, connect


def choose(position: Position) -> tuple[str, int]:
    """A move, and out of how many."""
    board = position.board()
    points = [point for point in board.empties() if not board.is_eye(board.to_play, point)]
    moves = [board.write(point) for point in points if board.copy().play(point) is None]
    return (random.choice(moves), len(moves)) if moves else ("pass", 0)


async def play(game: Game) -> None:
    print(f"game {game.number}: {game.color} against {game.opponent.name} ({game.opponent.rating}), {game.why}")
    async for turn in game.turns():
        move, count = choose(turn.position)
        await game.move(move, analysis={"comment": f"one of {count} moves"})
    if game.result is not None:
        moved = ", rating {:.0f} to {:.0f}".format(*game.result.rating) if game.result.rating else ""
        print(f"game {game.number}: {game.result.result}{moved}")


async def main(url: str, name: str, password_file: str, *venues: str) -> None:
    secret = Path(password_file).read_text().strip()
    async with connect(url, bot=name, secret=secret, venues=venues, slots=2, engine="random example") as session:
        print(f"signed in as {session.name} in {', '.join(session.venues)}")
        await session.play(play)


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    try:
        asyncio.run(main(*sys.argv[1:]))
    except (CgosClientError, OSError, KeyboardInterrupt) as end:
        sys.exit(str(end) or "left")
