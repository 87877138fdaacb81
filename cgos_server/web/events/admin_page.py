"""Events for operators: announcing one, and the way to those that are on.

Must not know: SQL, what a command does, who is an operator.
"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from cgos_server.tournaments.registry import words
from cgos_server.tournaments.running.state import AFTER
from cgos_server.web.people.form_page import FormPage
from cgos_server.web.people.sessions import Visit


class AdminEvents(FormPage):
    """Events that are not over, and the form that announces one."""

    address = "/admin/events"
    template = "people/admin_events.html"

    async def values(self, request: Request, here: Visit) -> dict[str, Any]:  # noqa: ARG002
        rows = [row for row in await self.site.history.events.all() if row.phase not in AFTER]
        return {
            "events": await self.site.events.summaries(rows),
            "choices": {"system": {word: word for word in words()}},
        }
