"""What an operator does to events while they are played: results ruled, games voided and replayed, entrants withdrawn
or entered late, rounds taken back, a first place shared.

Must not know: what follows from any of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from benchmarks.tournaments.event_site import Site, bot_name
from cgos_protocol.errors import Refused
from cgos_server.service.commands.games import GameAbort
from cgos_server.service.events.entering import EventEnter, EventWithdraw
from cgos_server.service.events.holding import EventPause, EventResume
from cgos_server.service.events.ruling import EventReplay, EventRule, EventTakeBack

WHY: Final = "To see what comes of it."
AGAIN_S: Final = 0.1
"""What cannot be done now is tried again after so long."""


class Act(NamedTuple):
    """Something to be done.

    :ivar word: of ACTS
    :ivar round: not before this one has begun
    """

    word: str
    round: int


class _Scene(NamedTuple):
    """An event as it stands while it is paused.

    :ivar late: the version that may enter late
    :ivar rounds: as the API has them
    """

    site: Site
    event: str
    late: str
    rounds: Sequence[dict[str, Any]]

    def games(self, state: str) -> list[dict[str, Any]]:
        """Those of the latest round that are ``due``, ``running`` or ``ended``."""
        return [game for game in self.rounds[-1]["games"] if game["state"] == state]

    def decided(self) -> list[dict[str, Any]]:
        """Games that somebody won on the board, of the round before the latest one and of that; the earliest first."""
        games = (game for each in self.rounds[-2:] for game in each["games"])
        return [game for game in games if game["how"] == "played" and game["black_points"] != game["white_points"]]


def _rule(scene: _Scene) -> str:
    """The earliest of the latest games was won by the other side; in a knock-out the next match has other players."""
    for game in scene.decided()[:1]:
        result = "1-0" if game["black_points"] else "0-1"
        scene.site.say(
            EventRule(event=scene.event, number=game["number"], result=result, reason=WHY, with_results=True)
        )
        return f"game {game['number']} of round {game['round']} ruled {result}"
    return ""


def _replay(scene: _Scene) -> str:
    for game in scene.decided()[-1:]:
        if game["round"] == scene.rounds[-1]["number"]:
            scene.site.say(EventReplay(event=scene.event, number=game["number"], reason=WHY, with_results=True))
            return f"game {game['number']} replayed"
    return ""


def _void(scene: _Scene) -> str:
    for game in scene.games("running")[:1]:
        scene.site.say(GameAbort(game=game["game"], reason=WHY))
        return f"game {game['number']} voided as it ran"
    return ""


def _withdraw(scene: _Scene) -> str:
    for game in [*scene.games("due"), *scene.games("running")][-1:]:
        scene.site.say(EventWithdraw(event=scene.event, version=game["black"], reason=WHY))
        return f"{game['black']} withdrawn, whose game {game['number']} was {game['state']}"
    return ""


def _late(scene: _Scene) -> str:
    scene.site.say(EventEnter(event=scene.event, version=scene.late))
    return f"{scene.late} entered late"


def _take_back(scene: _Scene) -> str:
    if not (scene.games("due") or scene.games("running")):
        return ""
    scene.site.say(EventTakeBack(event=scene.event, reason=WHY, with_results=True))
    return f"round {scene.rounds[-1]['number']} taken back"


ACTS: Final[Mapping[str, Callable[[_Scene], str]]] = {
    "rule": _rule,
    "replay": _replay,
    "void": _void,
    "withdraw": _withdraw,
    "late": _late,
    "take-back": _take_back,
}
"""Each says what was done; nothing where that cannot be just now."""


class Operator:
    """Does to one event what is planned, one thing after the other, each while it is paused.

    :ivar left: what is still to be done
    :ivar done: what was done, in words
    :ivar refused: the latest refusal
    """

    def __init__(self, site: Site, event: str, bots: int, acts: Sequence[Act]) -> None:
        self.left = list(acts)
        self.done: list[str] = []
        self.refused = ""
        self._site, self._event, self._late = site, event, bot_name(bots)
        self._again_at = 0.0

    def look(self) -> str:
        """Do the next things that can be done now; what was done, nothing where nothing was."""
        if time.monotonic() < self._again_at or not self._is_due():
            return ""
        self._again_at = time.monotonic() + AGAIN_S
        before = len(self.done)
        try:
            self._site.say(EventPause(event=self._event, reason=WHY))
        except Refused as refusal:
            self.refused = refusal.sentence
            return ""
        try:
            while self._is_due() and (words := self._act()):
                self.done.append(words)
                del self.left[0]
        except Refused as refusal:
            self.refused = refusal.sentence
        finally:
            self._site.say(EventResume(event=self._event))
        return "; ".join(self.done[before:])

    def _is_due(self) -> bool:
        return bool(self.left) and self._round() >= self.left[0].round

    def _act(self) -> str:
        rounds = self._site.get(f"/events/{self._event}/rounds")["items"]
        return ACTS[self.left[0].word](_Scene(self._site, self._event, self._late, rounds)) if rounds else ""

    def _round(self) -> int:
        """The latest of which a game has begun, while the event is on."""
        rows = self._site.query(
            "SELECT max(g.round) FROM events e JOIN event_games g ON g.event_id = e.id"
            " WHERE e.name = ? AND e.phase = 'running'",
            self._event,
        )
        return int(rows[0][0] or 0)
