"""Who brought a database to its schema, told to a program that may not know that schema.

Each change of the schema leaves a row in the audit, in its own transaction. Must not know: which schema fits.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from pathlib import Path
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, insert

import cgos_server
from cgos_protocol.errors import CgosError
from cgos_server.storage import tables
from cgos_server.storage.location import Location
from cgos_server.storage.sqlite.connections import connect_for_reading

UPGRADE: Final = "db upgrade"
DOWNGRADE: Final = "db downgrade"

_LATEST: Final = f"SELECT detail FROM audit WHERE action = '{UPGRADE}' ORDER BY id DESC LIMIT 1"
_MAKER: Final = "SELECT created_by FROM server"


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the upgrade to a schema.

    :ivar version: of the program that made it; None where that is not known
    :ivar before: the revision that it came from, None where that is not known
    :ivar backup: the file with the database as it was before; None where there is none
    """

    version: str | None = None
    before: str | None = None
    backup: str | None = None


class _Note(msgspec.Struct):
    """What the audit keeps of a change of the schema."""

    to: str
    version: str
    before: str
    backup: str = ""


def note(connection: Connection, action: str, change: tuple[str, str], *, by: str, backup: str | None) -> None:
    """Leave word of a change of the schema, within its transaction.

    :param action: :data:`UPGRADE` or :data:`DOWNGRADE`
    :param change: the revisions before and after
    :param by: who does it
    :param backup: the file with the database of before
    """
    kept = _Note(to=change[1], version=cgos_server.__version__, before=change[0], backup=backup or "")
    row = {"at": int(time.time() * 1000), "actor": by, "action": action, "subject": "database"}
    connection.execute(insert(tables.audit), {**row, "detail": msgspec.json.encode(kept).decode()})


def origin_of(location: Location, revision: str) -> Origin:
    """What is known of how the database came to `revision`, its schema. Raises nothing."""
    # The tables are those of a program that is not known: they may be called otherwise, or be read protected.
    with contextlib.suppress(CgosError, sqlite3.Error, OSError, msgspec.MsgspecError):
        kept = [msgspec.json.decode(detail, type=_Note) for detail in _ask(location, _LATEST)]
        if kept and kept[0].to == revision:
            return Origin(version=kept[0].version, before=kept[0].before, backup=kept[0].backup or None)
        makers = [maker for maker in _ask(location, _MAKER) if maker != cgos_server.__version__]
        return Origin(version=makers[0] if makers and not kept else None)
    return Origin()


def _ask(location: Location, question: str) -> list[Any]:
    """The first column of the answer."""
    if isinstance(location, Path):
        with contextlib.closing(connect_for_reading(location)) as connection:
            return [row[0] for row in connection.execute(question).fetchall()]
    from cgos_server.storage.postgres import schema as postgres

    return postgres.ask(location, question)
