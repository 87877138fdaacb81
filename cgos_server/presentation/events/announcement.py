"""What an event is announced with, in words.

Must not know: who has entered, the venue's own terms, messages of the API but one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from cgos_protocol.api.events import EventSetting
from cgos_server.presentation import words
from cgos_server.tournaments.registry import shown_name
from cgos_server.tournaments.running.settings import EventSettings, Limits, Play, Times
from cgos_server.tournaments.words import counted, in_points

_ENTERING = {
    "owners": "owners and bots enter themselves, and the operator enters whom he wants",
    "operator": "the operator alone enters versions",
}


def in_short(settings: EventSettings) -> str:
    """One line: ``dutch in 9x9, 5 rounds, rated``."""
    parts = [f"{shown_name(settings.system, settings.options)} in {settings.venue}"]
    if settings.rounds is not None:
        parts.append(counted(settings.rounds, "round"))
    parts.append("rated" if settings.rated else "not rated")
    return ", ".join(parts)


def lines(settings: EventSettings) -> list[EventSetting]:
    """Everything that is announced, what is not said left out."""
    texts = (*_tournament(settings), *_field(settings), *_play(settings.play), *_times(settings.times))
    return [EventSetting(name=name, label=label, text=text) for name, label, text in texts if text]


def rating_sentence(settings: EventSettings, sandboxes: Collection[str]) -> str:
    """Whether its games count for ratings, and why not."""
    if settings.venue in sandboxes:
        return f"Not rated: results change no rating in {settings.venue}."
    if settings.rated:
        return f"Rated: it is played on the terms of {settings.venue}, and its games count for the ratings there."
    if settings.play.is_own:
        return f"Not rated: its games are not on the terms of {settings.venue}."
    return "Not rated: it is announced so."


_Line = tuple[str, str, str]


def _tournament(settings: EventSettings) -> Iterator[_Line]:
    options = ", ".join(f"{key}={_value(value)}" for key, value in settings.options.items())
    rounds = "as many as the system takes" if settings.rounds is None else str(settings.rounds)
    yield "venue", "Venue", settings.venue
    name = shown_name(settings.system, settings.options)
    yield "system", "System", f"{name} ({options})" if options else name
    yield "rounds", "Rounds", rounds
    yield "tie_breakers", "Places by", ", then ".join(settings.tie_breakers)
    yield "bye_points", "A bye gives", in_points(settings.bye_points / 2)
    yield "playoff", "Playoff", "those who share the first place play for it" if settings.playoff else ""
    yield "playoff_of", "Playoff of", settings.playoff_of
    yield "series", "Series", settings.series
    yield "rated", "Rated", "yes" if settings.rated else "no"


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _field(settings: EventSettings) -> Iterator[_Line]:
    yield "entering", "Entry", _ENTERING[settings.entering]
    yield "late", "Latecomers", "may enter, where the system takes them" if settings.late else "none"
    yield "limits", "Limits", _limits(settings.limits)
    yield "apart", "Do not meet", " and ".join(f"versions of one {word}" for word in settings.apart)
    yield (
        "ladder",
        "Between its games",
        "entrants play other games of the venue" if settings.ladder else "entrants play no other games",
    )


def _limits(limits: Limits) -> str:
    parts = []
    if limits.most is not None:
        parts.append(f"at most {counted(limits.most, 'entrant')}; who comes later waits for a place")
    if limits.per_owner is not None:
        parts.append(f"{limits.per_owner} of one owner")
    if limits.per_family is not None:
        parts.append(f"{limits.per_family} of one family")
    if limits.lowest is not None and limits.highest is not None:
        parts.append(f"rated {limits.lowest:g} to {limits.highest:g}")
    elif limits.lowest is not None:
        parts.append(f"rated {limits.lowest:g} or more")
    elif limits.highest is not None:
        parts.append(f"rated {limits.highest:g} or less")
    return "; ".join(parts)


def _play(play: Play) -> Iterator[_Line]:
    yield "komi", "Komi", "" if play.komi is None else f"{play.komi:g}"
    yield "time", "Time", _clock(play)
    yield "openings", "Openings", {True: "drawn by lot for each pair", False: "none", None: ""}[play.openings]
    yield "first_moves", "Games begin with", " ".join(play.first_moves)


def _clock(play: Play) -> str:
    if play.main_s is None:
        return ""
    more = f", and {words.duration(play.increment_s)} more a move" if play.increment_s else ""
    return f"{words.duration(play.main_s)} a side{more}"


def _times(times: Times) -> Iterator[_Line]:
    yield "opens_at", "Entry opens", _moment(times.opens_at)
    yield "closes_at", "Entry closes", _moment(times.closes_at)
    yield "starts", "Starts", _start(times)
    check_in = f"for {words.duration(times.check_in_s)} before the start" if times.check_in_s else ""
    yield "check_in_s", "Check-in", check_in
    yield "grace_s", "Who is away", f"has {words.duration(times.grace_s)} to come before a game is forfeited"
    again = "" if times.every_days is None else f"every {counted(times.every_days, 'day')}, with a fresh field"
    yield "every_days", "Held again", again


def _start(times: Times) -> str:
    parts = []
    if times.starts_with is not None:
        parts.append(f"as soon as {times.starts_with} are in")
    if times.starts_at is not None:
        parts.append(_moment(times.starts_at))
    return ", or at the latest ".join(parts) or "when the operator says so"


def _moment(at: int | None) -> str:
    return "" if at is None else f"{words.moment(at)} UTC"
