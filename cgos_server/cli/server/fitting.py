"""Whether a configuration and a database fit this program, found out without starting a server.

Must not know: the live server.
"""

from __future__ import annotations

import os
import pwd
import subprocess
import time
from pathlib import Path
from typing import Final

from cgos_protocol.errors import Code, ConfigError, DatabaseLocked, Invalid
from cgos_protocol.ids import VenueId
from cgos_server import __version__
from cgos_server.assembly.database import LOCK_PATIENCE_S, make_data
from cgos_server.assembly.handover import FORM, Fitness
from cgos_server.cli.common import Setup
from cgos_server.cli.reading import read
from cgos_server.config.problems import ConfigErrors
from cgos_server.config.venues import check_fixed, venue_value
from cgos_server.net import node_control
from cgos_server.net.tls.certificates import TlsFiles, read_certificate
from cgos_server.service.plugin_report import plugin_report
from cgos_server.storage import schema
from cgos_server.storage.lock import DatabaseLock

_FIRST_S: Final = 60.0
"""How long another node may take that makes the tables at the same time."""


def fitness(setup: Setup) -> Fitness:
    """What is said to a server that asks whether this program could take over from it.

    :raises SchemaMismatch: where the database is of another schema
    :raises NotFound: where there is none
    :raises ConfigErrors: where the venues cannot be had, or are others than those of the database
    :raises Invalid: where the certificate of TLS, or the key of the cluster, cannot be used
    """
    schema.check(setup.database)
    for venue in setup.config.venue:
        venue_value(venue, VenueId(0))  # imports what it names
    check_database(setup)
    check_certificate(setup)
    if setup.config.cluster.key is not None:
        node_control.server_context(setup.config.cluster.key)
    server = setup.config.server
    return Fitness(
        version=__version__,
        form=FORM,
        data=str(server.data),
        database=str(server.location),
        notes=plugin_report().problems,
    )


def check_node(setup: Setup) -> None:
    """As :func:`fitness`, before a node of a cluster stands by: what is at fault shows now, not at its takeover.

    The first node of all makes the database's tables. Raises DatabaseLocked where somebody else writes to it, too.
    """
    make_data(setup.config.server.data)
    deadline = time.monotonic() + _FIRST_S
    while schema.current(setup.database) is None:
        try:
            with DatabaseLock(setup.database, "cgos-server serve", LOCK_PATIENCE_S):
                schema.prepare(setup.database)
        except DatabaseLocked:  # perhaps by another node that makes them
            if schema.current(setup.database) is None and time.monotonic() > deadline:
                raise
    fitness(setup)


def check_certificate(setup: Setup) -> None:
    """Read it, where something is to speak TLS. Raises Refused where it cannot be used, or not by the server's user."""
    files = setup.config.tls.files
    if files is not None and setup.config.tls_listeners:
        read_certificate(files)
        check_owner_reads(files, setup.config.server.data)


def check_owner_reads(files: TlsFiles, data: Path) -> None:
    """Root can read everything, the server's user cannot: ask the system about whoever the data directory belongs to.

    Others than root have seen by their own reading; without a data directory nobody knows yet who it will be.
    :raises Refused: where that user cannot read a file of TLS
    """
    if os.geteuid() != 0 or not data.is_dir():
        return
    owner, group = data.stat().st_uid, data.stat().st_gid
    try:
        name = pwd.getpwuid(owner).pw_name
        groups = os.getgrouplist(name, group)
    except KeyError:
        name, groups = str(owner), [group]
    for path in (files.certificate, files.key):
        asked = subprocess.run(["test", "-r", path], user=owner, group=group, extra_groups=groups, check=False)
        if asked.returncode:
            raise Invalid(
                Code.CERTIFICATE,
                f"{path} cannot be read by the user {name}, whom {data} belongs to and who runs the server. Let that "
                "user's group read it (chgrp, chmod 640), and let it into the folders above.",
            )


def check_database(setup: Setup) -> bool:
    """Compare with what the database holds, if there is one. Raises SchemaMismatch and ConfigErrors."""
    if schema.current(setup.database) is None:
        return False
    stored = {venue.name: venue for venue in read(setup, lambda history: history.server.venues())}
    problems: list[ConfigError] = []
    for venue in setup.config.venue:
        try:
            if venue.name in stored:
                check_fixed(venue, stored[venue.name].fixed, setup.origin)
        except ConfigError as problem:
            problems.append(problem)
    if problems:
        raise ConfigErrors(problems)
    return True
