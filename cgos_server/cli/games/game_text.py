"""One stored game as text for a terminal.

Must not know: where it is stored.
"""

from __future__ import annotations

from collections.abc import Iterator

import click

from cgos_protocol.games.base import Color
from cgos_protocol.games.notation import COLUMNS, vertex
from cgos_server.cli.output import print_table, shown
from cgos_server.presentation import game_lines
from cgos_server.presentation.stored_game import Seen, StoredGame
from cgos_server.presentation.words import finely, moment, terms
from cgos_server.storage.reading.answers import GameDetail

_MARKS = {None: ".", Color.BLACK: "X", Color.WHITE: "O"}


def describe(detail: GameDetail, ply: int | None = None) -> None:
    """Print everything about a game. Raises OurFault where its stored moves cannot be played.

    :param ply: show the board after so many moves, and what was said with the last of them; None: as it stands
    """
    stored = StoredGame(detail)
    game, played_by = detail.game, stored.terms
    click.echo(f"game {game.id}, {game.venue}: {terms(played_by.rules, played_by.time)}")
    click.echo(f"black  {game.black} ({game.black_label})")
    click.echo(f"white  {game.white} ({game.white_label})")
    ended = "still running" if game.ended_at is None else f"ended {moment(game.ended_at)}"
    click.echo(f"started {moment(game.started_at)}, {ended} (UTC)")
    if game.result is not None:
        click.echo(f"result {game.result}: {stored.ending()}")
    if detail.pairing is not None:
        click.echo(f"paired in round {detail.pairing.round}: {detail.pairing.reason}")
        click.echo(f"colors: {detail.pairing.colors}")
    if game.opening:
        click.echo(f"opening: {game.opening}, whose moves were given")
    if detail.repeats is not None:
        click.echo(f"the same game as {detail.repeats}, move by move")
    for row in detail.corrections:
        click.echo(f"corrected {moment(row.at)} by {row.actor}: {row.was} became {row.result} ({row.reason})")
    for change in detail.ratings:
        before = finely(change.before_mean, change.before_lower, change.before_upper)
        after = finely(change.after_mean, change.after_lower, change.after_upper)
        click.echo(f"rating of {change.version} ({change.system}, entry {change.seq}): {before} -> {after}")
    click.echo()
    last = len(detail.moves)
    at = last if ply is None else min(ply, last)
    if at < last:
        click.echo(f"after move {at} of {last}")
    for line in board(stored.position(at), played_by.rules.size):
        click.echo(line)
    analyses = game_lines.analyses(stored)
    _describe_thoughts(game_lines.said_with(stored, at, analyses.get(at)))
    if not detail.moves:
        return
    click.echo()
    lines = game_lines.move_lines(stored, analyses)
    columns: tuple[str, ...] = ("move", "by", "at", "used", "left")
    rows: list[tuple[object, ...]] = [(each.ply, each.color, each.move, each.used, each.left) for each in lines]
    if analyses:
        columns = (*columns, "black wins %", "black leads")
        rows = [(*row, _per_cent(each.winrate), each.score or None) for row, each in zip(rows, lines, strict=True)]
    print_table(columns, rows)


def _describe_thoughts(thoughts: game_lines.Said | None) -> None:
    """What the mover thought with the move shown."""
    if thoughts is None:
        return
    click.echo()
    click.echo(shown(f"thought with this move: {thoughts.figures}"))
    if thoughts.comment:
        click.echo(shown(thoughts.comment))
    if thoughts.candidates:
        print_table(
            ("considered", "wins", "score", "visits", "and then"),
            [(each.move, each.winrate, each.score, each.visits, each.pv) for each in thoughts.candidates],
        )


def _per_cent(share: str) -> str | None:
    return f"{100 * float(share):.1f}" if share else None


def board(seen: Seen, size: int) -> Iterator[str]:
    """A position as lines of text: ``X`` black, ``O`` white, the last move in parentheses."""
    letters = "    " + " ".join(COLUMNS[:size])
    yield letters
    for row in reversed(range(size)):
        line = f"{row + 1:2}  "
        for column in range(size):
            point = vertex(column, row)
            line += _MARKS[seen.stones.get(point)] + " "
            if point == seen.last:
                line = f"{line[:-3]}({line[-2]})"
        yield f"{line} {row + 1}"
    yield letters
    black, white = seen.captures
    yield f"X (black) took {black}, O (white) took {white}"
