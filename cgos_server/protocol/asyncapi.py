"""The description of ``cgos.v2`` in AsyncAPI 3, and the tables of its messages, made from the message types.

Must not know: connections, a server's configuration.
"""

from __future__ import annotations

import re
import types
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from cgos_server.protocol import ws_messages as ws
from cgos_server.protocol.ws_encoding import JSON, MSGPACK

CLIENT: Final[tuple[type[msgspec.Struct], ...]] = get_args(ws.ClientMessage)
SERVER: Final[tuple[type[msgspec.Struct], ...]] = get_args(ws.ServerMessage)

CODES: Final[Mapping[str, str]] = {
    "invalid": "The message has not the shape that it must have, or a value is out of range.",
    "malformed": "The frame holds no message: no JSON or MessagePack, or nested too deeply.",
    "utf-8": "Text that is no UTF-8. Fatal in a text frame.",
    "wrong-frame": "A text frame where MessagePack was chosen, or a binary one where JSON was. Fatal.",
    "too-large": "The message is longer than it may be. Fatal.",
    "fragments": "A message in too many frames. Fatal.",
    "flood": "Too many messages of no use, or pings, within a minute. Fatal.",
    "login-timeout": "Neither a sign-in nor a wish to watch in time. Fatal.",
    "not-signed-in": "Sign in first, or wait until that has succeeded.",
    "signed-in": "A connection signs in once.",
    "name": "The bot's name is against the rules. Fatal.",
    "wire-name": "The version's wire name is against the rules, or taken. Fatal.",
    "hours": "`limits.hours` cannot be read; the text says how to write them. Fatal in a sign-in.",
    "password": "The password is against the rules. Fatal.",
    "no-venue": "The server has no such venue. Fatal at a sign-in.",
    "operator": "Operators use the CGOS ports or the command line. Fatal.",
    "no-game": "No running game of this bot, or no game of this venue, has that number.",
    "gap": "The ply is not the next one: send `sync`.",
    "not-your-turn": "It is not this bot's move; wait for `turn` or `moved` with `your_turn`.",
    "contradiction": "Another move stands at that ply already: send `sync`.",
    "analysis": "The move counts; its analysis, or what followed its word, was dropped: the text names the field.",
    "too-many": "The connection watches as many games as it may.",
    "replaced": "Another client signed in as this bot, and this connection did not answer. Fatal.",
    "already-here": "This bot is signed in, and that connection answers. Fatal; `retry_after_s` is given.",
    "dismissed": "An operator ends the connection. Fatal.",
    "wrong-password": "The name has another password, or this is no token of it. Fatal.",
    "too-many-failures": "Too many wrong passwords: the text says when to try again. Fatal.",
    "name-taken": "The name, or the version's wire name, is somebody else's; capitals make no difference. Fatal.",
    "name-or-password": "A new name or password is against the rules. Fatal.",
    "version": "The version's name is longer than it may be, or not printable ASCII. Fatal.",
    "registration-closed": "Nobody has the name, and only the operator adds new ones. Fatal.",
    "waits-approval": "The name is registered; the operator has yet to let it in. Try again later. Fatal.",
    "disabled": "The operator has shut the bot out; the text says why. Fatal.",
    "unknown-name": "Nobody has the name, so its password cannot be changed. Fatal.",
    "unknown-token": "Nobody has the name, so it has no token: register with a password. Fatal.",
    "token-cannot-change": "A password is changed with the old password. Fatal.",
    "already-arriving": "Another sign-in of this bot is just being looked at. Fatal; `retry_after_s` is given.",
    "busy": "Too many sign in at once: try again in half a minute. Fatal.",
    "store": "The server cannot reach its database just now. Fatal; `retry_after_s` is given.",
    "our-fault": "The server failed, by a fault of its own: tell its operator. Fatal.",
}
"""Codes of `error`. Most of the later ones are the words of :class:`~cgos_server.service.accounts.Accounts`."""


def document() -> dict[str, Any]:
    """The whole description."""
    kinds = [*CLIENT, *SERVER]
    (*schemas, analysis), components = msgspec.json.schema_components([*kinds, ws.Analysis], ref_template=_REF)
    components["Move"]["properties"]["analysis"] = analysis  # read by itself, so that a move never fails by it
    for component in components.values():
        if "description" in component:
            component["description"] = _prose(component["description"])
    messages = {
        tag(kind): {
            "name": tag(kind),
            "title": kind.__name__,
            "summary": summary(kind),
            "contentType": "application/json",
            "payload": schema,
        }
        for kind, schema in zip(kinds, schemas, strict=True)
    }
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "cgos.v2",
            "version": f"{ws.VERSION}.0.0",
            "description": (
                "The WebSocket protocol of cgos-server for bots and watchers. One message a frame: JSON in text frames "
                f"(subprotocol {JSON.subprotocol}), or the same as MessagePack maps in binary frames "
                f"({MSGPACK.subprotocol}). Fields that are not known are ignored. The server speaks first (welcome)."
            ),
            "license": {"name": "MIT"},
        },
        "defaultContentType": "application/json",
        "servers": {
            "server": {
                "host": "localhost:6868",
                "protocol": "ws",
                "description": "The port is configured by websocket.port; TLS is a reverse proxy's work.",
            }
        },
        "channels": {
            "connection": {
                "address": "/",
                "title": "One WebSocket connection",
                "servers": [{"$ref": "#/servers/server"}],
                "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in messages},
                "bindings": {
                    "ws": {
                        "method": "GET",
                        "headers": {
                            "type": "object",
                            "required": ["Sec-WebSocket-Protocol"],
                            "properties": {
                                "Sec-WebSocket-Protocol": {
                                    "type": "string",
                                    "enum": [JSON.subprotocol, MSGPACK.subprotocol],
                                }
                            },
                        },
                        "bindingVersion": "0.1.0",
                    }
                },
            }
        },
        "operations": {
            "hear": _operation("receive", "What the client says.", CLIENT),
            "say": _operation("send", "What the server says.", SERVER),
        },
        "components": {"messages": messages, "schemas": _alone(components)},
    }


def encoded() -> str:
    """The description as it is checked in: JSON for people, with a line end."""
    return msgspec.json.format(msgspec.json.encode(document()), indent=2).decode() + "\n"


def tag(kind: type[msgspec.Struct]) -> str:
    """The word in a message's field `type`."""
    return str(kind.__struct_config__.tag)


def summary(kind: type[msgspec.Struct]) -> str:
    """The first paragraph about a message, in one line."""
    return _prose((kind.__doc__ or "").split("\n\n")[0])


def tables() -> str:
    """Every message with its fields, and every code of `error`, as Markdown."""
    parts: set[type[msgspec.Struct]] = set()
    text = ["### What the client says", "", *_table(CLIENT, parts), "", "### What the server says", ""]
    text += [*_table(SERVER, parts), "", "### What messages are made of", ""]
    done: set[type[msgspec.Struct]] = set()
    rows: list[str] = []
    while parts - done:
        kind = min(parts - done, key=lambda part: part.__name__)
        done.add(kind)
        rows += _rows(kind, kind.__name__, parts)
    text += ["| part | fields | meaning |", "|---|---|---|", *sorted(rows), "", "### Codes of `error`", ""]
    text += ["| code | meaning |", "|---|---|", *(f"| `{code}` | {meaning} |" for code, meaning in CODES.items())]
    return "\n".join(text) + "\n"


_REF: Final = "#/components/schemas/{name}"
_ROLE: Final = re.compile(r":\w+:`~?(?:[\w.]+\.)?(\w+)`")


def _prose(docstring: str) -> str:
    """A docstring as one paragraph of Markdown."""
    return " ".join(_ROLE.sub(r"`\1`", docstring).replace("``", "`").split())


def _alone(node: Any) -> Any:
    """A schema whose references stand alone: beside one nothing else counts."""
    if isinstance(node, dict):
        return {"$ref": node["$ref"]} if "$ref" in node else {key: _alone(inner) for key, inner in node.items()}
    return [_alone(inner) for inner in node] if isinstance(node, list) else node


def _operation(action: str, words: str, kinds: Sequence[type[msgspec.Struct]]) -> dict[str, Any]:
    return {
        "action": action,
        "summary": words,
        "channel": {"$ref": "#/channels/connection"},
        "messages": [{"$ref": f"#/channels/connection/messages/{tag(kind)}"} for kind in kinds],
    }


def _table(kinds: Sequence[type[msgspec.Struct]], parts: set[type[msgspec.Struct]]) -> list[str]:
    rows = [row for kind in kinds for row in _rows(kind, tag(kind), parts)]
    return ["| message | fields | meaning |", "|---|---|---|", *rows]


def _rows(kind: type[msgspec.Struct], name: str, parts: set[type[msgspec.Struct]]) -> list[str]:
    hints = get_type_hints(kind, include_extras=True)
    shape = kind.__struct_config__
    fields = [f'`{shape.tag_field}` "{shape.tag}"'] if shape.tag_field not in (None, "type") else []
    for field in msgspec.structs.fields(kind):
        optional = "" if field.required else "?"
        fields.append(f"`{field.encode_name}`{optional} {_words(hints[field.name], parts)}{_else(field.default)}")
    meaning = _prose(kind.__doc__ or "").replace("|", "\\|")
    array = "array of " if shape.array_like else ""
    return [f"| `{name}` | {array}{', '.join(fields) or '-'} | {meaning} |"]


def _else(default: object) -> str:
    """What holds where an optional field is absent, unless that is nothing, zero, empty or false."""
    return " (else true)" if default is True else f" (else {default})" if type(default) is int and default else ""


def _words(kind: Any, parts: set[type[msgspec.Struct]]) -> str:
    """A type for people. Structs that are met go into `parts`."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _words(args[0], parts)
    if origin in (Union, types.UnionType):
        inner = [arg for arg in args if arg not in (type(None), msgspec.UnsetType)]
        if all(isinstance(arg, type) and issubclass(arg, msgspec.Struct) for arg in inner) and len(inner) > 1:
            parts.update(inner)
            return "one of " + ", ".join(sorted(arg.__name__ for arg in inner))
        words = " or ".join(dict.fromkeys(_words(arg, parts) for arg in inner))
        return f"{words} or null" if type(None) in args else words
    if origin is Literal:
        return " or ".join(f'"{arg}"' for arg in args)
    if origin is list:
        return f"list of {_words(args[0], parts)}"
    if origin is dict:
        return f"object of {_words(args[1], parts)}"
    if kind is Any:
        return "anything"
    if kind is msgspec.Raw:
        parts.add(ws.Analysis)
        return "Analysis"
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        parts.add(kind)
        return kind.__name__
    return {str: "text", int: "integer", float: "number", bool: "true or false"}[kind]
