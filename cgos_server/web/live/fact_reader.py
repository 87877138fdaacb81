"""Facts from the game process as they come through the pipe: bytes in, facts out.

Must not know: descriptors, what facts are for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from cgos_protocol.facts import AnyFact, carried

LINE_MAX: Final = 65_536
"""Bytes of one line; a longer one is left out."""


class FactReader:
    """Cuts what comes into lines and tells the fact in each.

    :param hear: told the next fact, or None where some are missing: some were dropped on the way, or a line is none
    """

    def __init__(self, hear: Callable[[AnyFact | None], None]) -> None:
        self._heard = hear
        self._rest = b""
        self._skipping = False

    def feed(self, data: bytes) -> None:
        """The next bytes."""
        *lines, rest = (self._rest + data).split(b"\n")
        for line in lines:
            if self._skipping:
                self._skipping = False  # the end of a line that was left out
                continue
            self._tell(line)
        if len(rest) > LINE_MAX:
            rest, self._skipping = b"", True
            self._heard(None)
        elif self._skipping:
            rest = b""
        self._rest = rest

    def _tell(self, line: bytes) -> None:
        try:
            fact = carried(line)
        except msgspec.DecodeError:
            fact = None
        self._heard(fact)
