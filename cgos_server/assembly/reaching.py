"""The way to the nodes of a cluster, as the configuration has it. Must not know: what they are asked."""

from __future__ import annotations

from cgos_server.config.schema import Config
from cgos_server.net import node_control
from cgos_server.observability.transcript_files import FOLDER
from cgos_server.service.commands.registry import Call
from cgos_server.service.nodes.erasing import FilesOfNodes
from cgos_server.service.nodes.nodes import Nodes, Place
from cgos_server.service.nodes.transcripts import NodeTranscripts, OwnTranscripts, Transcripts
from cgos_server.service.personal.kept_files import KeptFiles


def nodes_reached(config: Config, own: Call | None = None) -> Nodes:
    """All nodes of the cluster of which the configuration is. Raises Refused where its key cannot be used.

    :param own: asks the node of this machine
    """
    cluster, database = config.cluster, config.server.database
    assert database is not None  # the configuration of a cluster is refused otherwise
    context = None if cluster.key is None else node_control.client_context(cluster.key)
    return Nodes(Place(url=database, ttl_s=cluster.ttl_s, context=context, node=cluster.node, here=own))


def transcripts_of(config: Config) -> Transcripts:
    """What bots and the server said to each other: in this data directory, or of all nodes of the cluster."""
    if not config.cluster.node:
        return OwnTranscripts(config.server.data)
    return NodeTranscripts(nodes_reached(config), config.transcripts.days, config.cluster.node, config.server.data)


def kept_files(config: Config) -> KeptFiles:
    """What is kept of people in files, here and on the machines of other nodes."""
    others = None
    if config.cluster.node:
        others = FilesOfNodes(nodes_reached(config), config.transcripts.days, config.cluster.node)
    return KeptFiles(config.server.data / FOLDER, others)
