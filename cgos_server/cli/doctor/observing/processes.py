"""What the system tells of processes: their limits, their state, who listens where, who has a file open.

Linux tells it below ``/proc``; elsewhere, and of other users' processes, most of it stays unknown. Must not know: which
process is whose.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

from cgos_server.cli.doctor.checks.limits import OpenFiles

_PROC = Path("/proc")
_LISTENING = "0A"
"""The state of a socket in ``/proc/net/tcp``."""


def open_files(pid: int | None) -> OpenFiles | str:
    """The limits of a process, or why they cannot be seen; None: those that a server gets that is started from here."""
    if pid is None:
        soft, hard = (None if limit < 0 else limit for limit in resource.getrlimit(resource.RLIMIT_NOFILE))
        return OpenFiles(whose="what is started from here", soft=soft, hard=hard)
    try:
        lines = (_PROC / str(pid) / "limits").read_text().splitlines()
        used = len(os.listdir(_PROC / str(pid) / "fd"))
    except OSError as error:
        return f"those of process {pid} cannot be seen ({error.strerror})"
    both = next(line.split()[3:5] for line in lines if line.startswith("Max open files"))
    soft, hard = (None if limit == "unlimited" else int(limit) for limit in both)
    return OpenFiles(whose=f"the server (process {pid})", soft=soft, hard=hard, used=used)


def most_waiting() -> int | str:
    """How many connections may wait on one socket, or why that cannot be seen."""
    try:
        return int((_PROC / "sys/net/core/somaxconn").read_text())
    except OSError as error:
        return f"/proc/sys/net/core/somaxconn cannot be read ({error.strerror})"


def state(pid: int) -> str:
    """The system's letter for what a process does; empty where that cannot be seen."""
    fields = _stat(pid)
    return fields[0] if fields else ""


def owner(pid: int) -> int | None:
    """The user who runs a process; None where there is none."""
    try:
        return (_PROC / str(pid)).stat().st_uid
    except OSError:
        return None


def exists(pid: int) -> bool:
    """Whether there is such a process."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def family(pid: int) -> frozenset[int]:
    """A process and all that it has started."""
    parents = {each: int(fields[1]) for each in _all() if (fields := _stat(each))}
    members = {pid}
    while more := {child for child, parent in parents.items() if parent in members} - members:
        members |= more
    return frozenset(members)


def listeners(port: int) -> dict[int, str]:
    """Processes that listen on a port of any address, number -> command; those that may be seen."""
    sockets = {f"socket:[{inode}]" for inode in _inodes(port)}
    return _holders(sockets.__contains__) if sockets else {}


def is_listened_on(port: int) -> bool:
    """Whether anybody listens on a port of any address, whoever it is; False where that cannot be seen."""
    return any(_inodes(port))


def readers(path: Path) -> dict[int, str]:
    """Processes that have a file open, number -> command; those that may be seen."""
    name = str(path.resolve())
    return _holders(name.__eq__)


def _holders(wanted: Callable[[str], bool]) -> dict[int, str]:
    """Processes one of whose open files `wanted` accepts, by what its link says."""
    return {pid: _command(pid) for pid in _all() if any(wanted(target) for target in _links(pid))}


def _inodes(port: int) -> Iterator[str]:
    for name in ("tcp", "tcp6"):
        try:
            lines = (_PROC / "net" / name).read_text().splitlines()[1:]
        except OSError:
            continue
        for fields in map(str.split, lines):
            if fields[3] == _LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                yield fields[9]


def _links(pid: int) -> Iterator[str]:
    folder = _PROC / str(pid) / "fd"
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        try:
            yield os.readlink(folder / name)
        except OSError:  # it was closed meanwhile
            continue


def _all() -> list[int]:
    try:
        return [int(name) for name in os.listdir(_PROC) if name.isdigit()]
    except OSError:
        return []


def _stat(pid: int) -> list[str]:
    """State, parent and so on, which stand behind the name in its parentheses."""
    try:
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _command(pid: int) -> str:
    try:
        words = (_PROC / str(pid) / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return "a program"
    return " ".join(words).strip()[:80] or "a program"
