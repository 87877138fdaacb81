"""Has a new version's strength tested against an older one, and leaves with the answer as its exit code.

python asking_bot.py ws://localhost:6868 MyBot mybot.password 9x9 1.3 MyBot-1.2

It plays any legal move; your engine goes into `play`. 0: accepted, 1: rejected, 2: not asked, 3: not answered.
"""

import asyncio
import random
import sys
from pathlib import Path

from cgos_client import Ask, CgosClientError, Game, QuestionTold, Session, connect


async def play(game: Game) -> None:
    async for turn in game.turns():
        await game.move(random.choice(turn.position.legal_moves() or ["pass"]))


async def answer(session: Session, question: int) -> QuestionTold:
    """How a question about this bot has ended."""
    async for news in session.question_news():
        if news.question == question and news.state != "open":
            return news
    sys.exit(3)


async def main(url: str, name: str, password_file: str, venue: str, version: str, older: str) -> int:
    secret = Path(password_file).read_text().strip()
    async with connect(url, bot=name, secret=secret, venues=[venue], version=version) as session:
        playing = asyncio.create_task(session.play(play))
        asked = await session.ask(Ask(kind="test", venue=venue, against=[older], lower=0, upper=50))
        print(asked.text)
        for cost in asked.costs:
            print(f"{cost.case}: {cost.games:.0f} games")
        end = await answer(session, asked.question)
        print(end.text)
        playing.cancel()
    return {"accepted": 0, "rejected": 1}.get(end.state, 3)


if __name__ == "__main__":
    if len(sys.argv) != 7:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    try:
        sys.exit(asyncio.run(main(*sys.argv[1:])))
    except (CgosClientError, OSError, KeyboardInterrupt) as error:
        print(error or "left", file=sys.stderr)
        sys.exit(2)
