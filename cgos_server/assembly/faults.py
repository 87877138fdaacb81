"""What the log says of an error that nobody expected. Must not know: where it came from."""

from __future__ import annotations

import structlog

from cgos_protocol.errors import StoreError
from cgos_server.storage.writing.causes import cause_of

log = structlog.get_logger(__name__)


def report(error: Exception) -> None:
    """Log a fault of ours, or that the database does not answer."""
    remedy = remedy_of(error) if isinstance(error, StoreError) else None
    if remedy is None:
        log.error("our fault", exc_info=error)
    else:
        log.error("the database does not answer", why=str(error), remedy=remedy)


def remedy_of(error: Exception) -> str | None:
    """What the operator can do about it, where that is known."""
    cause = cause_of(error)
    return None if cause is None else cause.value
