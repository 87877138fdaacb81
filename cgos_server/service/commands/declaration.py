"""What a command is: its fields, who may have it done, whose thing it concerns, its surfaces, and what it does.

Everything else derives from the declaration: rights (:mod:`cgos_server.service.people.authority`), turns and the audit
(:mod:`cgos_server.service.admin`), command line, API and forms. Must not know: single commands.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any, ClassVar, Generic, TypeVar, get_type_hints

import msgspec

from cgos_server.service.commands.context import CommandContext
from cgos_server.service.commands.surfaces import Surface

A = TypeVar("A")
S = TypeVar("S", bound=Surface)


class Right(enum.Enum):
    """Who may have a command done on his behalf, by a session or a token."""

    OPERATOR = "operators"
    """Operators."""
    OWN_BOT = "the bot's owner"
    """The owner of the bot that it concerns, or an operator."""
    OWN_BOT_IF_NAMED = "the bot's owner, where one is named"
    """As `OWN_BOT` where it names a bot, else as `SIGNED_IN`."""
    OWN_WEBHOOK = "the webhook's owner"
    """Whoever made the webhook, or an operator."""
    OWN_QUESTION = "whose question it is"
    """Whoever asked the question, or an operator."""
    OWN_ACCESS = "whose session or token it is"
    """One's own sessions and tokens, by a session; a token may end itself; operators may end anybody's."""
    SIGNED_IN = "whoever is signed in"
    """Everybody who is somebody, with the scope ``bots``; the command itself looks at more, such as a secret."""
    SESSION = "oneself, by a session"
    """Oneself; no token can do it."""
    STRANGER = "whoever comes without a session or token"
    """It is how one comes in: asked without a credential, and on nobody's behalf."""
    NOBODY = "nobody on somebody's behalf"
    """It is asked at the machine or by the server itself; no route and no form leads there."""


class Command(msgspec.Struct, Generic[A], frozen=True, kw_only=True, tag_field="do", forbid_unknown_fields=True):
    """Something that can be done. The tag is its name, also in the audit.

    :cvar allowed: who may have it done; what says nothing is refused
    :cvar concerns: the field with the bot's or version's name, or the number of the webhook or of the session or token,
        that it is about: ``bot``, ``version``, ``webhook``, ``question`` or ``access``; what concerns one bot or its
        versions is done one after the other
    :cvar live: True where it needs the running server
    :cvar creates: True where it makes sense before the first start: only such commands make a database
    :cvar forwarded: False where it is about the process of one machine, so that no other node of a cluster can do it
    :cvar audited: which details the audit keeps besides who, when and what; None where it keeps nothing
    :ivar actor: who does it, for the audit
    """

    allowed: ClassVar[Right] = Right.NOBODY
    concerns: ClassVar[str | None] = None
    live: ClassVar[bool] = False
    creates: ClassVar[bool] = False
    forwarded: ClassVar[bool] = True
    audited: ClassVar[tuple[str, ...] | None] = ()
    surfaces: ClassVar[tuple[Surface, ...]] = ()

    actor: str = "operator"

    async def perform(self, context: CommandContext) -> A:
        """Do it. Raises Refused with the sentence, CommitFailed where the database does not commit."""
        raise NotImplementedError

    @classmethod
    def word(cls) -> str:
        """Its name, such as ``bot disable``."""
        return str(cls.__struct_config__.tag)

    @classmethod
    def answer(cls) -> Any:
        """The type of what :meth:`perform` answers."""
        return get_type_hints(cls.perform)["return"]

    @classmethod
    def on(cls, kind: type[S]) -> Iterator[S]:
        """Its surfaces of one kind."""
        return (each for each in cls.surfaces if isinstance(each, kind))

    def concerned(self) -> str | int | None:
        """The bot, webhook, session or token that it is about; None for none."""
        thing: str | int | None = None if self.concerns is None else getattr(self, self.concerns)
        return thing
