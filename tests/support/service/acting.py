"""People in tests: accounts that sign in and act for themselves, as much of a live server as they reach."""

from __future__ import annotations

import json
from typing import Any, Literal

import msgspec
import pytest

from cgos_protocol.api.messages import RatingSince, StrengthChange
from cgos_protocol.api.people import NewToken, Session
from cgos_protocol.errors import Refused
from cgos_protocol.session import Limits
from cgos_server.service.admin import Admin
from cgos_server.service.commands.accounts import AccountAdd
from cgos_server.service.commands.availability import BotPause
from cgos_server.service.commands.bots import BotAdd
from cgos_server.service.commands.ownership import BotClaim
from cgos_server.service.commands.registry import OnBehalf
from cgos_server.service.commands.sessions import SignIn
from cgos_server.service.commands.tokens import AccessMake
from cgos_server.service.control import VersionNow
from support.service.event_desk import Desk
from support.service.question_desk import QuestionNotes

HERE = "192.0.2.7"
HOUR_MS = 3_600_000


class Live:
    """As much of a live server as owners reach: notes what is asked of it.

    :ivar here: how many connections of a bot there are
    :ivar views: what it says of a bot's versions
    :ivar changes: the versions whose strength seems to have changed
    :ivar events: those that it holds
    :ivar questions: what was asked
    """

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.here = 1
        self.views: list[VersionNow] = []
        self.changes: list[StrengthChange] = []
        self.events = Desk()
        self.questions = QuestionNotes()

    def strength_changes(self) -> list[StrengthChange]:
        return self.changes

    def wishes(self, bot: int, paused: bool, limits: Limits) -> None:
        self.calls.append(("wishes", bot, paused, limits))

    def look(self, bot: int) -> list[VersionNow]:
        self.calls.append(("look", bot))
        return self.views

    def drain_bot(self, bot: int) -> int:
        self.calls.append(("drain bot", bot))
        return self.here

    async def vacate(self, bots: Any, sentence: str) -> None:
        self.calls.append(("vacate", bots, sentence))

    async def erased(self, names: Any, renaming: Any) -> None:
        self.calls.append(("erased", names, list(renaming.names)))

    def dismiss(self, bot: int, sentence: str) -> int:
        self.calls.append(("dismiss", bot, sentence))
        return 1


async def code(work: Any) -> str:
    with pytest.raises(Refused) as raised:
        await work
    return raised.value.code


async def signed_in(admin: Admin, name: str = "Anna", password: str = "long-secret", address: str = HERE) -> str:
    answer = await admin.handle(SignIn(name=name, password=password, address=address))
    assert isinstance(answer, Session)
    return answer.session


async def account(admin: Admin, name: str = "Anna", *, operator: bool = False) -> str:
    await admin.handle(AccountAdd(name=name, password="long-secret", admin=operator))
    return await signed_in(admin, name)


async def behalf(admin: Admin, credential: str, request: Any, address: str = HERE) -> Any:
    inner = msgspec.Raw(msgspec.json.encode(request))
    return await admin.handle(OnBehalf(credential=credential, address=address, request=inner))


async def token(admin: Admin, session: str, *scopes: str, days: int | None = None) -> NewToken:
    made = await behalf(admin, session, AccessMake(label="laptop", scopes=list(scopes), days=days))
    assert isinstance(made, NewToken)
    return made


def audits(store: Any) -> list[tuple[str, str, str, dict[str, Any]]]:
    return [(a.actor, a.action, a.subject, json.loads(a.detail)) for *_, a in store.groups]


PAUSE = BotPause(bot="Newbot")


async def owned(admin: Admin, session: str) -> None:
    await admin.handle(BotAdd(name="Newbot", password="playing"))
    await behalf(admin, session, BotClaim(bot="Newbot", secret="playing"))


def changed(version: str, state: Literal["watch", "flagged"] = "flagged", *, at: int = 0) -> StrengthChange:
    """A version on 9x9 that became stronger at its 81st game, as seen at Unix ms `at`."""
    return StrengthChange(
        version=version,
        venue="9x9",
        state=state,
        noticed_at=at,
        noticed_after=113,
        number=81,
        game=17,
        shift=210.4,
        z=4.5,
        rating_since=RatingSince(games=33, mean=2010.2, lower=1890.4, upper=2140.4),
        sentence=f"{version} seems to have become 210 Elo stronger.",
        proposal=f"Give {version} another name.",
    )


async def bots(admin: Admin, *names: str) -> None:
    """Register some, numbered as they come."""
    for name in names:
        await admin.handle(BotAdd(name=name, password="playing"))
