"""How the games of a tormented server ended, and whether that can be explained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from support.e2e.processes import ServerProcess
from support.net.cutting_proxy import Cut


class Ended(NamedTuple):
    """One game; times in Unix seconds."""

    game: int
    black: str
    white: str
    result: str
    reason: str
    began: float
    ended: float


def ended_games(serving: ServerProcess) -> list[Ended]:
    """All games that have ended, in their order."""
    rows = serving.query(
        "select games.id, black.wire_name, white.wire_name, result, reason, started_at, ended_at from games"
        " join versions black on black.id = black_id join versions white on white.id = white_id"
        " where ended_at is not null order by games.id"
    )
    return [Ended(*row[:5], row[5] / 1000, row[6] / 1000) for row in rows]


def count_ended(serving: ServerProcess) -> int:
    """How many games have ended."""
    rows = serving.query("select count(*) from games where ended_at is not null")
    return int(rows[0][0]) if rows else 0


def unexplained(games: Sequence[Ended], cuts: Sequence[Cut], main_s: float, away_s: float) -> list[Ended]:
    """Games that did not end as games do: by score or resignation, or on time where cuts explain that.

    :param main_s: main time
    :param away_s: how long one cut may keep a bot away
    """
    without_reason = []
    for game in games:
        if game.reason in ("score", "resignation"):
            continue
        loser = game.black if game.result.startswith("W+") else game.white
        away = sum(away_s for cut in cuts if cut.name == loser and game.began - away_s < cut.at < game.ended)
        if game.reason != "time" or away < main_s * 0.8:
            without_reason.append(game)
    return without_reason
