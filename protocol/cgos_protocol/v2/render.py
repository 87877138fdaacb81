"""From values of the seam to messages of ``cgos.v2``. Must not know: connections, encodings, who is told what when."""

from __future__ import annotations

import msgspec

from cgos_protocol.clock import TimeControl
from cgos_protocol.event_news import EventNews
from cgos_protocol.games.base import Color, Ko, Ruleset
from cgos_protocol.ids import GameId
from cgos_protocol.question_news import QuestionNews, QuestionTaken
from cgos_protocol.session import GameOver, GameSetup, ListedGame, ShownGame, Turn
from cgos_protocol.v2 import messages as ws

BLACK = Color.BLACK
_WORDS: tuple[ws.ColorWord, ws.ColorWord] = ("black", "white")


def color_word(color: Color) -> ws.ColorWord:
    """How a side is written."""
    return _WORDS[color]


def venue_info(*, name: str, rules: Ruleset, time: TimeControl, rated: bool, cgos_port: int) -> ws.VenueInfo:
    """A venue as `welcome` lists it; `cgos_port` is where bots reach its line protocol (0: nowhere)."""
    return ws.VenueInfo(name=name, rules=rules_info(rules), time=time_info(time), rated=rated, cgos_port=cgos_port)


def rules_info(rules: Ruleset) -> ws.RulesInfo:
    """What is played."""
    return ws.RulesInfo(
        game=rules.game, size=rules.size, komi=rules.komi2 / 2, ko=rules.ko.value, suicide=rules.suicide
    )


def time_info(time: TimeControl) -> ws.TimeInfo:
    """A time control, from microseconds to milliseconds."""
    return ws.TimeInfo(
        system=time.system.value,
        main_ms=time.main // 1000,
        increment_ms=time.increment // 1000,
        period_ms=time.period // 1000,
        periods=time.periods,
        stones=time.stones,
        lag_ms=time.lag // 1000,
    )


def game(setup: GameSetup, color: Color, from_ply: int) -> ws.Game:
    """A game to sit down at; what the client knows up to `from_ply` (0 to the number of moves) is left out."""
    terms, occasion = setup.terms, setup.occasion
    rules, time = _terms(setup)
    return ws.Game(
        game=setup.game,
        venue=setup.venue,
        color=_WORDS[color],
        rules=rules,
        time=time,
        black=ws.Player(setup.black, setup.black_label),
        white=ws.Player(setup.white, setup.white_label),
        from_ply=from_ply,
        moves=[ws.Ply(move, left) for move, left in setup.moves[from_ply:]],
        black_ms=setup.left_ms[0],
        white_ms=setup.left_ms[1],
        rated=terms is None or terms.rated,
        why=setup.why,
        opening=setup.opening,
        event="" if occasion is None else occasion.event,
        round=0 if occasion is None else occasion.round,
        question=setup.question or 0,
    )


def turn(number: GameId, ply: int, color: Color, left_ms: int, other_left_ms: int) -> ws.Turn:
    """It is `color`'s move at `ply`."""
    black, white = (left_ms, other_left_ms) if color is BLACK else (other_left_ms, left_ms)
    return ws.Turn(game=number, ply=ply, color=_WORDS[color], black_ms=black, white_ms=white)


def moved(number: GameId, turn: Turn) -> ws.Moved:
    """The opponent's committed move."""
    color = turn.color
    if color is BLACK:
        black, white = turn.left_ms, turn.other_left_ms
    else:
        black, white = turn.other_left_ms, turn.left_ms
    return ws.Moved(
        game=number,
        ply=turn.ply,
        color=_WORDS[color],
        move=turn.move,
        black_ms=black,
        white_ms=white,
        at=turn.at / 1000,
        your_turn=turn.on,
    )


def over(number: GameId, over: GameOver) -> ws.Over:
    """A game's end."""
    return ws.Over(
        game=number,
        result=over.result,
        winner=None if over.winner is None else _WORDS[over.winner],
        reason=over.reason,
        detail=over.detail,
        plies=over.plies,
        date=over.date,
        rating=None if over.rating is None else ws.RatingMove(*over.rating),
    )


def event(news: EventNews) -> ws.EventTold:
    """What happened in an event."""
    return ws.EventTold(
        event=news.event,
        venue=news.venue,
        what=news.what.value,
        text=news.text,
        round=news.round,
        opponent=news.opponent,
        color=None if news.color is None else _WORDS[news.color],
        until=None if news.until_ms is None else news.until_ms / 1000,
        place=news.place,
        entrants=news.entrants,
        series=news.series,
        next=news.next,
    )


def asked(taken: QuestionTaken) -> ws.Asked:
    """What was asked, and what it is expected to cost."""
    costs = [ws.QuestionCost(**cost._asdict()) for cost in taken.costs]
    return ws.Asked(
        question=taken.question or 0, venue=taken.venue, kind=taken.kind, text=taken.text, costs=costs, ref=taken.ref
    )


def question(news: QuestionNews) -> ws.QuestionTold:
    """How a question stands."""
    fields = msgspec.structs.asdict(news)
    return ws.QuestionTold(**fields | {"against": list(news.against), "counts": list(news.counts)})


def game_line(listed: ListedGame) -> ws.GameLine:
    """One line of a venue's list."""
    return ws.GameLine(
        game=listed.game,
        started_at=listed.started_at,
        size=listed.size,
        komi=listed.komi2 / 2,
        black=ws.Player(listed.black, listed.black_label),
        white=ws.Player(listed.white, listed.white_label),
        result=listed.result,
    )


def shown(venue: str, shown: ShownGame, since: int) -> ws.Shown:
    """A game to look at, from the move after `since` on."""
    setup, over = shown.setup, shown.over
    from_ply = min(since, len(setup.moves))
    rules, time = _terms(setup)
    return ws.Shown(
        game=setup.game,
        venue=venue,
        rules=rules,
        time=time,
        black=ws.Player(setup.black, setup.black_label),
        white=ws.Player(setup.white, setup.white_label),
        started_at=shown.started_at,
        from_ply=from_ply,
        moves=[ws.Ply(move, left) for move, left in setup.moves[from_ply:]],
        result=None if over is None else over.result,
        reason="" if over is None else over.reason,
        detail="" if over is None else over.detail,
    )


def _terms(setup: GameSetup) -> tuple[ws.RulesInfo, ws.TimeInfo]:
    terms = setup.terms
    if terms is not None:
        return rules_info(terms.rules), time_info(terms.time)
    rules = ws.RulesInfo(game="go", size=setup.size, komi=setup.komi2 / 2, ko=Ko.POSITIONAL.value, suicide=False)
    return rules, ws.TimeInfo(system="absolute", main_ms=setup.level_ms)
