"""The garbage collector of a process that serves: full passes are rare, and pass over what stays for good.

Must not know: what is served.
"""

from __future__ import annotations

import gc
from typing import Final

THRESHOLDS: Final = (50_000, 20, 100)
"""With thousands of connections, or answers of thousands of rows, full passes cost more than what is served."""


def calm() -> None:
    """To be called once everything that stays is there: it is moved out of the collector's sight."""
    gc.set_threshold(*THRESHOLDS)
    gc.collect()
    gc.freeze()
