"""`cgos-server rate results`: ratings from anybody's results, without a server.

Must not know: how a file is read, how ratings are computed, how a picture is drawn.
"""

from __future__ import annotations

import difflib
import math
import warnings
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import click

from cgos_protocol import intervals
from cgos_protocol.errors import Code, Conflict, Invalid, NotFound
from cgos_protocol.lines.misread import text_of
from cgos_server.cli.common import gathered, json_option, plot_option
from cgos_server.cli.output import print_json, print_table, say
from cgos_server.cli.progress import working
from cgos_server.cli.tournaments.event_files import bytes_of
from cgos_server.core.rating import BradleyTerry, FirstMoverWarning
from cgos_server.core.rating.base import Z95, Outcome
from cgos_server.core.rating.library.findings import remark_on_groups
from cgos_server.lab.drawing import require_drawable
from cgos_server.lab.ratings.pool_pictures import plot as draw_pool
from cgos_server.presentation.words import count, likelihood
from cgos_server.service.ratings.build import one_thread
from cgos_server.tournaments.files.games_list import FirstMover, GamesList, read

_Two = tuple[str, str]


class _Asked(NamedTuple):
    """What is asked besides the standings: pairs of names, and whether the whole matrix is shown."""

    odds: tuple[_Two, ...]
    predict: tuple[_Two, ...]
    matrix: bool


class _Rated(NamedTuple):
    """:ivar points: of each name in all its games"""

    read: GamesList
    pool: BradleyTerry
    points: dict[Hashable, float]


@click.command("results")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@click.option(
    "--odds", type=(str, str), multiple=True, metavar="A B", help="How likely A is stronger than B; may be repeated."
)
@click.option(
    "--predict",
    type=(str, str),
    multiple=True,
    metavar="FIRST SECOND",
    help="What comes of a game in which FIRST moves first; may be repeated.",
)
@click.option("--matrix", is_flag=True, help="Also how likely each is stronger than each other.")
@click.option("--neutral", is_flag=True, help="Nobody moved first, whatever FILE says, and nobody does.")
@click.option(
    "--first",
    type=click.Choice(("black", "white")),
    help="The color that moves first; without it White in PGN and Black in a table.",
)
@click.option(
    "--anchor",
    "anchors",
    multiple=True,
    metavar="NAME=ELO",
    help="NAME's rating is ELO, and the scale hangs on it; may be repeated.",
)
@plot_option
@json_option
@gathered(_Asked)
def results(
    asked: _Asked,
    file: Path,
    neutral: bool,
    first: FirstMover | None,
    anchors: tuple[str, ...],
    plot: Path | None,
    as_json: bool,
) -> None:
    """Ratings of anybody's results in FILE; no server and no database.

    FILE (- is standard input) is a table whose first line names columns (black, white, result; or first, second, score;
    or winner, loser), the headers of games in PGN, or lines such as Alder beat Birch or Alder Birch, the winner first.
    What is what is told from the text. Games without a result, and those decided without play, are left out.

    Ratings are Elo with 95 % intervals, by the engine of the server's headline rating. Without --anchor the mean of all
    is 2000. --plot draws ratings and who is stronger than whom.
    """
    if plot is not None:
        require_drawable(plot)
    one_thread()
    games = read(text_of(Code.RESULTS, bytes_of(file))[0], first=first)
    if not games.games:
        left_out = count(games.unfinished + games.unplayed, "game")
        raise Invalid(Code.RESULTS, f"None of {left_out} has a result that was played for, so nobody can be rated.")
    rated = _rate(games, neutral, anchors)
    for pair in (*asked.odds, *asked.predict):
        _check(pair, list(map(str, rated.pool)))
    if plot is not None:
        draw_pool(rated.pool, plot)
    if as_json:
        print_json(_told(rated, asked, neutral))
    else:
        _print(rated, asked, neutral)


def _rate(games: GamesList, neutral: bool, anchors: Sequence[str]) -> _Rated:
    pool = BradleyTerry()
    points: dict[Hashable, float] = defaultdict(float)
    every = Counter((game.first, game.second, game.score, neutral or game.neutral) for game in games.games)
    for (first, second, score, nobody), number in every.items():
        pool.add(first, second, score, number, neutral=nobody)
        points[first] += number * score
        points[second] += number * (1 - score)
    for anchor in anchors:
        name, _, value = anchor.rpartition("=")
        rating = _elo(anchor, value)
        _check((name,), list(map(str, pool)))
        pool.anchor(name, rating)
    with warnings.catch_warnings(record=True) as caught, working("Computing the ratings"):
        warnings.simplefilter("always", FirstMoverWarning)
        pool.fit()
    if any(issubclass(each.category, FirstMoverWarning) for each in caught):
        say("Whoever moved first has never lost. If FILE names the winner first, add --neutral.")
    return _Rated(games, pool, points)


def _elo(anchor: str, value: str) -> float:
    try:
        rating = float(value)
    except ValueError:
        rating = math.nan
    if not math.isfinite(rating):
        raise click.BadParameter(f"{anchor!r} is not NAME=ELO, such as GnuGo=1800.", param_hint="--anchor")
    return rating


def _check(names: Sequence[str], known: Sequence[str]) -> None:
    """Raises Refused where one of the names has no game, or two are the same."""
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, 3, 0.5)
            hint = f"Did you mean {' or '.join(near)}?" if near else "Give a name as it is in the file."
            raise NotFound(Code.NO_VERSION, f"{name!r} has no game with a result. {hint}")
    if len(set(names)) < len(names):
        raise Conflict(Code.SAME_VERSION, f"{names[0]} cannot be compared with itself. Name another one.")


def _told(rated: _Rated, asked: _Asked, neutral: bool) -> dict[str, Any]:
    """The same as JSON."""
    pool = rated.pool
    standings = [
        {"name": name, "points": rated.points[name]} | asdict(rating) for name, rating in pool.standings().items()
    ]
    groups = pool.groups()
    remark = remark_on_groups(groups)
    return {
        "games": len(rated.read.games),
        "unfinished": rated.read.unfinished,
        "unplayed": rated.read.unplayed,
        "read_as": rated.read.how,
        "groups": [{"size": len(group), "names": group} for group in groups],
        "remarks": [remark] if remark else [],
        "learned": asdict(pool.learned()),
        "standings": standings,
        "odds": [
            {"one": one, "other": other, "superiority": pool.superiority(one, other)}
            | {key: getattr(pool.difference(one, other), key) for key in ("mean", "sd", "lower", "upper")}
            for one, other in asked.odds
        ],
        "predictions": [
            {"first": first, "second": second} | pool.predict(first, second, neutral=neutral)._asdict()
            for first, second in asked.predict
        ],
        "matrix": {
            "names": [row["name"] for row in standings],
            "superior": pool.superiority_matrix(row["name"] for row in standings).tolist(),
        }
        if asked.matrix
        else None,
    }


def _print(rated: _Rated, asked: _Asked, neutral: bool) -> None:
    pool, standings = rated.pool, rated.pool.standings()
    numbers = {"a result": rated.read.unfinished, "play": rated.read.unplayed}
    left_out = "".join(f"; {number} without {what} left out" for what, number in numbers.items() if number)
    say(f"{count(len(rated.read.games), 'game')}{left_out}. {rated.read.how}")
    print_table(
        ("", "name", "rating", "95 %", "games", "points"),
        [
            (
                place,
                name,
                round(rating.mean),
                "anchor" if rating.anchor else intervals.beside(rating.mean, rating.lower, rating.upper),
                rating.games,
                f"{rated.points[name]:g}",
            )
            for place, (name, rating) in enumerate(standings.items(), 1)
        ],
    )
    for sentence in _sentences(rated, neutral):
        click.echo(sentence)
    for one, other in asked.odds:
        probability = likelihood(pool.superiority(one, other), 1)
        click.echo(
            f"{one} is stronger than {other} with probability {probability} %: {pool.difference(one, other)} Elo"
        )
    for first, second in asked.predict:
        click.echo(_foretold(first, second, pool.predict(first, second, neutral=neutral), neutral))
    if asked.matrix:
        click.echo()
        _print_matrix(pool, list(map(str, standings)))


def _sentences(rated: _Rated, neutral: bool) -> list[str]:
    """What was learned."""
    learned = rated.pool.learned()
    remark = remark_on_groups(rated.pool.groups())
    ordered = not neutral and not all(game.neutral for game in rated.read.games)
    return [
        *([remark] if remark else []),
        f"The first move is worth {learned.advantage:+z.0f} ± {Z95 * learned.advantage_sd:.0f} Elo."
        if ordered
        else "Nobody is known to have moved first.",
        f"Equals draw {100 * learned.drawn:.1f} % of their games." if learned.draw else "No game was drawn.",
        f"Strengths within a group have a standard deviation of {learned.width:.0f} Elo.",
    ]


def _foretold(first: str, second: str, game: Outcome, neutral: bool) -> str:
    draws = f", draws {likelihood(game.draw, 1)} %" if game.draw > 0.0005 else ""
    where = "" if neutral else ", moving first,"
    return (
        f"{first}{where} wins {likelihood(game.win, 1)} %{draws}, loses {likelihood(game.loss, 1)} % against {second}"
    )


def _print_matrix(pool: BradleyTerry, names: Sequence[str]) -> None:
    rows = pool.superiority_matrix(names).tolist()
    print_table(
        ("", "name", *map(str, range(1, len(names) + 1))),
        [
            (at, name, *(None if at == other else likelihood(share) for other, share in enumerate(shares, 1)))
            for at, (name, shares) in enumerate(zip(names, rows, strict=True), 1)
        ],
        title="Per cent of probability that the row is stronger than the column",
    )
