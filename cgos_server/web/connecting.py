"""Commands by which a bot comes to this very server, ready to copy: for the page that says how, and for the shell.

They follow the venue: its port, its board, its rules. Pure functions. Must not know: HTTP, the database, how they are
shown.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from cgos_server.core.games.base import Ko, Ruleset
from cgos_server.core.games.notation import vertex

GNUGO_SIZES: Final = range(5, 20)
"""Boards on which GNU Go 3.8 is of use; it takes none that is larger."""

CHECKED_SIZES: Final = (9, 13, 19)
"""Boards on which the client's `check` puts an engine through its paces."""

_KO: Final = {
    Ko.POSITIONAL: "--positional-superko",
    Ko.SITUATIONAL: "--situational-superko",
    Ko.SIMPLE: "--simple-ko",
}


class Place(NamedTuple):
    """Where a bot is to play.

    :ivar host: as bots reach it, IPv6 in brackets
    :ivar port: of the venue's lines
    :ivar websocket: the port of all venues, 0 where there is none
    :ivar main_ms: the clock of a game's first move
    """

    host: str
    port: int
    websocket: int
    venue: str
    rules: Ruleset
    main_ms: int


class Commands(NamedTuple):
    """What to type, or to put into a file; empty for what does not go there.

    :ivar secret: makes the file with the password
    :ivar engine: GNU Go by the venue's port
    :ivar try_out: a built-in bot
    :ivar check: an engine without any server
    :ivar versions: GNU Go by WebSocket, as a version of its own
    :ivar program: a bot in Python
    :ivar by_hand: a connection for typing
    :ivar dialogue: what is said on it
    """

    secret: str
    engine: str
    try_out: str
    check: str
    versions: str
    program: str
    by_hand: str
    dialogue: str


def gnugo(rules: Ruleset) -> str:
    """GNU Go by these rules; empty where it cannot play."""
    if rules.size not in GNUGO_SIZES:
        return ""
    suicide = " --allow-all-suicide" if rules.suicide else ""
    return f"gnugo --mode gtp --level 1 --max-level 1 --chinese-rules {_KO[rules.ko]}{suicide} --capture-all-dead"


def commands(place: Place) -> Commands:
    """For a bot called MyBot."""
    engine = gnugo(place.rules)
    lines, by_websocket = f"{place.host}:{place.port}", f"ws://{place.host}:{place.websocket}"
    who = "--name MyBot --password-file mybot.password"
    size = place.rules.size
    checked = next((each for each in CHECKED_SIZES if each >= size), CHECKED_SIZES[-1])
    return Commands(
        secret="printf '%s\\n' 'choose-a-password' > mybot.password\nchmod 600 mybot.password",
        engine=f"cgos-client run --server {lines} {who} -- \\\n    {engine}" if engine else "",
        try_out=f"cgos-client bot greedy --server {lines} {who}",
        check=f"cgos-client check --size {checked} -- {engine}" if engine else "",
        versions=(
            f"cgos-client run --server {by_websocket} --venue {place.venue} --slots 2 --version 1.0 \\\n"
            f"    {who} -- \\\n    {engine}"
            if engine and place.websocket
            else ""
        ),
        program=_PROGRAM.format(by_websocket, place.venue) if place.websocket else "",
        by_hand=f"nc {place.host.strip('[]')} {place.port}",
        dialogue=_DIALOGUE.format(
            size=size,
            komi=f"{place.rules.komi2 / 2:.1f}",
            ms=place.main_ms,
            point=vertex(size // 2, size // 2),
        ),
    )


_DIALOGUE: Final = """\
S: protocol genmove_analyze
C: e1 my own client
S: username
C: MyBot
S: password
C: choose-a-password
S: setup 1 {size} {komi} {ms} MyBot(1800?) Other(1900)
S: genmove b {ms}
C: {point}"""

_PROGRAM: Final = """\
import asyncio
from pathlib import Path

from cgos_client import connect


async def play(game):
    async for turn in game.turns():
        board = turn.position.board()
        legal = [point for point in board.empties() if board.copy().play(point) is None]
        fit = [point for point in legal if not board.is_eye(board.to_play, point)]
        await game.move(board.write(fit[0]) if fit else "pass")


async def main():
    secret = Path("mybot.password").read_text().strip()
    address = "{}"
    async with connect(address, bot="MyBot", secret=secret, venues=["{}"]) as session:
        await session.play(play)


asyncio.run(main())"""
