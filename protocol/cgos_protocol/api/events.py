"""What the API ``/api/v1`` answers about events: values that server and client share.

An event is a tournament that the server holds by itself. `number` of a game is its number in the event, `game` the
server's, by which it is found elsewhere. Points are points, not half points. Must not know: HTTP, where the answers
come from, any tournament system.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from cgos_protocol.api.messages import Answer, ColorWord, Count, GameNumber, Id, Moment, WireName
from cgos_protocol.names import EVENT_NAME_PATTERN

EventName = Annotated[str, Meta(extra_json_schema={"pattern": EVENT_NAME_PATTERN})]
"""The pattern is for programs that are made from the description: nothing is refused by it."""

PhaseWord = Literal["announced", "entry", "closed", "running", "over", "cancelled"]
"""Announced: nobody can enter yet. Entry: versions may enter. Closed: it has not started yet. Running. Over. Cancelled:
there is no event any more."""

EntrantWord = Literal["waiting", "entered", "checked-in", "in", "out"]
"""Waiting: for a place. Entered: it has one. Checked-in: it said that it will be there. In: the event has started with
it. Out: it withdrew, did not check in, or got no place."""

GameWord = Literal["due", "running", "ended"]
"""Due: it has been paired and waits for its players."""

Points = Annotated[float, Meta(ge=0)]


class EventSummary(Answer, frozen=True, kw_only=True):
    """One event in a list.

    `status`: how far it is, as a sentence. `entrants`: who has a place; `waiting`: who waits for one; `field`: who is
    in the standings, those who withdrew included; 0 before the start. `rounds`: how many have begun; `planned`: null
    where the system, or whoever ends it, says how many there are. `games` have been paired, `ended` of them have a
    result, `running` are being played. `leaders`: who has the first place. `starts_at`: when it is to start, null where
    that has not been said.
    """

    id: Id
    name: EventName
    about: str
    venue: WireName
    system: Annotated[str, Meta(description="Word of the tournament system.")]
    phase: PhaseWord
    status: str
    rated: Annotated[bool, Meta(description="Whether its games count for the venue's ratings.")]
    paused: bool
    entrants: Count
    waiting: Count
    field: Count = 0
    rounds: Count
    planned: Annotated[int, Meta(ge=1)] | None
    games: Count
    running: Count
    ended: Count
    leaders: list[WireName]
    announced_at: Moment
    opens_at: Moment | None
    closes_at: Moment | None
    starts_at: Moment | None
    started_at: Moment | None
    ended_at: Moment | None
    seq: Annotated[Count, Meta(description="Number of the last entry of its log.")]


class EventPage(Answer, frozen=True, kw_only=True):
    """Events, the latest announced first. `next` is the `before` of the next page, null at the end."""

    items: list[EventSummary]
    next: int | None


class EventSetting(Answer, frozen=True, kw_only=True):
    """One thing that an event is announced with. `name` is its word in `announced`, `text` says it to people."""

    name: str
    label: str
    text: str


class EventEntrant(Answer, frozen=True, kw_only=True):
    """Somebody who has entered.

    `entrant`: its number in the event, by which games refer to it. `rating`: in the venue, as it was when entry closed
    or, before that, when it entered; null: it had none. `place` and `points` are null before the start, `game` is the
    game that it plays in the event just now.
    """

    entrant: Id
    version: WireName
    bot: WireName
    owner: Annotated[WireName | None, Meta(description="The account that the bot belongs to.")]
    state: EntrantWord
    rating: float | None
    entered_at: Moment
    place: Id | None
    points: Points | None
    game: GameNumber | None


class EventStanding(Answer, frozen=True, kw_only=True):
    """One line of the standings. `place` is the same for those whom nothing separates. `values`: one for each of
    `order`, points included; null: does not apply."""

    place: Id
    entrant: Id
    version: WireName
    values: list[float | None]


class EventStandings(Answer, frozen=True, kw_only=True):
    """Everybody who started, best first, by what is compared in `order`. `remark`: what the rows do not say."""

    event: EventName
    phase: PhaseWord
    seq: Count
    order: list[str]
    rows: list[EventStanding]
    remark: str


class EventGame(Answer, frozen=True, kw_only=True):
    """A game of an event.

    `number`: in the event; `game`: on the server, null where it never began there. `result` is in words, null until
    there is one; `how`: played, forfeit, void (annulled and played again) or no-contest (annulled for good).
    `black_points` and `white_points` are what it gave. `reason`: why these two meet; `why`: why it was not played to
    its end; `ruling`: why the operator gave it another result; each may be empty.
    """

    number: Id
    round: Id
    game: GameNumber | None
    black: WireName
    white: WireName
    black_entrant: Id
    white_entrant: Id
    handicap: Count
    state: GameWord
    result: str | None
    how: Literal["played", "forfeit", "void", "no-contest"] | None
    black_points: Points | None
    white_points: Points | None
    reason: str
    why: str
    ruling: str
    paired_at: Moment | None
    began_at: Moment | None
    ended_at: Moment | None


class EventGames(Answer, frozen=True, kw_only=True):
    """All games of an event, by their numbers."""

    event: EventName
    seq: Count
    items: list[EventGame]


class EventBye(Answer, frozen=True, kw_only=True):
    """A round without an opponent. `requested`: it asked for that; otherwise somebody had to sit out."""

    entrant: Id
    version: WireName
    points: Points
    requested: bool


class EventRound(Answer, frozen=True, kw_only=True):
    """One round: who meets whom, and why. `details` are for programs: values that the system documents. `ended_at`:
    when its last game got its result; null where one has none."""

    number: Id
    complete: bool
    games: list[EventGame]
    byes: list[EventBye]
    explanation: str
    details: dict[str, Any]
    paired_at: Moment | None
    ended_at: Moment | None


class EventRounds(Answer, frozen=True, kw_only=True):
    """All rounds that have begun."""

    event: EventName
    seq: Count
    planned: Annotated[int, Meta(ge=1)] | None
    items: list[EventRound]


class EventCell(Answer, frozen=True, kw_only=True):
    """What an entrant did in a round, or a game of it. `text` is as in the crosstables of files (``12+w``).

    `kind`: game, forfeit, void, no-contest, open, bye, requested or absent. `opponent`: its number in the table.
    `number` and `game` as of a game of the event.
    """

    kind: str
    text: str
    opponent: Id | None
    color: ColorWord | None
    points: Points
    number: Id | None
    game: GameNumber | None


class EventCrossRow(Answer, frozen=True, kw_only=True):
    """One entrant's line; `number` counts down the table. `rounds`: its cells in each round."""

    number: Id
    place: Id
    entrant: Id
    version: WireName
    values: list[float | None]
    rounds: list[list[EventCell]]


class EventPair(Answer, frozen=True, kw_only=True):
    """What number `row` made against number `column`, over all their games. `numbers` are these games' in the event,
    `text` has one letter for each."""

    row: Id
    column: Id
    points: Points
    text: str
    numbers: list[int]


class EventCrosstable(Answer, frozen=True, kw_only=True):
    """Who met whom, by rounds and pair by pair. `everybody_met`: the table pair by pair has no holes."""

    event: EventName
    seq: Count
    order: list[str]
    rounds: Count
    rows: list[EventCrossRow]
    pairs: list[EventPair]
    everybody_met: bool


class EventLogLine(Answer, frozen=True, kw_only=True):
    """One entry of an event's log. `actor`: an account, `bot NAME`, `operator` or `server`. `said`: the entry as it is
    kept."""

    seq: Id
    at: Moment
    actor: str
    kind: str
    sentence: str
    said: dict[str, Any]


class EventLog(Answer, frozen=True, kw_only=True):
    """Entries of an event's log after `after`. `next` is the `after` of the next page, null at the end, and
    `incarnation` goes with it."""

    event: EventName
    items: list[EventLogLine]
    next: int | None
    incarnation: str = ""


class EventExport(Answer, frozen=True, kw_only=True):
    """Everything of one event, as a file.

    `announced`: its settings. `record`: the tournament as the commands on files read it. `games`: those of the record
    with the server's numbers; what was taken back is in the log. `log`: all that ever happened, from which all else
    follows again.
    """

    export: Annotated[int, Meta(ge=1, description="Number of this form of the file.")]
    event: EventSummary
    announced: dict[str, Any]
    record: dict[str, Any]
    games: list[EventGame]
    log: list[EventLogLine]


class EventNow(Answer, frozen=True, kw_only=True):
    """All of one event but its log and its crosstable.

    `settings`: what it is announced with, in words; `announced`: the same for programs. `rating`: whether it is rated,
    and why not, as a sentence. `entry`: whether one can enter now, as a sentence. `paused`: why nothing is paired;
    null: it is not paused. `check_in_at`: since when entrants check in, null where they need not. `grace_s`: how long a
    game waits for who is away. `changed_at`: when the last entry of its log was written.
    """

    summary: EventSummary
    settings: list[EventSetting]
    announced: dict[str, Any]
    rating: str
    entry: str
    may_enter: bool
    paused: str | None
    check_in_at: Moment | None
    grace_s: Count
    playoff: Annotated[EventName | None, Meta(description="The event that decides who has the first place alone.")]
    next: Annotated[EventName | None, Meta(description="The event that comes after this one in its series.")]
    entrants: list[EventEntrant]
    standings: EventStandings
    rounds: list[EventRound]
    changed_at: Moment


class BotEvent(Answer, frozen=True, kw_only=True):
    """An event that versions of a bot entered, with where they stand. `entrants` is empty where all took their entries
    back."""

    event: EventSummary
    entrants: list[EventEntrant]


class BotEvents(Answer, frozen=True, kw_only=True):
    """The events of a bot, the latest announced first."""

    bot: WireName
    items: list[BotEvent]


class GameInEvent(Answer, frozen=True, kw_only=True):
    """In which event, in which round of it and as which game of it a game was played."""

    event: EventName
    round: Id
    number: Id
