"""`cgos-server tournament quality`: what the record of an event shows of its quality.

Must not know: how any figure is computed, how a file is laid out.
"""

from __future__ import annotations

import click

from cgos_server.cli.common import json_option
from cgos_server.cli.output import print_json, print_table, say
from cgos_server.cli.tournament_files import Asked, asking
from cgos_server.core.tournaments import tournament as pure
from cgos_server.core.tournaments.event_quality import MOST_SOLVED, Band, EventQuality, event_quality
from cgos_server.core.tournaments.words import counted


@click.command()
@asking
@json_option
def quality(asked: Asked, as_json: bool) -> None:
    """How well an event went: its places against the ratings, its games, floats and colors.

    Kendall's tau compares the places with the order of the ratings with which the players entered: 1 the same order, -1
    the reverse, about 0 no relation. The total error (Vuorinen 2010, equation 7.1) says how far apart those were who
    met, by the strengths that the results show, in natural-log odds; the root mean square of a game is the figure to
    compare events by. A float is a pair of players with different scores.
    """
    _, event = asked.open(needs_system=False)
    found = event_quality(event, pure.standings(event), pure.scores_before(event))
    if as_json:
        print_json(found)
        return
    _print_whole(found, event.name)
    click.echo()
    print_table(
        ("rating difference", "games", "score of the higher", "expected"),
        [(_band(each), each.games, _decimals(each.score), _decimals(each.expected)) for each in found.bands],
        "Games by rating difference",
    )
    click.echo()
    print_table(
        ("round", "pairs", "floats", "largest float", "color difference"),
        [
            (each.number, each.pairs, each.floats, f"{each.largest_float:g}", each.color_difference)
            for each in found.rounds
        ],
        "Floats and colors by round",
    )
    click.echo()
    print_table(("White less Black", "players"), found.balances, "Balance of colors")
    click.echo()
    print_table(("longest run of a color", "players"), found.streaks, "Streaks of colors")
    if found.unrated or found.uneven:
        uneven, unrated = counted(found.uneven, "game"), counted(found.unrated, "game")
        say(f"In no band: {uneven} with handicap, {unrated} with somebody without a rating.")
    if found.total_error is None:
        say(f"Strengths are computed of {MOST_SOLVED} players at most, so there is no total error.")


def _print_whole(found: EventQuality, title: str) -> None:
    error = found.total_error
    rows: list[tuple[str, object]] = [
        ("players", found.players),
        ("players with a rating", found.rated),
        ("games played", found.games),
        ("Kendall's tau with the ratings", _decimals(found.kendall)),
        ("mean rating difference", None if found.mean_difference is None else f"{found.mean_difference:.0f}"),
        ("total error (7.1)", _decimals(error.e_total if error else None)),
        ("total error, factor inside the root", _decimals(error.inside_root_reading if error else None)),
        ("strength difference of a game, root mean square", _decimals(error.rms_per_game if error else None)),
        ("float pairs", sum(each.floats for each in found.rounds)),
    ]
    print_table(("measure", "value"), rows, title)


def _band(band: Band) -> str:
    return f"{band.low} and more" if band.high is None else f"{band.low} to below {band.high}"


def _decimals(number: float | None) -> str | None:
    return None if number is None else f"{number:.3f}"
