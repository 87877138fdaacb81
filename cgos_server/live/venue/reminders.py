"""A word to bots that wait: what holds them, what they owe, that nobody else is there.

Must not know: wire formats, who is paired.
"""

from __future__ import annotations

from cgos_protocol.hours import notice
from cgos_server.live.games.live_game import VenueContext
from cgos_server.live.games.phases import PlayerPhase
from cgos_server.live.venue.play_limits import PlayLimits
from cgos_server.live.venue.player import Player
from cgos_server.live.venue.roster import Roster
from cgos_server.live.venue.suspensions import Suspensions
from cgos_server.service.holds import Hold, Seen, for_bot


class Reminders:
    """One a venue."""

    def __init__(
        self, context: VenueContext, roster: Roster, suspensions: Suspensions, play_limits: PlayLimits
    ) -> None:
        self._context = context
        self._roster = roster
        self._suspensions = suspensions
        self._play_limits = play_limits

    def remind(self) -> None:
        """Called about once a second: tell bots that owe `ready` that they are not paired until it comes, and look at
        who is suspended or at a limit."""
        now, patience = self._context.time.now(), self._context.venue.ready_limit
        for player in self._roster.players.values():
            self._suspensions.look(player)
            late = player.has(Hold.OWES_READY) and now - player.since > patience
            if late and player.session is not None and not player.reminded:
                player.reminded = True
                player.session.info(Hold.OWES_READY.bot)
            self._play_limits.look(player)

    def keep_alive(self) -> None:
        """Called about once a minute: a word to every waiting bot, which also keeps address translators awake."""
        connected = self._roster.connected
        for player in self._roster.here():
            if player.phase is PlayerPhase.IDLE:
                self.explain(player, connected)

    def explain(self, player: Player, connected: int) -> None:
        """Tell a bot what it waits for.

        :param connected: versions that are signed in, this one included
        """
        if player.session is None:
            return
        if why_held := for_bot(self.seen(player)):
            player.session.info(why_held)
            return
        if connected == 1:
            why = "You are the only bot here. Your game begins as soon as another one signs in."
        else:
            why = f"You wait for an opponent; {connected - 1} other bots are here."
        player.session.info(f"{why} Games in progress: {len(self._roster.running)} Players: {connected}")

    def seen(self, player: Player) -> Seen:
        """What is known of it, to say what holds it."""
        limits, holds = player.limits, player.holds
        closed = Hold.OUT_OF_HOURS in holds
        return Seen(
            holds=holds,
            games=tuple(player.games),
            begun=player.daily.begun,
            most=limits.games_a_day,
            suspension=self._suspensions.notice(player) if Hold.SUSPENDED in holds else "",
            hours=str(limits.hours) if closed else "",
            closed=notice(limits.hours, self._context.time.wall_ms()) if closed else "",
        )
