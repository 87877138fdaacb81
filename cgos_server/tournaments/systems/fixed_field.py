"""Who takes part in systems whose field is fixed when the event begins.

Must not know: which systems those are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cgos_protocol.errors import Code, Invalid
from cgos_server.tournaments.base import Entrant, Event
from cgos_server.tournaments.event import field_of
from cgos_server.tournaments.kept import kept
from cgos_server.tournaments.words import listed


def starters(event: Event, keep_byes: bool = False) -> tuple[Entrant, ...]:
    """Those who were there for the first round, or would be if it began now, in the order of registration.

    Once the first round has begun they are those of its record, so that whoever leaves later stays one of them.

    :param keep_byes: whether those are among them who asked for a bye in that round
    """
    return _starters(event, keep_byes)


@kept
def _starters(event: Event, keep_byes: bool) -> tuple[Entrant, ...]:
    if not event.rounds:
        field = field_of(event, 1)
        there, byes = {one.id for one in field.players}, field.byes
    else:
        first = event.rounds[0]
        there, byes = {id_ for game in first.games for id_ in game.pair}, first.byes
    there.update(bye.entrant for bye in byes if keep_byes or not bye.requested)
    return tuple(one for one in event.entrants if one.id in there)


@kept
def seeds_of(event: Event) -> Mapping[int, int]:
    """Id -> 1, 2... of :func:`starters`, best first."""
    return {one.id: seed for seed, one in enumerate(starters(event), 1)}


def latecomers(event: Event, keep_byes: bool = False) -> tuple[Entrant, ...]:
    """Those who are there for the next round, but are not of the field; `keep_byes` as of :func:`starters`."""
    ids = {one.id for one in starters(event, keep_byes)}
    return tuple(one for one in field_of(event).players if one.id not in ids)


def require_two(what: str, count: int) -> None:
    """Raises Refused for a field of one or none.

    :param what: begins the sentence, such as "A cup"
    """
    if count < 2:
        raise Invalid(
            Code.TOO_FEW_ENTRANTS, f"{what} needs at least two entrants, and has {count}. Enter more of them."
        )


def fixed(what: str) -> str:
    """A sentence on why nobody can enter any more.

    :param what: such as "a cup"
    """
    return f"The field of {what} is fixed when the first round begins."


def too_late(late: Sequence[Entrant]) -> str:
    """A sentence, with a space before it, on those who came too late; empty for none."""
    names = [one.name for one in late]
    if not names:
        return ""
    return f" {listed(names)} entered after the start and {'is' if len(names) == 1 else 'are'} not paired."
