"""A line viewer (``v1``) on one connection: its lines to the gallery, and the gallery's words to the viewer.

A viewer that floods us is closed, one that reads slowly is not: it has no room, and the gallery passes it over. Must
not know: sockets, games' insides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import structlog

from cgos_protocol.facts import Fact
from cgos_protocol.ids import GameId
from cgos_protocol.lines.framing import Line
from cgos_protocol.lines.viewer import CgosViewer, Ignored, Observe, Quit
from cgos_protocol.lines.words import error_line
from cgos_protocol.session import GameOver, ListedGame, ShownGame, Turn
from cgos_server.net.limits import RateLimiter
from cgos_server.net.wire import ConnectionContext, Wire, blame
from cgos_server.net.write_buffer import WriteBuffer
from cgos_server.observability.metrics import CloseReason

log = structlog.get_logger(__name__)

OBSERVED_PER_MINUTE: Final = 1_000
"""Games that one viewer may ask for within a minute: each is shown from its first move on."""


class ViewerLines:
    """One viewer's dialogue after its ``v1`` line. The :class:`~cgos_protocol.session.Spectator` of its
    connection."""

    __slots__ = ("_context", "_ignored", "_observed", "_out", "_viewer", "_wire")

    def __init__(self, context: ConnectionContext, wire: Wire, client: str) -> None:
        gallery, sockets = context.gallery, context.sockets
        self._context = context
        self._wire = wire
        self._viewer = CgosViewer(gallery.size, gallery.komi2, context.matches)
        self._out = WriteBuffer(wire, sockets.time, sockets.limits.outbox)
        self._ignored = RateLimiter(sockets.limits.ignored_per_minute)
        self._observed = RateLimiter(OBSERVED_PER_MINUTE)
        log.info("viewer", connection=wire.id, address=wire.address, client=client)
        gallery.enter(self, everything=True)

    # -- what the wire says

    def receive(self, line: Line) -> None:
        """The next line of the viewer."""
        match self._viewer.receive(line.text):
            case Observe(game):
                refusal = self._context.gallery.observe(self, game, 0)
                if refusal is not None:
                    self._out.write(self._viewer.info(refusal))
                    self._ignore()
                elif self._observed.exhausted(self._context.sockets.time.now()):
                    self._flood(f"You asked for more than {OBSERVED_PER_MINUTE} games within a minute.")
            case Quit():
                self._leave(CloseReason.QUIT)
            case Ignored():
                self._ignore()

    def gone(self) -> None:
        """The connection is lost."""
        self._out.gone()
        self._context.gallery.leave(self)

    def _ignore(self) -> None:
        sockets = self._context.sockets
        sockets.metrics.line_ignored()
        if self._ignored.exhausted(sockets.time.now()):
            self._flood("You sent too many lines within a minute that could not be answered.")

    def _flood(self, sentence: str) -> None:
        blame(self._wire, self._context.sockets.metrics, "flood")
        self._out.write(error_line(sentence).encode("ascii"))
        self._leave(CloseReason.VIOLATION)

    def _leave(self, reason: CloseReason) -> None:
        self._context.gallery.leave(self)
        self._out.close(reason)

    # -- what the gallery says (Spectator)

    @property
    def has_room(self) -> bool:
        return self._out.has_room

    def listed(self, games: Sequence[ListedGame], missed: int) -> None:
        self._out.write(self._viewer.listed(games, missed))

    def facts(self, facts: Sequence[Fact]) -> None:
        self._out.write(self._viewer.facts(facts))

    def shown(self, game: GameId, shown: ShownGame | None, since: int) -> None:
        self._out.write(self._viewer.shown(game, shown, since))

    def moved(self, game: GameId, turns: Sequence[Turn]) -> None:
        self._out.write(self._viewer.moved(game, turns))

    def ended(self, game: GameId, over: GameOver) -> None:
        self._out.write(self._viewer.ended(game, over))
