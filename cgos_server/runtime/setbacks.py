"""One venue's versions that spoil their games: counts, sets aside, tells them why and how to come back, takes back.

What counts and when is decided in :mod:`cgos_server.core.setbacks`; here is only the doing. Must not know: pairs, wire
formats, SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import structlog

from cgos_protocol.games.base import Color
from cgos_protocol.verdict import Reason
from cgos_server.core import setbacks as rules
from cgos_server.core.setbacks import Setback
from cgos_server.net.loop import Timekeeper
from cgos_server.runtime.live_game import LiveGame
from cgos_server.runtime.player import Player
from cgos_server.storage.reading.stored import StoredSetback
from cgos_server.storage.records import SetbackNow
from cgos_server.storage.store import Store

log = structlog.get_logger(__name__)


class Setbacks:
    """Who spoilt how many of its latest games, in one venue.

    :param stored: what the store holds of it
    :param most: games in a row that a version may spoil before it is set aside, as configured now; 0: any number
    """

    def __init__(
        self,
        venue_id: int,
        venue: str,
        store: Store,
        time: Timekeeper,
        stored: Iterable[StoredSetback],
        most: Callable[[], int],
    ) -> None:
        self._venue_id = venue_id
        self._venue = venue
        self._store = store
        self._time = time
        self._most = most
        self._states = {each.version_id: Setback(each.spoilt, each.set_aside, each.reason, each.at) for each in stored}

    # -- what others may ask

    def state(self, version: int) -> Setback:
        """Where that version stands."""
        return self._states.get(version, rules.NONE)

    def aside(self, version: int) -> bool:
        """True while that version gets no game."""
        return self._most() > 0 and self.state(version).aside

    @property
    def count(self) -> int:
        """Versions that are set aside, signed in or not."""
        return sum(state.aside for state in self._states.values()) if self._most() > 0 else 0

    def tell(self, player: Player) -> None:
        """Say why it is set aside and how it comes back; nothing where it is not."""
        session = player.session
        if session is not None and self.aside(player.version):
            session.info(self.notice(player))

    def notice(self, player: Player) -> str:
        """What one that is set aside is told."""
        has_word = player.session is not None and not player.session.says_ready
        return rules.notice(self.state(player.version), self._most(), self._time.wall_ms(), has_word)

    # -- what happens

    def ended(self, player: Player, game: LiveGame, color: Color) -> None:
        """A game of it was told to have ended."""
        over = game.over
        if over is None or game.referee.terms.mains is not None:
            return  # on clocks of the operator's choice anybody may lose on time
        was = rules.course(
            Reason(over.reason), over.winner, expired=game.referee.expired, color=color, present=game.present(color)
        )
        before = self.state(player.version)
        now = self._time.wall_ms()
        state = rules.after(before, game.id, was=was, most=self._most(), began=game.started_at, ended=now)
        if state == before:
            return
        self._move(player, state)
        if state.aside:
            log.warning("set aside", bot=player.name, venue=self._venue, spoilt=state.spoilt, reason=state.reason)
            self.tell(player)
        elif before.aside:
            log.info("set aside no longer: it played a game", bot=player.name, venue=self._venue)

    def signed_in(self, player: Player) -> None:
        """It is seated anew: it comes back, or is told why not yet."""
        self._ask(player, asked=False)

    def wants_to_play(self, player: Player) -> None:
        """It asked for games by a word of its own."""
        self._ask(player, asked=True)

    def recall(self, version: int, player: Player | None) -> bool:
        """An operator takes the version back, with a clean slate; False where it was not set aside.

        :param player: its entry, if there is one
        """
        if not self.state(version).aside:
            return False
        self._keep(version, rules.NONE)
        if player is not None:
            player.aside = False
            if player.session is not None:
                player.session.info("The operator has taken you back: you get games again.")
        log.info("set aside no longer: recalled", version=version, venue=self._venue)
        return True

    def look(self, player: Player) -> None:
        """Called now and then: the venue may set aside others than before."""
        if self._states or player.aside:
            player.aside = self.aside(player.version)

    def _ask(self, player: Player, asked: bool) -> None:
        player.aside = self.aside(player.version)
        if not player.aside:
            return
        state, now = self.state(player.version), self._time.wall_ms()
        if rules.wait_ms(state, self._most(), now, asked) > 0:
            self.tell(player)
            return
        self._move(player, rules.back(state, now))
        log.info("set aside no longer: it came back", bot=player.name, venue=self._venue, by_word=asked)
        if player.session is not None:
            player.session.info("You were set aside and are back: you get games again. Please finish them properly.")

    def _move(self, player: Player, state: Setback) -> None:
        self._keep(player.version, state)
        player.aside = self.aside(player.version)

    def _keep(self, version: int, state: Setback) -> None:
        if state == rules.NONE:
            self._states.pop(version, None)
        else:
            self._states[version] = state
        self._store.submit(
            [SetbackNow(self._venue_id, version, state.spoilt, int(state.aside), state.reason, state.at)]
        )
