"""Something that the server cannot do for a while, such as writing on a full disk: logged when it begins and when it is
over, however often it is tried meanwhile. Must not know: what is tried, what fails.
"""

from __future__ import annotations

import structlog

from cgos_server.net.loop import Timekeeper

log = structlog.get_logger(__name__)

QUIET_US = 3_000_000
"""It is over when it has worked for so long: what works now and then does not work."""


class Outage:
    """One for each thing that may fail. Called in the event loop.

    :param fails: what the log says at its begin
    :param over: what it says at its end
    """

    def __init__(self, time: Timekeeper, fails: str, over: str) -> None:
        self._time = time
        self._fails = fails
        self._over = over
        self._since: int | None = None
        self._last = 0
        self._failures = 0
        self._looking = False

    def failed(self, why: object, remedy: str | None) -> None:
        """It failed, and is tried again. `remedy` is what the operator can do, where that is known."""
        self._last = self._time.now()
        self._failures += 1
        if self._since is None:
            self._since = self._last
            log.warning(self._fails, why=str(why), **({} if remedy is None else {"remedy": remedy}))

    def worked(self) -> None:
        """It did not fail this time."""
        if self._since is not None and not self._looking:
            self._looking = True
            self._time.call_at(self._time.now() + QUIET_US, self._look, self._failures)

    def _look(self, failures: int) -> None:
        self._looking = False
        if self._since is None or failures != self._failures:
            return
        seconds = round((self._last - self._since) / 1e6, 1)
        log.warning(self._over, failures=failures, seconds=seconds)
        self._since = None
        self._failures = 0
