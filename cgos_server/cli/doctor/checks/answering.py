"""Whether the server answers, is ready, and is the program that is installed."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

import msgspec

from cgos_server.cli.doctor.findings import Finding, ok, unknown, warning, wrong


class State(Enum):
    """Of the server on the data directory."""

    ABSENT = "nobody listens on the control socket"
    ANSWERS = "it answers"
    SILENT = "it does not answer"
    UNKNOWN = "it cannot be asked"


class Answering(msgspec.Struct, frozen=True, kw_only=True):
    """What the server says of itself.

    :ivar pid: of the process that holds the data directory, 0 where none is known
    :ivar process_state: the system's letter for it: ``R``, ``S``, ``D``, ``T`` ...; empty where it cannot be seen
    :ivar reason: why it cannot be asked, or does not answer
    :ivar livez: status of HTTP and body, or None and why there is no answer; None where nobody was asked
    :ivar errors: lines of its log since its start
    :ivar standing_by: why, as part of a sentence, where it is a node of a cluster that does not serve
    :ivar venues: those that it plays; empty where it does not say so
    """

    state: State
    directory: str
    pid: int = 0
    process_state: str = ""
    reason: str = ""
    version: str = ""
    draining: bool = False
    errors: int = 0
    standing_by: str = ""
    venues: frozenset[str] = frozenset()
    health: str = ""
    livez: tuple[int | None, str] | None = None
    readyz: tuple[int | None, str] | None = None


_STATES: Mapping[str, tuple[str, str]] = {
    "T": ("it is stopped by a signal", "kill -CONT {pid} lets it go on."),
    "t": ("a debugger has stopped it", "End the debugger; kill -CONT {pid} lets it go on."),
    "D": (
        "it waits for a disk or a network file system",
        "Look at the disk (dmesg); what was told is safe. It goes on once the disk answers.",
    ),
    "Z": ("it has ended, and its parent has not noticed", "Restart it by whatever started it."),
}


def judge(seen: Answering, program: str) -> list[Finding]:
    """:param program: the version of the program that asks"""
    if seen.state is State.ABSENT and seen.pid:
        return [
            wrong(
                f"process {seen.pid} holds the database, and listens on no control socket in {seen.directory}.",
                "If it has just started, look again. Else the socket was removed: restart the server.",
            )
        ]
    if seen.state is State.ABSENT:
        return [ok(f"no server runs on {seen.directory}")]
    if seen.state is State.UNKNOWN:
        return [unknown(f"the server cannot be asked: {seen.reason}", "Run this command as the server's user or root.")]
    if seen.state is State.SILENT:
        why, remedy = _STATES.get(
            seen.process_state,
            ("its loop does not turn", "Look at its log, see where it is (py-spy dump --pid {pid}), then restart it."),
        )
        process = f" (process {seen.pid})" if seen.pid else ""
        return [wrong(f"the server{process} does not answer: {why}.", remedy.format(pid=seen.pid or "PID"))]
    return [_answers(seen), *_version(seen, program), *_probes(seen), *_log(seen)]


def _answers(seen: Answering) -> Finding:
    if seen.draining:
        return warning(f"the server (process {seen.pid}) is draining.", "It ends when its games have; then start it.")
    if seen.standing_by:
        return ok(f"the server answers (process {seen.pid}, version {seen.version}) and stands by ({seen.standing_by})")
    return ok(f"the server answers (process {seen.pid}, version {seen.version})")


def _version(seen: Answering, program: str) -> list[Finding]:
    if seen.version == program:
        return []
    return [
        warning(
            f"the server runs version {seen.version}, and {program} is installed.",
            "Restart it to finish the upgrade, or use the program that it was started from.",
        )
    ]


def _probes(seen: Answering) -> list[Finding]:
    findings = []
    for path, answer in (("/livez", seen.livez), ("/readyz", seen.readyz)):
        if answer is None:
            continue
        status, text = answer
        where = f"{seen.health}{path}"
        if status is None:
            remedy = "The loop is busy or that port is not this server's: look at the log and at health.port."
            findings.append(wrong(f"{where} does not answer: {text}.", remedy))
        elif status != 200:
            reasons = "; ".join(text.splitlines()[1:]) or f"status {status}"
            remedy = "docs/operator.md says what each reason needs; the log has what went before."
            findings.append((warning if seen.draining else wrong)(f"{where}: {reasons}.", remedy))
    if not findings and seen.livez is not None:
        findings.append(ok("/livez and /readyz are green"))
    return findings


def _log(seen: Answering) -> list[Finding]:
    if not seen.errors:
        return []
    return [warning(f"the server has logged errors since its start: {seen.errors}.", "Read them in its log.")]
