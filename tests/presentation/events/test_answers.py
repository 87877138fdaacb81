"""What is shown of an event as it is now, of its crosstable and of its log."""

from __future__ import annotations

from support.tournaments.held_events import HeldEvent

from cgos_protocol.games.base import Color
from cgos_protocol.ids import BotId
from cgos_server.presentation.events import answers
from cgos_server.presentation.events.record import EventRecord
from cgos_server.tournaments.base import BLACK_WINS, VOID, WHITE_WINS
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import EventSettings
from cgos_server.tournaments.running.steps import forfeited_by

NAMES = ("Ann-1", "Bob-1", "Cid-1", "Dan-1", "Eve-1")


def record_of(held: HeldEvent) -> EventRecord:
    record = EventRecord(1, held.entries[0])
    for entry in held.entries[1:]:
        record.add(entry)
    record.bots = {BotId(number): (name[:-2], "olive") for number, name in enumerate(NAMES, 1)}
    return record


def dutch() -> HeldEvent:
    held = HeldEvent(EventSettings(name="Open", venue="9x9", system="dutch", rounds=2))
    held.start(NAMES)
    return held


def test_an_event_is_shown_while_a_round_is_played() -> None:
    held = dutch()
    (_, first), (_, second) = held.state.due_games
    held.begin(first)
    held.begin(second)
    held.end(first, BLACK_WINS)
    record = record_of(held)
    now = answers.now(record)
    line = now.summary
    assert (line.phase, line.entrants, line.games, line.running, line.ended) == ("running", 5, 2, 1, 1)
    assert line.status == "Round 1 of 2: 1 game without a result, 1 ended."
    assert [game.state for game in now.rounds[0].games] == ["ended", "running"]
    shown, other = now.rounds[0].games
    assert (shown.number, shown.game, shown.result, shown.black_points) == (1, 101, "Black wins", 1.0)
    assert shown.began_at is not None
    assert shown.ended_at == shown.began_at + 61_000
    assert other.result is None
    assert now.rounds[0].byes[0].points == 1.0
    assert not now.rounds[0].complete
    playing = {one.version: one.game for one in now.entrants}
    assert playing[other.black] == playing[other.white] == 102
    assert playing[shown.black] is None
    assert {one.version: (one.bot, one.owner) for one in now.entrants}["Ann-1"] == ("Ann", "olive")
    assert [one.place for one in now.entrants] == [row.place for row in now.standings.rows]


def test_before_the_start_entrants_stand_in_the_order_of_entering() -> None:
    held = HeldEvent(EventSettings(name="Open", venue="9x9", system="dutch", rounds=2))
    held.say(log.Opened())
    held.enter(2, 1500.0, "Bob-1")
    held.enter(1, 1600.0, "Ann-1")
    now = answers.now(record_of(held))
    assert [(one.version, one.state, one.place) for one in now.entrants] == [
        ("Bob-1", "entered", None),
        ("Ann-1", "entered", None),
    ]
    assert now.summary.status == "Entry is open: 2 entrants so far."
    assert now.may_enter
    assert now.standings.rows == []
    assert answers.cross_table(record_of(held)).rows == []


def test_an_event_that_is_over_says_who_won() -> None:
    held = dutch()
    held.play_round(lambda _: BLACK_WINS)
    held.play_round(lambda game: BLACK_WINS if game.black == 1 else WHITE_WINS)
    line = answers.summary(record_of(held))
    assert line.phase == "over"
    assert line.leaders
    assert line.status.startswith("Over after 2 rounds: ")
    assert line.ended_at == held.now


def test_who_won_the_playoff_has_the_first_place_alone() -> None:
    held = HeldEvent(EventSettings(name="Open", venue="9x9", system="round-robin", options={"double": True}))
    held.start(NAMES[:2])
    held.play_round(lambda _: BLACK_WINS)
    held.play_round(lambda _: BLACK_WINS)
    assert answers.summary(record_of(held)).leaders == ["Ann-1", "Bob-1"]
    held.say(log.Decided(entrants=(2,), by="Open-playoff"))
    assert answers.summary(record_of(held)).leaders == ["Bob-1"]


def test_cells_of_the_crosstable_lead_to_games() -> None:
    held = dutch()
    held.play_round(lambda _: BLACK_WINS)
    held.play_round(lambda _: WHITE_WINS)
    record = record_of(held)
    table = answers.cross_table(record)
    games = {game.number: game for game in answers.games(record).items}
    numbers = {row.number: row for row in table.rows}
    shown = 0
    for row in table.rows:
        for cell in (cell for cells in row.rounds for cell in cells):
            if cell.opponent is None:
                assert (cell.number, cell.game) == (None, None)
                continue
            shown += 1
            assert cell.number is not None
            game = games[cell.number]
            mine, other = (
                (game.black_entrant, game.white_entrant)
                if cell.color == "black"
                else (game.white_entrant, game.black_entrant)
            )
            assert (mine, other) == (row.entrant, numbers[cell.opponent].entrant)
            assert cell.game == game.game
    assert shown == 8
    assert all(len(pair.numbers) == len(pair.text) for pair in table.pairs)


def test_a_void_game_that_is_played_again_is_shown_once_in_the_crosstable_and_twice_among_games() -> None:
    held = dutch()
    (_, first), (_, second) = held.state.due_games
    held.begin(first)
    held.begin(second)
    held.end(first, VOID, "The server failed.")
    held.end(second, WHITE_WINS)
    held.play_round(lambda _: BLACK_WINS)
    record = record_of(held)
    first_round = answers.rounds(record).items[0]
    assert [game.result for game in first_round.games] == ["Void", "White wins", "Black wins"]
    assert first_round.games[0].why == "The server failed."
    row = next(row for row in answers.cross_table(record).rows if row.entrant == first.black)
    assert [cell.number for cell in row.rounds[0]] == [3]


def test_a_game_that_never_began_is_shown_without_a_number_of_the_server() -> None:
    held = dutch()
    (_, first), _ = held.state.due_games
    held.end(first, forfeited_by(Color.BLACK), "Ann-1 did not come.")
    game = answers.games(record_of(held)).items[0]
    assert (game.game, game.result, game.how, game.state) == (None, "White wins by forfeit", "forfeit", "ended")
    assert game.began_at is None


def test_the_log_is_read_page_by_page() -> None:
    held = dutch()
    record = record_of(held)
    first = answers.log_page(record, 0, 4)
    rest = answers.log_page(record, first.next or 0, 100)
    assert [line.seq for line in (*first.items, *rest.items)] == [entry.seq for entry in held.entries]
    assert rest.next is None
    assert first.items[0].kind == "announced"
    assert first.items[0].actor == "operator"
    assert first.items[2].said["name"] == "Ann-1"
    assert answers.log_page(record, 1000, 10).items == []


def test_a_bot_sees_where_its_versions_stand() -> None:
    own = answers.of_bot(record_of(dutch()), "Cid")
    assert [one.version for one in own.entrants] == ["Cid-1"]
    assert answers.of_bot(record_of(dutch()), "Nobody").entrants == []
