"""`cgos-server tournament change`: who leaves, returns, comes late, sits out or must not meet, entered into a file.

Must not know: how an event's record changes, how a file is laid out.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec

from cgos_protocol.errors import Code, Conflict, Invalid
from cgos_server.cli.common import gathered, json_option
from cgos_server.cli.files import overwrite_option
from cgos_server.cli.output import print_json
from cgos_server.cli.tournaments.event_files import EventChoice, player, save
from cgos_server.tournaments.base import Entrant, Event, Request
from cgos_server.tournaments.event import forbid, rejoin, request_bye, withdraw
from cgos_server.tournaments.tournament import admit
from cgos_server.tournaments.undoing import cancel_bye, lift, strike, take_back_round

_POINTS = {"0": 0, "1/2": 1, "1": 2}


class Changes(NamedTuple):
    """What the command line asks for, in the order in which it is done; players are named as it has them.

    :ivar unpair: the last round is taken back
    :ivar with_results: though games of it have results
    :ivar struck: entries that were mistakes
    :ivar entering: NAME[=RATING]
    :ivar playing: byes that were asked for are cancelled
    :ivar sitting: PLAYER[=POINTS]
    """

    unpair: bool
    with_results: bool
    struck: Sequence[str]
    entering: Sequence[str]
    leaving: Sequence[str]
    returning: Sequence[str]
    playing: Sequence[str]
    sitting: Sequence[str]
    together: Sequence[tuple[str, str]]
    apart: Sequence[tuple[str, str]]

    def made(self, event: Event) -> Event:
        """The event with all of them. Raises Refused where one of them cannot be."""
        if self.unpair:
            event = take_back_round(event, self.with_results)
        for word in self.struck:
            event = strike(event, player(event, word))
        for text in self.entering:
            event = admit(event, _entrant(event, text))
        for word in self.leaving:
            event = withdraw(event, player(event, word))
        for word in self.returning:
            event = rejoin(event, player(event, word))
        for word in self.playing:
            event = cancel_bye(event, player(event, word), len(event.rounds) + 1)
        for text in self.sitting:
            event = request_bye(event, _request(event, text))
        for one, other in self.together:
            event = lift(event, player(event, one), player(event, other))
        for one, other in self.apart:
            event = forbid(event, player(event, one), player(event, other))
        return event


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--enter", "entering", metavar="NAME[=RATING]", multiple=True, help="Somebody new, from the next round on."
)
@click.option("--withdraw", "leaving", metavar="PLAYER", multiple=True, help="Is paired no more.")
@click.option("--rejoin", "returning", metavar="PLAYER", multiple=True, help="Is paired again.")
@click.option(
    "--bye",
    "sitting",
    metavar="PLAYER[=POINTS]",
    multiple=True,
    help="Sits out the next round for 0, 1/2 or 1.",
)
@click.option("--forbid", "apart", metavar="PLAYER PLAYER", nargs=2, multiple=True, help="These two must not meet.")
@click.option("--lift", "together", metavar="PLAYER PLAYER", nargs=2, multiple=True, help="These two may meet again.")
@click.option("--cancel-bye", "playing", metavar="PLAYER", multiple=True, help="Plays the next round after all.")
@click.option("--strike", "struck", metavar="PLAYER", multiple=True, help="Its entry was a mistake; it is in no round.")
@click.option("--unpair", is_flag=True, help="Take the last round back, to be paired again.")
@click.option("--with-results", is_flag=True, help="Take it back though games of it have results.")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="Write there instead of to FILE.")
@overwrite_option
@json_option
@gathered(Changes)
def change(changes: Changes, file: Path, output: Path | None, overwrite: bool, as_json: bool) -> None:
    """Enter into FILE who comes, leaves, returns or sits out, and take such changes back.

    A PLAYER is a number or a name. All is done or, where something cannot be, nothing; a round is taken back first.
    """
    if changes.with_results and not changes.unpair:
        raise click.UsageError("--with-results says something of --unpair: give both.")
    opened, before = EventChoice(file).open(needs_system=False)
    event = changes.made(before)
    if event == before:
        raise Conflict(
            Code.NO_CHANGE, f"Nothing changes in {file}. `cgos-server tournament change --help` lists what can."
        )
    saved = save(output or file, opened, event, beside_json=as_json, overwrite=overwrite)
    if as_json:
        print_json({"saved": saved, "changed": _changed(before, event)})


def _changed(before: Event, after: Event) -> dict[str, Any]:
    """What of the record is another now, for programs: fields by name, as they are now."""
    old, new = (msgspec.to_builtins(event) for event in (before, after))
    return {name: new.get(name) for name in {**old, **new} if old.get(name) != new.get(name)}


def _entrant(event: Event, text: str) -> Entrant:
    """NAME[=RATING] with the next free number; the last equals sign counts."""
    name, equals, rating = text.rpartition("=")
    free = max((one.id for one in event.entrants), default=0) + 1
    try:
        entrant = Entrant(id=free, name=name, rating=float(rating)) if equals else Entrant(id=free, name=text)
    except ValueError:
        raise click.BadParameter(f"{rating!r} in {text!r} is no rating.", param_hint="--enter") from None
    if any(one.name.casefold() == entrant.name.casefold() for one in event.entrants):
        raise Invalid(Code.ENTRANT_NAME, f"{entrant.name} has entered already. Give another name.")
    return entrant


def _request(event: Event, text: str) -> Request:
    """PLAYER[=POINTS] for the next round."""
    word, _, points = text.partition("=")
    if (points or "0") not in _POINTS:
        raise click.BadParameter(f"A bye gives 0, 1/2 or 1 point, not {points!r}.", param_hint="--bye")
    return Request(player(event, word), len(event.rounds) + 1, _POINTS[points or "0"])
