"""Who may do what: every request, by every kind of right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.errors import Refused
from cgos_server.service import authority
from cgos_server.service import requests as deeds
from cgos_server.service.authority import About, about, may
from cgos_server.storage.reading.stored import Person

KINDS: tuple[type, ...] = get_args(deeds.Request)
GROUPS = (
    authority.OWN_BOT, authority.OWN_WEBHOOK, authority.CLAIMING, authority.OWN_ACCOUNT, authority.OWN_ACCESS,
    authority.OPERATORS, authority.MAYBE_BOT, authority.NOBODY,
)  # fmt: skip
OWNER, OTHER = 7, 8
THEIR_ACCESS = 70
"""The session or token with which the owner asks."""


def sample(kind: type, **given: Any) -> Any:
    """A request of this kind with something in every field that has no default."""
    values: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        if field.name in given:
            values[field.name] = given[field.name]
        elif field.required:
            values[field.name] = {int: 1, float: 1.0, list[str]: ["x"], msgspec.Raw: msgspec.Raw(b"{}")}.get(
                field.type, "Newbot"
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


def test_every_request_stands_in_one_group() -> None:
    named = [kind for group in GROUPS for kind in group]
    assert sorted(kind.__name__ for kind in named) == sorted(kind.__name__ for kind in KINDS)


def test_what_is_named_nowhere_is_refused() -> None:
    class Unheard(msgspec.Struct):
        actor: str = ""

    assert verdict(person(admin=True), Unheard(), OWNER) == "not-allowed"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_nobody_may_nothing(kind: type) -> None:
    assert verdict(None, sample(kind), OWNER) == "not-signed-in"


SESSION, BOTS, ADMIN_TOKEN, NO_SCOPE = person(), person("token", "bots"), person("token", "admin"), person("token")
OPERATOR, OPERATOR_BOTS = person(owner=OTHER, admin=True), person("token", "bots", owner=OTHER, admin=True)
OPERATOR_ADMIN = person("token", "admin", owner=OTHER, admin=True)

TABLE: dict[str, tuple[tuple[type, ...], int | None, dict[str, str]]] = {
    "one's own bot": ((*authority.OWN_BOT, deeds.WebhookAdd), OWNER, {
        "session": "yes", "bots": "yes", "admin token": "scope", "no scope": "scope",
        "operator": "yes", "operator's bots": "scope", "operator's admin": "yes",
    }),
    "a bot of nobody": ((*authority.OWN_BOT, deeds.WebhookAdd), None, {
        "session": "not-allowed", "bots": "not-allowed", "admin token": "not-allowed", "no scope": "not-allowed",
        "operator": "yes", "operator's bots": "scope", "operator's admin": "yes",
    }),
    "an operator's deed": (authority.OPERATORS, None, {
        "session": "not-allowed", "bots": "not-allowed", "admin token": "not-allowed", "no scope": "not-allowed",
        "operator": "yes", "operator's bots": "scope", "operator's admin": "yes",
    }),
    "an operator's deed on one's own": (authority.OPERATORS, OWNER, {"session": "not-allowed", "operator": "yes"}),
    "a claim": (authority.CLAIMING, OTHER, {
        "session": "yes", "bots": "yes", "admin token": "scope", "no scope": "scope", "operator": "yes",
    }),
    "the account": (authority.OWN_ACCOUNT, None, {
        "session": "yes", "bots": "scope", "admin token": "scope", "no scope": "scope", "operator": "yes",
        "operator's admin": "scope",
    }),
    "a webhook": (authority.OWN_WEBHOOK, OWNER, {
        "session": "yes", "bots": "yes", "no scope": "scope", "operator": "yes", "operator's bots": "scope",
    }),
    "a webhook of somebody else": (authority.OWN_WEBHOOK, 9, {"session": "not-allowed", "operator": "yes"}),
    "another access of one's own": (authority.OWN_ACCESS, OWNER, {
        "session": "yes", "bots": "scope", "no scope": "scope", "operator": "yes", "operator's bots": "scope",
    }),
    "an access of somebody else": (authority.OWN_ACCESS, 9, {"session": "not-allowed", "operator": "yes"}),
    "what nobody may ask for somebody": (authority.NOBODY, OWNER, {
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
    found = {
        (kind.__name__, who): verdict(WHO[who], sample(kind, bot="Newbot"), owner)
        for kind in kinds
        for who in expected
    }  # fmt: skip
    assert found == {(kind.__name__, who): said for kind in kinds for who, said in expected.items()}


def test_a_webhook_for_all_ones_bots_is_about_none() -> None:
    assert verdict(SESSION, deeds.WebhookAdd(url="", events=[]), None) == "yes"
    assert verdict(NO_SCOPE, deeds.WebhookAdd(url="", events=[]), None) == "scope"


def test_a_token_may_end_itself() -> None:
    assert verdict(NO_SCOPE, deeds.AccessRevoke(access=THEIR_ACCESS), OWNER) == "yes"


def test_a_non_operator_gains_nothing_by_the_scope_of_operators() -> None:
    assert verdict(person("token", "admin", "bots"), deeds.Kick(bot="Newbot", reason="x"), None) == "not-allowed"
    assert verdict(person("token", "admin", "bots"), deeds.BotPause(bot="Newbot"), OTHER) == "not-allowed"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_a_request_is_about_is_what_it_names(kind: type) -> None:
    """Whoever can own the thing that is named is asked, and of operators' deeds nobody is."""
    what = about(sample(kind, bot="Newbot"))
    if kind in (*authority.OWN_BOT, *authority.MAYBE_BOT):
        assert what == About(bot="Newbot")
    elif kind in authority.OWN_WEBHOOK:
        assert what == About(webhook=1)
    elif kind in authority.OWN_ACCESS:
        assert what == About(access=1)
    else:
        assert what == About()


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
    rights: dict[Any, Callable[[], bool]] = {
        authority.OPERATORS: lambda: operator,
        authority.OWN_BOT: lambda: own or operator,
        authority.MAYBE_BOT: lambda: own or operator,
        authority.OWN_WEBHOOK: lambda: own or operator,
        authority.OWN_ACCESS: lambda: own or operator,
        authority.OWN_ACCOUNT: lambda: who.kind == "session",
        authority.CLAIMING: lambda: who.kind == "session" or "bots" in who.scopes,
        authority.NOBODY: lambda: False,
    }
    assert all(right() for group, right in rights.items() if type(request) in group)
    if who.kind == "token" and not {"bots", "admin"} & set(who.scopes):
        assert isinstance(request, deeds.AccessRevoke)
        assert request.access == who.access_id
