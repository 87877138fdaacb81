"""A whole bot round any GTP engine.

python gtp_bot.py ws://localhost:6868 MyBot mybot.password 9x9 gnugo --mode gtp --chinese-rules
"""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from pathlib import Path

from cgos_client import CgosClientError, Game, connect


async def ask(engine: Process, command: str) -> str:
    """One GTP command and its answer."""
    assert engine.stdin is not None
    assert engine.stdout is not None
    engine.stdin.write(f"{command}\n".encode())
    answer = (await engine.stdout.readuntil(b"\n\n")).decode().strip()
    if not answer.startswith("="):
        raise RuntimeError(f"{command}: {answer}")
    return answer[1:].strip()


async def play(game: Game, engine: Process) -> None:
    for command in (f"boardsize {game.rules.size}", "clear_board", f"komi {game.rules.komi}"):
        await ask(engine, command)
    sent = 0
    async for turn in game.turns():
        for ply, move in enumerate(turn.position.moves[sent:], sent):
            await ask(engine, f"play {'bw'[ply % 2]} {move}")
        await ask(engine, f"time_left {game.color[0]} {turn.left_ms // 1000} 0")
        await game.move(await ask(engine, f"genmove {game.color[0]}"))
        sent = turn.ply


async def main(url: str, name: str, password_file: str, venue: str, *command: str) -> None:
    engine = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, start_new_session=True)
    try:
        secret = Path(password_file).read_text().strip()
        async with connect(url, bot=name, secret=secret, venues=[venue], engine=command[0]) as session:
            async for game in session.games():
                await play(game, engine)
                print(f"game {game.number}: {game.result}")
    finally:
        with suppress(ProcessLookupError):
            engine.kill()


if __name__ == "__main__":
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    try:
        asyncio.run(main(*sys.argv[1:]))
    except (CgosClientError, OSError, KeyboardInterrupt) as end:
        sys.exit(str(end) or "left")
