"""`cgos-server event export`: an event as a file.

Read from the database, whether a server runs or not. Must not know: the live server, what is in the files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, cast, get_args

import click

from cgos_protocol.errors import Code, Invalid
from cgos_server.cli.common import Setup, configured
from cgos_server.cli.files import overwrite_option, write
from cgos_server.cli.output import say
from cgos_server.cli.reading import read
from cgos_server.presentation.events.files import FileWord, file_of, losses
from cgos_server.presentation.events.reading import ReadEvents

_ENDINGS: Final[dict[str, FileWord]] = {".json": "json", ".trf": "trf16", ".csv": "csv", ".txt": "text"}


@click.command("export")
@click.argument("event")
@click.argument("file", type=click.Path(path_type=Path), default=Path("-"))
@click.option(
    "--format",
    "word",
    type=click.Choice(get_args(FileWord)),
    help="Of the file; without it as the ending of FILE says, or JSON on standard output.",
)
@overwrite_option
@configured
def export_event(setup: Setup, event: str, file: Path, word: str | None, overwrite: bool) -> None:
    """Write EVENT to FILE: everything as JSON, a tournament report, a table, or text for people.

    JSON carries everything, and the commands of `cgos-server tournament` read it; what the others do not hold is said.
    """
    kind = cast(FileWord, word) if word is not None else _kind_of(file)
    record = read(setup, lambda history: ReadEvents(history).named(event))
    write(file, file_of(record, kind), overwrite=overwrite)
    if str(file) != "-":
        for sentence in losses(record, kind):
            say(sentence)


def _kind_of(file: Path) -> FileWord:
    """Raises Refused where the name says nothing."""
    if str(file) == "-":
        return "json"
    if file.suffix.lower() not in _ENDINGS:
        endings = ", ".join(_ENDINGS)
        raise Invalid(Code.FILE_ENDING, f"{file} says no format. Use {endings}, or give --format.")
    return _ENDINGS[file.suffix.lower()]
