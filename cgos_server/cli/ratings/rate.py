"""`cgos-server rate`: are the published ratings what the results say, which system foretells best, who is stronger.

All of it is computed here from the database, whether a server runs on it or not, and nothing is written; `rate results`
and `rate sprt` need neither. Must not know: the live server, how ratings are computed.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

import click
import msgspec

from cgos_protocol.api.messages import StrengthChange
from cgos_protocol.errors import Code, Conflict, NotFound, Refused
from cgos_protocol.ids import VersionId
from cgos_protocol.intervals import written
from cgos_server.cli.common import Setup, WordOf, configured, json_option, venue_option
from cgos_server.cli.output import apart, print_json, print_table, say
from cgos_server.cli.progress import progress_bar
from cgos_server.cli.ratings.chosen import rated_venues, systems_option
from cgos_server.cli.ratings.compare import compare
from cgos_server.cli.ratings.points import points
from cgos_server.cli.ratings.results import results
from cgos_server.cli.ratings.sprt import sprt
from cgos_server.cli.reading import common_venue, page_settings, read, system_of, venue_terms
from cgos_server.core.rating.bayes.system import Bayes
from cgos_server.core.rating.breaks import looks
from cgos_server.core.rating.registry import ends, systems
from cgos_server.core.venue import Venue
from cgos_server.presentation.answers import after_games
from cgos_server.presentation.words import IN_SANDBOX, changed, count, likelihood, moment
from cgos_server.service.ratings.build import one_thread, this_build
from cgos_server.service.ratings.current_state import caught_up
from cgos_server.service.ratings.odds import Odds, odds
from cgos_server.service.ratings.rating_health import AnchorFinding, check_anchors, check_version, settled
from cgos_server.service.ratings.replaying import Difference, Numbers, Replayed, replay
from cgos_server.storage.reading.answers import RefitRow
from cgos_server.storage.reading.history import History

_REFITS_SHOWN = 20

_system_option = click.option("--system", type=WordOf(lambda: systems().names), help="Under this rating system.")


@click.group()
def rate() -> None:
    """Ratings computed again, compared, checked."""


rate.add_command(points)
rate.add_command(compare)
rate.add_command(sprt)
rate.add_command(results)


@rate.command("replay")
@venue_option
@systems_option
@json_option
@configured
def rate_replay(setup: Setup, venue: str | None, chosen: tuple[str, ...], as_json: bool) -> None:
    """Compute all published ratings again and compare.

    From the numbered results and the recorded refits. Exits with 1 where something differs. Under the build that
    computed them (Python, numpy, BLAS, processor) the numbers must be the same to the last bit, under another one to a
    millionth of an Elo. What an earlier model of a system published is counted and left out.
    """
    replays = read(setup, partial(replay_published, setup, venue=venue, chosen=chosen))
    every = [done for each in replays.values() for done, _ in each]
    if as_json:
        print_json(
            {
                each: [
                    msgspec.structs.asdict(done) | {"exact": done.exact, "agrees": done.agrees} for done, _ in replayed
                ]
                for each, replayed in replays.items()
            }
        )
    elif not every:
        say("Nothing has been rated yet.")
    else:
        print_table(
            ("venue", "system", "entries", "changes", "refits", "points", "differing", "largest", "verdict"),
            [
                (
                    each,
                    done.system,
                    done.entries,
                    done.changes,
                    done.refits,
                    done.points,
                    done.differing,
                    f"{done.largest:.2g}",
                    verdict(done),
                )
                for each, replayed in replays.items()
                for done, _ in replayed
            ],
        )
        for each, replayed in replays.items():
            for done, names in replayed:
                for sentence in _about(each, done, names):
                    say(sentence)
    if not all(done.agrees for done in every):
        sys.exit(1)


async def replay_published(
    setup: Setup, history: History, venue: str | None = None, chosen: Sequence[str] = ()
) -> dict[str, list[tuple[Replayed, dict[VersionId, str]]]]:
    """What was published in each venue by each system, computed again, with the names of the versions."""
    one_thread()
    build = this_build().text
    names = await history.bots.version_names()
    replays: dict[str, list[tuple[Replayed, dict[VersionId, str]]]] = {}
    for each in await rated_venues(setup, history, venue):
        terms = venue_terms(setup, each)
        for name in await _published(history, each, terms, chosen):
            with progress_bar(f"{each}, {name}") as progress:
                done = await replay(history, each, system=system_of(terms, name), build=build, progress=progress)
            replays.setdefault(each, []).append((done, names))
    return replays


@rate.command("check")
@venue_option
@json_option
@configured
def rate_check(setup: Setup, venue: str | None, as_json: bool) -> None:
    """Anchors and versions that do not play like their number.

    An anchor is held against what its games say without its number (a false alarm in one of a thousand looks); a
    version's results against its own past, after 40, 57, 80, 113 ... games: of those that never change one in a hundred
    comes on watch within 320 games, and one in a thousand is flagged.
    """
    one_thread()

    places: dict[str, str] = {}

    async def ask(history: History) -> dict[str, dict[str, Any]]:
        checks: dict[str, dict[str, Any]] = {}
        for each in await rated_venues(setup, history, venue):
            if await history.ledger.last_entry(each):
                checks[each] = await _check(history, each, venue_terms(setup, each))
                places[each] = await after_games(history, each, checks[each]["seq"])
        return checks

    checks = read(setup, ask)
    if as_json:
        print_json(checks)
        return
    for each, checked in checks.items():
        anchors: list[AnchorFinding] = checked["anchors"]
        changes: list[StrengthChange] = checked["changes"]
        alarms = [row.sentence for row in anchors if row.alarm]
        alarms += [f"{changed(change)} {change.proposal}" for change in changes]
        if anchors:
            print_table(
                ("anchor", "stands for", "games say", "deviation", "alarm from"),
                [
                    (
                        row.version,
                        f"{row.value:.0f}",
                        f"{row.mean:.0f} ± {1.96 * row.mean_sd:.0f}",
                        f"{row.z:+z.2f}",
                        f"{row.limit:.2f}",
                    )
                    for row in anchors
                ],
                title=f"{each}, {places[each]}",
            )
        else:
            click.echo(f"{each}, {places[each]}: there are not two anchors that could check each other.")
        for sentence in alarms:
            click.echo(sentence)
        if not alarms:
            click.echo(f"No alarm; {count(checked['versions'], 'version')} with games enough to be checked.")
    if not checks:
        say("There are no results yet.")


@rate.command("odds")
@click.argument("one", metavar="A")
@click.argument("other", metavar="B")
@venue_option
@_system_option
@json_option
@configured
def rate_odds(setup: Setup, one: str, other: str, venue: str | None, system: str | None, as_json: bool) -> None:
    """How likely A is stronger than B, and what comes of a game.

    A and B are versions by their wire names.
    """
    one_thread()

    async def ask(history: History) -> tuple[str, str, int, str, list[Any], Odds]:
        where = await common_venue(setup, history, venue=venue, one=one, other=other)
        if where in page_settings(setup).sandboxes:
            raise Conflict(Code.NOT_RATED, IN_SANDBOX)
        terms = venue_terms(setup, where)
        name = system or terms.rating
        rated = {row.version for row in await history.ratings.standings(where)}
        ids = {label: number for number, label in (await history.bots.version_names()).items() if label in rated}
        for each in (one, other):
            if each not in ids:
                raise _nobody(each, where, sorted(ids))
        if one == other:
            raise Conflict(Code.SAME_VERSION, f"{one} cannot be compared with itself. Name another version.")
        with progress_bar(where) as progress:
            run = await caught_up(history, where, system_of(terms, name), progress)
        ratings = run.system.standings(run.state)
        both = [ratings[ids[one]], ratings[ids[other]]]
        place = await after_games(history, where, run.seq)
        return where, name, run.seq, place, both, odds(run.system, run.state, ids[one], ids[other])

    where, name, seq, place, ratings, outlook = read(setup, ask)
    if as_json:
        who = {"venue": where, "system": name, "seq": seq, "one": one, "other": other}
        print_json(who | msgspec.structs.asdict(outlook))
        return
    click.echo(f"{where}, {name}, {place}")
    for label, rating in zip((one, other), ratings, strict=True):
        click.echo(f"{label}: {written(rating.mean, *ends(name, rating), provisional=rating.provisional)}")
    if outlook.superiority is not None:
        click.echo(f"{one} is stronger than {other} with probability {_percent(outlook.superiority)}")
    interval = "" if outlook.half_width is None else f" ± {outlook.half_width:.0f}"
    click.echo(f"difference: {outlook.difference:+z.0f}{interval} Elo")
    for color, game in (("Black", outlook.as_black), ("White", outlook.as_white)):
        draws = f", {_percent(game.draw)} drawn" if game.draw > 0.0005 else ""
        ahead = "" if game.difference is None else f"; {game.difference:+z.0f} ± {game.half_width:.0f} Elo"
        click.echo(f"{one} as {color} is expected to score {_percent(game.score)}{draws}{ahead}")


@rate.command("refits")
@venue_option
@_system_option
@click.option(
    "--limit", type=click.IntRange(1, 100_000), default=_REFITS_SHOWN, show_default=True, help="At most so many."
)
@json_option
@configured
def rate_refits(setup: Setup, venue: str | None, system: str | None, limit: int, as_json: bool) -> None:
    """The latest recorded refits with what they learned."""

    async def ask(history: History) -> dict[str, list[RefitRow]]:
        refits: dict[str, list[RefitRow]] = {}
        for each in await rated_venues(setup, history, venue):
            for name in (system,) if system else systems().names:
                refits[each] = refits.get(each, []) + await history.refits.recorded(each, name, limit)
        return {each: rows for each, rows in refits.items() if rows}

    refits = read(setup, ask)
    if as_json:
        print_json(refits)
        return
    if not refits:
        say("No refit is recorded.")
    for each, rows in apart(refits.items()):
        print_table(
            ("system", "refit", "at (UTC)", "kind", "counts up to", "put in after", "ms", "learned"),
            [
                (
                    row.system,
                    row.number,
                    moment(row.at),
                    "cold" if row.cold else "warm",
                    row.included,
                    row.applied,
                    f"{row.took_us / 1000:.1f}",
                    _learned(row.notes),
                )
                for row in rows
            ],
            title=each,
        )


async def _published(history: History, venue: str, terms: Venue, systems_named: Sequence[str]) -> list[str]:
    """The systems that published something in a venue, the headline first. Raises Refused where one did not."""
    there = {row.system for row in await history.ratings.standings(venue)}
    for name in systems_named:
        if there and name not in there:
            known = ", ".join(sorted(there))
            raise NotFound(Code.NO_SYSTEM, f"{name} has published nothing in {venue}. What has is: {known}.")
    order = dict.fromkeys((terms.rating, *terms.views, *systems().names))
    return [name for name in order if name in there and (not systems_named or name in systems_named)]


def verdict(done: Replayed) -> str:
    """`same bits`, `same`, `differs` or `earlier model`."""
    if done.earlier_model is not None and not (done.changes or done.points or done.stopped):
        return "earlier model"
    return "same bits" if done.exact else "same" if done.agrees else "differs"


def _about(venue: str, done: Replayed, names: dict[VersionId, str]) -> list[str]:
    """What a replay found amiss, as sentences."""
    sentences = []
    if done.stopped:
        sentences.append(f"the replay could not go on. {done.stopped}")
    if done.first is not None:
        sentences.append(f"the first difference is {_where(done.first, names)}.")
    if done.paths:
        sentences.append(f"{done.paths} refits learned something else than is recorded.")
    sentences += [
        f"ratings were computed by {plugin}; {done.plugin} is installed now."
        for plugin in done.plugins
        if plugin != done.plugin
    ]
    if done.earlier_model is not None:
        until = "all of it" if done.earlier_until is None else f"up to entry {done.earlier_until}"
        published = f"{count(done.earlier_changes, 'published change')} and {count(done.earlier_refits, 'refit')}"
        sentences.append(
            f"{published}, {until}, are of model {done.earlier_model}, an earlier one. This program cannot compute "
            "them again, and left them out."
        )
    others = sorted(set(done.builds) - {done.build})
    sentences += [f"{done.builds[build]} refits were computed by another build: {build}." for build in others]
    this_one = [f"This build: {done.build}."] if others or not done.exact else []
    return [f"{venue}, {done.system}: {sentence}" for sentence in sentences] + this_one


def _where(first: Difference, names: dict[VersionId, str]) -> str:
    place = f"at entry {first.seq}" if first.refit is None else f"after refit {first.refit} (at entry {first.seq})"
    who = names.get(first.version, f"version {first.version}")
    if first.published is None or first.computed is None:
        side = "published and not computed" if first.computed is None else "computed and not published"
        return f"{place}, {who}: a change was {side}"
    one, two = first.published, first.computed
    games = "" if one.games == two.games else f" and {two.games} games, not {one.games}"
    return f"{place}, {who}: published {_digits(one)}, computed {_digits(two)}{games}"


def _digits(rating: Numbers) -> str:
    ends = "" if rating.lower is None else f", from {rating.lower!r} to {rating.upper!r}"
    return f"{rating.mean!r} (spread {rating.spread!r}{ends})"


async def _check(history: History, venue: str, terms: Venue) -> dict[str, Any]:
    system = system_of(terms, "bayes")
    assert isinstance(system, Bayes)
    with progress_bar(f"{venue}, ratings") as progress:
        run = await caught_up(history, venue, system, progress)
    names = await history.bots.version_names()
    enough = [version for version, rating in run.ratings.items() if looks(rating.games)]

    async def check(version: VersionId, without: Collection[VersionId] = ()) -> StrengthChange | None:
        return check_version(
            names[version],
            version,
            await history.changes.games(names[version], venue),
            venue=venue,
            predict=lambda black, white: system.predict(run.state, black, white),
            ratings=run.ratings,
            sure=system.sure,
            without=without,
        )

    changes: dict[VersionId, StrengthChange] = {}
    with progress_bar(f"{venue}, versions") as progress:
        for done, version in enumerate(enough, 1):
            change = await check(version)
            if change is not None:
                changes[version] = change
            progress(done, len(enough))
    still = sorted((await settled(changes, check)).values(), key=lambda change: change.version)
    anchors = check_anchors(system.anchor_residuals(run.state), names, venue)
    return {"seq": run.seq, "anchors": anchors, "versions": len(enough), "changes": still}


def _nobody(name: str, venue: str, known: Sequence[str]) -> Refused:
    near = difflib.get_close_matches(name, known, 3, 0.5)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"See: cgos-server standings --venue {venue}"
    return NotFound(Code.NO_VERSION, f"{name} is not rated in {venue}. {hint}")


def _percent(share: float) -> str:
    return f"{likelihood(share, 1)} %"


def _learned(notes: Any) -> str:
    """The hyperparameters of a refit in one line."""
    if not isinstance(notes, dict):
        return ""
    words = []
    of_links = ("mean_step", "step", "fresh") if notes.get("links") else ()
    equals = ("equals",) if notes.get("equals") else ()
    for key in ("s", "w", *equals, *of_links, "advantage", "draw"):
        given = notes.get(key)
        if isinstance(given, list):
            words.append(f"{key} {' '.join(f'{each:.2f}' for each in given)}")
        elif isinstance(given, int | float):
            words.append(f"{key} {given:.3g}")
    return ", ".join(words)
