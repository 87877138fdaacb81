"""How a program that started other programs ends when it is told to: all that it began is undone.

Must not know: what that is.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def unwinding() -> Iterator[None]:
    """SIGTERM, and what Ctrl-C or a closed terminal sends, leave this block as an exception does: contexts inside it
    are left one after the other. Further such signals until then change nothing; one that is ignored (`nohup`) stays
    so. For the main thread.

    :raises SystemExit: such a signal came; its code is 128 and the signal's number
    """
    before = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    heard = [each for each, handler in before.items() if handler is not signal.SIG_IGN]

    def leave(number: int, _: FrameType | None) -> None:
        for each in heard:
            signal.signal(each, signal.SIG_IGN)
        print(f"{signal.Signals(number).name}: what was begun is undone", file=sys.stderr, flush=True)
        raise SystemExit(128 + number)

    for each in heard:
        signal.signal(each, leave)
    try:
        yield
    finally:
        for each in heard:
            signal.signal(each, before[each])
