"""All that can be done with questions, in the order of the documentation.

Must not know: what any of it does.
"""

from __future__ import annotations

from typing import Any, Final

from cgos_server.service.commands.declaration import Command
from cgos_server.service.questions import asking, managing

COMMANDS: Final[tuple[type[Command[Any]], ...]] = (*asking.COMMANDS, *managing.COMMANDS)
