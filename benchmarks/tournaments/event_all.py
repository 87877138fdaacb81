"""Holds an event by every tournament system on a real server among real bots, kills the server in the middle of each,
and has what came of it folded a second time from the raw tables.

The server is the shipped one in a process of its own, with its pages; the bots are the client's built-in ones, each
with several slots, and play all events at the same time. A kill is `kill -9`; every event is cut at least once while
games of it run and others have ended. In the end rounds and ranking by `event_fold.py` are held against what the
server's API says, every round is paired again, and every game of the archive is looked at for its event and its round.
Loopback only, bounded, stops by itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from benchmarks.reporting import CommandLine, table, write_json
from benchmarks.tournaments.event_fold import Folded, disagreements, folded
from cgos_protocol.errors import CgosError
from cgos_server.net import control_socket
from cgos_server.service.commands.declaration import Command
from cgos_server.service.commands.registry import ask
from cgos_server.service.commands.server import StatusRequest
from cgos_server.service.control import ServerStatus
from cgos_server.service.events.announcing import EventCreate, EventOpen
from cgos_server.service.events.entering import EventEnter
from cgos_server.service.events.holding import EventStart
from cgos_server.tournaments.base import OptionValue

VENUE = "board"
STEP_S = 0.05
START_LIMIT_S = 60.0
CONFIGURATION = """\
[server]
data = "data"
log_format = "json"
drain_limit_s = 1
[listen]
bots_host = "127.0.0.1"
[websocket]
host = "127.0.0.1"
port = {websocket}
[web]
port = {web}
[health]
port = {health}
[[venue]]
name = "{venue}"
port = {lines}
size = {size}
komi = 7.0
time = {{ system = "absolute", main = "1m" }}
pairing = {{ interval_s = {interval_s}, patience_s = 1.0, settle_s = 0.1 }}
"""


class Plan(NamedTuple):
    """One event to be held.

    :ivar bots: entrants
    :ivar rounds: None: as many as the system takes
    :ivar ended: it is cut when so many of its games have ended, or more
    """

    name: str
    system: str
    bots: int = 8
    rounds: int | None = None
    options: Mapping[str, OptionValue] = MappingProxyType({})
    ended: int = 4


PLANS = (
    Plan("round-robin", "round-robin", ended=8),
    Plan("cup", "cup", ended=2),
    Plan("double-elimination", "double-elimination"),
    Plan("accelrat", "accelrat", rounds=4),
    Plan("swiss", "swiss", bots=9, rounds=4),
    Plan("mcmahon", "mcmahon", rounds=4),
    Plan("godraw", "godraw", rounds=4),
    Plan("epm", "epm", rounds=4),
    Plan("weighted", "weighted", rounds=4),
    Plan("tcec", "tcec", rounds=4),
    Plan("mwm", "mwm", rounds=4),
    Plan("bubble", "bubble", bots=14, ended=20),
    Plan("tcec-double", "tcec-double", rounds=3),
    Plan("mcmahon-bar", "mcmahon", bots=10, rounds=4, options={"bar": "4k"}),
)
"""All twelve systems, TCEC with two games a match, a McMahon with a bar."""


class Outcome(NamedTuple):
    """What came of one event.

    :ivar cuts: how often the server was killed while games of it ran and others had ended
    :ivar faults: what does not agree; empty: everything does
    """

    name: str
    system: str
    entrants: int
    rounds: int
    games: int
    cuts: int
    faults: tuple[str, ...]
    winner: str


class Site:
    """A server that can be killed and started again, in `directory`, always on the same ports."""

    def __init__(self, directory: Path, size: int, interval_s: float) -> None:
        self.directory = directory
        self.data = directory / "data"
        self.database = self.data / "cgos.sqlite"
        self.config = directory / "cgos.toml"
        ports = dict(zip(("lines", "websocket", "web", "health"), free_ports(4), strict=True))
        self.websocket, self.web = ports["websocket"], ports["web"]
        self.config.write_text(CONFIGURATION.format(venue=VENUE, size=size, interval_s=interval_s, **ports))
        self.process: subprocess.Popen[bytes] | None = None
        self.kills = 0

    def start(self) -> None:
        """Until it answers."""
        with (self.directory / "server.log").open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "cgos_server", "serve", "--config", str(self.config)],
                cwd=self.directory,
                stdout=output,
                stderr=output,
            )
        until(lambda: self.status() is not None, START_LIMIT_S, "the server does not answer")

    def kill(self) -> None:
        """As a power switch would."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(10)
        self.kills += 1

    def stop(self) -> None:
        """Twice: at once."""
        if self.process is None:
            return
        for number in (signal.SIGTERM, signal.SIGTERM, signal.SIGKILL):
            if self.process.poll() is None:
                self.process.send_signal(number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(5)

    def say(self, command: Command[Any]) -> Any:
        """Have it done through the control socket. Raises Refused."""
        return asyncio.run(ask(partial(control_socket.call, self.data), command))

    def status(self) -> ServerStatus | None:
        """None: it does not answer yet."""
        try:
            status: ServerStatus = self.say(StatusRequest())
        except CgosError:
            return None
        return status if status.web else None

    def get(self, path: str) -> Any:
        """What the API answers."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.web}/api/v1{path}", timeout=30) as answer:
            return json.loads(answer.read())

    def query(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Of the database, read only."""
        with contextlib.closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True, timeout=10)) as connection:
            return connection.execute(sql, parameters).fetchall()

    def command(self, *words: str) -> str:
        """What a command of the server prints. Raises CalledProcessError."""
        line = [sys.executable, "-m", "cgos_server", *words, "--config", str(self.config)]
        return subprocess.run(line, check=True, capture_output=True, text=True, cwd=self.directory).stdout


def free_ports(count: int) -> list[int]:
    """Ports of this machine that nobody listens on."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def until(condition: Callable[[], Any], seconds: float, what: str) -> None:
    """Wait for another process. Raises RuntimeError with `what`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f"After {seconds:.0f} s still: {what}")
        time.sleep(STEP_S)


def bot_name(number: int) -> str:
    """Of the bots, from 0."""
    return f"Bot-{number:02d}"


class Wanted(NamedTuple):
    """How events are held.

    :ivar directory: where everything lies
    :ivar size: of the board
    :ivar slots: games at once of each bot
    :ivar seconds: until all of it is given up
    :ivar ladder: so many games of the ladder come first, so that entrants have ratings
    :ivar playouts: of each bot a move, which makes games longer; 0: bots play at random, or greedily, in turn
    """

    directory: Path
    size: int
    slots: int
    seconds: float
    playouts: int = 0
    ladder: int = 0


@contextlib.contextmanager
def bots(site: Site, count: int, wanted: Wanted) -> Iterator[None]:
    """A client with so many built-in bots that come back whenever they are cut."""
    secret = site.directory / "bots.password"
    secret.write_text("secret-of-the-bots\n")
    secret.chmod(0o600)
    file = site.directory / "bots.toml"
    lines = [f'[server]\nurl = "ws://127.0.0.1:{site.websocket}"\n']
    for number in range(count):
        kind = f'"mcts"\nplayouts = {wanted.playouts}' if wanted.playouts else f'"{("random", "greedy")[number % 2]}"'
        lines.append(
            f'[[bot]]\nname = "{bot_name(number)}"\npassword_file = "{secret.name}"\nvenues = ["{VENUE}"]\n'
            f"slots = {wanted.slots}\nseed = {number}\nbuiltin = {kind}\n"
        )
    file.write_text("\n".join(lines))
    with (site.directory / "bots.log").open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "cgos_client", "run", "--config", str(file)], stdout=output, stderr=output
        )
    try:
        until(lambda: len(signed_in(site)) == count, START_LIMIT_S, "not all bots are there")
        yield
    finally:
        process.kill()
        process.wait(10)


def signed_in(site: Site) -> set[str]:
    """Names of the bots that are there."""
    status = site.status()
    return set() if status is None else {each.name for each in status.bots}


def announce(site: Site, plan: Plan) -> None:
    """Create, open, enter and start one."""
    site.say(
        EventCreate(event=plan.name, system=plan.system, venue=VENUE, rounds=plan.rounds, options=dict(plan.options))
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


def play(site: Site, plans: Sequence[Plan], seconds: float, say: Callable[[str], None]) -> dict[str, int]:
    """Until all events are over; how often each was cut in its middle. Raises RuntimeError where it takes too long.

    A kill waits for all that were not cut yet to come to their middle, but not longer than until one of them has twice
    as many games that ended.
    """
    cuts = {plan.name: 0 for plan in plans}
    due = {plan.name: plan.ended for plan in plans}
    deadline = time.monotonic() + seconds
    while True:
        middle = in_the_middle(site)
        left = {name: middle.get(name, 0) for name, times in cuts.items() if not times}
        if any(ended >= due[name] for name, ended in left.items()) and (
            all(ended >= due[name] for name, ended in left.items())
            or any(ended >= 2 * due[name] for name, ended in left.items())
        ):
            site.kill()
            middle = in_the_middle(site)
            for name in middle:
                cuts[name] += 1
            say(f"killed in the middle of {', '.join(sorted(middle))}")
            site.start()
        phases = dict(site.query("SELECT name, phase FROM events"))
        if all(phases[plan.name] == "over" for plan in plans):
            return cuts
        if time.monotonic() > deadline:
            raise RuntimeError(f"After {seconds:.0f} s not all events are over: {phases}")
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


def judged(site: Site, plan: Plan, cuts: int, archive: Mapping[int, tuple[str, str]]) -> Outcome:
    """One event when it is over."""
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
    if not cuts:
        faults.append("it was never cut in its middle")
    return Outcome(
        name=plan.name,
        system=plan.system,
        entrants=len(fold.event.entrants),
        rounds=len(fold.event.rounds),
        games=fold.games,
        cuts=cuts,
        faults=tuple(faults),
        winner=fold.ranking[0][1],
    )


def _is_of(place: tuple[str, str], name: str, round_: int) -> bool:
    event, number = place
    return name in event and re.findall(r"\d+", number)[:1] == [str(round_)]


def run(plans: Sequence[Plan], wanted: Wanted, say: Callable[[str], None]) -> list[Outcome]:
    """Hold all these events at the same time. Raises RuntimeError where something takes too long."""
    site = Site(wanted.directory, wanted.size, interval_s=1.0)
    try:
        site.start()
        with bots(site, max(plan.bots for plan in plans), wanted):
            ended = "SELECT count(*) FROM games WHERE ended_at IS NOT NULL"
            until(lambda: site.query(ended)[0][0] >= wanted.ladder, wanted.seconds, "too few games of the ladder")
            for plan in plans:
                announce(site, plan)
                say(f"{plan.name} has started")
            cuts = play(site, plans, wanted.seconds, say)
            archive = archived(site)
            return [judged(site, plan, cuts[plan.name], archive) for plan in plans]
    finally:
        site.stop()


def shown(outcomes: Sequence[Outcome]) -> str:
    """The table of results, and what does not agree."""
    columns = ("event", "system", "entrants", "rounds", "games", "kills in its middle", "first", "agrees")
    rows = [
        (*outcome[:6], outcome.winner, "yes" if not outcome.faults else f"NO: {len(outcome.faults)}")
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
        outcomes = run(plans, wanted, say)
    print(shown(outcomes))
    write_json(options.json, [outcome._asdict() for outcome in outcomes])
    if any(outcome.faults for outcome in outcomes):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
