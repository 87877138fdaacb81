"""Places from what is compared: sorts, and lets those share a place whom nothing separates.

Must not know: what the compared values mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cgos_server.core.tournaments.base import Event, Row, Standings


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

    def key(id_: int) -> tuple[float, ...]:
        compared = (values[word][id_] for word in order)
        return tuple(
            float("inf") if value is None else value if word in ascending else -value
            for word, value in zip(order, compared, strict=True)
        )

    rows: list[Row] = []
    last: tuple[float, ...] | None = None
    for at, one in enumerate(sorted(event.entrants, key=lambda one: key(one.id))):
        place = rows[-1].place if rows and key(one.id) == last else at + 1
        last = key(one.id)
        rows.append(Row(place, one.id, one.name, tuple(values[word][one.id] for word in order)))
    return Standings(tuple(order), tuple(rows))
