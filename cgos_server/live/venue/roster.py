"""Who is in a venue, and which games run there.

Decides nothing: it is looked at and changed by others. Must not know: why a bot comes, goes or plays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from cgos_protocol.ids import BotId, GameId, VersionId
from cgos_server.live.games.live_game import LiveGame
from cgos_server.live.venue.player import Player
from cgos_server.service.ratings.families import Families


class Roster:
    """One a venue.

    :ivar players: by version; those who are away stay while a game of theirs runs
    :ivar connected: how many versions are signed in
    :ivar running: the running games, by number
    :ivar names: version id -> wire name; arrivals add to it
    :ivar families: who belongs together; arrivals are added
    """

    def __init__(self, names: dict[VersionId, str], families: Families) -> None:
        self.players: dict[VersionId, Player] = {}
        self.connected = 0
        self.running: dict[GameId, LiveGame] = {}
        self.names = names
        self.families = families

    def here(self) -> Iterator[Player]:
        """Who is signed in; the roster may change meanwhile."""
        return (player for player in list(self.players.values()) if player.session is not None)

    def of_bot(self, bot: BotId) -> Iterator[Player]:
        """The versions of this bot that are signed in."""
        return (player for player in self.here() if player.bot == bot)

    def named(self, name: str) -> Player | None:
        """The version that is signed in under this wire name."""
        return next((player for player in self.here() if player.name == name), None)

    def idle(self) -> list[Player]:
        """Who could be paired now."""
        return [player for player in self.players.values() if player.available]

    def states(self) -> Counter[str]:
        """How many versions there are in each state, away ones included; see :attr:`Player.state`."""
        return Counter(player.state for player in self.players.values())

    def games(self) -> Iterable[LiveGame]:
        """The running games."""
        return self.running.values()

    def game(self, number: GameId) -> LiveGame | None:
        """A running game."""
        return self.running.get(number)

    def begun(self) -> int:
        """Games that run, or whose beginning is being committed."""
        return len(self.running) + sum(player.chosen for player in self.players.values()) // 2

    def player(self, version: VersionId) -> Player:
        """The entry of a version, made where there is none (away)."""
        player = self.players.get(version)
        if player is None:
            player = self.players[version] = Player(version, self.names[version], self.families.bot(version))
        return player

    def let_go(self, players: Iterable[Player]) -> None:
        """A pairing pass is over: those of them that it considered and did not choose are free again."""
        for player in players:
            if player.reserved and not player.chosen:
                player.let_go()
                player.send_home()
                self.forget(player)

    def forget(self, player: Player) -> None:
        """Nobody needs the entry of a bot that is away and plays nothing."""
        if player.session is None and not player.games and not player.reserved:
            self.players.pop(player.version, None)

    def dismiss(self, version: VersionId, sentence: str) -> bool:
        """Tell a version's connection why it must go, and close it; False where there is none."""
        player = self.players.get(version)
        if player is None or player.session is None:
            return False
        player.session.refused("dismissed", sentence)
        return True
