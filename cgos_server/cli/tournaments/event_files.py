"""Events in files, as the commands on tournaments take them: read, with what the command line says; written whole.

Must not know: single commands, how a file is laid out.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Concatenate, Final, NamedTuple, TypeVar

import click
import msgspec

from cgos_protocol.errors import Code, Invalid, NotFound
from cgos_server.cli.common import WordOf, gathered, named_value
from cgos_server.cli.files import write
from cgos_server.cli.output import say
from cgos_server.tournaments import tournament as pure
from cgos_server.tournaments.base import Event
from cgos_server.tournaments.event import Placed, name_of
from cgos_server.tournaments.files import formats as tournament_file
from cgos_server.tournaments.files.formats import TournamentFile
from cgos_server.tournaments.files.sniffing import Format, written_as
from cgos_server.tournaments.registry import known, new_options, words
from cgos_server.tournaments.scores import score_of

T = TypeVar("T")

MOST_SCORES: Final = 3


class EventChoice(NamedTuple):
    """What a command line says of an event, instead of its file; None: nothing.

    :ivar options: NAME=VALUE
    """

    file: Path
    system: str | None = None
    options: Sequence[str] = ()
    seed: int | None = None
    rounds: int | None = None

    def open(self, needs_system: bool = True, most_scores: int | None = MOST_SCORES) -> tuple[TournamentFile, Event]:
        """The file, and its event as asked for. Differing points are said.

        :param needs_system: refuse where neither says which system; otherwise one is taken, and that is said
        :param most_scores: how many players whose points differ are named; None: all
        :raises Refused: also for unknown systems and options, and where nobody has entered
        """
        data = bytes_of(self.file)
        word, given = (None, {}) if self.system is None else known(self.system)
        file = tournament_file.read(self.file.name, data, word)
        for remark in file.remarks:
            say(remark)
        try:
            differing = tournament_file.check_scores(file)
        except Invalid as unreadable:  # the column decides nothing, so the file is taken
            differing = (unreadable.sentence,)
        for sentence in differing[:most_scores]:
            say(sentence)
        if differing:
            more = len(differing) - len(differing[:most_scores])
            others = f" {more} more differ; `cgos-server tournament check` names all." if more else ""
            say(f"Places and pairings go by the results, not by the column of points.{others}")
        if word is None and not file.names_system:
            if needs_system:
                raise NotFound(
                    Code.NO_SYSTEM,
                    f"{self.file} does not say which system. Give --system, one of: {', '.join(words())}.",
                )
            say(f"{self.file} does not say which system: places are as by {file.event.system}.")
        event = file.event
        if not event.entrants:
            raise Invalid(
                Code.NO_PLAYERS, f"{self.file} has no players, so it is no tournament. Give a file with some."
            )
        if word is not None and (word, given) != (event.system, event.options):
            same = word == event.system and not given
            event = msgspec.structs.replace(event, system=word, options=event.options if same else given)
        if needs_system and not file.keeps_options:
            event = msgspec.structs.replace(event, options={**new_options(event.system), **event.options})
        if self.options:
            event = msgspec.structs.replace(event, options={**event.options, **dict(map(named_value, self.options))})
        if self.seed is not None:
            event = msgspec.structs.replace(event, seed=self.seed)
        if self.rounds is not None:
            event = msgspec.structs.replace(event, planned=self.rounds)
        pure.system_of(event)  # refuses unknown options before anything else
        return file, event


def event_options(command: Callable[Concatenate[EventChoice, ...], T]) -> Callable[..., T]:
    """Give a command its FILE and the options that say by which system, as its first argument."""

    @click.argument("file", type=click.Path(path_type=Path))
    @click.option(
        "--system",
        type=WordOf(words),
        metavar="SYSTEM",
        help="Pair by this system (`tournament systems` lists them); without it, as the file says.",
    )
    @click.option("--option", "options", metavar="NAME=VALUE", multiple=True, help="An option of the system.")
    @click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Of everything drawn by lot (default 0).")
    @click.option("--rounds", type=click.IntRange(1, 10_000), help="How many rounds are planned.")
    @gathered(EventChoice)
    @functools.wraps(command)
    def run(choice: EventChoice, *args: Any, **kwargs: Any) -> T:
        return command(choice, *args, **kwargs)

    return run


def kind_of(target: Path, file: TournamentFile) -> Format:
    """The format in which the event of `file` is written to `target`. Raises Refused where its ending is unknown."""
    return written_as(target.name, file.name, file.format)


class Saved(msgspec.Struct, frozen=True):
    """What was written.

    :ivar lost: what the file does not hold, in sentences
    """

    file: str
    format: Format
    lost: tuple[str, ...] = ()


class GameShown(msgspec.Struct, frozen=True, kw_only=True):
    """A game for programs."""

    id: int
    round: int
    white: int
    white_name: str
    black: int
    black_name: str
    result: str | None


def shown_game(event: Event, placed: Placed) -> GameShown:
    """A game of the event's record, with the players' names and its result as the command line takes it."""
    game = placed.game
    return GameShown(
        id=game.id,
        round=placed.round,
        white=game.white,
        white_name=name_of(event, game.white),
        black=game.black,
        black_name=name_of(event, game.black),
        result=score_of(game.result),
    )


def require_one_output(target: Path | None) -> None:
    """Refuse JSON beside an event that goes to standard output."""
    if str(target) == "-":
        raise click.UsageError("Standard output takes only one of both: leave out --json, or name a file.")


def save(target: Path, file: TournamentFile, event: Event, *, beside_json: bool, overwrite: bool) -> Saved:
    """Write the event: as the file that was read where the ending says the same kind, else as a new one.

    :param beside_json: standard output is for JSON
    :param overwrite: replace a file that holds results which the event does not have
    :raises Refused: where the ending of the target is unknown, its kind cannot hold the event, or it is not replaced
    """
    if beside_json:
        require_one_output(target)
    kind = kind_of(target, file)
    if kind == file.format:
        write(target, tournament_file.write(file, event), source=file.data, overwrite=overwrite)
        return Saved(str(target), kind)
    losses = tournament_file.losses(event, kind)
    write(target, tournament_file.fresh(event, kind), source=file.data, overwrite=overwrite)
    for sentence in losses:
        say(sentence)
    return Saved(str(target), kind, losses)


def player(event: Event, word: str) -> int:
    """The id of a player given by number or name. Raises Refused."""
    ids = [one.id for one in event.entrants if word == str(one.id)]
    ids = ids or [id_ for id_, name in event.names.items() if name.casefold() == word.casefold()]
    ids = ids or [one.id for one in event.entrants if one.name.casefold() == word.casefold()]
    if len(ids) == 1:
        return ids[0]
    many = f"{len(ids)} players are called {word!r}; give a number." if ids else f"Nobody entered as {word!r}."
    raise NotFound(Code.NO_ENTRANT, f"{many} `cgos-server tournament standings` lists the players.")


def bytes_of(file: Path) -> bytes:
    """Of a file, or of standard input. Raises Refused where it cannot be read."""
    try:
        if str(file) != "-":
            return file.read_bytes()
        return sys.stdin.buffer.read() if sys.stdin else b""
    except OSError as error:
        raise Invalid(
            Code.NOT_READ, f"{file} cannot be read: {error.strerror}. Check its name, and who may read it."
        ) from error
