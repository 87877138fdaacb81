"""A small strict server of ``cgos.v2`` without I/O: what a client may not say fails a test.

Games are refereed by the real rules. The opponent of a bot is a function of the position, or another bot that is
signed in. A move counts as committed as soon as it is heard.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec
from msgspec import UNSET

from cgos_protocol.clock import TimeControl, TimeSystem
from cgos_protocol.facts import GameEnded, MovePlayed
from cgos_protocol.games.base import Ruleset
from cgos_protocol.ids import QuestionId
from cgos_protocol.openings import Opening
from cgos_protocol.question_news import QuestionNews
from cgos_protocol.referee import Referee
from cgos_protocol.terms import Terms
from cgos_protocol.v2 import messages as ws
from cgos_protocol.v2 import render
from cgos_protocol.v2.asyncapi import tag
from cgos_protocol.v2.messages import ServerMessage

Tell = Callable[[ServerMessage], None]
Opponent = Callable[["ModelGame"], str]

TIME = TimeControl(system=TimeSystem.ABSOLUTE, main=60_000_000)
_WORDS: tuple[ws.ColorWord, ws.ColorWord] = ("black", "white")


class Breach(AssertionError):
    """The client did what the protocol does not allow."""


@dataclass
class ModelGame:
    """One game. `sides` are the bots' names; `opponent` plays for a side without a connection."""

    number: int
    venue: str
    sides: tuple[str, str]
    referee: Referee
    opponent: Opponent | None
    moves: list[ws.Ply] = field(default_factory=list)
    heard: dict[int, str] = field(default_factory=dict)
    """What was ever heard at each ply, also what was lost with a crash."""
    analyses: dict[int, ws.Analysis] = field(default_factory=dict)
    over: ws.Over | None = None
    unseen: set[str] = field(default_factory=set)

    @property
    def texts(self) -> list[str]:
        return [ply.move for ply in self.moves]

    def word(self, bot: str) -> ws.ColorWord:
        return _WORDS[self.sides.index(bot)]

    def to_move(self) -> str:
        return self.sides[self.referee.to_play]

    def clocks(self) -> dict[str, int]:
        """What both have left, as messages name it (milliseconds)."""
        black, white = self.referee.clocks
        return {"black_ms": black.main // 1000, "white_ms": white.main // 1000}


class Model:
    """The server. `secrets` are its bots; `pair` is what each free slot gets, in order; `opening` is what games begin
    with."""

    def __init__(
        self,
        secrets: dict[str, str] | None = None,
        venues: dict[str, int] | None = None,
        opponent: Opponent | None = None,
        games: int = 1,
        opening: Opening | None = None,
    ) -> None:
        self.secrets = secrets if secrets is not None else {"Bot": "sesame"}
        self.venues = venues or {"5x5": 5}
        self.opponent = opponent
        self.games_to_give = games
        self.opening = opening
        self.games: dict[int, ModelGame] = {}
        self.links: dict[str, Link] = {}
        self.sign_ins: list[ws.SignIn] = []
        self.seen_games: list[int] = []
        self.refuse: list[ws.Error] = []
        """Answers to the next sign-ins."""
        self.watchers: list[tuple[Link, str, int | None]] = []
        self.events: dict[str, set[str]] = {}
        """Names of events that take bots -> who is in, and who has checked in (with a + behind its name)."""
        self.series: dict[str, str] = {}
        """Name of a series -> the event that it means."""
        self.knows_events = True
        self.questions: dict[int, Callable[[str], ws.QuestionTold]] = {}
        """Number of an open question -> how it is told that it stands so."""
        self.knows_questions = True
        self.ratings: list[ws.RatingMove] = []
        """What the next games do to ratings; empty: always the same."""

    def happens(self, event: str, what: str, **more: Any) -> None:
        """Tell all entrants of an event."""
        for name in self.events[event]:
            link = self.links.get(name)
            if link is not None:
                link.tell(self.told(event, what, **more))

    def told(self, event: str, what: str, **more: Any) -> ws.EventTold:
        series = next((name for name, each in self.series.items() if each == event), "")
        return ws.EventTold(event=event, venue="5x5", what=what, text=f"{event}: {what}", **{"series": series} | more)

    def begin(self, venue: str, black: str, white: str) -> ModelGame:
        """A new game; a side that is signed in plays for itself."""
        rules = Ruleset(size=self.venues[venue], komi2=15)
        referee = Referee(
            Terms(rules=rules, time=TIME, move_limit=3 * rules.size * rules.size, first_move_limit=60_000_000)
        )
        game = ModelGame(
            number=len(self.games) + 1, venue=venue, sides=(black, white), referee=referee, opponent=self.opponent
        )
        if self.opening is not None:
            stored = self.opening.stored(referee.terms)
            referee.replay(stored, given=True)
            game.moves += [ws.Ply(move, clock.main // 1000) for move, clock in stored]
        self.games[game.number] = game
        for name in game.sides:
            link = self.links.get(name)
            if link is not None:
                link.sit(game, 0)
        self._ask(game)
        return game

    def pair(self) -> None:
        """Give games to free slots."""
        while self.games_to_give:
            free = [(name, venue) for name, link in self.links.items() for venue in link.free()]
            if self.opponent is not None:
                if not free:
                    return
                name, venue = free[0]
                sides = (name, "House") if len(self.games) % 2 == 0 else ("House", name)
            else:
                pairs = [(a, b, v) for a, v in free for b, w in free if a != b and v == w]
                if not pairs:
                    return
                *sides, venue = pairs[0]  # type: ignore[assignment]
            self.games_to_give -= 1
            self.begin(venue, *sides)

    def play(self, game: ModelGame, text: str) -> None:
        """The side to move answers."""
        color, mover = game.referee.to_play, game.to_move()
        played = game.referee.submit(text, 10_000)
        if played is not None:
            game.moves.append(ws.Ply(played.move_text, played.clock.main // 1000))
        on = game.referee.verdict is None
        if played is not None:
            for name in game.sides:
                link = self.links.get(name)
                if name != mover and link is not None:
                    link.tell(
                        ws.Moved(
                            game=game.number,
                            ply=len(game.moves),
                            color=_WORDS[color],
                            move=played.move_text,
                            **game.clocks(),
                            at=0.0,
                            your_turn=on,
                        )
                    )
            self._show(game, ws.FactTold(_moved(game)))
        if not on:
            self._end(game)
        elif self.links.get(game.to_move()) is None or played is None:
            self._ask(game)
        elif game.to_move() == mover:
            raise AssertionError("one side moves twice")

    def _ask(self, game: ModelGame) -> None:
        name = game.to_move()
        link = self.links.get(name)
        if link is not None:
            link.turn(game)
        elif game.opponent is not None and name not in self.secrets:
            self.play(game, game.opponent(game))

    def _end(self, game: ModelGame) -> None:
        verdict = game.referee.verdict
        assert verdict is not None
        winner = None if verdict.winner is None else _WORDS[verdict.winner]
        game.over = ws.Over(
            game=game.number,
            result=verdict.text,
            winner=winner,
            reason=verdict.reason,
            detail=verdict.detail,
            plies=len(game.moves),
            date="2026-01-01",
            rating=self.ratings.pop(0) if self.ratings else ws.RatingMove(1800.0, 1812.5),
        )
        game.unseen = {name for name in game.sides if name in self.secrets}
        for name in game.sides:
            link = self.links.get(name)
            if link is not None:
                link.tell(game.over)
        self._show(game, ws.FactTold(_ended(game)))
        for link in list(self.links.values()):
            link.drained()
        self.pair()

    def _show(self, game: ModelGame, fact: ws.FactTold) -> None:
        for link, venue, number in self.watchers:
            if number == game.number or (
                number is None and venue == game.venue and type(fact.fact).__name__ != "MovePlayed"
            ):
                link.tell(fact)

    def take_back(self, game: ModelGame, plies: int) -> None:
        """A crash that lost the last moves of a running game, and every connection with it."""
        assert game.over is None
        game.moves = game.moves[: len(game.moves) - plies]
        kept = game.texts
        game.referee = Referee(game.referee.terms)
        for text in kept:
            game.referee.submit(text, 10_000)
        self.links.clear()
        self.watchers.clear()
        self._ask(game)


def told_question(number: QuestionId, version: str, state: str) -> ws.QuestionTold:
    """A question about `version` stands so, before its first game."""
    news = QuestionNews(
        question=number, venue="5x5", kind="test", state=state, text=f"Question {number} is {state}.", version=version
    )
    return render.question(news)


class Link:
    """The server's end of one connection."""

    def __init__(self, model: Model, tell: Tell) -> None:
        self.model = model
        self.tell = tell
        self.name = ""
        self.sign_in: ws.SignIn | None = None
        self.availability: ws.Ready | ws.Pause | ws.Drain = ws.Ready()
        self.closed = False

    def open(self) -> None:
        rules = [
            ws.VenueInfo(
                name=name,
                rules=ws.RulesInfo(game="go", size=size, komi=7.5, ko="positional", suicide=False),
                time=ws.TimeInfo(system="absolute", main_ms=60_000),
            )
            for name, size in self.model.venues.items()
        ]
        self.tell(ws.Welcome(server="model", software="model 1", protocol=2, at=0.0, venues=rules))

    def lost(self) -> None:
        """The connection is gone."""
        self.closed = True
        if self.model.links.get(self.name) is self:
            del self.model.links[self.name]
        self.model.watchers = [entry for entry in self.model.watchers if entry[0] is not self]

    def hear(self, message: ws.ClientMessage) -> None:
        """What the client says. Raises Breach."""
        match message:
            case ws.SignIn():
                self._sign_in(message)
            case ws.WatchVenue() | ws.WatchGame() | ws.Unwatch():
                self._watch(message)
            case _ if self.sign_in is None:
                raise Breach(f"not signed in: {message}")
            case ws.Move():
                self._move(message)
            case ws.Seen():
                self._seen(message)
            case ws.Sync():
                for known in message.games:
                    self._sync(known, gaps=True)
            case ws.Ready() | ws.Pause() | ws.Drain():
                self.availability = message
                self.drained()
                self.model.pair()
            case ws.SetLimits():
                assert self.sign_in is not None
                self.sign_in = msgspec.structs.replace(self.sign_in, limits=message.limits)
            case ws.EnterEvent() | ws.WithdrawEvent() | ws.CheckInEvent():
                self._event(message)
            case ws.Ask() | ws.StopQuestion():
                self._question(message)

    def _question(self, message: ws.Ask | ws.StopQuestion) -> None:
        """A question is open until it is stopped; `Stranger` has not agreed."""
        model = self.model
        if not model.knows_questions:
            self.tell(ws.Error(code="invalid", text=f"Invalid value '{tag(type(message))}' - at `$.type`"))
        elif isinstance(message, ws.StopQuestion):
            if message.question not in model.questions:
                self.tell(ws.Error(code="no-question", text="There is no such question.", ref=message.ref))
                return
            self.tell(model.questions.pop(message.question)("stopped"))
        elif message.against == ["Stranger"]:
            self.tell(ws.Error(code="not-agreed", text="Stranger has not agreed.", ref=message.ref))
        else:
            number = QuestionId(len(model.questions) + 1)
            model.questions[number] = partial(told_question, number, self.name)
            self.tell(model.questions[number]("open"))
            self.tell(
                ws.Asked(
                    question=number, venue=message.venue, kind=message.kind, text="Asked.", costs=[], ref=message.ref
                )
            )

    def _event(self, message: ws.EnterEvent | ws.WithdrawEvent | ws.CheckInEvent) -> None:
        event = self.model.series.get(message.event, message.event)
        if not self.model.knows_events:
            self.tell(ws.Error(code="invalid", text="Invalid value 'enter_event' - at `$.type`"))
            return
        entrants = self.model.events.get(event)
        if entrants is None:
            self.tell(ws.Error(code="no-event", text=f"There is no event {event}.", event=event))
            return
        match message:
            case ws.EnterEvent():
                entrants.add(self.name)
                what = "entered"
            case ws.WithdrawEvent():
                entrants.discard(self.name)
                what = "withdrawn"
            case _:
                entrants.add(f"{self.name}+")
                what = "checked_in"
        self.tell(self.model.told(event, what))

    def free(self) -> list[str]:
        """The venues in which a slot is free."""
        assert self.sign_in is not None
        busy = sum(game.over is None and self.name in game.sides for game in self.model.games.values())
        ready = isinstance(self.availability, ws.Ready) and busy < self.sign_in.slots
        return list(self.sign_in.venues) if ready else []

    def sit(self, game: ModelGame, from_ply: int) -> None:
        info = ws.RulesInfo(game="go", size=self.model.venues[game.venue], komi=7.5, ko="positional", suicide=False)
        self.tell(
            ws.Game(
                game=game.number,
                venue=game.venue,
                color=game.word(self.name),
                rules=info,
                time=ws.TimeInfo(system="absolute", main_ms=60_000),
                black=ws.Player(game.sides[0], "1800?"),
                white=ws.Player(game.sides[1], "1700"),
                from_ply=from_ply,
                moves=game.moves[from_ply:],
                **game.clocks(),
                rated=True,
                why="they are near each other",
                opening="" if self.model.opening is None else self.model.opening.name,
            )
        )

    def turn(self, game: ModelGame) -> None:
        word = _WORDS[game.referee.to_play]
        self.tell(ws.Turn(game=game.number, ply=len(game.moves) + 1, color=word, **game.clocks()))

    def drained(self) -> None:
        """Send it home where it wants no more."""
        busy = any(game.over is None and self.name in game.sides for game in self.model.games.values())
        if isinstance(self.availability, ws.Drain) and not busy and not self.closed:
            self.closed = True
            self.tell(ws.Drained())

    def _sign_in(self, message: ws.SignIn) -> None:
        if self.sign_in is not None:
            raise Breach("signed in twice on one connection")
        self.model.sign_ins.append(message)
        if self.model.refuse:
            self.closed = True
            self.tell(self.model.refuse.pop(0))
            return
        if self.model.secrets.get(message.bot) != message.secret:
            self.closed = True
            self.tell(
                ws.Error(
                    code="wrong-password", text=f"Sorry, password doesn't match the name {message.bot}.", fatal=True
                )
            )
            return
        self.sign_in, self.name = message, message.bot
        self.model.links[message.bot] = self
        self.tell(ws.SignedIn(message.bot, list(message.venues), message.slots))
        known = {game.game: game for game in message.games}
        for game in self.model.games.values():
            if self.name in game.sides and (game.over is None or self.name in game.unseen or game.number in known):
                self._sync(known.get(game.number, ws.KnownGame(game.number, 0)))
        self.model.pair()

    def _sync(self, known: ws.KnownGame, gaps: bool = False) -> None:
        game = self.model.games.get(known.game)
        if game is None or self.name not in game.sides:
            self.tell(ws.Error(code="no-game", text="There is no such game.", game=known.game))
            return
        if known.ply > len(game.moves) and not game.heard:
            raise Breach(f"game {game.number} has {len(game.moves)} moves, the client says that it knows {known.ply}")
        self.sit(game, min(known.ply, len(game.moves)))
        if game.over is not None:
            self.tell(game.over)
        elif game.to_move() == self.name:
            self.turn(game)

    def _move(self, move: ws.Move) -> None:
        game = self.model.games.get(move.game)
        if game is None or self.name not in game.sides:
            raise Breach(f"a move in a game of somebody else: {move}")
        if move.ply % 2 != (game.sides[0] == self.name):
            raise Breach(f"the opponent's ply: {move}")
        before = game.heard.setdefault(move.ply, move.move)
        if before.lower() != move.move.lower():
            raise Breach(f"{before} was played at {move.ply}, now {move.move}")
        if move.ply <= len(game.moves):
            if game.moves[move.ply - 1].move.lower() != move.move.lower():
                self.tell(ws.Error(code="contradiction", text="Another move stands there.", game=game.number))
            return
        if game.over is not None:
            self.tell(ws.Error(code="no-game", text="It has ended.", game=game.number))
            return
        if move.ply != len(game.moves) + 1:
            raise Breach(f"a gap: {move} after {len(game.moves)} moves")
        if move.analysis is not UNSET:
            game.analyses[move.ply] = msgspec.json.decode(move.analysis, type=ws.Analysis)
        self.model.play(game, move.move)

    def _seen(self, message: ws.Seen) -> None:
        game = self.model.games.get(message.game)
        if game is None or game.over is None:
            raise Breach(f"seen what has not ended: {message}")
        game.unseen.discard(self.name)
        self.model.seen_games.append(message.game)

    def _watch(self, message: ws.WatchVenue | ws.WatchGame | ws.Unwatch) -> None:
        venue = message.venue
        if venue not in self.model.venues:
            self.tell(ws.Error(code="no-venue", text=f"There is no venue {venue}."))
            return
        match message:
            case ws.WatchVenue():
                self.model.watchers.append((self, venue, None))
                self.tell(ws.Picture(venue, [_line(game) for game in self.model.games.values() if game.venue == venue]))
            case ws.WatchGame():
                game = self.model.games.get(message.game)
                if game is None:
                    self.tell(ws.Error(code="no-game", text="There is no such game.", game=message.game, venue=venue))
                    return
                self.model.watchers.append((self, venue, message.game))
                self.tell(_shown(game, min(message.ply, len(game.moves))))
            case ws.Unwatch():
                gone = (self, venue, message.game)
                self.model.watchers = [entry for entry in self.model.watchers if entry != gone]


def _moved(game: ModelGame) -> MovePlayed:
    ply = game.moves[-1]
    return MovePlayed(venue=game.venue, game=game.number, ply=len(game.moves), move=ply.move, left_ms=ply.left_ms)


def _ended(game: ModelGame) -> GameEnded:
    assert game.over is not None
    return GameEnded(venue=game.venue, game=game.number, result=game.over.result, reason=game.over.reason, at=0.0)


def _line(game: ModelGame) -> ws.GameLine:
    black, white = (ws.Player(name, "1800") for name in game.sides)
    result = None if game.over is None else game.over.result
    return ws.GameLine(
        game=game.number,
        started_at=0.0,
        size=game.referee.terms.rules.size,
        komi=7.5,
        black=black,
        white=white,
        result=result,
    )


def _shown(game: ModelGame, from_ply: int) -> ws.Shown:
    black, white = (ws.Player(name, "1800") for name in game.sides)
    return ws.Shown(
        game=game.number,
        venue=game.venue,
        rules=ws.RulesInfo(game="go", size=game.referee.terms.rules.size, komi=7.5, ko="positional", suicide=False),
        time=ws.TimeInfo(system="absolute", main_ms=60_000),
        black=black,
        white=white,
        started_at=0.0,
        from_ply=from_ply,
        moves=game.moves[from_ply:],
        result=None if game.over is None else game.over.result,
        reason="" if game.over is None else game.over.reason,
    )
