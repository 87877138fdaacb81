"""This process as one node of several on one database. Must not know: how the database is asked, what is in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MAIN: Final = "main"
"""The group of all venues of which nothing else is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One a process that is not alone.

    :ivar name: among the nodes
    :ivar group: the group of venues that it has or wants
    :ivar address: where others reach it, for people
    :ivar control: where commands of other nodes reach it, ``host:port``; empty for nowhere
    :ivar build: the id of what its numbers depend on (:func:`cgos_server.service.ratings.build.this_build`)
    :ivar ttl_s: seconds after which a node that has written nothing counts as dead
    :ivar any_build: True where it takes over from a node of another build, too
    :ivar inherits: True where a program of the same node has handed over to this one, in the same process: it need not
        wait until that one counts as dead
    """

    name: str
    address: str
    build: str
    ttl_s: float
    group: str = MAIN
    control: str = ""
    any_build: bool = False
    inherits: bool = False

    @property
    def beat_s(self) -> float:
        """Seconds without a commit after which its owner writes that it lives."""
        return self.ttl_s / 4

    @property
    def purpose(self) -> str:
        """What it holds the database for, as it is shown to others."""
        return f"cgos-server serve, node {self.name}"
