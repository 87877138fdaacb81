"""What makes a process one node of several on one database, as types. Must not know: where values come from, how a node
takes over."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Annotated

import msgspec

from cgos_protocol.options import Number, Text
from cgos_server.config.values import Port, Words


class ClusterConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Several nodes on one database in PostgreSQL: one plays, the others [stand by](cluster.md)."""

    node: Annotated[
        str,
        Text(0, 32),
        "The name of this process among the nodes: letters, digits, `_`, `.` and `-`. Empty: it is alone, and the "
        "other keys have no effect.",
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
    control_port: Annotated[
        Port | None,
        "The port where commands given on other nodes' machines reach this one, by TLS with `cluster.key`; without the "
        "key there is none.",
    ] = None
    key: Annotated[
        Path | None,
        "File (PEM) with the certificate of the cluster and its private key, the same on all nodes: whoever has it may "
        "give any command. A relative path in a file counts from the file's directory.",
    ] = None
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

    @property
    def control(self) -> str:
        """Where commands reach this node, ``host:port``; empty for nowhere."""
        return "" if self.control_port is None else f"{self.reached}:{self.control_port}"
