"""The pairing program bbpPairings as one more system: it pairs every round by FIDE's Dutch system.

Decides what the program is told and how its answer is read. Each round it gets a tournament report, in which players
are numbered by rating, and answers with pairs, White first. Must not know: experiments, how a tournament is simulated.

The program: J. Bierema, bbpPairings, https://github.com/BieremaBoyzProgramming/bbpPairings; its README says what it
reads and returns. Up to version 5 it has the rules before 2025, which Sauer, Cseh & Lenzner (2022) compare with.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from cgos_protocol.errors import Code, Invalid
from cgos_server.tournaments.base import Bye, Chance, Event, Game, Round, Standings
from cgos_server.tournaments.chance import Lots, coin
from cgos_server.tournaments.event import Field
from cgos_server.tournaments.files import trf
from cgos_server.tournaments.files.trf_writing import from_event
from cgos_server.tournaments.ledger import Ledger
from cgos_server.tournaments.systems.by_rounds import ByRounds
from cgos_server.tournaments.systems.mwm import Mwm

SECONDS: Final = 60.0
"""The program has so long for one answer."""

LAST_OLD: Final = 5
"""The last version with the rules before 2025."""

_VERSION: Final = re.compile(r"BBP Pairings.* - (?P<version>\S.*?) \(Built ")
_NUMBER: Final = re.compile(r"v?(\d+)\.")
_NO_PAIRING: Final = 1
"""What it returns where its rules allow no round."""


@dataclass(frozen=True)
class BbpPairings(ByRounds):
    """Rounds by the program, standings as those of MWM, which the source has for all systems it compares.

    Who is first in round 1 gets White or Black by lot: `initial-color` of the lots of round 0.

    :ivar path: of the program
    :ivar version: as it says itself
    """

    path: str
    version: str

    name = "bbpPairings"
    tie_breakers = Mwm.tie_breakers

    @property
    def label(self) -> str:
        return f"bbpPairings {self.version}"

    @property
    def is_old(self) -> bool | None:
        """Whether it has the rules before 2025; None: its version does not tell."""
        number = _NUMBER.search(self.version)
        return None if number is None else int(number[1]) <= LAST_OLD

    def decide(self, event: Event, field: Field, ledger: Ledger, rng: Chance) -> Round:  # noqa: ARG002
        order = [one.id for one in sorted(event.entrants, key=lambda one: -(one.rating or 0.0))]
        with tempfile.TemporaryDirectory(prefix="cgos-bbp-") as folder:
            report, answer = Path(folder, "round.trf"), Path(folder, "pairs")
            report.write_bytes(_report(event, order))
            _call(self.path, ["--dutch", str(report), "-p", str(answer)])
            try:
                text = answer.read_text("ascii")
            except (OSError, UnicodeDecodeError) as error:
                raise Invalid(Code.LAB, f"{self.path} wrote no pairs that can be read: {error}.") from error
        pairs = list(_pairs(text, order, self.path))
        games = tuple(Game(white=white, black=black) for white, black in pairs if black is not None)
        byes = tuple(Bye(white, event.bye_points) for white, black in pairs if black is None)
        return Round(number=field.number, games=games, byes=byes)

    def standings(self, event: Event) -> Standings:
        return Mwm().standings(event)


def bbp_pairings(path: str) -> BbpPairings:
    """The program at that path.

    :raises Refused: where there is none, or it does not say its version as bbpPairings does
    """
    said = _VERSION.search(_call(path, ["-r"]))
    if said is None:
        raise Invalid(Code.LAB, f"{path} does not say its version as bbpPairings does. Name that program.")
    return BbpPairings(path, said["version"].strip('"'))


def _call(path: str, words: Sequence[str]) -> str:
    """What it prints. Raises Refused where it cannot be run, takes too long or returns anything but 0."""
    try:
        ended = subprocess.run(
            [os.path.abspath(path), *words],
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
    except OSError as error:
        raise Invalid(Code.LAB, f"{path} cannot be run: {error.strerror}. Name the program bbpPairings.") from error
    except subprocess.TimeoutExpired as error:
        raise Invalid(Code.LAB, f"{path} gave no answer within {SECONDS:g} seconds.") from error
    if ended.returncode == _NO_PAIRING:
        raise Invalid(Code.LAB, f"{path} finds no round by its rules. Take fewer rounds or more players.")
    if ended.returncode:
        said = " ".join(ended.stderr.split())
        raise Invalid(Code.LAB, f"{path} ended with {ended.returncode}{': ' + said if said else '.'}")
    return ended.stdout


def _report(event: Event, order: Sequence[int]) -> bytes:
    """The tournament report of an event, in which players have their places in `order` as numbers."""
    number = {id_: at for at, id_ in enumerate(order, 1)}
    is_white = coin(Lots(event.seed, 0), "initial-color")
    numbered = Event(
        system=BbpPairings.name,
        entrants=tuple(replace(event.by_id[id_], id=number[id_]) for id_ in order),
        planned=event.planned,
        rounds=tuple(_renumbered(each, number) for each in event.rounds),
        bye_points=event.bye_points,
    )
    first = trf.Line(f"XXC {'white1' if is_white else 'black1'}", "\r\n")
    return trf.write(trf.document((*from_event(numbered).lines, first)))


def _renumbered(round_: Round, number: Mapping[int, int]) -> Round:
    games = tuple(replace(game, white=number[game.white], black=number[game.black]) for game in round_.games)
    return replace(round_, games=games, byes=tuple(replace(bye, entrant=number[bye.entrant]) for bye in round_.byes))


def _pairs(text: str, order: Sequence[int], path: str) -> Iterator[tuple[int, int | None]]:
    """(White, Black) as ids, None for a bye: a line with how many there are, then a line for each.

    :raises Refused: where it is anything else, or not everybody is paired once
    """
    try:
        count, *lines = [[int(word) for word in line.split()] for line in text.splitlines() if line.strip()]
        numbers = [number for line in lines for number in line if number != 0]
        right = count == [len(lines)] and {len(line) for line in lines} <= {2}
        right = right and sorted(numbers) == list(range(1, len(order) + 1)) and all(line[0] for line in lines)
    except ValueError:
        right = False
    if not right:
        raise Invalid(Code.LAB, f"{path} answered what is no round of {len(order)} players: {text[:80]!r}.")
    for white, black in lines:
        yield order[white - 1], order[black - 1] if black else None
