"""Holds an event by every tournament system on a real server among real bots, kills the server in the middle of each,
and has what came of it folded a second time from the raw tables.

The server is the shipped one in a process of its own, with its pages; the bots are the client's built-in ones, each
with several slots, and play all events at the same time. Meanwhile an operator rules results, has games replayed and
voided, withdraws and enters versions and takes rounds back (`event_acts.py`). A kill is `kill -9`; every event is cut
at least once after the operator has done something to it, while games of it run and others have ended. In the end
rounds and ranking by `event_fold.py` are held against what the server's API says, every round is paired again, and
every game of the archive is looked at for its event and its round. Then events that follow others are killed in
between (`event_following.py`). Loopback only, bounded, stops by itself.
"""

from __future__ import annotations

import io
import re
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from benchmarks.reporting import CommandLine, table, write_json
from benchmarks.tournaments.event_acts import Act, Operator
from benchmarks.tournaments.event_fold import Folded, disagreements, folded
from benchmarks.tournaments.event_following import hold_following
from benchmarks.tournaments.event_site import STEP_S, VENUE, Site, Wanted, bot_name, bots, until
from cgos_server.service.events.announcing import EventCreate, EventOpen
from cgos_server.service.events.entering import EventEnter
from cgos_server.service.events.holding import EventStart
from cgos_server.tournaments.base import OptionValue

BY_ROUNDS = (
    Act("void", 1),
    Act("rule", 2),
    Act("late", 2),
    Act("take-back", 2),
    Act("replay", 2),
    Act("withdraw", 2),
)
"""What the operator does to an event that takes latecomers."""
FIXED = tuple(act for act in BY_ROUNDS if act.word != "late")
"""And to one whose field is fixed."""
KNOCKOUT = (Act("void", 1), Act("rule", 2), Act("take-back", 2), Act("replay", 1), Act("withdraw", 1))
"""And to one whose rounds overlap; first what becomes impossible when somebody has left."""
BUBBLE = (Act("late", 1), *KNOCKOUT)


class Plan(NamedTuple):
    """One event to be held.

    :ivar bots: entrants
    :ivar rounds: None: as many as the system takes
    :ivar ended: it is cut when so many of its games have ended, or more
    :ivar acts: what the operator does to it
    """

    name: str
    system: str
    bots: int = 8
    rounds: int | None = None
    options: Mapping[str, OptionValue] = MappingProxyType({})
    ended: int = 4
    acts: Sequence[Act] = BY_ROUNDS


PLANS = (
    Plan("round-robin", "round-robin", ended=8, acts=FIXED),
    Plan("cup", "cup", bots=14, ended=2, acts=KNOCKOUT),
    Plan("double-elimination", "double-elimination", acts=KNOCKOUT),
    Plan("accelrat", "accelrat", rounds=5),
    Plan("swiss", "swiss", bots=9, rounds=5),
    Plan("mcmahon", "mcmahon", rounds=5),
    Plan("godraw", "godraw", rounds=5),
    Plan("epm", "epm", rounds=5),
    Plan("weighted", "weighted", rounds=5),
    Plan("tcec", "tcec", rounds=5),
    Plan("mwm", "mwm", rounds=5),
    Plan("bubble", "bubble", bots=14, ended=20, acts=BUBBLE),
    Plan("tcec-double", "tcec-double", rounds=4),
    Plan("mcmahon-bar", "mcmahon", bots=10, rounds=5, options={"bar": "4k"}),
)
"""All twelve systems, TCEC with two games a match, a McMahon with a bar."""


Say = Callable[[str], None]


class Outcome(NamedTuple):
    """What came of one event.

    :ivar acts: how much the operator has done to it
    :ivar cuts: how often the server was killed after that began, while games of it ran and others had ended
    :ivar faults: what does not agree; empty: everything does
    """

    name: str
    system: str
    entrants: int
    rounds: int
    games: int
    acts: int
    cuts: int
    faults: tuple[str, ...]
    winner: str


def announce(site: Site, plan: Plan) -> None:
    """Create, open, enter and start one."""
    site.say(
        EventCreate(
            event=plan.name,
            system=plan.system,
            venue=VENUE,
            rounds=plan.rounds,
            options=dict(plan.options),
            late=True,
        )
    )
    site.say(EventOpen(event=plan.name))
    for number in range(plan.bots):
        site.say(EventEnter(event=plan.name, version=bot_name(number)))
    site.say(EventStart(event=plan.name))


def in_the_middle(site: Site) -> dict[str, int]:
    """Events of which a game runs -> how many of their games have ended."""
    rows = site.query(
        "SELECT e.name, sum(g.ended_at IS NOT NULL), sum(g.ended_at IS NULL) FROM events e"
        " JOIN event_games p ON p.event_id = e.id JOIN games g ON g.id = p.game_id"
        " WHERE e.phase = 'running' GROUP BY e.id"
    )
    return {name: ended for name, ended, running in rows if ended and running}


def play(
    site: Site, operators: Mapping[str, Operator], plans: Sequence[Plan], wanted: Wanted, say: Say
) -> Counter[str]:
    """Until all events are over; how often each was cut in its middle. Raises RuntimeError where it takes too long.

    A kill waits for all that were not cut yet to come to their middle, but not longer than until one of them has twice
    as many games that ended.
    """
    cuts: Counter[str] = Counter()
    due = {plan.name: plan.ended for plan in plans}
    deadline = time.monotonic() + wanted.seconds
    while True:
        for name, operator in operators.items():
            done = operator.look()
            if done:
                say(f"{name}: {done}")
        middle = in_the_middle(site)
        left = {name: middle.get(name, 0) if operators[name].done else 0 for name in due if not cuts[name]}
        if any(ended >= due[name] for name, ended in left.items()) and (
            all(ended >= due[name] for name, ended in left.items())
            or any(ended >= 2 * due[name] for name, ended in left.items())
        ):
            site.kill()
            cut = [name for name in in_the_middle(site) if operators[name].done]
            cuts.update(cut)
            say(f"killed in the middle of {', '.join(sorted(cut))}")
            site.start()
        phases = dict(site.query("SELECT name, phase FROM events"))
        if all(phases[plan.name] == "over" for plan in plans):
            return cuts
        if time.monotonic() > deadline:
            raise RuntimeError(f"After {wanted.seconds:.0f} s not all events are over: {phases}")
        time.sleep(STEP_S)


def server_says(site: Site, name: str) -> tuple[list[tuple[Any, ...]], list[tuple[int, str]]]:
    """Rounds and ranking by the server's API, in the form of :class:`Folded`."""
    rounds = [
        (
            each["number"],
            sorted(
                (
                    game["number"],
                    game["black"],
                    game["white"],
                    *map(_halves, (game["black_points"], game["white_points"])),
                )
                for game in each["games"]
            ),
            sorted(bye["entrant"] for bye in each["byes"]),
        )
        for each in site.get(f"/events/{name}/rounds")["items"]
    ]
    rows = site.get(f"/events/{name}/standings")["rows"]
    return rounds, [(row["place"], row["version"]) for row in rows]


def _halves(points: float | None) -> int | None:
    return None if points is None else round(2 * points)


def archived(site: Site) -> dict[int, tuple[str, str]]:
    """What the archive of all game files says of each game: its event and its round, empty where it says nothing."""
    target = site.directory / "games.tar.gz"
    site.command("export", "sgf", str(target))
    places = {}
    with tarfile.open(fileobj=io.BytesIO(target.read_bytes())) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is None or not member.name.endswith(".sgf"):
                continue
            text = file.read().decode()
            number = int(re.findall(r"\d+", Path(member.name).stem)[-1])
            places[number] = tuple(
                (re.findall(rf"(?<![A-Z]){key}\[((?:\\.|[^\]])*)\]", text) or [""])[0] for key in ("EV", "RO")
            )
    return places


def judged(site: Site, plan: Plan, operator: Operator, archive: Mapping[int, tuple[str, str]]) -> Outcome:
    """One event when it is over, but for its cuts."""
    fold: Folded = folded(site.database, plan.name)
    faults = disagreements(fold)
    rounds, ranking = server_says(site, plan.name)
    if rounds != fold.rounds:
        faults.append(f"the server says these rounds: {rounds}; its tables: {fold.rounds}")
    if ranking != fold.ranking:
        faults.append(f"the server says this ranking: {ranking}; its tables: {fold.ranking}")
    placed = site.query(
        "SELECT p.game_id, p.round FROM event_games p JOIN events e ON e.id = p.event_id WHERE e.name = ?", plan.name
    )
    elsewhere = [game for game, number in placed if not _is_of(archive.get(game, ("", "")), plan.name, number)]
    if elsewhere:
        shown_as = archive.get(elsewhere[0], ("", ""))
        faults.append(f"the archive has {len(elsewhere)} games otherwise, such as {elsewhere[0]} as {shown_as}")
    if not operator.done:
        faults.append(f"the operator could do nothing to it ({operator.refused or 'it was over too soon'})")
    return Outcome(
        name=plan.name,
        system=plan.system,
        entrants=len(fold.event.entrants),
        rounds=len(fold.event.rounds),
        games=fold.games,
        acts=len(operator.done),
        cuts=0,
        faults=tuple(faults),
        winner=fold.ranking[0][1],
    )


def _is_of(place: tuple[str, str], name: str, round_: int) -> bool:
    event, number = place
    return name in event and re.findall(r"\d+", number)[:1] == [str(round_)]


def with_cuts(outcome: Outcome, cuts: int) -> Outcome:
    """With how often it was cut, which must be once at least."""
    faults = outcome.faults if cuts else (*outcome.faults, "it was never cut in its middle")
    return outcome._replace(cuts=cuts, faults=faults)


def run(plans: Sequence[Plan], wanted: Wanted, say: Say) -> tuple[list[Outcome], list[str]]:
    """Hold all these events at the same time, and then those that follow others; what does not agree there. Raises
    RuntimeError where something takes too long."""
    site = Site(wanted.directory, wanted.size, interval_s=1.0)
    try:
        site.start()
        with bots(site, max(plan.bots for plan in plans) + 1, wanted):
            ended = "SELECT count(*) FROM games WHERE ended_at IS NOT NULL"
            until(lambda: site.query(ended)[0][0] >= wanted.ladder, wanted.seconds, "too few games of the ladder")
            site.get("/events")  # or the first answer would take as long as a small event
            for plan in plans:
                announce(site, plan)
                say(f"{plan.name} has started")
            operators = {plan.name: Operator(site, plan.name, plan.bots, plan.acts) for plan in plans}
            cuts = play(site, operators, plans, wanted, say)
            faults = hold_following(site, say)
            archive = archived(site)
            outcomes = [judged(site, plan, operators[plan.name], archive) for plan in plans]
        return [with_cuts(outcome, cuts[outcome.name]) for outcome in outcomes], faults
    finally:
        site.stop()


def shown(outcomes: Sequence[Outcome]) -> str:
    """The table of results, and what does not agree."""
    columns = ("event", "system", "entrants", "rounds", "games", "acts", "kills in its middle", "first", "agrees")
    rows = [
        (*outcome[:7], outcome.winner, "yes" if not outcome.faults else f"NO: {len(outcome.faults)}")
        for outcome in outcomes
    ]
    lines = [table("Events, folded a second time", columns, rows, left=("system", "first", "agrees"))]
    lines += [f"{outcome.name}: {fault}" for outcome in outcomes for fault in outcome.faults]
    return "\n".join(lines)


def main(words: Sequence[str] | None = None) -> None:
    parser = CommandLine(__doc__, only=["cup"], size=5, ladder=0)
    parser.add_argument("--only", nargs="*", choices=[plan.name for plan in PLANS], help="these events alone")
    parser.add_argument("--size", type=int, default=9, help="of the board")
    parser.add_argument("--slots", type=int, default=4, help="games at once of each bot")
    parser.add_argument("--ladder", type=int, default=60, help="games of the ladder before, so that there are ratings")
    parser.add_argument("--minutes", type=float, default=20.0, help="give up after so long")
    options = parser.read(words)
    plans = [plan for plan in PLANS if options.only is None or plan.name in options.only]
    begun = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - begun:6.0f} s  {text}", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="cgos-events-") as folder:
        wanted = Wanted(
            directory=Path(folder),
            size=options.size,
            slots=options.slots,
            seconds=60 * options.minutes,
            ladder=options.ladder,
        )
        outcomes, faults = run(plans, wanted, say)
    print(shown(outcomes))
    print(*(faults or ["Events that follow others: each was announced once, and decided once."]), sep="\n")
    write_json(options.json, [outcome._asdict() for outcome in outcomes])
    if faults or any(outcome.faults for outcome in outcomes):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
