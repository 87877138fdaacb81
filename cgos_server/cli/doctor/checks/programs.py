"""Whether the program's parts go together: distributions, SQLite, plug-ins; and what transcripts take."""

from __future__ import annotations

import msgspec

from cgos_server.cli.doctor.findings import Finding, ok, warning, wrong
from cgos_server.presentation.sizes import size

_CORRECTED = (3, 51, 3)
_CORRECTED_IN = {(3, 44): 6, (3, 50): 7}
"""Older series in which the same was corrected, and from which release."""


def judge_program(python: str, version: str, disagreement: str | None, plugin_problems: list[str]) -> list[Finding]:
    """:param disagreement: why this distribution and cgos-protocol do not go together"""
    findings = [ok(f"cgos-server {version} on Python {python}")]
    if disagreement is not None:
        problem, _, remedy = disagreement.partition(". ")
        findings.append(wrong(f"{problem}.", remedy))
    left_out = "a plug-in is left out"
    return findings + [warning(f"{left_out}: {each}", "Upgrade or uninstall it.") for each in plugin_problems]


def judge_sqlite(version: tuple[int, int, int]) -> Finding:
    """Whether this SQLite has the fault by which a checkpoint beside a commit may, very rarely, lose pages."""
    text = ".".join(map(str, version))
    series = _CORRECTED_IN.get(version[:2])
    if version >= _CORRECTED or (series is not None and version[2] >= series):
        return ok(f"SQLite {text}")
    return warning(
        f"SQLite {text} has the WAL-reset fault (3.7.0 to 3.51.2): very rarely a checkpoint beside a commit damages "
        "the database.",
        "Use a Python with SQLite 3.51.3 or later (or 3.50.7, 3.44.6), or a distribution that has put the correction "
        "into its own; keep backups. See sqlite.org/wal.html. PostgreSQL is not concerned.",
    )


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """The folder of transcripts. `oldest_ms` is None where there is no file."""

    total: int
    largest: int
    bots: int
    oldest_ms: int | None
    whole: bool = True
    """False where there were too many files to look at all of them."""


def judge_transcripts(seen: Kept | None, days: float, bytes_per_bot: int, now_ms: int) -> list[Finding]:
    """:param seen: None where there is no such folder
    :param days: `transcripts.days`, `bytes_per_bot` likewise
    """
    if seen is None or not seen.bots:
        return [ok("no transcripts")]
    most = "" if seen.whole else "more than "
    sentence = f"transcripts of {seen.bots} bots: {most}{size(seen.total)}, at most {size(seen.bots * bytes_per_bot)}"
    findings = []
    if seen.largest > 1.5 * bytes_per_bot:
        findings.append(
            warning(
                f"the transcripts of one bot have {size(seen.largest)}, transcripts.bytes_per_bot is "
                f"{size(bytes_per_bot)}.",
                "They shrink when that bot next says something; remove its folder below transcripts/ otherwise.",
            )
        )
    if seen.oldest_ms is not None and now_ms - seen.oldest_ms > (days + 2) * 86_400_000:
        findings.append(
            warning(
                f"there are transcripts of {(now_ms - seen.oldest_ms) / 86_400_000:.0f} days ago, and "
                f"transcripts.days is {days:g}.",
                "A running server removes them within a day; look for errors in its log.",
            )
        )
    return [ok(sentence), *findings]
