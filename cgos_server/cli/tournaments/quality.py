"""`cgos-server tournament quality`: what the record of an event shows of its quality.

Must not know: how any figure is computed, how a file is laid out.
"""

from __future__ import annotations

import click

from cgos_server.cli.common import json_option
from cgos_server.cli.output import print_json, print_table, say
from cgos_server.cli.tournaments.event_files import EventChoice, event_options
from cgos_server.tournaments import tournament as pure
from cgos_server.tournaments.standings.event_quality import MOST_SOLVED, Band, EventQuality, event_quality
from cgos_server.tournaments.systems.from_starts import scores_before
from cgos_server.tournaments.words import counted


@click.command()
@event_options
@json_option
def quality(chosen: EventChoice, as_json: bool) -> None:
    """How well an event went: its places against the ratings, its games, floats and colors.

    Kendall's tau compares the places with the order of the ratings with which the players entered: 1 the same order, -1
    the reverse, about 0 no relation. The total error (Vuorinen 2010, equation 7.1) says how far apart those were who
    met, by the strengths that the results show, in natural-log odds; the root mean square of a game is the figure to
    compare events by. A float is a pair of players with different scores.
    """
    _, event = chosen.open(needs_system=False)
    figures = event_quality(event, pure.standings(event), scores_before(event, pure.system_of(event)))
    if as_json:
        print_json(figures)
        return
    _print_whole(figures, event.name)
    click.echo()
    print_table(
        ("rating difference", "games", "score of the higher", "expected"),
        [(_band(each), each.games, _decimals(each.score), _decimals(each.expected)) for each in figures.bands],
        "Games by rating difference",
    )
    click.echo()
    print_table(
        ("round", "pairs", "floats", "largest float", "color difference"),
        [
            (each.number, each.pairs, each.floats, f"{each.largest_float:g}", each.color_difference)
            for each in figures.rounds
        ],
        "Floats and colors by round",
    )
    click.echo()
    print_table(("White less Black", "players"), figures.balances, "Balance of colors")
    click.echo()
    print_table(("longest run of a color", "players"), figures.streaks, "Streaks of colors")
    if figures.unrated or figures.uneven:
        uneven, unrated = counted(figures.uneven, "game"), counted(figures.unrated, "game")
        say(f"In no band: {uneven} with handicap, {unrated} with somebody without a rating.")
    if figures.total_error is None:
        say(f"Strengths are computed of {MOST_SOLVED} players at most, so there is no total error.")


def _print_whole(figures: EventQuality, title: str) -> None:
    error = figures.total_error
    rows: list[tuple[str, object]] = [
        ("players", figures.players),
        ("players with a rating", figures.rated),
        ("games played", figures.games),
        ("Kendall's tau with the ratings", _decimals(figures.kendall)),
        ("mean rating difference", None if figures.mean_difference is None else f"{figures.mean_difference:.0f}"),
        ("total error (7.1)", _decimals(error.e_total if error else None)),
        ("total error, factor inside the root", _decimals(error.inside_root_reading if error else None)),
        ("strength difference of a game, root mean square", _decimals(error.rms_per_game if error else None)),
        ("float pairs", sum(each.floats for each in figures.rounds)),
    ]
    print_table(("measure", "value"), rows, title)


def _band(band: Band) -> str:
    return f"{band.low} and more" if band.high is None else f"{band.low} to below {band.high}"


def _decimals(number: float | None) -> str | None:
    return None if number is None else f"{number:.3f}"
