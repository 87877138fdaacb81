"""Lines of the bulk exports of the API ``/api/v1``: values that server and client share.

Games are exported as they are listed (:class:`~cgos_server.protocol.api_games.Game`), ledgers as they are paged
(:class:`~cgos_server.protocol.api_figures.LedgerEntry`). Columns of the CSV files are these fields in this order. Must
not know: HTTP, where the lines come from.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from cgos_server.protocol.api_messages import Answer, Moment


class ExportedChange(Answer, frozen=True, kw_only=True):
    """One change of one rating by one entry of the venue's ledger, with all digits.

    `spread` is a standard deviation, or the K of a system with a K-factor. Refits move ratings too, between entries:
    where a version's `before_mean` is not its last `after_mean`, one did.
    """

    seq: Annotated[int, Meta(ge=0, description="The ledger's entry.")]
    at: Moment
    kind: Annotated[str, Meta(description="The entry's kind: enter, game, anchor, unanchor, link, unlink, correction.")]
    system: str
    version: str
    game: int | None
    before_mean: float
    before_spread: float
    after_mean: float
    after_spread: float
    games: Annotated[int, Meta(ge=0, description="Rated games of the version after it.")]
