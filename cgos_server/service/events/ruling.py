"""What the operator decides otherwise than games and system did: results are ruled, games replayed, rounds taken back.

Each has a reason, which stands in the event's log and in the audit; nothing that was played is rewritten. Must not
know: what follows from a ruling, how events go on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from msgspec import Meta

from cgos_protocol.api.people import Done
from cgos_protocol.errors import Code, Conflict, Invalid
from cgos_server.service.commands.context import CommandContext
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.fields import Field, Source
from cgos_server.service.commands.reasons import reason_for
from cgos_server.service.commands.surfaces import ApiRoute, CommandLine, PageForm
from cgos_server.service.events.entering import PAGE
from cgos_server.service.events.fields import EventGame, EventWord, Why, actor_of
from cgos_server.tournaments.base import VOID, Result
from cgos_server.tournaments.checking import MOST_ROUNDS
from cgos_server.tournaments.event import game_by_id, name_of
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.state import EventState, Phase
from cgos_server.tournaments.scores import RESULTS, result_words, score_of

Ruling = Literal["1-0", "0-1", "1/2-1/2", "0-0", "+/-", "-/+", "-/-", "no-contest"]
"""White's points first; with a slash between signs the game was never started. No-contest: annulled for good."""

_WINNERS: Final = {"black": "0-1", "white": "1-0", "draw": "1/2-1/2", "both-lose": "0-0"}
"""The results that a winner stands for."""

WithResults = Annotated[
    bool,
    Field(
        caption="also games that were played",
        help="Also where games that go with it have been played: their results are lost.",
    ),
]


def _has_games(state: EventState | None) -> bool:
    return state is not None and bool(state.event.rounds) and state.phase is not Phase.CANCELLED


def _warning(written: Mapping[str, str]) -> str:
    """Return what the form asks before a game is ruled."""
    result = result_words(RESULTS[written["result"]])
    return f"Game {written['number']} of {written['event']} will count so: {result}."


def _has_rounds(state: EventState | None) -> bool:
    return state is not None and bool(state.event.rounds) and state.phase in (Phase.RUNNING, Phase.OVER)


class EventRule(Command[Done], frozen=True, kw_only=True, tag="event rule"):
    """Give a game of an event a result, or another one.

    Games that were paired by the old result go, and what has to be paired instead is paired next; where such games have
    been played, only `with_results`. A game that runs is ended. It can be done after the event too.
    """

    allowed = Right.OPERATOR
    live = True
    audited = ("before", "game", "reason", "result", "with_results")
    surfaces = (
        CommandLine(
            "event rule",
            "Give game number GAME of EVENT the result RESULT, or --winner.\n\n"
            "White's points stand first; +/-, -/+ and -/- are forfeits of games that were never started; a no-contest "
            "is annulled for good.",
            arguments=("event", "number", "result"),
        ),
        ApiRoute(
            "rule_game",
            "POST",
            "/admin/events/{event}/games/{number}/ruling",
            body="RuleGame",
            body_says="The result of a game of an event, White's points first, and why. `with_results`: also where "
            "games that were paired by the old result have been played.",
            required=("result",),
        ),
        PageForm(
            PAGE,
            "Rule it",
            title="Rule a game",
            note="Games that were paired by the old result are taken back.",
            when=_has_games,
            warning=_warning,
            grave=True,
            fields=("event", "number", "result", "reason", "with_results"),
        ),
    )

    event: EventWord
    number: EventGame
    result: Annotated[str, Field(body=Ruling, label="The result", metavar="RESULT")] = ""
    winner: Annotated[
        str,
        Field(
            help="Who won, instead of RESULT: one of the two by name, black, white, draw or both-lose.",
            metavar="WINNER",
            source=Source.MACHINE,
        ),
    ] = ""
    reason: Why
    with_results: WithResults = False

    async def perform(self, context: CommandContext) -> Done:
        before = await context.server.events.reopen(self.event)
        score = self._score(before) if self.winner else self.result
        if score not in RESULTS or score == "void":
            words = ", ".join(word for word in RESULTS if word != "void")
            raise Invalid(Code.SCORE, f"{score!r} is no result. Give one of {words}; or have it replayed.")
        return await _rule(self, context, before, RESULTS[score], result=score)

    def _score(self, before: EventState) -> str:
        """Return the result that the winner stands for. Raises Refused."""
        if self.result:
            raise Invalid(Code.SCORE, "Give the result or the winner, not both.")
        game, word = game_by_id(before.event, self.number).game, self.winner.casefold()
        black, white = name_of(before.event, game.black), name_of(before.event, game.white)
        by_name = {score for score, name in (("0-1", black), ("1-0", white)) if name.casefold() == word}
        meant = by_name | ({_WINNERS[word]} if word in _WINNERS else set())
        if len(meant) != 1:
            words = ", ".join((black, white, *_WINNERS))
            raise Invalid(Code.SCORE, f"{self.winner!r} does not say who won. Give one of {words}.")
        return meant.pop()


class EventReplay(Command[Done], frozen=True, kw_only=True, tag="event replay"):
    """Make a game of an event void, and have it played again by the rules of its system.

    A game that runs is ended.
    """

    allowed = Right.OPERATOR
    live = True
    audited = ("before", "game", "reason", "with_results")
    surfaces = (
        CommandLine(
            "event replay", "Make game number GAME of EVENT void: it is played again.", arguments=("event", "number")
        ),
        ApiRoute(
            "replay_game",
            "POST",
            "/admin/events/{event}/games/{number}/replay",
            body="ReplayGame",
            body_says="Why a game is played again. `with_results`: also where games that were paired by its result "
            "have been played.",
        ),
        PageForm(
            PAGE,
            "Have it played again",
            title="Have a game played again",
            when=_has_games,
            warning="Game {number} of {event} will be void and played again.",
            grave=True,
        ),
    )

    event: EventWord
    number: EventGame
    reason: Why
    with_results: WithResults = False

    async def perform(self, context: CommandContext) -> Done:
        before = await context.server.events.reopen(self.event)
        return await _rule(self, context, before, VOID)


class EventTakeBack(Command[Done], frozen=True, kw_only=True, tag="event take-back"):
    """Take the last round of an event back: it is paired again. Its games that run are ended.

    For ten minutes after the event's end, too: it goes on.
    """

    allowed = Right.OPERATOR
    live = True
    audited = ("reason", "round", "with_results")
    surfaces = (
        CommandLine(
            "event take-back",
            "Take the last round of EVENT back: it is paired again.\n\nFor ten minutes after the event's end, too.",
        ),
        ApiRoute(
            "take_back_round",
            "POST",
            "/admin/events/{event}/take-back",
            body="TakeBackRound",
            body_says="Why the last round goes. `with_results`: also where games of it have results.",
        ),
        PageForm(
            PAGE,
            "Take it back",
            title="Take the last round back",
            note="For ten minutes after the event's end, too: it goes on.",
            when=_has_rounds,
            warning="The last round of {event} will be paired again; its games that run are ended.",
            grave=True,
        ),
    )

    event: EventWord
    reason: Why
    round: Annotated[
        int | None,
        Field(
            body=Annotated[int, Meta(ge=1, le=MOST_ROUNDS)] | None,
            label="The round",
            hint="Empty: the last one, whichever that is by then.",
            help="Only if this is the last round: another one may begin meanwhile.",
            metavar="N",
        ),
    ] = None
    with_results: WithResults = False

    async def perform(self, context: CommandContext) -> Done:
        reason = reason_for(self.reason, "the round is taken back")
        events = context.server.events
        number = len((await events.reopen(self.event)).event.rounds)
        if self.round not in (None, number):
            raise Invalid(
                Code.ROUND_BEGUN, f"Round {number} of {self.event} is the last one now. Look at it, and name that one."
            )
        said = log.TakenBack(reason=reason, with_results=self.with_results)
        events.say(self.event, said, actor_of(context))
        await context.commit(self, self.event, [], round=number, reason=reason, with_results=self.with_results)
        return Done(sentence=f"Round {number} of {self.event} is taken back and will be paired again.")


async def _rule(
    command: EventRule | EventReplay, context: CommandContext, before: EventState, given: Result, **kept: str
) -> Done:
    """Give a game another result. Raises Refused; the audit keeps `kept` besides."""
    number = command.number
    reason = reason_for(command.reason, f"game {number} counts otherwise")
    game = game_by_id(before.event, number).game
    black, white = name_of(before.event, game.black), name_of(before.event, game.white)
    sides = f"Black ({black})", f"White ({white})"
    words = result_words(given, *sides)
    if game.result == given:
        raise Conflict(
            Code.NO_CHANGE, f"Game {number} of {command.event} counts so already: {words}. Give another result."
        )
    was = "no result" if game.result is None else result_words(game.result, *sides).replace(" wins", " won")
    said = log.Ruled(game=number, result=given, reason=reason, with_results=command.with_results)
    now = context.server.events.say(command.event, said, actor_of(context))
    await context.commit(
        command,
        command.event,
        [],
        game=number,
        before=score_of(game.result) or "none",
        reason=reason,
        with_results=command.with_results,
        **kept,
    )
    what = f"Game {number} of {command.event} ({black} – {white}): {words}; was: {was}."
    return Done(sentence=f"{what}{_taken_back(before, now)}")


def _taken_back(before: EventState, now: EventState) -> str:
    """Which games a ruling has taken with it, as a sentence after others; empty for none."""
    left = {game.id for _, game in now.event.games}
    gone = [str(game.id) for _, game in before.event.games if game.id not in left]
    return f" Taken back, since the old result led to it: game {', '.join(gone)}." if gone else ""


COMMANDS: Final[tuple[type[Command[Done]], ...]] = (EventRule, EventReplay, EventTakeBack)
