"""What is kept of people in files of the data directory, as far as commands change it: transcripts.

Must not know: who is erased, why.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from pathlib import Path

from cgos_protocol.ids import BotId
from cgos_server.core.renaming import Renaming
from cgos_server.observability.transcript_erasing import erase
from cgos_server.observability.transcripts import Transcripts


class KeptFiles:
    """One a data directory.

    :ivar folder: of the transcripts
    :ivar transcripts: who writes them just now
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.transcripts: Transcripts | None = None

    async def erase(self, bots: Collection[BotId], renaming: Renaming) -> None:
        """Remove the transcripts of these bots, and have those of others say the new names."""
        if self.transcripts is not None:
            await self.transcripts.erase(bots, renaming.text)
        else:
            await asyncio.to_thread(erase, self.folder, bots, renaming.text)
