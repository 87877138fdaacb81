"""`cgos-server pair`, `crosstable`, `rounds` and `rules`: what the pages of a venue show, as text.

All of it is read from the database. Must not know: the live server, how ratings are computed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cgos_protocol.api.games import Game, Round
from cgos_protocol.clock import TimeControl
from cgos_protocol.errors import Code, Conflict
from cgos_protocol.games.base import Ruleset
from cgos_protocol.ids import VenueId
from cgos_server.cli.common import Setup, configured, json_option, one_venue
from cgos_server.cli.files import write
from cgos_server.cli.output import print_json, print_table, say, shown, without
from cgos_server.cli.reading import headline, known_strengths, page_settings, read
from cgos_server.config.venues import venue_value
from cgos_server.presentation import words
from cgos_server.presentation.answers import after_games, pair_statistics, published
from cgos_server.presentation.answers import record as as_record
from cgos_server.presentation.pictures.crosstable_picture import crosstable_svg, ink, shade
from cgos_server.presentation.words import moment
from cgos_server.service.ratings.expectation import Compared, compare
from cgos_server.service.ratings.listed import best
from cgos_server.storage.reading.answers import RankedRow
from cgos_server.storage.reading.game_answers import GameFilter, PairRecord
from cgos_server.storage.reading.history import History
from cgos_server.tournaments.standings.crosstable import CrossRow, Crosstable, Pair


class _Pair(NamedTuple):
    """Two versions of a venue.

    :ivar system: the headline, under which `ratings` are theirs
    :ivar place: the place in the ledger as of which they are compared, in words
    """

    record: PairRecord
    system: str
    ratings: list[RankedRow | None]
    compared: Compared | None
    place: str
    games: list[Game]


@click.command()
@click.argument("venue")
@click.argument("one", metavar="A")
@click.argument("other", metavar="B")
@click.option("--limit", type=click.IntRange(0, 10_000), default=20, show_default=True, help="At most so many games.")
@json_option
@configured
def pair(setup: Setup, venue: str, one: str, other: str, limit: int, as_json: bool) -> None:
    """All that came of the games of versions A and B in VENUE.

    And what was to be expected: from the strengths as they are known jointly where they are, else by the two ratings.
    `rate odds` counts in every result of now for that.
    """
    if one == other:
        raise Conflict(Code.SAME_VERSION, f"{one} cannot be compared with itself. Name another version.")

    sandbox = venue in page_settings(setup).sandboxes

    async def ask(history: History) -> _Pair:
        record = await history.records.pair(venue, one, other)
        system = headline(setup, venue, await history.ratings.rated_counts(venue))
        ranked = await history.ratings.ranked([one, other])
        of = {row.version: row for row in ranked if row.venue == venue and row.system == system}
        ratings = [of.get(one), of.get(other)]
        known = await known_strengths(setup, history, venue)
        compared = None if sandbox else compare(one, other, rated=of.get(one), its=of.get(other), known=known)
        filters = GameFilter(venue=venue, bot=one, opponent=other, exact=True)
        games = await history.games.find(filters, limit) if limit else []
        place = "" if compared is None else await after_games(history, venue, compared.seq)
        return _Pair(record=record, system=system, ratings=ratings, compared=compared, place=place, games=games)

    figures = read(setup, ask)
    if as_json:
        told = pair_statistics(venue, figures.record, one, figures.compared, sandbox=sandbox)
        statistics = msgspec.structs.asdict(told)
        ratings = [row and without(row, "half_width") for row in figures.ratings]
        print_json(statistics | {"ratings": ratings, "games": published(figures.games, list[Game])})
        return
    record = figures.record
    points = record.one_wins + record.draws / 2
    click.echo(f"{venue}, {figures.system}")
    for name, row in zip((one, other), figures.ratings, strict=True):
        rating = words.standing(row) if row else "not rated"
        click.echo(f"{name}: {rating}")
    click.echo(
        f"{words.count(record.games, 'game')}, unrated ones too, {record.with_result} with a result: "
        f"{points:g} - {record.with_result - points:g}"
    )
    click.echo(f"{one} won {record.one_wins_black} as Black and {record.one_wins_white} as White")
    click.echo(f"{other} won {record.other_wins_black} as Black and {record.other_wins_white} as White")
    click.echo(f"{record.draws} drawn, {record.without_result} without a result")
    if figures.compared is not None:
        _describe(one, record, figures.compared, figures.place)
    else:
        click.echo(words.IN_SANDBOX if sandbox else words.NOT_RATED)
    if figures.games:
        click.echo()
        print_table(
            ("game", "black", "white", "result", "moves", "started (UTC)"),
            [
                (
                    row.id,
                    row.black,
                    row.white,
                    row.corrected or row.result or "running",
                    row.moves,
                    moment(row.started_at),
                )
                for row in figures.games
            ],
        )


def _describe(one: str, record: PairRecord, compared: Compared, place: str) -> None:
    as_black = record.one_black if one == record.one else record.games - record.one_black
    expected = compared.chances.a_game(as_black, record.games - as_black) * record.with_result
    if record.with_result:
        click.echo(f"by strengths of now {one} would be expected to have {expected:.1f} points of {record.with_result}")
    black, white = (words.likelihood(share, 1) for share in (compared.chances.black, compared.chances.white))
    click.echo(f"expected of a game: {black} % as Black, {white} % as White")
    if compared.as_black is not None and compared.as_white is not None and compared.as_black.draw > 0.0005:
        black, white = (words.likelihood(game.draw, 1) for game in (compared.as_black, compared.as_white))
        click.echo(f"drawn with probability {black} % as Black, {white} % as White")
    if compared.superiority is not None:
        click.echo(f"{one} is the stronger with a probability of {words.likelihood(compared.superiority, 1)} %")
    how = "jointly" if compared.jointly else "from the two ratings"
    click.echo(f"by {compared.system}, {how}, {place}")


@click.command()
@click.argument("venue", required=False)
@click.option("--top", type=click.IntRange(2, 100), default=20, show_default=True, help="So many of the best.")
@click.option("--version", "versions", multiple=True, metavar="NAME", help="These versions instead; may be repeated.")
@click.option("--svg", type=click.Path(path_type=Path), metavar="FILE", help="Write a picture instead.")
@json_option
@configured
def crosstable(
    setup: Setup, venue: str | None, top: int, versions: tuple[str, ...], svg: Path | None, as_json: bool
) -> None:
    """Who scored how much against whom.

    The row's points against the column's version, and of how many games, unrated ones too. In a terminal the color says
    the share.
    """
    if svg is not None and as_json:
        raise click.UsageError("Give --svg or --json.")
    where = one_venue(setup, venue)

    async def ask(history: History) -> tuple[list[str], dict[str, float], list[PairRecord]]:
        rows = await history.ratings.standings(where)
        system = headline(setup, where, {row.system for row in rows})
        ranked = [row for row in rows if row.system == system]
        means = {row.version: row.mean for row in ranked if row.games}
        if versions:
            for name in versions:
                await history.bots.version(name)
            names = list(dict.fromkeys(versions))
        else:
            names = [row.version for row in await best(history, where, system, top)]
        return names, means, await history.records.crosstable(where, names)

    names, means, records = read(setup, ask)
    if as_json:
        print_json({"venue": where, "versions": names, "pairs": [as_record(each) for each in records]})
        return
    table = as_crosstable(f"{where}, unrated games too", names, means, records)
    if svg is not None:
        write(svg, crosstable_svg(table).encode())
        return
    if len(names) < 2:
        say(words.IN_SANDBOX if where in page_settings(setup).sandboxes else "There is nothing to compare yet.")
        return
    _print_crosstable(table)


@click.command()
@click.argument("venue", required=False)
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="At most so many.")
@click.option("--before", type=click.IntRange(1), metavar="N", help="Only rounds before round number N of the venue.")
@json_option
@configured
def rounds(setup: Setup, venue: str | None, limit: int, before: int | None, as_json: bool) -> None:
    """The latest rounds of VENUE.

    Newest first; `pairing explain --round` shows one with all it was decided from.
    """
    where = one_venue(setup, venue)
    rows: list[Round] = read(setup, lambda history: history.pairings.rounds(where, limit, before))
    if as_json:
        print_json(published(rows, list[Round]))
        return
    print_table(
        ("id", "round", "at (UTC)", "games", "sat out", "policy", "method"),
        [(row.id, row.number, moment(row.at), row.games, row.sits_out, row.policy, row.method) for row in rows],
        title=where,
    )


@click.command()
@click.argument("venue", required=False)
@json_option
@configured
def rules(setup: Setup, venue: str | None, as_json: bool) -> None:
    """The rules of VENUE in words.

    What is played, on what clocks, who meets whom, how it is rated.
    """
    # Only this command needs what the page is made with.
    from cgos_server.presentation.rules import sections
    from cgos_server.presentation.settings import VenueSettings

    where = one_venue(setup, venue)
    (terms,) = [venue_value(each, VenueId(0)) for each in setup.config.venue if each.name == where]
    port = next(each.port for each in setup.config.venue if each.name == where)
    fixed = next((row.fixed for row in stored_venues(setup) if row.name == where), None)
    ruleset = terms.rules if fixed is None else msgspec.convert(fixed, Ruleset)
    time = terms.time if fixed is None else msgspec.convert(fixed["time"], TimeControl)
    known = None if fixed is None else read(setup, lambda history: known_strengths(setup, history, where))
    newcomer = None if known is None else known.newcomer
    titled_sections = sections(ruleset, time, VenueSettings.of(terms, port), newcomer=newcomer)
    if as_json:
        print_json({"venue": where, "sections": [{"title": title, "rules": lines} for title, lines in titled_sections]})
        return
    for title, lines in titled_sections:
        click.echo(title)
        for line in lines:
            click.echo(f"  {line.name}: {line.sentence}")


def stored_venues(setup: Setup) -> list[Any]:
    """The venues of the database; none where there is no database yet."""
    if isinstance(setup.database, Path) and not setup.database.exists():
        return []
    return list(read(setup, lambda history: history.server.venues()))


def as_crosstable(title: str, names: list[str], means: dict[str, float], records: list[PairRecord]) -> Crosstable:
    """A venue's records as the table that tournaments have."""
    number = {name: at for at, name in enumerate(names, 1)}
    pairs = []
    for record in records:
        games, won = record.with_result, 2 * record.one_wins + record.draws
        lost = 2 * record.other_wins + record.draws
        for one, other, points in ((record.one, record.other, won), (record.other, record.one, lost)):
            pairs.append(Pair(row=number[one], column=number[other], points=points, games=games, text="games"))
    rows = [
        CrossRow(
            number=at,
            place=at,
            entrant=at,
            name=name,
            values=(round(means[name]),) if name in means else (None,),
            rounds=(),
        )
        for name, at in number.items()
    ]
    return Crosstable(
        name=title,
        order=("rating",),
        rounds=0,
        rows=tuple(rows),
        pairs=tuple(sorted(pairs, key=lambda each: (each.row, each.column))),
    )


def _print_crosstable(table: Crosstable) -> None:
    cells = {(pair.row, pair.column): pair for pair in table.pairs}
    columns = ("", "name", "rating", *(str(row.number) for row in table.rows))
    console = Console()
    if not console.is_terminal:
        print_table(
            columns,
            [
                (
                    row.number,
                    row.name,
                    row.values[0],
                    *(_cell(cells.get((row.number, other.number))) for other in table.rows),
                )
                for row in table.rows
            ],
            title=table.name,
        )
        return
    drawn = Table(title=Text(shown(table.name)), title_justify="left", box=None, padding=(0, 1, 0, 0))
    for name in columns:
        drawn.add_column(name, justify="left" if name == "name" else "right", no_wrap=True)
    for row in table.rows:
        line = [
            Text(str(row.number)),
            Text(shown(row.name)),
            Text("" if row.values[0] is None else f"{row.values[0]:g}"),
        ]
        for other in table.rows:
            pair = cells.get((row.number, other.number))
            share = pair.points / 2 / pair.games if pair is not None and pair.games else None
            line.append(Text(_cell(pair), "" if share is None else f"{ink(share)} on {shade(share)}"))
        drawn.add_row(*line)
    console.print(drawn)


def _cell(pair: Pair | None) -> str:
    return "" if pair is None or not pair.games else f"{pair.points / 2:g}/{pair.games}"
