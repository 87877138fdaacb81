"""The description of cgos.v2 agrees with the types, and with what AsyncAPI 3 asks of a document."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from cgos_protocol.v2 import asyncapi
from cgos_protocol.v2 import messages as ws

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    document_: dict[str, Any] = json.loads(asyncapi.encoded())
    return document_


def test_the_checked_in_description_is_the_one_that_is_generated() -> None:
    assert (ROOT / "docs/asyncapi.json").read_text("utf-8") == asyncapi.encoded(), "run: cgos-server protocol asyncapi"


def test_the_page_has_the_tables_that_are_generated() -> None:
    assert asyncapi.tables() in (ROOT / "docs/protocol.md").read_text("utf-8"), "run: cgos-server protocol tables"


def resolved(document: dict[str, Any], reference: str) -> Any:
    assert reference.startswith("#/"), reference
    node: Any = document
    for step in reference[2:].split("/"):
        node = node[step.replace("~1", "/").replace("~0", "~")]
    return node


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if "$ref" in node:
            assert set(node) == {"$ref"}, f"what stands beside a reference is ignored: {node}"
            yield node["$ref"]
        for inner in node.values():
            yield from references(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from references(inner)


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    all_references = list(references(document))
    assert len(all_references) > 50
    for reference in all_references:
        assert resolved(document, reference)


ALLOWED = {
    "": ({"asyncapi", "info"}, {"id", "servers", "defaultContentType", "channels", "operations", "components"}),
    "info": ({"title", "version"}, {"description", "termsOfService", "contact", "license", "tags", "externalDocs"}),
    "server": ({"host", "protocol"}, {"protocolVersion", "pathname", "description", "title", "summary", "variables",
                                      "security", "tags", "externalDocs", "bindings"}),
    "channel": (set(), {"address", "messages", "title", "summary", "description", "servers", "parameters", "tags",
                        "externalDocs", "bindings"}),
    "operation": ({"action", "channel"}, {"title", "summary", "description", "security", "tags", "externalDocs",
                                          "bindings", "traits", "messages", "reply"}),
    "message": (set(), {"headers", "payload", "correlationId", "contentType", "name", "title", "summary",
                        "description", "tags", "externalDocs", "bindings", "examples", "traits"}),
    "components": (set(), {"schemas", "servers", "channels", "operations", "messages", "securitySchemes",
                           "serverVariables", "parameters", "correlationIds", "replies", "replyAddresses",
                           "externalDocs", "tags", "operationTraits", "messageTraits", "serverBindings",
                           "channelBindings", "operationBindings", "messageBindings"}),
    "ws": (set(), {"method", "query", "headers", "bindingVersion"}),
}  # fmt: skip
"""Fields of the objects of AsyncAPI 3.0.0: required and further ones."""

KEY = re.compile(r"^[\w\d.\-_]+$")


def test_the_document_has_the_form_of_asyncapi_3(document: dict[str, Any]) -> None:
    def check(kind: str, node: dict[str, Any]) -> None:
        required, optional = ALLOWED[kind]
        own = {name for name in node if not name.startswith("x-")}
        assert required <= own <= required | optional, (kind, sorted(node))

    check("", document)
    assert document["asyncapi"] == "3.0.0"
    check("info", document["info"])
    for server in document["servers"].values():
        check("server", server)
        assert server["protocol"] in ("ws", "wss")
        assert "/" not in server["host"]
    for name, channel in document["channels"].items():
        assert KEY.match(name)
        check("channel", channel)
        for reference in channel["servers"]:
            assert reference["$ref"].startswith("#/servers/")
        for message in channel["messages"].values():
            assert message["$ref"].startswith("#/components/messages/")
        check("ws", channel["bindings"]["ws"])
    for operation in document["operations"].values():
        check("operation", operation)
        assert operation["action"] in ("send", "receive")
        channel = operation["channel"]["$ref"]
        assert channel.startswith("#/channels/")
        for message in operation["messages"]:
            assert message["$ref"].startswith(f"{channel}/messages/"), "an operation's messages are its channel's"
    check("components", document["components"])
    for part in document["components"].values():
        for name in part:
            assert KEY.match(name)
    for message in document["components"]["messages"].values():
        check("message", message)


def test_every_message_goes_in_exactly_one_direction(document: dict[str, Any]) -> None:
    heard, sent = (
        {reference["$ref"].rsplit("/", 1)[1] for reference in document["operations"][name]["messages"]}
        for name in ("hear", "say")
    )
    assert document["operations"]["hear"]["action"] == "receive"
    assert document["operations"]["say"]["action"] == "send"
    assert heard == {asyncapi.tag(kind) for kind in get_args(ws.ClientMessage)}
    assert sent == {asyncapi.tag(kind) for kind in get_args(ws.ServerMessage)}
    assert not heard & sent
    assert heard | sent == document["channels"]["connection"]["messages"].keys()
    assert heard | sent == document["components"]["messages"].keys()


def test_payloads_say_which_message_they_are(document: dict[str, Any]) -> None:
    for name, message in document["components"]["messages"].items():
        schema = resolved(document, message["payload"]["$ref"])
        assert schema["properties"]["type"] == {"enum": [name]}
        assert "type" in schema["required"]


def test_every_message_and_every_field_is_described(document: dict[str, Any]) -> None:
    for name, schema in document["components"]["schemas"].items():
        assert schema.get("description"), name
        assert ":attr:" not in schema["description"]
        assert "``" not in schema["description"]


def test_the_tables_say_what_an_example_would_show() -> None:
    """What a reader cannot guess: the form of a move in a list, how facts are told apart, what absence means."""
    tables = asyncapi.tables()
    assert "| `Ply` | array of `move` text, `left_ms` integer |" in tables
    assert msgspec.json.encode(ws.Ply("D4", 299_000)) == b'["D4",299000]'
    assert '| `BotLeft` | `fact` "BotLeft", `venue` text, `version` text |' in tables
    assert "`slots`? integer (else 1)" in tables
    assert "`rated`? true or false (else true)" in tables
    assert "`fatal`? true or false," in tables


def test_types_that_the_tables_cannot_word_are_found() -> None:
    class Odd(msgspec.Struct):
        """Odd."""

        field: bytes

    with pytest.raises(KeyError):
        asyncapi._rows(Odd, "odd", set())
