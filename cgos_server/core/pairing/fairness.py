"""Who takes Black: whoever has had it less against this opponent, then less over all games, then by lot.

Must not know: who meets whom and why, storage.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cgos_protocol.ids import VersionId
from cgos_protocol.randomness import Rng


class Colors(NamedTuple):
    """The sides (version ids) and a sentence that says why."""

    black: VersionId
    white: VersionId
    why: str


def colors(
    a: VersionId,
    b: VersionId,
    as_black: Callable[[VersionId, VersionId], int],
    balance: Callable[[VersionId], int],
    rng: Rng,
) -> Colors:
    """Give the two sides of a pair their colors; which of them is `a` matters only to the lot.

    :param as_black: `as_black(x, y)`: games in which x was Black against y
    :param balance: `balance(x)`: games of x as Black minus games as White, against anybody
    :param rng: drawn from only where both balances are equal
    """
    a_black, b_black = as_black(a, b), as_black(b, a)
    if a_black != b_black:
        black, white, fewer = (a, b, a_black) if a_black < b_black else (b, a, b_black)
        met = a_black + b_black
        return Colors(black, white, f"Black has been Black in {fewer} of their {met} games against each other.")
    a_balance, b_balance = balance(a), balance(b)
    if a_balance != b_balance:
        black, white = (a, b) if a_balance < b_balance else (b, a)
        low, high = sorted((a_balance, b_balance))
        return Colors(
            black,
            white,
            f"Even between the two ({a_black} each); over all games Black's balance of colors is the lower one"
            f" ({low:+d} against {high:+d}).",
        )
    black, white = (a, b) if rng.random() < 0.5 else (b, a)
    return Colors(black, white, "Even between the two and over all games; drawn by lot.")
