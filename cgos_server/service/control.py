"""The small interface by which use cases drive the live server, and its stand-in for a server that is not running.

What travels over the control socket are these same words. Must not know: sockets, the lobby's insides.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

import msgspec

from cgos_protocol.api.messages import StrengthChange
from cgos_protocol.api.people import Arranged, EndedGame, Previewed, ServerNow, Upgraded
from cgos_protocol.games.base import Color
from cgos_protocol.ids import BotId, GameId, VersionId
from cgos_protocol.session import Limits
from cgos_server.core.renaming import Renaming
from cgos_server.service.events.desk import EventDesk
from cgos_server.service.questions.desk import QuestionDesk
from cgos_server.service.ratings.venue_ratings import VenueRatings
from cgos_server.storage.reading.stored import StoredGame
from cgos_server.storage.sharing import GroupOwner


class VersionNow(msgspec.Struct, frozen=True, kw_only=True):
    """One version of a bot in one venue, as its owner sees it: signed in, or away while a game of it runs.

    :ivar state: of :class:`cgos_server.service.holds.Hold`, or ``idle``
    :ivar began_at: when that began, in Unix milliseconds; None from a server of an earlier version
    :ivar since: the same in seconds
    :ivar games: those that it plays, by number
    :ivar slots: games that it plays at once, at most
    :ivar why: why it is not paired just now, or what it waits for; a sentence
    :ivar paired: False where something stands between it and its next game besides an opponent
    """

    name: str
    venue: str
    state: str
    since: float
    games: list[GameId]
    slots: int
    why: str
    paired: bool
    began_at: int | None = None


class ServerStatus(ServerNow, frozen=True, kw_only=True):
    """The live server now, with what only the machine's operators see. `moves` and `ended` (verdict word -> games)
    count since this process started.

    :ivar pause_s: seconds in which nobody was served when this program took over from one before; None where it was
        started
    :ivar node: its name among the nodes of a cluster; empty where it is alone
    :ivar group: the group of venues that it has; empty where it is alone, or stands by
    :ivar groups: who has the groups of venues; empty where it is alone, or stands by
    :ivar standing_by: why that node does not serve, as part of a sentence; empty where it does
    :ivar plugins: those that can be used: ``rating system steady-elo of cgos-steady-elo 1.0``
    :ivar plugin_problems: sentences about those that cannot
    """

    web: str
    health: str
    websocket: str = ""
    pause_s: float | None = None
    node: str = ""
    standing_by: str = ""
    group: str = ""
    groups: list[GroupOwner] = msgspec.field(default_factory=list)
    plugins: list[str] = msgspec.field(default_factory=list)
    plugin_problems: list[str] = msgspec.field(default_factory=list)


class ArrangedGame(Arranged, frozen=True, kw_only=True):
    """A game that an operator has arranged and that is about to begin. Labels are ratings as shown: ``1800?``."""

    black_label: str
    white_label: str


class Control(Protocol):
    """What use cases may ask of the live server."""

    @property
    def events(self) -> EventDesk:
        """The events that are not over."""

    @property
    def questions(self) -> QuestionDesk:
        """The questions that have not ended."""

    def status(self) -> ServerStatus: ...

    def strength_changes(self) -> list[StrengthChange]:
        """The versions whose strength seems to have changed, by venue and wire name."""

    def dismiss(self, bot: BotId, sentence: str) -> int:
        """Tell every connection of this bot (by its number, any version) `sentence` and close it; how many."""

    async def vacate(self, bots: Collection[BotId], sentence: str) -> None:
        """Have these bots (by their numbers) play no more: they get no game, withdraw from events that are not over,
        are told `sentence` and closed, and their games are aborted. All of that is committed then.

        Raises Refused (``busy``) where it takes too long.
        """

    async def erased(self, names: Mapping[VersionId, str], renaming: Renaming) -> None:
        """Use the new names wherever names are kept in memory.

        :param names: of the versions that were erased
        :param renaming: for sentences
        """

    def ratings(self, venue: str) -> VenueRatings | None:
        """The live ratings of a venue, or None where there is no such venue."""

    def ratings_changed(self, venue: str) -> None:
        """Entries were applied to the ratings of a venue: its refits are to hear of it."""

    def drain(self) -> None:
        """No new game; stop when the running ones have ended or the limit is reached."""

    def match(
        self,
        venue: str,
        white: str,
        black: str,
        mains_s: tuple[int, int],
        opening: StoredGame | None,
        plies: int | None,
        actor: str,
    ) -> ArrangedGame:
        """Let these two play now.

        :param mains_s: seconds for [White, Black]; 0 is the venue's own main time
        :param opening: an old game with whose first `plies` moves (None: all) this one begins
        :param actor: who wishes it, for the record
        :raises Refused: where they cannot, such as ``no-venue``, ``same-player``, ``no-white``, ``black-busy``,
            ``bad-time``, ``bad-game``, ``bad-length``, ``draining``
        """

    def end_game(self, game: GameId, winner: Color | None, detail: str) -> EndedGame:
        """End a running game: `winner` wins by forfeit, or with None the game is aborted.

        Raises Refused (``no-game``, ``ending``).
        """

    def pause(self, venue: str, paused: bool) -> None:
        """Stop or go on pairing in a venue. Raises Refused (``unknown-venue``)."""

    def kick(self, name: str, sentence: str) -> int:
        """Tell every connection that plays under this wire name `sentence` and close it; how many."""

    def recall(self, venue: str | None, versions: Collection[VersionId]) -> dict[str, list[VersionId]]:
        """Let these versions play again where they were suspended, with a clean slate.

        :param venue: only there; None for everywhere
        :returns: venue -> the versions that were suspended in it; a venue without one is left out
        :raises Refused: ``unknown-venue``
        """

    def wishes(self, bot: BotId, paused: bool, limits: Limits) -> None:
        """What a bot's owner wants, in force at once wherever the bot (by its number, any version) is signed in.

        :param paused: it gets no new game
        :param limits: besides what the bot itself says
        """

    def look(self, bot: BotId) -> list[VersionNow]:
        """The versions of this bot (by its number) that are signed in, or whose games run."""

    def drain_bot(self, bot: BotId) -> int:
        """Give the connections of this bot no new game, and close each when its games have ended; how many."""

    async def preview(
        self, venue: str, method: str | None, options: Mapping[str, str | int | float | bool]
    ) -> Previewed:
        """What would be paired now.

        :param method: by another matchmaker; None for the venue's own
        :param options: on top of the method's defaults, or of the venue's own options where it is the venue's method
        :raises Refused: where the venue, the method or an option is unknown
        """

    async def reload(self) -> list[str]:
        """Read the configuration again and put in force what can be changed without a restart.

        :returns: a sentence for each thing that changed, and for each that needs a restart
        :raises Refused: where the configuration is at fault; then nothing has changed
        """

    async def check_upgrade(self, program: str | None) -> Upgraded:
        """Whether another program can take over from this one as things are.

        :param program: its path; None for the one by which the server was started, as it is installed now
        :raises Refused: where it cannot, or not now
        """

    def upgrade(self) -> None:
        """Let the program take over that was checked."""

    def hand_over(self) -> None:
        """End at once, every game as it stands: another node of the cluster goes on with them."""
