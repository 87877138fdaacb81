"""Lines of the bulk exports of the API ``/api/v1``: values that server and client share.

Ledgers are exported as they are paged (:class:`~cgos_protocol.api.figures.LedgerEntry`). Columns of the CSV
files are these fields in this order. Must not know: HTTP, where the lines come from.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from cgos_protocol.api.games import Game
from cgos_protocol.api.messages import Answer, Count, HalfWidth, Id, Lower, Moment, RankEnd, Share, Upper, WireName

Shown = Annotated[int | None, Meta(description="The number of the label: the rating as it was shown at the start.")]
Doubtful = Annotated[bool | None, Meta(description="Whether the label says that it is provisional (`?`).")]
Mean = Annotated[
    float | None,
    Meta(description="The rating that the result found, under `system`, with all digits; null where it changed none."),
]


class ExportedGame(Game, frozen=True, kw_only=True):
    """One ended game with its ratings as numbers. `system` is the venue's headline where the result changed ratings.

    Servers of before leave the numbers out.
    """

    black_rating: Shown = None
    black_provisional: Doubtful = None
    white_rating: Shown = None
    white_provisional: Doubtful = None
    system: str | None = None
    black_mean: Mean = None
    black_half_width: HalfWidth = None
    white_mean: Mean = None
    white_half_width: HalfWidth = None
    black_lower: Lower = None
    black_upper: Upper = None
    white_lower: Lower = None
    white_upper: Upper = None


class ExportedChange(Answer, frozen=True, kw_only=True):
    """One change of one rating by one entry of the venue's ledger, with all digits.

    `spread` is a standard deviation, or the K of a system with a K-factor. Refits move ratings too, between entries:
    see :class:`ExportedRefit`.
    """

    seq: Annotated[int, Meta(ge=0, description="The ledger's entry.")]
    at: Moment
    kind: Annotated[str, Meta(description="The entry's kind: enter, game, anchor, unanchor, link, unlink, correction.")]
    system: str
    version: WireName
    game: Annotated[int | None, Meta(description="Of a game or a correction.")]
    before_mean: float
    before_spread: float
    after_mean: float
    after_spread: float
    games: Annotated[int, Meta(ge=0, description="Rated games of the version after it.")]
    before_lower: Lower = None
    before_upper: Upper = None
    after_lower: Lower = None
    after_upper: Upper = None


class ExportedRank(Answer, frozen=True, kw_only=True):
    """What refit `number` said of one version's rank, where it was noticeably other than before. All empty: it is not
    listed any more."""

    number: Annotated[Id, Meta(description="Of the refit.")]
    at: Moment
    system: str
    version: WireName
    rank_lower: RankEnd
    rank_upper: RankEnd
    best: Share | None
    first_three: Share | None


class RefitMove(Answer, frozen=True, kw_only=True):
    """Where a refit put a version."""

    version: WireName
    mean: float
    spread: float
    lower: Lower = None
    upper: Upper = None


class ExportedRefit(Answer, frozen=True, kw_only=True):
    """One refit of a rating system, with what it moved by more than 0.1.

    It began when entry `included` and refit `base` were in place, and was put in right after entry `applied`. Done
    again there with `notes` to follow, it comes to the same.
    """

    number: Annotated[
        Id, Meta(description="Of the refits of the system in the venue, in the order of their putting in.")
    ]
    at: Moment
    system: str
    included: Count
    base: Annotated[Count, Meta(description="Number of a refit; 0: none.")]
    applied: Count
    cold: Annotated[bool, Meta(description="Begun from nothing, not from what was known.")]
    notes: Annotated[Any, Meta(description="What it learned: hyperparameters, iterations.")]
    build: Annotated[str, Meta(description="What computed it: releases, processor, options.")]
    moved: list[RefitMove]
