"""cgos-client: connects game engines to a rating server, and a library for programs that play there by themselves.

The library is :func:`connect` and what it leads to. The way of one move in the program ``cgos-client``: over CGOS
lines ``transport`` (a line arrives) - ``lines_messages`` (what it says) - ``lines_session`` (what is to be done); over
WebSocket ``link`` (a frame arrives) - ``codec`` (what it says) - ``games`` (what follows) - ``session`` and ``game``
(what a program sees) - ``slots`` (which engine plays it); then ``supervisor`` (an engine that cannot be lost) -
``gtp_engine`` or ``in_process`` (the engine). Round that, ``lines_runner`` and ``connection_keeper`` decide when to
connect again, and ``cli`` puts it together.
"""

from cgos_client.errors import (
    CannotConnect,
    CgosClientError,
    ConnectionLost,
    Dismissed,
    MoveRefused,
    QuestionRefused,
    ServerFault,
    SessionClosed,
    SignInRefused,
    WatchRefused,
)
from cgos_client.library.game import Game, Turn
from cgos_client.library.games import Outcome
from cgos_client.library.position import Position
from cgos_client.library.session import Session, connect
from cgos_client.library.watching import View
from cgos_client.settings import BadSetting
from cgos_client.version import __version__
from cgos_protocol.v2.messages import Analysis, Ask, Asked, Candidate, QuestionTold

__all__ = [
    "Analysis",
    "Ask",
    "Asked",
    "BadSetting",
    "Candidate",
    "CannotConnect",
    "CgosClientError",
    "ConnectionLost",
    "Dismissed",
    "Game",
    "MoveRefused",
    "Outcome",
    "Position",
    "QuestionRefused",
    "QuestionTold",
    "ServerFault",
    "Session",
    "SessionClosed",
    "SignInRefused",
    "Turn",
    "View",
    "WatchRefused",
    "__version__",
    "connect",
]
