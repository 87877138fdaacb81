"""What the API ``/api/v1`` answers about ledgers, and venues in figures: values that server and client share.

Must not know: HTTP, where the answers come from.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from cgos_protocol.api.messages import Answer, Count, Id, Moment, Share, WireName, replaced_by


class LedgerEntry(Answer, frozen=True, kw_only=True, omit_defaults=True):
    """One numbered fact that ratings follow from. Which fields are there depends on `kind`: enter, game, anchor,
    unanchor, link, unlink or correction. Scores are Black's, in half points (0, 1, 2)."""

    seq: Id
    at: Moment
    kind: str
    game: int | None = None
    version: WireName | None = None
    black: WireName | None = None
    white: WireName | None = None
    score2: int | None = None
    value: Annotated[float | None, Meta(description="A rating (enter, anchor).")] = None
    sd: Annotated[float | None, Meta(description="Standard deviation, Elo.")] = None
    other: Annotated[WireName | None, Meta(description="The predecessor (enter, link, unlink).")] = None
    was2: Annotated[int | None, Meta(description="What the game counted as so far (correction).")] = None
    repeat: Annotated[bool, Meta(description="The same two played the very same game before.")] = False
    digest: Annotated[
        Annotated[str, Meta(pattern="^0x[0-9a-f]{16}$")] | None,
        Meta(description="Of a game's moves and result: 63 bits, hexadecimal, more than numbers of JSON hold."),
    ] = None
    surely: Annotated[bool, Meta(description="Nobody doubts that `other` is the predecessor (enter, link).")] = False


class LedgerPage(Answer, frozen=True, kw_only=True):
    """Entries of a venue's ledger in order. `next` is the `after` of the next page, null at the end as it is now, and
    `incarnation` goes with it."""

    venue: WireName
    items: list[LedgerEntry]
    next: int | None
    last_entry: Count
    incarnation: str = ""


class Spread(Answer, frozen=True, kw_only=True):
    """How values are distributed. `p90`: nine tenths of them are no larger. All 0 where there is no value."""

    count: Count
    mean: float
    median: float
    p90: float
    largest: float


class PairingFigures(Answer, frozen=True, kw_only=True):
    """How a venue has been pairing in its latest games."""

    since: Moment
    until: Moment
    games: Count
    rounds: Annotated[Count, Meta(description="Rounds that began these games.")]
    latest_rounds: Annotated[Count, Meta(description="The number of latest rounds that `waits` and `sat_out` cover.")]
    looked_at: Annotated[Count, replaced_by("latest_rounds", "A count")]
    gaps: Annotated[Spread, Meta(description="Differences of ratings as they were shown, Elo.")]
    waits: Annotated[Spread, Meta(description="Seconds that those had waited who were paired.")]
    expected: Annotated[Spread, Meta(description="Expected score of the better one.")]
    bits: Annotated[Spread, Meta(description="What a game tells at most: the entropy of its expected result.")]
    again: Annotated[Share | None, Meta(description="Share of games against the opponent of the game before.")]
    in_games: Annotated[Share | None, Meta(description="Share of signed-in time that was spent in games.")]
    sat_out: Annotated[Count, Meta(description="How often a ready version stayed unpaired.")]


class VenueMetrics(Answer, frozen=True, kw_only=True):
    """A venue in figures: now (null where the server that plays does not answer), and over its latest games."""

    venue: WireName
    at: Moment
    playing: Count | None
    idle: Annotated[Count | None, Meta(description="Versions that are ready for a game.")]
    owing: Annotated[Count | None, Meta(description="Versions that have not answered the end of a game yet.")]
    paused: Annotated[bool | None, Meta(description="While it is paused nobody is paired.")]
    last_entry: Count
    rated_versions: Annotated[Count, Meta(description="Versions that the headline system rates.")]
    last_game: int | None
    pairing: PairingFigures


class Ending(Answer, frozen=True, kw_only=True):
    """How many games of one color ended so, corrected ones as they count now."""

    color: Annotated[str, Meta(description="The version's: black or white.")]
    reason: Annotated[str, Meta(description="As of `Game`.")]
    outcome: Annotated[str, Meta(description="For the version: won, lost, drawn or none.")]
    games: Count


class ColorFigures(Answer, frozen=True, kw_only=True):
    """What came of the games with one color."""

    won: Count
    lost: Count
    drawn: Count
    none: Count
    score: Annotated[Share | None, Meta(description="Points for each game with a result; null without one.")]


class SpoiltFigures(Answer, frozen=True, kw_only=True):
    """Games that a version has only itself to blame for, among all of its ended ones."""

    games: Count
    of: Count
    rate: Share


class VersionFigures(Answer, frozen=True, kw_only=True):
    """How a version's games in a venue ended, and how much of the last days it was signed in anywhere."""

    version: WireName
    venue: WireName
    verdicts: list[Ending]
    colors: Annotated[dict[str, ColorFigures], Meta(description="`black` and `white`.")]
    spoilt: Annotated[dict[str, SpoiltFigures], Meta(description="Lost by `time`, `illegal move` or `forfeit`.")]
    uptime_7_days: Share
    uptime_30_days: Share
