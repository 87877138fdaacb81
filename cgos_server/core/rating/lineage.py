"""Which version succeeds which in one venue, folded from its ledger as the rating systems fold it.

Must not know: what a system makes of a link, bots and families, names.
"""

from __future__ import annotations

from typing import NamedTuple

from cgos_protocol.ids import VersionId
from cgos_server.core.rating.base import Entry, Kind


class Predecessor(NamedTuple):
    """The version that another one succeeds.

    :ivar sd: standard deviation of the step between the two, Elo; None where none is stated
    :ivar surely: True where nobody doubts it
    """

    version: VersionId
    sd: float | None = None
    surely: bool = False


class Lineage:
    """Who succeeds whom. A version has one predecessor at most: of several links the latest counts, and so does the
    latest of those that would make a version its own ancestor."""

    def __init__(self) -> None:
        self._predecessors: dict[VersionId, Predecessor] = {}

    def fold(self, entry: Entry) -> None:
        """Apply an entry of the ledger; those that link nothing change nothing."""
        version, other = entry.version, entry.other
        if version is None or other is None:
            return
        if entry.kind is Kind.UNLINK:
            now = self._predecessors.get(version)
            if now is not None and now.version == other:
                del self._predecessors[version]
            return
        heir = self._heir(version, other)
        if heir is not None:
            self._predecessors.pop(heir, None)
        self._predecessors[version] = Predecessor(other, entry.sd, entry.surely)

    def predecessor(self, version: VersionId) -> Predecessor | None:
        """Whom the version succeeds, None for nobody."""
        return self._predecessors.get(version)

    def descends(self, version: VersionId, ancestor: VersionId) -> bool:
        """True where `version` is `ancestor`, or succeeds it over any number of versions."""
        return version == ancestor or self._heir(ancestor, version) is not None

    def links(self) -> list[tuple[VersionId, Predecessor]]:
        """All (successor, predecessor), by successor."""
        return sorted(self._predecessors.items())

    def _heir(self, ancestor: VersionId, version: VersionId) -> VersionId | None:
        """The version that succeeds `ancestor` directly on the line that leads to `version`, None where none does."""
        at = self._predecessors.get(version)
        while at is not None and at.version != ancestor:
            version = at.version
            at = self._predecessors.get(version)
        return None if at is None else version
