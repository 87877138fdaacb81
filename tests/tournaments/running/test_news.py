"""What entrants are told of each entry of an event's log."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from support.tournaments.held_events import START_MS, HeldEvent

from cgos_protocol.errors import Refused
from cgos_protocol.event_news import EventNews, EventWhat
from cgos_protocol.games.base import Color
from cgos_protocol.ids import GameId, VersionId
from cgos_server.tournaments.base import BLACK_WINS, LOSS, WIN, Result
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.admission import check_in_is_open, checking_in, withdrawing
from cgos_server.tournaments.running.news import check_in_asked, news_of, standing
from cgos_server.tournaments.running.settings import EventSettings, Limits, Times
from cgos_server.tournaments.running.steps import BOTH_FORFEIT, closing

MINUTE = 60_000


class Followed(HeldEvent):
    """An event whose entrants' news are kept: name -> what it was told, in order."""

    def __init__(self, settings: EventSettings) -> None:
        self.news: dict[str, list[EventNews]] = {}
        super().__init__(settings)

    def say(self, said: log.Said, actor: str = "server") -> Any:
        before = self.state
        state = super().say(said, actor)
        for seat, news in news_of(before, said, state):
            self.news.setdefault(seat.name, []).append(news)
        return state

    def words(self, name: str) -> list[str]:
        return [news.what.value for news in self.news.get(name, [])]

    def last(self, name: str) -> EventNews:
        return self.news[name][-1]


def followed(entrants: int = 0, **settings: Any) -> Followed:
    event = Followed(EventSettings(name="spring", venue="9x9", **{"system": "swiss", "rounds": 3} | settings))
    event.say(log.Opened())
    for number in range(1, entrants + 1):
        event.enter(number, 2000.0 - number)
    return event


def start(event: Followed) -> None:
    event.say(closing(event.state, lambda _version: None))
    event.say(log.Started())
    event.advance()


def test_who_enters_is_in_or_waits_and_is_admitted_where_a_place_becomes_free() -> None:
    event = followed(3, limits=Limits(most=2))
    assert event.words("Bot-1") == ["entered"]
    assert event.last("Bot-1").text == "You have entered spring."
    assert (event.last("Bot-3").what, event.last("Bot-3").event) == (EventWhat.WAITING, "spring")
    assert event.last("Bot-3").text == "You wait for a place in spring: you are the next."
    event.enter(4)
    assert event.last("Bot-4").text == "You wait for a place in spring: 1 entrant before you."
    event.say(withdrawing(event.state, VersionId(1)))
    assert event.last("Bot-1").text == "You have withdrawn from spring."
    event.advance()
    assert event.words("Bot-3") == ["waiting", "admitted"]
    assert event.words("Bot-4") == ["waiting"]


def test_a_start_tells_who_is_in_and_who_is_not() -> None:
    times = Times(starts_at=START_MS + 30 * MINUTE, check_in_s=600)
    event = followed(4, limits=Limits(most=3), times=times)
    event.now += 21 * MINUTE
    for number in (1, 2):
        entry = checking_in(event.state, VersionId(number))
        assert entry is not None
        event.say(entry)
    assert checking_in(event.state, VersionId(1)) is None, "it has said so"
    event.say(closing(event.state, lambda _version: None))
    event.say(log.Started())
    assert event.words("Bot-1") == ["entered", "checked_in", "started"]
    assert event.last("Bot-1").entrants == 2
    assert event.last("Bot-3").text == "spring has started without you: you did not check in."
    assert event.last("Bot-4").text == "spring has started without you: no place became free for you."
    assert event.last("Bot-4").what is EventWhat.LEFT_OUT


def test_a_check_in_is_open_for_its_time_before_the_start() -> None:
    starts_at = START_MS + 30 * MINUTE
    event = followed(2, times=Times(starts_at=starts_at, check_in_s=600))
    version = VersionId(1)
    assert not check_in_is_open(event.state, starts_at - 10 * MINUTE - 1)
    assert check_in_is_open(event.state, starts_at - 10 * MINUTE)
    asked = check_in_asked(event.state)
    assert (asked.what, asked.until_ms) == (EventWhat.CHECK_IN, starts_at)
    assert asked.text.startswith("spring starts at 2026-")
    with pytest.raises(Refused, match="has not entered spring"):
        checking_in(event.state, VersionId(9))
    entry = checking_in(event.state, version)
    assert entry is not None
    with pytest.raises(Refused, match="The check-in of spring opens in 20 minutes"):
        event.say(entry)
    event.now = starts_at - MINUTE
    for number in (1, 2):
        event.say(log.CheckedIn(entrant=number))
    start(event)
    assert not check_in_is_open(event.state, starts_at)
    entry = checking_in(event.state, version)
    assert entry is not None
    with pytest.raises(Refused, match="The check-in is over: the event has started"):
        event.say(entry)


def test_both_sides_hear_of_a_pairing_and_the_odd_one_of_its_bye() -> None:
    event = followed(3)
    start(event)
    (game,) = event.state.event.rounds[0].games
    (bye,) = event.state.event.rounds[0].byes
    black, white = (event.state.seats[entrant].name for entrant in (game.black, game.white))
    assert event.last(black) == EventNews(
        event="spring",
        venue="9x9",
        what=EventWhat.PAIRED,
        text=f"Round 1 of spring: you play {white} as Black.",
        round=1,
        opponent=white,
        color=Color.BLACK,
    )
    assert (event.last(white).opponent, event.last(white).color) == (black, Color.WHITE)
    assert event.last(event.state.seats[bye.entrant].name).text == "Round 1 of spring: you have a bye, for 1 point."


def test_several_games_of_one_pair_are_one_piece_of_news() -> None:
    event = followed(2, system="tcec-double", rounds=None)
    start(event)
    assert event.words("Bot-1").count("paired") == 1
    assert event.last("Bot-1").text == "Round 1 of spring: you play Bot-2, 2 games."


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (Result(LOSS, WIN, "forfeit"), ("forfeited", "walkover")),
        (Result(WIN, LOSS, "forfeit"), ("walkover", "forfeited")),
        (BOTH_FORFEIT, ("forfeited", "forfeited")),
        (BLACK_WINS, ("paired", "paired")),
    ],
)
def test_a_game_that_did_not_begin_is_told_to_both(result: Result, words: tuple[str, str]) -> None:
    event = followed(2, system="swiss", rounds=1)
    start(event)
    (game,) = event.state.event.rounds[0].games
    event.say(log.Ended(game=game.id, result=result))
    names = [event.state.seats[entrant].name for entrant in (game.black, game.white)]
    assert tuple(event.last(name).what for name in names) == words
    if "walkover" in words:
        winner = names[words.index("walkover")]
        loser = names[words.index("forfeited")]
        assert event.last(winner).text == (
            f"Round 1 of spring: {loser} has forfeited its game against you: it did not come within 5 minutes."
        )
        seat = event.state.seats[game.black if loser == names[0] else game.white]
        assert standing(event.state, seat).text == (
            "You are in spring: round 1 has begun. You have forfeited your game of round 1."
        )


def test_why_a_game_is_forfeited_is_told() -> None:
    event = followed(2, rounds=1, times=Times(grace_s=90))
    start(event)
    (game,) = event.state.event.rounds[0].games
    black = event.state.seats[game.black].name
    before = event.state
    event.say(log.Ended(game=game.id, result=BOTH_FORFEIT))
    assert event.last(black).text.endswith(": you did not come within 90 seconds.")
    event.state = before
    event.say(log.Withdrawn(entrant=game.black, by="bot"))
    event.say(log.Ended(game=game.id, result=Result(LOSS, WIN, "forfeit")))
    assert event.last(black).text.endswith(": you had withdrawn.")
    event.state = before
    event.say(log.Began(game=game.id, played_as=GameId(7)))
    event.say(log.Ended(game=game.id, result=Result(LOSS, WIN, "forfeit"), why="Black made no first move in time"))
    assert event.last(black).text.endswith(": Black made no first move in time.")


def test_rulings_and_rounds_taken_back_are_told_with_their_reason() -> None:
    event = followed(2)
    start(event)
    (game,) = event.state.event.rounds[0].games
    black = event.state.seats[game.black].name
    event.say(log.Ended(game=game.id, result=BLACK_WINS))
    event.say(log.Ruled(game=game.id, result=Result(LOSS, WIN), reason="The engine was another one."))
    assert event.last(black).what is EventWhat.RULED
    assert event.last(black).text.endswith(
        "counts 0 points for Black and 1 point for White, by the operator's ruling: The engine was another one."
    )
    event.say(log.TakenBack(reason="Wrong komi.", with_results=True))
    assert event.last(black).text == "Round 1 of spring is taken back: Wrong komi."


def test_pauses_the_end_and_a_cancellation_are_told_to_all() -> None:
    event = followed(2, rounds=1)
    start(event)
    event.say(log.Paused(reason="Power cut."))
    event.say(log.Resumed())
    (game,) = event.state.event.rounds[0].games
    event.say(log.Ended(game=game.id, result=BLACK_WINS))
    event.advance()
    black, white = (event.state.seats[entrant].name for entrant in (game.black, game.white))
    assert event.words(black) == ["entered", "started", "paired", "paused", "resumed", "ended"]
    assert event.last(black).text == "spring is over: your place is 1 of 2."
    assert (event.last(white).place, event.last(white).entrants) == (2, 2)
    other = followed(2)
    other.say(log.Cancelled(reason="Nobody is at the switch"))
    assert other.last("Bot-2").text == "spring is cancelled: Nobody is at the switch."


def test_who_has_not_withdrawn_hears_of_the_next_one_of_a_series() -> None:
    event = followed(5, times=Times(starts_at=START_MS, every_days=7, check_in_s=600))
    event.say(log.Withdrawn(entrant=5))
    for number in (1, 2, 3):
        event.say(log.CheckedIn(entrant=number))
    start(event)
    event.say(log.Withdrawn(entrant=3, by="bot"))
    event.say(log.Followed(by="spring-2", why="again"))
    assert event.words("Bot-1")[-1] == "followed"
    assert event.last("Bot-1").text == "spring is followed by spring-2."
    assert (event.last("Bot-1").series, event.last("Bot-1").next) == ("spring", "spring-2")
    assert event.words("Bot-3")[-1] == "withdrawn"
    assert event.words("Bot-4")[-2:] == ["left_out", "followed"], "who was not there may be there the next time"
    assert event.words("Bot-5")[-1] == "withdrawn"
    event.say(log.Followed(by="spring-playoff", why="playoff"))
    assert event.words("Bot-1")[-1] == "followed"
    assert event.last("Bot-1").next == "spring-2", "a playoff tells its own entrants"


def test_who_comes_back_hears_where_it_stands() -> None:
    event = followed(3, limits=Limits(most=2))
    seats = event.state.seats
    assert standing(event.state, seats[1]).what is EventWhat.ENTERED
    timed = followed(1, times=Times(starts_at=START_MS))
    assert timed.last("Bot-1").text == "You have entered spring: it starts at 2026-09-21 14:13 UTC."
    assert standing(event.state, seats[3]).what is EventWhat.WAITING
    start(event)
    state = event.state
    assert standing(state, state.seats[1]).text == "You are in spring: round 1 has begun."
    assert standing(state, replace(state.seats[1], out=True)).what is EventWhat.WITHDRAWN
