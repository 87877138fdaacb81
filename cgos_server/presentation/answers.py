"""What the read side and the figures say, as the messages that the API answers and commands print with `--json`.

Where nothing is added, :func:`published` takes over the message's own fields; where something is, a function says what.
Must not know: HTTP, SQL.
"""

from __future__ import annotations

from typing import Literal, TypeVar, cast

import msgspec

from cgos_protocol.api import games
from cgos_protocol.api import messages as api
from cgos_protocol.api.events import GameInEvent
from cgos_protocol.games.base import Color, Start
from cgos_protocol.v2.render import color_word, rules_info, time_info
from cgos_server.presentation.stored_game import StoredGame
from cgos_server.presentation.words import IN_SANDBOX, NOT_RATED, count
from cgos_server.service.bot_figures import Faced
from cgos_server.service.ratings.expectation import Compared
from cgos_server.storage.reading.answers import RankedRow
from cgos_server.storage.reading.game_answers import OpponentRow, PairRecord
from cgos_server.storage.reading.history import History

T = TypeVar("T")


def published(value: object, kind: type[T]) -> T:
    """The fields of `kind` that a value has, or that all values of a list have, and no others.

    :raises msgspec.ValidationError: where one is not as `kind` says
    """
    return msgspec.convert(value, kind, from_attributes=True)


async def after_games(history: History, venue: str, entry: int) -> str:
    """``after 57 games (entry 62)``: a place in a venue's ledger, whose entries are more than games."""
    return f"after {count(await history.ledger.games_at(venue, entry), 'game')} (entry {entry})"


def ranked(row: RankedRow) -> api.VersionRating:
    """Where a version stands."""
    return api.VersionRating(venue=row.venue, system=row.system, standing=published(row, api.Standing))


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
        with_result=row.with_result,
        rated=row.with_result,
        last_game=row.last_game,
        last_game_at=row.last_at,
    )


def pair_statistics(
    venue: str, row: PairRecord, one: str, compared: Compared | None, *, sandbox: bool
) -> api.PairStatistics:
    """Two versions compared, from the side of `one`.

    :param compared: None where one of them is not rated, and in a sandbox
    """
    own = record(row, one)
    as_black = row.one_black if one == row.one else row.games - row.one_black
    chances = compared.chances if compared else None
    return api.PairStatistics(
        venue=venue,
        record=own,
        score=(own.wins + own.draws / 2) / own.with_result if own.with_result else None,
        expected=chances.a_game(as_black, own.games - as_black) if chances else None,
        expected_score_as_black=chances.black if chances else None,
        expected_score_as_white=chances.white if chances else None,
        jointly=compared.jointly if compared else None,
        as_black=compared.as_black if compared else None,
        as_white=compared.as_white if compared else None,
        superiority=compared.superiority if compared else None,
        difference=compared.difference if compared else None,
        half_width=compared.half_width if compared else None,
        system=compared.system if compared else None,
        seq=compared.seq if compared else None,
        not_compared=None if compared else IN_SANDBOX if sandbox else NOT_RATED,
    )


def opponent(row: OpponentRow, faced: Faced) -> api.Opponent:
    """What came of a version's games against one opponent."""
    return api.Opponent(
        opponent=row.opponent,
        games=row.games,
        wins=row.wins,
        losses=row.losses,
        draws=row.draws,
        none=row.without_result,
        with_result=row.with_result,
        rated=row.with_result,
        as_black=row.as_black,
        as_white=row.as_white,
        score=row.score / row.with_result if row.with_result else None,
        expected=faced.a_game,
        last_game=row.last_game,
        last_game_at=row.last_at,
    )


def game_detail(stored: StoredGame, event: GameInEvent | None = None) -> games.GameDetail:
    """All about one game but its moves.

    :param event: in which it was played
    """
    detail, terms = stored.detail, stored.terms
    return games.GameDetail(
        game=published(detail.game, games.Game),
        rules=rules_info(terms.rules),
        time=time_info(terms.time),
        move_limit=terms.move_limit,
        rated=terms.rated,
        start=_stones(stored.start),
        winner=cast(Literal["black", "white"] | None, detail.winner),
        margin=None if detail.margin2 is None else detail.margin2 / 2,
        detail=detail.detail,
        ending=stored.ending(),
        pairing=published(detail.pairing, games.Pairing) if detail.pairing else None,
        ratings=detail.ratings,
        corrections=published(detail.corrections, list[games.Correction]),
        repeats=detail.repeats,
        event=event,
    )


def _stones(start: Start | None) -> games.Stones | None:
    if start is None:
        return None
    return games.Stones(black=list(start.black), white=list(start.white), to_play=color_word(Color(start.to_play)))
