"""`cgos-server rate compare`: which rating system foretells a venue's results best, as tables, JSON and a picture.

Must not know: how a comparison is made, how a picture is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import click

from cgos_protocol.errors import Code, Invalid
from cgos_server.cli.common import Setup, configured, json_option, plot_option, venue_option
from cgos_server.cli.output import apart, print_json, print_table, say
from cgos_server.cli.progress import progress_bar
from cgos_server.cli.ratings.chosen import rated_venues, systems_option
from cgos_server.cli.reading import read, system_of, venue_terms
from cgos_server.core.rating.base import Z95
from cgos_server.core.rating.registry import systems
from cgos_server.lab.drawing import draw, require_drawable
from cgos_server.lab.report import Chart, Line, Mean, Report, line_of
from cgos_server.presentation.words import count
from cgos_server.service.ratings import comparing
from cgos_server.service.ratings.build import one_thread
from cgos_server.service.ratings.comparing import KNOWN, Compared, Scored
from cgos_server.storage.reading.history import History

_DIAGONAL: Final = Line(name="as predicted", x=(0.0, 1.0), y=(0.0, 1.0), dashed=True)


@click.command()
@venue_option
@systems_option
@json_option
@plot_option
@configured
def compare(setup: Setup, venue: str | None, chosen: tuple[str, ...], as_json: bool, plot: Path | None) -> None:
    """How well each system foretells the results.

    Every game is predicted before it is seen, by every system. The lower the log loss the better; a coin has 0.6931.
    Without --system all are compared. Games that repeat an earlier one move by move are not counted, nor are void ones.
    --plot draws what Black scored against what was predicted, a tenth of 0 to 1 a point, and the log losses, with 95 %
    bars.
    """
    if plot is not None:
        require_drawable(plot)
    one_thread()

    async def ask(history: History) -> dict[str, Compared]:
        comparisons: dict[str, Compared] = {}
        for each in await rated_venues(setup, history, venue):
            terms = venue_terms(setup, each)
            every = list(dict.fromkeys(chosen or (terms.rating, *terms.views, *systems().usable)))
            if await history.ledger.last_entry(each):
                with progress_bar(each) as progress:
                    comparisons[each] = await comparing.compare(
                        history, each, [system_of(terms, name) for name in every], progress
                    )
        return comparisons

    comparisons = read(setup, ask)
    with_games = {each: done for each, done in comparisons.items() if done.games}
    if plot is not None:
        if not with_games:
            raise Invalid(Code.PICTURE, "There are no results yet, so there is nothing to draw.")
        draw(Report(tables=(), pictures=charts(with_games)), plot)
    if as_json:
        print_json(comparisons)
        return
    if not with_games:
        say("There are no results yet.")
    for each, done in apart(with_games.items()):
        _print(each, done)


def _print(venue: str, done: Compared) -> None:
    first = done.systems[0].system
    print_table(
        ("system", "log loss", "squared", f"log loss from {KNOWN} games on", f"behind {first}"),
        [
            (
                row.system,
                f"{row.log_loss:.4f}",
                f"{row.squared:.4f}",
                None if row.known_log_loss is None else f"{row.known_log_loss:.4f}",
                f"{row.behind:+.4f} ± {Z95 * row.behind_error:.4f}" if row.system != first else None,
            )
            for row in done.systems
        ],
        title=f"{venue}: {count(done.games, 'game')}, in {done.known} of them both had played {KNOWN}",
    )


def charts(comparisons: Mapping[str, Compared]) -> tuple[Chart, ...]:
    """Calibration and log losses of each venue, of which at least one game was predicted."""
    return tuple(
        chart
        for venue, done in comparisons.items()
        for chart in (
            Chart(
                key="calibration",
                title=f"{venue}: what came of {count(done.games, 'prediction')}",
                x_label="expected score of Black",
                y_label="score of Black",
                lines=(*map(_calibration, done.systems), _DIAGONAL),
            ),
            _losses(venue, done.systems),
        )
    )


def _calibration(row: Scored) -> Line:
    """A tenth a point, with what may stand there by chance."""
    tenths = [tenth for tenth in row.tenths if tenth.games]
    scored = [Mean(tenth.scored, tenth.error) for tenth in tenths]
    return line_of(row.system, [tenth.expected for tenth in tenths], scored, errors=Z95, points=True)


def _losses(venue: str, rows: list[Scored]) -> Chart:
    """The bars are those of the differences to the first system, of which the log losses themselves say little."""
    first, at = rows[0], tuple(map(float, range(len(rows))))
    return Chart(
        key="loss",
        title=f"{venue}: log loss, with bars of the difference to {first.system}",
        x_label="",
        y_label="nats a game",
        lines=(
            line_of("log loss", at, [Mean(row.log_loss, row.behind_error) for row in rows], errors=Z95, points=True),
            Line(name=first.system, x=at, y=(first.log_loss,) * len(rows), dashed=True),
        ),
        names=tuple(row.system for row in rows),
    )
