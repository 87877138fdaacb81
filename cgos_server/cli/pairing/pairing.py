"""`cgos-server pairing`: why two bots met, what would be paired now, how pairing has been.

`explain` and `stats` read the database; `preview` is declared, and asks the running server. Must not know: how pairs
are made.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import click

from cgos_protocol.api.games import Partner, Ready, RoundDetail
from cgos_protocol.errors import Code, Conflict
from cgos_protocol.ids import GameId
from cgos_server.cli.commands.declared import add_declared
from cgos_server.cli.common import (
    Setup,
    configured,
    game_number,
    json_option,
    venue_option,
)
from cgos_server.cli.output import apart, in_words, print_json, print_table, say
from cgos_server.cli.reading import read, venues_asked
from cgos_server.presentation.explaining import explain_unpaired
from cgos_server.presentation.words import count, moment
from cgos_server.service.pairing.explained import PARTNERS, explain, order_in_words
from cgos_server.service.pairing.statistics import PairingStats, Spread, statistics
from cgos_server.storage.reading.history import History

_READY_SHOWN = 60
"""Of those who were ready so many are shown; ``--all`` and ``--json`` have all."""

_BAR = 40
"""Characters of the longest bar."""


@click.group()
def pairing() -> None:
    """Why two bots met, who would meet now, and statistics."""


# -- explain


@pairing.command("explain")
@click.argument("game", type=game_number, required=False)
@click.option("--round", "number", type=game_number, metavar="ROUND", help="A whole round, by its number.")
@click.option("--all", "everybody", is_flag=True, help="All whom the two could have met, and all who were ready.")
@json_option
@configured
def explain_command(setup: Setup, game: GameId | None, number: int | None, everybody: bool, as_json: bool) -> None:
    """Why the two of GAME met, or how a whole round was paired.

    What was decided from what: who was ready, how long each had waited, whom the two could have met. Then the round is
    decided once more from its record, and compared. `show GAME` names its round.
    """
    if (game is None) == (number is None):
        raise click.UsageError("Give the number of a game, or --round and the number of a round.")

    async def ask(history: History) -> RoundDetail:
        which = number
        if game is not None:
            detail = await history.games.detail(game)
            if detail.pairing is None:
                raise Conflict(Code.NOT_PAIRED, await explain_unpaired(history, detail))
            which = detail.pairing.round
        assert which is not None
        partners = None if everybody or as_json else PARTNERS
        return explain(await history.pairings.round(which), await history.bots.version_names(), game, partners=partners)

    explained = read(setup, ask)
    if as_json:
        print_json(explained)
    else:
        _show_explained(explained, None if everybody else _READY_SHOWN)


def _show_explained(explained: RoundDetail, ready: int | None) -> None:
    click.echo(
        f"round {explained.round} (number {explained.number} of {explained.venue}), {moment(explained.at)} (UTC): "
        f"{explained.policy}, {explained.method}"
    )
    if explained.options:
        click.echo(f"options: {in_words(explained.options)}")
    click.echo(f"random seed {explained.seed}")
    if explained.game is not None:
        click.echo()
        click.echo(f"game {explained.game.game}: {explained.game.black} (Black) - {explained.game.white} (White)")
        click.echo(explained.game.reason)
        click.echo(f"colors: {explained.game.colors}")
    for name, partners in explained.partners.items():
        click.echo()
        _show_partners(name, partners, explained)
    if explained.ready:
        click.echo()
        _show_ready(explained.ready, ready)
    if explained.game is None and explained.pairs:
        click.echo()
        for pair in explained.pairs:
            click.echo(f"game {pair.game}, {pair.black} (Black) - {pair.white} (White): {pair.reason} {pair.colors}")
    for title, sentences in (("unpaired", explained.sits_out.values()), ("noted", explained.notes)):
        if sentences:
            click.echo()
            click.echo(f"{title}:")
            for sentence in sentences:
                click.echo(f"  {sentence}")
    click.echo()
    click.echo(explained.replay.sentence)


def _show_partners(name: str, partners: Sequence[Partner], explained: RoundDetail) -> None:
    assert explained.game is not None
    chosen = explained.game.low if name == explained.game.high else explained.game.high
    print_table(
        ("", "opponent", "rating", "expected", "worth", "costs", "met", "kept apart"),
        [
            (
                "*" if one.name == chosen else " ",
                one.name,
                round(one.rating),
                f"{one.expected:.2f}",
                None if one.worth is None else f"{one.worth:.3f}",
                f"{one.costs:.3f}",
                "this game" if one.name == chosen else one.met,
                one.kept if not one.possible else f"({one.kept})" if one.kept else None,
            )
            for one in partners
        ],
        title=f"whom {name} could have met, {order_in_words(partners)}",
    )


def _show_ready(ready: Sequence[Ready], most: int | None) -> None:
    print_table(
        (
            "ready",
            "rating",
            "\N{PLUS-MINUS SIGN}",
            "games",
            "waited (s)",
            "sat out",
            "balance",
            "last met",
            "met now",
            "game",
        ),
        [
            (
                one.name,
                f"{round(one.rating)}{'?' if one.provisional else ''}{' anchor' if one.anchor else ''}",
                round(1.96 * one.sd) if one.sd else None,
                one.games or None,
                f"{one.waited_s:.1f}",
                one.sat_out,
                one.balance,
                one.last_opponent,
                one.met,
                one.game,
            )
            for one in ready[:most]
        ],
    )
    if most is not None and len(ready) > most:
        click.echo(f"and {len(ready) - most} more: see --all")


# -- stats


@pairing.command("stats")
@venue_option
@click.option("--last", type=click.IntRange(1, 100_000), metavar="N", help="The latest N games (1000 without --since).")
@click.option("--since", type=click.DateTime(), metavar="TIME", help="Games since TIME (UTC), as 2026-01-31.")
@json_option
@configured
def stats(setup: Setup, venue: str | None, last: int | None, since: datetime.datetime | None, as_json: bool) -> None:
    """How pairing has been: who met whom, waits, time in games.

    Distribution of rating gaps and waits, repeated opponents, colors, bits a game, and who played how much.
    """
    begin = None if since is None else int(since.replace(tzinfo=datetime.UTC).timestamp() * 1000)
    most = 1_000 if last is None and since is None else last

    async def ask(history: History) -> dict[str, PairingStats]:
        return {name: await statistics(history, name, most, begin) for name in await venues_asked(history, venue)}

    by_venue = read(setup, ask)
    if as_json:
        print_json(by_venue)
        return
    played = [each for each in by_venue.values() if each.games]
    if not played:
        say("No games were paired in that time.")
    for each in apart(played):
        _show_stats(each)


def _show_stats(figures: PairingStats) -> None:
    click.echo(
        f"{figures.venue}: {count(figures.games, 'game')} in {count(figures.rounds, 'round')}, "
        f"{moment(figures.since)} to {moment(figures.until)} (UTC)"
    )
    others = f"{figures.in_events} by events, {figures.for_questions} by questions, {figures.arranged} by an operator"
    click.echo(f"paired by {_counts(figures.methods) or 'nobody'}; {others}")
    for what, share in (
        ("time in games", figures.in_games),
        ("games against the opponent of the game before", figures.again),
    ):
        click.echo(f"{what}: {_percent(share)}")
    if figures.most is not None:
        name, opponent, share = figures.most
        click.echo(f"most often together: {_percent(share)} of the last games of {name} were against {opponent}")
    worst = max(figures.versions, key=lambda one: abs(2 * one.black - one.games), default=None)
    if worst is not None:
        click.echo(f"colors: the worst is {worst.name}, Black in {worst.black} of {worst.games} games")
    if figures.opened:
        click.echo(f"with an opening: {figures.opened}")
    gave_way = _counts(figures.gave_way) or "nothing"
    click.echo(f"stayed unpaired though ready: {figures.sat_out} times; gave way: {gave_way}")
    for title, spread, unit, digits in (
        ("rating gap", figures.gaps, "Elo", 0),
        ("waited", figures.waits, "s", 1),
        ("expected score of the better one", figures.expected, "", 2),
        ("information of a game", figures.bits, "bit", 2),
    ):
        if spread.count:
            click.echo()
            _show_spread(title, spread, unit, digits)
    click.echo()
    print_table(
        (
            "bot",
            "games",
            "Black",
            "opponents",
            "same again",
            "most often",
            "share",
            "sat out",
            "waited (s)",
            "in games",
        ),
        [
            (
                one.name,
                one.games,
                one.black,
                one.opponents,
                _percent(one.again),
                one.most,
                _percent(one.most_share) if one.most else None,
                one.sat_out,
                None if one.wait_s is None else f"{one.wait_s:.1f}",
                _percent(one.in_games),
            )
            for one in figures.versions
        ],
    )


def _show_spread(title: str, spread: Spread, unit: str, digits: int) -> None:
    mean, median, p90, largest = (
        f"{value:.{digits}f}" for value in (spread.mean, spread.median, spread.p90, spread.largest)
    )
    what = f"{title} ({unit})" if unit else title
    click.echo(f"{what}: mean {mean}, median {median}, 90 % up to {p90}, largest {largest}")
    most = max(each.count for each in spread.bins)
    shown = [each for each in spread.bins if each.count]
    last = max(spread.bins.index(each) for each in shown)
    for each in spread.bins[: last + 1]:
        span = f"{each.low:g} and more" if each.high is None else f"{each.low:g} to {each.high:g}"
        bar = "\N{FULL BLOCK}" * max(1 if each.count else 0, round(_BAR * each.count / most))
        click.echo(f"  {span:>14}  {each.count:6}  {bar}".rstrip())


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{word} {count}" for word, count in counts.items())


def _percent(share: float | None) -> str | None:
    return None if share is None else f"{100 * share:.0f} %"


add_declared(pairing)
