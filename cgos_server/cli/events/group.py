"""`cgos-server event`: tournaments that the server holds by itself.

Must not know: how events go on.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple, cast, get_args

import click

from cgos_protocol.api import events as api
from cgos_protocol.api.event_forecast import EventForecast, ForecastMoment
from cgos_protocol.errors import Code, Invalid, NotFound
from cgos_server.cli.commands.declared import add_declared
from cgos_server.cli.common import Setup, configured, game_number, gathered, json_option, venue_option
from cgos_server.cli.files import overwrite_option, write
from cgos_server.cli.games.writing import Stream, target_argument, write_stream
from cgos_server.cli.output import apart, print_json, print_list, print_table, say, when
from cgos_server.cli.progress import progress_bar
from cgos_server.cli.reading import now_ms, page_settings, read
from cgos_server.cli.tournaments.event_files import require_one_output
from cgos_server.cli.tournaments.tables import print_crosstable, print_standings, write_picture
from cgos_server.presentation.events import answers
from cgos_server.presentation.events.files import FileWord, file_of, losses
from cgos_server.presentation.events.reading import ReadEvents
from cgos_server.presentation.events.record import EventRecord
from cgos_server.presentation.events.rehearsing import Prepared, Wishes, answer, prepared, rehearse
from cgos_server.presentation.export_forms import Joined, Zip
from cgos_server.presentation.exports import game_files
from cgos_server.presentation.words import duration, moment
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.reading.history import History
from cgos_server.tournaments.running.settings import MOST_ENTRANTS
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


_ENDINGS: Final[dict[str, FileWord]] = {".json": "json", ".trf": "trf16", ".csv": "csv", ".txt": "text"}


@click.command("export")
@click.argument("event")
@click.argument("file", type=click.Path(path_type=Path), default=Path("-"))
@click.option(
    "--format",
    "word",
    type=click.Choice(get_args(FileWord)),
    help="Of the file; without it as the ending of FILE says, or JSON on standard output.",
)
@overwrite_option
@configured
def export_event(setup: Setup, event: str, file: Path, word: str | None, overwrite: bool) -> None:
    """Write EVENT to FILE: everything as JSON, a tournament report, a table, or text for people.

    JSON carries everything, and the commands of `cgos-server tournament` read it; what the others do not hold is said.
    """
    kind = cast(FileWord, word) if word is not None else _kind_of(file)
    record = read(setup, lambda history: ReadEvents(history).named(event))
    write(file, file_of(record, kind), overwrite=overwrite)
    if str(file) != "-":
        for sentence in losses(record, kind):
            say(sentence)


def _kind_of(file: Path) -> FileWord:
    """Raises Refused where the name says nothing."""
    if str(file) == "-":
        return "json"
    if file.suffix.lower() not in _ENDINGS:
        endings = ", ".join(_ENDINGS)
        raise Invalid(Code.FILE_ENDING, f"{file} says no format. Use {endings}, or give --format.")
    return _ENDINGS[file.suffix.lower()]


@click.command("sgf")
@click.argument("event")
@target_argument
@json_option
@configured
def event_sgf(setup: Setup, event: str, target: Path, as_json: bool) -> None:
    """The ended games of EVENT as one SGF collection, or as an archive of files.

    FILE is an archive where its name ends in .zip, a file a game; else one collection. - is standard output. Games
    carry the event's name (EV) and the number of its round (RO); those that were void or taken back are among them.
    """
    wanted = GameFilter(event=event, running=False)

    async def ask(history: History) -> Stream:
        newest = await history.games.find(wanted, 1)
        return Stream(
            chunks=history.bulk.details(wanted),
            form=Zip() if target.suffix == ".zip" else Joined(),
            last=newest[0].id if newest else 0,
            number=lambda row: row.game.id,
            rows=functools.partial(game_files, place=setup.config.server.name, event=event),
        )

    write_stream(setup, target, ask, as_json=as_json)


LONGEST_S = 3_600.0


class Limits(NamedTuple):
    """What is assumed, and how long it may be computed."""

    entrants: int | None
    rounds: int | None
    game_s: float | None
    slots: int
    at_once: int | None
    seed: int
    seconds: float

    @property
    def wishes(self) -> Wishes:
        """What is assumed."""
        return Wishes(
            entrants=self.entrants,
            rounds=self.rounds,
            game_s=self.game_s,
            slots=self.slots,
            at_once=self.at_once,
            seed=self.seed,
        )


@click.command("rehearse")
@click.argument("event")
@click.option("--entrants", type=click.IntRange(2, MOST_ENTRANTS), metavar="N", help="Assume N in all.")
@click.option("--rounds", type=click.IntRange(1, 10_000), metavar="N", help="Not as announced, but N.")
@click.option("--game-s", type=click.FloatRange(0.001, 604_800), metavar="S", help="A game lasts S seconds.")
@click.option(
    "--slots", type=click.IntRange(1, 1_000), default=1, show_default=True, help="Games at a time of one entrant."
)
@click.option("--at-once", type=click.IntRange(1, 10_000), metavar="N", help="At most N games at a time in all.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="Of lengths and results.")
@click.option(
    "--seconds",
    type=click.FloatRange(0.01, LONGEST_S),
    default=20.0,
    show_default=True,
    help="Compute so long; one rehearsal is always played to its end.",
)
@json_option
@gathered(Limits)
@configured
def rehearse_event(setup: Setup, limits: Limits, event: str, as_json: bool) -> None:
    """How long EVENT will take, and when each round is likely to begin.

    It is played through many times in simulated time, with its own system: before its start with those who have
    entered and, up to --entrants, others with ratings as in its venue; while it runs, from where it stands. Games last
    as long as they did in the event, or else in the venue; where there were none, that is guessed from the clocks.
    """

    async def ask(history: History) -> tuple[EventRecord, Prepared]:
        record = await ReadEvents(history).named(event)
        return record, await prepared(history, page_settings(setup), record, wishes=limits.wishes, now=now_ms())

    record, at = read(setup, ask)
    with progress_bar("rehearsals") as progress:
        ahead = rehearse(at.rehearsal, limits.seconds, lambda done, wanted: progress(done, wanted))
    forecast = answer(record, at, ahead)
    if as_json:
        print_json(forecast)
    else:
        _show(forecast)


def _show(ahead: EventForecast) -> None:
    say(ahead.sentence)
    seen = f"as in {ahead.seen_games} games" if ahead.seen_games else "guessed from the clocks"
    assumed = f" {ahead.assumed} of the entrants are assumed." if ahead.assumed else ""
    say(f"A game lasts {duration(_rounded(ahead.game_s))} in the mean, {seen}; {ahead.replicates} rehearsals.{assumed}")
    say(f"Times are UTC, counted from {moment(ahead.starts_at)}.")
    print_table(
        ("round", "begins", "9 in 10 by", "is over", "9 in 10 by", "share"),
        [(each.number, *_moments(each.begins), *_moments(each.ends), f"{each.share:.0%}") for each in ahead.schedule],
    )
    if ahead.favorites:
        say("First place: " + ", ".join(f"{each.name} {each.share:.0%}" for each in ahead.favorites) + ".")


def _moments(at: ForecastMoment | None) -> tuple[str, str]:
    return ("has begun", "") if at is None else (moment(at.median), moment(at.likely))


def _rounded(seconds: float) -> float:
    return round(seconds, 1) if seconds < 60 else float(round(seconds))


@click.group()
def event() -> None:
    """Events: tournaments that the server holds by itself."""


for command in (
    *(list_events, show_event, event_standings, event_crosstable, event_rounds, event_games, event_log),
    *(export_event, rehearse_event, event_sgf),
):
    event.add_command(command)
add_declared(event)
