"""What the API ``/api/v1`` answers about venues, bots, versions and ratings: values that server and client share.

Games are in `games`, ledgers and figures in `figures`, what happens now in `live`, what people do with their own bots
in `people`. Fields may be added, none changes its meaning within version 1; whoever reads ignores
what it does not know. Names are wire names, venues go by name. Times are Unix milliseconds in fields called `*_at`,
`at`, `since` or `until`. Ratings are Elo. Must not know: HTTP, where the answers come from.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from cgos_protocol.ids import GameId
from cgos_protocol.names import NAME_PATTERN
from cgos_protocol.v2.messages import RulesInfo, TimeInfo

Moment = Annotated[int, Meta(description="Unix time in milliseconds.")]
Share = Annotated[float, Meta(ge=0, le=1, description="From 0 to 1.")]
WireName = Annotated[str, Meta(extra_json_schema={"pattern": NAME_PATTERN})]
"""Of a person, a bot, a version or a venue. The pattern is for programs that are made from the description: nothing is
refused by it."""
Count = Annotated[int, Meta(ge=0)]
Id = Annotated[int, Meta(ge=1)]
GameNumber = Annotated[GameId, Meta(ge=1)]
ColorWord = Literal["black", "white"]
HalfWidth = Annotated[
    float | None, Meta(description="Half of the 95 % interval, Elo; null where the rating system does not say one.")
]
Lower = Annotated[float | None, Meta(description="Where the 95 % interval begins, Elo; null where there is none.")]
Upper = Annotated[
    float | None, Meta(description="Where the 95 % interval ends; it need not be as far away as the lower end is.")
]

RankEnd = Annotated[
    Annotated[int, Meta(ge=1)] | None,
    Meta(
        description="An end of the 95 % interval of its rank among the versions that are listed by default; null for "
        "others, and where the rating system says nothing of ranks.",
    ),
]


def replaced_by(field: str, unit: str) -> Meta:
    """Describe a field that breaks a rule of the API: it is deprecated, and goes after a release."""
    return Meta(description=f"{unit}: read `{field}` instead.", extra_json_schema={"deprecated": True})


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all answers, and of what they are made of."""


class Problem(Answer, frozen=True, kw_only=True, omit_defaults=True):
    """Why there is no answer (RFC 9457). `code` is a stable word for programs, `detail` a sentence for people.

    `parameter` is the one that was wrong, `limit` the limit that was reached; `retry_after_s` says when another attempt
    makes sense, where waiting helps.
    """

    title: str
    status: Annotated[int, Meta(ge=400, le=599)]
    detail: str
    code: str
    type: str = "about:blank"
    instance: str | None = None
    parameter: str | None = None
    limit: str | None = None
    retry_after_s: float | None = None


class Index(Answer, frozen=True, kw_only=True):
    """What this server is, and where its API goes on."""

    server: str
    version: Annotated[str, Meta(description="Of the program.")]
    api: Annotated[int, Meta(description="The version of the API: 1.")]
    at: Moment
    openapi: Annotated[str, Meta(description="Path of the description of this API.")]
    documentation: Annotated[str, Meta(description="Path of the page for people.")]
    venues: list[WireName]
    incarnation: Annotated[str, Meta(description="Of the database; another one after each restore or copy.")] = ""


class Status(Answer, frozen=True, kw_only=True):
    """Whether the server plays, and how much there is. `playing` to `warnings` are null where the server that plays
    does not answer."""

    server: str
    version: str
    at: Moment
    live: Annotated[bool, Meta(description="Whether the server that plays answers.")]
    ready: bool | None
    draining: bool | None
    up_s: Annotated[float | None, Meta(description="Seconds since that server was started.")]
    playing: Annotated[Count | None, Meta(description="Games that are being played.")]
    bots_here: Annotated[Count | None, Meta(description="Versions that are signed in; one in two venues counts twice.")]
    bots: Count
    versions: Count
    ended: Annotated[dict[str, int], Meta(description="Ended games by the reason of their verdict.")]
    running: Annotated[Count, Meta(description="Games without a verdict in the database.")]
    moves: Count
    created_at: Annotated[Moment, Meta(description="When the database was made: Unix time in milliseconds.")]


class Venue(Answer, frozen=True, kw_only=True):
    """One pool in which ratings are comparable.

    What was fixed when it was made: `rules` and `time`. The rest may change. `configured` is false for a venue of
    before where nobody can play any more; how it was paired is not known then.
    """

    id: Id
    name: WireName
    created_at: Moment
    rules: RulesInfo
    time: TimeInfo
    terms: Annotated[str, Meta(description="What is played, for people.")]
    configured: bool
    rated: Annotated[bool, Meta(description="False in a sandbox, where results change no rating.")]
    initial: Annotated[float | None, Meta(description="Where versions begin, Elo; null where it is not configured.")]
    rating_options: Annotated[
        dict[str, dict[str, Any]],
        Meta(description="Rating system -> its options that differ from the defaults, to compute its ratings again."),
    ]
    port: Annotated[Count, Meta(description="Where bots connect by the CGOS protocol; 0: nowhere.")]
    address: Annotated[str, Meta(description="Host and port of that, such as `cgos.example.org:6809`; or empty.")]
    tls_address: Annotated[str, Meta(description="Host and port for the same lines by TLS; empty where there is none.")]
    websocket: Annotated[str, Meta(description="Where bots connect by WebSocket, `ws://` or `wss://`; or empty.")]
    systems: Annotated[list[str], Meta(description="Its rating systems, the headline first.")]
    policy: str | None
    method: Annotated[str | None, Meta(description="How it pairs.")]
    delay_ms: Annotated[Count, Meta(description="How long after it was played a move of a running game is shown.")]
    last_entry: Annotated[Count, Meta(description="Number of the last entry of its ledger.")]


class Venues(Answer, frozen=True, kw_only=True):
    """All venues."""

    items: list[Venue]


class Standing(Answer, frozen=True, kw_only=True):
    """Where a version stands. As of an earlier entry `provisional` is by the rating system's options of now."""

    rank: Annotated[
        Id | None, Meta(description="Among all that have a rated game, retired ones included; null without one.")
    ]
    version: WireName
    mean: Annotated[float, Meta(description="The rating, Elo or the system's points.")]
    lower: Lower = None
    upper: Upper = None
    half_width: HalfWidth
    spread: Annotated[float, Meta(description="A standard deviation, or the K of a system with a K-factor.")]
    games: Annotated[int, Meta(description="Rated games.")]
    provisional: bool | None
    anchor: bool
    last_game: GameId | None
    last_game_at: Moment | None
    seq: Annotated[int | None, Meta(description="The entry that changed the rating last; null if recomputed.")]
    rank_lower: RankEnd = None
    rank_upper: RankEnd = None
    best: Annotated[Share | None, Meta(description="The probability that it is the best of those.")] = None
    first_three: Annotated[Share | None, Meta(description="That it is among the first three of those.")] = None


class RankGroup(Answer, frozen=True, kw_only=True):
    """A run of neighbors in the standings of whom no two can be told apart: of none is it known with 95 % that it is
    stronger than another. Runs overlap."""

    first: WireName
    last: WireName
    versions: Count


class RankSummary(Answer, frozen=True, kw_only=True):
    """How sure the standings are, as refit number `refit` found (null if recomputed): among the `versions` that are
    listed by default.

    `apart` of the `neighbors` (pairs of neighbors) have an order that is known with 95 %. `turned`: so few results,
    turned round (wins of the `leader`, or losses of another), would put another first; 51: more than 50; null where the
    rating system cannot say.
    """

    refit: Id | None
    leader: WireName
    versions: Count
    neighbors: Count
    apart: Count
    turned: Count | None
    groups: Annotated[list[RankGroup], Meta(description="By place; those of one version alone are left out.")]


class Standings(Answer, frozen=True, kw_only=True):
    """The standings of a venue under one rating system, best first.

    `seq` is the ledger's entry after which they hold. Recomputed ones were never published: every game counts from the
    start as it counts now, and `corrected` of them count otherwise than they did at first.
    """

    venue: WireName
    system: str
    systems: Annotated[list[str], Meta(description="All systems that have published here, the headline first.")]
    seq: Count
    last_entry: Count
    recomputed: bool
    corrected: Count | None = None
    items: list[Standing]
    ranks: RankSummary | None = None


class Suspended(Answer, frozen=True, kw_only=True):
    """A version that gets no game in a venue, because it spoilt so many in a row."""

    venue: WireName
    version: WireName
    spoilt: Count
    reason: str
    at: Moment


class BotFacts(Answer, frozen=True, kw_only=True):
    """What is said of a registered bot wherever it is shown."""

    id: Id
    name: WireName
    state: Annotated[str, Meta(description="active, disabled or pending.")]
    reason: Annotated[str, Meta(description="Why it is disabled; empty otherwise.")]
    until: Annotated[Moment | None, Meta(description="When a bot that is disabled may play again.")]
    owner: Annotated[WireName | None, Meta(description="The account that it belongs to.")]
    paused: Annotated[bool, Meta(description="Its owner wants no game for it.")]
    created_at: Moment
    last_seen_at: Annotated[
        Moment | None, Meta(description="Start or end of its latest connection: the start where it is signed in.")
    ]
    signed_in: bool
    family: Annotated[WireName | None, Meta(description="The bot that leads its family of one engine.")]
    suspended: list[Suspended]


class Bot(BotFacts, frozen=True, kw_only=True):
    """A registered bot. `versions` are names of versions, of which the bot's own name may be one."""

    versions: list[WireName]


class BotPage(Answer, frozen=True, kw_only=True):
    """Bots by name. `next` is the `after` of the next page, null at the end."""

    items: list[Bot]
    next: str | None


class Version(Answer, frozen=True, kw_only=True):
    """A version of a bot: what is rated."""

    id: Id
    name: WireName
    bot: WireName
    label: Annotated[str, Meta(description="The version's name within its bot; empty for a bot that is its own.")]
    engine: str
    parameters: Annotated[Any, Meta(description="As its author stated them; null for none.")]
    author: str
    created_at: Moment
    last_seen_at: Annotated[
        Moment | None, Meta(description="Start or end of its latest connection: the start where it is signed in.")
    ]
    signed_in: bool


class VersionRating(Answer, frozen=True, kw_only=True):
    """Where a version stands in one venue under one system."""

    venue: WireName
    system: str
    standing: Standing


class VersionLink(Answer, frozen=True, kw_only=True):
    """Which version another one succeeds in a venue, since `at`: ratings take it to stand a step from there."""

    version: WireName
    venue: WireName
    predecessor: WireName
    sd: Annotated[
        float | None,
        Meta(description="Standard deviation of the step between the two, Elo; null: as the rating system learns it."),
    ]
    surely: Annotated[
        bool, Meta(description="Nobody doubts it; else a rating system may find that the two have nothing in common.")
    ]
    at: Moment


class RatingSince(Answer, frozen=True, kw_only=True):
    """What a version's games from one on say by themselves, everybody else standing where they stand: a rating in Elo
    with its 95 % interval. `games`: how many these are."""

    games: Count
    mean: float
    lower: float
    upper: float


class StrengthChange(Answer, frozen=True, kw_only=True):
    """A version's results in a venue break with its past: its strength seems to have changed under one name.

    `state`: of versions that never change one in a hundred comes on `watch` within 320 games, one in a thousand is
    `flagged`. Its rating is still that by all its games; beside it stands `rating_since`.
    """

    version: WireName
    venue: WireName
    state: Literal["watch", "flagged"]
    noticed_at: Annotated[
        Moment, Meta(description="When the game by which it was noticed ended: Unix time in milliseconds.")
    ]
    noticed_after: Annotated[Count, Meta(description="Its counted games by then.")]
    number: Annotated[
        Id, Meta(description="Which of its counted games, from 1, is likely to be the first after the change.")
    ]
    game: Annotated[GameNumber, Meta(description="That game.")]
    shift: Annotated[float, Meta(description="By how much it seems to have become stronger, Elo.")]
    z: Annotated[float, Meta(ge=0, description="Before against after, in standard deviations.")]
    rating_since: Annotated[
        RatingSince | None,
        Meta(description="By its games from `game` on; null where the rating system does not say how sure it is."),
    ]
    sentence: Annotated[str, Meta(description="All that in words.")]
    proposal: Annotated[str, Meta(description="What its owner is asked to do.")]


class BotDetail(BotFacts, frozen=True, kw_only=True):
    """A bot with its versions: where they stand under each venue's headline system, whom they succeed, and which of
    them seem to have changed."""

    versions: list[Version]
    ratings: list[VersionRating]
    links: list[VersionLink]
    strength_changes: list[StrengthChange]


class VersionDetail(Answer, frozen=True, kw_only=True):
    """A version: where it stands in each venue under each rating system, whom it succeeds there, and where it seems to
    have changed."""

    version: Version
    ratings: list[VersionRating]
    links: list[VersionLink]
    strength_changes: list[StrengthChange]


class RatingChange(Answer, frozen=True, kw_only=True):
    """One change of a rating; by a refit means and spreads are known to 0.1.

    `kind` is the ledger entry's (enter, game, anchor, unanchor, link, unlink, correction), or ``refit`` for refit
    number `refit` that was put in after entry `seq`. `game`: of the entry, of which a correction may move others than
    its two players; `opponent` and `score` (its own, 0 to 1) after its own games only.
    """

    seq: int
    at: Moment
    kind: str
    game: GameId | None
    opponent: WireName | None
    score: Share | None
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
    refit: int | None


class HistoryPage(Answer, frozen=True, kw_only=True):
    """Every change of one rating, oldest first. `next` is the `after` of the next page, null at the end."""

    version: WireName
    venue: WireName
    system: str
    items: list[RatingChange]
    next: str | None


class RankPoint(Answer, frozen=True, kw_only=True):
    """What refit number `refit`, put in after entry `seq`, said of a version's rank; all null from when it is not
    listed any more."""

    refit: Id
    seq: Count
    at: Moment
    rank_lower: RankEnd
    rank_upper: RankEnd
    best: Share | None
    first_three: Share | None


class RankHistory(Answer, frozen=True, kw_only=True):
    """What was said of a version's rank, oldest first, where it was noticeably other than before: an end of the
    interval by more than a tenth of its length, a probability by more than .01. `next` is the `after` of the next page,
    null at the end, and `incarnation` goes with it."""

    version: WireName
    venue: WireName
    system: str
    items: list[RankPoint]
    next: int | None
    incarnation: str = ""


class RatingPoint(Answer, frozen=True, kw_only=True):
    """A rating at one moment."""

    seq: int
    at: Moment
    mean: float
    lower: Lower = None
    upper: Upper = None
    half_width: HalfWidth
    spread: float
    games: int


class RatingCurve(Answer, frozen=True, kw_only=True):
    """A rating's history drawn through no more than some points: the first and the last are among them, and changes by
    refits."""

    version: WireName
    venue: WireName
    system: str
    points: list[RatingPoint]


class Expected(Answer, frozen=True, kw_only=True):
    """Probabilities of a game's results, and the expected score."""

    win: Share
    draw: Share
    loss: Share
    score: Share
    difference: Annotated[
        float | None, Meta(description="Of the strengths with these colors, the first move's worth included, Elo.")
    ] = None
    half_width: HalfWidth = None


class Record(Answer, frozen=True, kw_only=True):
    """What came of the games of two versions, from the side of `one`. Games without result count in `none`; corrected
    ones as they count now."""

    one: WireName
    other: WireName
    games: Count
    wins: Count
    losses: Count
    draws: Count
    none: Annotated[Count, Meta(description="Games that count for nothing: void and aborted ones.")]
    wins_as_black: Count
    wins_as_white: Count
    losses_as_black: Count
    losses_as_white: Count
    with_result: Annotated[Count, Meta(description="Games with a result, rated or not.")]
    rated: Annotated[Count, Meta(description="Deprecated: the same as `with_result`, unrated games included.")]
    last_game: GameId | None
    last_game_at: Moment | None


class PairStatistics(Answer, frozen=True, kw_only=True):
    """Two versions compared in a venue, from the side of `one`.

    What may be expected of a game now: jointly where a rating system of the venue knows strengths jointly (the headline
    first) and both have played by its state of entry `seq`; else by the two published means of the headline system.
    That is with the draws and the first move that it has learned, or by Elo's curve, colors alike, where it learns
    none. All null where one of them is not rated, and in a sandbox; `not_compared` says which. Opponents, crosstables
    and pages are measured by the same rule.
    """

    venue: WireName
    record: Record
    score: Annotated[Share | None, Meta(description="Points for each game with a result; null without one.")]
    expected: Annotated[
        Share | None, Meta(description="Expected score of a game, colors as they were had; half and half without one.")
    ]
    expected_score_as_black: Share | None
    expected_score_as_white: Share | None
    jointly: bool | None
    as_black: Annotated[Expected | None, Meta(description="A game with Black, where they are known jointly.")]
    as_white: Annotated[Expected | None, Meta(description="A game with White, where they are known jointly.")]
    superiority: Annotated[Share | None, Meta(description="The probability that `one` is the stronger.")]
    difference: Annotated[float | None, Meta(description="Of the ratings, Elo.")]
    half_width: HalfWidth
    system: Annotated[str | None, Meta(description="The rating system that says so.")]
    seq: Annotated[int | None, Meta(description="The last entry that it has counted.")]
    not_compared: Annotated[str | None, Meta(description="Why nothing is expected; null where something is.")] = None


class Opponent(Answer, frozen=True, kw_only=True):
    """What came of a version's games against one opponent, corrected ones as they count now."""

    opponent: WireName
    games: Count
    wins: Count
    losses: Count
    draws: Count
    none: Annotated[Count, Meta(description="Games that count for nothing: void and aborted ones.")]
    with_result: Annotated[Count, Meta(description="Games with a result, rated or not.")]
    rated: Annotated[Count, Meta(description="Deprecated: the same as `with_result`, unrated games included.")]
    as_black: Annotated[Count, Meta(description="In how many of `games` the version had Black.")]
    as_white: Count
    score: Annotated[Share | None, Meta(description="Points for each game with a result; null without one.")]
    expected: Annotated[
        Share | None, Meta(description="Expected score of a game now, as in `PairStatistics`; null where unknown.")
    ]
    last_game: GameId | None
    last_game_at: Moment | None


class Opponents(Answer, frozen=True, kw_only=True):
    """Everybody whom a version met in a venue."""

    version: WireName
    venue: WireName
    items: list[Opponent]


class Crosstable(Answer, frozen=True, kw_only=True):
    """Every pair of these versions that met."""

    venue: WireName
    versions: Annotated[
        list[WireName], Meta(description="The rows and columns, best first unless they were asked for.")
    ]
    pairs: list[Record]
