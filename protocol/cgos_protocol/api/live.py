"""Messages of the live streams, and what an engine says about a position in one checked form.

Each is an event of ``text/event-stream`` and a line of NDJSON; the field `event` says which. Must not know: HTTP, who
listens, where moves come from.
"""

from __future__ import annotations

import msgspec

from cgos_protocol.api.messages import Moment, WireName
from cgos_protocol.ids import GameId, QuestionId


class Candidate(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A move that the engine considered, its figures from the mover's side.

    :ivar move: a vertex of the board, or ``PASS``
    :ivar winrate: 0..1
    :ivar score: expected margin in points
    :ivar prior: 0..1, before any search
    :ivar visits: how often it was searched
    :ivar pv: what would follow, without the move itself
    """

    move: str
    winrate: float | None = None
    score: float | None = None
    prior: float | None = None
    visits: int | None = None
    pv: tuple[str, ...] = ()


class Analysis(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a bot said with its move about the position before it, figures from its own side.

    :ivar winrate: 0..1
    :ivar score: expected margin in points
    :ivar visits: size of the search
    :ivar comment: anything; hostile until shown otherwise
    :ivar ownership: a character a point, row by row from the top left, of A-Z a-z 0-9 + /: index
        round((x + 1) / 2 * 62) for x from -1 (the opponent's) to 1 (the mover's); empty for none
    :ivar moves: what it considered, best first
    """

    winrate: float | None = None
    score: float | None = None
    visits: int | None = None
    comment: str = ""
    ownership: str = ""
    moves: tuple[Candidate, ...] = ()


class Live(msgspec.Struct, frozen=True, tag_field="event", omit_defaults=True):
    """Base of all messages of the streams."""


class LiveMove(Live, frozen=True, tag="move", kw_only=True):
    """A move of the game that is watched.

    :ivar color: ``b`` or ``w``
    :ivar move: a vertex, or ``PASS``
    :ivar left: the mover's clock after it as people read it
    :ivar left_ms: what the mover may use for its next move without losing a period
    :ivar used_ms: what this move took
    :ivar at: when it was played, Unix milliseconds
    """

    game: GameId
    ply: int
    color: str
    move: str
    left: str
    left_ms: int
    used_ms: int
    at: int
    analysis: Analysis | None = None


class LiveRating(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a game did to a rating. `before` and `after` as people read them, with the interval where there is one."""

    version: WireName
    system: str
    before: str
    after: str
    change: float


class LiveEnd(Live, frozen=True, tag="end", kw_only=True):
    """The game that is watched has ended; nothing follows.

    :ivar reason: a word: ``score``, ``resignation``, ``time`` ...
    :ivar sentence: the same for people
    :ivar winner: ``black``, ``white`` or None
    :ivar moves: how many there were
    :ivar ended_at: Unix milliseconds
    """

    game: GameId
    result: str
    reason: str
    sentence: str
    moves: int
    ended_at: int
    winner: str | None = None
    ratings: tuple[LiveRating, ...] = ()


class LiveGame(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A running game as it stands.

    :ivar to_play: who makes the first move, ``b`` or ``w``
    :ivar black_stones: set up before the first move; `white_stones` likewise
    :ivar ply: moves so far, left out where the venue delays them; `moves` are these where moves were asked for
    """

    game: GameId
    venue: WireName
    size: int
    black: WireName
    white: WireName
    black_label: str
    white_label: str
    started_at: Moment
    ply: int | None = None
    to_play: str = "b"
    black_stones: tuple[str, ...] = ()
    white_stones: tuple[str, ...] = ()
    moves: tuple[str, ...] = ()


class VenueGames(Live, frozen=True, tag="games"):
    """What runs now: the first message, and again whenever something may have been missed. Replaces all before it.

    Moves and endings that follow may tell of a ply or a game that is known, or not listed: leave those out.
    """

    games: tuple[LiveGame, ...]


class VenueStarted(Live, frozen=True, tag="started", kw_only=True):
    """A game has begun. `board`: how it stands, with the moves that were given; where moves are followed."""

    game: GameId
    venue: WireName
    black: WireName
    white: WireName
    black_label: str
    white_label: str
    at: Moment
    board: LiveGame | None = None


class VenueMove(Live, frozen=True, tag="move", kw_only=True):
    """A move of any running game. `left_ms` is the mover's time after it."""

    game: GameId
    venue: WireName
    ply: int
    move: str
    left_ms: int


class VenueEnded(Live, frozen=True, tag="ended", kw_only=True):
    """A game has ended."""

    game: GameId
    venue: WireName
    result: str
    reason: str
    at: Moment


class VenueRating(Live, frozen=True, tag="rating", kw_only=True):
    """A rating of the headline system moved because of entry `seq` of the venue's ledger. `after_lower` and
    `after_upper`: the ends of its 95 % interval after it, where there is one; `after_half_width` half of that."""

    venue: WireName
    seq: int
    version: WireName
    before_mean: float
    after_mean: float
    after_half_width: float | None = None
    after_lower: float | None = None
    after_upper: float | None = None


class VenueArrived(Live, frozen=True, tag="arrived"):
    """A version signed in."""

    venue: WireName
    version: WireName


class VenueLeft(Live, frozen=True, tag="left"):
    """A version's connection is gone."""

    venue: WireName
    version: WireName


class VenueEventMoved(Live, frozen=True, tag="event-moved", kw_only=True):
    """Something happened in an event that is played in the venue: entry `seq` of its log, or one shortly before it,
    which says what.

    :ivar name: of the event
    :ivar kind: of the entry: ``paired``, ``began``, ``ended`` ...
    :ivar phase: of the event then
    :ivar round: how many rounds had begun
    """

    venue: WireName
    name: str
    seq: int
    kind: str
    phase: str
    round: int
    at: Moment


class VenueQuestionMoved(Live, frozen=True, tag="question-moved", kw_only=True):
    """A question that is asked in the venue has come to something: it was asked, has a result, or stands otherwise.

    :ivar kind: ``test``, ``gauntlet``, ``challenge``
    :ivar what: ``asked``, ``result``, ``prioritized``, ``resumed``, ``ended``
    :ivar state: ``open``, or how it has ended
    :ivar version: whose strength is asked about
    :ivar against: the opponent; null where there are several, or none is named
    :ivar games: how many of its games are over
    :ivar llr: a test's log-likelihood ratio; null of others
    """

    venue: WireName
    question: QuestionId
    kind: str
    what: str
    state: str
    version: WireName
    against: WireName | None
    games: int
    llr: float | None
    at: Moment


GameEvent = LiveMove | LiveEnd
"""A line of a game's stream."""

VenueEvent = (
    VenueGames
    | VenueStarted
    | VenueMove
    | VenueEnded
    | VenueRating
    | VenueArrived
    | VenueLeft
    | VenueEventMoved
    | VenueQuestionMoved
)
"""A line of a venue's stream, or of all venues'."""
