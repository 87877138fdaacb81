"""`cgos-server protocol`: what the WebSocket protocol and the API look like, for programs and for people.

Must not know: the live server, the database.
"""

from __future__ import annotations

import click

from cgos_protocol.v2 import asyncapi as description


@click.group()
def protocol() -> None:
    """Describe the WebSocket protocol cgos.v2 and the API."""


@protocol.command()
def asyncapi() -> None:
    """Print its description in AsyncAPI 3 (JSON)."""
    click.echo(description.encoded(), nl=False)


@protocol.command()
def tables() -> None:
    """Print its messages and error codes as Markdown tables."""
    click.echo(description.tables(), nl=False)


@protocol.command()
def openapi() -> None:
    """Print the API's description in OpenAPI 3.1 (JSON)."""
    from cgos_server.web.api.openapi import encoded
    from cgos_server.web.api.operations import ROUTES  # with the pages, which no other command here needs

    click.echo(encoded(ROUTES), nl=False)
