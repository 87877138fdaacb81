"""What happened lately, in one order for everybody: the venues' streams read from it, each at its own place.

Bounded: whoever is further behind than is kept gets a fresh picture of what runs, and so does everybody once something
may have been missed. Must not know: HTTP, the database.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from itertools import islice
from typing import Final, NamedTuple

from cgos_protocol.api.live import (
    Live,
    LiveGame,
    VenueArrived,
    VenueEnded,
    VenueEventMoved,
    VenueLeft,
    VenueMove,
    VenueQuestionMoved,
    VenueRating,
    VenueStarted,
)
from cgos_protocol.facts import (
    AnyFact,
    BotArrived,
    BotLeft,
    EventMoved,
    GameEnded,
    GameStarted,
    MovePlayed,
    QuestionMoved,
    RatingChanged,
)
from cgos_protocol.ids import GameId
from cgos_server.web.live.framing import PORTION, Form, Message, framed, message

KEPT: Final = 16_384
"""Messages that are kept for those who are behind."""

YOUNG: Final = 50_000
"""Moves that may wait until they are old enough to be told; with more of them all are dropped and a picture is due."""


CHUNKS: Final = 64
"""Portions that are kept for whoever is at the same place, until something is added."""


class Portion(NamedTuple):
    """What goes out next, and the place of whoever has got it."""

    data: bytes
    place: int


class _Entry:
    """A message that is encoded when somebody wants it first. `live` is None where a picture is due."""

    __slots__ = ("live", "message", "venue")

    def __init__(self, venue: str, live: Live | None) -> None:
        self.venue = venue
        self.live = live
        self.message: Message | None = None


class News:
    """The log. Places in it are numbers that only grow; `epoch` makes them this process's own.

    :ivar head: the place after the last message
    """

    def __init__(self, epoch: str, delays: Mapping[str, int], kept: int = KEPT) -> None:
        """`delays`: venue -> milliseconds before a move of a running game is told, where that is not 0."""
        self._epoch = epoch
        self._delays = {venue: delay for venue, delay in delays.items() if delay}
        self._kept = kept
        self._base = 0
        self._broken = 0
        self._entries: list[_Entry] = []
        self._young: deque[tuple[int, VenueMove]] = deque()
        self._again_at: list[int] = []
        self._chunks: dict[tuple[int, str | None, bool, Form], Portion | None] = {}

    @property
    def head(self) -> int:
        """The number that the next piece of news will have."""
        return self._base + len(self._entries)

    @property
    def next_due(self) -> int | None:
        """When the next young move, or the picture after a loss, is due; None for never."""
        return min([*(due for due, _ in islice(self._young, 1)), *self._again_at[:1]], default=None)

    def place(self, identity: str) -> int | None:
        """The place that a stream's last id names; None where it is not of this process or no id."""
        epoch, _, number = identity.partition("-")
        if epoch != self._epoch or not (number.isascii() and number.isdecimal()) or len(number) > 18:
            return None
        return min(int(number), self.head)

    def identity(self, place: int) -> str:
        """The id by which a stream goes on from `place`."""
        return f"{self._epoch}-{place}"

    def lost(self, now_ms: int) -> None:
        """Something may have been missed."""
        self._break()
        # Of what was lost some may not be told yet: what was played just now is in no picture before it is due.
        if self._delays:
            self._young.clear()
            self._again_at = sorted({*self._again_at, *(now_ms + delay + 1 for delay in self._delays.values())})

    def add(self, fact: AnyFact, now_ms: int, board: LiveGame | None = None) -> None:
        """The next fact; `board`: how the game that it begins stands."""
        live = _told(fact, board)
        if live is None:
            return
        delay = self._delays.get(fact.venue, 0)
        if delay and isinstance(live, VenueMove):
            self._wait(live, now_ms + delay)
            return
        if delay and isinstance(live, VenueEnded):
            self._free(live.game)
        self._append(_Entry(fact.venue, live))

    def release(self, now_ms: int) -> None:
        """Tell what is old enough."""
        while self._young and self._young[0][0] <= now_ms:
            move = self._young.popleft()[1]
            self._append(_Entry(move.venue, move))
        while self._again_at and self._again_at[0] <= now_ms:
            del self._again_at[0]
            self._break()

    def since(self, place: int, venue: str | None, moves: bool, form: Form) -> Portion | None:
        """What came since `place`, of one venue or (None) all, as much as goes out at once; None where only a fresh
        picture will do."""
        key = (place, venue, moves, form)
        if key in self._chunks:
            return self._chunks[key]
        chunk = self._since(place, venue, moves, form)
        if len(self._chunks) < CHUNKS:
            self._chunks[key] = chunk
        return chunk

    def _since(self, place: int, venue: str | None, moves: bool, form: Form) -> Portion | None:
        if not self.reaches(place):
            return None
        messages: list[Message] = []
        size = 0
        for number, entry in enumerate(islice(self._entries, place - self._base, None), place + 1):
            place = number
            if entry.live is None:
                continue
            if venue in (None, entry.venue) and (moves or not isinstance(entry.live, VenueMove)):
                if entry.message is None:
                    entry.message = message(entry.live, self.identity(number))
                messages.append(entry.message)
                size += len(entry.message.data)
                if size > PORTION:
                    break
        return Portion(framed(messages, form), place)

    def reaches(self, place: int) -> bool:
        """Whether everything since `place` is known."""
        return place >= max(self._base, self._broken)

    def _break(self) -> None:
        """Whoever is before this needs a fresh picture."""
        self._append(_Entry("", None))
        self._broken = self.head

    def _append(self, entry: _Entry) -> None:
        self._entries.append(entry)
        self._chunks.clear()
        if len(self._entries) > 2 * self._kept:
            self._base += len(self._entries) - self._kept
            del self._entries[: -self._kept]

    def _wait(self, move: VenueMove, due: int) -> None:
        if len(self._young) == YOUNG:
            self.lost(due)
        else:
            # Venues differ in their delays, so the order by time is kept here.
            at = len(self._young)
            while at and self._young[at - 1][0] > due:
                at -= 1
            self._young.insert(at, (due, move))

    def _free(self, game: GameId) -> None:
        """A game has ended: its moves may be told."""
        for _, move in self._young:
            if move.game == game:
                self._append(_Entry(move.venue, move))
        self._young = deque((due, move) for due, move in self._young if move.game != game)


def _told(fact: AnyFact, board: LiveGame | None) -> Live | None:
    match fact:
        case GameStarted():
            at = round(1000 * fact.at)
            return VenueStarted(
                game=fact.game,
                venue=fact.venue,
                black=fact.black,
                white=fact.white,
                black_label=fact.black_label,
                white_label=fact.white_label,
                at=at,
                board=board,
            )
        case MovePlayed():
            return VenueMove(game=fact.game, venue=fact.venue, ply=fact.ply, move=fact.move, left_ms=fact.left_ms)
        case GameEnded():
            return VenueEnded(
                game=fact.game, venue=fact.venue, result=fact.result, reason=fact.reason, at=round(1000 * fact.at)
            )
        case RatingChanged():
            before, after = round(fact.before, 1), round(fact.after, 1)
            return VenueRating(
                venue=fact.venue,
                seq=fact.seq,
                version=fact.version,
                before_mean=before,
                after_mean=after,
                after_half_width=fact.plus_minus,
                after_lower=fact.lower,
                after_upper=fact.upper,
            )
        case BotArrived():
            return VenueArrived(fact.venue, fact.version)
        case BotLeft():
            return VenueLeft(fact.venue, fact.version)
        case EventMoved():
            return VenueEventMoved(
                venue=fact.venue,
                name=fact.event,
                seq=fact.seq,
                kind=fact.kind,
                phase=fact.phase,
                round=fact.round,
                at=round(1000 * fact.at),
            )
        case QuestionMoved():
            return VenueQuestionMoved(
                venue=fact.venue,
                question=fact.question,
                kind=fact.kind,
                what=fact.what,
                state=fact.state,
                version=fact.version,
                against=fact.against or None,
                games=fact.games,
                llr=fact.llr,
                at=round(1000 * fact.at),
            )
    return None
