"""`cgos-server tournament results`: many results at once, all or none.

Must not know: how lists of results are laid out, how an event's record changes.
"""

from __future__ import annotations

from pathlib import Path

import click

from cgos_protocol.errors import Code, Invalid, NotFound, Refused
from cgos_server.cli.common import json_option
from cgos_server.cli.files import overwrite_option
from cgos_server.cli.output import print_json, say
from cgos_server.cli.tournaments.event_files import (
    EventChoice,
    GameShown,
    bytes_of,
    player,
    save,
    shown_game,
)
from cgos_server.tournaments.amending import amend
from cgos_server.tournaments.base import Event
from cgos_server.tournaments.event import Placed, game_between, game_by_id
from cgos_server.tournaments.files.results import Reported, read
from cgos_server.tournaments.scores import RESULTS
from cgos_server.tournaments.words import counted


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("results", type=click.Path(path_type=Path))
@click.option("--correct", "may_change", is_flag=True, help="Results may replace others that were entered before.")
@click.option("--take-back", is_flag=True, help="Also games with results that results before led to.")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="Write there instead of to FILE.")
@overwrite_option
@json_option
def results(
    file: Path, results: Path, may_change: bool, take_back: bool, output: Path | None, overwrite: bool, as_json: bool
) -> None:
    """Enter all of RESULTS into FILE, or none where one of them cannot be.

    RESULTS (- is standard input) has lines WHITE BLACK SCORE or ID SCORE, or is a CSV table with columns white, black,
    result and if need be round, or game (an id) in place of the first two, or has the headers of PGN games: White,
    Black, Result, Round, GameId. Players, ids and scores are as for `result`; PGN games with the result * are left out.
    A result that is there already is none to enter; another one is refused without --correct.
    """
    if str(file) == str(results) == "-":
        raise click.UsageError("Standard input is one file only: name FILE or RESULTS.")
    opened, event = EventChoice(file).open(needs_system=False)
    entered: list[GameShown] = []
    taken_back: list[GameShown] = []
    lines: dict[int, int] = {}
    for one in read(bytes_of(results)):
        try:
            placed = _game(event, one)
            if placed.game.id in lines:
                raise Invalid(Code.TWICE, f"Line {lines[placed.game.id]} has a result of game {placed.game.id} too.")
            lines[placed.game.id] = one.line
            before, after = placed.game.result, RESULTS[one.score]
            if before not in (None, after) and not may_change:
                raise Invalid(
                    Code.HAS_RESULT,
                    f"Game {placed.game.id} has another result already. Take the line out, or --correct.",
                )
            if before != after:
                before_it, (event, gone) = event, amend(event, placed.game.id, after, take_back)
                taken_back += (shown_game(before_it, each) for each in gone)
                entered.append(shown_game(event, game_by_id(event, placed.game.id)))
        except Refused as refusal:
            where = f"Line {one.line} of {results}"
            raise Refused.of(refusal.code, f"{where}: {refusal.sentence} Nothing has been entered.") from refusal
    saved = save(output or file, opened, event, beside_json=as_json, overwrite=overwrite)
    if as_json:
        print_json({"saved": saved, "games": entered, "taken_back": taken_back})
    else:
        for one_game in taken_back:
            say(f"Taken back, since a result led to it: game {one_game.id} of round {one_game.round}.")
        say(f"{counted(len(entered), 'result')} entered, {len(lines) - len(entered)} were there already.")


def _game(event: Event, one: Reported) -> Placed:
    """The game that a result is of. Where one between these two is open, it is that one, else the only one."""
    if one.score not in RESULTS:
        raise Invalid(Code.SCORE, f"{one.score!r} is no score. Give one of {', '.join(RESULTS)}.")
    if one.id is not None:
        placed = game_by_id(event, one.id)
        _require_same(event, placed, one)
        return placed
    white, black = player(event, one.white), player(event, one.black)
    try:
        return game_between(event, white, black, one.round, is_open=True)
    except NotFound as refusal:
        if refusal.code is not Code.NO_GAME:
            raise
        return game_between(event, white, black, one.round, is_open=False)


def _require_same(event: Event, placed: Placed, one: Reported) -> None:
    """Raises Refused where a line names a game by its id, and other players or another round beside it."""
    for word, id_ in ((one.white, placed.game.white), (one.black, placed.game.black)):
        if word and player(event, word) != id_:
            raise Invalid(Code.OTHER_GAME, f"Game {placed.game.id} is not one of {one.white} and {one.black}.")
    if one.round not in (None, placed.round):
        raise Invalid(Code.OTHER_GAME, f"Game {placed.game.id} is of round {placed.round}, not {one.round}.")
