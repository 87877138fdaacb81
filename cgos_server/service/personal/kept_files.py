"""What is kept of people in files of the data directory, as far as commands change it: transcripts.

Must not know: who is erased, why.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Protocol

from cgos_protocol.ids import BotId
from cgos_server.core.renaming import Renaming
from cgos_server.observability.transcript_erasing import erase
from cgos_server.observability.transcripts import Transcripts


class OtherFiles(Protocol):
    """Those on the machines of other nodes of a cluster."""

    async def erase(self, bots: Collection[BotId], renaming: Renaming) -> Sequence[str]:
        """As :meth:`KeptFiles.erase`. The nodes where that was not done."""


class KeptFiles:
    """One a data directory.

    :param others: None where the server is alone
    :ivar folder: of the transcripts
    :ivar transcripts: who writes them just now
    """

    def __init__(self, folder: Path, others: OtherFiles | None = None) -> None:
        self.folder = folder
        self._others = others
        self.transcripts: Transcripts | None = None

    async def erase(self, bots: Collection[BotId], renaming: Renaming) -> Sequence[str]:
        """Remove the transcripts of these bots, and have those of others say the new names, here and wherever nodes of
        the cluster can be reached. The nodes where that was not done."""
        await self.erase_here(bots, renaming)
        return [] if self._others is None else await self._others.erase(bots, renaming)

    async def erase_here(self, bots: Collection[BotId], renaming: Renaming) -> None:
        """The same on this machine alone."""
        if self.transcripts is not None:
            await self.transcripts.erase(bots, renaming.text)
        else:
            await asyncio.to_thread(erase, self.folder, bots, renaming.text)
