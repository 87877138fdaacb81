"""What an event of the live server was, read off its raw tables a second time, beside how the server reads them.

Takes entrants, rounds and rulings from the log's lines as JSON, results of games from the table of games, who did what
from the audit, and has every round paired again. What a ruling takes with it is the library's to say, as on files; in a
knock-out that is held against what the system pairs from the corrected result on. Must not know: how the server folds a
log (:mod:`cgos_server.tournaments.running`), which it is held against.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from cgos_server.tournaments.amending import amend
from cgos_server.tournaments.base import (
    BLACK_WINS,
    DRAWN,
    LOSS,
    VOID,
    WHITE_WINS,
    WIN,
    Bye,
    Change,
    ChangeKind,
    Entrant,
    Event,
    Explanation,
    Game,
    Pair,
    Request,
    Result,
    Round,
)
from cgos_server.tournaments.recheck import recheck
from cgos_server.tournaments.registry import known
from cgos_server.tournaments.tournament import ready_games, standings, system_of
from cgos_server.tournaments.undoing import strike, take_back_round

BLACK = 0
"""In the column `winner` of games."""
WITHOUT_RESULT = ("void", "abort")
"""Reasons of verdicts that give nobody anything."""
AUDITED = {
    "event rule": "ruled",
    "event replay": "ruled",
    "event take-back": "taken-back",
    "event withdraw": "withdrawn",
    "event pause": "paused",
    "event resume": "resumed",
}
"""What operators do: its word in the audit, and in the log."""


class Played(NamedTuple):
    """A game of the server that is one of the event; versions by their numbers. `number` in the event."""

    number: int
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
    :ivar kinds: how many lines of its log are of which kind
    :ivar won_playoff: entrants who won the playoff for the first place; empty: there was none
    """

    event: Event
    faults: tuple[str, ...]
    games: int
    kinds: Counter[str]
    won_playoff: tuple[int, ...] = ()

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
        """Place and name, best first; who won the playoff before those with whom it shared the first place."""
        rows = standings(self.event).rows
        first = {row.entrant for row in rows if row.place == 1}
        won = first.intersection(self.won_playoff)
        if not won or len(won) != len(self.won_playoff) or won == first:
            return [(row.place, row.name) for row in rows]
        places = {row.entrant: row.place + len(won) * (row.entrant in first - won) for row in rows}
        ranked = sorted(rows, key=lambda row: places[row.entrant])
        return [(places[row.entrant], row.name) for row in ranked]


def folded(database: Path, name: str) -> Folded:
    """The event called `name`, of a server that may be running or dead. Raises LookupError where there is none."""
    address = f"file:{database}?mode=ro"
    with contextlib.closing(sqlite3.connect(address, uri=True, timeout=10)) as connection:
        number = connection.execute("SELECT id FROM events WHERE name = ?", (name,)).fetchone()
        if number is None:
            raise LookupError(f"There is no event {name}.")
        lines = connection.execute("SELECT body FROM event_log WHERE event_id = ? ORDER BY seq", number).fetchall()
        rows = connection.execute(
            "SELECT g.id, e.number, e.round, g.black_id, g.white_id, g.winner, g.reason, g.plies, g.detail"
            " FROM event_games e JOIN games g ON g.id = e.game_id WHERE e.event_id = ?",
            number,
        ).fetchall()
        audited = connection.execute(
            "SELECT action, subject FROM audit WHERE action LIKE 'event %' AND (subject = ? OR detail LIKE ?)",
            (name, f'%"event":"{name}"%'),
        ).fetchall()
    fold = _Fold({row[0]: Played(*row[1:]) for row in rows})
    for (body,) in lines:
        fold.read(json.loads(body))
    return fold.ended(audited)


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
    """The log's lines one after another.

    :ivar played: game of the server -> its row
    """

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
        self.ever_began: set[int] = set()
        self.results: dict[int, Result] = {}
        self.requests: list[Request] = []
        self.out: list[int] = []
        self.apart: set[Pair] = set()
        self.forbidden: list[Pair] = []
        self.changes: list[Change] = []
        self.planned: int | None = None
        self.won: list[int] = []
        self.kinds: Counter[str] = Counter()
        self.faults: list[str] = []

    def read(self, line: dict[str, Any]) -> None:
        """One more line. Raises NotImplementedError for a kind that nobody told it of."""
        self.kinds[line["kind"]] += 1
        match line["kind"]:
            case "announced":
                self.settings = line["settings"]
                self.planned = self.settings.get("rounds")
            case "closed":
                for number, seat in self.seats.items():
                    seat["rating"] = line["ratings"].get(str(number))
            case "started":
                self._start()
            case "extended":
                self.planned = line.get("rounds") or self.planned
            case "decided":
                self.won = line["entrants"]
            case "opened" | "paused" | "resumed" | "finished" | "cancelled" | "followed":
                pass
            case "paired" | "began" | "ended" | "ruled" | "taken-back":
                self._play(line)
            case _:
                self._concern(line)

    def _play(self, line: dict[str, Any]) -> None:
        """Rounds, games and what becomes of them."""
        match line["kind"]:
            case "paired":
                self._pair(line["round"])
            case "began":
                self._begin(line["game"], line["played_as"])
            case "ended":
                self._end(line["game"], msgspec.convert(line["result"], Result))
            case "ruled":
                given = line.get("result")
                result = None if given is None else msgspec.convert(given, Result)
                self._rule(line["game"], result, line.get("with_results", False))
                if result is None:
                    self.began.pop(line["game"], None)
            case "taken-back":
                self._keep(take_back_round(self.event(), line.get("with_results", False)))

    def _concern(self, line: dict[str, Any]) -> None:
        """Who is in it, who sits out, who must not meet."""
        match line["kind"]:
            case "entered":
                self._enter(line["entrant"], line)
            case "admitted":
                self.seats[line["entrant"]]["waits"] = False
            case "checked-in":
                self.seats[line["entrant"]]["checked_in"] = True
            case "withdrawn":
                self._withdraw(line["entrant"])
            case "rejoined":
                self._rejoin(line["entrant"])
            case "struck":
                self._keep(strike(self.event(), line["entrant"]))
            case "bye-asked" | "bye-cancelled" as kind:
                entrant, number = line["entrant"], line["round"]
                self.requests = [one for one in self.requests if (one.entrant, one.round) != (entrant, number)]
                if kind == "bye-asked":
                    self.requests.append(Request(entrant, number, line.get("points", 0)))
                self._note("bye" if kind == "bye-asked" else "cancel-bye", entrant)
            case "forbidden" | "lifted" as kind:
                self._set_apart(line, kind == "forbidden")
            case kind:
                raise ValueError(f"this fold does not know the entry {kind!r}")

    def ended(self, audited: Collection[tuple[str, str]]) -> Folded:
        """The whole, after its last line.

        :param audited: action and subject of each line of the audit about the event
        """
        if audited:
            self._hold_against(audited)
        for number in self.played.keys() - self.ever_began:
            self.faults.append(f"game {number} is in the table of the event's games and did not begin by its log")
        return Folded(
            event=self.event(),
            faults=tuple(self.faults),
            games=len(self.played),
            kinds=self.kinds,
            won_playoff=tuple(self.won),
        )

    def _hold_against(self, audited: Collection[tuple[str, str]]) -> None:
        entered = {subject for action, subject in audited if action == "event enter"}
        names = {seat["name"] for seat in self.seats.values()}
        if entered and names != entered:
            self.faults.append(f"the audit says that {entered ^ names} entered or not, the log says otherwise")
        done = Counter(AUDITED[action] for action, _ in audited if action in AUDITED)
        for kind in sorted(set(AUDITED.values())):
            if done[kind] != self.kinds[kind]:
                self.faults.append(f"the audit says {done[kind]} times {kind}, the log {self.kinds[kind]} times")

    def event(self) -> Event:
        """The record of the tournament as it is now."""
        word, options = known(self.settings["system"])
        return Event(
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
            forbidden=tuple(self.forbidden),
            changes=tuple(self.changes),
        )

    def _rule(self, number: int, result: Result | None, with_results: bool) -> None:
        before = self.event()
        amended = amend(before, number, result, with_results)
        self._keep(amended.event)
        at = self.games[number]["round"]
        if not system_of(before).rounds_follow or self.out:
            return  # later rounds stay, or who has left since makes them others
        left = {game.id for each in amended.event.rounds[at:] for game in each.games}
        led_to = _led_to(before, amended.event, at)
        if left != led_to:
            self.faults.append(f"after the ruling of game {number} games {sorted(left ^ led_to)} stay or go wrongly")

    def _keep(self, event: Event) -> None:
        """What is left of the record after something of it went, as on files."""
        self.rounds = [
            {
                "number": each.number,
                "games": [game.id for game in each.games],
                "byes": msgspec.to_builtins(each.byes),
                "details": each.explanation.details,
            }
            for each in event.rounds
        ]
        self.results = {game.id: game.result for _, game in event.games if game.result is not None}
        self.order = [one.id for one in event.entrants]
        self.out, self.requests = list(event.withdrawn), list(event.requests)
        self.forbidden, self.changes = list(event.forbidden), list(event.changes)

    def _note(self, kind: ChangeKind, *entrants: int) -> None:
        self.changes.append(Change(kind=kind, round=len(self.rounds) + 1, entrants=entrants))

    def _enter(self, number: int, line: dict[str, Any]) -> None:
        self.seats[number] = dict(line)
        if self.running:
            self._join(number)

    def _join(self, number: int) -> None:
        self.order.append(number)
        self.joined[number] = len(self.rounds) + 1
        self._keep_apart()

    def _start(self) -> None:
        self.running = True
        checks_in = self.settings.get("times", {}).get("check_in_s", 0)
        there = [
            number
            for number, seat in self.seats.items()
            if not seat.get("waits") and (seat.get("checked_in") or not checks_in)
        ]
        self.order = sorted(there, key=lambda number: (-(self._rating(number) or float("-inf")), number))
        self._keep_apart()

    def _withdraw(self, number: int) -> None:
        if self.running:
            self.out.append(number)
            self._note("withdraw", number)
        else:
            del self.seats[number]

    def _rejoin(self, number: int) -> None:
        if number in self.out:
            self.out.remove(number)
            self._note("rejoin", number)
        elif number not in self.order:  # it did not check in, waited in vain, or was struck out
            self._join(number)

    def _set_apart(self, line: dict[str, Any], forbidden: bool) -> None:
        pairs = set(combinations(sorted(set(line.get("entrants", ()))), 2))
        self.apart = self.apart | pairs if forbidden else self.apart - pairs
        words = [word for word in self.settings.get("apart", ()) if word != line.get("same")]
        more = [line["same"]] if forbidden and line.get("same") else []
        self.settings = self.settings | {"apart": words + more}
        self._keep_apart()

    def _keep_apart(self) -> None:
        """Who must not meet, of those who are in the record: by name, of one family, of one owner."""
        words = self.settings.get("apart", ())
        pairs = set()
        for one, other in combinations(sorted(self.order), 2):
            left, right = self.seats[one], self.seats[other]
            owners = [seat.get("owner") or f"bot {seat['bot']}" for seat in (left, right)]
            of_owner = "owner" in words and owners[0] == owners[1]
            of_family = "family" in words and left["family"] == right["family"]
            if (one, other) in self.apart or of_owner or of_family:
                pairs.add((one, other))
        for pair in [pair for pair in self.forbidden if pair not in pairs]:
            self.forbidden.remove(pair)
            self._note("lift", *pair)
        for pair in sorted(pairs.difference(self.forbidden)):
            self.forbidden.append(pair)
            self._note("forbid", *pair)

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
        self.ever_began.add(played_as)
        row, paired = self.played.get(played_as), self.games[number]
        if row is None or row.number != number:
            self.faults.append(f"game {number} began as {played_as}, of which the table of the event's games has not")
            return
        black, white = (self.seats[paired[color]]["version"] for color in ("black", "white"))
        if (row.black, row.white, row.round) != (black, white, paired["round"]):
            self.faults.append(f"game {number} was paired between others, or in another round, than it was played")

    def _end(self, number: int, logged: Result) -> None:
        row = self.played.get(self.began.get(number, 0))
        self.results[number] = logged
        if row is None:
            if logged.how != "forfeit":
                self.faults.append(f"game {number} never began, and yet it ended {logged}")
            return
        by_table = _result_of(row)
        self.results[number] = by_table
        if row.reason in (None, *WITHOUT_RESULT) and self._forfeited(number) == logged:
            self.results[number] = logged  # whoever withdraws before a move has lost in the event alone
        elif by_table != logged:
            self.faults.append(f"game {number} ended {by_table} by the table of games, {logged} by the log")

    def _forfeited(self, number: int) -> Result | None:
        """What a game counts as of whose players one has withdrawn."""
        game = self.games[number]
        if game["black"] in self.out:
            return Result(LOSS, WIN, "forfeit")
        return Result(WIN, LOSS, "forfeit") if game["white"] in self.out else None

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


def _led_to(before: Event, ruled: Event, at: int) -> set[int]:
    """Games of rounds after `at` of a knock-out that the system pairs again from a ruling in that round on.

    :param ruled: the event after the ruling
    """
    again = replace(ruled, rounds=ruled.rounds[:at])
    later = before.rounds[at:]
    left = {(each.number, frozenset(game.pair), game.id): game for each in later for game in each.games}
    byes = {(each.number, bye.entrant): bye for each in later for bye in each.byes}
    stays: set[int] = set()
    while True:
        parts = ready_games(again)
        pairs = {(part.number, frozenset(game.pair)) for part in parts for game in part.games}
        passing = {(part.number, bye.entrant) for part in parts for bye in part.byes}
        kept, passed = [key for key in left if key[:2] in pairs], [key for key in byes if key in passing]
        if not (kept or passed):
            return stays
        for key in kept:
            again = _with(again, key[0], games=(left.pop(key),))
            stays.add(key[2])
        for where in passed:
            again = _with(again, where[0], byes=(byes.pop(where),))


def _with(event: Event, number: int, games: tuple[Game, ...] = (), byes: tuple[Bye, ...] = ()) -> Event:
    """The event with more in a round that has begun, or in the next one."""
    rounds = [*event.rounds, Round(number=number)] if number > len(event.rounds) else list(event.rounds)
    before = rounds[number - 1]
    rounds[number - 1] = replace(before, games=(*before.games, *games), byes=(*before.byes, *byes))
    return replace(event, rounds=tuple(rounds))


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
