"""The conformance kit against our server, which passes all of it, and against servers that lie, which do not."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator

import pytest
from cgos_client.conformance.listening import Terms
from cgos_client.conformance.outcome import Outcome, Verdict
from cgos_client.conformance.runner import all_cases, chosen, play_all
from support.lying_proxy import Change, as_it_is, lying_proxy
from support.processes import ServerProcess, server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

VENUE = 'time = { system = "absolute", main = "15s" }'


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with server(tmp_path_factory.mktemp("conformance"), venue=VENUE) as process:
        yield process


def test_our_server_passes_everything(serving: ServerProcess) -> None:
    command = [sys.executable, "-m", "cgos_client", "conformance", "--server", f"127.0.0.1:{serving.port}"]
    command += ["--strict", "--json", "--patience", "30", "--quiet", "0.3", "--jobs", "8"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    outcomes = [json.loads(line) for line in done.stdout.splitlines()]
    assert [outcome for outcome in outcomes if outcome["verdict"] != "passed"] == [], done.stderr
    assert len(outcomes) == len(all_cases())
    assert done.returncode == 0
    assert [event for event in serving.log_events() if event["level"] in ("warning", "error")] == []


async def played(serving: ServerProcess, case: str, said: Change, asked: Change) -> Outcome:
    async with lying_proxy(serving.port, said, asked) as port:
        terms = Terms("127.0.0.1", port, "lie-", 20.0, 3.0, 0.4, 1.0)
        (outcome,) = await play_all(chosen(all_cases(), [case]), terms, 1, random.Random(), lambda _: None)
        return outcome


@pytest.mark.parametrize("case", ["genmove-after-play", "back-and-to-move", "viewer-updates", "small-letters"])
async def test_what_is_carried_as_it_is_passes(serving: ServerProcess, case: str) -> None:
    for said in (as_it_is, lambda line: [line + "\r\n"]):
        outcome = await played(serving, case, said, as_it_is)
        assert (outcome.verdict, outcome.why) == (Verdict.PASSED, "")


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


@pytest.mark.parametrize(("change", "case"), [pytest.param(change, case, id=lie) for lie, change, case in SAID])
async def test_a_lie_of_the_server_is_noticed(serving: ServerProcess, change: Change, case: str) -> None:
    outcome = await played(serving, case, change, as_it_is)
    assert outcome.verdict in (Verdict.DIFFERS, Verdict.QUIRK), outcome


@pytest.mark.parametrize(("change", "case"), [pytest.param(change, case, id=lie) for lie, change, case in ASKED])
async def test_a_server_that_hears_wrongly_is_noticed(serving: ServerProcess, change: Change, case: str) -> None:
    outcome = await played(serving, case, as_it_is, change)
    assert outcome.verdict in (Verdict.DIFFERS, Verdict.QUIRK), outcome
