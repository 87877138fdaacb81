"""What the machine tells of itself: its clock, its disks, who owns a file.

Must not know: what is good enough.
"""

from __future__ import annotations

import ctypes
import os
import pwd
import stat
from collections.abc import Iterable
from pathlib import Path

from cgos_server.cli.doctor.checks.clocks import Kept
from cgos_server.cli.doctor.checks.disks import Disk
from cgos_server.cli.doctor.checks.permissions import Entry

_UNSYNCHRONIZED = 0x40
_ERROR = 5
"""Of `adjtimex`: status bit and answer that both say that nobody keeps the clock."""


class _Timex(ctypes.Structure):
    """The beginning of `struct timex` of Linux, and room for the rest."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_char * 256),
    )


def clock() -> Kept | str:
    """Whether somebody keeps the clock, or why the kernel does not say."""
    try:
        ask = ctypes.CDLL(None, use_errno=True).adjtimex
    except (AttributeError, OSError):
        return "only Linux tells that"
    timex = _Timex(modes=0)  # only asks
    answer = ask(ctypes.byref(timex))
    if answer < 0:
        return os.strerror(ctypes.get_errno())
    kept = answer != _ERROR and not timex.status & _UNSYNCHRONIZED
    return Kept(synchronized=kept, error_us=timex.maxerror)


def disk(path: Path, what: str, *, holds_sqlite: bool = False) -> Disk:
    """The file system in which `path` lies, or will lie. Raises OSError."""
    there = next(each for each in (path, *path.parents) if each.exists())
    room = os.statvfs(there)
    return Disk(
        what=what,
        path=str(path),
        free=room.f_bavail * room.f_frsize,
        size=room.f_blocks * room.f_frsize,
        inodes=room.f_favail if room.f_files else None,
        kind=_kind(there),
        read_only=bool(room.f_flag & os.ST_RDONLY),
        holds_sqlite=holds_sqlite,
    )


def _kind(path: Path) -> str:
    """The type of a file system, by the mount that `path` lies below; empty where the system does not tell."""
    try:
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
        device = path.stat().st_dev
    except OSError:
        return ""
    number = f"{os.major(device)}:{os.minor(device)}"
    kinds = [line.partition(" - ")[2].split()[0] for line in lines if line.split()[2] == number]
    return kinds[-1] if kinds else ""


def entries(paths: Iterable[Path]) -> list[Entry]:
    """Those that are there. Raises OSError where they cannot be seen."""
    there = []
    for path in paths:
        try:
            about = path.stat()
        except FileNotFoundError:
            continue
        there.append(Entry(path=path.name, mode=stat.S_IMODE(about.st_mode), owner=about.st_uid))
    return there


def user(number: int) -> str:
    """The name of a user, or the number where nobody has it."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)
