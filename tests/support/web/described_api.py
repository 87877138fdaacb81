"""Questions to the API that are drawn from its own description (schemathesis), and what their answers must hold.

They are drawn by a fixed seed, so that a run can be repeated.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hypothesis import HealthCheck, Phase, seed, settings

from cgos_server.web.api import openapi
from cgos_server.web.api.operations import ROUTES

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of its own dependencies, when it is imported
    import schemathesis
    from schemathesis.checks import CHECKS

Case = schemathesis.Case
Schema = schemathesis.BaseSchema

ANSWERS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)
"""What every answer must hold, whoever asks."""


def described(known: Mapping[str, Sequence[Any]], *, others: bool) -> schemathesis.BaseSchema:
    """The API as it is served, with what there is among the values of its paths.

    :param known: parameter of a path -> names or numbers that there are
    :param others: other values than these may be asked for, too
    """
    document: dict[str, Any] = json.loads(json.dumps(openapi.document(ROUTES)))
    for place in document["paths"].values():
        for operation in place.values():
            for param in operation.get("parameters", ()):
                param["schema"].pop("pattern", None)  # names that cannot be are asked for, too
                if param["in"] == "path" and param["name"] in known:
                    there = {"enum": known[param["name"]]}
                    param["schema"] = {"anyOf": [there, param["schema"]]} if others else there
    return schemathesis.openapi.from_dict(document)


def checks(names: Sequence[str]) -> list[Any]:
    """The checks of these names."""
    chosen = [check for check in CHECKS.get_all() if check.__name__ in names]
    assert len(chosen) == len(names)
    return chosen


def drawn(examples: int) -> Callable[[Any], Any]:
    """Makes a test of hypothesis ask so many questions, always the same."""
    wanted = settings(
        max_examples=examples, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    return lambda test: seed(20_261_122)(wanted(test))


def sent(case: schemathesis.Case, base_url: str) -> dict[str, Any]:
    """A question as the arguments of :meth:`httpx2.AsyncClient.request`."""
    arguments = case.as_transport_kwargs(base_url=base_url)
    kinds = ("method", "url", "params", "headers", "json", "content", "data")
    return {name: value for name, value in arguments.items() if name in kinds and value is not None}
