"""A bot: its ratings in all venues and how they came there, whom it met, how its games ended, when it was there.

Must not know: SQL, the live server.
"""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import quote

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from cgos_protocol.api.figures import Ending as VerdictRow
from cgos_protocol.api.messages import RatingPoint, Version, VersionLink
from cgos_server.presentation.questions.reading import Wanted
from cgos_server.presentation.words import MANY_GAMES, loose_scale
from cgos_server.service import bot_figures
from cgos_server.storage.reading.answers import ChangeRow, RankedRow
from cgos_server.storage.reading.game_answers import GameFilter, OpponentRow
from cgos_server.web.drawing.band_svg import Mark, Point, band_svg
from cgos_server.web.drawing.uptime_svg import uptime_svg
from cgos_server.web.events.listing import of_bot
from cgos_server.web.pages.requests import DAY_MS, Systems, bot_of, with_query
from cgos_server.web.questions.listing import rows_of
from cgos_server.web.site import Pages, Site

CHANGES: Final = 20
"""Latest changes of a rating that are shown."""

OPPONENTS: Final = 20
"""Opponents that are shown unless all are asked for."""

VERSIONS: Final = 30
"""Of a bot's versions the latest so many are shown."""

RELATIVES: Final = 20
"""Other bots of its family that are shown."""

_LOOKED_AT: Final = 300
"""Of a bot's versions the latest so many are looked at for ratings."""

GAMES: Final = 15
EVENTS: Final = 10
"""Latest events that are shown."""

QUESTIONS: Final = 5
"""Latest questions about it that are shown."""

_POINTS: Final = 300
_UPTIME_DAYS: Final = (7, 30)
_SPOILT_MUCH: Final = 0.02
"""Share of games lost on time or by illegal moves from which on it is a warning: our choice."""


class Ending(NamedTuple):
    """How many games ended by one reason."""

    reason: str
    won: int
    lost: int
    drawn: int
    none: int
    share: float
    bad: bool


class Figures(NamedTuple):
    """A version in one venue."""

    venue: str
    system: str
    band: Markup | None
    over_time: bool
    opponents: list[tuple[OpponentRow, bot_figures.Faced]]
    met: int
    colors: dict[str, bot_figures.ColorSplit]
    endings: list[Ending]
    changes: list[ChangeRow]
    loose: str


class Uptime(NamedTuple):
    """How much of the last days a version was signed in."""

    days: int
    share: float
    strip: Markup


async def show(site: Site, request: Request) -> Response:
    """A bot's or a version's page."""
    name = request.path_params["name"]
    history = site.history
    bot = await bot_of(site, name)
    latest = sorted(bot.versions, key=lambda version: -version.id)
    # A bot that always says its version has one more by its bare name, which never came.
    there = [each for each in latest if each.last_seen_at is not None] or latest
    named = next((each for each in latest if each.name == name), None)
    ratings = await history.ratings.ranked([each.name for each in there[:_LOOKED_AT]])
    rated = {row.version for row in ratings}
    version = named
    if named is None or (named not in there and name == bot.name):
        version = next((each for each in there if each.name in rated), next(iter(there), None))
    # Those that are rated are shown before newer ones that have not played.
    shown = sorted(there, key=lambda each: (each is not version, each.name not in rated, -each.id))[:VERSIONS]
    shown.sort(key=lambda each: -each.id)
    if version is not None and version.name not in rated and version not in there[:_LOOKED_AT]:
        ratings += await history.ratings.ranked([version.name])
    ratings = [row for row in ratings if row.version in {each.name for each in shown}]
    relatives = await history.bots.relatives(bot.name)
    headlines = Systems(site).headlines(ratings)
    own = [row for row in ratings if version and row.version == version.name and row.system == headlines[row.venue]]
    wanted = request.query_params.get("venue")
    if wanted and wanted not in headlines:
        raise HTTPException(404, "This bot is not rated in a venue of this name.")
    there_most = sorted(own, key=lambda row: (row.venue != wanted, -row.games))[:1]
    figures = None
    if version is not None and there_most:
        figures = await _figures(site, request, there_most[0], bot.versions)
    now = site.now_ms()
    events, entered = await of_bot(site, bot.name, EVENTS)
    return site.render(
        "bot.html",
        bot=bot,
        name=name,
        base=site.address(request),
        version=version,
        versions=shown,
        all_versions=len(there),
        relatives=relatives[:RELATIVES],
        more_relatives=max(0, len(relatives) - RELATIVES),
        events=events,
        more_events=max(0, entered - EVENTS),
        ratings=ratings,
        headlines=headlines,
        several=len({row.system for row in ratings}) > 1,
        questions=(await rows_of(site, Wanted(bot=name), QUESTIONS))[0],
        strength_changes=await site.strength_changes.of([each.name for each in shown]),
        figures=figures,
        venues=[row.venue for row in own],
        all_opponents=with_query(request, opponents="all"),
        by_time=with_query(request, over=None),
        by_games=with_query(request, over="games"),
        games=await site.visible_rows(await history.games.find(GameFilter(bot=name), GAMES)),
        own=[each.name for each in bot.versions],
        uptimes=[] if version is None else await _uptimes(site, version, now),
        links=[] if version is None else by_predecessor(await history.ledger.predecessors([version.id])),
        badge=None if figures is None or version is None else _badge(figures.venue, version.name),
    )


async def _figures(site: Site, request: Request, row: RankedRow, versions: list[Version]) -> Figures:
    """The figures of the version of `row` in its venue."""
    history = site.history
    over_time = request.query_params.get("over") != "games"
    points = await history.changes.band(row.venue, row.version, row.system, _POINTS)
    opponents = await history.records.opponents(row.venue, row.version)
    some = opponents if request.query_params.get("opponents") == "all" else opponents[:OPPONENTS]
    means = await history.ratings.means(row.venue, row.system, [row.version, *(each.opponent for each in some)])
    means = {} if row.venue in site.settings.sandboxes else means
    known = await site.strengths.venue(row.venue)
    verdicts = await history.records.verdicts(row.venue, [row.version])
    doubtful = row.provisional and row.games >= MANY_GAMES
    return Figures(
        venue=row.venue,
        system=row.system,
        band=_band(row, points, over_time, versions),
        over_time=over_time,
        opponents=bot_figures.opponents_with_expectation(row.version, some, means.get, known),
        met=len(opponents),
        colors=bot_figures.color_split(verdicts),
        endings=endings(verdicts),
        changes=(await history.changes.latest(row.version, row.venue, CHANGES, row.system))[::-1],
        loose=loose_scale(await history.ratings.standings(row.venue, row.system)) if doubtful else "",
    )


async def _uptimes(site: Site, version: Version, now: int) -> list[Uptime]:
    rows = await site.history.bots.presence(version.name, now - _UPTIME_DAYS[-1] * DAY_MS, now)
    uptimes = []
    for days in _UPTIME_DAYS:
        since = now - days * DAY_MS
        share = bot_figures.uptime(rows, since, now)
        words = f"Signed in for {100 * share:.0f} % of the last {days} days."
        spans = bot_figures.signed_in(rows, since, now)
        uptimes.append(Uptime(days, share, uptime_svg(spans, since, now, words)))
    return uptimes


def by_predecessor(links: list[VersionLink]) -> list[tuple[VersionLink, list[str]]]:
    """The links of one version, each once with the venues where it is the same."""
    venues: dict[tuple[str, float | None, bool], tuple[VersionLink, list[str]]] = {}
    for link in links:
        venues.setdefault((link.predecessor, link.sd, link.surely), (link, []))[1].append(link.venue)
    return list(venues.values())


def endings(rows: list[VerdictRow]) -> list[Ending]:
    """How games ended, the most frequent reason first; those that a bot spoils itself too often are marked."""
    every = sum(row.games for row in rows)
    counts: dict[str, dict[str, int]] = {}
    for row in rows:
        by_outcome = counts.setdefault(row.reason, dict.fromkeys(("won", "lost", "drawn", "none"), 0))
        by_outcome[row.outcome] += row.games
    reasons = [
        Ending(
            reason=reason,
            **by_outcome,
            share=by_outcome["lost"] / every,
            bad=reason in bot_figures.SPOILT and by_outcome["lost"] / every >= _SPOILT_MUCH,
        )
        for reason, by_outcome in counts.items()
    ]
    return sorted(reasons, key=lambda each: -(each.won + each.lost + each.drawn + each.none))


def _band(row: RankedRow, points: list[RatingPoint], over_time: bool, versions: list[Version]) -> Markup | None:
    if len(points) < 2:
        return None
    drawn = [Point(point.at if over_time else point.games, point.mean, point.lower, point.upper) for point in points]
    others = [Mark(each.created_at, each.label or each.name) for each in versions if each.name != row.version]
    marks = others if over_time else []
    over = "time" if over_time else "its games"
    return band_svg(drawn, over_time, f"Rating of {row.version} on {row.venue} over {over}", marks)


def _badge(venue: str, version: str) -> str:
    return f"/badge/{quote(venue, safe='')}/{quote(version, safe='')}.svg"


PAGES: Final[Pages] = {"/bot/{name}": show}
