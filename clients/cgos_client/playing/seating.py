"""A game of ``cgos.v2`` in the words of engines and records: set-up, time control, clocks.

Pure. Must not know: connections, engines.
"""

from __future__ import annotations

from cgos_client.library.game import Game
from cgos_client.library.position import color_of
from cgos_client.playing.events import Seated
from cgos_protocol import clock
from cgos_protocol.clock import TimeControl, TimeSystem
from cgos_protocol.event_news import Occasion
from cgos_protocol.ids import QuestionId
from cgos_protocol.session import GameSetup
from cgos_protocol.v2.messages import TimeInfo


def time_control(info: TimeInfo) -> TimeControl | None:
    """The time control; None where it is of a kind that is not known here."""
    try:
        control = TimeControl(
            system=TimeSystem(info.system),
            main=info.main_ms * 1000,
            increment=info.increment_ms * 1000,
            period=info.period_ms * 1000,
            periods=info.periods,
            stones=info.stones,
            lag=info.lag_ms * 1000,
        )
    except ValueError:
        return None
    return control if clock.check(control) is None else None


def level_ms(info: TimeInfo) -> int:
    """The time control's one figure, as the line protocol has it: what may be used for the first move."""
    control = time_control(info)
    return info.main_ms if control is None else clock.remaining_ms(control, clock.start(control))


def seated(game: Game) -> Seated:
    """The game with the moves that are known now."""
    position = game.position
    setup = GameSetup(
        game=game.number,
        size=game.rules.size,
        komi2=round(game.rules.komi * 2),
        level_ms=level_ms(game.time),
        black=game.black.name,
        black_label=game.black.rating,
        white=game.white.name,
        white_label=game.white.rating,
        moves=tuple((ply.move, ply.left_ms) for ply in position.plies),
        left_ms=(position.black_ms, position.white_ms),
        venue=game.venue,
        why=game.why,
        opening=game.opening,
        occasion=Occasion(game.event, game.round) if game.event else None,
        question=QuestionId(game.question) if game.question else None,
    )
    return Seated(setup, color_of(game.color), time_control(game.time))


def clock_for_engine(info: TimeInfo, left_ms: int) -> tuple[int, int]:
    """(milliseconds, stones) as engines count them, out of the one figure that the server tells.

    Main time comes without the period that the figure holds. In overtime the server does not say how many periods or
    stones are left: the engine is told the fewest periods and the most stones, with which it never loses on time.
    """
    if info.system == TimeSystem.BYOYOMI:
        return (left_ms - info.period_ms, 0) if left_ms > info.period_ms else (left_ms, 1)
    if info.system == TimeSystem.CANADIAN:
        return (left_ms - info.period_ms, 0) if left_ms > info.period_ms else (left_ms, max(1, info.stones))
    return left_ms, 0
