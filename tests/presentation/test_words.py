"""The pages' words: results as sentences, moments, clocks."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.clock import ClockState, TimeControl, TimeSystem
from cgos_protocol.games.base import Color, Ko, Ruleset
from cgos_protocol.verdict import Reason, Verdict
from cgos_server.presentation import words

MINUTE = 60_000_000
SECOND = 1_000_000


@pytest.mark.parametrize(
    ("verdict", "sentence"),
    [
        (Verdict(Color.BLACK, Reason.SCORE, 7), "Bea won by 3.5 points."),
        (Verdict(Color.WHITE, Reason.SCORE, -2), "Wim won by 1 point."),
        (Verdict(Color.WHITE, Reason.SCORE, -8, "scored at the limit of 9 moves"),
         "Wim won by 4 points (scored at the limit of 9 moves)."),
        (Verdict(None, Reason.SCORE, 0), "The game was drawn."),
        (Verdict(Color.BLACK, Reason.RESIGNATION), "Bea won: Wim resigned."),
        (Verdict(Color.WHITE, Reason.TIME), "Wim won: Bea ran out of time."),
        (Verdict(Color.WHITE, Reason.ILLEGAL, None, "KO attempted: D4"),
         "Wim won: Bea made an illegal move (KO attempted: D4)."),
        (Verdict(Color.BLACK, Reason.FORFEIT), "Bea won by forfeit."),
        (Verdict(None, Reason.VOID, None, "Both sides stayed away."),
         "No result: the game is void (Both sides stayed away)."),
        (Verdict(None, Reason.ABORT, None, "Black made no first move in time"),
         "No result: the game was aborted (Black made no first move in time)."),
    ],
)  # fmt: skip
def test_endings(verdict: Verdict, sentence: str) -> None:
    winner = None if verdict.winner is None else verdict.winner.name.lower()
    assert words.ending("Bea", "Wim", winner, verdict.reason.value, verdict.margin2, verdict.detail) == sentence


@given(st.sampled_from(Reason), st.sampled_from([None, "black", "white"]), st.none() | st.integers(-800, 800))
def test_every_verdict_has_a_sentence(reason: Reason, winner: str | None, margin2: int | None) -> None:
    assert words.ending("Bea", "Wim", winner, reason.value, margin2, "").endswith(".")


NOW = int(datetime(2026, 11, 21, 12, 0, tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "just now"),
        (59, "just now"),
        (60, "1 min ago"),
        (3_599, "59 min ago"),
        (3_600, "1 h ago"),
        (48 * 3_600 - 1, "47 h ago"),
        (48 * 3_600, "2 days ago"),
        (31 * 86_400, "31 days ago"),
        (32 * 86_400, "2026-10-20"),
    ],
)
def test_how_long_ago(seconds: int, text: str) -> None:
    assert words.ago(NOW - seconds * 1000, NOW) == text


def test_moments_are_utc() -> None:
    assert words.moment(NOW) == "2026-11-21 12:00"
    assert words.day(NOW) == "2026-11-21"
    assert words.machine_moment(NOW) == "2026-11-21T12:00:00Z"


@pytest.mark.parametrize(
    ("us", "text"),
    [
        (0, "0:00.0"),
        (-1, "0:00.0"),
        (7_390_000, "0:07.3"),
        (59_999_999, "0:59.9"),
        (60_000_000, "1:00"),
        (247_000_000, "4:07"),
        (3_600_000_000, "1:00:00"),
        (3_723_900_000, "1:02:03"),
    ],
)
def test_spans(us: int, text: str) -> None:
    assert words.span(us) == text


@pytest.mark.parametrize(
    ("control", "state", "text"),
    [
        (TimeControl(system=TimeSystem.ABSOLUTE, main=5 * MINUTE), ClockState(4 * MINUTE), "4:00"),
        (
            TimeControl(system=TimeSystem.BYOYOMI, main=MINUTE, period=30 * SECOND, periods=5),
            ClockState(MINUTE, 0, 5),
            "1:00",
        ),
        (
            TimeControl(system=TimeSystem.BYOYOMI, main=MINUTE, period=30 * SECOND, periods=5),
            ClockState(0, 0, 3),
            "0:30.0 ×3",
        ),
        (
            TimeControl(system=TimeSystem.CANADIAN, period=60 * SECOND, stones=10),
            ClockState(0, 21_500_000, 8),
            "0:21.5 /8",
        ),
        (TimeControl(system=TimeSystem.FIXED, period=10 * SECOND), ClockState(0), "0:10.0"),
    ],
)
def test_clocks(control: TimeControl, state: ClockState, text: str) -> None:
    assert words.time_left(control, state) == text


def test_terms() -> None:
    control = TimeControl(system=TimeSystem.ABSOLUTE, main=5 * MINUTE)
    assert words.terms(Ruleset(size=9, komi2=14), control) == "9×9, komi 7, 5 min, positional superko"
    open_rules = Ruleset(size=19, komi2=15, ko=Ko.SIMPLE, suicide=True)
    assert words.terms(open_rules, control) == "19×19, komi 7.5, 5 min, simple ko, suicide allowed"


@pytest.mark.parametrize(
    ("share", "digits", "text"),
    [
        (0.5, 0, "50"), (0.994, 0, "99"), (0.995, 0, "over 99"), (1.0, 0, "over 99"), (0.0049, 0, "under 1"),
        (0.0, 1, "under 1"), (0.0006, 1, "0.1"), (0.9994, 1, "99.9"), (0.9996, 1, "over 99"),
    ],
)  # fmt: skip
def test_odds_are_never_certain(share: float, digits: int, text: str) -> None:
    assert words.likelihood(share, digits) == text


def test_what_the_audit_log_notes() -> None:
    detail = {"rated": True, "until": 2_000_000_000_000, "games": 3, "reason": "", "owner": None}
    assert words.audit_details(detail) == "rated: true; until: 2033-05-18 03:33 UTC; games: 3"
    assert (
        words.audit_details({"until": 0, "ends_at": 2_000_000_000_000})
        == "until: no end; ends_at: 2033-05-18 03:33 UTC"
    )
