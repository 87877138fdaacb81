"""The one table of all routes of the API ``/api/v1``: what reading handlers declare, and the deeds' routes.

Routing, OpenAPI, the documentation and their tests come of it. Must not know: what handlers do.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from cgos_protocol.api.acting import ADMINS, OWNERS
from cgos_protocol.api.route import Operation
from cgos_server.web.api.readers import READING

ROUTES: Final[tuple[Operation, ...]] = (*READING, *OWNERS, *ADMINS)
"""Every operation once, in the documentation's order."""

BY_ID: Final = MappingProxyType({operation.id: operation for operation in ROUTES})
"""Operation id -> operation."""
