"""The life of a game and the life of a player, each as one table: phases, and what leads from one to the next.

What is not in a table does not happen: :func:`check` raises OurFault. `docs/architecture.md` shows both tables as
:func:`drawn` draws them. Must not know: what a game or a player does in a phase.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Final, TypeVar

from cgos_protocol.errors import OurFault


class _Phase(enum.Enum):
    """:ivar meaning: for documentation"""

    __hash__ = object.__hash__  # an enum's own is a call in Python, and each step of a player looks twice

    def __init__(self, word: str, meaning: str) -> None:
        self.word = word
        self.meaning = meaning


class GamePhase(_Phase):
    """Where a game is in its life."""

    SETTLING = "settling", "both sides were set up; the first `genmove` comes after a pause"
    RUNNING = "running", "the mover's clock runs"
    COMMITTING = "committing", "a move waits for its commit; no clock runs"
    OVERRULED = "overruled", "likewise, and behind the move waits an end that an operator or a fault has brought"
    ENDING = "ending", "the end waits for its commit, with the move that caused it"
    INTERRUPTED = "interrupted", "cut by a restart; no clock runs until the mover is back or was away too long"
    OVER = "over", "the end was committed and told"


class PlayerPhase(_Phase):
    """What a version does in a venue; of several the first one that is true."""

    AWAY = "away", "not signed in; it is known while a game of it runs or is about to begin"
    CHOSEN = "chosen", "its next game is being committed"
    CONSIDERED = "considered", "a pairing pass looks at it; no other one may"
    OWING = "owing", "its last game is over, and it has not said `ready`"
    PLAYING = "playing", "it plays at least one game, and may have a slot for another"
    IDLE = "idle", "it plays nothing"


P = TypeVar("P", bound=_Phase)

GAME: Final[Mapping[GamePhase, Mapping[GamePhase, str]]] = {
    GamePhase.SETTLING: {
        GamePhase.RUNNING: "the pause is over",
        GamePhase.ENDING: "an operator or a fault ends it",
        GamePhase.INTERRUPTED: "the server stops, or has read the game back",
    },
    GamePhase.RUNNING: {
        GamePhase.COMMITTING: "a move that ends nothing",
        GamePhase.ENDING: "a move that ends the game, the flag, an operator or a fault",
        GamePhase.INTERRUPTED: "the server stops",
    },
    GamePhase.COMMITTING: {
        GamePhase.RUNNING: "committed: the opponent's clock starts",
        GamePhase.OVERRULED: "an operator or a fault ends it",
        GamePhase.INTERRUPTED: "committed, and the opponent has not come back since a restart or the server stops",
    },
    GamePhase.OVERRULED: {GamePhase.ENDING: "the move was committed and is told"},
    GamePhase.ENDING: {GamePhase.OVER: "committed"},
    GamePhase.INTERRUPTED: {
        GamePhase.RUNNING: "the mover is back, or only its opponent and the grace is over",
        GamePhase.ENDING: "both stayed away, an operator or a fault",
    },
    GamePhase.OVER: {},
}

_HELD: Final = {
    PlayerPhase.IDLE: "it is let go, and plays nothing",
    PlayerPhase.PLAYING: "it is let go, and plays another game",
    PlayerPhase.OWING: "it is let go, and another game has ended meanwhile",
    PlayerPhase.AWAY: "its connection is gone",
}

PLAYER: Final[Mapping[PlayerPhase, Mapping[PlayerPhase, str]]] = {
    PlayerPhase.AWAY: {
        PlayerPhase.IDLE: "it signs in",
        PlayerPhase.PLAYING: "it comes back to its games",
        PlayerPhase.CONSIDERED: "it comes back before a pairing pass that looked at it is over",
        PlayerPhase.CHOSEN: "it comes back before its next game is committed",
    },
    PlayerPhase.IDLE: {
        PlayerPhase.CONSIDERED: "a pairing pass, or an operator who arranges a game",
        PlayerPhase.OWING: "at its sign-in it is told of an end that it missed",
        PlayerPhase.AWAY: "its connection is gone",
    },
    PlayerPhase.CONSIDERED: {PlayerPhase.CHOSEN: "it gets a game", **_HELD},
    PlayerPhase.CHOSEN: {
        PlayerPhase.PLAYING: "the game was committed and begins",
        PlayerPhase.OWING: "likewise, and another game has ended meanwhile",
        PlayerPhase.AWAY: "its connection is gone",
    },
    PlayerPhase.PLAYING: {
        PlayerPhase.IDLE: "its last game has ended",
        PlayerPhase.OWING: "a game has ended, and its protocol has the word `ready`",
        PlayerPhase.CONSIDERED: "it has a slot for another game, and a pairing pass looks at it",
        PlayerPhase.AWAY: "its connection is gone",
    },
    PlayerPhase.OWING: {
        PlayerPhase.IDLE: "it says `ready`",
        PlayerPhase.PLAYING: "likewise, and another game of it runs",
        PlayerPhase.AWAY: "its connection is gone",
    },
}


def check(table: Mapping[P, Mapping[P, str]], before: P, after: P) -> None:
    """Raises OurFault where `table` has no way from `before` to `after`."""
    if after not in table[before]:
        raise OurFault(f"{type(before).__name__}: there is no way from {before.word} to {after.word}.")


def drawn(table: Mapping[P, Mapping[P, str]]) -> list[str]:
    """The table in the lines of Markdown that documentation shows."""
    lines = ["| phase | what it is | leads to |", "|---|---|---|"]
    for phase, ways in table.items():
        leads = "; ".join(f"**{after.word}**: {when}" for after, when in ways.items()) or "nothing"
        lines.append(f"| {phase.word} | {phase.meaning} | {leads} |")
    return lines
