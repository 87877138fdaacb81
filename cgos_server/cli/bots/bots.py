"""`cgos-server bots`, `bot` and `token`: who may play.

What changes something is declared by its command. Must not know: how it is done.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import click
import msgspec

from cgos_protocol.api.figures import Ending
from cgos_protocol.api.people import TranscriptLine
from cgos_protocol.errors import Code, NotFound, Refused
from cgos_protocol.ids import BotId
from cgos_server.assembly.reaching import transcripts_of
from cgos_server.cli.bots.personal import bot_export
from cgos_server.cli.commands.declared import add_declared
from cgos_server.cli.common import Setup, configured, game_number, json_option, venue_option
from cgos_server.cli.output import print_json, print_list, print_table, say, shown, when
from cgos_server.cli.reading import headline, known_strengths, now_ms, page_settings, read
from cgos_server.presentation import transcript_lines, words
from cgos_server.presentation.answers import published
from cgos_server.presentation.words import last_seen, moment
from cgos_server.service import bot_figures
from cgos_server.service.nodes.commands import LinesRequest
from cgos_server.storage.reading.answers import BotDetail, BotRow, RankedRow
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
    click.echo("all games, unrated ones too:")
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


@click.command()
@click.argument("name")
@click.option("--game", type=game_number, metavar="GAME", help="Only what is about this game.")
@click.option(
    "--limit", type=click.IntRange(1, 100_000), default=1000, show_default=True, help="The last so many lines."
)
@json_option
@configured
def transcript(setup: Setup, name: str, game: int | None, limit: int, as_json: bool) -> None:
    """What the bot NAME and the server said to each other.

    As long as transcripts are kept. Each line with the time of day (UTC), the seconds since the line before, and whose
    it is: < the bot's, > the server's. Passwords are masked.
    """
    bot = read(setup, lambda history: history.bots.detail(name))
    wanted = LinesRequest(bot=BotId(bot.id), game=game, limit=limit)
    lines, missing = asyncio.run(transcripts_of(setup.config).lines(wanted))
    if missing:
        say(f"What these nodes wrote down is missing, as they do not answer: {', '.join(missing)}.")
    if as_json:
        print_json(published(lines, list[TranscriptLine]))
        return
    if not lines:
        say("Nothing is kept of it.")
    for line in transcript_lines.as_text(lines).splitlines():
        click.echo(shown(line))


@click.command()
@click.argument("name", required=False)
@click.option("--address", metavar="ADDRESS", help="Only from exactly this address; without NAME whoever it was.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="At most so many.")
@json_option
@configured
def connections(setup: Setup, name: str | None, address: str | None, limit: int, as_json: bool) -> None:
    """When the bot NAME, or a version, was signed in; without NAME all bots.

    Newest first, with where it came from and why it went.
    """
    rows = read(setup, lambda history: history.bots.connections(name, address=address, limit=limit))
    print_list(
        rows,
        {
            "connection": lambda row: row.id,
            "version": lambda row: row.version,
            "venue": lambda row: row.venue,
            "from (UTC)": lambda row: moment(row.opened_at),
            "to (UTC)": lambda row: when(row.closed_at),
            "address": lambda row: row.address,
            "client": lambda row: row.client,
            "ended": lambda row: row.reason,
        },
        as_json=as_json,
    )


"""They are added to the group `bot`."""


@click.command()
@json_option
@configured
def bots(setup: Setup, as_json: bool) -> None:
    """All registered bots."""
    rows = read(setup, lambda history: history.bots.page())
    print_list(
        rows,
        {
            "bot": lambda row: row.name,
            "state": _state,
            "owner": lambda row: row.owner,
            "tokens": lambda row: row.tokens,
            "registered (UTC)": lambda row: moment(row.created_at),
            "last seen (UTC)": lambda row: last_seen(row.last_seen_at, row.signed_in),
            "versions": lambda row: ", ".join(version for version in row.versions if version != row.name),
            "reason": lambda row: row.reason,
        },
        as_json=as_json,
    )
    for row in () if as_json else rows:
        for suspension in row.suspended:
            click.echo(
                f"{suspension.version} is suspended in {suspension.venue} since {moment(suspension.at)}: "
                f"{suspension.spoilt} games in a row went wrong on its side, the last one was {suspension.reason}."
            )


def _state(row: BotRow) -> str:
    """What a bot may do: the end of a ban, and whether its owner has paused it, besides its state."""
    until = f" until {moment(row.until)}" if row.state == "disabled" and row.until is not None else ""
    return f"{row.state}{until}{', paused' if row.paused else ''}"


@click.group()
def bot() -> None:
    """Show, add, shut out, take back a bot; its password."""


for _command in (transcript, connections, bot_show, bot_export):
    bot.add_command(_command)
add_declared(bot)


# -- tokens


@click.group()
def token() -> None:
    """Make, list and revoke bots' tokens.

    A token is the fast way to sign in; it is accepted where a password is asked.
    """


@token.command("list")
@click.argument("name")
@json_option
@configured
def token_list(setup: Setup, name: str, as_json: bool) -> None:
    """The tokens of the bot NAME, without their texts."""
    print_list(
        read(setup, lambda history: history.bots.tokens(name)),
        {
            "token": lambda row: row.id,
            "label": lambda row: row.label,
            "made (UTC)": lambda row: moment(row.created_at),
            "revoked (UTC)": lambda row: when(row.revoked_at),
        },
        as_json=as_json,
    )


add_declared(token)
