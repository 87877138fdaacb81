"""Strict doubles of the clients' line parsers: they raise where a real client would stop, disconnect or exit."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from support.protocol.tcl import ClientStops, tcl_list

from cgos_protocol.games.base import Color
from cgos_protocol.lines.player import CgosPlayer, State
from cgos_protocol.session import GameSetup

_KNOWN = {"info", "protocol", "username", "password", "Error:", "setup", "genmove", "gameover", "play"}
_PLAYER = re.compile(r"[A-Za-z0-9_.-]{3,18}\(\d+\??\)")
_NUMBER = re.compile(r"0|[1-9][0-9]*")


def _tcl_client(line: str) -> None:
    if not line:
        raise ClientStops("blank line: the client drops out of its loop")
    first = re.match(r"\S+", line)
    if first is None:
        raise ClientStops(f"irregular response: {line!r}")
    if first[0] not in _KNOWN:
        raise ClientStops(f"the client exits: {line!r}")
    # Real clients take only game lines for lists; the server keeps all of them harmless.
    tcl_list(line)
    if set(line) & set('{}[]"\\$;'):
        raise ClientStops(f"dangerous where a line is evaluated: {line!r}")


def _python_client(line: str) -> None:
    if line.startswith("Error:"):
        return
    command, *rest = line.split(None, 1)
    words = rest[0].split() if rest else []
    match command:
        case "setup":
            if len(words) < 6:
                raise ClientStops(f"'setup' requires at least 6 parameters: {line!r}")
            int(words[3])
            for at in range(6, len(words), 2):
                int(words[at + 1])
        case "play" if len(words) != 3:
            raise ClientStops(f"'play' requires 3 parameters: {line!r}")
        case "genmove" if len(words) != 2:
            raise ClientStops(f"'genmove' requires 2 parameters: {line!r}")
        case "gameover":
            words[1]


def _strict_client(line: str) -> None:
    """As the strictest client found: whole numbers without a sign, colors b and w, no parameter where none belongs."""
    words = line.split()
    numbers: list[str] = []
    match words:
        case ["protocol", *rest] if rest == ["genmove_analyze"]:
            pass
        case ["username" | "password"] | ["Error:", _, *_] | ["info", _, *_]:
            pass
        case ["setup", game, size, komi, level, white, black, *history]:
            if len(history) % 2:
                raise ClientStops(f"odd history: {line!r}")
            numbers = [game, size, level, *history[1::2]]
            float(komi)
            if not re.fullmatch(r"-?\d+\.[05]", komi) or not (_PLAYER.fullmatch(white) and _PLAYER.fullmatch(black)):
                raise ClientStops(f"komi or players: {line!r}")
        case ["play", "b" | "w", _, left] | ["genmove", "b" | "w", left]:
            numbers = [left]
        case ["gameover", date, result, *_]:
            if not re.fullmatch(r"\d{4}-\d\d-\d\d", date) or not re.fullmatch(r"[BW]\+\S+|Draw|Abort", result):
                raise ClientStops(f"date or result: {line!r}")
            if not re.match(r"gameover \S+ \S+ ", line):
                raise ClientStops(f"no blank after the result: {line!r}")
        case _:
            raise ClientStops(f"unexpected form: {line!r}")
    for number in numbers:
        if not _NUMBER.fullmatch(number):
            raise ClientStops(f"{number!r} is not a whole number: {line!r}")


def heard_by_all(data: bytes) -> list[str]:
    """The lines of one write, each heard by all three clients. Raises where any of them would stop."""
    text = data.decode("ascii")
    if text and not text.endswith("\n"):
        raise ClientStops(f"unfinished line: {text!r}")
    lines = text.split("\n")[:-1]
    for line in lines:
        if not line.isprintable():
            raise ClientStops(f"control character: {line!r}")
        _tcl_client(line)
        _python_client(line)
        _strict_client(line)
    return lines


_WAY = (b"e1 test genmove_analyze", b"Alice", b"secret")


def player_at(state: State) -> CgosPlayer:
    """A player that came to `state` by a dialogue; its analysis is announced."""
    player = CgosPlayer()
    if state is State.CLOSED:
        player.receive(b"quit")
        return player
    for line in _WAY:
        if player.state is state:
            return player
        player.receive(line)
    for step in (
        player.accepted,
        lambda: player.setup(GameSetup(7, 9, 14, 60_000, "Alice", "1800?", "Bob", "1750")),
        lambda: player.genmove(Color.BLACK, 60_000),
        lambda: player.game_over("2026-03-01", "W+Time", ""),
    ):
        if player.state is state:
            break
        step()
    assert player.state is state
    return player


@pytest.fixture(scope="session")
def at() -> Callable[[State], CgosPlayer]:
    return player_at


@pytest.fixture(scope="session")
def heard() -> Callable[[bytes], list[str]]:
    return heard_by_all


@pytest.fixture(scope="session")
def tcl() -> Callable[[str], list[str]]:
    return tcl_list


@pytest.fixture(scope="session")
def client_stops() -> type[AssertionError]:
    return ClientStops
