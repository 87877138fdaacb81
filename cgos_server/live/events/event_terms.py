"""What the games of an event are played by: the venue's terms, or what the event has otherwise.

Must not know: who plays, when games begin.
"""

from __future__ import annotations

from dataclasses import replace

from cgos_protocol.errors import Code, Invalid
from cgos_protocol.games.base import Color
from cgos_protocol.referee import Referee
from cgos_protocol.terms import Terms
from cgos_server.core.venue import PairingSettings, Venue, terms_of
from cgos_server.storage.reading.stored import StoredMove
from cgos_server.tournaments.base import Event, Game
from cgos_server.tournaments.chance import Lots
from cgos_server.tournaments.running.own_clock import own_clock
from cgos_server.tournaments.running.settings import EventSettings, Play, empty_event
from cgos_server.tournaments.tournament import system_of


def require_playable(venue: Venue, settings: EventSettings) -> None:
    """Raises Refused where an event's games cannot be played in the venue."""
    if getattr(system_of(empty_event(settings)), "handicap", False):
        raise Invalid(
            Code.EVENT_SETTING, "Games here begin without handicap stones. Announce it without the option handicap."
        )
    event_terms(venue, settings)


def event_terms(venue: Venue, settings: EventSettings) -> Terms:
    """The terms of every game of the event. Raises Refused where the venue cannot have them."""
    play, terms = settings.play, terms_of(venue)
    if play.komi is not None:
        komi2 = round(2 * play.komi)
        if komi2 != 2 * play.komi or abs(komi2) > 2 * terms.rules.size**2:
            raise Invalid(Code.EVENT_SETTING, f"{play.komi:g} is no komi of a game here. Give whole or half points.")
        terms = replace(terms, rules=replace(terms.rules, komi2=komi2))
    if play.main_s is not None:
        terms = replace(terms, time=own_clock(terms.time, play))
        terms = replace(terms, first_move_limit=min(terms.first_move_limit, terms.time.main))
    terms = replace(terms, rated=terms.rated and settings.rated and not play.is_own)
    _require_moves(terms, play)
    return terms


def begins_with(venue: Venue, settings: EventSettings, event: Event, game: Game) -> tuple[StoredMove, ...]:
    """The moves that a game of the event begins with, each with the clock that its mover has before it.

    An opening of the venue is drawn by lot for each pair, so that both of its games have the same one.
    """
    play, terms = settings.play, event_terms(venue, settings)
    moves = play.first_moves
    if not moves and play.openings is not False:
        moves = _drawn(venue.pairing, event, game)
    return _stored(terms, moves)


def _drawn(pairing: PairingSettings, event: Event, game: Game) -> tuple[str, ...]:
    lots = Lots(event.seed, 0)
    if not pairing.openings or lots.unit("opening-share", *game.pair) >= pairing.openings_share:
        return ()

    class Drawn:
        def random(self) -> float:
            return lots.unit("opening", *game.pair)

    return pairing.openings.choose(Drawn()).moves


def _require_moves(terms: Terms, play: Play) -> None:
    referee = Referee(terms)
    for number, move in enumerate(play.first_moves, 1):
        read = referee.position.read(move)
        if read is None or referee.position.play(read) is not None:
            raise Invalid(
                Code.EVENT_SETTING,
                f"Games cannot begin with {' '.join(play.first_moves)}: move {number}, {move}, is not possible there.",
            )


def _stored(terms: Terms, moves: tuple[str, ...]) -> tuple[StoredMove, ...]:
    clocks = tuple(terms.starting_clock(color) for color in Color)
    return tuple(StoredMove(move, clocks[ply % 2]) for ply, move in enumerate(moves))
