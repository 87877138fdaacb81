"""`cgos-server event rehearse`: how long an event will take.

Must not know: how it is computed.
"""

from __future__ import annotations

from typing import NamedTuple

import click

from cgos_protocol.api.event_forecast import EventForecast, ForecastMoment
from cgos_server.cli.common import Setup, configured, gathered, json_option
from cgos_server.cli.output import print_json, print_table, say
from cgos_server.cli.progress import progress_bar
from cgos_server.cli.reading import now_ms, page_settings, read
from cgos_server.presentation.events.reading import ReadEvents
from cgos_server.presentation.events.record import EventRecord
from cgos_server.presentation.events.rehearsing import Prepared, Wishes, answer, prepared, rehearse
from cgos_server.presentation.words import duration, moment
from cgos_server.storage.reading.history import History
from cgos_server.tournaments.running.settings import MOST_ENTRANTS

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
