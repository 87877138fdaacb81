"""Puts a bot together: from its table of a file of bots, or the same made of options, to something that runs.

Decides which transport is used. Must not know: options, files.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

from cgos_client.bots.engines import Bot, GreedyBot, RandomBot
from cgos_client.bots.in_process import InProcessEngine
from cgos_client.bots.mcts import MctsBot
from cgos_client.bridge.engine import Engine
from cgos_client.bridge.gtp_engine import GtpEngine
from cgos_client.bridge.supervisor import SupervisedEngine
from cgos_client.library.link import Endpoint
from cgos_client.library.session import Connecting, connect
from cgos_client.playing.bots_file import BotTable, ServerTable
from cgos_client.playing.events import Listener
from cgos_client.playing.lines_runner import Runner
from cgos_client.playing.lines_session import Agenda, Identity
from cgos_client.playing.slots import SlotsRunner
from cgos_client.playing.text_frames import SUBPROTOCOL, connect_frames
from cgos_client.playing.together import BotRunner
from cgos_client.playing.transport import connect as connect_tcp
from cgos_client.version import __version__

CLIENT = f"cgos-client {__version__}"


def runner(server: ServerTable, bot: BotTable, secret: str, *, once: bool, tell: Listener) -> BotRunner:
    """The bot, ready to run. Raises BadSetting.

    :param secret: password or token; never shown
    :param once: do not connect again
    :param tell: called with everything that happens in games
    """
    address = server.address(bot)
    make_engine = engine_maker(bot)
    if server.lines or address.over_tcp:
        if not address.over_tcp and not address.venue:
            address = address._replace(path=f"/{bot.venues[0]}")
        endpoint = Endpoint(address, SUBPROTOCOL, server.ca_file)
        over_tcp = partial(connect_tcp, address.host, address.port, endpoint)
        return Runner(
            connect=over_tcp if address.over_tcp else partial(connect_frames, endpoint),
            engine=SupervisedEngine(make=make_engine),
            identity=Identity(bot.name, secret, CLIENT),
            agenda=Agenda(games_left=bot.games),
            tell=tell,
            once=once,
        )

    slots = bot.slots if bot.games is None else min(bot.slots, bot.games)

    def open_session(engine: str) -> Connecting:
        return connect(
            address.url,
            bot=bot.name,
            secret=secret,
            venues=bot.venues,
            slots=slots,
            version=bot.version,
            wire_name=bot.wire_name,
            predecessor=bot.predecessor,
            engine=engine,
            parameters=bot.parameters,
            author=bot.author,
            games_a_day=bot.games_a_day,
            avoid=bot.avoid,
            accepts=bot.accepts,
            hours=bot.hours,
            events=bot.events,
            encoding=server.encoding,
            ca_file=server.ca_file,
            reconnect=not once,
            client=CLIENT,
        )

    open_session("")  # what cannot be used shows now, not after the engines have started
    return SlotsRunner(
        connect=open_session,
        engines=[SupervisedEngine(make=make_engine) for _ in range(slots)],
        tell=tell,
        games=bot.games,
    )


def engine_maker(bot: BotTable) -> Callable[[], Engine]:
    """Makes the bot's engines. What one process of a GTP program cannot do the next is not asked for."""
    if bot.engine is not None:
        command, broken = tuple(bot.engine), set[str]()
        return lambda: GtpEngine(command, bot.engine_timeout_s, broken)
    make = built_in_bot(bot.builtin or "", bot.playouts, bot.seed)
    return lambda: InProcessEngine(make)


def built_in_bot(kind: str, playouts: int | None, seed: int | None) -> Callable[[], Bot]:
    """Makes built-in bots: ``random``, ``greedy`` or ``mcts``."""
    rng = random.Random(seed)
    match kind:
        case "random":
            return lambda: RandomBot(rng)
        case "greedy":
            return lambda: GreedyBot(rng)
        case _:
            return lambda: MctsBot(rng, playouts or 100)
