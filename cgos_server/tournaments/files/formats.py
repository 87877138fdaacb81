"""Events in the files that people have: tournament reports (TRF), plain tables (CSV), our own JSON, result tables of
the European Go Federation (H9) and OpenGotha's XML, of which the last is only read.

:func:`read` gives the event with what its format keeps, :func:`write` gives the file back with what has changed,
:func:`fresh` makes a new one and :func:`losses` says what would be lost in it. Bytes in, values out; must not know:
where files lie, command lines, single systems.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final

import msgspec
from msgspec.structs import replace

from cgos_protocol.errors import Code, Invalid, Refused
from cgos_protocol.lines.misread import Misread
from cgos_server.tournaments import tournament
from cgos_server.tournaments.base import Event
from cgos_server.tournaments.checking import checked
from cgos_server.tournaments.files import csv_table as tournament_csv
from cgos_server.tournaments.files import h9 as tournament_h9
from cgos_server.tournaments.files import opengotha as tournament_opengotha
from cgos_server.tournaments.files import table as tournament_table
from cgos_server.tournaments.files import trf, trf_event, trf_records, trf_writing
from cgos_server.tournaments.files.csv_table import Table
from cgos_server.tournaments.files.sniffing import MARK, Format, sniff
from cgos_server.tournaments.files.trf import Document

DEFAULT_SYSTEM: Final = trf_event.DEFAULT_SYSTEM

_OF_SERVER: Final = (
    "The file is an event of a server. Only its record is used here: what is changed is written without its log."
)
_fault: Final = partial(Misread, Code.EVENT_JSON)
_BYTE: Final = re.compile(r"\(byte ([0-9]+)\)")

_TOLD: Final[Mapping[str, Callable[[Event], object]]] = MappingProxyType(
    {
        "options of the system": lambda event: event.options,
        "the seed, which all lots follow from": lambda event: event.seed,
        "how many rounds are planned": lambda event: event.planned,
        "the order of tie-breakers": lambda event: event.tie_breakers,
        "the name of the event": lambda event: event.name,
        "all of the players' names, ratings and the like": lambda event: event.entrants,
        "who has withdrawn": lambda event: set(event.withdrawn),
        "byes that were asked for": lambda event: {one for one in event.requests if one.round > len(event.rounds)},
        "forbidden pairs": lambda event: set(event.forbidden),
        "what a bye gives": lambda event: event.bye_points,
        "all of the games and byes": lambda event: [
            ({replace(game, reason="", id=0) for game in each.games}, set(each.byes)) for each in event.rounds
        ],
        "the ids of the games, which it numbers anew": lambda event: {
            (each.number, game.pair, game.id) for each in event.rounds for game in each.games
        },
        "why rounds and games are as they are": lambda event: [
            (each.explanation, {(game.pair, game.reason) for game in each.games}) for each in event.rounds
        ],
    }
)
"""What a file may not hold, and how to see whether it does; the order of games says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentFile:
    """A file that was read.

    :ivar names_system: whether it says which system; otherwise the event's is what was asked for, or ``dutch``
    :ivar keeps_options: whether it says the system's options, or would if the event had some
    :ivar hindrances: why its next round must not be paired here, in sentences
    :ivar remarks: what of it has no effect here, in sentences
    :ivar kept: what its format keeps
    :ivar name: as it was given
    """

    format: Format
    event: Event
    data: bytes
    names_system: bool = False
    keeps_options: bool = False
    hindrances: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    kept: Document | Table | None = None
    name: str = ""


def read(name: str, data: bytes, system: str | None = None) -> TournamentFile:
    """The event of a file's bytes, with what its format keeps.

    :param name: of the file; only its ending counts
    :param system: word of the system, over what the file says
    :raises Refused: where it cannot be understood; a Misread has line and column
    """
    return dataclasses.replace(_read(sniff(name, data), data, system), name=name)


def _read(format_: Format, data: bytes, system: str | None) -> TournamentFile:
    if format_ == "json":
        export = _exported(data)
        event = _from_json(data) if export is None else tournament.from_json(bytes(export.record))
        if system is not None and system != event.system:
            event = replace(event, system=system, options={})
        notes = () if export is None else (_OF_SERVER,)
        return TournamentFile(
            format="json", event=event, data=data, names_system=True, keeps_options=True, remarks=notes
        )
    if format_ == "csv":
        table = tournament_csv.read(data)
        event = checked(tournament_csv.to_event(table, system or DEFAULT_SYSTEM))
        return TournamentFile(format="csv", event=event, data=data, kept=table)
    if format_ == "h9":
        return TournamentFile(format="h9", event=checked(tournament_h9.to_event(data, system)), data=data)
    if format_ == "xml":
        event, remarks = tournament_opengotha.to_event(data, system)
        return TournamentFile(format="xml", event=checked(event), data=data, names_system=True, remarks=remarks)
    document = trf.read(data)
    general = trf_records.records(document)
    return TournamentFile(
        format="trf",
        event=checked(trf_event.to_event(document, system), any_points=True),
        data=data,
        names_system=trf_event.system_said(general) is not None,
        keeps_options=general.extra_line is not None,
        hindrances=tuple(trf_event.hindrances(general)),
        remarks=(*trf_event.remarks(general), *trf_event.cut_lines(document)),
        kept=document,
    )


def write(file: TournamentFile, event: Event) -> bytes:
    """The file again, of the same format: only what has changed is rewritten, and where nothing has, the bytes are
    those that were read.

    :raises Refused: what the format cannot hold
    """
    if event == file.event:
        return file.data
    if isinstance(file.kept, Document):
        return trf.write(trf_writing.with_event(file.kept, event, _order(event)))
    if isinstance(file.kept, Table):
        return tournament_table.with_event(file.kept, file.data, event, _places(event))
    if file.format in ("h9", "xml"):
        raise Invalid(
            Code.ONLY_READ,
            "H9 and OpenGotha's XML are read, not changed: places, and thus numbers, would be others. Go on in JSON "
            "(--output event.json); a new H9 file can be made of that in the end.",
        )
    return tournament.to_json(event) + b"\n"


def fresh(event: Event, format_: Format) -> bytes:
    """A new file of that format.

    :raises Refused: what the format cannot hold
    """
    if format_ == "xml":
        raise Invalid(Code.ONLY_READ, "OpenGotha's XML is read, not written. Write .trf, .csv, .json or .h9.")
    if format_ == "h9":
        return tournament_h9.write(event, tournament.standings(event))
    if format_ == "trf":
        return trf.write(trf_writing.from_event(event, _order(event)))
    if format_ == "csv":
        return tournament_table.from_event(event, _places(event))
    return tournament.to_json(checked(event)) + b"\n"


def losses(event: Event, format_: Format) -> tuple[str, ...]:
    """What a new file of that format does not hold of the event, in sentences.

    :raises Refused: as :func:`fresh`
    """
    if format_ == "json":
        return ()
    again = read(f"-.{format_}", fresh(event, format_))
    lost = [f"the system ({event.system})"] if not again.names_system else []
    if format_ == "h9":
        lost.append("the players' numbers and the order of registration: it has places")
        event = tournament_h9.renumbered(event, tournament.standings(event))
    lost += [what for what, of in _TOLD.items() if of(event) != of(again.event)]
    return tuple(f"The file does not hold {what}." for what in lost)


def check_scores(file: TournamentFile) -> tuple[str, ...]:
    """Sentences where points that the file states do not follow from its results."""
    if isinstance(file.kept, Document):
        return tuple(trf_event.check_scores(file.kept))
    if isinstance(file.kept, Table):
        return tuple(tournament_csv.check_scores(file.kept, file.event))
    return ()


class _Export(msgspec.Struct):
    """An event of a server with its log and all else, as `cgos-server event export` writes it."""

    export: int
    record: msgspec.Raw


def _exported(data: bytes) -> _Export | None:
    """None where it is no such file, or no JSON at all."""
    try:
        return msgspec.json.decode(data.removeprefix(MARK), type=_Export)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _from_json(data: bytes) -> Event:
    try:
        return tournament.from_json(data.removeprefix(MARK))
    except Refused as refused:
        problem, text = refused.__cause__, data.removeprefix(MARK)
        if isinstance(problem, UnicodeDecodeError):
            at = _undecodable(text)
        elif where := _BYTE.search(str(problem)):
            at = int(where[1])
        elif "truncated" in str(problem):
            at = len(text)
        else:  # it is JSON; what is wrong with it is said by its path
            raise
        before = text[:at].decode("utf-8", "replace")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        what = _BYTE.sub("", str(problem)).rstrip(". ")
        raise _fault(line, column, f"this is not an event's JSON: {what}", "Mend it there") from problem


def _undecodable(text: bytes) -> int:
    """Where it is no UTF-8."""
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as problem:
        return problem.start
    return len(text)


def _places(event: Event) -> dict[int, int]:
    """By the system's standings; the same place for those whom nothing separates."""
    return {row.entrant: row.place for row in tournament.standings(event).rows}


def _order(event: Event) -> dict[int, int]:
    """By the system's standings, 1, 2... without equal places, as reports had them before 2026."""
    return {row.entrant: place for place, row in enumerate(tournament.standings(event).rows, 1)}
