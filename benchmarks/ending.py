"""How a program that started other programs ends when it is told to: all that it began is undone.

Must not know: what that is.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def unwinding() -> Iterator[None]:
    """SIGTERM, and what Ctrl-C or a closed terminal sends, leave this block as an exception does: contexts inside it
    are left one after the other. Further such signals until then change nothing. For the main thread.

    :raises SystemExit: such a signal came; its code is 128 and the signal's number
    """
    signals = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

    def leave(number: int, _: FrameType | None) -> None:
        for each in signals:
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(128 + number)

    before = {each: signal.signal(each, leave) for each in signals}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
