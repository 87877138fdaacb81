"""Whether backups are taken when they are due, and whether others can read them.

Must not know: what is in a backup, how one is taken.
"""

from __future__ import annotations

import msgspec

from cgos_server.cli.doctor.checks.permissions import Entry
from cgos_server.cli.doctor.findings import Finding, ok, warning, wrong
from cgos_server.presentation.words import moment

_DAY_MS = 86_400_000
_GRACE_MS = 2 * 3_600_000
"""A backup that is due may take so long."""
_OLD_DAYS = 7
_OTHERS, _WRITERS = 0o077, 0o022


class Backups(msgspec.Struct, frozen=True, kw_only=True):
    """What lies in the folder of backups.

    :ivar around: the folder itself; None where it is not there
    :ivar latest_at: when the latest one was taken, Unix milliseconds, but for those that seem to be of the future; None
        where there is none
    :ivar files: the backups themselves
    """

    folder: str
    around: Entry | None = None
    latest_at: int | None = None
    files: tuple[Entry, ...] = ()


def judge(backups: Backups, due_at: int | None, now_ms: int, server: tuple[int, str]) -> list[Finding]:
    """:param due_at: when the latest backup was due, Unix milliseconds; None where the server takes none by itself
    :param server: number and name of the user who runs the server, or is to
    """
    closed = _closed(backups, server) if due_at is not None else []
    return [_age(backups, due_at, now_ms), *_readers(backups), *closed]


def _closed(backups: Backups, server: tuple[int, str]) -> list[Finding]:
    number, name = server
    around = backups.around
    if around is None or number in (0, around.owner) or around.mode & _WRITERS:
        return []
    remedy = f"chown {name} {backups.folder}"
    return [wrong(f"{backups.folder} belongs to another user than {name}, whose server cannot write there.", remedy)]


def _age(backups: Backups, due_at: int | None, now_ms: int) -> Finding:
    latest = backups.latest_at
    last = f"the latest backup in {backups.folder} is of {moment(latest)}" if latest is not None else ""
    if due_at is None:
        remedy = "Set backup.at, such as 03:30, or see that another program takes them each day."
        if latest is None:
            return warning(f"no backup is scheduled, and none is in {backups.folder}.", remedy)
        if now_ms - latest > _OLD_DAYS * _DAY_MS:
            return warning(f"no backup is scheduled, and {last}.", remedy)
        return ok(f"{last}; no backup is scheduled")
    remedy = "Start the server, which takes one that was missed, or run `cgos-server db backup`; the log says why."
    if latest is None:
        return warning(f"there is no backup in {backups.folder} yet.", remedy)
    if latest < due_at and now_ms - due_at > _GRACE_MS:
        return wrong(f"{last}, and one was due at {moment(due_at)}.", remedy)
    return ok(last)


def _readers(backups: Backups) -> list[Finding]:
    exposed = [file.path for file in backups.files if file.mode & _OTHERS]
    if not exposed:
        return []
    some = ", ".join(exposed[:3]) + (f" and {len(exposed) - 3} more" if len(exposed) > 3 else "")
    return [
        wrong(
            f"others than the server's user may read or write {some}.",
            f"chmod 600 the files in {backups.folder}: hashes of passwords and addresses of bots are in them.",
        )
    ]
