"""`cgos-server event`: tournaments that the server holds by itself.

Must not know: how events go on.
"""

from __future__ import annotations

import click

from cgos_server.cli.commands.declared import add_declared
from cgos_server.cli.events.archive import event_sgf
from cgos_server.cli.events.export import export_event
from cgos_server.cli.events.reading import COMMANDS
from cgos_server.cli.events.rehearse import rehearse_event


@click.group()
def event() -> None:
    """Events: tournaments that the server holds by itself."""


for command in COMMANDS:
    event.add_command(command)
event.add_command(export_event)
event.add_command(rehearse_event)
event.add_command(event_sgf)
add_declared(event)
