"""The matches of a double elimination as its record has them: by rounds, the unbeaten apart from those with one loss.

Must not know: how a round is paired, pictures.
"""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from cgos_server.tournaments.base import Event
from cgos_server.tournaments.systems.fixed_field import seeds_of
from cgos_server.tournaments.systems.knockout import by_seed, games_of, match


class BranchMatch(Struct, frozen=True, kw_only=True):
    """One match, or a pass.

    :ivar losses: the most that one of its sides had before it: 0 among the unbeaten, else 1
    :ivar is_final: an unbeaten meets one who has a loss
    :ivar sides: ids, the better seed first; a single one passes
    :ivar winner: id; None: none, or not yet
    """

    round: int
    losses: int
    sides: tuple[int, ...]
    winner: int | None = None
    is_final: bool = False


def branch_matches(event: Event, replays: int) -> list[BranchMatch]:
    """Every match and pass of the record, by rounds, in the order in which they were paired.

    :param replays: the option of the system
    """
    seeds = seeds_of(event)
    losses: Counter[int] = Counter()
    matches: list[BranchMatch] = []
    for each in event.rounds:
        lost: list[int] = []
        for pair, games in games_of(event, each.number).items():
            better, worse = by_seed(pair, seeds)
            outcome = match(games, better, worse, replays)
            matches.append(
                BranchMatch(
                    round=each.number,
                    losses=max(losses[id_] for id_ in pair),
                    sides=(better, worse),
                    winner=outcome.winner,
                    is_final=losses[better] != losses[worse],
                )
            )
            lost += outcome.losers
        matches += [
            BranchMatch(round=each.number, losses=losses[bye.entrant], sides=(bye.entrant,), winner=bye.entrant)
            for bye in each.byes
        ]
        losses.update(lost)
    return matches
