"""What several pages of events show, as values for templates: portions of standings, pairings, who plays, who is next.

Plain functions of an event's record. Must not know: HTTP, SQL, templates.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

from cgos_protocol.api.events import EventGame, EventRound
from cgos_protocol.ids import GameId
from cgos_server.presentation import words
from cgos_server.presentation.events import answers
from cgos_server.presentation.events.record import EventRecord
from cgos_server.presentation.pictures.svg import points_text
from cgos_server.tournaments.base import Row, pair_of
from cgos_server.tournaments.running.state import AFTER, BEFORE, Phase
from cgos_server.tournaments.standings.crosstable import CrossRow, Crosstable
from cgos_server.tournaments.words import in_points
from cgos_server.web.site import event_path

ROWS: Final = 100
"""Of standings, entrants and log entries on one page."""

T = TypeVar("T")


class Portion(NamedTuple, Generic[T]):
    """Some of many rows. `page` from 1."""

    rows: Sequence[T]
    page: int
    pages: int
    all: int


def portion(rows: Sequence[T], page: int, size: int = ROWS) -> Portion[T]:
    """The rows of that page, or of the last one."""
    pages = max(1, -(-len(rows) // size))
    page = min(max(page, 1), pages)
    return Portion(rows[(page - 1) * size : page * size], page, pages, len(rows))


class StandingLine(NamedTuple):
    """A row of live standings.

    :ivar values: as texts, one for each word of the order
    :ivar game: of the server, which it plays in the event just now
    """

    place: int
    name: str
    values: list[str]
    game: GameId | None
    out: bool


def standing_lines(record: EventRecord, rows: Sequence[Row]) -> list[StandingLine]:
    """These rows of the standings, with what their entrants do now."""
    state = record.state
    playing = {
        id_: state.played_as[game.id]
        for _, game in state.open_games
        if game.id in state.played_as
        for id_ in (game.black, game.white)
    }
    return [
        StandingLine(
            place=row.place,
            name=row.name,
            values=[figure(value) for value in row.values],
            game=playing.get(row.entrant),
            out=state.seats[row.entrant].out and state.phase is not Phase.OVER,
        )
        for row in rows
    ]


def figure(value: float | None) -> str:
    """A value of the standings."""
    return "–" if value is None else f"{round(value, 2):g}".replace("-", "\N{MINUS SIGN}")


def head(word: str) -> str:
    """A word of the standings' order, as the head of a column."""
    return word.replace("-", " ")


class Game(NamedTuple):
    """A game of the event for a table. `won`: ``b``, ``w`` or neither; `notes`: what is to be said of its result."""

    game: EventGame
    won: str
    result: str
    notes: list[str]


def shown(game: EventGame, phase: Phase) -> Game:
    """A game with what its row says in an event that is so far."""
    won, result = "", "not ended" if phase in AFTER else "waits" if game.state == "due" else "running"
    if game.result is not None:
        black, white = game.black_points or 0.0, game.white_points or 0.0
        won = "b" if black > white else "w" if white > black else ""
        result = game.result if game.how != "played" else f"{half(black)} : {half(white)}"
    return Game(game, won, result, [note for note in (game.why, game.ruling and f"Ruling: {game.ruling}") if note])


def half(points: float) -> str:
    """Points: ``½``, ``1``, ``1½``."""
    return points_text(round(2 * points))


class Pairings(NamedTuple):
    """A round as its page shows it. `title`: what it is called; `games`: those that run before those that wait."""

    round: EventRound
    title: str
    games: list[Game]
    byes: list[str]


_ORDER: Final = {"running": 0, "due": 1, "ended": 2}


def pairings(record: EventRecord, number: int) -> Pairings:
    """The round of that number, which has begun."""
    each = answers.one_round(record, record.state.event.rounds[number - 1])
    planned = record.state.event.planned
    in_order = sorted(each.games, key=lambda game: (_ORDER[game.state], game.number))
    games = [shown(game, record.state.phase) for game in in_order]
    byes = [
        f"{bye.version} sits out, {'as it asked to' if bye.requested else 'since somebody has to'}, for "
        f"{in_points(bye.points)}"
        for bye in each.byes
    ]
    title = f"Round {number}" if planned is None or planned < number else f"Round {number} of {planned}"
    return Pairings(each, title, games, byes)


class Doing(NamedTuple):
    """What is played and what comes, on the event's page. `sentence`: what the event waits for."""

    running: list[EventGame]
    due: list[EventGame]
    more: int
    sentence: str


MOST_SHOWN: Final = 12
"""Games that are played, and as many that wait, on the event's page."""


def doing(record: EventRecord) -> Doing:
    """Who plays and who is next."""
    state = record.state
    open_games = [answers.game(record, number, game) for number, game in state.open_games]
    running = [game for game in open_games if game.state == "running"]
    due = [game for game in open_games if game.state == "due"]
    more = max(0, len(running) - MOST_SHOWN) + max(0, len(due) - MOST_SHOWN)
    return Doing(running[:MOST_SHOWN], due[:MOST_SHOWN], more, _waits_for(record, len(running), len(due)))


def _waits_for(record: EventRecord, running: int, due: int) -> str:
    state = record.state
    if state.paused is not None:
        return "It is paused: no game begins."
    if due:
        wait = words.duration(state.grace_s)
        return f"Games begin as soon as both sides are there and free; who is away has {wait} to come."
    if running:
        planned = state.event.planned
        last = planned is not None and len(state.event.rounds) >= planned
        return "" if last else "What follows is paired as soon as the results allow it."
    return "What follows is being paired."


# -- where cells and matches lead


def game_address(record: EventRecord, ids: Sequence[int]) -> str:
    """Of these games of the event, all of one pair: the game's page, or where all of them are listed."""
    state = record.state
    played = [state.played_as[id_] for id_ in ids if id_ in state.played_as]
    if len(ids) == 1 and played:
        return f"/game/{played[0]}"
    return f"{event_path(state.settings.name)}/games?" + "&".join(f"n={id_}" for id_ in ids)


def cell_links(record: EventRecord, table: Crosstable, rows: Sequence[CrossRow]) -> dict[tuple[int, int], str]:
    """(Row, column) of a crosstable -> where the cell leads, of these rows and the columns of the same numbers."""
    numbers = {row.entrant: row.number for row in table.rows}
    wanted = {row.entrant for row in rows}
    games: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for _, game in record.state.event.games:
        if game.black in wanted or game.white in wanted:
            games[pair_of(numbers[game.black], numbers[game.white])].append(game.id)
    links: dict[tuple[int, int], str] = {}
    for (one, other), ids in games.items():
        links[one, other] = links[other, one] = game_address(record, ids)
    return links


def match_links(record: EventRecord) -> dict[tuple[int, int, int], str]:
    """(Round, smaller id, larger id) -> where the match leads."""
    games: defaultdict[tuple[int, int, int], list[int]] = defaultdict(list)
    for number, game in record.state.event.games:
        games[(number, *game.pair)].append(game.id)
    return {match: game_address(record, ids) for match, ids in games.items()}


def facts(record: EventRecord) -> list[tuple[str, str]]:
    """Numbers at a glance: (number, what it counts)."""
    summary = answers.summary(record)
    rounds = f"{summary.rounds}" if summary.planned is None else f"{summary.rounds} of {summary.planned}"
    listed: list[tuple[str, Any]] = [
        ("entrants" if summary.entrants != 1 else "entrant", summary.field or summary.entrants),
        ("rounds" if summary.rounds != 1 or summary.planned not in (None, 1) else "round", rounds),
        ("games ended" if summary.ended != 1 else "game ended", summary.ended),
        ("running", summary.running),
    ]
    if record.state.phase in AFTER:
        listed.pop()
    if record.state.phase in BEFORE:
        listed = [listed[0], *([("waiting", summary.waiting)] if summary.waiting else [])]
    return [(str(number), word) for word, number in listed]
