"""Crosstables: every kind of cell, and both ways round of every result."""

from __future__ import annotations

import random
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.tournaments.events import entrants

from cgos_server.tournaments.base import BLACK_WINS, DRAWN, VOID, WHITE_WINS, Bye, Event, Game, Result
from cgos_server.tournaments.base import Round as Round_
from cgos_server.tournaments.standings.crosstable import Crosstable, crosstable
from cgos_server.tournaments.standings.tiebreaks import standings_by


def table_of(event: Event, *order: str) -> Crosstable:
    return crosstable(event, standings_by(event, order or ("points", "seed")))


def test_every_kind_of_cell() -> None:
    rounds = (
        Round_(
            number=1,
            games=(Game(black=2, white=1, result=WHITE_WINS, handicap=3), Game(black=4, white=3, result=DRAWN)),
            byes=(Bye(5),),
        ),
        Round_(
            number=2,
            games=(Game(black=1, white=5, result=BLACK_WINS), Game(black=2, white=3, result=Result(0, 2, "forfeit"))),
            byes=(Bye(4, 1, True),),
        ),
        Round_(number=3, games=(Game(black=3, white=1), Game(black=5, white=4, result=VOID)), byes=(Bye(2, 0, True),)),
        Round_(number=4, games=(Game(black=4, white=2, result=WHITE_WINS), Game(black=2, white=4, result=WHITE_WINS))),
    )
    players = (*entrants([None] * 5), replace(entrants([None] * 6)[5], joined=4))
    event = Event(system="swiss", entrants=players, name="Some event", rounds=rounds)
    table = table_of(event, "seed")
    assert table.columns == ("no", "name", "1", "2", "3", "4", "seed")
    assert table.text == (
        (1, "bot-1", "2+w3", "5+b", "3?w", "--", 1.0),
        (2, "bot-2", "1-b3", "3-!", "off-", "4+w,4-b", 2.0),
        (3, "bot-3", "4=w", "2+!", "1?b", "--", 3.0),
        (4, "bot-4", "3=b", "off=", "5x", "2-b,2+w", 4.0),
        (5, "bot-5", "bye+", "1-w", "4x", "--", 5.0),
        (6, "bot-6", "", "", "", "--", 6.0),
    )
    assert [row[2:8] for row in table.matrix_text] == [
        ("*", "1", "?", ".", "1", "."),
        ("0", "*", "-", "10", ".", "."),
        ("?", "+", "*", "=", ".", "."),
        (".", "01", "=", "*", "x", "."),
        ("0", ".", ".", "x", "*", "."),
        (".", ".", ".", ".", ".", "*"),
    ]
    assert not table.everybody_met
    counted = {(pair.row, pair.column): (pair.points, pair.games) for pair in table.pairs}
    assert [counted[two] for two in ((1, 2), (3, 2), (2, 4), (1, 3), (4, 5))] == [
        (2, 1),
        (2, 1),
        (2, 2),
        (0, 0),
        (0, 0),
    ]
    assert table.rows[4].rounds[2][0].white is None


def test_numbers_are_lines_and_places_are_shared() -> None:
    event = Event(
        system="swiss",
        entrants=entrants([None] * 4),
        rounds=(
            Round_(
                number=1, games=(Game(black=1, white=4, result=WHITE_WINS), Game(black=3, white=2, result=WHITE_WINS))
            ),
        ),
    )
    table = table_of(event, "points")
    assert table.columns == ("no", "place", "name", "1", "points")
    assert table.text == (
        (1, 1, "bot-2", "4+w", 1.0),
        (2, 1, "bot-4", "3+w", 1.0),
        (3, 3, "bot-1", "2-b", 0.0),
        (4, 3, "bot-3", "1-b", 0.0),
    )


def test_everybody_met() -> None:
    games = [Game(black=other, white=first, result=DRAWN) for first in range(1, 5) for other in range(1, first)]
    event = Event(system="round-robin", entrants=entrants([None] * 4), rounds=(Round_(number=1, games=tuple(games)),))
    assert table_of(event).everybody_met
    assert not table_of(replace(event, rounds=(Round_(number=1, games=tuple(games[1:])),))).everybody_met
    assert not table_of(Event(system="round-robin", entrants=entrants([None]))).everybody_met


@settings(max_examples=40)
@given(st.integers(0, 8), st.integers(0, 5), st.integers(0, 10**6))
def test_both_see_the_same_games(count: int, rounds: int, seed: int) -> None:
    lots = random.Random(seed)
    results: list[Any] = [WHITE_WINS, BLACK_WINS, DRAWN, VOID, None, Result(2, 0, "forfeit"), Result(0, 0, "forfeit")]
    made = []
    for number in range(1, rounds + 1):
        ids = lots.sample(range(1, count + 1), count)
        pairs = zip(ids[::2], ids[1::2], strict=False)
        byes = (Bye(ids[-1]),) if count % 2 else ()
        made.append(
            Round_(
                number=number,
                games=tuple(Game(black=b, white=a, result=lots.choice(results)) for a, b in pairs),
                byes=byes,
            )
        )
    event = Event(system="swiss", entrants=entrants([None] * count), rounds=tuple(made))
    table = table_of(event)
    assert len(table.text) == len(table.matrix_text) == count
    assert msgspec.json.decode(msgspec.json.encode(table), type=Crosstable) == table
    pairs_of = {(pair.row, pair.column): pair for pair in table.pairs}
    for (row, column), pair in pairs_of.items():
        other = pairs_of[column, row]
        assert pair.games == other.games
        seen_from_there = pair.text.translate(str.maketrans("10", "01"))
        assert len(pair.text) == len(other.text)
        for mine, theirs in zip(seen_from_there, other.text, strict=True):
            assert mine == theirs or (mine, theirs) in (("+", "-"), ("-", "+"))
    for line in table.rows:
        cells = [cell for cells in line.rounds for cell in cells]
        assert line.values[0] == sum(cell.points for cell in cells) / 2
        assert sum(pair.points for pair in table.pairs if pair.row == line.number) == sum(
            cell.points for cell in cells if cell.opponent
        )
        for at, cells_of in enumerate(line.rounds):
            for cell in cells_of:
                if cell.opponent is not None:
                    back = table.rows[cell.opponent - 1].rounds[at]
                    assert [(line.number, cell.against, cell.points)] == [
                        (cell_back.opponent, cell_back.points, cell_back.against) for cell_back in back
                    ]
