"""A registry as a scraper reads it: which text formats there are, which one is wanted, what it looks like.

Must not know: what is counted, who asks for it.
"""

from __future__ import annotations

import enum
from types import MappingProxyType
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder


class Form(enum.Enum):
    """A text format; the value is the byte that stands for it between our processes."""

    PROMETHEUS = b"p"
    OPENMETRICS = b"o"

    @property
    def content_type(self) -> str:
        """Of an answer in this format."""
        return choose_encoder(_ACCEPT[self])[1]


_ACCEPT: Final = MappingProxyType(
    {Form.PROMETHEUS: "", Form.OPENMETRICS: "application/openmetrics-text; version=1.0.0"}
)


def form_of(accept: str) -> Form:
    """The format that a scraper's header ``Accept`` asks for."""
    _encode, content_type = choose_encoder(accept)
    return Form.OPENMETRICS if content_type.startswith("application/openmetrics-text") else Form.PROMETHEUS


def rendered(registry: CollectorRegistry, form: Form) -> bytes:
    """All families as they are now."""
    encode, _content_type = choose_encoder(_ACCEPT[form])
    return encode(registry)
