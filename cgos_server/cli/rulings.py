"""`cgos-server match`, `abort`, `pause`, `resume` and `kick`: an operator's rulings in the running server; `correct`
rules on a game that has ended.

Must not know: how they are done; the requests are :mod:`cgos_server.service.requests`'s.
"""

from __future__ import annotations

import click

from cgos_server.cli.common import Setup, configured, game_number, json_option, one_venue
from cgos_server.cli.output import print_json, say
from cgos_server.cli.perform import perform, perform_and_say
from cgos_server.service.requests import (
    RESULTS,
    Arranged,
    Ended,
    GameAbort,
    GameCorrect,
    Kick,
    Match,
    VenuePause,
    VenueResume,
)

_WHERE = click.option("--venue", metavar="VENUE", help="The venue; needed where there are several.")
_SECONDS = click.IntRange(0)


@click.command()
@click.argument("white")
@click.argument("black")
@click.option(
    "--white-s", type=_SECONDS, default=0, metavar="SECONDS", help="White's main time instead of the venue's."
)
@click.option(
    "--black-s", type=_SECONDS, default=0, metavar="SECONDS", help="Black's main time instead of the venue's."
)
@click.option("--game", type=game_number, metavar="GAME", help="An old game to begin from.")
@click.option("--moves", type=click.IntRange(1), metavar="N", help="How many moves of it; without this all of them.")
@_WHERE
@json_option
@configured
def match(
    setup: Setup,
    white: str,
    black: str,
    white_s: int,
    black_s: int,
    game: int | None,
    moves: int | None,
    venue: str | None,
    as_json: bool,
) -> None:
    """Let WHITE and BLACK play now.

    Prints the number of their game. Both must be signed in and waiting. With clocks of its own, or from an old game,
    it changes no ratings.
    """
    where = one_venue(setup, venue)
    request = Match(venue=where, white=white, black=black, white_s=white_s, black_s=black_s, game=game, moves=moves)
    response = perform(setup, request)
    if not isinstance(response, Arranged):
        return
    made = response.game
    if as_json:
        print_json(made)
        return
    rated = "rated" if made.rated else "not rated"
    say(
        f"{made.white} ({made.white_label}, White) and {made.black} ({made.black_label}, Black) begin in {made.venue}, "
        f"{rated}. The number of the game:"
    )
    click.echo(made.game)


@click.command()
@click.argument("game", type=game_number)
@click.option(
    "--result",
    type=click.Choice(["Abort", "B+Forfeit", "W+Forfeit"], case_sensitive=False),
    default="Abort",
    show_default=True,
    help="A forfeit is rated, an abort is not.",
)
@click.option("--reason", default="", metavar="TEXT", help="Told to both sides.")
@json_option
@configured
def abort(setup: Setup, game: int, result: str, reason: str, as_json: bool) -> None:
    """End the running game number GAME."""
    response = perform(setup, GameAbort(game=game, result=result, reason=reason))
    if not isinstance(response, Ended):
        return
    ended = response.game
    if as_json:
        print_json(ended)
    else:
        say(f"Game {ended.game} of {ended.white} (White) and {ended.black} (Black) is ended: {ended.result}.")


@click.command()
@click.argument("game", type=game_number)
@click.option(
    "--result",
    type=click.Choice(RESULTS, case_sensitive=False),
    required=True,
    help="What it counts as from now on; Void is nothing.",
)
@click.option("--reason", required=True, metavar="TEXT", help="Why: kept with the game and shown (200 characters).")
@configured
def correct(setup: Setup, game: int, result: str, reason: str) -> None:
    """Change what the ended game GAME counts as.

    Ratings change from now on; what was published before stays as it was.
    """
    perform_and_say(setup, GameCorrect(game=game, result=result, reason=reason))


@click.command()
@_WHERE
@configured
def pause(setup: Setup, venue: str | None) -> None:
    """Pair nobody in a venue until `resume`.

    Or until the server starts again. Running games go on, and `match` still begins new ones.
    """
    perform_and_say(setup, VenuePause(venue=one_venue(setup, venue)))


@click.command()
@_WHERE
@configured
def resume(setup: Setup, venue: str | None) -> None:
    """Pair again in a venue."""
    perform_and_say(setup, VenueResume(venue=one_venue(setup, venue)))


@click.command()
@click.argument("name")
@click.option("--reason", required=True, metavar="TEXT", help="Why: told to it and kept.")
@configured
def kick(setup: Setup, name: str, reason: str) -> None:
    """Close the connections of the bot NAME.

    It may come back: `bot disable` keeps it out.
    """
    perform_and_say(setup, Kick(bot=name, reason=reason))
