"""What several reading handlers share: which system is meant, rows of the read side as the API says them.

Must not know: routes, SQL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import msgspec

from cgos_protocol.api import games
from cgos_protocol.api import messages as api
from cgos_protocol.api.bulk import ExportedGame
from cgos_protocol.clock import TimeControl
from cgos_protocol.errors import Code, NotFound
from cgos_protocol.games.base import Ruleset
from cgos_protocol.v2.render import rules_info, time_info
from cgos_server.core.rating.registry import half_width
from cgos_server.service.bot_figures import Faced
from cgos_server.service.expectation import Compared
from cgos_server.storage.answers import GameChange, RankedRow, RatingPoint, Standing
from cgos_server.storage.game_answers import OpponentRow, PairRecord
from cgos_server.storage.reading.bulk import RatedGame
from cgos_server.web import words
from cgos_server.web.pages.asked import Systems
from cgos_server.web.problems import Wrong
from cgos_server.web.site import Site

T = TypeVar("T")
V = TypeVar("V")

_NOT: Final = object()
_LABEL: Final = re.compile(r"([0-9]+)(\??)")


def like(kind: type[T], row: object, **more: Any) -> T:
    """A value of `kind` with the fields of `row` that are called alike, and with these."""
    fields = kind.__struct_fields__  # type: ignore[attr-defined]
    had = {name: found for name in fields if name not in more and (found := getattr(row, name, _NOT)) is not _NOT}
    return kind(**had, **more)


def if_there(value: T | None, what: Callable[[T], V]) -> V | None:
    """What is asked of a value; None where there is no value."""
    return None if value is None else what(value)


async def systems_of(site: Site, venue: str) -> list[str]:
    """The rating systems that have published in a venue, the headline first; as configured before anything is.

    Raises Refused for a venue that is not there.
    """
    found = Systems(site).order(venue, await site.history.ratings.rated_counts(venue))
    return found or list(site.settings.rated(venue).systems if venue in site.settings.venues else ())


def system_among(asked: str | None, systems: list[str], venue: str) -> str:
    """The system that is asked for, or the headline; raises Refused where there is none."""
    if asked is None:
        return systems[0] if systems else ""
    if asked not in systems:
        raise NotFound(Code.NO_SYSTEM, f"{venue} is not rated by a system of this name. Choose: {', '.join(systems)}.")
    return asked


async def venue_meant(site: Site, asked: str | None, version: str) -> str:
    """The venue that is asked for, or the only one where a version is rated. Raises Refused, Wrong."""
    if asked is not None:
        return asked
    rated = sorted({row.venue for row in await site.history.ratings.ranked([version])})
    if len(rated) == 1:
        return rated[0]
    if not rated:
        raise NotFound(Code.NO_RATING, f"{version} is not rated in any venue.")
    raise Wrong("venue", f"{version} is rated in several venues: say `venue`, one of {', '.join(rated)}.")


def standing(rank: int | None, row: Standing) -> api.Standing:
    """One line of standings."""
    return like(api.Standing, row, rank=rank, half_width=half_width(row.system, row.spread))


def ranked(row: RankedRow) -> api.VersionRating:
    """Where a version stands, without its last game, which standings tell."""
    place = like(api.Standing, row, half_width=half_width(row.system, row.spread), last_game=None, last_game_at=None)
    return api.VersionRating(venue=row.venue, system=row.system, standing=place)


def record(row: PairRecord, one: str | None = None) -> api.Record:
    """What came of two versions' games, from the side of `one` (as it is in the row where None)."""
    figures = (row.one_wins_black, row.one_wins_white, row.other_wins_black, row.other_wins_white)
    same = one is None or one == row.one
    own_black, own_white, their_black, their_white = figures if same else (*figures[2:], *figures[:2])
    return api.Record(
        one=row.one if same else row.other,
        other=row.other if same else row.one,
        games=row.games,
        wins=own_black + own_white,
        losses=their_black + their_white,
        draws=row.draws,
        none=row.without_result,
        wins_as_black=own_black,
        wins_as_white=own_white,
        losses_as_black=their_white,
        losses_as_white=their_black,
        rated=row.rated,
        last_game=row.last_game,
        last_game_at=row.last_at,
    )


def pair_statistics(venue: str, had: PairRecord, one: str, compared: Compared | None) -> api.PairStatistics:
    """Two versions compared, from the side of `one`."""
    told = record(had, one)
    as_black = had.one_black if one == had.one else had.games - had.one_black
    said = None if compared is None else compared.chances
    return api.PairStatistics(
        venue=venue,
        record=told,
        score=(told.wins + told.draws / 2) / told.rated if told.rated else None,
        expected=if_there(said, lambda both: both.a_game(as_black, told.games - as_black)),
        expected_score_as_black=if_there(said, lambda both: both.black),
        expected_score_as_white=if_there(said, lambda both: both.white),
        jointly=if_there(compared, lambda each: each.jointly),
        as_black=None if compared is None else if_there(compared.as_black, lambda odds: like(api.Expected, odds)),
        as_white=None if compared is None else if_there(compared.as_white, lambda odds: like(api.Expected, odds)),
        superiority=if_there(compared, lambda each: each.superiority),
        difference=if_there(compared, lambda each: each.difference),
        half_width=if_there(compared, lambda each: each.half_width),
        system=if_there(compared, lambda each: each.system),
        seq=if_there(compared, lambda each: each.seq),
    )


def opponent(row: OpponentRow, faced: Faced) -> api.Opponent:
    """What came of a version's games against one opponent."""
    return like(
        api.Opponent,
        row,
        none=row.without_result,
        score=row.score / row.rated if row.rated else None,
        expected=faced.a_game,
        last_game_at=row.last_at,
    )


def rating_change(row: RatingPoint) -> api.RatingChange:
    """One change of a rating."""
    return like(
        api.RatingChange,
        row,
        score=None if row.score2 is None else row.score2 / 2,
        before_half_width=half_width(row.system, row.before_spread),
        after_half_width=half_width(row.system, row.after_spread),
    )


def exported_games(rows: Sequence[RatedGame], headline: Callable[[str, list[str]], str]) -> list[ExportedGame]:
    """Games as lines of an export.

    :param headline: which of a venue's rating systems is its headline
    """
    made = []
    for row, changes in rows:
        system = headline(row.venue, [each.system for each in changes]) if changes else None
        found = {each.version: each for each in changes if each.system == system}
        ratings: dict[str, Any] = {}
        for side, version, label in (("black", row.black, row.black_label), ("white", row.white, row.white_label)):
            shown, was = _LABEL.fullmatch(label), found.get(version)
            ratings |= {
                f"{side}_rating": if_there(shown, lambda text: int(text[1])),
                f"{side}_provisional": if_there(shown, lambda text: bool(text[2])),
                f"{side}_mean": if_there(was, lambda each: each.before_mean),
                f"{side}_half_width": if_there(was, lambda each: half_width(each.system, each.before_spread)),
            }
        made.append(like(ExportedGame, row, system=system, **ratings))
    return made


def change(row: GameChange) -> games.GameChange:
    """What a game did to one rating."""
    return like(
        games.GameChange,
        row,
        before_half_width=half_width(row.system, row.before_spread),
        after_half_width=half_width(row.system, row.after_spread),
    )


def terms(fixed: Any) -> dict[str, Any]:
    """What a venue fixed, as fields of :class:`~cgos_protocol.api.messages.Venue`."""
    rules, time = msgspec.convert(fixed, Ruleset), msgspec.convert(fixed["time"], TimeControl)
    return {"rules": rules_info(rules), "time": time_info(time), "terms": words.terms(rules, time)}
