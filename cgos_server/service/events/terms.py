"""What whoever announces an event says of it, as fields of commands; and the settings that follow.

All are options: what is not said is as usual, or, where an announcement is changed, as before. Must not know: which
settings make sense, commands.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from cgos_protocol.api.people import Done
from cgos_protocol.errors import Code, Invalid
from cgos_server.service.commands.declaration import Command
from cgos_server.service.commands.fields import Field
from cgos_server.service.events.fields import time_field
from cgos_server.tournaments.base import OptionValue
from cgos_server.tournaments.checking import MOST_ROUNDS
from cgos_server.tournaments.registry import new_options
from cgos_server.tournaments.running.settings import (
    LONGEST_CHECK_IN_S,
    LONGEST_GRACE_S,
    MOST_ENTRANTS,
    Apart,
    EventSettings,
    Limits,
    Play,
    Times,
)

_PARTS: Final[Mapping[str, type[msgspec.Struct]]] = MappingProxyType({"limits": Limits, "play": Play, "times": Times})
"""Setting that has fields of its own -> its type."""

_USUAL: Final = EventSettings(name="", venue="", system="")
_COUNTED: Final = Annotated[int, Meta(ge=1, le=MOST_ENTRANTS)] | None


def _number(body: Any, caption: str, says: str, metavar: str = "N", hint: str = "") -> Field:
    return Field(
        body=body,
        label=f"The {caption[:1].lower()}{caption[1:]}",
        caption=caption,
        help=says,
        metavar=metavar,
        hint=hint,
    )


def _choice(caption: str, says: str) -> Field:
    return Field(label=caption, caption=caption, help=says)


class Terms(Command[Done], frozen=True, kw_only=True):
    """What may be said of an event. Base of the commands that announce one; None and nothing: not said.

    Each field is called as in :class:`~cgos_server.tournaments.running.settings.EventSettings` or one of its parts.
    """

    about: Annotated[
        str | None,
        Field(
            body=Annotated[str, Meta(max_length=200)] | None,
            label="What is said about it",
            caption="About",
            help="What it is, for people; one line.",
            metavar="TEXT",
        ),
    ] = None
    rounds: Annotated[
        int | None,
        _number(
            Annotated[int, Meta(ge=1, le=MOST_ROUNDS)] | None,
            "Rounds",
            "How many rounds; without this as many as the system takes, or until it is finished.",
            hint="Usually as many as the system takes; Swiss systems go on until you end them.",
        ),
    ] = None
    options: Annotated[
        dict[str, OptionValue],
        Field(
            label="The options of the system",
            caption="Options of the system",
            hint="name=value, with blanks between them.",
            help="An option of the system; may be repeated.",
            metavar="NAME=VALUE",
        ),
    ] = msgspec.field(default_factory=dict)
    tie_breakers: Annotated[
        list[str],
        Field(
            label="The tie-breakers",
            hint="Usually the system's own.",
            help="A tie-breaker instead of the system's own; may be repeated.",
            metavar="WORD",
        ),
    ] = msgspec.field(default_factory=list)
    bye_points: Annotated[
        int | None,
        _number(
            Annotated[int, Meta(ge=0, le=2)] | None,
            "Half points of a bye",
            "What a bye gives that is there because the field is odd, in half points: 0, 1 or 2.",
            hint=f"Usually {_USUAL.bye_points}.",
        ),
    ] = None
    seed: Annotated[
        int | None,
        _number(Annotated[int, Meta(ge=0, le=2**53)] | None, "Seed", "Of all that is drawn by lot."),
    ] = None
    entering: Annotated[
        str | None,
        Field(
            body=Literal["operator", "owners"] | None,
            label="Who enters versions",
            caption="Who enters versions",
            help="Who enters versions: the operator alone, or owners and bots too.",
        ),
    ] = None
    apart: Annotated[
        list[str],
        Field(
            body=list[Apart],
            label="Who do not meet",
            caption="Versions do not meet that have in common",
            help="Versions of one `owner`, or of one `family`, do not meet; may be repeated.",
            metavar="owner|family",
        ),
    ] = msgspec.field(default_factory=list)
    late: Annotated[
        bool | None,
        _choice("Late entries", "Whether one may enter after the start, where the system allows it."),
    ] = None
    rated: Annotated[
        bool | None,
        _choice("Rated", "Whether games count for the venue's ratings; only on the venue's own terms."),
    ] = None
    ladder: Annotated[
        bool | None, _choice("Ladder between games", "Whether entrants play other games of the venue between theirs.")
    ] = None
    playoff: Annotated[
        bool | None,
        _choice("Playoff", "Whether those who share the first place play for it, two games a pair."),
    ] = None
    most: Annotated[
        int | None,
        _number(
            _COUNTED,
            "Most entrants",
            "So many may enter; whoever comes later waits for a place.",
            hint="Usually no limit.",
        ),
    ] = None
    per_owner: Annotated[int | None, _number(_COUNTED, "Most of one owner", "So many of one owner.")] = None
    per_family: Annotated[int | None, _number(_COUNTED, "Most of one family", "So many of one family.")] = None
    lowest: Annotated[float | None, _number(None, "Lowest rating", "Only from this rating on.", metavar="ELO")] = None
    highest: Annotated[float | None, _number(None, "Highest rating", "Only up to this rating.", metavar="ELO")] = None
    komi: Annotated[
        float | None,
        _number(None, "Komi", "Another komi than the venue's.", metavar="POINTS", hint="Usually the venue's."),
    ] = None
    main_s: Annotated[
        float | None,
        _number(
            None,
            "Main time, seconds",
            "Another clock: so long for all moves.",
            metavar="SECONDS",
            hint="Usually the venue's clock.",
        ),
    ] = None
    increment_s: Annotated[
        float | None, _number(None, "Increment, seconds", "With --main-s: so much more a move.", metavar="SECONDS")
    ] = None
    openings: Annotated[bool | None, _choice("Openings", "Whether games begin with the venue's openings.")] = None
    first_moves: Annotated[
        str | None,
        Field(
            body=Annotated[str, Meta(max_length=2000)] | None,
            label="The first moves",
            hint="Black's first, with blanks between them.",
            help="The moves that every game begins with, Black's first: 'E5 C3'.",
            metavar="MOVES",
        ),
    ] = None
    opens_at: Annotated[
        int | None, time_field("When entry opens: a date, or now+2h; without this by `event open`.", "Entry opens")
    ] = None
    closes_at: Annotated[
        int | None, time_field("When entry closes; without this when the event starts.", "Entry closes")
    ] = None
    starts_at: Annotated[
        int | None, time_field("When it starts; without this by `event start`, or --starts-with.", "It starts")
    ] = None
    starts_with: Annotated[
        int | None,
        _number(
            Annotated[int, Meta(ge=2, le=MOST_ENTRANTS)] | None,
            "Starts with so many",
            "It starts as soon as so many are in.",
        ),
    ] = None
    check_in_s: Annotated[
        int | None,
        _number(
            Annotated[int, Meta(ge=0, le=LONGEST_CHECK_IN_S)] | None,
            "Check-in, seconds",
            "For so long before the start entrants check in; who does not is out. 0: no check-in.",
            metavar="SECONDS",
            hint=f"Usually {_USUAL.times.check_in_s or 'no check-in'}.",
        ),
    ] = None
    grace_s: Annotated[
        int | None,
        _number(
            Annotated[int, Meta(ge=1, le=LONGEST_GRACE_S)] | None,
            "Grace, seconds",
            "Who is away when a game is due has so long to come before it is forfeited.",
            metavar="SECONDS",
            hint=f"Usually {_USUAL.times.grace_s}: so long a game waits for who is away.",
        ),
    ] = None
    every_days: Annotated[
        int | None,
        _number(
            Annotated[int, Meta(ge=1, le=366)] | None,
            "Again every so many days",
            "It is held again so many days later.",
            hint="Usually never.",
        ),
    ] = None

    def settings_from(self, before: EventSettings, usual_again: tuple[str, ...] = ()) -> EventSettings:
        """`before`, otherwise where this says something.

        :param usual_again: names of settings that are as usual from now on
        :raises Refused: where there is no setting of such a name
        """
        options = new_options(before.system)
        usual = EventSettings(name=before.name, venue=before.venue, system=before.system, options=options)
        changed = {name: self._value(name, before) for name in SETTINGS if self._says(name)}
        for word in usual_again:
            name = word.replace("-", "_").removeprefix("__")
            if name not in SETTINGS:
                words = ", ".join(each.replace("_", "-") for each in SETTINGS)
                raise Invalid(Code.EVENT_SETTING, f"There is no setting {word[:40]!r}. They are: {words}.")
            changed[name] = _of(usual, name)
        own = {name: value for name, value in changed.items() if SETTINGS[name] is None}
        for part, kind in _PARTS.items():
            fields = {name: value for name, value in changed.items() if SETTINGS[name] is kind}
            own[part] = replace(getattr(before, part), **fields)
        return replace(before, **own)

    def _says(self, name: str) -> bool:
        return getattr(self, name) not in (None, {}, [])

    def _value(self, name: str, before: EventSettings) -> Any:
        value = getattr(self, name)
        match name:
            case "options":
                return before.options | value
            case "tie_breakers" | "apart":
                return tuple(value)
            case "first_moves":
                return tuple(value.replace(",", " ").upper().split())
        return value


def _of(settings: EventSettings, name: str) -> Any:
    part = next((word for word, kind in _PARTS.items() if kind is SETTINGS[name]), None)
    return getattr(settings if part is None else getattr(settings, part), name)


def _settings() -> dict[str, type[msgspec.Struct] | None]:
    of_part = {name: kind for kind in _PARTS.values() for name in kind.__struct_fields__}
    return {name: of_part.get(name) for name in Terms.__struct_fields__ if name != "actor"}


SETTINGS: Final[Mapping[str, type[msgspec.Struct] | None]] = MappingProxyType(_settings())
"""Everything that can be said -> the part of the settings that it belongs to; None: to the settings themselves."""

GROUPS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "": ("event", "venue", "system", "rounds", "about"),
        "Who may come in": ("enter", "entering", "late", "most", "per_owner", "per_family", "lowest", "highest"),
        "When": ("opens_at", "closes_at", "starts_at", "starts_with"),
        "The tournament": ("options", "apart", "tie_breakers", "bye_points", "seed"),
        "The games": ("rated", "ladder", "komi", "main_s", "increment_s", "openings", "first_moves"),
        "Bots that are absent": ("check_in_s", "grace_s"),
        "After it": ("playoff", "every_days"),
    }
)
"""How forms order all this: heading -> fields; what always matters has none."""
