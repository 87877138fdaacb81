"""What an event is announced with: its system, its field, its times, what it plays.

Decides which announcements make sense. Must not know: who has entered, the venue's own terms, files.
"""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal, TypeAlias, get_args

from msgspec import Meta, Struct, field

from cgos_protocol.errors import Code, Invalid
from cgos_protocol.names import EVENT_NAME_PATTERN
from cgos_server.tournaments.base import Event, OptionValue
from cgos_server.tournaments.checking import checked
from cgos_server.tournaments.registry import known
from cgos_server.tournaments.tournament import system_of

MOST_ENTRANTS: Final = 10_000
LONGEST_GRACE_S: Final = 86_400
LONGEST_CHECK_IN_S: Final = 7 * 86_400
LARGEST_SEED: Final = 2**63 - 1
LONGEST_NAME: Final = 64

EventName: TypeAlias = Annotated[str, Meta(pattern=EVENT_NAME_PATTERN)]
"""A word: it stands in addresses and file names."""

Entering: TypeAlias = Literal["operator", "owners"]
"""Who enters versions: the operator alone, or owners and bots themselves too."""

Apart: TypeAlias = Literal["owner", "family"]
"""What those have in common who must not meet; a bot without an owner is its own."""

APART: Final[tuple[str, ...]] = get_args(Apart)

_NAME: Final = re.compile(EVENT_NAME_PATTERN)


class Limits(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """Who may enter.

    :ivar most: entrants; whoever comes later waits for a place
    :ivar per_owner: entrants of one owner; a bot without an owner is its own
    :ivar per_family: entrants of one family
    :ivar lowest: rating when it enters, Elo
    :ivar highest: likewise
    """

    most: int | None = None
    per_owner: int | None = None
    per_family: int | None = None
    lowest: float | None = None
    highest: float | None = None


class Play(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """What its games have otherwise than the venue's own; None: as in the venue.

    :ivar komi: points
    :ivar main_s: absolute time of either side, seconds
    :ivar increment_s: with `main_s`: Fischer's, seconds a move
    :ivar openings: False: no openings, though the venue has some; True as None
    :ivar first_moves: the moves that every game begins with, Black's first
    """

    komi: float | None = None
    main_s: float | None = None
    increment_s: float | None = None
    openings: bool | None = None
    first_moves: tuple[str, ...] = ()

    @property
    def is_own(self) -> bool:
        """True where games are not on the venue's own terms, so that they cannot be rated."""
        return self not in (Play(), Play(openings=True))


class Times(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """When what happens; Unix milliseconds and seconds. What is None waits for the operator.

    :ivar opens_at: entry opens
    :ivar closes_at: entry closes; None: when the event starts
    :ivar starts_at: it starts
    :ivar starts_with: it starts as soon as so many are in
    :ivar check_in_s: for so long before the start entrants say that they are there; who does not is out. 0: no check-in
    :ivar grace_s: who is away when a game is due has so long to come before it is forfeited
    :ivar every_days: so many days after its start it is held again with a fresh field; None: it is not
    """

    opens_at: int | None = None
    closes_at: int | None = None
    starts_at: int | None = None
    starts_with: int | None = None
    check_in_s: int = 0
    grace_s: int = 300
    every_days: int | None = None


class EventSettings(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """An event as it is announced.

    :ivar name: unique on the server
    :ivar about: for people; one line
    :ivar venue: where it is played
    :ivar system: word of :mod:`cgos_server.tournaments.registry`
    :ivar options: of the system
    :ivar rounds: None: as many as the system takes, or until the operator ends it
    :ivar seed: of all that is drawn by lot
    :ivar tie_breakers: words; empty: the system's own
    :ivar bye_points: half points of a bye that is given because the field is odd
    :ivar entering: who enters versions
    :ivar apart: versions that have one of these in common do not meet
    :ivar late: whether one may enter after the start, where the system takes latecomers
    :ivar rated: whether its games count for the venue's ratings; only on the venue's own terms
    :ivar ladder: whether entrants play other games of the venue between theirs
    :ivar playoff: whether those who share the first place play for it, two games a pair, when all else is over
    :ivar playoff_of: the event whose playoff this is; empty: it is none
    :ivar series: the first event of the series, in all that followed it; see :attr:`series_name`
    """

    name: str
    venue: str
    system: str
    about: str = ""
    options: dict[str, OptionValue] = field(default_factory=dict)
    rounds: int | None = None
    seed: int = 0
    tie_breakers: tuple[str, ...] = ()
    bye_points: int = 2
    entering: Entering = "owners"
    apart: tuple[Apart, ...] = ()
    late: bool = False
    rated: bool = True
    ladder: bool = True
    playoff: bool = False
    playoff_of: str = ""
    series: str = ""
    limits: Limits = field(default_factory=Limits)
    play: Play = field(default_factory=Play)
    times: Times = field(default_factory=Times)

    @property
    def series_name(self) -> str:
        """The name of the first event of its series; empty where it is of none."""
        return self.series or (self.name if self.times.every_days is not None else "")


def empty_event(settings: EventSettings) -> Event:
    """The record of a tournament that nobody has entered. Raises Refused where system, options or numbers are none."""
    word, options = known(settings.system)
    event = Event(
        system=word,
        name=settings.name,
        options={**options, **settings.options},
        planned=settings.rounds,
        seed=settings.seed,
        bye_points=settings.bye_points,
        tie_breakers=settings.tie_breakers,
    )
    system_of(event).standings(checked(event))  # refuses tie-breakers and options that do not go together
    return event


def require_settings(settings: EventSettings) -> None:
    """Raises Refused where an event cannot be announced so."""
    if not _NAME.fullmatch(settings.name):
        raise Invalid(
            Code.EVENT_NAME,
            f"An event cannot be named {settings.name!r}. Take letters, digits, dots, hyphens and underscores, up to "
            "64, a letter or digit first.",
        )
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in settings.about):
        raise Invalid(Code.EVENT_SETTING, "What is said about the event must be one line of plain text.")
    for word in settings.apart:
        if word not in APART:
            raise Invalid(Code.EVENT_SETTING, f"{word[:40]!r} keeps nobody apart. Give one of: {', '.join(APART)}.")
    event = empty_event(settings)
    _require_between("the lots", settings.seed, 0, LARGEST_SEED)
    if event.options.get("handicap"):
        raise Invalid(
            Code.EVENT_SETTING,
            f"Games on this server have no handicap stones, so {settings.system} is held without them here. Leave "
            "handicap out: with starting points alone, entrants of near strength meet from the first round on.",
        )
    _require_limits(settings.limits)
    _require_times(settings.times)
    if settings.rated and settings.play.is_own:
        raise Invalid(
            Code.EVENT_SETTING,
            "An event with komi, clocks, openings or first moves of its own cannot be rated. Leave them, or say that "
            "it is not rated.",
        )


def _require_limits(limits: Limits) -> None:
    for what, number in (("entrants", limits.most), ("of one owner", limits.per_owner)):
        _require_between(what, number, 1, MOST_ENTRANTS)
    _require_between("of one family", limits.per_family, 1, MOST_ENTRANTS)
    if limits.most == 1:
        raise Invalid(Code.EVENT_SETTING, "An event of one entrant has no game. Allow two or more.")
    if limits.lowest is not None and limits.highest is not None and limits.lowest > limits.highest:
        raise Invalid(
            Code.EVENT_SETTING,
            f"Nobody is rated from {limits.lowest:g} to {limits.highest:g}. Give the lower rating first.",
        )


def _require_times(times: Times) -> None:
    require_grace(times.grace_s)
    _require_between("seconds of check-in", times.check_in_s, 0, LONGEST_CHECK_IN_S)
    _require_between("days until it is held again", times.every_days, 1, 366)
    _require_between("entrants to start with", times.starts_with, 2, MOST_ENTRANTS)
    order = [at for at in (times.opens_at, times.closes_at, times.starts_at) if at is not None]
    if order != sorted(order):
        raise Invalid(Code.EVENT_SETTING, "Entry opens before it closes, and closes before the start.")
    if times.check_in_s and times.starts_at is None:
        raise Invalid(Code.EVENT_SETTING, "A check-in needs the time of the start. Give it, or no check-in.")
    if times.every_days is not None and times.starts_at is None:
        raise Invalid(Code.EVENT_SETTING, "An event that is held again needs the time of its start.")


def require_grace(seconds: int) -> None:
    """Raises Refused where nobody can be waited for so long."""
    _require_between("seconds of grace", seconds, 1, LONGEST_GRACE_S)


def _require_between(what: str, number: int | None, least: int, most: int) -> None:
    if number is not None and not least <= number <= most:
        raise Invalid(Code.EVENT_SETTING, f"{number} is no number of {what}. Give {least} to {most}.")
