"""The routes of the API ``/api/v1`` that need a token: one's own things, and an operator's.

Must not know: who handles them, who may do what.
"""

from __future__ import annotations

from typing import Any, Final

from cgos_protocol.api import people
from cgos_protocol.api.route import NDJSON, Limit, Needs, Operation, Param, limit_param, name_param

OWN, OWN_BOTS, ADMIN = "Your own", "Your own bots", "Operators"
_DONE = people.Done
_SESSION = "The answer holds the session's text, to be sent as `Authorization: Bearer ...` as a token is."
_SESSION_ONLY = "This needs a session (`POST /sign-in`); no token can do it."


def _own(id: str, method: Any, path: str, summary: str, answer: Any = _DONE, **more: Any) -> Operation:  # noqa: A002
    return Operation(
        id=id, method=method, path=path, summary=summary, answer=answer, group=OWN, **({"needs": Needs.TOKEN} | more)
    )


def _bot(id: str, method: Any, deed: str, summary: str, answer: Any = _DONE, **more: Any) -> Operation:  # noqa: A002
    return Operation(
        id=id,
        method=method,
        path=f"/bots/{{bot}}/{deed}",
        summary=summary,
        answer=answer,
        group=OWN_BOTS,
        **({"needs": Needs.BOTS} | more),
    )


def _admin(id: str, method: Any, path: str, summary: str, answer: Any = _DONE, **more: Any) -> Operation:  # noqa: A002
    return Operation(
        id=id,
        method=method,
        path=f"/admin{path}",
        summary=summary,
        answer=answer,
        group=ADMIN,
        needs=Needs.ADMIN,
        **more,
    )


OWNERS: Final = (
    Operation(
        id="sign_in",
        method="POST",
        path="/sign-in",
        summary="Sign in with an account's password.",
        answer=people.Session,
        group=OWN,
        body=people.SignIn,
        limit=Limit.SIGN_IN,
        about=_SESSION,
    ),
    Operation(
        id="register",
        method="POST",
        path="/accounts",
        summary="Make one's own account, where that is open, and sign in.",
        answer=people.Session,
        group=OWN,
        body=people.Register,
        limit=Limit.SIGN_IN,
        status=201,
    ),
    _own("sign_out", "DELETE", "/me/session", "End the session with which this is asked."),
    _own("my_sessions", "GET", path="/me/sessions", summary="One's own sessions.", answer=people.Sessions),
    _own(
        "change_password",
        "PUT",
        "/me/password",
        "Replace one's own password; every other session ends.",
        body=people.ChangePassword,
        limit=Limit.SIGN_IN,
        about=_SESSION_ONLY,
    ),
    _own("me", "GET", path="/me", summary="Whose token this is, and what it may do.", answer=people.Me),
    _own("my_bots", "GET", path="/me/bots", summary="One's own bots.", answer=people.OwnBots, needs=Needs.BOTS),
    _own("my_tokens", "GET", path="/me/tokens", summary="One's own tokens for the API.", answer=people.Tokens),
    _own(
        "make_token",
        "POST",
        path="/me/tokens",
        summary="Make a token for the API.",
        answer=people.NewToken,
        body=people.MakeToken,
        status=201,
        about=_SESSION_ONLY,
    ),
    _own(
        "revoke_token",
        "DELETE",
        "/me/tokens/{token}",
        "End a token, or a session by its number.",
        about="A token can end itself; every other one needs a session.",
    ),
    _own(
        "my_webhooks",
        "GET",
        path="/me/webhooks",
        summary="One's own webhooks.",
        answer=people.Webhooks,
        needs=Needs.BOTS,
    ),
    _own(
        "make_webhook",
        "POST",
        path="/me/webhooks",
        summary="Be told by HTTP what one's bots do.",
        answer=people.NewWebhook,
        body=people.MakeWebhook,
        status=201,
        needs=Needs.BOTS,
    ),
    _own("remove_webhook", "DELETE", "/me/webhooks/{webhook}", "Be told no more.", needs=Needs.BOTS),
    _bot(
        "claim_bot",
        "POST",
        "claim",
        "Become a bot's owner, by its password or one of its tokens.",
        body=people.ClaimBot,
        limit=Limit.SIGN_IN,
    ),
    _bot("release_bot", "DELETE", "owner", "Give a bot up."),
    _bot("pause_bot", "POST", "pause", "Give a bot no new game; running games go on."),
    _bot("resume_bot", "POST", "resume", "Give it games again."),
    _bot("drain_bot", "POST", "drain", "Send a bot home when its running games have ended."),
    _bot("recall_bot", "POST", "recall", "Let a bot that was set aside play again.", body=people.RecallBot),
    _bot(
        "bot_now",
        "GET",
        deed="now",
        summary="What a bot does just now, and why it is not paired.",
        answer=people.OwnBotNow,
    ),
    _bot("set_limits", "PUT", "limits", "What a bot may do.", body=people.SetLimits),
    _bot("set_password", "PUT", "password", "Replace a bot's password.", body=people.SetPassword),
    _bot("bot_tokens", "GET", deed="tokens", summary="A bot's tokens.", answer=people.Tokens),
    _bot(
        "make_bot_token",
        "POST",
        deed="tokens",
        summary="Make a token with which a bot signs in.",
        answer=people.NewToken,
        body=people.MakeBotToken,
        status=201,
    ),
    _bot("revoke_bot_token", "DELETE", "tokens/{token}", "End a bot's token's validity."),
    _bot(
        "transcript",
        "GET",
        deed="transcript",
        summary="What was said on the wire, passwords masked.",
        answer=people.TranscriptLine,
        media=(NDJSON,),
        limit=Limit.BULK,
        query=(
            Param("game", "number", "Only what is about this game.", 1),
            limit_param(20_000, 2_000, "Lines, the last ones."),
        ),
    ),
)

ADMINS: Final = (
    _admin("admin_status", "GET", path="/status", summary="The live server.", answer=people.ServerNow),
    _admin(
        "admin_audit",
        "GET",
        path="/audit",
        summary="What was done by whom, newest first.",
        answer=people.AuditPage,
        query=(
            Param("before", "number", "Only those before this number: `next` of the page before.", 1),
            Param(name="actor", kind="text", about="Done by.", least=1, most=64),
            Param(name="action", kind="text", about="This deed, such as `bot disable`.", least=1, most=64),
            Param(name="subject", kind="text", about="Done to.", least=1, most=64),
            limit_param(500, 100),
        ),
    ),
    _admin(
        "admin_connections",
        "GET",
        path="/connections",
        summary="Who signed in from where, newest first.",
        answer=people.ConnectionPage,
        query=(
            name_param("bot", "Of this bot or version."),
            name_param("venue", "In the venue of this name."),
            Param(name="address", kind="text", about="From exactly this address.", least=1, most=64),
            Param("open", "flag", "Only those without an end.", default=False),
            Param("before", "number", "Only those before this number: `next` of the page before.", 1),
            limit_param(500, 100),
        ),
    ),
    _admin(
        "account_access",
        "GET",
        path="/accounts/{account}/access",
        summary="Somebody's sessions and tokens.",
        answer=people.AccessList,
        about="`DELETE /me/tokens/{token}` ends any of them.",
    ),
    _admin("add_bot", "POST", "/bots", "Register a bot that may play at once.", body=people.AddBot, status=201),
    _admin("set_owner", "PUT", "/bots/{bot}/owner", "Give a bot to an account, or to nobody.", body=people.SetOwner),
    _admin("link_family", "PUT", "/bots/{bot}/family", "Put a bot into another one's family.", body=people.LinkFamily),
    _admin("unlink_family", "DELETE", "/bots/{bot}/family", "Take a bot out of its family."),
    _admin("disable_bot", "POST", "/bots/{bot}/disable", "Keep a bot out.", body=people.DisableBot),
    _admin("enable_bot", "POST", "/bots/{bot}/enable", "Let a disabled bot play again."),
    _admin("approve_bot", "POST", "/bots/{bot}/approve", "Let a bot play that registered itself and waits."),
    _admin("kick_bot", "POST", "/bots/{bot}/kick", "Close a bot's connections. It may come back.", body=people.KickBot),
    _admin(
        "abort_game",
        "POST",
        path="/games/{game}/abort",
        summary="End a running game.",
        answer=people.EndedGame,
        body=people.AbortGame,
    ),
    _admin(
        "correct_game", "POST", "/games/{game}/correct", "Change what an ended game counts as.", body=people.CorrectGame
    ),
    _admin("pause_venue", "POST", "/venues/{venue}/pause", "Pair nobody; running games go on."),
    _admin("resume_venue", "POST", "/venues/{venue}/resume", "Pair again."),
    _admin(
        "set_anchor", "PUT", "/venues/{venue}/anchors/{version}", "State a version's rating.", body=people.SetAnchor
    ),
    _admin("unset_anchor", "DELETE", "/venues/{venue}/anchors/{version}", "Let an anchor's rating move again."),
    _admin(
        "arrange_match",
        "POST",
        path="/matches",
        summary="Let two bots play now.",
        answer=people.Arranged,
        body=people.ArrangeMatch,
        status=201,
    ),
    _admin("reload", "POST", path="/reload", summary="Read the configuration again.", answer=people.Reloaded),
    _admin("drain_server", "POST", "/drain", "End the running server in good order."),
    _admin(
        "preview_pairing",
        "POST",
        path="/venues/{venue}/preview",
        summary="What would be paired now; nothing comes of it.",
        answer=people.Previewed,
        body=people.PreviewPairing,
    ),
    _admin("accounts", "GET", path="/accounts", summary="All accounts of people.", answer=people.Accounts),
    _admin("add_account", "POST", "/accounts", "Make a person's account.", body=people.AddAccount, status=201),
    _admin(
        "set_account_password",
        "PUT",
        "/accounts/{account}/password",
        "Replace an account's password; its sessions end.",
        body=people.SetAccountPassword,
    ),
    _admin(
        "disable_account",
        "POST",
        "/accounts/{account}/disable",
        "Keep a person out; its sessions and tokens end.",
        body=people.DisableAccount,
    ),
    _admin("enable_account", "POST", "/accounts/{account}/enable", "Let a person in again."),
    _admin("grant_right", "PUT", "/accounts/{account}/rights/{right}", "Give an account a right."),
    _admin("revoke_right", "DELETE", "/accounts/{account}/rights/{right}", "Take a right away."),
)
