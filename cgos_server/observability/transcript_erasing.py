"""Names that go from transcripts: files of bots that were erased, and their names in the files of all others.

Must not know: why, who may have it done.
"""

from __future__ import annotations

import base64
import contextlib
import os
import shutil
from collections.abc import Callable, Collection
from pathlib import Path

from cgos_server.observability.transcript_files import ENTRY, MESSAGE_MARKS, PACKED_MARKS, unpacked


def erase(folder: Path, bots: Collection[int], renamed: Callable[[str], str]) -> None:
    """Remove the transcripts of these bots, and have all others say what `renamed` makes of their lines. A file is
    replaced whole or not at all. Raises OSError.

    Nobody else may write there meanwhile.
    """
    for bot in bots:
        shutil.rmtree(folder / str(bot), ignore_errors=True)
    if not folder.is_dir():
        return
    for path in sorted(folder.glob("*/*")):
        old = path.read_bytes()
        new = b"\n".join(_line(line, renamed) for line in old.split(b"\n"))
        if new != old:
            _replace(path, new)


def _line(line: bytes, renamed: Callable[[str], str]) -> bytes:
    entry = ENTRY.fullmatch(line)
    if entry is not None and entry[2] in PACKED_MARKS:
        message = unpacked(base64.b64decode(entry[3]))
        new = _text(message, renamed)
        return line if new == message else entry[1] + MESSAGE_MARKS[PACKED_MARKS.index(entry[2])] + new
    return _text(line, renamed)


def _text(line: bytes, renamed: Callable[[str], str]) -> bytes:
    return renamed(line.decode(errors="surrogateescape")).encode(errors="surrogateescape")


def _replace(path: Path, data: bytes) -> None:
    new = path.with_suffix(".new")
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    old = path.stat()
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        if os.geteuid() == 0:  # the server goes on with it, as whatever user it is
            with contextlib.suppress(PermissionError):
                os.fchown(handle, old.st_uid, old.st_gid)
    os.utime(new, ns=(old.st_atime_ns, old.st_mtime_ns))  # by which it is swept
    os.replace(new, path)
