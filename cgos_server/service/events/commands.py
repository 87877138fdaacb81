"""All that can be done with events, in the order of the documentation.

Must not know: what any of it does.
"""

from __future__ import annotations

from typing import Final

from cgos_protocol.api.people import Done
from cgos_server.service.commands.declaration import Command
from cgos_server.service.events import announcing, entering, holding, keeping_apart, ruling

COMMANDS: Final[tuple[type[Command[Done]], ...]] = (
    *announcing.COMMANDS,
    *entering.COMMANDS,
    *keeping_apart.COMMANDS,
    *holding.COMMANDS,
    *ruling.COMMANDS,
)
