"""The description of the API agrees with its table of routes and the types, and with what OpenAPI 3.1 asks."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cgos_protocol.api.route import PREFIX, Limit, Needs
from cgos_server.cli.main import main
from cgos_server.web.api import openapi
from cgos_server.web.api.operations import BY_ID, ROUTES

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    description: dict[str, Any] = json.loads(openapi.encoded(ROUTES))
    return description


def test_the_checked_in_description_is_the_one_that_is_generated() -> None:
    assert (ROOT / "docs/openapi.json").read_text("utf-8") == openapi.encoded(ROUTES), (
        "run: cgos-server protocol openapi"
    )


def test_every_route_is_described_once(document: dict[str, Any]) -> None:
    described = {(operation["operationId"], method, path) for path, place in document["paths"].items()
                 for method, operation in place.items()}  # fmt: skip
    assert described == {(route.id, route.method.lower(), PREFIX + route.path) for route in ROUTES}
    assert len(BY_ID) == len(ROUTES)
    assert max(Counter((route.method, route.path) for route in ROUTES).values()) == 1


def nodes(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
        for inner in node.values():
            yield from nodes(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from nodes(inner)


def test_generators_find_every_type_where_it_is_used(document: dict[str, Any]) -> None:
    """The lines of streams too; and no schema is a plain boolean, which some of them cannot read."""
    used = {node["$ref"].rpartition("/")[2] for node in nodes(document) if "$ref" in node}
    assert set(document["components"]["schemas"]) <= used
    assert "x-line" not in openapi.encoded(ROUTES)
    for node in nodes(document["components"]["schemas"]):
        if "prefixItems" in node:
            assert len(node["prefixItems"]) == node["minItems"] == node["maxItems"]
        assert not isinstance(node.get("items"), bool)


def test_every_operation_says_whether_it_needs_a_token(document: dict[str, Any]) -> None:
    assert document["security"] == []
    for route in ROUTES:
        operation = document["paths"][PREFIX + route.path][route.method.lower()]
        assert operation.get("security", []) == ([] if route.needs is Needs.NOTHING else [{"token": []}])


def test_names_say_of_which_characters_they_are(document: dict[str, Any]) -> None:
    names = [
        param["schema"]
        for place in document["paths"].values()
        for operation in place.values()
        for param in operation.get("parameters", ())
        if param["name"] in ("bot", "venue", "version", "one", "account")
    ]
    schemas = document["components"]["schemas"]
    for kind, field in (("Standing", "version"), ("Game", "black"), ("Venue", "name"), ("AddBot", "name")):
        names.append(schemas[kind]["properties"][field])
    assert {schema.get("pattern") for schema in names} == {"^[A-Za-z0-9_.-]*$"}
    password = schemas["Register"]["properties"]["password"]
    assert (password["minLength"], schemas["SetPassword"]["properties"]["password"]["minLength"]) == (10, 3)


def test_every_reference_leads_somewhere_and_stands_alone(document: dict[str, Any]) -> None:
    references = [node for node in nodes(document) if "$ref" in node]
    assert len(references) > 100
    for node in references:
        assert set(node) == {"$ref"}
        part: Any = document
        for step in node["$ref"].removeprefix("#/").split("/"):
            part = part[step]


def test_every_component_is_used(document: dict[str, Any]) -> None:
    used = {node["$ref"] for node in nodes(document) if "$ref" in node}
    for kind in ("schemas", "responses"):
        for name in document["components"][kind]:
            assert f"#/components/{kind}/{name}" in used, name


def test_people_can_read_it(document: dict[str, Any]) -> None:
    for route in ROUTES:
        operation = document["paths"][PREFIX + route.path][route.method.lower()]
        assert operation["summary"].endswith(".")
        assert all(param["description"].endswith(".") for param in operation.get("parameters", []))
        assert operation["tags"] == [route.group]
    for name, schema in document["components"]["schemas"].items():
        assert schema.get("description"), name
        assert ":ivar" not in schema["description"]
        assert "``" not in schema["description"]
    assert ":class:" not in openapi.encoded(ROUTES)


def test_paths_have_exactly_their_parameters(document: dict[str, Any]) -> None:
    for path, place in document["paths"].items():
        wanted = set(re.findall(r"{(\w+)}", path))
        for operation in place.values():
            params = operation.get("parameters", [])
            assert {param["name"] for param in params if param["in"] == "path"} == wanted
            assert all(param["required"] for param in params if param["in"] == "path")
            assert len({param["name"] for param in params}) == len(params)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.id)
def test_what_needs_a_token_says_so(document: dict[str, Any], route: Any) -> None:
    operation = document["paths"][PREFIX + route.path][route.method.lower()]
    needs = route.needs is not Needs.NOTHING
    assert ("security" in operation) is needs
    assert ("401" in operation["responses"]) is (needs or route.limit is Limit.SIGN_IN)
    assert {"429", "500", "503", str(route.status)} <= set(operation["responses"])
    assert set(operation["x-limits"]) <= {limit.value for limit in Limit}
    assert route.reads or needs or route.limit is Limit.SIGN_IN, "whoever writes is somebody"
    assert ("requestBody" in operation) is (route.body is not None)


def test_fields_are_explained_by_their_docstrings() -> None:
    from cgos_protocol.api.live import LiveMove

    words = openapi.field_words(LiveMove)
    assert words["at"] == "when it was played, Unix milliseconds"
    schema = openapi.document(ROUTES)["components"]["schemas"]["LiveMove"]
    assert schema["properties"]["at"]["description"] == words["at"]
    assert schema["description"] == openapi.prose(LiveMove.__doc__ or "") == "A move of the game that is watched."


def test_the_command_prints_it() -> None:
    result = CliRunner().invoke(main, ["protocol", "openapi"])
    assert result.exit_code == 0
    assert result.stdout == openapi.encoded(ROUTES)


def test_every_moment_is_in_milliseconds_unless_it_is_deprecated() -> None:
    """In answers, lines of streams and parameters."""
    schemas = openapi.document(ROUTES)["components"]["schemas"]
    moments = [
        (f"{kind}.{name}", field)
        for kind, schema in schemas.items()
        for name, field in schema.get("properties", {}).items()
        if name in ("at", "since", "until") or name.endswith("_at")
    ]
    assert len(moments) > 40
    other_units = {where for where, field in moments if field.get("deprecated")}
    assert other_units == {"BotNow.since", "VersionNow.since", "TranscriptLine.at", "PairingFigures.looked_at"}
    for where, field in moments:
        if where not in other_units:
            assert re.search("Unix (time in )?milliseconds", field.get("description", "")), where
            kinds = {field.get("type"), *(kind.get("type") for kind in field.get("anyOf", ()))}
            assert "integer" in kinds, where
    for route in ROUTES:
        for param in route.query:
            if param.name in ("at", "until") or (param.name == "since" and "ply" not in param.about):
                assert "Unix time in milliseconds" in param.about
