"""Events that follow others, on a real server that is killed in between: a playoff for a shared first place, and the
next one of a series. Each must be announced once, and a playoff must decide once.

Must not know: how the server announces what follows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from benchmarks.tournaments.event_fold import folded
from benchmarks.tournaments.event_site import VENUE, Site, bot_name, until
from cgos_server.service.events.announcing import EventCreate, EventOpen
from cgos_server.service.events.entering import EventEnter
from cgos_server.service.events.holding import EventStart
from cgos_server.service.events.ruling import EventRule
from cgos_server.tournaments.base import OptionValue

SHARED, SERIES = "shared", "daily"
BOTS = 2
LIMIT_S = 120.0
STARTS_IN_MS = 3000
WHY = "So that the first place is shared."


def hold_following(site: Site, say: Callable[[str], None]) -> list[str]:
    """Hold both, and say what does not agree. Raises RuntimeError where something takes too long."""
    starts_at = round(1000 * time.time()) + STARTS_IN_MS
    site.say(EventCreate(event=SERIES, system="round-robin", venue=VENUE, starts_at=starts_at, every_days=1))
    enter(site, SERIES)
    killed_when(site, SERIES, "running", say)
    doubled: dict[str, OptionValue] = {"double": True}
    site.say(EventCreate(event=SHARED, system="round-robin", venue=VENUE, options=doubled, playoff=True))
    enter(site, SHARED)
    site.say(EventStart(event=SHARED))
    until(lambda: phase(site, SHARED) == "over", LIMIT_S, "the event with a playoff is not over")
    share(site)
    playoff = f"{SHARED}-playoff"
    killed_when(site, playoff, "running", say)
    killed_when(site, playoff, "over", say)
    until(lambda: phase(site, SERIES) == "over", LIMIT_S, "the event of a series is not over")
    return list(_wrong(site, playoff))


def enter(site: Site, name: str) -> None:
    """Open entry to an event, and enter everybody."""
    site.say(EventOpen(event=name))
    for number in range(BOTS):
        site.say(EventEnter(event=name, version=bot_name(number)))


def share(site: Site) -> None:
    """Where one has won both games the second one is ruled to the other: that brings the playoff about."""
    if phase(site, f"{SHARED}-playoff"):
        return
    _, game = (game for each in site.get(f"/events/{SHARED}/rounds")["items"] for game in each["games"])
    result = "1-0" if game["black_points"] else "0-1"
    site.say(EventRule(event=SHARED, number=game["number"], result=result, reason=WHY))


def phase(site: Site, name: str) -> str:
    """Of an event; empty while there is none of this name."""
    rows = site.query("SELECT phase FROM events WHERE name = ?", name)
    return str(rows[0][0]) if rows else ""


def killed_when(site: Site, name: str, word: str, say: Callable[[str], None]) -> None:
    """Kill the server as soon as the database says that an event is so far, and start it again."""
    until(lambda: phase(site, name) == word, LIMIT_S, f"{name} is not {word}")
    site.kill()
    say(f"killed as soon as {name} was {word}")
    site.start()


def _wrong(site: Site, playoff: str) -> Iterator[str]:
    names = sorted(name for (name,) in site.query("SELECT name FROM events") if name.startswith((SHARED, SERIES)))
    if names != sorted((SERIES, f"{SERIES}-2", SHARED, playoff)):
        yield f"these events follow one another: {names}"
    for name, kind in ((SHARED, "followed"), (SERIES, "followed"), (SHARED, "decided")):
        lines = folded(site.database, name).kinds[kind]
        if lines != 1:
            yield f"the log of {name} says {kind} {lines} times"
    won = {name for place, name in folded(site.database, playoff).ranking if place == 1}
    event = folded(site.database, SHARED)
    if {event.event.names[entrant] for entrant in event.won_playoff} != won:
        yield f"{playoff} was won by {sorted(won)}, the log of {SHARED} says otherwise"
    shown = [(row["place"], row["version"]) for row in site.get(f"/events/{SHARED}/standings")["rows"]]
    if shown != event.ranking:
        yield f"{SHARED} ends as {shown} by the server, as {event.ranking} by its tables"
