"""A believable past of a server, drawn by chance: who was there when, who met whom, how it ended, and what was played.

Versions come, play and go, meet others of about their strength, some a thousand times as much as others; games end by
score or resignation mostly, by time or illegal moves sometimes, and seldom otherwise. The same seed draws the same. It
knows nothing of databases.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from cgos_protocol.games.registry import game_kind
from cgos_server.core.venue import Venue

T0 = 1_640_995_200_000  # 2022-01-01 00:00 UTC
YEARS = 4
SPAN_MS = YEARS * 365 * 86_400_000
VENUES = ("9x9", "19x19")
SHARES = (0.9, 0.1)
HEADLINE, VIEW = "bayes", "cgos-elo"

REASONS = ("score", "resignation", "time", "illegal move", "forfeit", "abort", "void")
REASON_SHARES = (0.55, 0.395, 0.04, 0.006, 0.0005, 0.008, 0.0005)
RESULTS = {"resignation": "Resign", "time": "Time", "illegal move": "Illegal", "forfeit": "Forfeit"}
LENGTHS = ((75.0, 20.0, 243), (235.0, 55.0, 1_083))
"""Mean, standard deviation and limit of a game's plies, by venue."""

OPENINGS = tuple(f"opening {number}" for number in range(1, 25))


@dataclass(frozen=True)
class Sizes:
    """How much there is to be; `moves` is the number of games with moves, `rounds` that of pairing passes."""

    games: int = 1_000_000
    versions: int = 2_000
    bots: int = 1_500
    moves: int = 5_000
    rounds: int = 25_000
    running: int = 40
    refit_every: int = 2_000
    corrections: int = 30
    seed: int = 1


class Crowd(NamedTuple):
    """The versions in the order of their ids, an array a column: its bot, and its number among that bot's; from when to
    when it is there, as shares of the whole time; how often it plays, how strong it is in Elo, whether it plays at both
    venues."""

    bot: NDArray[np.int64]
    number: NDArray[np.int64]
    came: NDArray[np.float64]
    left: NDArray[np.float64]
    activity: NDArray[np.float64]
    strength: NDArray[np.float64]
    both: NDArray[np.bool_]


class Games(NamedTuple):
    """Games in the order of their ids, an array a column. `reason` is a place in REASONS; `winner` 2: nobody."""

    venue: NDArray[np.int64]
    black: NDArray[np.int64]
    white: NDArray[np.int64]
    started: NDArray[np.int64]
    ended: NDArray[np.int64]
    reason: NDArray[np.int64]
    winner: NDArray[np.int64]
    margin2: NDArray[np.int64]
    plies: NDArray[np.int64]
    opening: NDArray[np.int64]


def crowd(sizes: Sizes, rng: np.random.Generator) -> Crowd:
    """All versions. A few bots have many of them, most have one; most stay for some months, a few for years."""
    bot = np.concatenate(
        [np.arange(1, sizes.bots + 1), 1 + np.minimum(rng.zipf(1.6, sizes.versions - sizes.bots), sizes.bots) - 1]
    )
    bot = np.where(bot > sizes.bots, sizes.bots, bot)
    strength = rng.normal(1_800.0, 400.0, sizes.bots + 1)
    came = np.sort(rng.uniform(0.0, 0.97, sizes.versions))
    came[: max(8, sizes.versions // 20)] = 0.0
    left = np.minimum(1.0, came + rng.exponential(0.2, sizes.versions) + 0.01)
    left[: max(8, sizes.versions // 50)] = 1.0
    activity = rng.lognormal(0.0, 1.2, sizes.versions)
    both = rng.random(sizes.versions) < 0.4
    both[: max(8, sizes.versions // 50)] = True
    number = np.array([1 + np.count_nonzero(bot[:place] == bot[place]) for place in range(sizes.versions)])
    return Crowd(
        bot=bot,
        number=number,
        came=came,
        left=left,
        activity=activity,
        strength=strength[bot] + 25.0 * number,
        both=both,
    )


def draw(sizes: Sizes, there: Crowd, rng: np.random.Generator, progress: Progress) -> Games:
    """Who played whom when, and how it ended: in slices of time, neighbors in strength by chance."""
    n = sizes.games
    order = np.sort(rng.uniform(0.0, 1.0, n)) ** 0.8  # the server grows
    black, white = np.zeros(n, np.int64), np.zeros(n, np.int64)
    venue = np.where(rng.random(n) < SHARES[0], 1, 2)
    slices = max(4, n // 400)
    task = progress.add_task("pairing", total=slices)
    for some in np.array_split(np.arange(n), slices):
        now = order[some[len(some) // 2]]
        here = (there.came <= now) & (there.left >= now)
        for number in (1, 2):
            mine = some[venue[some] == number]
            ready = np.flatnonzero(here & (there.both if number == 2 else True))
            ready = ready[np.argsort(there.strength[ready], kind="stable")]
            weight = there.activity[ready] / there.activity[ready].sum()
            chosen = rng.choice(len(ready), len(mine), p=weight)
            step = np.maximum(1, np.abs(rng.normal(0.0, 6.0, len(mine))).astype(np.int64))
            step = np.where(rng.random(len(mine)) < 0.5, -step, step)
            other = np.clip(chosen + step, 0, len(ready) - 1)
            other = np.where(other == chosen, np.where(chosen == 0, 1, chosen - 1), other)
            flip = rng.random(len(mine)) < 0.5
            black[mine] = ready[np.where(flip, chosen, other)]
            white[mine] = ready[np.where(flip, other, chosen)]
        progress.advance(task)
    reason = rng.choice(len(REASONS), n, p=np.array(REASON_SHARES) / sum(REASON_SHARES))
    chance = 1.0 / (1.0 + 10.0 ** ((there.strength[white] - there.strength[black]) / 400.0))
    winner = np.where(rng.random(n) < chance, 0, 1)
    mean, spread, most = (np.array(column)[venue - 1] for column in zip(*LENGTHS, strict=True))
    plies = np.clip(rng.normal(mean, spread), 6, most).astype(np.int64)
    plies = np.where(rng.random(n) < 0.0002, most.astype(np.int64), plies)
    rare = reason >= REASONS.index("abort")
    plies = np.where(rare, rng.integers(0, 4, n), plies)
    margin2 = 2 * rng.integers(0, 40, n) + np.where(venue == 1, 0, 1)
    drawn = (margin2 == 0) & (reason == 0)
    winner = np.where(rare | drawn, 2, winner)
    started = T0 + (order * SPAN_MS).astype(np.int64)
    ended = started + 1_000 + (plies * rng.lognormal(7.3, 0.6, n)).astype(np.int64)
    opening = np.where(rng.random(n) < 0.3, rng.integers(1, len(OPENINGS) + 1, n), 0)
    return Games(
        venue=venue,
        black=black + 1,
        white=white + 1,
        started=started,
        ended=ended,
        reason=reason,
        winner=winner,
        margin2=margin2,
        plies=plies,
        opening=opening,
    )


def random_game(venue: Venue, chance: random.Random) -> list[str]:
    """The moves of a legal game, each by chance, at most two for every point."""
    position = game_kind(venue.rules.game).new(venue.rules)
    size, letters = venue.rules.size, "ABCDEFGHJKLMNOPQRSTUVWXYZ"
    points = [f"{letter}{row + 1}" for letter in letters[:size] for row in range(size)]
    texts: list[str] = []
    while len(texts) < size * size * 2:
        chance.shuffle(points)
        for text in points:
            move = position.read(text)
            if move is not None and position.play(move) is None:
                texts.append(text)
                break
        else:
            break
    return texts


def analysis(venue: Venue) -> str:
    """What a bot might say with a move, as JSON."""
    points = venue.rules.size**2
    move = {"move": "E5", "winrate": 0.52, "score": 1.5, "prior": 0.2, "pv": "E5 D4 C3", "visits": 50}
    whole = {"winrate": 0.52, "score": 1.5, "visits": 400, "moves": [move] * 5, "ownership": "a" * points}
    return json.dumps(whole, separators=(",", ":"))


def result(reason: str, winner: int, margin2: int) -> str:
    """How a result is written."""
    if reason in ("abort", "void"):
        return reason.capitalize()
    if winner == 2:
        return "Draw"
    return f"{'BW'[winner]}+{RESULTS.get(reason, margin2 / 2)}"
