"""Writes what commands make into files: the whole file or nothing, and never over what cannot be made again."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final, cast

import click

from cgos_protocol.errors import Code, Conflict, Invalid, Refused
from cgos_server.cli.output import say
from cgos_server.presentation.words import count

overwrite_option = click.option(
    "--overwrite", is_flag=True, help="Replace the file even where it holds results that the new one does not have."
)

_EXAMINED: Final = 64 * 1024 * 1024
"""Bytes of a file that are searched for what cannot be made again; no event is as long."""

_SECRETS: Final = (".key", ".pem", ".password", ".token")


def write(target: Path, data: bytes, *, source: bytes = b"", overwrite: bool | None = None) -> None:
    """Write a whole file, and say so. See :func:`whole`."""
    with whole(target, data, source=source, overwrite=overwrite) as file:
        file.write(data)
    if str(target) != "-":
        say(f"Written to {target}.")


@contextlib.contextmanager
def whole(target: Path, new: bytes = b"", *, source: bytes = b"", overwrite: bool | None = None) -> Iterator[IO[bytes]]:
    """Open a file that takes its name when it is whole, packed where that ends in .gz; - is standard output.

    Links, devices and pipes stay what they are.

    :param new: what will be written, where it may be an event
    :param source: what the command has read: a file that still holds it is changed, not replaced
    :param overwrite: replace whatever the file holds; None: the command has no option that says so
    :raises Refused: where the file cannot be written, or holds what cannot be made again
    """
    if str(target) == "-":
        output = sys.stdout.buffer if sys.stdout else io.BytesIO()  # there is none where the shell has closed it
        yield output
        output.flush()
        return
    try:
        is_special = target.exists() and not target.is_file()
        if not is_special and not overwrite:
            _require_replaceable(target, new, source=source, has_option=overwrite is not None)
        with target.open("wb") if is_special else _replacement(target.resolve()) as raw:
            if target.suffix == ".gz":
                with gzip.GzipFile("", "wb", 6, raw, 0) as packed:
                    yield cast("IO[bytes]", packed)
            else:
                yield raw
    except OSError as error:
        raise Invalid(
            Code.CANNOT_WRITE,
            f"{target} cannot be written: {error.strerror}. Name a file in a directory that takes it.",
        ) from error


@contextlib.contextmanager
def _replacement(target: Path) -> Iterator[IO[bytes]]:
    """Open a file beside the target that takes its place, with the target's mode, unless something fails."""
    handle, temporary = tempfile.mkstemp(".part", f".{target.name[:100]}.", target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, target.stat().st_mode if target.exists() else 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _require_replaceable(target: Path, new: bytes, *, source: bytes, has_option: bool) -> None:
    """Raises Conflict where a file holds what cannot be made again, and the new one does not."""
    if not target.exists():
        return
    with target.open("rb") as file:
        old = file.read(_EXAMINED)
    held = "" if old == source else _irreplaceable(target, old, new)
    if held:
        ways = "take this one away first, or give --overwrite" if has_option else "or take this one away first"
        raise Conflict(Code.EXISTS, f"{target} holds {held} that would be lost. Name another file, {ways}.")


def _irreplaceable(target: Path, old: bytes, new: bytes) -> str:
    """What of a file cannot be made again and is not in the new one, in words; empty if nothing."""
    if old.startswith(b"SQLite format 3"):
        return "a database"
    if b"-----BEGIN " in old[:4096] or target.suffix in _SECRETS:
        return "a secret"
    with contextlib.suppress(ValueError, RecursionError):
        if tomllib.loads(old.decode()):
            return "a configuration"
    lost = Counter(what for what, *_ in (_entered(target.name, old) - _entered(target.name, new)).elements())
    return f"an event with {' and '.join(count(number, what) for what, number in lost.items())}" if lost else ""


def _entered(name: str, data: bytes) -> Counter[tuple[Any, ...]]:
    """The results and changes that people have entered into an event's file; nothing of other files."""
    # Only a file that is there already needs the formats of events.
    from cgos_server.tournaments.files import formats

    try:
        event = formats.read(name, data).event
    except Refused:
        return Counter()
    names = event.names
    games = [("result", number, names[game.black], names[game.white]) for number, game in event.games if game.result]
    return Counter([*games, *(("change", change) for change in event.changes)])


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
