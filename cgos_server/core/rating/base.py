"""What the server may ask of any rating system: a fold over a venue's numbered ledger.

A system sees entries in order and answers with what changed. Given the same entries, and the same refits at the same
places, it gives the same numbers, so the published ratings can be replayed. Must not know: storage, names, games'
moves, the clock on the wall.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

from cgos_protocol.catalog import Declaration
from cgos_protocol.ids import VersionId
from cgos_protocol.options import Number

Z95 = 1.959963984540054
"""Half of a 95 % interval of a normal distribution, in standard deviations."""


class Kind(enum.StrEnum):
    """What an entry of the ledger says."""

    ENTER = "enter"
    """A version joins the pool: where newcomers stand (`value`), or at a rating `value` that is known from elsewhere to
    `sd`, or as successor of version `other` (`sd` apart)."""
    GAME = "game"
    """A rated game: `black` against `white`, `score2` for Black."""
    ANCHOR = "anchor"
    """A version's rating is known from now on: `value`, known to `sd`."""
    UNANCHOR = "unanchor"
    """An anchor becomes an ordinary version, where it stands."""
    LINK = "link"
    """`version` succeeds version `other`, and no version that it succeeded before."""
    UNLINK = "unlink"
    """`version` does not succeed `other` any more."""
    CORRECTION = "correction"
    """The game between `black` and `white` that counted as `was2` (None: not) counts as `score2` (None: not)."""


class Entry(NamedTuple):
    """One numbered entry of a venue's ledger.

    :ivar seq: its number, from 1, without gaps
    :ivar version: the version of all kinds but GAME and CORRECTION
    :ivar black: version id (GAME, CORRECTION)
    :ivar white: version id (GAME, CORRECTION)
    :ivar score2: Black's result in half points, 0-2 (GAME); None where the game does not count any more (CORRECTION)
    :ivar value: a rating (ENTER, ANCHOR)
    :ivar sd: standard deviation in Elo (ANCHOR, LINK, ENTER of a successor); None: the system's own
    :ivar other: the predecessor (ENTER of a successor, LINK, UNLINK)
    :ivar surely: True where nobody doubts that `other` is the predecessor (LINK, ENTER of a successor): else a system
        may find that the version has nothing to do with it
    :ivar was2: what the game counted as so far, None: nothing (CORRECTION)
    :ivar repeat: True where the same two versions played the very same game before (GAME): systems may count it once.
        On a CORRECTION: such systems did not count it so far, whatever `was2` says; with `was2` None besides, it is
        only for them (the game that it repeated is void, so this one counts in its stead) and nothing to the others
    :ivar at: Unix milliseconds
    """

    seq: int
    kind: Kind
    version: VersionId | None = None
    black: VersionId | None = None
    white: VersionId | None = None
    score2: int | None = None
    value: float | None = None
    sd: float | None = None
    other: VersionId | None = None
    was2: int | None = None
    repeat: bool = False
    at: int = 0
    surely: bool = False

    def counted_once(self) -> tuple[int | None, int]:
        """Of a CORRECTION, for systems that count repeats once: what the game counted as so far (None: nothing), and by
        how much each side's number of games changes. A repeat is among the games, though its result is not counted."""
        if not self.repeat:
            return self.was2, (self.score2 is not None) - (self.was2 is not None)
        return None, 0 if self.was2 is None else (self.score2 is not None) - 1


class Rating(NamedTuple):
    """Where a version stands.

    :ivar mean: the rating, in Elo (or the system's points)
    :ivar spread: how sure the system is: a standard deviation, or for K-factor systems the K; see `RatingSystem.sure`
    :ivar games: rated games played
    :ivar provisional: True while the number should not be trusted
    :ivar anchor: True where the rating is fixed from outside
    :ivar lower: where its 95 % interval begins, Elo; None where the system has no intervals
    :ivar upper: where it ends; it need not be as far from `mean` as `lower` is
    """

    mean: float
    spread: float
    games: int
    provisional: bool
    anchor: bool = False
    lower: float | None = None
    upper: float | None = None


def normal_rating(mean: float, sd: float, *, games: int, provisional: bool, anchor: bool = False) -> Rating:
    """A rating whose distribution is normal: its interval is even."""
    lower, upper = normal_ends(mean, sd)
    return Rating(mean=mean, spread=sd, games=games, provisional=provisional, anchor=anchor, lower=lower, upper=upper)


def normal_ends(mean: float, sd: float) -> tuple[float, float]:
    """Both ends of the 95 % interval of a normal distribution."""
    half = Z95 * sd
    return mean - half, mean + half


class Change(NamedTuple):
    """One version's move caused by one entry. `before` is the rating just before the entry."""

    version: VersionId
    before: Rating
    after: Rating


class Outcome(NamedTuple):
    """Probabilities (they sum to 1) that Black wins, that the game is drawn, that White wins."""

    win: float
    draw: float
    loss: float

    @property
    def score(self) -> float:
        """Black's expected score, 0..1."""
        return self.win + self.draw / 2

    def log_loss(self, score2: int) -> float:
        """Cross-entropy (nats) of Black's expected score against its result in half points: the same measure for
        systems with and without draws. Never infinite: probabilities are held 1e-12 away from 0 and 1."""
        expected = min(max(self.score, 1e-12), 1 - 1e-12)
        return -(score2 * math.log(expected) + (2 - score2) * math.log1p(-expected)) / 2


class RatingSystem(Protocol):
    """A pure fold. The state is the caller's to keep and opaque to it.

    `fold` may update the state in place and return the same object: the state handed in must not be used afterwards.
    """

    @property
    def name(self) -> str:
        """The word in configuration and in the store."""

    @property
    def sure(self) -> bool:
        """True where `Rating.spread` is a standard deviation in Elo, so that an interval can be shown."""

    def is_provisional(self, spread: float, games: int, half_width: float | None = None) -> bool:
        """Whether a rating that it published with this spread, and half of its 95 % interval where that has its own
        ends, was provisional; not asked about anchors."""

    def start(self) -> Any:
        """The state before the first entry."""

    def fold(self, state: Any, entry: Entry) -> tuple[Any, tuple[Change, ...]]:
        """Apply one entry.

        A game changes both sides, if only in their number of games; the change of an ENTER has before = after. Raises
        KeyError where it names a version that never entered, OurFault where it makes no sense.
        """

    def standings(self, state: Any) -> Mapping[VersionId, Rating]:
        """Every version's rating."""

    def predict(self, state: Any, black: VersionId, white: VersionId) -> Outcome:
        """The next game of these two. Raises KeyError for a version that never entered."""

    def dump(self, state: Any) -> bytes:
        """The state as bytes, whole and exact."""

    def load(self, data: bytes) -> Any:
        """The state that `dump` wrote, bit for bit. Raises ValueError for anything else."""


INTERVAL_RULE: Final = "A rating is provisional (?) while half of its 95 % interval is above {provisional:g} Elo."
"""The rule of systems with an option `provisional`."""

PROVISIONAL: Final = Number(
    0.01,
    10_000.0,
    default=100.0,
    meaning="a rating is provisional while half of its 95 % interval is above this, Elo",
)
"""That option: one key of the configuration for all systems that have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingDeclaration(Declaration):
    """A rating system. `make` takes besides the options where a new version starts: Elo, or the system's points.

    :ivar sure: the systems' :attr:`RatingSystem.sure`
    :ivar provisional_rule: when a rating is provisional, as a sentence with the options' words in braces
    """

    sure: bool = False
    provisional_rule: str = "A rating is provisional (?) while the system says so."


class Fit(Protocol):
    """What a refit found; opaque but for what is recorded of it.

    :ivar included: the entry up to which results were counted
    :ivar cold: True where it began from the counts alone
    :ivar notes: canonical JSON of hyperparameters, the chosen start and the numbers of iterations: what is recorded.
        `model` in it is the system's own; without it, 1
    """

    included: int
    cold: bool
    notes: str


class Wanted(NamedTuple):
    """What a system with refits would like now.

    :ivar results: entries since the last refit, corrections and links included
    :ivar cold: True where a cold refit is due
    :ivar urgent: True where something was taken back, so that the ratings are wrong until the next refit
    """

    results: int
    cold: bool
    urgent: bool = False


@runtime_checkable
class Refitting(Protocol):
    """What a rating system has besides where its state is improved by heavy work beside the fold.

    `job` is cheap and a snapshot: the fold may go on while `refit` is computed on it, in another process too (jobs and
    fits can be pickled). `install` puts the fit into the state as it is by then: the entries after `included` are
    applied again on top.

    A system whose formulas changed so that recorded refits cannot be taken again has an attribute `model`, a number
    above that of before (without it: 1), and loads no state of before.
    """

    def wanted(self, state: Any) -> Wanted: ...

    def job(self, state: Any, cold: bool, follow: str | None = None) -> Any:
        """What a refit needs, as of now. `follow`: the `notes` of a recorded one, to take the very same path."""

    def refit(self, job: Any) -> Fit:
        """Pure and heavy: milliseconds to seconds. The linear algebra must run on one thread to be repeatable."""

    def install(self, state: Any, fit: Any) -> Any:
        """The state with the fit in it; unchanged where :meth:`stale`."""

    def stale(self, state: Any, fit: Any) -> bool:
        """True where a warm fit began before the refit that is installed now, so that it must not replace it."""
