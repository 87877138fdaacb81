"""Whether there is room on the disk and whether its file system is fit for a database."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from cgos_server.cli.doctor.findings import Finding, ok, warning, wrong
from cgos_server.presentation.sizes import size

MIB = 1 << 20
_LITTLE, _ALARMING = 1024 * MIB, 256 * MIB
_FEW_DAYS, _VERY_FEW_DAYS = 30.0, 3.0
_FEW_INODES = 1_000

_NETWORK = "it lies on another machine: SQLite's write-ahead log needs memory that its processes share"
_GONE = "what lies in it is gone with a restart of the machine"
_UNFIT: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "glusterfs", "fuse.sshfs", "afs"), _NETWORK),
        **dict.fromkeys(("tmpfs", "ramfs", "devtmpfs"), _GONE),
        "overlay": "it is a container's own layer, which goes with the container",
    }
)


class Disk(msgspec.Struct, frozen=True, kw_only=True):
    """A file system by a directory in it.

    :ivar what: what lies there
    :ivar free: bytes that this user may still take
    :ivar inodes: files that can still be made; None where the file system does not count them
    :ivar kind: its type as the kernel calls it, empty where that is not known
    :ivar holds_sqlite: a SQLite database lies in it
    """

    what: str
    path: str
    free: int
    size: int
    inodes: int | None
    kind: str
    read_only: bool
    holds_sqlite: bool = False


def judge(disk: Disk, bytes_a_day: float | None) -> list[Finding]:
    """:param bytes_a_day: by which it grows at the pace of the last days; None where that is not known"""
    findings = [_room(disk, bytes_a_day), *_fit(disk)]
    if disk.read_only:
        findings.append(wrong(f"{disk.path} ({disk.what}) can only be read.", "Mount it for writing; see dmesg first."))
    if disk.inodes is not None and disk.inodes < _FEW_INODES:
        findings.append(
            wrong(f"{disk.path} ({disk.what}) has room for {disk.inodes} more files.", "Remove many small files there.")
        )
    return findings


def _room(disk: Disk, bytes_a_day: float | None) -> Finding:
    sentence = f"{disk.what}: {size(disk.free)} of {size(disk.size)} free in {disk.path}"
    days = disk.free / bytes_a_day if bytes_a_day else None
    if days is not None:
        sentence += f", enough for {_days(days)} at the pace of the last week ({size(round(bytes_a_day or 0))} a day)"
    remedy = "Make room, or move it to a larger disk; when it is full, moves wait and the server stops with code 74."
    if disk.free < _ALARMING or (days is not None and days < _VERY_FEW_DAYS):
        return wrong(f"{sentence}.", remedy)
    if disk.free < _LITTLE or (days is not None and days < _FEW_DAYS):
        return warning(f"{sentence}.", remedy)
    return ok(sentence)


def _days(days: float) -> str:
    return "years" if days > 730 else f"{days:.0f} days" if days >= 10 else f"{days:.1f} days"


def _fit(disk: Disk) -> list[Finding]:
    reason = _UNFIT.get(disk.kind)
    if reason is None or (reason is _NETWORK and not disk.holds_sqlite):
        return []
    sentence = f"{disk.path} ({disk.what}) is on {disk.kind}: {reason}."
    if disk.kind == "overlay":
        return [warning(sentence, "Give the container a volume there, so that the data outlive it.")]
    return [wrong(sentence, "Move it to a disk of this machine (ext4, xfs, btrfs, zfs).")]
