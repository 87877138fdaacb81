"""The one table of all routes of the API ``/api/v1``: routing, OpenAPI, the documentation and their tests come of it.

Must not know: who handles them.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from cgos_protocol.api.acting import ADMINS, OWNERS
from cgos_protocol.api.reading import READING
from cgos_protocol.api.route import Operation

ROUTES: Final[tuple[Operation, ...]] = (*READING, *OWNERS, *ADMINS)
"""Every operation once, in the documentation's order."""

BY_ID: Final = MappingProxyType({operation.id: operation for operation in ROUTES})
"""Operation id -> operation."""
