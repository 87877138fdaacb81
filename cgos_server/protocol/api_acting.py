"""The routes of the API ``/api/v1`` that need a token: one's own things, and an operator's.

Must not know: who handles them, who may do what.
"""

from __future__ import annotations

from typing import Any, Final

from cgos_server.protocol import api_people as people
from cgos_server.protocol.api_route import NDJSON, Limit, Needs, Operation, Param, limit_param, name_param

OWN, OWN_BOTS, ADMIN = "Your own", "Your own bots", "Operators"
_DONE = people.Done
_SESSION = "The answer holds the session's text, to be sent as `Authorization: Bearer ...` as a token is."
_SESSION_ONLY = "This needs a session (`POST /sign-in`); no token can do it."


def _own(id: str, method: Any, path: str, summary: str, answer: Any = _DONE, **more: Any) -> Operation:  # noqa: A002
    return Operation(id, method, path, summary, answer, OWN, **({"needs": Needs.TOKEN} | more))


def _bot(id: str, method: Any, deed: str, summary: str, answer: Any = _DONE, **more: Any) -> Operation:  # noqa: A002
    return Operation(id, method, f"/bots/{{bot}}/{deed}", summary, answer, OWN_BOTS, **({"needs": Needs.BOTS} | more))


def _admin(id: str, method: Any, path: str, summary: str, answer: Any = _DONE, **more: Any) -> Operation:  # noqa: A002
    return Operation(id, method, f"/admin{path}", summary, answer, ADMIN, needs=Needs.ADMIN, **more)


OWNERS: Final = (
    Operation("sign_in", "POST", "/sign-in", "Sign in with an account's password.", people.Session, OWN,
              body=people.SignIn, limit=Limit.SIGN_IN, about=_SESSION),
    Operation("register", "POST", "/accounts", "Make one's own account, where that is open, and sign in.",
              people.Session, OWN, body=people.Register, limit=Limit.SIGN_IN, status=201),
    _own("sign_out", "DELETE", "/me/session", "End the session with which this is asked."),
    _own("my_sessions", "GET", "/me/sessions", "One's own sessions.", people.Sessions),
    _own("change_password", "PUT", "/me/password", "Replace one's own password; every other session ends.",
         body=people.ChangePassword, limit=Limit.SIGN_IN, about=_SESSION_ONLY),
    _own("me", "GET", "/me", "Whose token this is, and what it may do.", people.Me),
    _own("my_bots", "GET", "/me/bots", "One's own bots.", people.OwnBots, needs=Needs.BOTS),
    _own("my_tokens", "GET", "/me/tokens", "One's own tokens for the API.", people.Tokens),
    _own("make_token", "POST", "/me/tokens", "Make a token for the API.", people.NewToken, body=people.MakeToken,
         status=201, about=_SESSION_ONLY),
    _own("revoke_token", "DELETE", "/me/tokens/{token}", "End a token, or a session by its number.",
         about="A token can end itself; every other one needs a session."),
    _own("my_webhooks", "GET", "/me/webhooks", "One's own webhooks.", people.Webhooks, needs=Needs.BOTS),
    _own("make_webhook", "POST", "/me/webhooks", "Be told by HTTP what one's bots do.", people.NewWebhook,
         body=people.MakeWebhook, status=201, needs=Needs.BOTS),
    _own("remove_webhook", "DELETE", "/me/webhooks/{webhook}", "Be told no more.", needs=Needs.BOTS),
    _bot("claim_bot", "POST", "claim", "Become a bot's owner, by its password or one of its tokens.",
         body=people.ClaimBot, limit=Limit.SIGN_IN),
    _bot("release_bot", "DELETE", "owner", "Give a bot up."),
    _bot("pause_bot", "POST", "pause", "Give a bot no new game; running games go on."),
    _bot("resume_bot", "POST", "resume", "Give it games again."),
    _bot("drain_bot", "POST", "drain", "Send a bot home when its running games have ended."),
    _bot("recall_bot", "POST", "recall", "Let a bot that was set aside play again.", body=people.RecallBot),
    _bot("bot_now", "GET", "now", "What a bot does just now, and why it is not paired.", people.OwnBotNow),
    _bot("set_limits", "PUT", "limits", "What a bot may do.", body=people.SetLimits),
    _bot("set_password", "PUT", "password", "Replace a bot's password.", body=people.SetPassword),
    _bot("bot_tokens", "GET", "tokens", "A bot's tokens.", people.Tokens),
    _bot("make_bot_token", "POST", "tokens", "Make a token with which a bot signs in.", people.NewToken,
         body=people.MakeBotToken, status=201),
    _bot("revoke_bot_token", "DELETE", "tokens/{token}", "End a bot's token's validity."),
    _bot("transcript", "GET", "transcript", "What was said on the wire, passwords masked.", people.TranscriptLine,
         media=(NDJSON,), limit=Limit.BULK, query=(
             Param("game", "number", "Only what is about this game.", 1),
             limit_param(20_000, 2_000, "Lines, the last ones."),
         )),
)  # fmt: skip

ADMINS: Final = (
    _admin("admin_status", "GET", "/status", "The live server.", people.ServerNow),
    _admin("admin_audit", "GET", "/audit", "What was done by whom, newest first.", people.AuditPage, query=(
        Param("before", "number", "Only those before this number: `next` of the page before.", 1),
        Param("actor", "text", "Done by.", 1, 64),
        Param("action", "text", "This deed, such as `bot disable`.", 1, 64),
        Param("subject", "text", "Done to.", 1, 64),
        limit_param(500, 100),
    )),
    _admin("admin_connections", "GET", "/connections", "Who signed in from where, newest first.", people.ConnectionPage,
           query=(
        name_param("bot", "Of this bot or version."),
        name_param("venue", "In the venue of this name."),
        Param("address", "text", "From exactly this address.", 1, 64),
        Param("open", "flag", "Only those without an end.", default=False),
        Param("before", "number", "Only those before this number: `next` of the page before.", 1),
        limit_param(500, 100),
    )),
    _admin("account_access", "GET", "/accounts/{account}/access", "Somebody's sessions and tokens.", people.AccessList,
           about="`DELETE /me/tokens/{token}` ends any of them."),
    _admin("add_bot", "POST", "/bots", "Register a bot that may play at once.", body=people.AddBot, status=201),
    _admin("set_owner", "PUT", "/bots/{bot}/owner", "Give a bot to an account, or to nobody.", body=people.SetOwner),
    _admin("link_family", "PUT", "/bots/{bot}/family", "Put a bot into another one's family.", body=people.LinkFamily),
    _admin("unlink_family", "DELETE", "/bots/{bot}/family", "Take a bot out of its family."),
    _admin("disable_bot", "POST", "/bots/{bot}/disable", "Keep a bot out.", body=people.DisableBot),
    _admin("enable_bot", "POST", "/bots/{bot}/enable", "Let a disabled bot play again."),
    _admin("approve_bot", "POST", "/bots/{bot}/approve", "Let a bot play that registered itself and waits."),
    _admin("kick_bot", "POST", "/bots/{bot}/kick", "Close a bot's connections. It may come back.",
           body=people.KickBot),
    _admin("abort_game", "POST", "/games/{game}/abort", "End a running game.", people.EndedGame, body=people.AbortGame),
    _admin("correct_game", "POST", "/games/{game}/correct", "Change what an ended game counts as.",
           body=people.CorrectGame),
    _admin("pause_venue", "POST", "/venues/{venue}/pause", "Pair nobody; running games go on."),
    _admin("resume_venue", "POST", "/venues/{venue}/resume", "Pair again."),
    _admin("set_anchor", "PUT", "/venues/{venue}/anchors/{version}", "State a version's rating.",
           body=people.SetAnchor),
    _admin("unset_anchor", "DELETE", "/venues/{venue}/anchors/{version}", "Let an anchor's rating move again."),
    _admin("arrange_match", "POST", "/matches", "Let two bots play now.", people.Arranged, body=people.ArrangeMatch,
           status=201),
    _admin("reload", "POST", "/reload", "Read the configuration again.", people.Reloaded),
    _admin("drain_server", "POST", "/drain", "End the running server in good order."),
    _admin("preview_pairing", "POST", "/venues/{venue}/preview", "What would be paired now; nothing comes of it.",
           people.Previewed, body=people.PreviewPairing),
    _admin("accounts", "GET", "/accounts", "All accounts of people.", people.Accounts),
    _admin("add_account", "POST", "/accounts", "Make a person's account.", body=people.AddAccount, status=201),
    _admin("set_account_password", "PUT", "/accounts/{account}/password",
           "Replace an account's password; its sessions end.", body=people.SetAccountPassword),
    _admin("disable_account", "POST", "/accounts/{account}/disable", "Keep a person out; its sessions and tokens end.",
           body=people.DisableAccount),
    _admin("enable_account", "POST", "/accounts/{account}/enable", "Let a person in again."),
    _admin("grant_right", "PUT", "/accounts/{account}/rights/{right}", "Give an account a right."),
    _admin("revoke_right", "DELETE", "/accounts/{account}/rights/{right}", "Take a right away."),
)  # fmt: skip
