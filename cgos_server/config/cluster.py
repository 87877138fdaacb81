"""What makes a process one node of several on one database, as types. Must not know: where values come from, how a node
takes over."""

from __future__ import annotations

import socket
from typing import Annotated

import msgspec

from cgos_protocol.options import Number, Text
from cgos_server.config.values import Words


class ClusterConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Several nodes on one database in PostgreSQL: one plays, the others [stand by](cluster.md)."""

    node: Annotated[
        str,
        Text(0, 32),
        "The name of this process among the nodes. Empty: it is alone, and the other keys have no effect.",
    ] = ""
    address: Annotated[
        str,
        Text(0, 255),
        "Where others reach this node, as `cgos-server cluster status` shows it; empty: its host's name.",
    ] = ""
    groups: Annotated[
        Words,
        "The groups of venues of which this node may have one, the one that it wants first first. Empty: any, in the "
        "order of the venues.",
    ] = Words()
    ttl_s: Annotated[
        float,
        Number(1, 300),
        "A node that has written nothing for so many seconds counts as dead, and another one takes over. The same "
        "on all of them.",
    ] = 5.0
    any_build: Annotated[
        bool,
        "Whether `serve --standby` takes over from a node with another Python, numpy, BLAS or processor, whose ratings "
        "may differ in their last bits.",
    ] = False

    @property
    def reached(self) -> str:
        """Where others reach this node."""
        return self.address or socket.gethostname()
