"""Writes what commands export as a stream of rows, and says how far it is.

Must not know: what is exported.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from cgos_server.cli.common import Setup
from cgos_server.cli.files import whole
from cgos_server.cli.output import print_json, say
from cgos_server.cli.progress import progress_bar
from cgos_server.cli.reading import read
from cgos_server.presentation.export_forms import Form, stream
from cgos_server.presentation.words import count
from cgos_server.storage.reading.history import History

_INCARNATION: Final = "incarnation"

incarnation_option = click.option(
    "--incarnation",
    metavar="WORD",
    expose_value=False,
    callback=lambda context, _option, word: context.meta.update({_INCARNATION: word}),
    help="What the export that ended with N said of its database; refused where it was restored or copied since.",
)
target_argument = click.argument("target", metavar="FILE", type=click.Path(path_type=Path))


class Stream(NamedTuple):
    """What is to be written.

    :ivar chunks: what is read, in portions
    :ivar last: number of the last one that there is, to tell how far it is
    :ivar number: the number of one
    :ivar rows: makes rows of a portion
    """

    chunks: AsyncIterator[Sequence[Any]]
    form: Form[Any]
    last: int
    number: Callable[[Any], int]
    rows: Callable[[Any], Sequence[Any]] = list


def write_stream(setup: Setup, target: Path, ask: Callable[[History], Awaitable[Stream]], *, as_json: bool) -> None:
    """Write the stream, and say how many rows, and the number of the last one."""
    if as_json and str(target) == "-":
        raise click.UsageError("--json goes with a file.")
    rows = last = 0
    incarnation: str | None = click.get_current_context().meta.get(_INCARNATION)

    async def write(history: History) -> None:
        nonlocal incarnation
        incarnation = await history.server.check_cursor(incarnation)
        wanted = await ask(history)

        async def counted() -> AsyncIterator[Sequence[Any]]:
            nonlocal rows, last
            async for chunk in wanted.chunks:
                rows += len(chunk)
                last = wanted.number(chunk[-1])
                progress(last, max(wanted.last, last))
                yield chunk

        with whole(target) as file, progress_bar(str(target)) as progress:
            async for portion in stream(counted(), wanted.rows, wanted.form):
                file.write(portion)

    read(setup, write)
    if as_json:
        print_json({"file": str(target), "rows": rows, "last": last, "incarnation": incarnation})
    else:
        say(f"{count(rows, 'row')} to {target}; the last one is number {last} (--incarnation {incarnation}).")
