"""How a case ended, as values. Must not know: how that was found out, how it is shown."""

from __future__ import annotations

import enum

import msgspec

from cgos_client.conformance.language import Case, Quirk, Step


class Verdict(enum.StrEnum):
    """What a case says of a server."""

    PASSED = "passed"
    DIFFERS = "differs"
    QUIRK = "peer quirk"
    SKIPPED = "skipped"


class Differs(Exception):
    """The server does not do what the transcript expects.

    :ivar expected: what the transcript wants
    :ivar got: what came
    """

    def __init__(self, expected: str, got: str) -> None:
        super().__init__(f"expected {expected}, got {got}")
        self.expected = expected
        self.got = got


class Skipped(Exception):
    """The case cannot be played here. The text says why."""


class KnownQuirk(Exception):
    """The server does what a known other one does, and the case ends there."""

    def __init__(self, quirk: Quirk) -> None:
        super().__init__(quirk.why)
        self.quirk = quirk


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """One case, played.

    :ivar why: one sentence; empty where it passed
    :ivar step: where it ended, None where it passed
    :ivar quirks: names of the servers whose known ways were seen
    :ivar dialogue: the last lines, ``actor< line`` and ``actor> line``
    """

    case: Case
    verdict: Verdict
    seconds: float
    why: str = ""
    step: Step | None = None
    expected: str = ""
    got: str = ""
    quirks: tuple[str, ...] = ()
    dialogue: tuple[str, ...] = ()
