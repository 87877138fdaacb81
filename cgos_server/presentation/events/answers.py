"""Messages of the API about events, made of what their logs say.

Plain functions of a record. Must not know: the database, HTTP.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import islice
from typing import Final

import msgspec

from cgos_protocol.api import events as api
from cgos_protocol.api.messages import ColorWord
from cgos_protocol.ids import BotId, GameId
from cgos_server.presentation import words
from cgos_server.presentation.events.announcement import lines, rating_sentence
from cgos_server.presentation.events.record import EventRecord, GameTimes
from cgos_server.tournaments.base import Game, Round
from cgos_server.tournaments.ledger import counting
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import Times
from cgos_server.tournaments.running.state import BEFORE, Phase, Seat, closed_to
from cgos_server.tournaments.scores import result_words
from cgos_server.tournaments.standings.crosstable import Cell, CrossRow
from cgos_server.tournaments.words import counted, listed

_NOTHING: Final = GameTimes()


def summary(record: EventRecord) -> api.EventSummary:
    """One line of a list."""
    return record.once("summary", lambda: _summary(record))


def _summary(record: EventRecord) -> api.EventSummary:
    state = record.state
    settings, times = state.settings, state.settings.times
    games = [game for _, game in state.event.games]
    ended = sum(game.result is not None for game in games)
    return api.EventSummary(
        id=record.id,
        name=settings.name,
        about=settings.about,
        venue=settings.venue,
        system=settings.system,
        phase=state.phase.value,
        status=status(record),
        rated=state.settings.rated,
        paused=state.paused is not None,
        entrants=len(state.there),
        waiting=len(state.waiting),
        field=len(state.event.entrants),
        rounds=len(state.event.rounds),
        planned=state.event.planned,
        games=len(games),
        running=sum(game.result is None and game.id in state.played_as for game in games),
        ended=ended,
        leaders=_leaders(record) if ended else [],
        announced_at=record.entries[0].at,
        opens_at=times.opens_at,
        closes_at=times.closes_at,
        starts_at=times.starts_at,
        started_at=state.started_at,
        ended_at=state.ended_at,
        seq=state.seq,
    )


def status(record: EventRecord) -> str:
    """How far an event is, as a sentence."""
    state = record.state
    times = state.settings.times
    there = counted(len(state.there), "entrant")
    match state.phase:
        case Phase.ANNOUNCED:
            opens = "" if times.opens_at is None else f" It opens on {words.moment(times.opens_at)} UTC."
            return f"Entry is not open yet.{opens}{_starts(times)}"
        case Phase.ENTRY:
            closes = "" if times.closes_at is None else f" It closes on {words.moment(times.closes_at)} UTC."
            return f"Entry is open: {there} so far.{closes}{_starts(times)}"
        case Phase.CLOSED:
            return f"Entry is closed: {there}.{_starts(times)}"
        case Phase.CANCELLED:
            return record.sentences[-1]
        case Phase.OVER:
            return f"Over after {counted(len(state.event.rounds), 'round')}: {_won(_leaders(record))}."
    if state.paused is not None:
        return f"Paused{_after_colon(state.paused)}"
    return _going_on(record)


def _starts(times: Times) -> str:
    return "" if times.starts_at is None else f" The event's start is set for {words.moment(times.starts_at)} UTC."


def _going_on(record: EventRecord) -> str:
    state = record.state
    rounds = state.event.rounds
    if not rounds:
        return "The first round is being paired."
    of = "" if state.event.planned is None else f" of {state.event.planned}"
    games = [game for each in rounds for game in each.games]
    left = sum(game.result is None for game in games)
    if not left:
        return f"Round {len(rounds)}{of} is over; the next one is being paired."
    return f"Round {len(rounds)}{of}: {counted(left, 'game')} without a result, {len(games) - left} ended."


def _after_colon(reason: str) -> str:
    return f": {reason.rstrip('.')}." if reason else "."


def _leaders(record: EventRecord) -> list[str]:
    won = record.state.won_playoff
    return [row.name for row in record.standings.rows if row.place == 1 and (not won or row.entrant in won)]


def _won(leaders: list[str]) -> str:
    if not leaders:
        return "nobody won"
    if len(leaders) > 3:
        return f"{len(leaders)} share the first place"
    return f"{listed(leaders)} {'won' if len(leaders) == 1 else 'share the first place'}"


def now(record: EventRecord, sandboxes: Collection[str] = ()) -> api.EventNow:
    """All of one event.

    :param sandboxes: venues whose results change no rating
    """
    state = record.state
    settings = state.settings
    times = settings.times
    checks = times.check_in_s and times.starts_at is not None
    why = closed_to(state)
    return api.EventNow(
        summary=summary(record),
        settings=lines(settings),
        announced=msgspec.to_builtins(settings),
        rating=rating_sentence(settings, sandboxes),
        entry=why or "Versions may enter.",
        may_enter=not why,
        paused=state.paused,
        check_in_at=times.starts_at - 1000 * times.check_in_s if checks and times.starts_at is not None else None,
        grace_s=state.grace_s,
        playoff=state.followed.get("playoff"),
        next=state.followed.get("again"),
        entrants=entrants(record),
        standings=standings(record),
        rounds=rounds(record).items,
        changed_at=record.entries[-1].at,
    )


def entrants(record: EventRecord) -> list[api.EventEntrant]:
    """Who has entered: before the start in the order of entering, from then on best first."""
    return record.once("entrants", lambda: _entrants(record))


def _entrants(record: EventRecord) -> list[api.EventEntrant]:
    state = record.state
    rows = {row.entrant: row for row in record.standings.rows}
    points = _points(record)
    playing = {
        id_: state.played_as[game.id]
        for _, game in state.open_games
        if game.id in state.played_as
        for id_ in (game.black, game.white)
    }
    order = {entrant: at for at, entrant in enumerate(rows)}
    seats = sorted(state.seats.values(), key=lambda seat: order.get(seat.entrant, len(order)))
    return [
        api.EventEntrant(
            entrant=seat.entrant,
            version=seat.name,
            bot=_bot(record, seat.bot)[0],
            owner=_bot(record, seat.bot)[1],
            state=_state(seat, started=state.phase not in BEFORE),
            rating=seat.rating,
            entered_at=seat.at,
            place=rows[seat.entrant].place if seat.entrant in rows else None,
            points=points.get(seat.entrant),
            game=playing.get(seat.entrant),
        )
        for seat in seats
    ]


def _bot(record: EventRecord, bot: BotId) -> tuple[str, str | None]:
    return record.bots.get(bot, ("", None))


def _state(seat: Seat, *, started: bool) -> api.EntrantWord:
    if seat.waits:
        return "waiting"
    if seat.out:
        return "out"
    if started:
        return "in"
    return "checked-in" if seat.checked_in else "entered"


def _points(record: EventRecord) -> Mapping[int, float]:
    """Entrant -> points of games and byes."""
    points = dict.fromkeys(record.state.event.by_id, 0.0)
    for each in record.state.event.rounds:
        for game in each.games:
            if game.result is not None:
                points[game.black] += game.result.black / 2
                points[game.white] += game.result.white / 2
        for bye in each.byes:
            points[bye.entrant] += bye.points / 2
    return points


def standings(record: EventRecord) -> api.EventStandings:
    """Who stands where."""
    table = record.standings
    return api.EventStandings(
        event=record.state.settings.name,
        phase=record.state.phase.value,
        seq=record.state.seq,
        order=list(table.order),
        rows=[
            api.EventStanding(place=row.place, entrant=row.entrant, version=row.name, values=list(row.values))
            for row in table.rows
        ],
        remark=table.remark,
    )


def rounds(record: EventRecord) -> api.EventRounds:
    """All rounds that have begun."""
    return record.once("rounds", lambda: _rounds(record))


def _rounds(record: EventRecord) -> api.EventRounds:
    return api.EventRounds(
        event=record.state.settings.name,
        seq=record.state.seq,
        planned=record.state.event.planned,
        items=[one_round(record, each) for each in record.state.event.rounds],
    )


def one_round(record: EventRecord, each: Round) -> api.EventRound:
    """One round."""
    names = record.state.event.names
    paired_at, ended_at = record.round_times(each.number)
    return api.EventRound(
        number=each.number,
        complete=each.is_complete,
        games=[game(record, each.number, one) for one in each.games],
        byes=[
            api.EventBye(
                entrant=bye.entrant, version=names[bye.entrant], points=bye.points / 2, requested=bye.requested
            )
            for bye in each.byes
        ],
        explanation=each.explanation.summary,
        details=each.explanation.details,
        paired_at=paired_at,
        ended_at=ended_at,
    )


def games(record: EventRecord) -> api.EventGames:
    """All games of the record, by their numbers."""
    items = [game(record, number, one) for number, one in record.state.event.games]
    items.sort(key=lambda one: one.number)
    return api.EventGames(event=record.state.settings.name, seq=record.state.seq, items=items)


def game(record: EventRecord, number: int, one: Game) -> api.EventGame:
    """One game of the round of that number."""
    state = record.state
    times = record.times.get(one.id, _NOTHING)
    result = one.result
    return api.EventGame(
        number=one.id,
        round=number,
        game=state.played_as.get(one.id),
        black=state.seats[one.black].name,
        white=state.seats[one.white].name,
        black_entrant=one.black,
        white_entrant=one.white,
        handicap=one.handicap,
        state=_game_state(record, one),
        result=None if result is None else result_words(result),
        how=None if result is None else result.how,
        black_points=None if result is None else result.black / 2,
        white_points=None if result is None else result.white / 2,
        reason=one.reason,
        why=times.why,
        ruling=times.ruling,
        paired_at=state.due_at.get(one.id),
        began_at=times.began_at,
        ended_at=times.ended_at if result is not None else None,
    )


def _game_state(record: EventRecord, one: Game) -> api.GameWord:
    if one.result is not None:
        return "ended"
    return "running" if one.id in record.state.played_as else "due"


def cross_table(record: EventRecord) -> api.EventCrosstable:
    """Who met whom, with the games."""
    return record.once("crosstable", lambda: _cross_table(record))


def _cross_table(record: EventRecord) -> api.EventCrosstable:
    state = record.state
    table = record.results.crosstable
    counted_games = _games_of(state.event.rounds)
    rows = [_cross_row(row, counted_games.get(row.entrant, []), state.played_as) for row in table.rows]
    numbers: dict[tuple[int, int], list[int]] = {}
    for row in rows:
        for cell in (cell for cells in row.rounds for cell in cells):
            if cell.opponent is not None and cell.number is not None:
                numbers.setdefault((row.number, cell.opponent), []).append(cell.number)
    return api.EventCrosstable(
        event=table.name,
        seq=state.seq,
        order=list(table.order),
        rounds=table.rounds,
        rows=rows,
        pairs=[
            api.EventPair(
                row=pair.row,
                column=pair.column,
                points=pair.points / 2,
                text=pair.text,
                numbers=numbers.get((pair.row, pair.column), []),
            )
            for pair in table.pairs
        ],
        everybody_met=table.everybody_met,
    )


def _games_of(rounds_: Iterable[Round]) -> dict[int, list[Game]]:
    """Entrant -> its games in the order in which the crosstable has them."""
    of: dict[int, list[Game]] = {}
    for each in rounds_:
        for one in counting(each):
            for id_ in (one.black, one.white):
                of.setdefault(id_, []).append(one)
    return of


def _cross_row(row: CrossRow, own: list[Game], played_as: Mapping[int, GameId]) -> api.EventCrossRow:
    left = iter(own)
    return api.EventCrossRow(
        number=row.number,
        place=row.place,
        entrant=row.entrant,
        version=row.name,
        values=list(row.values),
        rounds=[
            [_cell(cell, next(left) if cell.opponent else None, played_as) for cell in each] for each in row.rounds
        ],
    )


def _cell(cell: Cell, of: Game | None, played_as: Mapping[int, GameId]) -> api.EventCell:
    color: ColorWord | None = None if cell.white is None else "white" if cell.white else "black"
    return api.EventCell(
        kind=cell.kind,
        text=cell.text,
        opponent=cell.opponent,
        color=color,
        points=cell.points / 2,
        number=None if of is None else of.id,
        game=None if of is None else played_as.get(of.id),
    )


def log_page(record: EventRecord, after: int, limit: int) -> api.EventLog:
    """Entries after the one of that number, the earliest first."""
    items = [
        api.EventLogLine(
            seq=entry.seq,
            at=entry.at,
            actor=entry.actor,
            kind=log.kind_of(entry.said),
            sentence=said,
            said=msgspec.to_builtins(entry.said),
        )
        for entry, said in islice(zip(record.entries, record.sentences, strict=True), after, after + limit)
    ]
    more = after + len(items) < len(record.entries)
    return api.EventLog(event=record.state.settings.name, items=items, next=items[-1].seq if items and more else None)


def of_bot(record: EventRecord, bot: str) -> api.BotEvent:
    """An event with where the versions of the bot of this name stand in it."""
    return api.BotEvent(event=summary(record), entrants=[one for one in entrants(record) if one.bot == bot])
