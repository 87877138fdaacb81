"""Who must not meet in an event, who plays after all, whose entry was a mistake: what the log makes of it."""

from __future__ import annotations

from typing import Any

import pytest

from cgos_protocol.errors import Refused
from cgos_protocol.ids import BotId, VersionId
from cgos_server.tournaments.base import BLACK_WINS, pair_of
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import EventSettings
from cgos_server.tournaments.running.state import EventState, Phase, after, announced, fold
from cgos_server.tournaments.running.steps import paired
from cgos_server.tournaments.tournament import ready_games


class Log:
    """An event whose entrants 1, 2... are of these families and of the owners of the same numbers; 0: of no owner."""

    def __init__(self, *families: int, **settings: Any) -> None:
        announcement = EventSettings(name="E", venue="9x9", **{"system": "swiss", "late": True} | settings)
        self.entries: list[log.LogEntry] = []
        self.state = announced(announcement)
        self.say(log.Announced(settings=announcement), log.Opened())
        for family in families:
            self.enter(family)

    def enter(self, family: int) -> None:
        number = self.state.entered + 1
        self.say(
            log.Entered(
                entrant=number,
                version=VersionId(number),
                bot=BotId(number),
                name=f"Bot-{number}",
                family=BotId(family or number),
                owner=family or None,
            )
        )

    def say(self, *said: log.Said) -> EventState:
        for each in said:
            entry = log.LogEntry(self.state.seq + 1, 1_000, "x", log.decode(log.encode(each)))
            self.state = after(self.state, entry)
            self.entries.append(entry)
        return self.state

    def start(self) -> EventState:
        return self.say(log.Closed(ratings={}), log.Started())

    def pair(self) -> set[tuple[int, int]]:
        """Who meets in the next round; they play it."""
        said = paired(self.state, ready_games(self.state.event))
        assert said is not None
        self.say(said)
        pairs = {pair_of(game.black, game.white) for _, game in self.state.open_games}
        self.say(*(log.Ended(game=number, result=BLACK_WINS) for number in self.state.open))
        return pairs


def test_who_must_not_meet_by_what_was_said_before_the_start_does_not() -> None:
    event = Log(1, 2, 3, 4, system="round-robin")
    event.say(log.Forbidden(entrants=(4, 1), reason="Twins."))
    assert event.state.forbidden == {(1, 4)}
    assert event.state.event.forbidden == ()
    assert event.start().event.forbidden == ((1, 4),)
    with pytest.raises(Refused, match="but Bot-1 and Bot-4, who would meet in round 2, must not"):
        event.pair()
    event.say(log.Lifted(entrants=(1, 4), reason="Not twins."))
    assert (1, 4) in event.pair() | event.pair()
    assert fold(event.entries) == event.state


def test_what_was_said_of_one_who_left_before_the_start_is_of_no_account() -> None:
    event = Log(1, 2, 3)
    event.say(log.Forbidden(entrants=(1, 2, 3), reason="x"), log.Withdrawn(entrant=2))
    assert event.start().event.forbidden == ((1, 3),)


def test_versions_of_one_family_do_not_meet_and_those_who_come_later_neither() -> None:
    event = Log(1, 1, 2, 2, 3, 3, apart=("family",))
    event.start()
    assert event.state.event.forbidden == ((1, 2), (3, 4), (5, 6))
    for _ in range(3):
        assert not event.pair() & {(1, 2), (3, 4), (5, 6)}
    event.enter(3)
    assert event.state.event.forbidden[3:] == ((5, 7), (6, 7))
    event.say(log.Lifted(same="family", reason="Few are left."))
    assert event.state.event.forbidden == ()
    assert fold(event.entries) == event.state


def test_of_one_owner_are_bots_with_an_owner() -> None:
    event = Log(0, 0, 5, 5)
    event.start()
    event.pair()
    event.say(log.Forbidden(same="owner", reason="They are too friendly."))
    assert event.state.event.forbidden == ((3, 4),)
    assert [(change.kind, change.round) for change in event.state.event.changes] == [("forbid", 2)]
    assert event.state.settings.apart == ("owner",)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (log.Forbidden(entrants=(1, 9), reason="x"), "no-entrant"),
        (log.Forbidden(entrants=(1, 1), reason="x"), "same-entrant"),
        (log.Forbidden(reason="x"), "same-entrant"),
        (log.Forbidden(entrants=(1, 2), reason="x"), "no-change"),
        (log.Forbidden(same="family", reason="x"), "no-change"),
        (log.Lifted(entrants=(1, 3), reason="x"), "not-forbidden"),
        (log.Lifted(same="owner", reason="x"), "not-forbidden"),
        (log.ByeCancelled(entrant=1, round=1), "event-phase"),
        (log.Struck(entrant=1, reason="x"), "event-phase"),
    ],
)
def test_what_cannot_be_forbidden_or_lifted(said: log.Said, code: str) -> None:
    event = Log(1, 2, 2, apart=("family",))
    event.say(log.Forbidden(entrants=(1, 2), reason="x"))
    before = event.state
    with pytest.raises(Refused) as raised:
        event.say(said)
    assert raised.value.code == code
    assert event.state is before


def test_who_are_kept_apart_by_their_family_are_told_what_is_to_be_lifted() -> None:
    event = Log(1, 2, 2, apart=("family",))
    with pytest.raises(Refused, match=r"not kept apart by name in E\. All of one family are: lift that\."):
        event.say(log.Lifted(entrants=(2, 3), reason="x"))


def test_who_was_to_sit_out_plays_after_all() -> None:
    event = Log(1, 2, 3, 4)
    event.start()
    event.say(log.ByeAsked(entrant=1, round=1), log.ByeAsked(entrant=1, round=2))
    event.say(log.ByeCancelled(entrant=1, round=1, reason="It came."))
    assert any(1 in pair for pair in event.pair())
    assert not any(1 in pair for pair in event.pair())
    with pytest.raises(Refused, match="Round 2 has begun"):
        event.say(log.ByeCancelled(entrant=1, round=2))
    with pytest.raises(Refused, match="Bot-2 has asked for no bye in round 3"):
        event.say(log.ByeCancelled(entrant=2, round=3))


def test_an_entry_that_was_a_mistake_goes_and_may_come_back() -> None:
    event = Log(1, 2, 3, 4)
    event.start()
    event.pair()
    event.enter(5)
    event.say(log.Struck(entrant=5, reason="Another bot was meant."))
    assert 5 not in event.state.event.by_id
    assert event.state.seats[5].out
    event.pair()
    event.say(log.Rejoined(entrant=5))
    assert event.state.event.by_id[5].joined == 3
    with pytest.raises(Refused, match="Bot-1 is in round 1, so it stays"):
        event.say(log.Struck(entrant=1, reason="x"))
    assert fold(event.entries) == event.state


def test_a_cup_whose_next_match_must_not_be_says_so_instead_of_standing_still() -> None:
    event = Log(1, 2, 3, 4, system="cup")
    event.start()
    event.pair()
    finalists = tuple(each.id for each in event.state.event.entrants if each.id in winners(event.state))
    event.say(log.Forbidden(entrants=finalists, reason="x"))
    with pytest.raises(Refused, match=r"who must not meet\. Withdraw one of them, or lift that"):
        ready_games(event.state.event)
    assert event.state.phase is Phase.RUNNING


def winners(state: EventState) -> set[int]:
    return {game.black for _, game in state.event.games if game.result == BLACK_WINS}
