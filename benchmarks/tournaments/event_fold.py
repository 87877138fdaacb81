"""What an event of the live server was, read off its raw tables a second time, beside how the server reads them.

Takes entrants, rounds and rulings from the log's lines as JSON, results of games from the table of games, who did what
from the audit, and has every round paired again. Must not know: how the server folds a log
(:mod:`cgos_server.tournaments.running`), which it is held against.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from cgos_server.tournaments.base import (
    BLACK_WINS,
    DRAWN,
    LOSS,
    VOID,
    WHITE_WINS,
    WIN,
    Bye,
    Entrant,
    Event,
    Explanation,
    Game,
    Request,
    Result,
    Round,
)
from cgos_server.tournaments.recheck import recheck
from cgos_server.tournaments.registry import known
from cgos_server.tournaments.tournament import standings

BLACK = 0
"""In the column `winner` of games."""
WITHOUT_RESULT = ("void", "abort")
"""Reasons of verdicts that give nobody anything."""


class Played(NamedTuple):
    """A game of the server that is one of the event; versions by their numbers."""

    game: int
    round: int
    black: int
    white: int
    winner: int | None
    reason: str | None
    plies: int | None
    detail: str


class Folded(NamedTuple):
    """An event as its tables have it.

    :ivar faults: where tables do not say the same, a sentence each
    :ivar games: of the server, that were played in it
    """

    event: Event
    faults: tuple[str, ...]
    games: int

    @property
    def rounds(self) -> list[tuple[int, list[tuple[Any, ...]], list[int]]]:
        """Number, games (their number, Black, White, and what both got in half points), who had a bye."""
        names = self.event.names
        return [
            (
                each.number,
                sorted(
                    (game.id, names[game.black], names[game.white], *_points_of(game.result)) for game in each.games
                ),
                sorted(bye.entrant for bye in each.byes),
            )
            for each in self.event.rounds
        ]

    @property
    def ranking(self) -> list[tuple[int, str]]:
        """Place and name, best first."""
        return [(row.place, row.name) for row in standings(self.event).rows]


def folded(database: Path, name: str) -> Folded:
    """The event called `name`, of a server that may be running or dead. Raises LookupError where there is none."""
    address = f"file:{database}?mode=ro"
    with contextlib.closing(sqlite3.connect(address, uri=True, timeout=10)) as connection:
        number = connection.execute("SELECT id FROM events WHERE name = ?", (name,)).fetchone()
        if number is None:
            raise LookupError(f"There is no event {name}.")
        lines = connection.execute("SELECT body FROM event_log WHERE event_id = ? ORDER BY seq", number).fetchall()
        rows = connection.execute(
            "SELECT e.number, g.id, e.round, g.black_id, g.white_id, g.winner, g.reason, g.plies, g.detail"
            " FROM event_games e JOIN games g ON g.id = e.game_id WHERE e.event_id = ?",
            number,
        ).fetchall()
        entered = connection.execute(
            "SELECT subject FROM audit WHERE action = 'event enter' AND detail LIKE ?", (f'%"{name}"%',)
        ).fetchall()
    fold = _Fold({row[0]: Played(*row[1:]) for row in rows})
    for (body,) in lines:
        fold.read(json.loads(body))
    return fold.ended({subject for (subject,) in entered})


def disagreements(fold: Folded) -> list[str]:
    """What is wrong with an event by itself: its tables against one another, its rounds against its system, its points
    against the sum of its results."""
    otherwise = [
        f"round {checked.number} is not what the system pairs: {msgspec.json.encode(checked).decode()}"
        for checked in recheck(fold.event)
        if not checked.agrees
    ]
    return [*fold.faults, *otherwise, *_wrong_points(fold.event)]


class _Fold:
    """The log's lines one after another."""

    def __init__(self, played: dict[int, Played]) -> None:
        self.played = played
        self.settings: dict[str, Any] = {}
        self.seats: dict[int, dict[str, Any]] = {}
        self.order: list[int] = []
        self.joined: dict[int, int] = {}
        self.running = False
        self.rounds: list[dict[str, Any]] = []
        self.games: dict[int, dict[str, Any]] = {}
        self.began: dict[int, int] = {}
        self.results: dict[int, Result] = {}
        self.requests: list[Request] = []
        self.out: list[int] = []
        self.planned: int | None = None
        self.faults: list[str] = []

    def read(self, line: dict[str, Any]) -> None:
        """One more line. Raises NotImplementedError for what these runs never say."""
        match line["kind"]:
            case "announced":
                self.settings = line["settings"]
                self.planned = self.settings.get("rounds")
            case "entered":
                self._enter(line["entrant"], line)
            case "admitted":
                self.seats[line["entrant"]]["waits"] = False
            case "closed":
                for number, seat in self.seats.items():
                    seat["rating"] = line["ratings"].get(str(number))
            case "started":
                self._start()
            case "checked-in":
                self.seats[line["entrant"]]["checked_in"] = True
            case "withdrawn" if self.running:
                self.out.append(line["entrant"])
            case "withdrawn":
                del self.seats[line["entrant"]]
            case "rejoined":
                self.out.remove(line["entrant"])
            case "bye-asked":
                self.requests.append(Request(line["entrant"], line["round"], line.get("points", 0)))
            case "paired":
                self._pair(line["round"])
            case "began":
                self._begin(line["game"], line["played_as"])
            case "ended":
                self._end(line["game"], msgspec.convert(line["result"], Result))
            case "ruled":
                result = line.get("result")
                self.results[line["game"]] = VOID if result is None else msgspec.convert(result, Result)
            case "extended":
                self.planned = line.get("rounds") or self.planned
            case "opened" | "paused" | "resumed" | "finished" | "cancelled":
                pass
            case kind:
                raise NotImplementedError(kind)

    def ended(self, audited: set[str]) -> Folded:
        """The whole, after its last line."""
        names = {seat["name"] for seat in self.seats.values()}
        if audited and names != audited:
            self.faults.append(f"the audit says that {audited ^ names} entered or not, the log says otherwise")
        for number in self.played.keys() - self.began.keys():
            self.faults.append(f"game {number} is in the table of the event's games and did not begin by its log")
        word, options = known(self.settings["system"])
        event = Event(
            system=word,
            name=self.settings["name"],
            entrants=tuple(self._entrant(number) for number in self.order),
            options={**options, **self.settings.get("options", {})},
            planned=self.planned,
            seed=self.settings.get("seed", 0),
            bye_points=self.settings.get("bye_points", WIN),
            tie_breakers=tuple(self.settings.get("tie_breakers", ())),
            rounds=tuple(map(self._round, self.rounds)),
            requests=tuple(self.requests),
            withdrawn=tuple(self.out),
        )
        return Folded(event, tuple(self.faults), len(self.played))

    def _enter(self, number: int, line: dict[str, Any]) -> None:
        self.seats[number] = dict(line)
        if self.running:
            self.order.append(number)
            self.joined[number] = len(self.rounds) + 1

    def _start(self) -> None:
        self.running = True
        asked = self.settings.get("times", {}).get("check_in_s", 0)
        there = [
            number
            for number, seat in self.seats.items()
            if not seat.get("waits") and (seat.get("checked_in") or not asked)
        ]
        self.order = sorted(there, key=lambda number: (-(self._rating(number) or float("-inf")), number))

    def _pair(self, round_: dict[str, Any]) -> None:
        number = round_["number"]
        if number > len(self.rounds):
            details = round_.get("explanation", {}).get("details", {})
            self.rounds.append({"number": number, "games": [], "byes": [], "details": details})
        kept = self.rounds[number - 1]
        for game in round_.get("games", ()):
            self.games[len(self.games) + 1] = game | {"round": number}
            kept["games"].append(len(self.games))
        kept["byes"] += round_.get("byes", ())

    def _begin(self, number: int, played_as: int) -> None:
        self.began[number] = played_as
        row, paired = self.played.get(number), self.games[number]
        if row is None or row.game != played_as:
            self.faults.append(f"game {number} began as {played_as}, of which the table of the event's games has not")
            return
        black, white = (self.seats[paired[color]]["version"] for color in ("black", "white"))
        if (row.black, row.white, row.round) != (black, white, paired["round"]):
            self.faults.append(f"game {number} was paired between others, or in another round, than it was played")

    def _end(self, number: int, logged: Result) -> None:
        row = self.played.get(number)
        by_table = logged if row is None else _result_of(row)
        self.results[number] = by_table
        if by_table != logged:
            self.faults.append(f"game {number} ended {by_table} by the table of games, {logged} by the log")
        if row is None and logged.how != "forfeit":
            self.faults.append(f"game {number} never began, and yet it ended {logged}")

    def _rating(self, number: int) -> float | None:
        rating: float | None = self.seats[number].get("rating")
        return rating

    def _entrant(self, number: int) -> Entrant:
        seat = self.seats[number]
        return Entrant(
            id=number,
            name=seat["name"],
            rating=self._rating(number),
            club=str(seat["family"]),
            joined=self.joined.get(number, 1),
        )

    def _round(self, kept: dict[str, Any]) -> Round:
        games = tuple(self._game(number) for number in kept["games"])
        byes = tuple(msgspec.convert(bye, Bye) for bye in kept["byes"])
        return Round(number=kept["number"], games=games, byes=byes, explanation=Explanation("", kept["details"]))

    def _game(self, number: int) -> Game:
        paired = self.games[number]
        return Game(
            id=number,
            black=paired["black"],
            white=paired["white"],
            handicap=paired.get("handicap", 0),
            result=self.results.get(number),
        )


def _result_of(row: Played) -> Result:
    """What a game counts as in its event, by its row."""
    if row.reason == "abort" and "first move" in row.detail and row.plies is not None:
        return Result(WIN, LOSS, "forfeit") if row.plies % 2 else Result(LOSS, WIN, "forfeit")
    if row.reason in WITHOUT_RESULT:
        return VOID
    if row.winner is None:
        return DRAWN
    if row.reason == "forfeit" and not row.plies:
        return Result(WIN, LOSS, "forfeit") if row.winner == BLACK else Result(LOSS, WIN, "forfeit")
    return BLACK_WINS if row.winner == BLACK else WHITE_WINS


def _points_of(result: Result | None) -> tuple[int | None, int | None]:
    return (None, None) if result is None else (result.black, result.white)


def _wrong_points(event: Event) -> Iterator[str]:
    """Entrants whose points in the standings are not those of their games and byes. Systems that count matches, or the
    active set's games alone, are not looked at."""
    table = standings(event)
    if "points" not in table.order or event.system == "bubble" or event.options.get("games_per_match") == 2:
        return
    points: Counter[int] = Counter()
    for each in event.rounds:
        for game in each.games:
            if game.result is not None:
                points[game.black] += game.result.black
                points[game.white] += game.result.white
        for bye in each.byes:
            points[bye.entrant] += bye.points
    column = table.order.index("points")
    for row in table.rows:
        value = row.values[column]
        if value is not None and 2 * value != points[row.entrant]:
            yield f"{row.name} has {value:g} points in the standings, {points[row.entrant] / 2:g} by its results"
