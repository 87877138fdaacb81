"""The second fold of an event's log comes to the same record as the server's, whatever happened in the event."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from support.tournaments.live_events import LiveEvent, settings_of

from benchmarks.tournaments.event_fold import Played, _Fold
from cgos_protocol.games.base import Color
from cgos_protocol.ids import GameId
from cgos_server.tournaments.base import BLACK_WINS, DRAWN, VOID, WHITE_WINS, Event, Result
from cgos_server.tournaments.registry import words
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.state import EventState, after, announced
from cgos_server.tournaments.running.steps import forfeited_by

VERDICTS: dict[Result, tuple[int | None, str, int]] = {
    BLACK_WINS: (0, "resignation", 40),
    WHITE_WINS: (1, "score", 40),
    DRAWN: (None, "score", 40),
    VOID: (None, "void", 3),
    forfeited_by(Color.BLACK): (1, "forfeit", 0),
    forfeited_by(Color.WHITE): (0, "forfeit", 0),
}
"""What a game counts as -> winner, reason and plies of its row."""


class Disturbed(LiveEvent):
    """Its games end as games of the server can."""

    def drawn_result(self) -> Result:
        return self.lots.choice(list(VERDICTS))


def table(entries: list[log.LogEntry]) -> dict[int, Played]:
    """The rows of the games, by their numbers on the server."""
    rows: dict[int, Played] = {}
    began: dict[int, GameId] = {}
    first = entries[0].said
    assert isinstance(first, log.Announced)
    state: EventState = announced(first.settings)
    for entry in entries:
        said = entry.said
        if isinstance(said, log.Began):
            began[said.game] = said.played_as
            game = next(game for _, game in state.open_games if game.id == said.game)
            black, white = (state.seats[side].version for side in (game.black, game.white))
            rows[said.played_as] = Played(said.game, state.open[said.game], black, white, None, "abort", 0, "")
        elif isinstance(said, log.Ended) and said.game in began and said.result in VERDICTS:
            winner, reason, plies = VERDICTS[said.result]
            row = rows[began[said.game]]
            rows[began[said.game]] = row._replace(winner=winner, reason=reason, plies=plies)
        state = after(state, entry)
    return rows


def folded(entries: list[log.LogEntry]) -> _Fold:
    fold = _Fold(table(entries))
    for entry in entries:
        fold.read(json.loads(log.encode(entry.said)))
    return fold


def without_words(event: Event) -> dict[str, Any]:
    """The record without its reasons and explanations."""
    return {
        "entrants": event.entrants,
        "rounds": [
            (each.number, each.byes, [(game.id, game.black, game.white, game.result) for game in each.games])
            for each in event.rounds
        ],
        "requests": event.requests,
        "withdrawn": event.withdrawn,
        "forbidden": event.forbidden,
        "changes": event.changes,
        "planned": event.planned,
    }


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("system", words())
def test_both_folds_of_a_disturbed_event_agree(system: str, seed: int) -> None:
    event = Disturbed(settings_of(system, seed), random.Random(seed))
    event.start(7)
    event.run(30)
    ended = folded(event.entries).ended(())
    assert without_words(ended.event) == without_words(event.state.event)
    assert ended.faults == ()


def test_the_second_fold_knows_every_kind_of_entry() -> None:
    event = Disturbed(settings_of("swiss", 1), random.Random(1))
    event.start(4)
    games = [game for _, game in event.state.due_games]
    for game in games:
        event.begin(game)
    event.say(log.Paused(reason="Lunch."))
    event.say(log.Resumed())
    event.say(log.Ruled(game=games[0].id, result=VOID, reason="A fault."))
    event.advance()
    event.say(log.TakenBack(reason="A fault.", with_results=True))
    for said in (
        log.Forbidden(entrants=(1, 2), reason="Twins."),
        log.Lifted(entrants=(1, 2), reason="Not twins."),
        log.ByeAsked(entrant=3, round=1),
        log.ByeCancelled(entrant=3, round=1),
        log.Struck(entrant=4, reason="A mistake."),
        log.Rejoined(entrant=4),
        log.Withdrawn(entrant=2),
        log.Rejoined(entrant=2),
        log.Extended(rounds=1),
    ):
        event.say(said)
    event.advance()
    for game in [game for _, game in event.state.due_games]:
        event.say(log.Ended(game=game.id, result=forfeited_by(Color.BLACK)))
    event.advance()
    event.say(log.Followed(by="E-playoff", why="playoff"))
    event.say(log.Decided(entrants=(1,), by="E-playoff"))
    kinds = {log.kind_of(entry.said) for entry in event.entries}
    unsaid = {str(kind.__struct_config__.tag) for kind in log.KINDS} - kinds
    assert unsaid == {"admitted", "checked-in", "cancelled"}, "those follow from nothing else"
    ended = folded(event.entries).ended(())
    assert without_words(ended.event) == without_words(event.state.event)
    assert ended.won_playoff == (1,)
    for kind in unsaid - {"cancelled"}:
        fold = folded(event.entries[:3])
        fold.read({"kind": kind, "entrant": 1})
    with pytest.raises(ValueError, match="does not know the entry"):
        folded([*event.entries[:1]]).read({"kind": "nothing"})
