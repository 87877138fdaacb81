"""What the surfaces say of a command's fields: labels, sentences, bounds, and which are secret.

A field is declared with its type and a :class:`Field` in `Annotated`; bounds stand in the type that a body of the API
has there, and hold for options and forms as well. The control socket checks types alone, so that whoever breaks a bound
by another way is answered by the command itself, with a sentence. Must not know: single commands, click, HTTP.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args, get_type_hints

import msgspec
from msgspec import inspect

from cgos_protocol.api import people as api
from cgos_protocol.api.messages import Moment
from cgos_protocol.ids import GameId
from cgos_protocol.names import ACCOUNT_PASSWORD_MIN, ACCOUNT_PASSWORD_RULE, PASSWORD_RULE


class Source(enum.Enum):
    """How a surface comes by a field's value."""

    GIVEN = "given"
    """Whoever asks says it."""
    SECRET = "secret"
    """A secret that is compared with the one that is kept; never shown again."""
    NEW_PASSWORD = "new password"
    """A secret that is to be: a form asks for it twice, a terminal hides it."""
    VENUE = "venue"
    """A venue; the command line takes the only one that is configured where none is named."""
    OWN_BOT = "own bot"
    """A bot of whoever asks, or none; a form offers them."""
    MOMENT = "moment"
    """Unix milliseconds; people write a date, or a number of days from now."""
    TIME = "time"
    """Unix milliseconds; people write a time or a span from now (:mod:`cgos_server.service.events.moments`)."""
    VISITOR = "visitor"
    """The address of whoever asks, which the surface itself knows."""
    MACHINE = "machine"
    """Whoever is at the machine says it, as an option; no route and no form asks for it."""


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """What surfaces say of a field.

    :ivar body: its type in bodies of the API, with bounds; None: as it is in the command
    :ivar label: how faults call it, such as "The bot's name"
    :ivar caption: how forms call it; empty: its label, without the article
    :ivar hint: what forms say beside it
    :ivar input: the type of a form's input
    :ivar autocomplete: what a browser may fill in there
    :ivar shortest: characters that a new password has at least, where forms say so
    :ivar help: the sentence of its option of the command line; empty where a required field is an argument
    :ivar metavar: how the command line calls its value
    :ivar none_word: what is chosen for None where one must choose
    :ivar words: the words to choose from where plug-ins bring some; asked for when the command line is used
    """

    body: Any = None
    label: str = ""
    caption: str = ""
    hint: str = ""
    input: str = "text"
    autocomplete: str = "off"
    shortest: int = 0
    help: str = ""
    metavar: str = ""
    none_word: str = ""
    words: Callable[[], Sequence[str]] | None = None
    source: Source = Source.GIVEN


class Parameter(NamedTuple):
    """A field of a command as surfaces see it.

    :ivar kind: its type without None: str, int, float, bool, list or dict
    :ivar body: its type in a body
    :ivar optional: True where it may be None
    :ivar least: smallest number, None where there is none
    :ivar choices: the words to choose from, empty where any will do
    """

    name: str
    kind: type
    body: Any
    optional: bool
    required: bool
    default: Any
    field: Field
    least: float | None
    most: float | None
    choices: tuple[str, ...]

    @property
    def secret(self) -> bool:
        return self.field.source in (Source.SECRET, Source.NEW_PASSWORD)

    @property
    def needed(self) -> bool:
        """True where there must be a value."""
        return self.required and not self.optional

    @property
    def usual(self) -> str:
        """The number that it is where nobody says another one, as text; empty where there is none."""
        known = self.kind in (int, float) and not self.required and self.default is not None
        return f"{self.default:.12g}" if known else ""

    @property
    def caption(self) -> str:
        """How forms call it."""
        label = self.field.label.removeprefix("The ")
        return self.field.caption or label[:1].upper() + label[1:]


def parameters(command: type[msgspec.Struct]) -> tuple[Parameter, ...]:
    """The fields of a command in their order, without who does it."""
    return tuple(each if make is None else each._replace(default=make()) for each, make in _declared(command))


@functools.cache  # what a class declares does not change, and every page with a form asks
def _declared(command: type[msgspec.Struct]) -> tuple[tuple[Parameter, Callable[[], Any] | None], ...]:
    """The fields, each with what makes its default where that is a value that can change."""
    hints = get_type_hints(command, include_extras=True)
    fields = [each for each in msgspec.structs.fields(command) if each.name != "actor"]
    makers = (None if each.default_factory is msgspec.NODEFAULT else each.default_factory for each in fields)
    return tuple((_parameter(each, hints[each.name]), make) for each, make in zip(fields, makers, strict=True))


def _parameter(info: msgspec.structs.FieldInfo, hint: Any) -> Parameter:
    field = next((each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Field)), Field())
    own = _members(hint)
    body = field.body or hint
    (kind, *_) = (each for each in own if not isinstance(each, inspect.NoneType))
    bounds: dict[str, Any] = {"least": None, "most": None, "choices": (field.none_word,) if field.none_word else ()}
    for each in _members(body):
        inner = each.item_type if isinstance(each, inspect.ListType) else each
        if isinstance(each, inspect.IntType | inspect.FloatType):
            bounds |= {"least": each.ge if each.ge is not None else each.gt, "most": each.le}
        elif isinstance(inner, inspect.LiteralType):
            bounds["choices"] += tuple(_words(body))
    return Parameter(
        name=info.name,
        kind=_KINDS[type(kind)],
        body=body,
        optional=any(isinstance(each, inspect.NoneType) for each in own),
        required=info.required,
        default=None if info.default is msgspec.NODEFAULT else info.default,
        field=field,
        **bounds,
    )


_KINDS: Final[dict[type, type]] = {
    inspect.StrType: str,
    inspect.IntType: int,
    inspect.FloatType: float,
    inspect.BoolType: bool,
    inspect.ListType: list,
    inspect.DictType: dict,
    inspect.RawType: bytes,
}


def _members(hint: Any) -> tuple[inspect.Type, ...]:
    """The types of which a value may be, without what merely stands round them."""
    kind = inspect.type_info(hint)
    while isinstance(kind, inspect.Metadata):
        kind = kind.type
    members = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    return tuple(each.type if isinstance(each, inspect.Metadata) else each for each in members)


def _words(hint: Any) -> list[str]:
    """The words of the literals inside a type, in their order."""
    if getattr(hint, "__origin__", None) is Literal:
        return list(get_args(hint))
    return [word for each in get_args(hint) for word in _words(each)]


# -- fields that several commands have

BotName = Annotated[str, Field(body=api.Name, label="The bot's name", caption="Name", metavar="NAME")]
AccountName = Annotated[str, Field(body=api.Name, label="The name", metavar="NAME")]
VersionName = Annotated[str, Field(body=api.Name, label="The bot or version", metavar="NAME")]
VenueName = Annotated[str, Field(body=api.Name, label="The venue", source=Source.VENUE)]
GameNumber = Annotated[GameId, Field(body=api.GameNumber, label="The game's number", caption="Game")]
BotSecret = Annotated[str, Field(body=api.BotPassword, source=Source.NEW_PASSWORD, hint=PASSWORD_RULE)]
AccountSecret = Annotated[
    str,
    Field(
        body=api.AccountPassword,
        source=Source.NEW_PASSWORD,
        hint=ACCOUNT_PASSWORD_RULE,
        shortest=ACCOUNT_PASSWORD_MIN,
    ),
]
VisitorAddress = Annotated[str, Field(source=Source.VISITOR)]


def reason_field(readers: str, help_text: str, hint: str = "") -> Field:
    """Why it is done.

    :param readers: who comes to know it, such as "the bot is told"
    :param hint: what forms say beside it, where that is not the same
    """
    shown = hint or f"{readers[:1].upper()}{readers[1:]}."
    return Field(body=api.Reason, label=f"The reason, which {readers},", caption="Reason", hint=shown, help=help_text)


Until = Annotated[
    int | None,
    Field(
        body=Moment | None,
        caption="Days",
        hint="Empty: until somebody enables it.",
        help="When (UTC) it may play again; without this: `bot enable`.",
        metavar="DATE",
        source=Source.MOMENT,
    ),
]

SESSION_ONLY: Final = "This needs a session (`POST /sign-in`); no token can do it."
"""What the API says of commands that touch the account itself."""
