"""What all systems that pair whole rounds have in common: when they may pair, who is there, when they are over.

Must not know: how any of them pairs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from cgos_server.tournaments.base import Chance, Event, Round, Stale, Standings
from cgos_server.tournaments.event import Field, field_of, open_games, refuse_over, require_results
from cgos_server.tournaments.ledger import Ledger, ledger
from cgos_server.tournaments.pairing.replays import due_again, needless
from cgos_server.tournaments.standings.tiebreaks import standings_by


class ByRounds(ABC):
    """A :class:`cgos_server.tournaments.base.System` of whole rounds; a subclass has `decide`.

    Games that are void are played again with the same colors, as further games of their round, before the next round is
    paired; a game without contest stays as it is. A corrected result changes no round that has been paired since.
    """

    name: ClassVar[str]
    tie_breakers: ClassVar[tuple[str, ...]]
    rounds_follow = False

    @abstractmethod
    def decide(self, event: Event, field: Field, ledger: Ledger, rng: Chance) -> Round:
        """The round `field.number` of those who are there; byes asked for are added afterwards."""

    def length(self, event: Event) -> int | None:  # noqa: ARG002 - most systems go on as long as somebody wants
        return None

    def pair(self, event: Event, rng: Chance) -> Round:
        require_results(event)
        again = due_again(event)
        if again is not None:
            return again
        if self.is_over(event):
            raise refuse_over(event)
        field = field_of(event)
        decided = self.decide(event, field, ledger(event), rng)
        return Round(
            number=field.number, games=decided.games, byes=(*decided.byes, *field.byes), explanation=decided.explanation
        )

    def ready_games(self, event: Event, rng: Chance) -> tuple[Round, ...]:
        again = due_again(event)
        if again is not None:
            return (again,)
        return () if open_games(event) or self.is_over(event) else (self.pair(event, rng),)

    def closed(self, event: Event) -> str:  # noqa: ARG002 - most systems take everybody at any time
        return ""

    def stale(self, event: Event) -> Stale:
        return needless(event)

    def standings(self, event: Event) -> Standings:
        return standings_by(event, event.tie_breakers or self.tie_breakers)

    def is_over(self, event: Event) -> bool:
        lengths = [length for length in (event.planned, self.length(event)) if length is not None]
        ended = not open_games(event) and due_again(event) is None
        return bool(lengths) and len(event.rounds) >= min(lengths) and ended
