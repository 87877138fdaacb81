"""`cgos-server account export` and `bot export`: all that is kept about a person or a bot, in a file.

Read from the database, whether a server runs or not. Must not know: what stands in the file.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import click

from cgos_protocol.ids import BotId
from cgos_server.assembly.reaching import transcripts_of
from cgos_server.cli.common import Setup, configured
from cgos_server.cli.files import whole
from cgos_server.cli.reading import now_ms, read
from cgos_server.presentation.personal import personal_json, personal_zip
from cgos_server.storage.reading.history import History

_file = click.argument("file", type=click.Path(path_type=Path), default=Path("-"))


@click.command("export")
@click.argument("name")
@_file
@configured
def account_export(setup: Setup, name: str, file: Path) -> None:
    """Write all that is kept about the account NAME and its bots to FILE, or to standard output.

    As JSON; where FILE ends in .zip as an archive of that with the bots' transcripts. Without passwords and secrets.
    """
    _write(setup, file, account=name)


@click.command("export")
@click.argument("name")
@_file
@configured
def bot_export(setup: Setup, name: str, file: Path) -> None:
    """The same about the bot NAME alone."""
    _write(setup, file, bot=name)


def _write(setup: Setup, file: Path, account: str = "", bot: str = "") -> None:
    async def work(history: History) -> None:
        owner = await history.people.account_id(account) if account else None
        bots = [BotId((await history.bots.detail(bot)).id)] if bot else []
        about = await history.personal.about(owner, bots)
        written: AsyncGenerator[bytes, None] = (
            personal_zip(history.personal, about, now_ms(), transcripts_of(setup.config))
            if file.suffix == ".zip"
            else personal_json(history.personal, about, now_ms())
        )
        with whole(file) as target:
            async for portion in written:
                target.write(portion)

    read(setup, work)
