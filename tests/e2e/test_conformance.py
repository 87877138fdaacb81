"""The conformance kit against our server, which passes all of it, and against servers that lie, which do not."""

from __future__ import annotations

import asyncio
import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from support.e2e.processes import ServerProcess, free_port, server
from support.net.lying_proxy import Change, as_it_is, lying_proxy

from cgos_client.conformance.expectations import RunSettings
from cgos_client.conformance.outcome import Outcome, Verdict
from cgos_client.conformance.runner import all_cases, chosen, play_all

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

TIME = 'time = { system = "absolute", main = "15s" }'
MORE = """
pairing = {{ interval_s = 0.2, patience_s = 0.5, settle_s = 0.05 }}
[[venue]]
name = "{name}"
port = {port}
size = 9
komi = 7.0
{time}"""
LANES = 5
"""Venues in which lies are told at the same time: the cases wait far more than they work."""


SYSTEMS = {
    "fischer": ('"fischer", main = "4s", increment = "1s"', set()),
    "fischer, more than a slow move": ('"fischer", main = "4s", increment = "3s"', set()),
    "byo-yomi": ('"byoyomi", main = "2s", period = "2s", periods = 2', set()),
    "byo-yomi alone": ('"byoyomi", period = "4s", periods = 2', {"time-goes-down"}),
    "canadian": ('"canadian", main = "2s", period = "2s", stones = 2', set()),
    "canadian alone": ('"canadian", period = "4s", stones = 3', set()),
    "fixed": ('"fixed", period = "4s"', {"time-goes-down"}),
}
"""Time systems beside the absolute one of the whole kit, and what cannot be seen in them, as each move begins anew."""
TIMED = re.compile(r"<moves>|\.left|<ms:|runs out of time")


class Serving(NamedTuple):
    """A server, and the ports of those of its venues where the kit as a whole does not play."""

    process: ServerProcess
    lanes: list[int]
    systems: dict[str, int]


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    lanes = [free_port() for _ in range(LANES)]
    systems = {name: free_port() for name in SYSTEMS}
    times = dict.fromkeys(lanes, TIME)
    times |= {
        systems[name]: f"time = {{ system = {time} }}\nfirst_move_limit_s = 15" for name, (time, _) in SYSTEMS.items()
    }
    more = "".join(MORE.format(name=f"lane-{port}", port=port, time=time) for port, time in times.items())
    with server(tmp_path_factory.mktemp("conformance"), venue=TIME + more) as process:
        yield Serving(process, lanes, systems)


def test_our_server_passes_everything(serving: Serving) -> None:
    process = serving.process
    command = [sys.executable, "-m", "cgos_client", "conformance", "--server", f"127.0.0.1:{process.port}"]
    command += ["--strict", "--json", "--patience", "30", "--quiet", "0.6", "--jobs", "8"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    outcomes = [json.loads(line) for line in done.stdout.splitlines()]
    assert [outcome for outcome in outcomes if outcome["verdict"] != "passed"] == [], done.stderr
    assert len(outcomes) == len(all_cases())
    assert done.returncode == 0
    assert [event for event in process.log_events() if event["level"] in ("warning", "error")] == []


def instead(begin: str, change: Change) -> Change:
    """`change` for lines that begin so."""
    return lambda line: change(line) if line.startswith(begin) else as_it_is(line)


def words(begin: str, *order: int) -> Change:
    """The words of lines that begin so in another order, or fewer of them."""

    def change(line: str) -> list[str]:
        parts = line.split()
        return [" ".join(parts[at] for at in order if at < len(parts)) + "\n"]

    return instead(begin, change)


def renumbered(line: str) -> list[str]:
    """A game that goes on under another number."""
    return as_it_is(line if len(line.split()) == 7 else line.replace("setup ", "setup 9", 1))


def with_an_update(line: str) -> list[str]:
    """The move of a game that nobody observes, where a viewer is told of its end."""
    return as_it_is(line) + ([f"update {line.split()[1]} D4 5\n"] if len(line.split()) == 5 else [])


SAID: list[tuple[str, Change, str]] = [
    ("a blank line after each play", instead("play", lambda line: [line + "\n", "\n"]), "genmove-after-play"),
    ("a blank in front", instead("username", lambda line: [f" {line}\n"]), "sign-in"),
    ("a word nobody knows", instead("password", lambda line: [line + "\n", "welcome\n"]), "sign-in"),
    ("a welcome in known words", instead("password", lambda line: [line + "\n", "username\n"]), "sign-in"),
    ("no prefix of errors", instead("Error:", lambda line: [line.replace("Error:", "Sorry:") + "\n"]), "no-client"),
    ("an error that says nothing", instead("Error:", lambda _: []), "wrong-password"),
    ("Black first in setup", words("setup", 0, 1, 2, 3, 4, 6, 5), "setup"),
    ("a setup without history", words("setup", 0, 1, 2, 3, 4, 5, 6), "back-and-to-move"),
    ("a setup without its last time", words("setup", 0, 1, 2, 3, 4, 5, 6, 7), "back-and-to-move"),
    ("another game number on return", instead("setup", renumbered), "back-and-to-move"),
    ("a decimal point", instead("genmove", lambda line: [line + ".5\n"]), "setup"),
    ("a negative time", instead("genmove", lambda line: [line.rpartition(" ")[0] + " -5\n"]), "setup"),
    ("one more field", instead("genmove", lambda line: [line + " 0\n"]), "setup"),
    ("one field less", words("play", 0, 1, 2), "genmove-after-play"),
    ("genmove before play", instead("play", lambda line: ["genmove w 5\n", line + "\n"]), "genmove-after-play"),
    ("moves as they were spelled", instead("play", lambda line: [line.lower() + "\n"]), "small-letters"),
    ("a pass as it was spelled", instead("play", lambda line: [line.lower() + "\n"]), "pass-in-small-letters"),
    ("the last pass not told", instead("play w PASS", lambda _: []), "two-passes"),
    ("a resignation told as a move", instead("gameover", lambda line: ["play b D4 5\n", line + "\n"]), "resign"),
    ("an illegal move told", instead("gameover", lambda line: ["play w E5 5\n", line + "\n"]), "occupied"),
    ("no trailing blank", instead("gameover", lambda line: [line.strip() + "\n"]), "gameover-form"),
    ("another score", instead("gameover", lambda line: [line.replace("+7.0", "+6.5") + "\n"]), "two-passes"),
    ("a draw for Black", instead("gameover", lambda line: [line.replace("Draw", "B+0.5") + "\n"]), "draw"),
    ("no list of Tcl's", instead("gameover", lambda line: [line + " {D4\n"]), "syntax"),
    ("the opponent's thoughts", instead("play", lambda line: [line + " {}\n"]), "analysis-announced"),
    ("nobody is told of a second sign-in", instead("info", lambda _: []), "second-sign-in"),
    ("a viewer is told of no new game", instead("match", lambda _: []), "viewer-new-game"),
    ("moves of games not observed", instead("gameover", with_an_update), "viewer-not-observing"),
    ("a blank line to viewers", instead("protocol", lambda line: [line + "\n", "\n"]), "viewer-never-a-blank-line"),
    ("no end for observers", instead("update", lambda line: [] if "+" in line else [line + "\n"]), "viewer-updates"),
    ("games that never were", instead("setup", lambda line: [line.replace("?", "") + "\n"]), "viewer-unknown-game"),
]

ASKED: list[tuple[str, Change, str]] = [
    ("quit is not heard", instead("quit", lambda _: []), "quit-while-waiting"),
    ("ready is said of itself", instead("not yet", lambda _: ["ready\n"]), "not-ready"),
    ("what nobody asked for is a move", instead("E6", lambda _: ["\n", "D4\n"]), "two-answers"),
    ("any password will do", instead("wrong-one", lambda _: []), "wrong-password"),
]


CARRIED = ("genmove-after-play", "back-and-to-move", "viewer-updates", "small-letters")
HONEST: list[tuple[str, Change, str]] = [
    (f"{case}, lines that end in {end!r}", change, case)
    for case in CARRIED
    for end, change in (("\n", as_it_is), ("\r\n", lambda line: [line + "\r\n"]))
]


class Heard(NamedTuple):
    """What the kit says: of each change on the way, and of each time system."""

    lies: dict[str, Outcome]
    systems: dict[str, list[Outcome]]


@pytest.fixture(scope="module")
def heard(serving: Serving) -> Heard:
    """All of it at once, since the cases wait far more than they work; a case has its venue to itself."""
    lies = [(lie, to_client, as_it_is, case) for lie, to_client, case in (*SAID, *HONEST)]
    lies += [(lie, as_it_is, to_server, case) for lie, to_server, case in ASKED]
    heard = Heard({}, {})
    timed = [case for case in all_cases() if any(TIMED.search(step.text) for step in case.steps)]
    assert len(timed) >= 12

    async def system(name: str) -> None:
        terms = RunSettings(
            host="127.0.0.1",
            port=serving.systems[name],
            prefix="time-",
            patience=20.0,
            answer=3.0,
            quiet=0.3,
            longest=30.0,
        )
        heard.systems[name] = await play_all(timed, terms, 1, random.Random(), lambda _: None)

    async def lane(port: int) -> None:
        while lies:
            lie, to_client, to_server, case = lies.pop()
            async with lying_proxy(port, to_client, to_server) as liar:
                terms = RunSettings(
                    host="127.0.0.1", port=liar, prefix="lie-", patience=20.0, answer=3.0, quiet=0.4, longest=1.0
                )
                (heard.lies[lie],) = await play_all(
                    chosen(all_cases(), [case]), terms, 1, random.Random(), lambda _: None
                )

    async def play() -> None:
        async with asyncio.TaskGroup() as lanes:
            for port in serving.lanes:
                lanes.create_task(lane(port))
            for name in SYSTEMS:
                lanes.create_task(system(name))

    asyncio.run(play())
    return heard


@pytest.fixture(scope="module")
def outcomes(heard: Heard) -> dict[str, Outcome]:
    """What the kit says of each change on the way, by the change's name."""
    return heard.lies


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_time_system_passes(heard: Heard, name: str) -> None:
    outcomes = heard.systems[name]
    assert [(outcome.case.name, outcome.why) for outcome in outcomes if outcome.verdict is Verdict.DIFFERS] == []
    unseen = {outcome.case.name for outcome in outcomes if outcome.verdict is not Verdict.PASSED}
    assert unseen == SYSTEMS[name][1], [outcome.why for outcome in outcomes]


@pytest.mark.parametrize("how", [how for how, _, _ in HONEST])
def test_what_is_carried_as_it_is_passes(outcomes: dict[str, Outcome], how: str) -> None:
    assert (outcomes[how].verdict, outcomes[how].why) == (Verdict.PASSED, "")


@pytest.mark.parametrize("lie", [lie for lie, _, _ in SAID])
def test_a_lie_of_the_server_is_noticed(outcomes: dict[str, Outcome], lie: str) -> None:
    assert outcomes[lie].verdict in (Verdict.DIFFERS, Verdict.QUIRK), outcomes[lie]


@pytest.mark.parametrize("lie", [lie for lie, _, _ in ASKED])
def test_a_server_that_hears_wrongly_is_noticed(outcomes: dict[str, Outcome], lie: str) -> None:
    assert outcomes[lie].verdict in (Verdict.DIFFERS, Verdict.QUIRK), outcomes[lie]
