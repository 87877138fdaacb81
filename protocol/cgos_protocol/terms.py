"""What a game is played by, fixed when it begins. Must not know: who plays, where the game stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgspec

from cgos_protocol import clock
from cgos_protocol.clock import ClockState, TimeControl
from cgos_protocol.errors import OurFault
from cgos_protocol.games.base import Color, Ruleset

_SHOWN: Final = 100
"""Characters of unreadable terms that an error shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a game was started with. Kept with the game, so that it goes on unchanged when its venue changes.

    :ivar move_limit: plies after which the game is scored as it stands (>= 1)
    :ivar first_move_limit: microseconds a side has for its own first move
    :ivar rated: False where the result changes no rating, as in a sandbox
    :ivar mains: [Black's, White's] main time in microseconds where they differ from the time control's, else None
    """

    rules: Ruleset
    time: TimeControl
    move_limit: int
    first_move_limit: int
    rated: bool = True
    mains: tuple[int, int] | None = None

    def starting_clock(self, color: Color) -> ClockState:
        """That side's clock before its first move."""
        state = clock.start(self.time)
        return state if self.mains is None else state._replace(main=self.mains[color])


def encode_terms(terms: Terms) -> str:
    """`terms` as JSON, for the store."""
    return msgspec.json.encode(terms).decode()


def decode_terms(text: str) -> Terms:
    """The inverse of :func:`encode_terms`. Raises OurFault where `text` is not such JSON."""
    try:
        return msgspec.json.decode(text, type=Terms)
    except msgspec.DecodeError as error:
        raise OurFault(f"The stored terms of a game cannot be read ({error}): {text[:_SHOWN]}") from error
