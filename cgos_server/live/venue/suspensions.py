"""One venue's versions that spoil their games: counts, suspends them, tells them why and how to come back, takes back.

What counts and when is decided in :mod:`cgos_server.core.suspension`; here is only the doing. Must not know: pairs,
wire formats, SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import structlog

from cgos_protocol.games.base import Color
from cgos_protocol.ids import VersionId
from cgos_protocol.verdict import Reason
from cgos_server.core import suspension as rules
from cgos_server.core.suspension import Suspension
from cgos_server.live.games.live_game import LiveGame, VenueContext
from cgos_server.live.venue.player import Player
from cgos_server.live.venue.roster import Roster
from cgos_server.service.holds import Hold
from cgos_server.storage.reading.stored import StoredSuspension
from cgos_server.storage.writing.records import SuspensionNow

log = structlog.get_logger(__name__)


class Suspensions:
    """Who spoilt how many of its latest games, in one venue.

    :param stored: what the store holds of it
    """

    def __init__(self, context: VenueContext, roster: Roster, stored: Iterable[StoredSuspension]) -> None:
        self._context = context
        self._roster = roster
        self._states = {
            each.version_id: Suspension(each.spoilt, each.suspended, each.reason, each.at) for each in stored
        }

    # -- what others may ask

    def state(self, version: VersionId) -> Suspension:
        """Where that version stands."""
        return self._states.get(version, rules.NONE)

    def suspended(self, version: VersionId) -> bool:
        """True while that version gets no game."""
        return self._most > 0 and self.state(version).suspended

    @property
    def count(self) -> int:
        """Versions that are suspended, signed in or not."""
        return sum(state.suspended for state in self._states.values()) if self._most > 0 else 0

    def notice(self, player: Player) -> str:
        """What one that is suspended is told: why, and how it comes back."""
        has_word = player.session is not None and not player.session.says_ready
        return rules.notice(self.state(player.version), self._most, self._context.time.wall_ms(), has_word)

    @property
    def _most(self) -> int:
        """Games in a row that a version may spoil before it is suspended, as configured now; 0: any number."""
        return self._context.venue.pairing.suspend_after

    def reword(self, text: Callable[[str], str]) -> None:
        """Somebody was erased: `text` of each sentence stands in the store already."""
        self._states = {version: state._replace(reason=text(state.reason)) for version, state in self._states.items()}

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
        now = self._context.time.wall_ms()
        state = rules.after(before, game.id, was=was, most=self._most, began=game.started_at, ended=now)
        if state == before:
            return
        self._move(player, state)
        venue = self._context.venue.name
        if state.suspended:
            log.warning("suspended", bot=player.name, venue=venue, spoilt=state.spoilt, reason=state.reason)
            self._tell(player)
        elif before.suspended:
            log.info("suspended no longer: it played a game", bot=player.name, venue=venue)

    def wants_to_play(self, player: Player, by_word: bool) -> None:
        """It comes back, or is told why not yet.

        :param by_word: it asked for games by a word of its own; otherwise it was seated anew
        """
        self.look(player)
        if not player.has(Hold.SUSPENDED):
            return
        state, now = self.state(player.version), self._context.time.wall_ms()
        if rules.wait_ms(state, self._most, now, by_word) > 0:
            self._tell(player)
            return
        self._move(player, rules.back(state, now))
        log.info("suspended no longer: it came back", bot=player.name, venue=self._context.venue.name, by_word=by_word)
        if player.session is not None:
            player.session.info("You were suspended and are back: you get games again. Please finish them properly.")

    def recall(self, version: VersionId) -> bool:
        """An operator takes the version back, with a clean slate; False where it was not suspended."""
        if not self.state(version).suspended:
            return False
        self._keep(version, rules.NONE)
        player = self._roster.players.get(version)
        if player is not None:
            player.put(Hold.SUSPENDED, False)
            player.stir(self._context.time.now())
            if player.session is not None:
                player.session.info("The operator has taken you back: you get games again.")
        log.info("suspended no longer: recalled", version=version, venue=self._context.venue.name)
        return True

    def look(self, player: Player) -> None:
        """Called now and then: the venue may suspend others than before."""
        player.put(Hold.SUSPENDED, self.suspended(player.version))

    def _tell(self, player: Player) -> None:
        if player.session is not None and self.suspended(player.version):
            player.session.info(self.notice(player))

    def _move(self, player: Player, state: Suspension) -> None:
        self._keep(player.version, state)
        self.look(player)

    def _keep(self, version: VersionId, state: Suspension) -> None:
        if state == rules.NONE:
            self._states.pop(version, None)
        else:
            self._states[version] = state
        self._context.store.submit(
            [
                SuspensionNow(
                    venue_id=self._context.venue.id,
                    version_id=version,
                    spoilt=state.spoilt,
                    suspended=int(state.suspended),
                    reason=state.reason,
                    at=state.at,
                )
            ]
        )
