"""Events as files: everything as JSON, tournament reports, a table, text.

Says what a file of some kind does not hold of an event. Must not know: where files lie, HTTP, command lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from cgos_protocol.api import events as api
from cgos_protocol.errors import Code, Conflict
from cgos_server.presentation.events import answers
from cgos_server.presentation.events.record import EventRecord
from cgos_server.presentation.text_table import text_table
from cgos_server.tournaments.base import Standings
from cgos_server.tournaments.files import formats, trf
from cgos_server.tournaments.files.trf_writing import from_event
from cgos_server.tournaments.running import log

FileWord: TypeAlias = Literal["json", "trf16", "trf-2026", "csv", "text"]

EXPORT: Final = 1
"""Of the form of :class:`cgos_protocol.api.events.EventExport`."""


def exported(record: EventRecord) -> api.EventExport:
    """Everything of the event."""
    state = record.state
    return api.EventExport(
        export=EXPORT,
        event=answers.summary(record),
        announced=msgspec.to_builtins(state.settings),
        record=msgspec.to_builtins(state.event),
        games=answers.games(record).items,
        log=answers.log_page(record, 0, len(record.entries)).items,
    )


def entries_of(export: api.EventExport) -> list[log.LogEntry]:
    """The log of a file, which folds to the same event again. Raises OurFault where it is none."""
    return [
        log.LogEntry(line.seq, line.at, line.actor, log.decode(msgspec.json.encode(line.said).decode()))
        for line in export.log
    ]


def file_of(record: EventRecord, word: FileWord) -> bytes:
    """The file. Raises Refused where one of that kind cannot hold the event; the sentence says what of it."""
    if word == "json":
        return msgspec.json.encode(exported(record)) + b"\n"
    _require_entrants(record, word)
    event = record.state.event
    if word == "csv":
        return formats.fresh(event, "csv")
    if word == "text":
        return "".join(f"{line}\n" for line in _text(record)).encode()
    order = {row.entrant: place for place, row in enumerate(record.standings.rows, 1)}
    return trf.write(from_event(event, order, word))


def losses(record: EventRecord, word: FileWord) -> tuple[str, ...]:
    """What a file of that kind does not hold of the event, in sentences. Raises Refused as :func:`file_of`."""
    if word == "json":
        return ()
    log_alone = "The file does not hold the log of the event: it is in JSON alone."
    if word == "text":
        return (log_alone,)
    _require_entrants(record, word)
    return (*formats.losses(record.state.event, "csv" if word == "csv" else "trf"), log_alone)


def _require_entrants(record: EventRecord, word: str) -> None:
    if not record.state.event.entrants:
        raise Conflict(
            Code.EVENT_PHASE,
            f"{record.state.settings.name} has not started, so there is nothing for {word} to hold. Take JSON, or wait "
            "for the start.",
        )


def _text(record: EventRecord) -> Iterator[str]:
    """Name and state, standings, crosstable."""
    summary, table = answers.summary(record), record.standings
    yield f"{summary.name}: {summary.about}" if summary.about else summary.name
    yield summary.status
    yield ""
    yield from text_table(("place", "name", *table.order), _standing_rows(table))
    if table.remark:
        yield table.remark
    yield ""
    cross = record.results.crosstable
    columns, rows = (cross.matrix_columns, cross.matrix_text) if cross.everybody_met else (cross.columns, cross.text)
    yield from text_table(columns, [[_shown(cell) for cell in row] for row in rows])


def _standing_rows(table: Standings) -> Sequence[Sequence[str]]:
    return [
        [str(row.place), row.name, *(_shown(None if value is None else round(value, 2)) for value in row.values)]
        for row in table.rows
    ]


def _shown(cell: object) -> str:
    return "-" if cell is None or cell == "" else f"{cell:g}" if isinstance(cell, float) else str(cell)
