"""The messages of ``cgos.v2``, the WebSocket protocol for bots and watchers: one union a direction.

A message is one JSON object in a text frame (subprotocol ``cgos.v2``) or one MessagePack map in a binary frame
(``cgos.v2.msgpack``), told apart by its field ``type``. Fields that are not known are ignored, so that either side may
be newer; fields may be added, none changes its meaning within version 2. The server speaks first (`Welcome`). The
description in ``docs/asyncapi.json`` is generated from these types. Must not know: sockets, who sends when.

Names are wire names, venues go by name, `*_ms` are whole milliseconds, times are Unix seconds. Plies count from 1.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

from cgos_protocol.facts import VenueFact
from cgos_protocol.ids import GameId
from cgos_protocol.session import NARROWEST_STEP, WIDEST_STEP
from cgos_protocol.v2.fields import (
    BotName,
    Count,
    Date,
    EventName,
    GameNumber,
    KoWord,
    Label,
    MoveText,
    Name,
    PlyNumber,
    ReasonWord,
    Result,
    Secret,
    Spelled,
    SystemWord,
    Text,
    VersionName,
    WhatWord,
    WireName,
)
from cgos_protocol.v2.question_messages import Ask as Ask
from cgos_protocol.v2.question_messages import Asked as Asked
from cgos_protocol.v2.question_messages import QuestionCost as QuestionCost
from cgos_protocol.v2.question_messages import QuestionTold as QuestionTold
from cgos_protocol.v2.question_messages import StopQuestion as StopQuestion

VERSION = 2

Scalar = str | int | float | bool | None
ColorWord = Literal["black", "white"]


class _Part(msgspec.Struct, frozen=True, omit_defaults=True):
    """Base of what messages are made of."""


class _Message(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag=True):
    """Base of all messages; each class names its own tag."""


# -- what the client says


class KnownGame(_Part, frozen=True):
    """A game that the client knows up to and including `ply` (0: it knows that the game exists)."""

    game: GameNumber
    ply: Count


class OwnerLimits(_Part, frozen=True, kw_only=True):
    """What the bot's owner allows. Without `games_a_day` there is no limit; `avoid` are wire names; `accepts` are names
    of accounts and bots of other owners in whose tests, gauntlets and challenges it plays, `*` for everybody's, empty
    for nobody's; `hours` say when a game may begin, in UTC: `22-6`, `Mon-Fri 18-24, Sat`; empty: always."""

    games_a_day: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    avoid: Annotated[list[Name], Meta(max_length=200)] = []
    accepts: Annotated[list[Name], Meta(max_length=200)] = []
    hours: Annotated[str, Meta(max_length=200)] = ""


class Predecessor(_Part, frozen=True, kw_only=True):
    """The version that a bot comes from, by its wire name: one of the same bot, or of another bot of the same owner.

    The ratings learn how far versions lie apart, and find links that mean nothing. `sd` states the standard deviation
    of the step between the two, in Elo, and `surely` that nobody doubts the link: only where that is known.
    """

    version: BotName
    sd: Annotated[float, Meta(ge=NARROWEST_STEP, le=WIDEST_STEP)] | None = None
    surely: bool = False


class SignIn(_Message, frozen=True, tag="sign_in", kw_only=True):
    """A bot wants in. Answered by `signed_in`, or by a fatal `error`.

    `secret` is the password or a token; `new_secret` replaces the password. `version` makes a rated version of its own,
    shown under `wire_name` (default: bot name, `-`, version); without it the bot plays under its own name. `slots` is
    the number of games at once over all `venues`. `games` are those that the client still knows: what follows is told.
    `predecessor` is whom the version succeeds in venues into which it comes for the first time, and is not looked at
    afterwards; without it that is the newest version of the bot, or of its family. `events` are entered after the
    sign-in, as by `enter_event`: what is refused there is told, and the bot stays.
    """

    bot: BotName
    secret: Secret
    venues: Annotated[list[Name], Meta(min_length=1, max_length=64)]
    new_secret: Secret | None = None
    version: VersionName = ""
    wire_name: WireName = ""
    engine: Text = ""
    parameters: Annotated[dict[Name, Scalar], Meta(max_length=100)] = {}
    author: Text = ""
    client: Text = ""
    slots: Annotated[int, Meta(ge=1, le=256)] = 1
    limits: OwnerLimits = OwnerLimits()
    games: Annotated[list[KnownGame], Meta(max_length=1024)] = []
    predecessor: Predecessor | None = None
    events: Annotated[list[EventName], Meta(max_length=64)] = []


class Move(_Message, frozen=True, tag="move", kw_only=True):
    """The bot's move at `ply`: a vertex, `pass` or `resign`. Sending the same again is harmless, a gap is an error.

    A move is one word: what follows it in `move` is dropped. `analysis` is an `Analysis`; what does not fit is dropped.
    The move counts all the same, and an `error` that is not fatal says what was dropped and why.
    """

    game: GameNumber
    ply: PlyNumber
    move: MoveText
    analysis: Raw | UnsetType = UNSET


class Candidate(_Part, frozen=True, kw_only=True):
    """One move that the engine considered. `pv` are the moves after it; `custom` is anything."""

    move: Annotated[str, Meta(max_length=16)]
    winrate: float | None = None
    score: float | None = None
    prior: float | None = None
    visits: Count | None = None
    pv: Annotated[str, Meta(max_length=4_000)] | None = None
    custom: Any = None


class Analysis(_Part, frozen=True, kw_only=True):
    """What the mover thinks of the position before its move, as seen by the mover (fields of CGOS).

    `winrate` is 0 to 1. `ownership` has one character a point, row by row from the top left: index round((x+1)/2*62)
    into A-Z a-z 0-9 +/, where x is -1 (the opponent's) to 1 (the mover's). `custom` is anything.
    """

    winrate: Annotated[float, Meta(ge=0, le=1)] | None = None
    score: float | None = None
    visits: Count | None = None
    comment: Annotated[str, Meta(max_length=4_000)] | None = None
    ownership: Annotated[str, Meta(max_length=625)] | None = None
    moves: Annotated[list[Candidate], Meta(max_length=200)] = []
    custom: Any = None


class Seen(_Message, frozen=True, tag="seen"):
    """The client knows how `game` ended; the server will not repeat it."""

    game: GameNumber


class Sync(_Message, frozen=True, tag="sync"):
    """Tell again what follows what the client knows of these games."""

    games: Annotated[list[KnownGame], Meta(max_length=1024)]


class Ready(_Message, frozen=True, tag="ready"):
    """The bot takes games (again), also one that was suspended. It does so after `sign_in` without being asked."""


class Pause(_Message, frozen=True, tag="pause"):
    """No new game until `ready`; running games go on."""


class Drain(_Message, frozen=True, tag="drain"):
    """No new game after this; when the last one is over the server says `drained` and closes."""


class SetLimits(_Message, frozen=True, tag="limits"):
    """The owner's limits, instead of those before."""

    limits: OwnerLimits


class EnterEvent(_Message, frozen=True, tag="enter_event"):
    """The bot wants to play in an event. Answered by `event`, or by an `error` that is not fatal. Whoever is in already
    hears so again: it may be said after every sign-in. A bot that withdrew itself comes back. The name of a series
    means the latest event of it; so it does in `withdraw_event` and `check_in`, of those that the bot is in."""

    event: EventName


class WithdrawEvent(_Message, frozen=True, tag="withdraw_event"):
    """The bot plays in an event no more; once that has started, its open games there are forfeited."""

    event: EventName


class CheckInEvent(_Message, frozen=True, tag="check_in"):
    """The bot will be there: the answer to an `event` that says `check_in`. Who does not say it is out."""

    event: EventName


class WatchVenue(_Message, frozen=True, tag="watch_venue"):
    """Tell everything that happens in a venue (moves excepted), beginning with a `picture`. Needs no sign-in."""

    venue: Name


class WatchGame(_Message, frozen=True, tag="watch_game"):
    """Show a game of a venue from the move after `ply` on, and follow it. Needs no sign-in."""

    venue: Name
    game: GameNumber
    ply: Count = 0


class Unwatch(_Message, frozen=True, tag="unwatch"):
    """Stop watching `game`, or without it the venue's facts."""

    venue: Name
    game: GameNumber | None = None


ClientMessage = (
    SignIn
    | Move
    | Seen
    | Sync
    | Ready
    | Pause
    | Drain
    | SetLimits
    | EnterEvent
    | WithdrawEvent
    | CheckInEvent
    | Ask
    | StopQuestion
    | WatchVenue
    | WatchGame
    | Unwatch
)


# -- what the server says


class TimeInfo(_Part, frozen=True, kw_only=True):
    """A time control. `system`: absolute, fischer, byoyomi, canadian or fixed. `lag_ms` of each move is not charged."""

    system: SystemWord
    main_ms: int = 0
    increment_ms: int = 0
    period_ms: int = 0
    periods: int = 0
    stones: int = 0
    lag_ms: int = 0


class RulesInfo(_Part, frozen=True, kw_only=True):
    """What is played, and how repetition and suicide are ruled. `ko`: positional, situational or simple."""

    game: str
    size: int
    komi: float
    ko: KoWord
    suicide: bool


class VenueInfo(_Part, frozen=True, kw_only=True):
    """One venue of the server. `rated` is False in a sandbox, where results change no rating. `cgos_port` is where bots
    reach its line protocol."""

    name: str
    rules: RulesInfo
    time: TimeInfo
    rated: bool = True
    cgos_port: int = 0


class Welcome(_Message, frozen=True, tag="welcome", kw_only=True):
    """The first message. `protocol` is 2; `at` is the server's time. `incarnation` names this copy of the database:
    another one than before says that the operator has restored or copied it."""

    server: str
    software: str
    protocol: int
    at: float
    venues: list[VenueInfo]
    incarnation: str = ""


class SignedIn(_Message, frozen=True, tag="signed_in"):
    """The bot is in, in all its venues. `name` is the version's wire name."""

    name: str
    venues: list[str]
    slots: int


class Ply(_Part, frozen=True, array_like=True):
    """One committed move: spelling, and the mover's milliseconds left after it."""

    move: Spelled
    left_ms: int


class Player(_Part, frozen=True):
    """One side. `rating` as shown on the line protocol: ``1800``, or ``1800?`` while it is provisional."""

    name: str
    rating: Label


class Game(_Message, frozen=True, tag="game", kw_only=True):
    """A game of this bot: new, gone on with, or (with a verdict to follow) ended.

    `moves` are the plies `from_ply` + 1, `from_ply` + 2, ...: whatever the client holds beyond `from_ply` was never
    committed and is void. Colors alternate, from Black. `why` says why these two meet. `opening` names the opening
    that the first moves are, where the game did not begin on the empty board: nobody's time was spent on them. `event`
    and `round` are those in which it is played, where it is a game of an event, and `question` is the one for which it
    is played (0: none).
    """

    game: GameId
    venue: str
    color: ColorWord
    rules: RulesInfo
    time: TimeInfo
    black: Player
    white: Player
    from_ply: int
    moves: list[Ply]
    black_ms: int
    white_ms: int
    rated: bool
    why: str = ""
    opening: str = ""
    event: str = ""
    round: int = 0
    question: int = 0


class Turn(_Message, frozen=True, tag="turn", kw_only=True):
    """Your move at `ply`, in a game whose earlier plies you know."""

    game: GameId
    ply: int
    color: ColorWord
    black_ms: int
    white_ms: int


class Moved(_Message, frozen=True, tag="moved", kw_only=True):
    """The opponent's move at `ply` is committed, and so is everything before it. With `your_turn` your clock runs.

    `at` is when the server received it.
    """

    game: GameId
    ply: int
    color: ColorWord
    move: Spelled
    black_ms: int
    white_ms: int
    at: float
    your_turn: bool


class RatingMove(_Part, frozen=True):
    """A rating before and after a game, in Elo, and its 95 % interval after it, where it has one: from `lower` to
    `upper`, which need not be as far from `after` as `lower` is. `plus_minus` is half of it."""

    before: float
    after: float
    plus_minus: float | None = None
    lower: float | None = None
    upper: float | None = None


class Over(_Message, frozen=True, tag="over", kw_only=True):
    """A game of this bot has ended; answer with `seen`. `result` as in SGF, also ``Draw``, ``Abort`` and ``Void``.

    `reason`: score, resignation, time, illegal move, forfeit, void or abort. `plies` is the number of moves on the
    record, your last one included where it counted. `rating` is your own, where the game was rated.
    """

    game: GameId
    result: Result
    winner: ColorWord | None
    reason: ReasonWord
    detail: str
    plies: int
    date: Date
    rating: RatingMove | None = None


class EventTold(_Message, frozen=True, tag="event", kw_only=True):
    """Something happened in an event that concerns this bot; `text` says it for people. There may be further words.

    `what`: entered, waiting (for a place), admitted, check_in (say `check_in` before `until`), checked_in, started,
    left_out (it started without the bot), paired (with `opponent` in `round`; the game itself comes as `game`), bye,
    forfeited (it was not there), walkover (its opponent was not), ruled (by the operator), taken_back (a round),
    withdrawn, rejoined, paused, resumed, ended (with its `place` of so many `entrants`), cancelled or followed (by
    `next`, another one of its series). `series` is the name of the first event of the series, where it is of one.
    """

    event: str
    venue: str
    what: WhatWord
    text: str
    round: int = 0
    opponent: str = ""
    color: ColorWord | None = None
    until: float | None = None
    place: int = 0
    entrants: int = 0
    series: str = ""
    next: str = ""


class Info(_Message, frozen=True, tag="info"):
    """A word to people. Needs no answer."""

    text: str
    venue: str = ""


class Error(_Message, frozen=True, tag="error", kw_only=True):
    """Something was not taken. `code` is a stable word; `fatal`: the connection closes after it.

    `retry_after_s` says when another attempt makes sense, where it does. `ref` is that of the `ask` or `stop_question`
    that it answers.
    """

    code: str
    text: str
    fatal: bool = False
    retry_after_s: float | None = None
    game: GameId | None = None
    venue: str = ""
    event: str = ""
    ref: str = ""


class Latency(_Message, frozen=True, tag="latency"):
    """How long the way to the client and back takes, as the server measures it by ping and pong (smoothed)."""

    round_trip_ms: float


class Drained(_Message, frozen=True, tag="drained"):
    """The bot asked for `drain` and its last game is over. The connection closes."""


class GameLine(_Part, frozen=True, kw_only=True):
    """One game of a venue's list; `result` is None while it runs."""

    game: GameId
    started_at: float
    size: int
    komi: float
    black: Player
    white: Player
    result: Result | None = None


class Picture(_Message, frozen=True, tag="picture"):
    """A venue as it is: recent games and the running ones. `missed` facts before it were skipped, as you read too
    slowly; facts go on after it."""

    venue: str
    games: list[GameLine]
    missed: int = 0


class FactTold(_Message, frozen=True, tag="fact"):
    """Something happened in a venue that you watch, or in a game that you watch."""

    fact: VenueFact


class Shown(_Message, frozen=True, tag="shown", kw_only=True):
    """A game that you watch: `moves` are the plies from `from_ply` + 1 on; `fact` messages go on after it.

    `result` is None while it runs.
    """

    game: GameId
    venue: str
    rules: RulesInfo
    time: TimeInfo
    black: Player
    white: Player
    started_at: float
    from_ply: int
    moves: list[Ply]
    result: Result | None = None
    reason: str = ""
    detail: str = ""


ServerMessage = (
    Welcome
    | SignedIn
    | Game
    | Turn
    | Moved
    | Over
    | EventTold
    | Asked
    | QuestionTold
    | Info
    | Error
    | Latency
    | Drained
    | Picture
    | FactTold
    | Shown
)
