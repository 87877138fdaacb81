"""Whether the ports that are configured are free, or held by this server itself."""

from __future__ import annotations

import msgspec

from cgos_server.cli.doctor.findings import Finding, ok, unknown, wrong


class Port(msgspec.Struct, frozen=True, kw_only=True):
    """A port that the configuration names.

    :ivar host: empty for all addresses
    :ivar problem: why the system does not give it; empty where it does
    :ivar forbidden: this user has no right to it, and nobody listens there; the server's service may have one
    :ivar busy: somebody listens there
    :ivar holders: processes that listen there, number -> command; empty where that cannot be seen
    """

    whose: str
    key: str
    host: str
    number: int
    problem: str
    forbidden: bool = False
    busy: bool
    holders: dict[int, str]


def judge(ports: list[Port], own: frozenset[int] | None, next_free: bool) -> list[Finding]:
    """:param own: the processes of the running server; empty where none runs, None where that is not known
    :param next_free: a server takes the next free port where one is busy
    """
    findings = [finding for port in ports if (finding := _one(port, own, next_free)) is not None]
    return findings or [ok(_all(ports, own))]


def _one(port: Port, own: frozenset[int] | None, next_free: bool) -> Finding | None:
    where = f"port {port.number} of {port.host or 'all addresses'} ({port.whose})"
    if port.busy and own and (not port.holders or own & port.holders.keys()):
        return None
    if port.busy:
        who = ", ".join(f"{command} (process {pid})" for pid, command in port.holders.items())
        sentence = f"{where} is held by {who or 'another program, which only root can see'}"
        if own is None:
            return unknown(f"{sentence}; whether that is this server cannot be seen")
        stop = f"Stop that program (as root: ss -ltnp 'sport = :{port.number}'), or give another {port.key}."
        return wrong(f"{sentence}.", stop if not next_free else f"{stop} With listen.next_free_port a start moves on.")
    if port.problem and not port.forbidden:
        remedy = f"Give {port.key} and its host an address that this machine has."
        return wrong(f"{where} cannot be had: {port.problem}.", remedy)
    if own:
        return wrong(
            f"{where} is not listened on, though the server runs.",
            "Its configuration was another one when it started: give this command the same --config, or restart it.",
        )
    if port.forbidden:
        return unknown(
            f"{where} needs a right that this user does not have; whether the server has it cannot be seen",
            "Ports below 1024 need one: AmbientCapabilities=CAP_NET_BIND_SERVICE in systemd's unit, or give another "
            f"{port.key}.",
        )
    return None


def _all(ports: list[Port], own: frozenset[int] | None) -> str:
    numbers = ", ".join(str(port.number) for port in ports)
    return f"ports {numbers}: {'held by this server' if own else 'free'}"
