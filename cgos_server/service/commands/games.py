"""What operators decide about games: who meets now, how a running one ends, whether a venue pairs.

Must not know: how games are begun and ended.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from cgos_protocol.api import people as api
from cgos_protocol.api.people import Done, EndedGame, Previewed
from cgos_protocol.errors import Code, Invalid
from cgos_protocol.games.base import Color
from cgos_protocol.ids import GameId
from cgos_protocol.lines import admin as cgos_admin
from cgos_server.core.pairing.registry import matchmakers
from cgos_server.service.commands.context import CommandContext
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.fields import Field, GameNumber, VenueName, reason_field
from cgos_server.service.commands.reasons import one_line
from cgos_server.service.commands.surfaces import ApiRoute, CommandLine, OperatorLine, PageForm
from cgos_server.service.control import ArrangedGame

Seconds = Annotated[int, Meta(ge=0, le=1_000_000)]
Method = Annotated[
    str | None,
    Field(
        body=Annotated[str, Meta(max_length=64)] | None,
        help="By this matchmaker; without it by the venue's own.",
        words=lambda: matchmakers().names,
    ),
]


class Match(Command[ArrangedGame], frozen=True, kw_only=True, tag="match"):
    """Let two bots play now.

    Seconds of main time, 0 for the venue's own; with `game` the new game begins with the first `moves` moves (all
    without it) of that old one.
    """

    allowed = Right.OPERATOR
    live = True
    audited = ("black", "black_s", "opening", "plies", "rated", "venue", "white", "white_s")
    surfaces = (
        CommandLine(
            "match",
            "Let WHITE and BLACK play now.\n\n"
            "Prints the number of their game. Both must be signed in and waiting. With clocks of its own, or from an "
            "old game, it changes no ratings.",
            arguments=("white", "black"),
        ),
        ApiRoute(
            "arrange_match",
            "POST",
            "/admin/matches",
            body="ArrangeMatch",
            body_says="Let two bots play now. Seconds of main time, 0 for the venue's own; with `game` it begins with "
            "the first `moves` moves (all without it) of that old one.",
            status=201,
        ),
        PageForm("/admin/games", "Begin it", title="Begin a game", fields=("venue", "black", "white")),
        OperatorLine(cgos_admin.Match),
    )

    venue: VenueName
    black: Annotated[str, Field(body=api.Name, label="Black")]
    white: Annotated[str, Field(body=api.Name, label="White")]
    white_s: Annotated[
        int, Field(body=Seconds, help="White's main time instead of the venue's.", metavar="SECONDS")
    ] = 0
    black_s: Annotated[
        int, Field(body=Seconds, help="Black's main time instead of the venue's.", metavar="SECONDS")
    ] = 0
    game: Annotated[
        GameId | None, Field(body=api.GameNumber | None, help="An old game to begin from.", metavar="GAME")
    ] = None
    moves: Annotated[
        int | None,
        Field(
            body=Annotated[int, Meta(ge=0, le=100_000)] | None,
            help="How many moves of it; without this all of them.",
            metavar="N",
        ),
    ] = None

    async def perform(self, context: CommandContext) -> ArrangedGame:
        opening = None
        if self.game is not None:
            opening = await context.game(self.game)
            if opening is None:
                raise Invalid(Code.BAD_GAME, f"There is no game {self.game} to begin from.")
        arranged = context.server.match(
            self.venue,
            white=self.white,
            black=self.black,
            mains_s=(self.white_s, self.black_s),
            opening=opening,
            plies=self.moves,
            actor=self.actor,
        )
        await context.commit(
            self,
            f"game {arranged.game}",
            [],
            venue=arranged.venue,
            white=arranged.white,
            black=arranged.black,
            white_s=self.white_s,
            black_s=self.black_s,
            opening=self.game or 0,
            plies=arranged.plies,
            rated=arranged.rated,
        )
        return arranged


class GameAbort(Command[EndedGame], frozen=True, kw_only=True, tag="abort"):
    """End a running game.

    Without a result, or as ``B+Forfeit`` or ``W+Forfeit``; `reason` is told to both sides.
    """

    allowed = Right.OPERATOR
    live = True
    audited = ("black", "reason", "result", "venue", "white")
    surfaces = (
        CommandLine("abort", "End the running game number GAME."),
        ApiRoute(
            "abort_game",
            "POST",
            "/admin/games/{game}/abort",
            body="AbortGame",
            body_says="End a running game: null for no result.",
            required=("reason",),
        ),
        PageForm(
            "/admin/games",
            "End it",
            title="End a running game",
            warning="Game {game} will end at once as {result}. Both sides are told: {reason}",
            grave=True,
            needed=("reason",),
        ),
        OperatorLine(cgos_admin.Abort),
    )

    game: GameNumber
    result: Annotated[
        str | None,
        Field(
            body=Literal["B+Forfeit", "W+Forfeit"] | None,
            caption="Result",
            help="A forfeit is rated, an abort is not.",
            none_word="Abort",
        ),
    ] = None
    reason: Annotated[str, reason_field("both sides are told", "Told to both sides.")] = ""

    async def perform(self, context: CommandContext) -> EndedGame:
        winner, reason = _ruling(self.result), one_line(self.reason)
        ended = context.server.end_game(self.game, winner, reason or "By ruling of the operator")
        await context.commit(
            self,
            f"game {ended.game}",
            [],
            venue=ended.venue,
            white=ended.white,
            black=ended.black,
            result=ended.result,
            reason=reason,
        )
        return ended


class VenuePause(Command[Done], frozen=True, kw_only=True, tag="pause"):
    """Pair nobody; running games go on.

    Until it is resumed or the server starts again.
    """

    allowed = Right.OPERATOR
    live = True
    surfaces = (
        CommandLine(
            "pause",
            "Pair nobody in a venue until `resume`.\n\n"
            "Or until the server starts again. Running games go on, and `match` still begins new ones.",
        ),
        ApiRoute("pause_venue", "POST", "/admin/venues/{venue}/pause"),
        PageForm(
            "/admin/venues",
            "Pause pairing",
            place="venue",
            when=lambda venue: venue is not None and not venue.paused,
            warning="Nobody will be paired in {venue} until it is resumed. Running games go on.",
        ),
        OperatorLine(cgos_admin.Pause),
    )

    venue: VenueName

    async def perform(self, context: CommandContext) -> Done:
        context.server.pause(self.venue, True)
        await context.commit(self, self.venue, [])
        return Done(
            sentence=f"Nobody is paired in {self.venue} until it is resumed or the server starts again. Running games "
            "go on."
        )


class VenueResume(Command[Done], frozen=True, kw_only=True, tag="resume"):
    """Pair again."""

    allowed = Right.OPERATOR
    live = True
    surfaces = (
        CommandLine("resume", "Pair again in a venue."),
        ApiRoute("resume_venue", "POST", "/admin/venues/{venue}/resume"),
        PageForm(
            "/admin/venues",
            "Resume pairing",
            place="venue",
            when=lambda venue: venue is not None and venue.paused,
        ),
        OperatorLine(cgos_admin.Resume),
    )

    venue: VenueName

    async def perform(self, context: CommandContext) -> Done:
        context.server.pause(self.venue, False)
        await context.commit(self, self.venue, [])
        return Done(sentence=f"{self.venue} pairs again.")


class Preview(Command[Previewed], frozen=True, kw_only=True, tag="pairing preview"):
    """What would be paired now; nothing comes of it.

    By the venue's own matchmaker or by another one; `options` are the method's, by their words in the configuration.
    """

    allowed = Right.OPERATOR
    audited = None
    live = True
    surfaces = (
        CommandLine(
            "pairing preview",
            "What would be paired now.\n\nAmong the bots that wait in the running server. Nothing comes of it.",
            server_only=True,
        ),
        ApiRoute(
            "preview_pairing",
            "POST",
            "/admin/venues/{venue}/preview",
            body="PreviewPairing",
            body_says="What would be paired, by the venue's own method or another one. `options` by their words in the "
            "configuration.",
        ),
        PageForm(
            "/admin/venues",
            "Show the next pairing",
            place="venue",
            when=lambda venue: venue is not None,
            fields=("venue",),
        ),
    )

    venue: VenueName
    method: Method = None
    options: Annotated[
        dict[str, str | int | float | bool],
        Field(
            body=Annotated[dict[str, str | int | float | bool], Meta(max_length=50)],
            help="An option of the matchmaker, as in a configuration.",
            metavar="NAME=VALUE",
        ),
    ] = msgspec.field(default_factory=dict)

    async def perform(self, context: CommandContext) -> Previewed:
        return await context.server.preview(self.venue, self.method, self.options)


def _ruling(result: str | None) -> Color | None:
    """Who wins by forfeit, None for nobody. Raises Refused for what an operator cannot give."""
    match (result or "abort").lower():
        case "abort":
            return None
        case "b+forfeit":
            return Color.BLACK
        case "w+forfeit":
            return Color.WHITE
    raise Invalid(Code.RESULT, "A game can be given B+Forfeit or W+Forfeit, which is rated, or Abort, which is not.")


COMMANDS: Final = (GameAbort, VenuePause, VenueResume, Match, Preview)
