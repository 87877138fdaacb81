"""Whether others can look into the data directory, and whether its files are the server's own."""

from __future__ import annotations

import msgspec

from cgos_server.cli.doctor.findings import Finding, ok, warning, wrong

_ALL, _GROUP = 0o007, 0o070


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A file or directory.

    :ivar mode: its permission bits
    :ivar owner: the number of the user
    """

    path: str
    mode: int
    owner: int


def judge(directory: Entry, files: list[Entry], server: tuple[int, str], names: dict[int, str]) -> list[Finding]:
    """:param files: the database, what lies beside it, and the control socket
    :param server: number and name of the user who runs the server, or is to
    :param names: users by their numbers
    """
    findings = []
    if directory.mode & (_ALL | _GROUP):
        exposed = [file.path for file in files if file.mode & (_ALL | _GROUP)]
        can = f"can look into {directory.path} (mode {directory.mode:04o})"
        can += f", where they may read or write {', '.join(exposed)}" if exposed else ""
        who, level = ("all users", wrong) if directory.mode & _ALL else ("users of its group", warning)
        remedy = f"chmod 700 {directory.path}: hashes of passwords and all that bots said lie there."
        findings.append(level(f"{who} of this machine {can}.", remedy))
    number, name = server
    others = [entry for entry in (directory, *files) if entry.owner != number]
    if others:
        whose = ", ".join(f"{entry.path} to {names.get(entry.owner, entry.owner)}" for entry in others)
        findings.append(
            wrong(
                f"the server is {name}'s, and these belong to somebody else: {whose}.",
                f"Stop the server, chown -R {name} {directory.path}, and start it.",
            )
        )
    return findings or [ok(f"{directory.path} and its files are {name}'s alone")]
