"""Puts a bot together: from what a person gave, checked already, to something that runs.

Decides which transport is used. Must not know: options, files.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from cgos_client.addresses import Address
from cgos_client.bots.engines import Bot, GreedyBot, RandomBot
from cgos_client.bots.in_process import InProcessEngine
from cgos_client.bots.mcts import MctsBot
from cgos_client.bridge import Agenda, GameResult, Identity
from cgos_client.codec import Encoding
from cgos_client.engine import Engine
from cgos_client.events import Listener
from cgos_client.gtp import GtpEngine
from cgos_client.link import Place
from cgos_client.runner import Runner
from cgos_client.session import Connecting, connect
from cgos_client.slots import SlotsRunner
from cgos_client.supervisor import SupervisedEngine
from cgos_client.text_frames import SUBPROTOCOL, connect_frames
from cgos_client.together import Runner as AnyRunner
from cgos_client.transport import Connection
from cgos_client.transport import connect as connect_tcp
from cgos_client.version import __version__
from cgos_protocol.v2.messages import Scalar

CLIENT = f"cgos-client {__version__}"


class Plan(NamedTuple):
    """One bot.

    :ivar secret: password or token; never shown
    :ivar lines: True for CGOS lines, which know nothing of what comes after `once`
    :ivar games: leave after so many; None: play on
    :ivar once: do not connect again
    """

    address: Address
    name: str
    secret: str
    make_engine: Callable[[], Engine]
    lines: bool
    ca_file: Path | None = None
    games: int | None = None
    once: bool = False
    venues: tuple[str, ...] = ()
    slots: int = 1
    version: str = ""
    wire_name: str = ""
    author: str = ""
    parameters: Mapping[str, Scalar] = {}
    games_a_day: int | None = None
    avoid: tuple[str, ...] = ()
    hours: str = ""
    encoding: Encoding = Encoding.JSON


def runner(plan: Plan, report: Callable[[GameResult], None], tell: Listener) -> AnyRunner:
    """The bot, ready to run. Raises BadSetting."""
    if plan.lines:
        place = Place(plan.address, SUBPROTOCOL, plan.ca_file)
        over_tcp: Callable[[], Awaitable[Connection]] = partial(connect_tcp, place.address.host, place.address.port)
        return Runner(
            connect=over_tcp if plan.address.scheme == "tcp" else partial(connect_frames, place),
            engine=SupervisedEngine(plan.make_engine),
            identity=Identity(plan.name, plan.secret, CLIENT),
            agenda=Agenda(games_left=plan.games),
            report=report,
            once=plan.once,
            tell=tell,
        )

    slots = plan.slots if plan.games is None else min(plan.slots, plan.games)

    def open_session(engine: str) -> Connecting:
        return connect(
            plan.address.url,
            bot=plan.name,
            secret=plan.secret,
            venues=plan.venues,
            slots=slots,
            version=plan.version,
            wire_name=plan.wire_name,
            engine=engine,
            parameters=plan.parameters,
            author=plan.author,
            games_a_day=plan.games_a_day,
            avoid=plan.avoid,
            hours=plan.hours,
            encoding=plan.encoding,
            ca_file=plan.ca_file,
            reconnect=not plan.once,
            client=CLIENT,
        )

    open_session("")  # what cannot be used shows now, not after the engines have started
    engines = [SupervisedEngine(plan.make_engine) for _ in range(slots)]
    return SlotsRunner(open_session, engines, report, games=plan.games, tell=tell)


def gtp_engine(command: tuple[str, ...], timeout: float | None) -> Callable[[], Engine]:
    """Makes processes of a GTP program; what one of them cannot do the next is not asked for."""
    broken: set[str] = set()
    return lambda: GtpEngine(command, timeout, broken)


def built_in_bot(kind: str, playouts: int | None, seed: int | None) -> Callable[[], Bot]:
    """Makes built-in bots: ``random``, ``greedy`` or ``mcts``."""
    rng = random.Random(seed)

    def make() -> Bot:
        match kind:
            case "random":
                return RandomBot(rng)
            case "greedy":
                return GreedyBot(rng)
            case _:
                return MctsBot(rng, playouts or 100)

    return make


def built_in_engine(make: Callable[[], Bot]) -> Callable[[], Engine]:
    """Makes engines of built-in bots."""
    return lambda: InProcessEngine(make)
