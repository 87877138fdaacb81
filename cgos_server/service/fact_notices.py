"""Facts as messages that a database carries between processes: several in one, moves in short, none too long.

A message is a JSON array. A fact is an object as :func:`cgos_protocol.facts.encode` makes it; a move is an array of
venue, game, ply, move and time left, less than half as long; ``null`` stands where facts are missing. Must not know:
who tells, how it is carried.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from cgos_protocol.facts import AnyFact, MovePlayed, NamesErased
from cgos_protocol.ids import GameId

_Move = tuple[str, GameId, int, str, int]
"""The fields of :class:`MovePlayed`, in their order."""

_Item = AnyFact | _Move | None

_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(list[_Item])
_AROUND: Final = 2
"""Bytes of the brackets."""


def notices(facts: Iterable[AnyFact | NamesErased | None], largest: int) -> list[str]:
    """Messages that tell these facts, in their order; None stands where some are missing, and so does whatever makes
    all that was known before doubtful.

    :param largest: bytes of a message at most; of a fact that alone is longer only says that it is missing
    """
    messages: list[bytes] = []
    items: list[bytes] = []
    size = _AROUND
    for fact in facts:
        item = _encoded(fact)
        if len(item) + _AROUND > largest:
            item = b"null"
        if size + len(item) + 1 > largest:
            messages.append(b",".join(items))
            items, size = [], _AROUND
        items.append(item)
        size += len(item) + 1
    if items:
        messages.append(b",".join(items))
    return [f"[{message.decode()}]" for message in messages]


def facts_of(text: str) -> Sequence[AnyFact | None]:
    """What :func:`notices` made of one message. One that this version does not know says that something is missing."""
    try:
        items = _DECODER.decode(text)
    except msgspec.DecodeError:
        return [None]
    return [_fact(item) for item in items]


def _encoded(fact: AnyFact | NamesErased | None) -> bytes:
    if isinstance(fact, MovePlayed):
        return _ENCODER.encode((fact.venue, fact.game, fact.ply, fact.move, fact.left_ms))
    return _ENCODER.encode(None if isinstance(fact, NamesErased) else fact)


def _fact(item: _Item) -> AnyFact | None:
    if isinstance(item, tuple):
        venue, game, ply, move, left_ms = item
        return MovePlayed(venue=venue, game=game, ply=ply, move=move, left_ms=left_ms)
    return item
