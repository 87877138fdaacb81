"""Where chance comes from: whoever needs some is given a source. Must not know: who draws, what is decided by it."""

from __future__ import annotations

from typing import Protocol


class Rng(Protocol):
    """A source of randomness: floats uniform in [0, 1). ``random.Random(seed)`` is one."""

    def random(self) -> float: ...
