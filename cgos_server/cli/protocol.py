"""`cgos-server protocol`: what the WebSocket protocol looks like, for programs and for people.

Must not know: the live server, the database.
"""

from __future__ import annotations

import click

from cgos_server.protocol import asyncapi as description


@click.group()
def protocol() -> None:
    """Describe the WebSocket protocol cgos.v2."""


@protocol.command()
def asyncapi() -> None:
    """Print its description in AsyncAPI 3 (JSON)."""
    click.echo(description.encoded(), nl=False)


@protocol.command()
def tables() -> None:
    """Print its messages and error codes as Markdown tables."""
    click.echo(description.tables(), nl=False)
