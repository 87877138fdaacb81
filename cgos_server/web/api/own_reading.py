"""The routes of the API ``/api/v1`` that read what needs a token: one's own things, and an operator's.

What changes something is declared by its command. Must not know: who handles them, who may do what.
"""

from __future__ import annotations

from typing import Any, Final

from cgos_protocol.api import people
from cgos_protocol.api.route import NDJSON, Limit, Needs, Operation, Param, limit_param, name_param

OWN, OWN_BOTS, ADMIN = "Your own", "Your own bots", "Operators"


def _read(id: str, path: str, summary: str, answer: Any, *, needs: Needs, **more: Any) -> Operation:  # noqa: A002
    group = OWN_BOTS if path.startswith("/bots/") else ADMIN if needs is Needs.ADMIN else OWN
    return Operation(id=id, method="GET", path=path, summary=summary, answer=answer, group=group, needs=needs, **more)


OWNERS_READING: Final = (
    _read("my_sessions", "/me/sessions", "One's own sessions.", people.Sessions, needs=Needs.TOKEN),
    _read("me", "/me", "Whose token this is, and what it may do.", people.Me, needs=Needs.TOKEN),
    _read("my_bots", "/me/bots", "One's own bots.", people.OwnBots, needs=Needs.BOTS),
    _read("my_tokens", "/me/tokens", "One's own tokens for the API.", people.Tokens, needs=Needs.TOKEN),
    _read("my_webhooks", "/me/webhooks", "One's own webhooks.", people.Webhooks, needs=Needs.BOTS),
    _read("bot_tokens", "/bots/{bot}/tokens", "A bot's tokens.", people.Tokens, needs=Needs.BOTS),
    _read(
        "transcript",
        "/bots/{bot}/transcript",
        "What was said on the wire, passwords masked.",
        people.TranscriptLine,
        needs=Needs.BOTS,
        media=(NDJSON,),
        limit=Limit.BULK,
        query=(
            Param("game", "number", "Only what is about this game.", 1),
            limit_param(20_000, 2_000, "Lines, the last ones."),
        ),
    ),
)

ADMINS_READING: Final = (
    _read(
        "admin_audit",
        "/admin/audit",
        "What was done by whom, newest first.",
        people.AuditPage,
        needs=Needs.ADMIN,
        query=(
            Param("before", "number", "Only those before this number: `next` of the page before.", 1),
            Param(name="actor", kind="text", about="Done by.", least=1, most=64),
            Param(name="action", kind="text", about="This deed, such as `bot disable`.", least=1, most=64),
            Param(name="subject", kind="text", about="Done to.", least=1, most=64),
            limit_param(500, 100),
        ),
    ),
    _read(
        "admin_connections",
        "/admin/connections",
        "Who signed in from where, newest first.",
        people.ConnectionPage,
        needs=Needs.ADMIN,
        query=(
            name_param("bot", "Of this bot or version."),
            name_param("venue", "In the venue of this name."),
            Param(name="address", kind="text", about="From exactly this address.", least=1, most=64),
            Param("open", "flag", "Only those without an end.", default=False),
            Param("before", "number", "Only those before this number: `next` of the page before.", 1),
            limit_param(500, 100),
        ),
    ),
    _read(
        "account_access",
        "/admin/accounts/{account}/access",
        "Somebody's sessions and tokens.",
        people.AccessList,
        needs=Needs.ADMIN,
        about="`DELETE /me/tokens/{token}` ends any of them.",
    ),
    _read("accounts", "/admin/accounts", "All accounts of people.", people.Accounts, needs=Needs.ADMIN),
)
