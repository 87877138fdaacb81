"""Commands by which a bot comes to this very server, ready to copy: for the page that says how, and for the shell.

They follow the venue: its port, its board, its rules. Pure functions. Must not know: HTTP, the database, how they are
shown.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from cgos_protocol import clock
from cgos_protocol.clock import TimeControl, TimeSystem
from cgos_protocol.games.base import Ko, Ruleset
from cgos_protocol.games.notation import vertex
from cgos_server import __version__
from cgos_server.presentation.settings import WebSettings

GNUGO_SIZES: Final = range(5, 20)
"""Boards on which GNU Go 3.8 is of use; it takes none that is larger."""

CHECKED_SIZES: Final = (9, 13, 19)
"""Boards on which the client's `check` puts an engine through its paces."""

_KO: Final = {
    Ko.POSITIONAL: "--positional-superko",
    Ko.SITUATIONAL: "--situational-superko",
    Ko.SIMPLE: "--simple-ko",
}


_HOST = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?")
_ANYWHERE = ("", "0.0.0.0", "::")


class Place(NamedTuple):
    """Where a bot is to play.

    :ivar lines: host and port of the venue's lines, IPv6 in brackets
    :ivar lines_tls: the same by TLS; empty where there is none
    :ivar websocket: the address of all venues, such as ``wss://host``; empty where there is none
    :ivar main_ms: the clock of a game's first move
    """

    lines: str
    websocket: str
    venue: str
    rules: Ruleset
    main_ms: int
    lines_tls: str = ""


def place_of(lines: str, websocket: str, venue: str, fixed: Any, *, lines_tls: str = "") -> Place:
    """Where a bot is to play, in a venue as it is stored; None stands for one that has never been open."""
    rules = Ruleset() if fixed is None else msgspec.convert(fixed, Ruleset)
    time = TimeControl(system=TimeSystem.ABSOLUTE, main=300_000_000)
    if fixed is not None:
        time = msgspec.convert(fixed["time"], TimeControl)
    return Place(
        lines=lines,
        lines_tls=lines_tls,
        websocket=websocket,
        venue=venue,
        rules=rules,
        main_ms=clock.remaining_ms(time, clock.start(time)),
    )


def lines_address(public: str, host: str, port: int) -> str:
    """Where bots of a venue connect: as configured, else by this host and port."""
    return public or f"{host}:{port}"


def tls_address(public_tls: str, public: str, host: str, port: int) -> str:
    """The same by TLS; empty where there is neither a configured address nor a port for it (0).

    :param public: as for :func:`lines_address`, for its host
    """
    if public_tls or not port:
        return public_tls
    return f"{public.rpartition(':')[0] or host}:{port}"


def websocket_address(public: str, host: str, port: int, *, tls: bool) -> str:
    """Where bots of all venues connect by WebSocket; empty where there is no port for it (0)."""
    return (public or f"{'wss' if tls else 'ws'}://{host}:{port}") if port else ""


def bots_host(configured: str, public_url: str, host_header: str) -> str:
    """Where bots find the server: as configured, or where its pages are, or by which they were asked for.

    :param host_header: the header Host, which may be anything
    """
    if configured not in _ANYWHERE:
        return f"[{configured}]" if ":" in configured else configured
    if public_url:
        name = urlsplit(public_url).hostname or "localhost"
        return f"[{name}]" if ":" in name else name
    match = _HOST.fullmatch(host_header)
    return match[1] if match else "localhost"


def addresses(settings: WebSettings, host: str) -> dict[str, str]:
    """Venue -> where its bots connect; `host` for those of which nothing else is configured."""
    return {name: lines_address(venue.public_address, host, venue.port) for name, venue in settings.venues.items()}


def tls_addresses(settings: WebSettings, host: str) -> dict[str, str]:
    """Venue -> where its bots connect by TLS; empty where they cannot."""
    return {
        name: tls_address(venue.public_tls_address, venue.public_address, host, venue.tls_port)
        for name, venue in settings.venues.items()
    }


class Commands(NamedTuple):
    """What to type, or to put into a file; empty for what does not go there. Where there is an
    encrypted way (``wss://``, or the lines by TLS) the commands go that way, so that the password stays secret.

    :ivar install: brings the client
    :ivar secret: makes the file with the password
    :ivar engine: GNU Go in the venue
    :ivar try_out: a built-in bot
    :ivar check: an engine without any server
    :ivar versions: GNU Go by WebSocket, as a version of its own
    :ivar program: a bot in Python
    :ivar by_hand: a connection for typing
    :ivar dialogue: what is said on it
    """

    install: str
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
    encrypted = place.websocket.startswith("wss:")
    server = f"cgoss://{place.lines_tls}" if place.lines_tls else place.lines
    if encrypted:
        server = f"{place.websocket} --venue {place.venue}"
    host, _, port = place.lines.rpartition(":")
    by_hand = f"nc {host.strip('[]')} {port}"
    if place.lines_tls:
        by_hand = f"openssl s_client -quiet -connect {place.lines_tls}"
    who = "--name MyBot --password-file mybot.password"
    size = place.rules.size
    checked = next((each for each in CHECKED_SIZES if each >= size), CHECKED_SIZES[-1])
    return Commands(
        install=_INSTALL,
        secret="printf '%s\\n' 'choose-a-password' > mybot.password\nchmod 600 mybot.password",
        engine=f"cgos-client run --server {server} {who} -- \\\n    {engine}" if engine else "",
        try_out=f"cgos-client bot greedy --server {server} {who}",
        check=f"cgos-client check --size {checked} -- {engine}" if engine else "",
        versions=(
            f"cgos-client run --server {place.websocket} --venue {place.venue} --slots 2 --version 1.0 \\\n"
            f"    {who} -- \\\n    {engine}"
            if engine and place.websocket
            else ""
        ),
        program=_PROGRAM.format(place.websocket, place.venue) if place.websocket else "",
        by_hand=by_hand,
        dialogue=_DIALOGUE.format(
            size=size,
            komi=f"{place.rules.komi2 / 2:.1f}",
            ms=place.main_ms,
            point=vertex(size // 2, size // 2),
        ),
    )


_INSTALL: Final = f"""\
python3 -m venv cgos
cgos/bin/pip install cgos_protocol-{__version__}-py3-none-any.whl cgos_client-{__version__}-py3-none-any.whl
export PATH="$PWD/cgos/bin:$PATH\""""

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
