"""Cases against small scripted servers: what passes, what differs and how it is said, quirks, skips, politeness."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

import pytest

from cgos_client.conformance import case_run as stage
from cgos_client.conformance.expectations import RunSettings
from cgos_client.conformance.language import parse
from cgos_client.conformance.outcome import Outcome, Verdict
from cgos_client.conformance.runner import play_all

Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def played(text: str, script: Script, patience: float = 0.3) -> Outcome:
    """One case against a server that does `script` with every connection."""
    writers = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        try:
            await script(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    terms = RunSettings(
        host="127.0.0.1",
        port=server.sockets[0].getsockname()[1],
        prefix="kit-",
        patience=patience,
        answer=0.3,
        quiet=0.1,
        longest=1.0,
    )
    try:
        (outcome,) = await play_all(parse("t.txt", f"=== x: y\n{text}"), terms, 1, random.Random(1), lambda _: None)
        return outcome
    finally:
        server.close()
        for writer in writers:
            writer.close()
        await server.wait_closed()


def says(*lines: str, close: bool = False) -> Script:
    """A server that says `lines` at once, then closes or waits for the peer's end."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write("".join(f"{line}\n" for line in lines).encode())
        if not close:
            await reader.read()

    return script


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("a connects\na< protocol *", says("protocol genmove_analyze")),
        ("a connects\na< protocol *\na< (nothing)", says("info one", "protocol", "info two")),
        ("a connects\na< info two", says("info two")),
        ("a connects\na< protocol\na< (closed)", says("protocol", "info bye", close=True)),
        ("a connects\na<... genmove b <ms>\na< play w D4 <ms>", says("play w D4 5", "genmove b 5")),
        ("a connects\na<! play *\na< username", says("username")),
        ("a connects\na<... (closed)", says("username", "password", close=True)),
        ("a connects\na< genmove b <ms:left>\ncheck $left < 60", says("genmove b 59")),
    ],
)
async def test_passes(text: str, script: Script) -> None:
    outcome = await played(text, script)
    assert (outcome.verdict, outcome.why) == (Verdict.PASSED, "")


@pytest.mark.parametrize(
    ("text", "script", "expected", "actual"),
    [
        ("a connects\na< username", says("password"), "'username'", "'password'"),
        ("a connects\na< username", says(), "'username'", "nothing"),
        ("a connects\na< username", says(close=True), "'username'", "the connection was closed"),
        ("a connects\na< (nothing)", says("username"), "silence", "'username'"),
        ("a connects\na< (nothing)", says(close=True), "silence", "the connection was closed"),
        ("a connects\na< (closed)", says(), "the connection is closed", "nothing"),
        ("a connects\na< (closed)", says("password", close=True), "the connection is closed", "'password'"),
        ("a connects\na<... username", says("password"), "'username' among its lines", "'password'"),
        ("a connects\na<! user*", says("username"), "no line 'user*'", "'username'"),
        ("a connects\na<... (closed)", says("username"), "the connection is closed", "nothing"),
        ("a connects\na< genmove b <ms:left>\ncheck $left < 60", says("genmove b 60"), "$left < 60", "not so: 60 < 60"),
        ("a signs in", says("protocol", "banana"), "'username'", "'banana'"),
    ],
)
async def test_differs(text: str, script: Script, expected: str, actual: str) -> None:
    if "user*" in text:
        text = text.replace("user*", "/user.*/")
        expected = "no line '/user.*/'"
    outcome = await played(text, script)
    assert outcome.verdict is Verdict.DIFFERS
    if expected == "'username'" and actual == "'banana'":
        expected, actual = "what every client understands", outcome.got
    assert (outcome.expected, outcome.got) == (expected, actual)
    assert outcome.step is not None


@pytest.mark.parametrize(
    "line", ["", " info x", "play b D4 5.5", "welcome", 'gameover 2026-01-31 Draw "x'], ids=lambda line: line or "blank"
)
@pytest.mark.parametrize("text", ["a connects\na< username", "a connects\na< protocol"])
async def test_a_broken_law_is_a_difference_even_where_nobody_looks(text: str, line: str) -> None:
    outcome = await played(text, says("protocol", line))
    assert outcome.verdict is Verdict.DIFFERS


async def test_a_quirk_ends_the_case_and_one_that_goes_on_does_not() -> None:
    text = (
        "a connects\na< username\n  quirk tcl: (nothing) -- silent\n"
        "  quirk python, goes on: password -- shy\na< username"
    )
    silent = await played(text, says())
    assert (silent.verdict, silent.quirks, silent.why) == (Verdict.QUIRK, ("tcl",), "tcl: silent")
    shy = await played(text, says("password", "username"))
    assert (shy.verdict, shy.quirks, shy.why) == (Verdict.QUIRK, ("python",), "python: shy")
    assert (await played(text, says("password", "password"))).verdict is Verdict.DIFFERS
    assert (await played(text, says("username", "username"))).verdict is Verdict.PASSED
    assert (await played(text, says("genmove b 5"))).verdict is Verdict.DIFFERS


async def test_a_line_that_breaks_a_law_may_be_a_known_quirk() -> None:
    text = "a connects\na< Error: *\n  quirk tcl: Sorry, * -- kills its own client"
    assert (await played(text, says("Sorry, no"))).verdict is Verdict.QUIRK
    assert (await played(text, says("Alas, no"))).verdict is Verdict.DIFFERS


class Rounds:
    """A server on two bots: signs everybody in, and lets the first two of `pairs` meet, each with a game number."""

    def __init__(self, opponent: str = "", level: int = 60_000, left: int = 60_000) -> None:
        self.opponent = opponent
        self.level = level
        self.left = left
        self.names: list[str] = []
        self.replies: list[str] = []
        self.writers: list[asyncio.StreamWriter] = []
        self.free = asyncio.Event()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for ask in ("protocol genmove_analyze", "username", "password"):
            writer.write(f"{ask}\n".encode())
            answer = (await reader.readuntil(b"\n")).decode().strip()
            if ask == "username":
                self.names.append(answer)
        self.writers.append(writer)
        first = len(self.writers) == 1
        if self.opponent and first:
            writer.write(f"setup 4 9 7.0 60000 {self.opponent}(1) {self.names[0]}(1)\ngenmove b 60000\n".encode())
            self.replies.append((await reader.readuntil(b"\n")).decode().strip())
            writer.write(b"gameover 2026-01-31 W+Resign \n")
            self.replies.append((await reader.readuntil(b"\n")).decode().strip())
        if first:
            self.free.set()
        else:
            await self.free.wait()
            setup = f"setup 5 9 7.0 {self.level} {self.names[1]}(1800?) {self.names[0]}(1800?)\n"
            for client in self.writers:
                client.write(setup.encode())
            self.writers[0].write(f"genmove b {self.left}\n".encode())
        while line := (await reader.readline()).decode().strip():
            self.replies.append(line)
            if line == "resign":
                for client in self.writers:
                    client.write(b"gameover 2026-01-31 W+Resign \n")


async def test_two_bots_are_paired_and_their_game_is_resigned_at_the_end() -> None:
    rounds = Rounds()
    outcome = await played("pair\ncheck $gid == 5\ncheck $empty == W+7.0\ncheck $full == B+74.0\n", rounds)
    assert (outcome.verdict, outcome.why) == (Verdict.PASSED, "")
    assert rounds.replies == ["resign"]
    assert all(name.startswith("kit-") for name in rounds.names)


async def test_a_stranger_is_resigned_to() -> None:
    rounds = Rounds("stranger")
    outcome = await played("pair\n", rounds, patience=3)
    assert outcome.verdict is Verdict.PASSED
    assert rounds.replies[:2] == ["resign", "ready"]


async def test_never_paired_is_skipped() -> None:
    async def lonely(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for ask in ("protocol", "username", "password"):
            writer.write(f"{ask}\n".encode())
            await reader.readuntil(b"\n")
        await reader.read()

    outcome = await played("pair\n", lonely)
    assert (outcome.verdict, outcome.why) == (Verdict.SKIPPED, "not paired with ourselves within 0.3 s")


async def test_what_a_case_needs() -> None:
    assert (await played("pair\nneeds $size == 9\n", Rounds())).verdict is Verdict.PASSED
    outcome = await played("pair\nneeds $size == 19\n", Rounds())
    assert (outcome.verdict, outcome.why) == (Verdict.SKIPPED, "it needs $size == 19, which is 9 == 19 here")


async def test_what_is_needed_may_be_said_in_words_and_be_a_sum() -> None:
    assert (await played("pair\nneeds $gid + $size - 4 != 9\ncheck $black.left - $level == 0\n", Rounds())).why == ""
    outcome = await played("pair\nneeds $black != $black -- two bots\n", Rounds())
    assert outcome.why.startswith("it needs two bots ($black != $black), which is kit-")


class Periods(Rounds):
    """As :class:`Rounds`; who comes back to the game is told what `left` holds, and then that its flag has fallen."""

    def __init__(self, left: list[str]) -> None:
        super().__init__(left=60)
        self.periods = left

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self.writers) < 2:
            await super().__call__(reader, writer)
            return
        for ask in ("protocol", "username", "password"):
            writer.write(f"{ask}\n".encode())
            await reader.readuntil(b"\n")
        writer.write(f"setup 5 9 7.0 4000 {self.names[1]}(1800?) {self.names[0]}(1800?)\n".encode())
        writer.write(f"genmove b {self.periods.pop(0)}\n".encode() if self.periods else b"gameover 2026-01-31 W+Time\n")
        await reader.read()


RUN_OUT = "pair\nblack runs out of time\nblack< gameover <date> W+Time\n"


@pytest.mark.parametrize(
    ("left", "verdict", "why"),
    [
        ([], Verdict.PASSED, ""),
        (["10", "5"], Verdict.PASSED, ""),
        (["0"], Verdict.DIFFERS, "expected the game of black, who has no time left, is over, got 'genmove b 0'"),
        (["900"], Verdict.SKIPPED, "its flag falls after more than 1 s"),
    ],
)
async def test_a_flag_that_falls_after_some_periods(
    monkeypatch: pytest.MonkeyPatch, left: list[str], verdict: Verdict, why: str
) -> None:
    monkeypatch.setattr(stage, "CLEAN_UP_SECONDS", 0.1)
    outcome = await played(RUN_OUT, Periods(left))
    assert (outcome.verdict, outcome.why) == (verdict, why)


async def test_a_pair_without_time_to_think_is_skipped() -> None:
    outcome = await played("pair\n", Rounds(level=900))
    assert (outcome.verdict, outcome.why) == (
        Verdict.SKIPPED,
        "a side has 900 ms here, and a move of these cases may take 3.2 s",
    )


async def test_paired_in_the_middle_of_another_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "CLEAN_UP_SECONDS", 0.1)
    outcome = await played("a connects\na< (nothing)\n", says("setup 7 9 7.0 60000 a(1) b(1)"))
    assert outcome.verdict is Verdict.SKIPPED


async def test_a_server_that_is_not_there() -> None:
    terms = RunSettings(host="127.0.0.1", port=1, prefix="kit-", patience=0.3, answer=0.3, quiet=0.1, longest=1.0)
    (outcome,) = await play_all(parse("t.txt", "=== x: y\na connects"), terms, 1, random.Random(1), lambda _: None)
    assert outcome.verdict is Verdict.DIFFERS
    assert "cannot be reached" in outcome.why


async def test_harsh_cases_come_last_and_outcomes_keep_their_order() -> None:
    text = "=== a: x\nharsh: y\nalone\nz connects\n=== b: x\nalone\nz connects\n"
    terms = RunSettings(host="127.0.0.1", port=1, prefix="kit-", patience=0.3, answer=0.3, quiet=0.1, longest=1.0)
    names: list[str] = []
    outcomes = await play_all(
        parse("t.txt", text), terms, 1, random.Random(1), lambda outcome: names.append(outcome.case.name)
    )
    assert names == ["b", "a"]
    assert [outcome.case.name for outcome in outcomes] == ["a", "b"]
