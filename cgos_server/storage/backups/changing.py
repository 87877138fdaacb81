"""Takes a database to another schema and back, with a verified backup of what it was before.

What will be done is a value that can be shown first. Must not know: what the migrations do.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec

from cgos_server.storage import schema
from cgos_server.storage.backups import names
from cgos_server.storage.backups.taking import size_of, take
from cgos_server.storage.backups.verifying import verify
from cgos_server.storage.copying import Progress
from cgos_server.storage.location import Location
from cgos_server.storage.revisions import Step


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A change of the schema that was not made yet.

    :ivar change: which way
    :ivar before: the revision that the database has
    :ivar after: the one that it will have; the same where nothing is to be done
    :ivar steps: what is done or taken back, in that order
    """

    database: str
    change: names.Change
    before: str
    after: str
    steps: list[Step]


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """What a backup takes at most, and what the disk of the folder of backups has free, in bytes."""

    folder: str
    needed_bytes: int
    free_bytes: int


def plan_upgrade(location: Location) -> Plan:
    """To this program's schema. Raises Refused where there is no way, StoreError where the database cannot be read."""
    steps = schema.way_up(location)
    after = schema.head()
    before = steps[0].before if steps else after
    return Plan(database=str(location), change="upgrade", before=str(before), after=after, steps=steps)


def plan_downgrade(location: Location, to: str | None) -> Plan:
    """To an earlier schema. Raises as :func:`.schema.way_back`."""
    steps = schema.way_back(location, to)
    before = steps[0].revision if steps else str(to)
    after = steps[-1].before if steps else to
    return Plan(database=str(location), change="downgrade", before=before, after=str(after), steps=steps)


def room(location: Location, folder: Path) -> Room:
    """Whether a backup will have room. Raises StoreError, OSError."""
    there = next(each for each in (folder, *folder.parents) if each.exists())
    return Room(folder=str(folder), needed_bytes=size_of(location), free_bytes=shutil.disk_usage(there).free)


def back_up(location: Location, plan: Plan, folder: Path, *, at_ms: int, progress: Progress) -> str:
    """Take the backup that comes before a change, and verify it; its file.

    :param at_ms: now, Unix milliseconds
    :raises Refused: where the disk has no room for it, or it is damaged
    :raises StoreError: where it cannot be written
    :raises OSError: likewise
    """
    target = folder / names.name_of(at_ms, before=(plan.change, plan.after))
    file = take(location, target, at_ms, progress).file
    verify(Path(file), progress)
    return file


def carry_out(location: Location, plan: Plan, by: str, backup: str | None) -> None:
    """Change the schema, in one transaction. The caller holds the database's lock. Raises StoreError.

    :param by: who does it, for the audit
    :param backup: the file with the database of before
    """
    if plan.change == "upgrade":
        schema.upgrade(location, by, backup)
    else:
        schema.downgrade(location, plan.after, by, backup)
