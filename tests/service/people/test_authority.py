"""Who may have what done: every command, by every kind of right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, get_args, get_origin

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.errors import Refused
from cgos_server.service.commands.availability import BotPause, Kick
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.registry import COMMANDS
from cgos_server.service.commands.tokens import AccessRevoke
from cgos_server.service.commands.webhooks import WebhookAdd
from cgos_server.service.people.authority import may
from cgos_server.storage.reading.stored import Person

KINDS = COMMANDS
OWN_BOT = (Right.OWN_BOT, Right.OWN_BOT_IF_NAMED)


def having(*rights: Right) -> tuple[type[Command[Any]], ...]:
    """The commands that declare one of these rights."""
    return tuple(kind for kind in COMMANDS if kind.allowed in rights)


OWNER, OTHER = 7, 8
THEIR_ACCESS = 70
"""The session or token with which the owner asks."""


def sample(kind: type, **chosen: Any) -> Any:
    """A request of this kind with something in every field that has no default."""
    values: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        if field.name in chosen:
            values[field.name] = chosen[field.name]
        elif field.required:
            kind_of = get_args(field.type)[0] if get_origin(field.type) is Annotated else field.type
            values[field.name] = {int: 1, float: 1.0, list[str]: ["x"], msgspec.Raw: msgspec.Raw(b"{}")}.get(
                kind_of, "Newbot"
            )
    return kind(**values)


def person(kind: str = "session", *scopes: str, owner: int = OWNER, admin: bool = False) -> Person:
    return Person(
        access_id=THEIR_ACCESS, owner_id=owner, name="Anna", admin=admin, kind=kind, scopes=scopes, expires_at=None
    )


def verdict(who: Person | None, request: Any, owner: int | None = None) -> str:
    try:
        may(who, request, owner)
    except Refused as refusal:
        return refusal.code
    return "yes"


def test_what_declares_no_right_is_refused() -> None:
    class Unheard(Command[None], frozen=True, kw_only=True, tag="unheard"):
        pass

    assert verdict(person(admin=True), Unheard(), OWNER) == "not-allowed"


def test_every_command_declares_its_right() -> None:
    assert [kind for kind in COMMANDS if "allowed" not in vars(kind)] == []
    assert {kind.allowed for kind in COMMANDS} == set(Right)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_nobody_may_nothing(kind: type) -> None:
    assert verdict(None, sample(kind), OWNER) == "not-signed-in"


SESSION, BOTS, ADMIN_TOKEN, NO_SCOPE = person(), person("token", "bots"), person("token", "admin"), person("token")
OPERATOR, OPERATOR_BOTS = person(owner=OTHER, admin=True), person("token", "bots", owner=OTHER, admin=True)
OPERATOR_ADMIN = person("token", "admin", owner=OTHER, admin=True)

TABLE: dict[str, tuple[tuple[type, ...], int | None, dict[str, str]]] = {
    "one's own bot": (having(*OWN_BOT), OWNER, {
        "session": "yes", "bots": "yes", "admin token": "scope", "no scope": "scope",
        "operator": "yes", "operator's bots": "scope", "operator's admin": "yes",
    }),
    "a bot of nobody": (having(*OWN_BOT), None, {
        "session": "not-allowed", "bots": "not-allowed", "admin token": "not-allowed", "no scope": "not-allowed",
        "operator": "yes", "operator's bots": "scope", "operator's admin": "yes",
    }),
    "an operator's deed": (having(Right.OPERATOR), None, {
        "session": "not-allowed", "bots": "not-allowed", "admin token": "not-allowed", "no scope": "not-allowed",
        "operator": "yes", "operator's bots": "scope", "operator's admin": "yes",
    }),
    "an operator's deed on one's own": (having(Right.OPERATOR), OWNER, {"session": "not-allowed", "operator": "yes"}),
    "a claim": (having(Right.SIGNED_IN), OTHER, {
        "session": "yes", "bots": "yes", "admin token": "scope", "no scope": "scope", "operator": "yes",
    }),
    "the account": (having(Right.SESSION), None, {
        "session": "yes", "bots": "scope", "admin token": "scope", "no scope": "scope", "operator": "yes",
        "operator's admin": "scope",
    }),
    "a webhook": (having(Right.OWN_WEBHOOK), OWNER, {
        "session": "yes", "bots": "yes", "no scope": "scope", "operator": "yes", "operator's bots": "scope",
    }),
    "a question": (having(Right.OWN_QUESTION), OWNER, {
        "session": "yes", "bots": "yes", "no scope": "scope", "operator": "yes", "operator's bots": "scope",
    }),
    "a question of somebody else": (having(Right.OWN_QUESTION), 9, {"session": "not-allowed", "operator": "yes"}),
    "a webhook of somebody else": (having(Right.OWN_WEBHOOK), 9, {"session": "not-allowed", "operator": "yes"}),
    "another access of one's own": (having(Right.OWN_ACCESS), OWNER, {
        "session": "yes", "bots": "scope", "no scope": "scope", "operator": "yes", "operator's bots": "scope",
    }),
    "an access of somebody else": (having(Right.OWN_ACCESS), 9, {"session": "not-allowed", "operator": "yes"}),
    "what nobody may ask for somebody": (having(Right.NOBODY, Right.STRANGER), OWNER, {
        "session": "not-allowed", "bots": "not-allowed", "operator": "not-allowed", "operator's admin": "not-allowed",
    }),
}  # fmt: skip
WHO = {
    "session": SESSION, "bots": BOTS, "admin token": ADMIN_TOKEN, "no scope": NO_SCOPE, "operator": OPERATOR,
    "operator's bots": OPERATOR_BOTS, "operator's admin": OPERATOR_ADMIN,
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_who_may_what(name: str) -> None:
    kinds, owner, expected = TABLE[name]
    verdicts = {
        (kind.__name__, who): verdict(WHO[who], sample(kind, bot="Newbot"), owner)
        for kind in kinds
        for who in expected
    }  # fmt: skip
    assert verdicts == {
        (kind.__name__, who): expected_verdict for kind in kinds for who, expected_verdict in expected.items()
    }


def test_a_webhook_for_all_ones_bots_is_about_none() -> None:
    assert verdict(SESSION, WebhookAdd(url="", events=[]), None) == "yes"
    assert verdict(NO_SCOPE, WebhookAdd(url="", events=[]), None) == "scope"


def test_a_token_may_end_itself() -> None:
    assert verdict(NO_SCOPE, AccessRevoke(access=THEIR_ACCESS), OWNER) == "yes"


def test_a_non_operator_gains_nothing_by_the_scope_of_operators() -> None:
    assert verdict(person("token", "admin", "bots"), Kick(bot="Newbot", reason="x"), None) == "not-allowed"
    assert verdict(person("token", "admin", "bots"), BotPause(bot="Newbot"), OTHER) == "not-allowed"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_whose_thing_decides_is_named(kind: type[Command[Any]]) -> None:
    """Where the owner of a thing decides, the command says which thing."""
    things = {**dict.fromkeys(OWN_BOT, ("bot", "version")), Right.OWN_WEBHOOK: ("webhook",)}
    things[Right.OWN_QUESTION] = ("question",)
    things[Right.OWN_ACCESS] = ("access",)
    if kind.allowed in things:
        assert kind.concerns in things[kind.allowed]
        assert sample(kind, bot="Newbot", version="Newbot").concerned() in ("Newbot", 1)
    elif kind.concerns is not None:
        assert kind.allowed is Right.OPERATOR
        assert kind.concerns in ("bot", "version")


people = st.builds(
    Person,
    access_id=st.integers(1, 3),
    owner_id=st.integers(1, 3),
    name=st.just("Anna"),
    admin=st.booleans(),
    kind=st.sampled_from(["session", "token"]),
    scopes=st.lists(st.sampled_from(["bots", "admin", "other"]), unique=True).map(tuple),
    expires_at=st.none(),
)
requests: st.SearchStrategy[Any] = st.sampled_from(KINDS).flatmap(
    lambda kind: st.builds(sample, st.just(kind), access=st.integers(1, 3), bot=st.just("Newbot"))
)


@given(people, requests, st.none() | st.integers(1, 3))
def test_nobody_passes_without_a_right(who: Person, request: Any, owner: int | None) -> None:
    if verdict(who, request, owner) != "yes":
        return
    operator = who.admin and (who.kind == "session" or "admin" in who.scopes)
    own = owner is not None and owner == who.owner_id
    rights: dict[Right, Callable[[], bool]] = {
        Right.OPERATOR: lambda: operator,
        Right.OWN_BOT: lambda: own or operator,
        Right.OWN_BOT_IF_NAMED: lambda: own or operator,
        Right.OWN_WEBHOOK: lambda: own or operator,
        Right.OWN_QUESTION: lambda: own or operator,
        Right.OWN_ACCESS: lambda: own or operator,
        Right.SESSION: lambda: who.kind == "session",
        Right.SIGNED_IN: lambda: who.kind == "session" or "bots" in who.scopes,
        Right.STRANGER: lambda: False,
        Right.NOBODY: lambda: False,
    }
    assert rights[request.allowed]()
    if who.kind == "token" and not {"bots", "admin"} & set(who.scopes):
        assert isinstance(request, AccessRevoke)
        assert request.access == who.access_id
