"""`cgos-server standings` and `history`: who stands where, how they came there, and where they would stand otherwise.

Must not know: the live server, how ratings are computed.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, NamedTuple

import click
import msgspec

from cgos_protocol.api.messages import RankSummary
from cgos_protocol.errors import Code, NotFound
from cgos_server.cli.common import Setup, WordOf, configured, json_option, one_venue, venue_option
from cgos_server.cli.output import apart, print_json, print_table, say
from cgos_server.cli.progress import progress_bar
from cgos_server.cli.reading import headline, page_settings, read, system_of, venue_terms, venues_asked
from cgos_server.core.rating.registry import systems
from cgos_server.presentation import ranks, words
from cgos_server.presentation.answers import after_games
from cgos_server.presentation.words import moment
from cgos_server.service.ratings.listed import Listing, listing, with_last_games
from cgos_server.storage.reading.answers import ChangeRow, StandingRow
from cgos_server.storage.reading.history import History

_system_option = click.option(
    "--system",
    type=WordOf(lambda: systems().names),
    help="Under this rating system; without it under the venue's headline.",
)


_SURENESS: Final = ("95 % two-sided", "best", "first three")
"""Columns of the table where ranks are known."""


class _Table(NamedTuple):
    """One venue's standings.

    :ivar place: the place in the ledger that they are as of, in words
    :ivar listed: as they were published
    :ivar ranks: how sure they are, where their system says that
    """

    place: str
    rows: list[StandingRow]
    listed: Listing
    ranks: RankSummary | None


@click.command()
@venue_option
@_system_option
@click.option("--as-of", type=click.IntRange(0, 2**63 - 1), metavar="N", help="After entry N of the venue's ledger.")
@click.option(
    "--on", type=click.DateTime(["%Y-%m-%d"]), metavar="DATE", help="At the end of this day (UTC); instead of --as-of."
)
@click.option(
    "--as",
    "answer",
    type=click.Choice(("published", "recomputed")),
    default="published",
    show_default=True,
    help="As everybody saw them, or as they are had every game always counted as it counts now.",
)
@click.option("--all", "everybody", is_flag=True, help="Also who has no rated game, or has retired.")
@json_option
@configured
def standings(
    setup: Setup,
    venue: str | None,
    system: str | None,
    as_of: int | None,
    on: datetime | None,
    answer: str,
    everybody: bool,
    as_json: bool,
) -> None:
    """Who stands where, venue by venue.

    Without --all those that have a rated game and played in the 30 days before the venue's latest game.

    A rating is shown with its 95 % interval where its system says one: 1873 ± 42, or 2750, 2320 to 4600 where one end
    is further away than the other; with ? while it is provisional.
    Beside the rank stand its own 95 % interval and the probabilities to be the best and among the first three, of those
    that are shown without --all.
    """
    if as_of is not None and on is not None:
        raise click.UsageError("Give --as-of or --on, not both.")
    if as_of is not None:
        venue = one_venue(setup, venue)

    async def ask(history: History) -> dict[str, _Table]:
        tables: dict[str, _Table] = {}
        for name in await venues_asked(history, venue):
            entry = as_of if on is None else await history.ledger.entry_at(name, words.day_end(f"{on:%Y-%m-%d}"))
            if answer == "recomputed":
                table = await _recomputed(setup, history, venue=name, system=system, as_of=entry)
            else:
                last = await history.ledger.last_entry(name)
                rows = await history.ratings.standings(name, system, entry)
                chosen = system or headline(setup, name, {row.system for row in rows})
                listed = listing([row for row in rows if row.system == chosen], page_settings(setup).rated(name).system)
                sure = await history.ranks.summary(name, chosen, entry)
                place = await after_games(history, name, last if entry is None else entry)
                table = _Table(place, rows=listed.rows, listed=listed, ranks=sure)
            tables[name] = table._replace(rows=[row for row in table.rows if everybody or table.listed.lists(row)])
        return tables

    tables = read(setup, ask)
    if as_json:
        print_json({name: list(map(_as_json, table.rows)) for name, table in tables.items()})
        return
    for name, table in apart(tables.items()):
        print_table(
            ("rank", *(_SURENESS if table.ranks else ()), "name", "rating", "state", "games", "last game"),
            [(row.rank, *(_sureness(row) if table.ranks else ()), *_cells(row)) for row in table.rows],
            title=_title(name, table, answer),
        )
        sentences = ranks.sentences(table.ranks) if table.ranks is not None and table.rows else []
        for sentence in filter(None, [*sentences, words.loose_scale(table.listed.rows)]):
            click.echo(sentence)


@click.command()
@click.argument("name")
@venue_option
@_system_option
@click.option("--limit", type=click.IntRange(1, 1_000_000), metavar="N", help="Only the latest N changes.")
@json_option
@configured
def history(setup: Setup, name: str, venue: str | None, system: str | None, limit: int | None, as_json: bool) -> None:
    """Every change of a version's rating.

    Oldest first, with the game that caused it, or the number of the refit that did.
    """

    async def ask(history: History) -> dict[str, list[ChangeRow]]:
        histories: dict[str, list[ChangeRow]] = {}
        for each in await venues_asked(history, venue):
            there = {row.system for row in await history.ratings.standings(each)}
            histories[each] = await history.changes.latest(name, each, limit, system or headline(setup, each, there))
        return histories

    histories = {each: points for each, points in read(setup, ask).items() if points}
    if as_json:
        print_json({each: list(map(_as_json, points)) for each, points in histories.items()})
        return
    if not histories:
        say(f"{name} has no rating yet.")
    for each, points in apart(histories.items()):
        print_table(
            ("entry", "at (UTC)", "what", "game", "opponent", "score", "from", "to", "games"),
            [
                (
                    point.seq,
                    moment(point.at),
                    point.kind if point.refit is None else f"refit {point.refit}",
                    point.game,
                    point.opponent,
                    None if point.score is None else f"{point.score:g}",
                    words.finely(point.before_mean, point.before_lower, point.before_upper),
                    words.finely(point.after_mean, point.after_lower, point.after_upper),
                    point.games,
                )
                for point in points
            ],
            title=f"{each}, {points[0].system}",
        )


async def _recomputed(setup: Setup, history: History, venue: str, system: str | None, as_of: int | None) -> _Table:
    # Only this answer computes anything.
    from cgos_server.service.ratings.build import one_thread
    from cgos_server.service.ratings.recomputing import recompute

    one_thread()
    terms = venue_terms(setup, venue)
    name = system or terms.rating
    last = await history.ledger.last_entry(venue)
    if as_of is not None and as_of > last:
        raise NotFound(Code.NO_ENTRY, f"The ledger of {venue} has no entry {as_of}: it ends with entry {last}.")
    with progress_bar(venue) as progress:
        recomputed = await recompute(history, venue, system_of(terms, name), last=as_of, progress=progress)
    names = await history.bots.version_names()
    published = await history.ratings.standings(venue, name, as_of)
    listed = listing(published, page_settings(setup).rated(venue).system)
    rows = with_last_games(recomputed.standings(names), published)
    place = await after_games(history, venue, recomputed.seq)
    return _Table(place, rows=rows, listed=listed, ranks=recomputed.summary(names))


def _title(venue: str, table: _Table, answer: str) -> str:
    if not table.rows:
        return venue
    how = "" if answer == "published" else ", recomputed with every game as it counts now"
    return f"{venue}, {table.rows[0].system}, {table.place}{how}"


def _as_json(row: StandingRow | ChangeRow) -> dict[str, Any]:
    """A line in the API's words."""
    return {"system": row.system} | msgspec.structs.asdict(row)


def _sureness(row: StandingRow) -> tuple[str | None, ...]:
    best, three = (None if share is None else ranks.percent(share) for share in (row.best, row.first_three))
    return ranks.interval(row) or None, best, three


def _cells(row: StandingRow) -> tuple[Any, ...]:
    return row.version, words.standing(row), _state(row), row.games, row.last_game


def _state(row: StandingRow) -> str | None:
    if row.anchor:
        return "anchor"
    return None if row.provisional is None else "provisional" if row.provisional else "settled"
