"""`cgos-server bot show`: a bot with its versions, whom they met, how their games ended, when they were there.

All of it is read from the database. Must not know: the live server, how ratings are computed.
"""

from __future__ import annotations

from typing import Any, Final

import click
import msgspec

from cgos_protocol.api.figures import Ending
from cgos_protocol.errors import Code, NotFound, Refused
from cgos_server.cli.common import Setup, configured, json_option, venue_option
from cgos_server.cli.output import print_json, print_table, say
from cgos_server.cli.reading import headline, known_strengths, now_ms, page_settings, read
from cgos_server.presentation import words
from cgos_server.presentation.words import last_seen, moment
from cgos_server.service import bot_figures
from cgos_server.storage.reading.answers import BotDetail, RankedRow
from cgos_server.storage.reading.game_answers import OpponentRow
from cgos_server.storage.reading.history import History

_DAYS: Final = 7
_DAY_MS: Final = 86_400_000


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """A version in one venue.

    :ivar uptime: share of the last days, 0..1, in any venue
    """

    version: str
    venue: str
    rating: RankedRow
    opponents: list[tuple[OpponentRow, bot_figures.Faced]]
    verdicts: list[Ending]
    colors: dict[str, bot_figures.ColorSplit]
    spoilt: dict[str, bot_figures.Share]
    uptime: float


@click.command("show")
@click.argument("name")
@venue_option
@click.option(
    "--limit", type=click.IntRange(0, 10_000), default=20, show_default=True, help="At most so many opponents."
)
@json_option
@configured
def bot_show(setup: Setup, name: str, venue: str | None, limit: int, as_json: bool) -> None:
    """The bot NAME, or the bot of version NAME, in figures.

    Its versions and where they stand; of version NAME, or of the newest one, whom it met with which score and which one
    was to be expected, how its games ended, its colors, and how long it was signed in.
    """

    async def ask(history: History) -> tuple[BotDetail, list[RankedRow], list[Figures]]:
        bot = await _bot_of(history, name)
        ratings = await history.ratings.ranked([version.name for version in bot.versions])
        newest = max(bot.versions, key=lambda version: version.id, default=None)
        chosen = next((version for version in bot.versions if version.name == name), newest)
        figures = []
        for row in ratings if chosen is not None else []:
            there = {each.system for each in ratings if each.venue == row.venue}
            if (
                chosen is not None
                and row.version == chosen.name
                and venue in (None, row.venue)
                and row.system == headline(setup, row.venue, there)
            ):
                figures.append(await _figures(setup, history, row, limit))
        return bot, ratings, figures

    if venue is not None and venue not in [row.name for row in read(setup, lambda history: history.server.venues())]:
        raise NotFound(Code.NO_VENUE, f"There is no venue {venue!r}.")
    bot, ratings, figures = read(setup, ask)
    if as_json:
        print_json({"bot": bot, "ratings": ratings, "figures": list(map(_told, figures))})
        return
    _describe(bot, ratings, figures)


async def _bot_of(history: History, name: str) -> BotDetail:
    """The bot of this name, or the one that has a version of this name. Raises Refused."""
    try:
        return await history.bots.detail(name)
    except Refused as nobody:
        try:
            version = await history.bots.version(name)
        except Refused:
            raise nobody from None
        return await history.bots.detail(version.bot)


async def _figures(setup: Setup, history: History, row: RankedRow, limit: int) -> Figures:
    now = now_ms()
    opponents = (await history.records.opponents(row.venue, row.version))[:limit]
    means = await history.ratings.means(row.venue, row.system, [row.version, *(each.opponent for each in opponents)])
    means = {} if row.venue in page_settings(setup).sandboxes else means
    known = await known_strengths(setup, history, row.venue)
    verdicts = await history.records.verdicts(row.venue, [row.version])
    since = now - _DAYS * _DAY_MS
    presence = await history.bots.presence(row.version, since, now)
    return Figures(
        version=row.version,
        venue=row.venue,
        rating=row,
        opponents=bot_figures.opponents_with_expectation(row.version, opponents, means.get, known),
        verdicts=verdicts,
        colors=bot_figures.color_split(verdicts),
        spoilt=bot_figures.rates(verdicts),
        uptime=bot_figures.uptime(presence, since, now),
    )


def _told(each: Figures) -> dict[str, Any]:
    """The figures, opponents in the API's words."""
    from cgos_server.presentation.answers import opponent

    return msgspec.structs.asdict(each) | {
        "opponents": [opponent(*met) for met in each.opponents],
        "colors": {color: split._asdict() | {"score": split.score} for color, split in each.colors.items()},
        "spoilt": {reason: share._asdict() | {"rate": share.rate} for reason, share in each.spoilt.items()},
    }


def _describe(bot: BotDetail, ratings: list[RankedRow], figures: list[Figures]) -> None:
    until = f" until {moment(bot.until)}" if bot.state == "disabled" and bot.until is not None else ""
    click.echo(f"{bot.name}: {bot.state}{until}{f' ({bot.reason})' if bot.reason else ''}")
    if bot.owner is not None:
        click.echo(f"belongs to {bot.owner}{', who paused it' if bot.paused else ''}")
    for suspension in bot.suspended:
        click.echo(f"{suspension.version} is suspended in {suspension.venue} since {moment(suspension.at)}")
    by_name: dict[str, list[RankedRow]] = {}
    for row in ratings:
        by_name.setdefault(row.version, []).append(row)
    lines: list[tuple[Any, ...]] = []
    for version in sorted(bot.versions, key=lambda each: -each.id):
        seen = last_seen(version.last_seen_at, version.signed_in)
        rated = by_name.get(version.name)
        if not rated:
            lines.append((version.name, version.engine, None, None, None, None, None, seen))
        for row in rated or ():
            shown = words.standing(row)
            lines.append((version.name, version.engine, row.venue, row.system, row.rank, shown, row.games, seen))
    print_table(("version", "engine", "venue", "system", "rank", "rating", "rated games", "last seen (UTC)"), lines)
    if not figures:
        say("No rated games yet.")
    for each in figures:
        _describe_venue(each)


def _describe_venue(each: Figures) -> None:
    click.echo()
    click.echo(f"{each.version} in {each.venue}: signed in {100 * each.uptime:.0f} % of the last {_DAYS} days")
    for color, split in each.colors.items():
        score = "" if split.score is None else f", {100 * split.score:.0f} %"
        click.echo(f"as {color}: {split.won} won, {split.lost} lost, {split.drawn} drawn{score}")
    lost = ", ".join(f"{reason} {100 * share.rate:.1f} %" for reason, share in each.spoilt.items())
    click.echo(f"of all games lost by its own fault: {lost}")
    print_table(
        ("color", "ended by", "outcome", "games"),
        [(row.color, row.reason, row.outcome, row.games) for row in each.verdicts],
    )
    if each.opponents:
        click.echo()
        print_table(
            ("opponent", "games", "won", "lost", "drawn", "as black", "score", "expected", "last game"),
            [
                (
                    row.opponent,
                    row.games,
                    row.wins,
                    row.losses,
                    row.draws,
                    row.as_black,
                    f"{row.score:g}",
                    None if faced.expected is None else f"{faced.expected:.1f}",
                    row.last_game,
                )
                for row, faced in each.opponents
            ],
        )
