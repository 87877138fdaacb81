"""Who is on the way in, so that no flag falls while the server makes a bot wait. Must not know: passwords, wire
formats, what happens in a game."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cgos_protocol.session import Credentials, Declaration


class Expected:
    """Who asked to come in and has no answer yet, by wire name. One a venue."""

    def __init__(self) -> None:
        self._since: dict[str, list[int]] = {}

    @contextmanager
    def expecting(self, name: str, since: int) -> Iterator[None]:
        """Until the end of the block the bot that plays as `name`, and asked for it at `since`, is on the way in."""
        instants = self._since.setdefault(name, [])
        instants.append(since)
        try:
            yield
        finally:
            instants.remove(since)
            if not instants:
                del self._since[name]

    def since_before(self, name: str, instant: int) -> bool:
        """True where somebody who plays as `name` has been on the way in since before `instant`."""
        return any(since <= instant for since in self._since.get(name, ()))


def presumed_name(credentials: Credentials) -> str:
    """The wire name under which these credentials most likely play; sure only after their check."""
    declared: Declaration = credentials.declared
    return declared.wire_name or (f"{credentials.name}-{declared.label}" if declared.label else credentials.name)
