"""Turns stored values into the words, dates and figures of the pages.

Plain functions of their arguments; what comes out is text, escaped later by the templates. Must not know: the
database, HTTP.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from cgos_protocol import clock, intervals
from cgos_protocol.api.messages import Standing, StrengthChange
from cgos_protocol.clock import ClockState, TimeControl, TimeSystem
from cgos_protocol.games.base import Ko, Ruleset
from cgos_protocol.verdict import Reason

_KO = {
    Ko.POSITIONAL: "positional superko",
    Ko.SITUATIONAL: "situational superko",
    Ko.SIMPLE: "simple ko",
}
IN_SANDBOX: Final = "Results in a sandbox change no rating, so there are no strengths to compare."
NOT_RATED: Final = "Both have to be rated here before they can be compared."
MANY_GAMES: Final = 50
"""After so many games a rating is expected to be settled."""

_STATES = {"watch": "On watch", "flagged": "Flagged"}


def terms(rules: Ruleset, time: TimeControl) -> str:
    """What is played: ``9×9, komi 7, 5 min, positional superko``."""
    words = [f"{rules.size}×{rules.size}", f"komi {komi(rules.komi2)}", clock.describe(time), _KO[rules.ko]]
    if rules.suicide:
        words.append("suicide allowed")
    return ", ".join(words)


def standing(row: Standing) -> str:
    """A rating with its 95 % interval where its system says one: ``1873 ± 42``, ``1873? ± 142``, ``1873``, and
    ``2750, 2320 to 4600`` where the interval is not even."""
    return intervals.written(row.mean, row.lower, row.upper, provisional=bool(row.provisional))


def loose_scale(rows: Sequence[Standing]) -> str:
    """Say why versions of a venue stay provisional after many games: no anchor fixes the scale; empty elsewhere."""
    many = any(row.provisional and row.games >= MANY_GAMES for row in rows)
    loose = many and not any(row.anchor for row in rows)
    return "No anchor: the scale is loose, so that a rating can stay provisional after many games." if loose else ""


def since(change: StrengthChange) -> str:
    """A rating by the games after a change alone: ``since its game 81: 2010 ± 125, by 25 games``; empty where it is
    not known."""
    if change.rating_since is None:
        return ""
    rating = change.rating_since
    text = intervals.written(rating.mean, rating.lower, rating.upper)
    return f"since its game {change.number}: {text}, by {count(rating.games, 'game')}"


def changed(change: StrengthChange) -> str:
    """That a version seems to have changed, in sentences, without what its owner is asked to do."""
    rating = f" Its rating {since(change)}." if change.rating_since else ""
    return f"{_STATES[change.state]}: {change.sentence}{rating}"


def briefly(row: Standing) -> str:
    """The same where space is short: ``> 2320`` of a version that never lost."""
    return intervals.in_short(row.mean, row.lower, row.upper, provisional=bool(row.provisional))


def finely(mean: float, lower: float | None, upper: float | None) -> str:
    """The same to a tenth, for small changes: ``1873.4 ± 42.0``."""
    return intervals.written(mean, lower, upper, digits=1)


def komi(komi2: int) -> str:
    """Half points as points: ``7`` or ``7.5``."""
    return f"{komi2 / 2:g}"


def ending(black: str, white: str, winner: str | None, reason: str, margin2: int | None, detail: str) -> str:
    """How a game ended, as a sentence.

    :param winner: ``black``, ``white`` or None
    :param reason: a word of :class:`~cgos_protocol.verdict.Reason`
    :param margin2: Black's margin in half points where the score decided
    :param detail: what the verdict says besides; may be empty
    """
    sentence = _ending(black=black, white=white, winner=winner, reason=Reason(reason), margin2=margin2)
    return f"{sentence} ({detail.rstrip('.')})." if detail else f"{sentence}."


def _ending(black: str, white: str, winner: str | None, reason: Reason, margin2: int | None) -> str:
    if reason is Reason.VOID:
        return "No result: the game is void"
    if reason is Reason.ABORT:
        return "No result: the game was aborted"
    if winner is None:
        return "The game was drawn"
    victor, loser = (black, white) if winner == "black" else (white, black)
    match reason:
        case Reason.SCORE:
            points = abs(margin2 or 0) / 2
            return f"{victor} won by {points:g} {'point' if points == 1 else 'points'}"
        case Reason.RESIGNATION:
            return f"{victor} won: {loser} resigned"
        case Reason.TIME:
            return f"{victor} won: {loser} ran out of time"
        case Reason.ILLEGAL:
            return f"{victor} won: {loser} made an illegal move"
        case _:
            return f"{victor} won by forfeit"


def ago(then_ms: int, now_ms: int) -> str:
    """How long ago, roughly: ``just now``, ``5 min ago``, ``3 h ago``, ``2 days ago``, beyond a month the date."""
    minutes = max(0, now_ms - then_ms) // 60_000
    if minutes < 1:
        return "just now"
    if minutes < 60:
        return f"{minutes} min ago"
    if minutes < 48 * 60:
        return f"{minutes // 60} h ago"
    days = minutes // (24 * 60)
    return f"{days} days ago" if days <= 31 else day(then_ms)


def last_seen(at_ms: int | None, signed_in: bool) -> str | None:
    """When a bot was seen last, as commands say it; None: never."""
    if signed_in:
        return "here now"
    return None if at_ms is None else moment(at_ms)


def duration(seconds: float) -> str:
    """A length of time: ``45 s``, ``5 min``, ``1 h 30 min``, ``2 days``."""
    if seconds < 60 or (seconds < 600 and seconds % 60):
        return f"{seconds:g} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    if hours < 48 or hours % 24 or rest:
        return f"{hours} h {rest} min" if rest else f"{hours} h"
    return f"{hours // 24} days"


def count(number: int, one: str, many: str = "") -> str:
    """``1 game``, ``2 games``, ``12 345 games``; `many` where it is not the one with an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def day_end(text: str) -> int:
    """The last millisecond of a day (UTC), such as 2026-01-31, as Unix time. Raises ValueError for other texts."""
    return round(datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).timestamp() * 1000) + 86_399_999


def day(ms: int) -> str:
    """The date in UTC: ``2026-11-21``."""
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d")


def moment(ms: int) -> str:
    """Date and time in UTC, without saying so: ``2026-11-21 09:49``."""
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M")


def machine_moment(ms: int) -> str:
    """The same for ``datetime`` attributes."""
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def span(us: int) -> str:
    """Microseconds as a clock shows them: ``4:07``, ``0:07.3`` under a minute, ``1:02:03`` from an hour."""
    tenths = max(0, us) // 100_000
    minutes, rest = divmod(tenths, 600)
    if minutes >= 60:
        return f"{minutes // 60}:{minutes % 60:02}:{rest // 10:02}"
    return f"{minutes}:{rest // 10:02}" + (f".{rest % 10}" if minutes == 0 else "")


def time_left(control: TimeControl, state: ClockState) -> str:
    """What is on a player's clock: ``4:07``, or in overtime ``0:30 ×3`` (periods) or ``0:21.5 /8`` (moves to make)."""
    if control.system is TimeSystem.FIXED:
        return span(control.period)
    if state.main == 0 and state.quota:
        if control.system is TimeSystem.BYOYOMI:
            return f"{span(control.period)} ×{state.quota}"
        return f"{span(state.period)} /{state.quota}"
    return span(state.main)


def shade(step: int) -> str:
    """The class of a color between two: ``m5`` for -5 or less, over ``m0``, to ``q5`` for 5 or more."""
    return f"q{min(step, 5)}" if step > 0 else f"m{min(-step, 5)}"


def likelihood(share: float, digits: int = 0) -> str:
    """A probability or an expected score in per cent, without the sign: nothing that may happen is certain, so that
    ``over 99`` and ``under 1`` are said where it would be rounded to 100 or 0."""
    text = f"{100 * share:.{digits}f}"
    return "over 99" if float(text) >= 100 else "under 1" if float(text) <= 0 else text


def audit_details(detail: Mapping[str, object], between: str = "; ") -> str:
    """What the audit log notes of a command: ``reason: it hangs; until: 2026-01-31 18:00 UTC``. What is empty is left
    out."""
    return between.join(f"{name}: {_audited(name, value)}" for name, value in detail.items() if value not in ("", None))


def _audited(name: str, value: object) -> str:
    if isinstance(value, int) and (name in ("at", "since", "until") or name.endswith("_at")):
        return f"{moment(value)} UTC" if value else "no end"
    return str(value).lower() if isinstance(value, bool) else str(value)


FILTERS: Final[Mapping[str, Callable[..., str]]] = {
    "moment": moment,
    "day": day,
    "count": count,
    "thousands": lambda number: f"{number:,}".replace(",", "\N{NARROW NO-BREAK SPACE}"),
    "machine_moment": machine_moment,
    "rating": lambda mean: f"{mean:.0f}",
    "likelihood": likelihood,
    "percent": lambda share: f"{100 * share:.0f}",
    "shade": shade,
    "since": since,
    "changed": changed,
    "audit_details": audit_details,
}
"""Words that templates write values in."""
