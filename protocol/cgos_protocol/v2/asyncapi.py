"""The description of ``cgos.v2`` in AsyncAPI 3, and the tables of its messages, made from the message types.

Must not know: connections, a server's configuration.
"""

from __future__ import annotations

import re
import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, NewType, Union, get_args, get_origin, get_type_hints

import msgspec

from cgos_protocol.v2 import messages as ws
from cgos_protocol.v2.dialogue import CLOSE_CODES, CODES, CONNECTION, GAME, LIMITS, State
from cgos_protocol.v2.encoding import JSON, MSGPACK
from cgos_protocol.v2.examples import examples_of

CLIENT: Final[tuple[type[msgspec.Struct], ...]] = get_args(ws.ClientMessage)
SERVER: Final[tuple[type[msgspec.Struct], ...]] = get_args(ws.ServerMessage)


def encoded() -> str:
    """The whole description as it is checked in: JSON for people, with a line end."""
    kinds = [*CLIENT, *SERVER]
    (*schemas, analysis), components = msgspec.json.schema_components([*kinds, ws.Analysis], ref_template=_REF)
    components["Move"]["properties"]["analysis"] = analysis  # read by itself, so that a move never fails by it
    components["Error"]["properties"]["code"]["enum"] = list(CODES)
    for component in components.values():
        if "description" in component:
            component["description"] = _prose(component["description"])
    messages = {tag(kind): _message(kind, schema) for kind, schema in zip(kinds, schemas, strict=True)}
    document = {
        "asyncapi": "3.0.0",
        "info": {
            "title": "cgos.v2",
            "version": f"{ws.VERSION}.0.0",
            "description": _DESCRIPTION,
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
        "channels": {"connection": _connection(messages)},
        "operations": {
            "hear": _operation("receive", "What the client says.", CLIENT),
            "say": _operation("send", "What the server says.", SERVER),
        },
        "components": {"messages": messages, "schemas": _as_draft_7(components)},
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def _message(kind: type[msgspec.Struct], schema: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": tag(kind),
        "title": kind.__name__,
        "summary": summary(kind),
        "contentType": "application/json",
        "payload": schema,
        "examples": [
            {"name": f"{tag(kind)}_{number}", "summary": when, "payload": message}
            for number, (when, message) in enumerate(examples_of(kind).items(), 1)
        ],
    }


def _connection(messages: Iterable[str]) -> dict[str, Any]:
    """The one channel; `messages` are the names of those that go over it."""
    return {
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
        "x-handshake": {"path": "/", "subprotocols": _SUBPROTOCOLS, "statuses": _STATUSES},
        "x-dialogue": {"connection": _states(CONNECTION), "game": _states(GAME)},
        "x-error-codes": {code: meaning._asdict() for code, meaning in CODES.items()},
        "x-close-codes": {str(code): meaning._asdict() for code, meaning in CLOSE_CODES.items()},
        "x-limits": {name: limit._asdict() for name, limit in LIMITS.items()},
    }


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
    text += ["| code | fatal | meaning |", "|---|---|---|"]
    text += [f"| `{code}` | {of.fatal} | {of.meaning} |" for code, of in CODES.items()]
    return "\n".join(text) + "\n"


_SUBPROTOCOLS: Final = {
    JSON.subprotocol: "One JSON object in each text frame.",
    MSGPACK.subprotocol: "The same as one MessagePack map in each binary frame.",
}
_STATUSES: Final = {
    "101": "The first subprotocol of these that the client offers is spoken. The server says `welcome`.",
    "400": "No subprotocol that the server speaks, or no handshake of WebSocket. The body says which.",
    "404": "There is nothing at this path.",
    "503": "Too many connections. Come back after a pause.",
}
_DESCRIPTION: Final = f"""\
The WebSocket protocol of cgos-server for bots and watchers. This document is all that a client needs.

**Messages.** One a frame: JSON in text frames (subprotocol {JSON.subprotocol}), or the same as MessagePack maps in
binary frames ({MSGPACK.subprotocol}). The field `type` says which message it is. Ignore fields and messages that you
do not know. A field that is not required may be absent, and then has the default of its schema. `*_ms` are whole
milliseconds, other times seconds since 1970 (UTC).

**Order.** `x-dialogue` of the channel has two tables of states: one for the connection, which begins in `opened`, and
one for each game on it, which begins in `unknown`. A step says who may say which message in a state, where its fields
have the values of `where`, and which state comes then. What a client says otherwise is answered by an `error` of the
code under `errors`, and changes nothing. `x-error-codes` and `x-close-codes` say what an ending means and whether to
come back (`again`): after a pause, longer each time, at least `retry_after_s` where it was given. Take an unknown
code by its field `fatal`.

**Play.** Wait for `signed_in`. Each `game` has a number, and its plies count from 1; Black makes the odd ones. When
`turn` or `moved` with `your_turn` says so, answer with `move` at that ply (of `turn`), or the next one (of `moved`).
Your move has no answer of its own: the opponent's `moved`, or `over`, shows that it counted. Sending the same again
is harmless.

**Moves.** A vertex is a column letter from A without I and a row number from 1 at the bottom: `D4`. Any word that
begins with `pa` is a pass; `resign` resigns; capitals do not matter. The server writes `D4` and `PASS`. A word that
is none of these, or an illegal move, loses the game. Two passes in a row end it; all stones then count as alive, and
points are counted by area.

**After a cut.** Nothing is kept for a connection. Connect and sign in again, and name the games that you know in
`games`, each with its last ply. `game` then brings the moves after `from_ply`; whatever you hold beyond `from_ply`
was never committed.

**Events.** A tournament has a name. `enter_event` enters it, as do `events` in `sign_in`; the answer is `event`, or an
`error` that is not fatal, and both name it in `event`. What happens there is told by `event`; `check_in` alone wants an
answer: a message of the same name, before `until`. Take an unknown word in `what` by its `text`. The name of a series
means the latest event of it: enter it again when `followed` tells of the next one.

**Names and passwords** have patterns in the schema of `sign_in`; a name is unique whatever its capitals. Where
registration is open an unknown name is registered with the password that it brings. A token stands in for a password.

**Pings.** The server pings; answer with a pong (most libraries do). `x-limits` has the intervals, and every size and
number that is bounded; an operator may change those that have a `key`.
"""

_REF: Final = "#/components/schemas/{name}"
_ROLE: Final = re.compile(r":\w+:`~?(?:[\w.]+\.)?(\w+)`")


def _prose(docstring: str) -> str:
    """A docstring as one paragraph of Markdown."""
    return " ".join(_ROLE.sub(r"`\1`", docstring).replace("``", "`").split())


def _as_draft_7(node: Any) -> Any:
    """A schema in the dialect of AsyncAPI: beside a reference nothing else counts, `items` may be a list, and a
    discriminator, which is no more than a word there, is said by the parts themselves."""
    if isinstance(node, dict):
        if "$ref" in node:
            return {"$ref": node["$ref"]}
        plain = {key: inner for key, inner in node.items() if key != "discriminator" or not isinstance(inner, dict)}
        return {"items" if key == "prefixItems" else key: _as_draft_7(inner) for key, inner in plain.items()}
    return [_as_draft_7(inner) for inner in node] if isinstance(node, list) else node


def _states(states: Mapping[str, State]) -> dict[str, Any]:
    """Each state with its steps, first the one a dialogue begins in."""
    return {
        name: {
            "meaning": state.meaning,
            "steps": [
                {"by": step.by, "message": step.message, "then": step.then}
                | ({"where": step.where} if step.where else {})
                for step in state.steps
            ],
            "errors": state.errors,
        }
        for name, state in states.items()
    }


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
    if isinstance(kind, NewType):
        return _words(kind.__supertype__, parts)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        parts.add(kind)
        return kind.__name__
    return {str: "text", int: "integer", float: "number", bool: "true or false"}[kind]
