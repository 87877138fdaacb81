"""The record of who did what to the server, in the same commit as what was done.

Must not know: what was done. Never holds a password or a token.
"""

from __future__ import annotations

import msgspec

from cgos_server.storage.writing.records import AuditAdded


def audit(at: int, actor: str, action: str, subject: str, **detail: str | int | float | bool) -> AuditAdded:
    """One row. `at` in Unix milliseconds, `action` as ``bot disable``, `detail` whatever explains it to people."""
    return AuditAdded(
        at=at,
        actor=actor,
        action=action,
        subject=subject,
        detail=msgspec.json.encode(detail, order="deterministic").decode(),
    )
