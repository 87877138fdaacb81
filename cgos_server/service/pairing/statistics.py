"""How a venue has been pairing: gaps, waits, repeated opponents, colors, bits a game, share of time in games.

The numbers are counted up from rows, a portion at a time, newest first. Must not know: how pairs are made, the live
server, how answers are shown.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple, TypeGuard

import msgspec

from cgos_protocol.api.figures import Spread as PublishedSpread
from cgos_protocol.errors import OurFault
from cgos_protocol.ids import VersionId
from cgos_server.core.pairing.base import Candidate
from cgos_server.storage.reading.answers import ConnectionSpan, PairedGame, PairedRound
from cgos_server.storage.reading.history import History

MOST_GAMES: Final = 100_000
"""Games that are looked at, at most."""

MOST_ROUNDS: Final = 5_000
"""Pairing passes whose candidates are looked at, at most: the latest."""

LAST: Final = 100
"""Games of a version in which its most frequent opponent is looked for."""

_GAMES_AT_ONCE: Final = 2_000
_ROUNDS_AT_ONCE: Final = 50

_GAPS: Final = (0, 25, 50, 100, 150, 200, 300, 400, 600, 800)
_WAITS: Final = (0, 1, 2, 3, 5, 10, 20, 30, 60, 120, 300)
_BITS: Final = (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_EXPECTED: Final = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)


class Bin(msgspec.Struct, frozen=True):
    """How many values lie from `low` to below `high`; None: any larger one."""

    low: float
    high: float | None
    count: int


class Spread(PublishedSpread, frozen=True, kw_only=True):
    """The same with its bins, which only the command shows."""

    bins: list[Bin]


class VersionPairing(msgspec.Struct, frozen=True, kw_only=True):
    """One version in the span.

    :ivar black: games as Black
    :ivar opponents: how many different ones
    :ivar again: share of its games that were against the opponent of the game before; None with fewer than two
    :ivar most: the opponent of most of its last `LAST` games, and their share
    :ivar sat_out: passes in which it was ready and stayed unpaired
    :ivar wait_s: mean seconds that it waited for a game; None where no pass says
    :ivar in_games: share of the time in which it was signed in that it spent in games; None where it never was
    """

    name: str
    games: int
    black: int
    opponents: int
    again: float | None
    most: str | None
    most_share: float
    sat_out: int
    wait_s: float | None
    in_games: float | None


class PairingStats(msgspec.Struct, frozen=True, kw_only=True):
    """A venue's pairing in a span of time (Unix ms).

    :ivar games: that began in the span; `arranged` of them by an operator, `in_events` by an event, `for_questions` by
        a question, `opened` of them with an opening
    :ivar rounds: pairing passes that began these games
    :ivar latest_rounds: the number of latest passes that `methods`, `waits` and `sat_out` cover
    :ivar looked_at: the same under its earlier name
    :ivar methods: matchmaker -> passes
    :ivar gaps: differences of the ratings as they were shown, Elo
    :ivar waits: seconds that those had waited who were paired
    :ivar expected: expected score of the better one
    :ivar bits: what a game tells at most, the entropy of its expected result
    :ivar again: share of games that were against the opponent of the game before
    :ivar most: who met whom most often, as a share of the last `LAST` games of versions that played at least as many;
        of those with the most games where none has
    :ivar in_games: share of all signed-in time that was spent in games; None where nobody was signed in
    :ivar sat_out: how often a ready version stayed unpaired
    :ivar gave_way: word of a barrier -> pairs for which it gave way
    """

    venue: str
    since: int
    until: int
    games: int
    arranged: int
    in_events: int
    for_questions: int
    opened: int
    rounds: int
    latest_rounds: int
    looked_at: int
    methods: dict[str, int]
    gaps: Spread
    waits: Spread
    expected: Spread
    bits: Spread
    again: float | None
    most: tuple[str, str, float] | None
    in_games: float | None
    sat_out: int
    gave_way: dict[str, int]
    versions: list[VersionPairing]


async def statistics(
    history: History, venue: str, last: int | None = None, since: int | None = None, most_rounds: int = MOST_ROUNDS
) -> PairingStats:
    """Count up a venue's latest games.

    :param last: so many games; MOST_GAMES is the limit of it
    :param most_rounds: rounds whose candidates are looked at, the latest: their records may be large
    :param since: those that began at or after (Unix ms)
    :raises Refused: where there is no such venue
    """
    tally = Tally(venue, min(last or MOST_GAMES, MOST_GAMES), since or 0, most_rounds)
    before: int | None = None
    while not tally.full:
        games = await history.pairings.games(venue, min(_GAMES_AT_ONCE, tally.wanted), before)
        tally.games(games)
        if len(games) < _GAMES_AT_ONCE:
            break
        before = games[-1].id
    before = None
    while True:
        rounds = await history.pairings.decided(venue, _ROUNDS_AT_ONCE, before)
        if not tally.rounds(rounds) or len(rounds) < _ROUNDS_AT_ONCE:
            break
        before = rounds[-1].number
    spans = await history.bots.connection_spans(venue, tally.versions, *tally.span)
    return tally.result(await history.bots.version_names(), spans)


class Tally:
    """Counts games and pairing passes as they come, newest first.

    :param most: games that are looked at, the latest
    :param since: Unix ms
    :param most_rounds: rounds that are looked at, the latest
    """

    def __init__(self, venue: str, most: int, since: int, most_rounds: int = MOST_ROUNDS) -> None:
        self._venue = venue
        self._most = most
        self._since = since
        self._most_rounds = most_rounds
        self._count = self._arranged = self._in_events = self._for_questions = self._opened = self._looked_at = 0
        self._first, self._until = 0, 0
        self._ended_span = False
        self._of_round: dict[int, list[VersionId]] = defaultdict(list)
        self._opponents: dict[VersionId, array[int]] = defaultdict(lambda: array("q"))
        self._black: Counter[VersionId] = Counter()
        self._playing: dict[VersionId, list[tuple[int, int | None]]] = defaultdict(list)
        self._seen: dict[VersionId, int] = {}
        self._sat_out: Counter[VersionId] = Counter()
        self._waited: dict[VersionId, tuple[float, int]] = {}
        self._methods: Counter[str] = Counter()
        self._gave_way: Counter[str] = Counter()
        self._gaps, self._waits, self._expected, self._bits = (array("d") for _ in range(4))

    @property
    def wanted(self) -> int:
        """How many games more are looked at."""
        return self._most - self._count

    @property
    def full(self) -> bool:
        """True once older games do not matter."""
        return self._ended_span or self.wanted <= 0

    @property
    def versions(self) -> list[VersionId]:
        """Whoever played or was ready."""
        return sorted({*self._opponents, *self._seen})

    @property
    def span(self) -> tuple[int, int]:
        """From when to when (Unix ms)."""
        return self._since or self._first, self._until

    def games(self, rows: Iterable[PairedGame]) -> None:
        """Games, newest first, older than those before."""
        for row in rows:
            if row.started_at < self._since or self.full:
                self._ended_span = True
                return
            self._game(row)

    def _game(self, row: PairedGame) -> None:
        self._count += 1
        self._first = row.started_at
        self._until = max(self._until, row.started_at, row.ended_at or 0)
        self._opened += bool(row.opening)
        self._black[row.black_id] += 1
        for version, opponent in ((row.black_id, row.white_id), (row.white_id, row.black_id)):
            self._opponents[version].append(opponent)
            self._playing[version].append((row.started_at, row.ended_at))
            self._seen[version] = max(self._seen.get(version, 0), row.started_at, row.ended_at or 0)
        gap = _gap(row.black_label, row.white_label)
        if gap is not None:
            self._gaps.append(gap)
        if row.round is None:
            self._in_events += row.event_id is not None
            self._for_questions += row.question_id is not None
            self._arranged += row.event_id is None and row.question_id is None
            return
        self._of_round[row.round] += (row.black_id, row.white_id)
        detail: Mapping[str, Any] = row.detail if isinstance(row.detail, dict) else {}
        if _is_number(score := detail.get("expected")):
            self._expected.append(max(score, 1.0 - score))
        if _is_number(bits := detail.get("bits")):
            self._bits.append(bits)
        self._gave_way.update(detail.get("gave_way", ()))

    def rounds(self, rows: Sequence[PairedRound]) -> bool:
        """Pairing passes, newest first, older than those before; False once older ones do not matter."""
        for row in rows:
            before = row.at < self.span[0] and row.id not in self._of_round
            if not self._count or before or self._looked_at == self._most_rounds:
                return False
            self._round(row)
        return True

    def _round(self, row: PairedRound) -> None:
        self._looked_at += 1
        self._methods[row.method] += 1
        self._until = max(self._until, row.at)
        paired = set(self._of_round.get(row.id, ()))
        for candidate in candidates_of(row.inputs):
            self._seen[candidate.id] = max(self._seen.get(candidate.id, 0), row.at)
            if candidate.id in paired:
                seconds = candidate.waited / 1e6
                self._waits.append(seconds)
                total, count = self._waited.get(candidate.id, (0.0, 0))
                self._waited[candidate.id] = (total + seconds, count + 1)
        for version in row.sits_out or ():
            self._sat_out[VersionId(int(version))] += 1

    def result(self, names: Mapping[VersionId, str], connections: Iterable[ConnectionSpan]) -> PairingStats:
        """All of it.

        :param names: version id -> wire name
        :param connections: the spans of `versions`, each version's oldest first
        """
        shares = self._time_in_games(connections)
        repeats = {version: _repeats(opponents) for version, opponents in self._opponents.items()}
        played = sum(len(opponents) - 1 for opponents in self._opponents.values() if opponents)
        known = [share for share in shares.values() if share.here]
        most = max(repeats, key=lambda version: repeats[version].weight, default=None)
        since, until = self.span
        return PairingStats(
            venue=self._venue,
            since=since,
            until=until,
            games=self._count,
            arranged=self._arranged,
            in_events=self._in_events,
            for_questions=self._for_questions,
            opened=self._opened,
            rounds=len(self._of_round),
            latest_rounds=self._looked_at,
            looked_at=self._looked_at,
            methods=dict(self._methods.most_common()),
            gaps=spread(self._gaps, _GAPS),
            waits=spread(self._waits, _WAITS),
            expected=spread(self._expected, _EXPECTED),
            bits=spread(self._bits, _BITS),
            again=sum(each.again for each in repeats.values()) / played if played else None,
            most=None if most is None else (names[most], names[repeats[most].opponent], repeats[most].share),
            in_games=sum(share.playing for share in known) / sum(share.here for share in known) if known else None,
            sat_out=self._sat_out.total(),
            gave_way=dict(self._gave_way.most_common()),
            versions=[
                self._version(version, names, repeats.get(version), shares.get(version))
                for version in sorted(self.versions, key=lambda version: (-len(self._of(version)), names[version]))
            ],
        )

    def _of(self, version: VersionId) -> Sequence[int]:
        return self._opponents.get(version, ())

    def _version(
        self, version: VersionId, names: Mapping[VersionId, str], repeats: _Repeats | None, share: _Share | None
    ) -> VersionPairing:
        opponents = self._of(version)
        total, waits = self._waited.get(version, (0.0, 0))
        return VersionPairing(
            name=names[version],
            games=len(opponents),
            black=self._black[version],
            opponents=len(set(opponents)),
            again=repeats.again / (len(opponents) - 1) if repeats is not None and len(opponents) > 1 else None,
            most=None if repeats is None else names[repeats.opponent],
            most_share=0.0 if repeats is None else repeats.share,
            sat_out=self._sat_out[version],
            wait_s=total / waits if waits else None,
            in_games=share.playing / share.here if share is not None and share.here else None,
        )

    def _time_in_games(self, connections: Iterable[ConnectionSpan]) -> dict[VersionId, _Share]:
        since, until = self.span
        here: dict[VersionId, list[tuple[int, int | None]]] = defaultdict(list)
        for span in connections:
            mine = here[span.version_id]
            if mine and mine[-1][1] is None:
                # A crash hid its end; by the next sign-in it was over.
                mine[-1] = (mine[-1][0], span.opened_at)
            mine.append((span.opened_at, span.closed_at))
        shares = {}
        for version, spans in here.items():
            if spans[-1][1] is None:
                # Still signed in, or hidden by a crash: so far as anything was heard of it.
                spans[-1] = (spans[-1][0], self._seen.get(version, until) if self._left(version) else until)
            signed_in = union(spans, since, until)
            playing = union(self._playing.get(version, []), since, until)
            shares[version] = _Share(_length(signed_in), _length(common(signed_in, playing)))
        return shares

    def _left(self, version: VersionId) -> bool:
        """True where nothing was heard of it towards the end of the span: no game that runs, no pass that it was in."""
        running = any(ended is None for _, ended in self._playing.get(version, ()))
        return not running and self._until - self._seen.get(version, 0) > _QUIET_MS


_QUIET_MS: Final = 600_000
"""After so long without a word of it, a version whose connection has no end is taken for gone since then."""


class _Share(NamedTuple):
    """Milliseconds signed in, and of those in games."""

    here: int
    playing: int


class _Repeats(NamedTuple):
    """How often a version meets the same ones.

    :ivar again: games against the opponent of the game before
    :ivar opponent: the most frequent one of its last `LAST` games
    :ivar share: that one's share of these games
    :ivar late: how many these are
    """

    again: int
    opponent: VersionId
    share: float
    late: int

    @property
    def weight(self) -> tuple[int, float]:
        """What the most frequent opponents of two versions compare by."""
        return self.late, self.share


def _repeats(opponents: array[int]) -> _Repeats:
    late = Counter(opponents[:LAST])
    ((opponent, count),) = late.most_common(1)
    again = sum(one == other for one, other in pairwise(opponents))
    return _Repeats(again, VersionId(opponent), share=count / late.total(), late=late.total())


def spread(values: Iterable[float], edges: Sequence[float]) -> Spread:
    """How `values` are distributed; `edges` are the lower ends of the bins, ascending, the last one without an end.
    What is below the first edge counts to the first bin."""
    ordered = sorted(values)
    counts = [0] * len(edges)
    for value in ordered:
        counts[max(0, bisect_right(edges, value) - 1)] += 1
    highs: list[float | None] = [*edges[1:], None]
    bins = [Bin(low, high, count) for low, high, count in zip(edges, highs, counts, strict=True)]
    if not ordered:
        return Spread(count=0, mean=0.0, median=0.0, p90=0.0, largest=0.0, bins=bins)
    mean = math.fsum(ordered) / len(ordered)
    return Spread(
        count=len(ordered),
        mean=mean,
        median=_quantile(ordered, 0.5),
        p90=_quantile(ordered, 0.9),
        largest=ordered[-1],
        bins=bins,
    )


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def union(spans: Iterable[tuple[int, int | None]], since: int, until: int) -> list[tuple[int, int]]:
    """The times that any of the spans covers between `since` and `until`, as disjoint spans in order; a span without
    an end goes on until then."""
    joined: list[tuple[int, int]] = []
    for begin, end in sorted((max(begin, since), until if end is None else min(end, until)) for begin, end in spans):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        elif begin < end:
            joined.append((begin, end))
    return joined


def common(some: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The times that both cover; each is disjoint and in order, and so is the answer."""
    shared = []
    mine, theirs = 0, 0
    while mine < len(some) and theirs < len(others):
        begin = max(some[mine][0], others[theirs][0])
        end = min(some[mine][1], others[theirs][1])
        if begin < end:
            shared.append((begin, end))
        if some[mine][1] < others[theirs][1]:
            mine += 1
        else:
            theirs += 1
    return shared


def _length(spans: Iterable[tuple[int, int]]) -> int:
    return sum(end - begin for begin, end in spans)


class _Inputs(msgspec.Struct):
    """As much of a round as is counted: what was known of ratings together need not be read."""

    candidates: list[Candidate]


_INPUTS_DECODER = msgspec.json.Decoder(_Inputs)


def candidates_of(inputs: str) -> Sequence[Candidate]:
    """The candidates of a round; none where they are kept no longer. Raises OurFault where it cannot be read."""
    if not inputs:
        return ()
    try:
        return _INPUTS_DECODER.decode(inputs).candidates
    except msgspec.DecodeError as error:
        raise OurFault(f"The recorded inputs of a round cannot be read: {error}") from error


def _gap(black: str, white: str) -> float | None:
    """Difference of two ratings as they are shown (``1800?``); None where one of them is not shown."""
    try:
        return abs(float(black.rstrip("?")) - float(white.rstrip("?")))
    except ValueError:
        return None


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
