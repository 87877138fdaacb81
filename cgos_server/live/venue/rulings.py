"""What an operator decides about games: who meets whom now, and which game ends how.

Every refusal is a sentence that says what to do instead. Must not know: who asks, over which wire, storage.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from cgos_protocol.api.people import EndedGame
from cgos_protocol.clock import TimeSystem
from cgos_protocol.errors import Code, Conflict, Invalid, NotFound
from cgos_protocol.games.base import Color, Ruleset
from cgos_protocol.ids import GameId
from cgos_protocol.referee import Referee
from cgos_protocol.terms import Terms, decode_terms
from cgos_server.core.venue import terms_of
from cgos_server.live.venue.live_venue import LiveVenue
from cgos_server.live.venue.player import Player
from cgos_server.service.control import ArrangedGame
from cgos_server.service.holds import Hold, for_operator
from cgos_server.storage.reading.stored import StoredGame, StoredMove

LONGEST_S: Final = 604_800
"""Longest main time of one side."""


def arrange(
    venue: LiveVenue,
    white: str,
    black: str,
    mains_s: tuple[int, int],
    opening: StoredGame | None,
    plies: int | None,
    actor: str,
) -> ArrangedGame:
    """See :meth:`cgos_server.service.control.Control.match`."""
    name = venue.venue.name
    if Hold.STOPPING in venue.matchmaker.holds:
        raise Conflict(Code.DRAINING, "The server is going down and begins no new game.")
    if white == black:
        raise Conflict(Code.SAME_PLAYER, f"{white} cannot play itself.")
    players = (
        _waiting(venue, white, Code.NO_WHITE, Code.WHITE_BUSY),
        _waiting(venue, black, Code.NO_BLACK, Code.BLACK_BUSY),
    )
    terms = _terms(venue, mains_s)
    moves: tuple[StoredMove, ...] = ()
    if opening is not None:
        terms = replace(terms, rated=False)
        moves = _moves(terms, opening, plies)
    elif plies is not None:
        raise Invalid(Code.BAD_LENGTH, "Moves can only be taken from an old game: name it.")
    why = f"Arranged by {actor}"
    if opening is not None:
        why += f", from game {opening.id} after move {len(moves)}"
    label = venue.context.rater.label
    number = venue.matchmaker.arrange(black=players[1], white=players[0], terms=terms, moves=moves, why=f"{why}.")
    return ArrangedGame(
        game=number,
        venue=name,
        white=white,
        white_label=label(players[0].version),
        black=black,
        black_label=label(players[1].version),
        rated=terms.rated,
        plies=len(moves),
    )


def end(venues: Iterable[LiveVenue], number: GameId, winner: Color | None, detail: str) -> EndedGame:
    """See :meth:`cgos_server.service.control.Control.end_game`."""
    for venue in venues:
        game = venue.roster.game(number)
        if game is not None:
            break
    else:
        raise NotFound(Code.NO_GAME, f"No game {number} is running. See: cgos-server status")
    if game.ending:
        raise Conflict(Code.ENDING, f"Game {number} is just ending by itself.")
    black, white = (side.name for side in game.sides)
    if winner is None:
        game.abort(detail)
    else:
        game.forfeit(winner.other, detail)
    result = "Abort" if winner is None else f"{winner.letter.upper()}+Forfeit"
    return EndedGame(game=number, venue=venue.venue.name, white=white, black=black, result=result)


def _waiting(venue: LiveVenue, name: str, absent: Code, busy: Code) -> Player:
    player = venue.roster.named(name)
    if player is None:
        raise NotFound(absent, f"{name} is not signed in to {venue.venue.name}. Capitals count in names.")
    if not player.available:
        raise Invalid(busy, f"{name} is not waiting for a game: {for_operator(venue.reminders.seen(player))}.")
    return player


def _terms(venue: LiveVenue, mains_s: tuple[int, int]) -> Terms:
    """The venue's terms, or with other clocks: unrated then."""
    terms = terms_of(venue.venue)
    if mains_s == (0, 0):
        return terms
    if terms.time.system is not TimeSystem.ABSOLUTE:
        raise Invalid(
            Code.BAD_TIME,
            f"Only absolute time can be set for one game, and {venue.venue.name} plays with {terms.time.system} time.",
        )
    if not all(0 <= seconds <= LONGEST_S for seconds in mains_s):
        raise Invalid(Code.BAD_TIME, f"Give whole seconds from 1 to {LONGEST_S}, or 0 for the venue's own time.")
    white, black = (seconds * 1_000_000 or terms.time.main for seconds in mains_s)
    if white == black == terms.time.main:
        return terms
    first = terms.first_move_limit
    if first >= terms.time.main:  # no limit of its own: the main time is
        first = max(first, white, black)
    return replace(terms, mains=(black, white), first_move_limit=first, rated=False)


def _moves(terms: Terms, opening: StoredGame, plies: int | None) -> tuple[StoredMove, ...]:
    """The moves with which the new game begins, each with the clock that its mover has at the beginning."""
    number = opening.id
    if decode_terms(opening.terms).rules != terms.rules or opening.start:
        raise Invalid(
            Code.BAD_GAME, f"Game {number} was not played by the rules of this venue ({_rules(terms.rules)})."
        )
    known = len(opening.moves)
    count = known if plies is None else plies
    if not 1 <= count <= known:
        raise Invalid(Code.BAD_LENGTH, f"Game {number} has {known} moves: give a number from 1 to {known}.")
    moves = tuple(
        StoredMove(move.move, terms.starting_clock(Color.WHITE if ply % 2 else Color.BLACK))
        for ply, move in enumerate(opening.moves[:count])
    )
    referee = Referee(terms)
    referee.replay(moves)
    if referee.verdict is not None:
        raise Invalid(Code.BAD_LENGTH, f"Game {number} is over after its move {count}: take fewer moves of it.")
    return moves


def _rules(rules: Ruleset) -> str:
    suicide = "allowed" if rules.suicide else "forbidden"
    return f"{rules.game} {rules.size}x{rules.size}, komi {rules.komi2 / 2}, {rules.ko} ko, suicide {suicide}"
