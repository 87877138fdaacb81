"""Whether the machine's clock can be believed: kept by somebody, not behind what is stored, as the database's."""

from __future__ import annotations

import msgspec

from cgos_server.cli.doctor.findings import Finding, ok, unknown, warning, wrong
from cgos_server.presentation.words import moment

_MOST_ERROR_US = 1_000_000
_BEHIND_MS = 5_000
"""What a clock that is being set right may go back."""
_APART_MS = 2_000
_FAR_APART_MS = 60_000


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """What the kernel says of its clock.

    :ivar error_us: the most that it may be off, by its own reckoning
    """

    synchronized: bool
    error_us: int


def judge(kept: Kept | str, now_ms: int, latest_ms: int | None, ahead_ms: int | None) -> list[Finding]:
    """:param kept: or why the kernel does not say
    :param latest_ms: of the latest record in the database; None where there is none, or it cannot be read
    :param ahead_ms: how far this machine's clock is ahead of PostgreSQL's; None where there is no PostgreSQL
    """
    findings = [_kept(kept)]
    if latest_ms is not None and latest_ms - now_ms > _BEHIND_MS:
        findings.append(
            wrong(
                f"the clock says {moment(now_ms)} UTC, and the database has a record of {moment(latest_ms)} UTC.",
                "Set the clock before the server is started: new games would lie before old ones. If the record is "
                "wrong, the clock was ahead then; that mends itself when its time has come.",
            )
        )
    if ahead_ms is not None and abs(ahead_ms) > _APART_MS:
        way = "ahead of" if ahead_ms > 0 else "behind"
        level = wrong if abs(ahead_ms) > _FAR_APART_MS else warning
        sentence = f"this machine's clock is {abs(ahead_ms) / 1000:.1f} s {way} that of PostgreSQL's machine."
        findings.append(level(sentence, "Have both kept by NTP (timedatectl set-ntp true, or chrony)."))
    return findings


def _kept(kept: Kept | str) -> Finding:
    if isinstance(kept, str):
        return unknown(f"whether the clock is synchronized: {kept}")
    if not kept.synchronized:
        return warning(
            "nobody keeps the clock: the kernel calls it unsynchronized.",
            "Turn on NTP: timedatectl set-ntp true, or install chrony. In a container that is the host's work.",
        )
    if kept.error_us > _MOST_ERROR_US:
        sentence = f"the clock may be off by {kept.error_us / 1e6:.1f} s."
        return warning(sentence, "See why no time server is reached: timedatectl timesync-status, chronyc sources.")
    return ok(f"the clock is synchronized, to {kept.error_us / 1000:.0f} ms")
