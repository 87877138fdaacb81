"""What the API ``/api/v1`` answers about games and pairings: values that server and client share.

Plies count from 1; vertices are as in GTP (``D4``, ``PASS``). `*_us` are microseconds of a clock. Must not know: HTTP,
where the answers come from.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from cgos_protocol.api.events import GameInEvent
from cgos_protocol.api.messages import (
    Answer,
    ColorWord,
    Count,
    GameNumber,
    HalfWidth,
    Id,
    Lower,
    Moment,
    Upper,
    WireName,
)
from cgos_protocol.ids import GameId
from cgos_protocol.v2.messages import RulesInfo, TimeInfo


class Game(Answer, frozen=True, kw_only=True):
    """One game in a list. `result`, `reason` and `ended_at` are null while it runs.

    `result`: ``B+3.5``, ``W+Resign``, ``Draw``, ``Void`` ...; `corrected`: the result that counts now, where an
    operator changed it.
    """

    id: GameNumber
    venue: WireName
    black: WireName
    white: WireName
    black_label: Annotated[str, Meta(description="Black's rating as it was shown at the start: `1800` or `1800?`.")]
    white_label: str
    started_at: Moment
    ended_at: Moment | None
    result: str | None
    reason: Annotated[
        str | None, Meta(description="score, resignation, time, illegal move, forfeit, void or abort; null: it runs.")
    ]
    moves: Count
    corrected: str | None
    opening: Annotated[str, Meta(description="Name of the opening that it began with, or empty.")]


class GamePage(Answer, frozen=True, kw_only=True):
    """Games, newest first. `next` is the `before` of the next page, null at the end."""

    items: list[Game]
    next: int | None


class Move(Answer, frozen=True, kw_only=True):
    """One move with the mover's clock after it."""

    ply: Id
    color: ColorWord
    move: str
    used_us: Annotated[int, Meta(description="What the move cost.")]
    main_us: Annotated[int, Meta(description="Main time left.")]
    period_us: Annotated[int, Meta(description="Time left in the current period of Canadian overtime.")]
    quota: Annotated[int, Meta(description="Periods left (byo-yomi), or moves still to make in one (Canadian).")]
    at: Moment
    analysis: Annotated[
        Any, Meta(description="What the mover said of the position before its move, as it was sent; null for nothing.")
    ]


class Moves(Answer, frozen=True, kw_only=True):
    """Moves of a game after ply `after`. Of a running game, those that may be shown already."""

    game: GameNumber
    after: Count
    running: bool
    items: list[Move]


class GameChange(Answer, frozen=True, kw_only=True):
    """What a game did to one rating."""

    system: str
    seq: int
    version: WireName
    before_mean: float
    before_spread: float
    before_lower: Lower = None
    before_upper: Upper = None
    before_half_width: HalfWidth
    after_mean: float
    after_spread: float
    after_lower: Lower = None
    after_upper: Upper = None
    after_half_width: HalfWidth
    games: int


class Correction(Answer, frozen=True, kw_only=True):
    """An operator changed what an ended game counts as. `seq`: the ledger's entry, null where ratings do not change."""

    at: Moment
    seq: int | None
    reason: str
    was: str
    winner: ColorWord | None
    result: str


class Pairing(Answer, frozen=True, kw_only=True):
    """Why a game was played. `detail` is what the pair was decided by."""

    game: GameId
    round: int
    black: WireName
    white: WireName
    high: Annotated[WireName, Meta(description="The higher rated one of the two.")]
    low: WireName
    reason: str
    colors: Annotated[str, Meta(description="Why these colors.")]
    detail: Any


class Stones(Answer, frozen=True, kw_only=True):
    """Stones that were on the board before the first move."""

    black: list[str]
    white: list[str]
    to_play: ColorWord


class GameDetail(Answer, frozen=True, kw_only=True):
    """All about one game but its moves, which are at ``/games/{game}/moves``."""

    game: Game
    rules: RulesInfo
    time: TimeInfo
    move_limit: Annotated[int, Meta(description="Plies after which it is scored as it stands.")]
    rated: bool
    start: Stones | None
    winner: ColorWord | None
    margin: Annotated[float | None, Meta(description="Black's margin in points, where the score decided.")]
    detail: Annotated[str, Meta(description="What the verdict says besides; may be empty.")]
    ending: Annotated[str, Meta(description="How it ended, as a sentence; empty while it runs.")]
    pairing: Pairing | None
    ratings: list[GameChange]
    corrections: list[Correction]
    repeats: Annotated[int | None, Meta(description="The earlier game of these two that went exactly like it.")]
    event: Annotated[GameInEvent | None, Meta(description="The event that it was played in.")]


class Round(Answer, frozen=True, kw_only=True):
    """One round: a pairing pass that began games."""

    id: Id
    number: Annotated[int, Meta(description="Within its venue.")]
    at: Moment
    policy: str
    method: str
    games: Count
    sits_out: Annotated[Count, Meta(description="Versions that were ready and stayed unpaired.")]


class RoundPage(Answer, frozen=True, kw_only=True):
    """A venue's rounds, newest first. `next` is the `before` of the next page, null at the end."""

    venue: WireName
    items: list[Round]
    next: int | None


class Ready(Answer, frozen=True, kw_only=True):
    """A version that could play when the round was decided. `sd` is 0 where it was not known; `left_over` says why it
    stayed unpaired, empty for one that was paired, or went away meanwhile."""

    name: WireName
    rating: float
    sd: float
    games: int
    waited_s: float
    sat_out: Annotated[int, Meta(description="Rounds in a row that it had sat out.")]
    last_opponent: str | None
    balance: Annotated[int, Meta(description="Games as Black minus games as White.")]
    anchor: bool
    provisional: bool
    met: str | None
    game: GameId | None
    left_over: str


class Partner(Answer, frozen=True, kw_only=True):
    """One whom a version could have met. `worth` and `costs` are bits; `worth` is null where the method has no
    objective. `kept`: what the two were kept from each other by, in words."""

    name: WireName
    rating: float
    expected: Annotated[float, Meta(ge=0, le=1, description="Expected score of decided games.")]
    worth: float | None
    costs: float
    kept: str
    possible: bool
    met: str | None


class Replay(Answer, frozen=True, kw_only=True):
    """The round decided again from its record. `agrees` is null where it cannot be."""

    agrees: bool | None
    sentence: str
    total: int | None
    missing: list[tuple[str, str]]
    other: list[tuple[str, str]]


class RoundDetail(Answer, frozen=True, kw_only=True):
    """One round with all that it was decided from.

    `game` and `partners` (version -> those whom it could have met, in the method's order) are there where one of its
    games was asked about.
    """

    round: Id
    venue: WireName
    number: int
    at: Moment
    policy: str
    method: str
    options: dict[str, Any]
    seed: str
    total: Annotated[
        int | None,
        Meta(description="Worth of the pairs less costs, and what waiting added, in millionths of a bit."),
    ]
    game: Pairing | None
    pairs: list[Pairing]
    ready: list[Ready]
    sits_out: Annotated[dict[str, str], Meta(description="Version -> why it stayed unpaired.")]
    notes: list[str]
    partners: dict[str, list[Partner]]
    replay: Replay
