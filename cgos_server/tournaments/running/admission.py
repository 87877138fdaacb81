"""Who may enter an event, whether there is a place, who withdraws and checks in.

Values in, an entry of the log out, or a refusal with a sentence. Must not know: who asks, accounts, connections.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from cgos_protocol.errors import Code, Conflict, NotFound
from cgos_protocol.ids import BotId, VersionId
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.state import BEFORE, EventState, Phase, Seat, closed_to
from cgos_server.tournaments.words import counted


class Candidate(NamedTuple):
    """A version that wants in.

    :ivar family: the bot that leads its family
    :ivar owner: number of the account; None: it has none
    :ivar rating: in the event's venue; None: it has none yet
    """

    version: VersionId
    bot: BotId
    name: str
    family: BotId
    owner: int | None
    rating: float | None


def entering(state: EventState, candidate: Candidate, by_operator: bool) -> log.Entered:
    """The entry of a version.

    :param by_operator: whoever holds the event enters whom he wants: limits of owners, families and ratings are not
        looked at, and entry need not be open before the start
    :raises Refused: where it cannot enter
    """
    name = state.settings.name
    if state.seat_of(candidate.version) is not None:
        raise Conflict(Code.ENTERED, f"{candidate.name} has entered {name} already.")
    why = closed_to(state)
    if why and not (by_operator and state.phase in ("announced", "closed")):
        raise Conflict(Code.EVENT_CLOSED, f"{candidate.name} cannot enter: {why}")
    if not by_operator:
        if state.settings.entering == "operator":
            raise Conflict(Code.EVENT_CLOSED, f"The operator alone enters versions into {name}. Ask to be entered.")
        _require_within_limits(state, candidate)
    most = state.settings.limits.most
    full = most is not None and len(state.there) >= most
    if full and state.phase is Phase.RUNNING:
        raise Conflict(
            Code.EVENT_LIMIT, f"{candidate.name} cannot enter: {name} has started with all its places taken."
        )
    return log.Entered(
        entrant=state.entered + 1,
        version=candidate.version,
        bot=candidate.bot,
        name=candidate.name,
        family=candidate.family,
        owner=candidate.owner,
        rating=candidate.rating,
        waits=full,
    )


def _require_within_limits(state: EventState, candidate: Candidate) -> None:
    limits, seats = state.settings.limits, state.seats.values()
    name = state.settings.name
    if candidate.owner is None:
        of_owner = [seat for seat in seats if seat.bot == candidate.bot]
    else:
        of_owner = [seat for seat in seats if seat.owner == candidate.owner]
    of_family = [seat for seat in seats if seat.family == candidate.family]
    _require_room(candidate, name, of_owner, most=limits.per_owner, whose="of one owner")
    _require_room(candidate, name, of_family, most=limits.per_family, whose="of one family")
    rating = candidate.rating
    if rating is None and (limits.lowest is not None or limits.highest is not None):
        raise Conflict(
            Code.EVENT_LIMIT,
            f"{candidate.name} has no rating, and {name} asks for one. Let it play in the venue first.",
        )
    if rating is not None and limits.lowest is not None and rating < limits.lowest:
        raise Conflict(Code.EVENT_LIMIT, f"{candidate.name} has {rating:.0f}; {name} begins at {limits.lowest:g}.")
    if rating is not None and limits.highest is not None and rating > limits.highest:
        raise Conflict(Code.EVENT_LIMIT, f"{candidate.name} has {rating:.0f}; {name} ends at {limits.highest:g}.")


def _require_room(candidate: Candidate, name: str, seats: Collection[Seat], *, most: int | None, whose: str) -> None:
    if most is not None and len(seats) >= most:
        entered = ", ".join(seat.name for seat in seats)
        raise Conflict(
            Code.EVENT_LIMIT,
            f"{candidate.name} cannot enter: {name} takes {counted(most, 'version')} {whose}, and {entered} entered. "
            "Withdraw that one first.",
        )


def withdrawing(state: EventState, version: VersionId) -> log.Withdrawn:
    """A version takes its entry back itself, or plays no more.

    :raises Refused: where it is not in the event
    """
    return log.Withdrawn(entrant=_seat_there(state, version).entrant, by="bot")


def rejoining(state: EventState, seat: Seat, by: log.Party) -> log.Rejoined:
    """Somebody who is out after the start comes back. Whether the system can take it is the log's affair.

    :param by: who wants it
    :raises Refused: where that one cannot undo what took it out, and where there is no place any more
    """
    name, withdrawn_by = state.settings.name, seat.withdrawn_by
    if by == "operator" or not seat.out:
        return log.Rejoined(entrant=seat.entrant)
    if withdrawn_by is None:
        why = closed_to(state)
        if why:
            raise Conflict(Code.EVENT_CLOSED, f"{seat.name} was not in {name} when it started: {why}")
    elif log.PARTIES.index(by) < log.PARTIES.index(withdrawn_by):
        whom = "The operator" if withdrawn_by == "operator" else "Its owner"
        raise Conflict(Code.ENTERED, f"{whom} withdrew {seat.name} from {name}, and alone can let it come back.")
    most = state.settings.limits.most
    if most is not None and len(state.there) >= most:
        raise Conflict(Code.EVENT_LIMIT, f"{seat.name} cannot come back: all places of {name} are taken.")
    return log.Rejoined(entrant=seat.entrant)


def checking_in(state: EventState, version: VersionId) -> log.CheckedIn | None:
    """A version says that it will be there; None: it has said so. Whether that is asked for now is the log's affair.

    :raises Refused: where it is not in the event
    """
    seat = _seat_there(state, version)
    return None if seat.checked_in and state.phase in BEFORE else log.CheckedIn(entrant=seat.entrant)


def check_in_is_open(state: EventState, now: int) -> bool:
    """True while entrants are to say that they will be there; `now` in Unix ms."""
    times = state.settings.times
    if not times.check_in_s or times.starts_at is None or state.phase not in BEFORE:
        return False
    return times.starts_at - 1000 * times.check_in_s <= now


def _seat_there(state: EventState, version: VersionId) -> Seat:
    seat = state.seat_of(version)
    if seat is None:
        raise NotFound(Code.NO_ENTRANT, f"That version has not entered {state.settings.name}.")
    if seat.out:
        raise Conflict(Code.EVENT_PHASE, f"{seat.name} is not in {state.settings.name} any more.")
    return seat
