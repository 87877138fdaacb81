"""Places from what is compared: sorts, and lets those share a place whom nothing separates.

Must not know: what the compared values mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

from cgos_server.tournaments.base import Event, Row, Standings


def ranked(
    event: Event,
    order: Sequence[str],
    values: Mapping[str, Mapping[int, float | None]],
    ascending: Sequence[str] = (),
) -> Standings:
    """The standings by `order`; those who are equal in all of it share a place, in the order of registration.

    :param values: word -> id -> value; exact where it is a multiple of a power of two; None counts as the least
    :param ascending: words of which less is better
    """
    ids = [one.id for one in event.entrants]
    columns = []
    for word in order:
        of, sign = values[word], 1 if word in ascending else -1
        columns.append([inf if (value := of[id_]) is None else sign * value for id_ in ids])
    keys = dict(zip(ids, zip(*columns, strict=True) if order else [()] * len(ids), strict=True))
    rows: list[Row] = []
    for at, one in enumerate(sorted(event.entrants, key=lambda one: keys[one.id])):
        place = rows[-1].place if rows and keys[one.id] == keys[rows[-1].entrant] else at + 1
        rows.append(
            Row(place=place, entrant=one.id, name=one.name, values=tuple(values[word][one.id] for word in order))
        )
    return Standings(tuple(order), tuple(rows))
