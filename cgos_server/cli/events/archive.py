"""`cgos-server event sgf`: all games of an event, as SGF.

Must not know: how games and archives are written.
"""

from __future__ import annotations

import functools
from pathlib import Path

import click

from cgos_server.cli.common import Setup, configured, json_option
from cgos_server.cli.games.writing import Stream, target_argument, write_stream
from cgos_server.presentation.export_forms import Joined, Zip
from cgos_server.presentation.exports import game_files
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.reading.history import History


@click.command("sgf")
@click.argument("event")
@target_argument
@json_option
@configured
def event_sgf(setup: Setup, event: str, target: Path, as_json: bool) -> None:
    """The ended games of EVENT as one SGF collection, or as an archive of files.

    FILE is an archive where its name ends in .zip, a file a game; else one collection. - is standard output. Games
    carry the event's name (EV) and the number of its round (RO); those that were void or taken back are among them.
    """
    wanted = GameFilter(event=event, running=False)

    async def ask(history: History) -> Stream:
        newest = await history.games.find(wanted, 1)
        return Stream(
            chunks=history.bulk.details(wanted),
            form=Zip() if target.suffix == ".zip" else Joined(),
            last=newest[0].id if newest else 0,
            number=lambda row: row.game.id,
            rows=functools.partial(game_files, place=setup.config.server.name, event=event),
        )

    write_stream(setup, target, ask, as_json=as_json)
