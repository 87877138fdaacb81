"""The one tree of errors: we did something wrong, or policy refused. What a peer may not say is answered, not raised.

Nothing here decides a game: only a :class:`cgos_server.core.verdict.Verdict` does. Every message is a sentence that a
person can act on.
"""

from __future__ import annotations

import math
from typing import Final

EXIT_DISK: Final = 74
"""Exit code where the disk or the database did not take what was to be written (EX_IOERR of sysexits.h)."""


class CgosError(Exception):
    """Anything that this project raises on purpose. Never raised itself."""


class OurFault(CgosError):
    """Something failed on our side. No bot may lose a game by it."""


class StoreError(OurFault):
    """The database could not be read or written."""


class CommitFailed(StoreError):
    """A group of writes could not be committed within the time allowed; nobody was told of it."""


class Refused(CgosError):
    """Policy says no.

    :param code: a stable word for programs, such as ``name-taken``
    :param sentence: what happened and what the person can do about it
    :param retry_after_s: when another attempt makes sense, where waiting helps; kept as whole seconds, 1 at least
    """

    def __init__(self, code: str, sentence: str, retry_after_s: float | None = None) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence
        self.retry_after_s = None if retry_after_s is None else float(max(1, math.ceil(retry_after_s)))


class ConfigError(Refused):
    """The configuration cannot be used. The sentence names the place (file and key) and the remedy."""

    def __init__(self, place: str, problem: str, remedy: str) -> None:
        super().__init__("config", f"{place}: {problem}. {remedy}")
        self.place = place


class SchemaMismatch(Refused):
    """The database's schema is not the one that this program works with."""


class DatabaseLocked(Refused):
    """Another process holds the database."""
