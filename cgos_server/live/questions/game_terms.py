"""What the games of a question are played by: the venue's terms, unrated unless asked otherwise.

Must not know: who plays, when games begin.
"""

from __future__ import annotations

from dataclasses import replace

from cgos_protocol.terms import Terms
from cgos_server.core.questions.asked import Asked
from cgos_server.core.venue import Venue, terms_of
from cgos_server.storage.reading.stored import StoredMove


def question_terms(venue: Venue, asked: Asked) -> Terms:
    """The terms of every game of the question."""
    terms = terms_of(venue)
    return replace(terms, rated=terms.rated and asked.rated)


def begins_with(venue: Venue, terms: Terms, name: str) -> list[StoredMove]:
    """The moves of an opening of the venue, by its name, each with the clock of its mover; none where it is gone."""
    opening = venue.pairing.openings.named(name) if name else None
    return [] if opening is None else [StoredMove(move, clock) for move, clock in opening.stored(terms)]
