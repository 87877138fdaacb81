"""Whether the system lets the server open as many connections as it is configured for."""

from __future__ import annotations

import msgspec

from cgos_server.cli.doctor.findings import Finding, ok, unknown, warning, wrong

_VERY_FEW = 100
"""Connections; with room for fewer nobody means to run a server."""


class OpenFiles(msgspec.Struct, frozen=True, kw_only=True):
    """A process's limits of open files; None is no limit.

    :ivar whose: in words
    :ivar used: files that are open now; None where that cannot be seen, or nothing runs
    """

    whose: str
    soft: int | None
    hard: int | None
    used: int | None = None


def judge_files(limit: OpenFiles | str, connections: int, spare: int) -> list[Finding]:
    """:param limit: or why it cannot be seen
    :param connections: `limits.connections`
    :param spare: files that the server needs besides
    """
    if isinstance(limit, str):
        return [unknown(f"the limit of open files: {limit}")]
    # The server raises its own limit as far as it may.
    most = limit.hard if limit.used is None else limit.soft
    findings = []
    if most is None or most - spare >= connections:
        findings.append(ok(f"open files: room for {connections} connections ({limit.whose}: {_limit(most)})"))
    else:
        room = max(1, most - spare)
        findings.append(
            (wrong if room < _VERY_FEW else warning)(
                f"{limit.whose} may open {most} files: that is room for {room} of {connections} connections.",
                f"Allow {connections + spare}: LimitNOFILE= of the systemd unit, --ulimit nofile= of a container, "
                f"ulimit -n in a shell; or lower limits.connections to {room}.",
            )
        )
    if limit.used is not None and limit.soft is not None and limit.used > 0.9 * limit.soft:
        findings.append(
            wrong(
                f"{limit.whose} has {limit.used} of {limit.soft} files open.",
                "At the limit nobody gets in: see who is connected (cgos-server status), and allow more.",
            )
        )
    return findings


def judge_backlog(most: int | str, backlog: int) -> list[Finding]:
    """:param most: the system's `somaxconn`, or why it cannot be seen
    :param backlog: `listen.backlog`
    """
    if isinstance(most, str):
        return [unknown(f"the system's backlog: {most}")]
    if most >= backlog:
        return []
    return [
        warning(
            f"the system lets {most} connections wait (net.core.somaxconn), listen.backlog has {backlog}.",
            f"sysctl -w net.core.somaxconn={backlog}, and write it into /etc/sysctl.d: many bots that come back at "
            "once are refused otherwise.",
        )
    ]


def _limit(number: int | None) -> str:
    return "no limit" if number is None else str(number)
