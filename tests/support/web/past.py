"""A made-up past with a little of everything, as records and written through the real store."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from cgos_protocol.clock import TimeControl, TimeSystem
from cgos_protocol.errors import CommitFailed
from cgos_protocol.games.base import Color, Ruleset
from cgos_protocol.games.go_rules import Go
from cgos_protocol.ids import VersionId
from cgos_protocol.referee import Referee
from cgos_protocol.terms import Terms, encode_terms
from cgos_protocol.verdict import Reason, Verdict
from cgos_server.core.questions.asked import Challenge, Gauntlet, Opponent, State, Test
from cgos_server.core.rating.registry import label, rating_system
from cgos_server.service.ratings.venue_ratings import VenueRatings
from cgos_server.storage.opening import open_store
from cgos_server.storage.writing.group_commit import CommitListener
from cgos_server.storage.writing.records import (
    AnalysisAdded,
    BotAdded,
    ConnectionOpened,
    GameAdded,
    GameEnded,
    MoveAdded,
    PairingAdded,
    Record,
    RoundAdded,
    VenueAdded,
    VersionAdded,
)
from cgos_server.tournaments.base import BLACK_WINS, DRAWN, WHITE_WINS
from cgos_server.tournaments.running.settings import EventSettings
from support.storage.asked import QuestionPast
from support.tournaments.held_events import HeldEvent

NOW = int(datetime(2026, 11, 21, 12, 0, tzinfo=UTC).timestamp() * 1000)
MINUTE_MS = 60_000
OPENING = "Star & <moon>"
"""What the first game began with."""

BOTS = ("Sakura-5k", "gnugo-3.8-L1", "Kogo_mcts", "Tengen.bot", "random-walk", "amigo")
NINE, THIRTEEN, NINETEEN = 1, 2, 3
VENUES = {NINE: ("9x9", 9, 14), THIRTEEN: ("13x13", 13, 15), NINETEEN: ("19x19", 19, 15)}
EVENT = "Autumn"
"""Of the first three bots, on 9x9. Its number leaves room for others before it."""
EVENT_ID = 77

ENDED = 70
"""Games 1 to 70 have ended, 71 and 72 run: 71 with some moves, 72 with none. All but game 72 are on 9x9."""
RUNNING, FRESH = 71, 72


def terms(venue: int) -> Terms:
    _, size, komi2 = VENUES[venue]
    control = TimeControl(system=TimeSystem.ABSOLUTE, main=300_000_000)
    return Terms(
        rules=Ruleset(size=size, komi2=komi2), time=control, move_limit=3 * size * size, first_move_limit=300_000_000
    )


class Builder:
    """Collects the records of a made-up past. Everything in it follows from one seed."""

    def __init__(self, *, with_event: bool = True) -> None:
        self.with_event = with_event
        self.rng = random.Random(20_261_121)
        self.records: list[Record] = []
        self.at = NOW - 26 * 60 * MINUTE_MS
        self.ratings = {venue: VenueRatings(venue, rating_system("cgos-elo", 1800.0, {})) for venue in VENUES}

    def build(self) -> list[Record]:
        for number, (name, _, _) in VENUES.items():
            fixed = msgspec.to_builtins(terms(number).rules) | {"time": msgspec.to_builtins(terms(number).time)}
            self.records.append(VenueAdded(number, name, msgspec.json.encode(fixed).decode(), self.at))
        for number, name in enumerate(BOTS, 1):
            self.records.append(BotAdded(number, name, name.lower(), "hash", "active", self.at))
            self.records.append(VersionAdded(number, number, name, name.lower(), "", "", "", "", self.at))
            for venue in (NINE, THIRTEEN):
                if venue == NINE or number <= 2:
                    self.records.append(ConnectionOpened(10 * number + venue, venue, number, "127.0.0.1", "c", self.at))
                    self.records += self.ratings[venue].enter(number, 1800.0, self.at).records
        self.records += self.ratings[NINE].anchor(2, 1900.0, self.at).records
        for game in range(1, ENDED + 1):
            black, white = self.rng.sample(range(1, len(BOTS) + 1), 2)
            self._game(game, NINE, black, white, moves=None)
            self.at += 20 * MINUTE_MS
        self.at = NOW - 3 * MINUTE_MS
        self._game(RUNNING, NINE, 1, 2, moves=31)
        self._game(FRESH, THIRTEEN, 1, 2, moves=0)
        if self.with_event:
            self._event()
            self._questions()
        return self.records

    def _event(self) -> None:
        """Three bots meet in an event, whose games are some of those that were played anyway."""
        settings = EventSettings(name=EVENT, venue="9x9", system="round-robin", about="A <small> one")
        held = HeldEvent(settings, at=NOW - 24 * 60 * MINUTE_MS)
        held.start(BOTS[:3])
        players = {one.id: (one.black_id, one.white_id) for one in self.records if isinstance(one, GameAdded)}
        for ended in [one for one in self.records if isinstance(one, GameEnded) and one.id < ENDED]:
            due = [game for _, game in held.state.due_games if (game.black, game.white) == players[ended.id]]
            if due:
                held.begin(due[0], ended.id)
                held.end(due[0], DRAWN if ended.winner is None else (BLACK_WINS, WHITE_WINS)[ended.winner])
        self.records += held.records(EVENT_ID, NINE)

    def _questions(self) -> None:
        """What was asked by some of the games that were played anyway: an open test, a challenge that was stopped and a
        gauntlet without games."""
        one, two, three = VersionId(1), VersionId(2), VersionId(3)
        test = self._question(1, Test(version=one, against=two, upper=200.0, most_games=100))
        self.records += test.records()
        challenge = self._question(2, Challenge(version=one, against=three, most_games=20))
        self.records += challenge.records(State.STOPPED, "Its owner has stopped it.")
        field = (Opponent(version=two, rating=1900.0), Opponent(version=three, rating=1750.0))
        self.records += self._question(3, Gauntlet(version=one, field=field, most_games=50)).records()

    def _question(self, number: int, asked: Test | Challenge | Gauntlet) -> QuestionPast:
        """A question with the games that its two versions played."""
        at = NOW - 25 * 60 * MINUTE_MS
        past = QuestionPast(
            number=number, asked=asked, venue_id=NINE, terms=encode_terms(terms(NINE)), first_game=0, at=at
        )
        if isinstance(asked, Gauntlet):
            return past
        games = {one.id: one for one in self.records if isinstance(one, GameAdded)}
        ends = [one for one in self.records if isinstance(one, GameEnded) and one.id < ENDED]
        for color in Color:
            sides = (asked.version, asked.against) if color is Color.BLACK else (asked.against, asked.version)
            met = [end for end in ends if (games[end.id].black_id, games[end.id].white_id) == sides]
            for pair, end in enumerate(met, 1):
                past.played(pair, end, color)
        return past

    def _game(self, game: int, venue: int, black: int, white: int, moves: int | None) -> None:
        agreed, ratings = terms(venue), self.ratings[venue]
        opening = OPENING if game == 1 else ""
        labels = [label(ratings.rating(side)) for side in (black, white)]
        self.records += [
            RoundAdded(game, venue, game, self.at, "rolling", "birk", "{}", "1", '{"candidates":[]}', "{}", "[]"),
            GameAdded(game, venue, game, black, white, *labels, encode_terms(agreed), "", self.at, opening),
            PairingAdded(
                game,
                game,
                black,
                white,
                f"{BOTS[black - 1]} (1830) drew 3 of 5 & met the strongest of them <drawn>.",
                "Black by lot.",
                "{}",
            ),
        ]
        referee = Referee(agreed)
        strength = {1: 0.9, 2: 0.75, 3: 0.6, 4: 0.45, 5: 0.1, 6: 0.3}
        for ply in range(1, (moves if moves is not None else 300) + 1):
            color, at = referee.to_play, self.at + ply * 2_000
            if moves is None and ply > 24 and self.rng.random() < 0.012:
                loser = color if self.rng.random() < strength[(white, black)[color]] else color.other
                reason = self.rng.choice((Reason.RESIGNATION, Reason.RESIGNATION, Reason.TIME, Reason.ILLEGAL))
                detail = "KO attempted: D4" if reason is Reason.ILLEGAL else ""
                return self._end(game, venue, black, white, Verdict(loser.other, reason, None, detail), at)
            vertex = self._pick(referee, agreed)
            played = referee.submit(vertex, self.rng.randrange(200_000, 4_000_000))
            assert played is not None
            self.records.append(MoveAdded(game, ply, played.move_text, *played.clock, played.used, at))
            if ply == 5:
                analysis = {"comment": "winrate <b>0.51</b>"}
                self.records.append(AnalysisAdded(game, ply, msgspec.json.encode(analysis).decode()))
            if referee.verdict is not None:
                return self._end(game, venue, black, white, referee.verdict, at)
        return None

    def _pick(self, referee: Referee, agreed: Terms) -> str:
        """A random legal move that fills no own eye, else a pass."""
        position = Go().new(agreed.rules)
        current = referee.position
        assert isinstance(current, type(position))
        candidates = [move for move in current.empties() if not current.is_eye(current.to_play, move)]
        self.rng.shuffle(candidates)
        for move in candidates:
            if current.copy().play(move) is None:
                return current.write(move)
        return "PASS"

    def _end(self, game: int, venue: int, black: int, white: int, verdict: Verdict, at: int) -> None:
        if game == ENDED:
            verdict = Verdict(None, Reason.ABORT, None, "stopped by an operator")
        winner = None if verdict.winner is None else int(verdict.winner)
        self.records.append(
            GameEnded(at, winner, verdict.reason.value, verdict.margin2, verdict.detail, verdict.text, 2, 2, game)
        )
        if verdict.score2 is not None:
            self.records += self.ratings[venue].game(game, black, white, verdict.score2, at).records


async def write(path: Path, records: list[Record]) -> None:
    faults: list[Exception] = []

    def failed(failure: CommitFailed) -> None:
        faults.append(failure)

    store = await open_store(path, CommitListener(failed=failed, on_error=faults.append))
    await store.commit(records)
    await store.close()
    assert faults == []
