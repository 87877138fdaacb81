"""`cgos-server event list`, `show`, `standings`, `crosstable`, `rounds`, `games` and `log`: what events come to.

All of it is read from the database. Must not know: the live server, what follows from a log.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from cgos_protocol.api import events as api
from cgos_protocol.errors import Code, NotFound
from cgos_server.cli.common import Setup, configured, game_number, json_option, venue_option
from cgos_server.cli.output import apart, print_json, print_list, print_table, say, when
from cgos_server.cli.reading import page_settings, read
from cgos_server.cli.tournaments.event_files import require_one_output
from cgos_server.cli.tournaments.tables import print_crosstable, print_standings, write_picture
from cgos_server.presentation.events import answers
from cgos_server.presentation.events.reading import ReadEvents
from cgos_server.presentation.events.record import EventRecord
from cgos_server.storage.reading.history import History
from cgos_server.tournaments.running.state import Phase

_MOST: Final = 10_000


def _record(setup: Setup, event: str) -> EventRecord:
    """An event as it is now. Raises Refused where there is none of this name."""
    return read(setup, lambda history: ReadEvents(history).named(event))


@click.command("list")
@venue_option
@click.option("--phase", type=click.Choice([*map(str, Phase)]), help="Only those so far.")
@click.option("--limit", type=click.IntRange(1, _MOST), default=20, show_default=True, help="At most so many.")
@click.option("--before", type=game_number, metavar="N", help="Only events with numbers below N.")
@json_option
@configured
def list_events(
    setup: Setup, venue: str | None, phase: str | None, limit: int, before: int | None, as_json: bool
) -> None:
    """Events, the latest announced first."""

    async def ask(history: History) -> list[api.EventSummary]:
        rows = await history.events.page(limit, before=before, phase=phase, venue=venue)
        return await ReadEvents(history).summaries(rows)

    print_list(
        read(setup, ask),
        {
            "number": lambda row: row.id,
            "event": lambda row: row.name,
            "venue": lambda row: row.venue,
            "system": lambda row: row.system,
            "phase": lambda row: row.phase,
            "starts (UTC)": lambda row: when(row.started_at or row.starts_at),
            "entrants": lambda row: row.field or row.entrants,
            "status": lambda row: row.status,
        },
        as_json=as_json,
    )


@click.command("show")
@click.argument("event")
@json_option
@configured
def show_event(setup: Setup, event: str, as_json: bool) -> None:
    """What EVENT is announced with, how far it is, and who has entered."""
    record = _record(setup, event)
    now = answers.now(record, page_settings(setup).sandboxes)
    if as_json:
        print_json(now)
        return
    print_table(("", now.summary.name), [(line.label, line.text) for line in now.settings], now.summary.about)
    click.echo()
    _print_entrants(now)
    say(now.summary.status)
    say(now.rating)
    if now.summary.phase == "entry":
        say(now.entry)


def _print_entrants(now: api.EventNow) -> None:
    started = now.summary.started_at is not None
    columns = ("place", "version", "points", "rating", "owner", "state", "game")
    rows = [
        (one.place, one.version, one.points, _whole(one.rating), one.owner, one.state, one.game) for one in now.entrants
    ]
    if started:
        print_table(columns, rows)
    else:
        print_table(columns[1:2] + columns[3:6], [row[1:2] + row[3:6] for row in rows])


def _whole(rating: float | None) -> str | None:
    return None if rating is None else f"{rating:.0f}"


@click.command("standings")
@click.argument("event")
@json_option
@configured
def event_standings(setup: Setup, event: str, as_json: bool) -> None:
    """Who stands where in EVENT, by points and tie-breakers."""
    record = _record(setup, event)
    if as_json:
        print_json(answers.standings(record))
    else:
        print_standings(record.standings, event)
        say(answers.status(record))


@click.command("crosstable")
@click.argument("event")
@click.option(
    "--svg",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a picture instead; of a knock-out, its bracket.",
)
@json_option
@configured
def event_crosstable(setup: Setup, event: str, svg: Path | None, as_json: bool) -> None:
    """Who met whom in EVENT, with which result.

    A cell such as 12+w is a win with White against number 12; = is a draw, - a loss. Where everybody has met everybody
    there is a column for each opponent instead of each round.
    """
    record = _record(setup, event)
    table = record.results.crosstable
    if as_json:
        require_one_output(svg)
    if svg is not None:
        write_picture(record.state.event, table, svg)
    if as_json:
        print_json(answers.cross_table(record))
    elif svg is None:
        print_crosstable(table, event)


@click.command("rounds")
@click.argument("event")
@click.option("--round", "number", type=click.IntRange(1), metavar="N", help="Only this round.")
@json_option
@configured
def event_rounds(setup: Setup, event: str, number: int | None, as_json: bool) -> None:
    """The rounds of EVENT: who meets whom, and why."""
    rounds = answers.rounds(_record(setup, event)).items
    if number is not None:
        if number > len(rounds):
            raise NotFound(Code.NO_ROUND, f"{event} has no round {number}: {len(rounds)} have begun.")
        rounds = rounds[number - 1 : number]
    if as_json:
        print_json(rounds)
        return
    if not rounds:
        say("Nothing has been paired yet.")
    for each in apart(rounds):
        _print_round(each)


def _print_round(each: api.EventRound) -> None:
    rows: list[tuple[object, ...]] = [
        (game.number, game.game, game.black, game.white, game.result or game.state, game.reason) for game in each.games
    ]
    for bye in each.byes:
        why = "asked for" if bye.requested else "no opponent"
        rows.append((None, None, bye.version, None, f"bye, {bye.points:g}", why))
    print_table(("number", "game", "black", "white", "result", "why"), rows, f"Round {each.number}")
    if each.explanation:
        say(each.explanation)


@click.command("games")
@click.argument("event")
@click.option("--open", "only_open", is_flag=True, help="Only those without a result.")
@json_option
@configured
def event_games(setup: Setup, event: str, only_open: bool, as_json: bool) -> None:
    """The games of EVENT: their numbers there, by which rulings name them, and on the server."""
    games = [game for game in answers.games(_record(setup, event)).items if not only_open or game.result is None]
    print_list(
        games,
        {
            "number": lambda row: row.number,
            "round": lambda row: row.round,
            "game": lambda row: row.game,
            "black": lambda row: row.black,
            "white": lambda row: row.white,
            "result": lambda row: row.result or row.state,
            "begun (UTC)": lambda row: when(row.began_at),
            "remark": _remark,
        },
        as_json=as_json,
    )


def _remark(game: api.EventGame) -> str:
    return " ".join(filter(None, (game.why, f"Ruling: {game.ruling}" if game.ruling else "")))


@click.command("log")
@click.argument("event")
@click.option("--after", type=click.IntRange(0), default=0, metavar="N", help="Only entries after this one.")
@click.option("--last", type=click.IntRange(1, 100_000), metavar="N", help="Only the last N.")
@json_option
@configured
def event_log(setup: Setup, event: str, after: int, last: int | None, as_json: bool) -> None:
    """Everything that happened in EVENT, in order, with who did it."""
    record = _record(setup, event)
    if last is not None:
        after = max(after, len(record.entries) - last)
    entries: Sequence[api.EventLogLine] = answers.log_page(record, after, len(record.entries)).items
    print_list(
        entries,
        {
            "entry": lambda row: row.seq,
            "at (UTC)": lambda row: when(row.at),
            "by": lambda row: row.actor,
            "what": lambda row: row.sentence,
        },
        as_json=as_json,
    )


COMMANDS: Final = (
    *(list_events, show_event, event_standings, event_crosstable),
    *(event_rounds, event_games, event_log),
)
