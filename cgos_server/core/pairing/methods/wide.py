"""A good matching of thousands of versions on a line, when an exact one would take minutes.

Good partners stand near each other on the line, but how near is not what matters most: those who should be White and
those who should be Black drift apart along it like a random walk, so that among a version's neighbors there may be
none of the other kind. Therefore the versions are lined up anew with the kinds side by side, and half way between;
each line is paired as well as windows of it can be, and the better parts are kept. Whom the windows leave over gets
into a pair further away, and at last blocks of some dozen versions are matched exactly. The method is our choice; how
far it is from the best is measured by benchmarks/pairing/pairing_speed.py. Must not know: what the levels of a weight
mean, what a rating is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import numpy as np

from cgos_protocol.errors import OurFault
from cgos_server.core.pairing.base import Bools, Floats, Ints
from cgos_server.core.pairing.matching import WORD_BITS, best

Weigh = Callable[[Ints, Ints], Ints]
"""(m,) weights of the edges (i, j), i < j, as 64-bit integers; 0 or less: never make that pair.

Called a few times, with up to some hundred thousand edges each. Numbers of all calls must compare, and their width must
not exceed WORD_BITS: :class:`cgos_server.core.pairing.matching.Packing`, made with LOCAL_PAIRS, sees to both."""

LOCAL_PAIRS: Final = 64
"""For so many pairs the levels of a weight should add up without running into each other. Thousands would not fit into
a word; but what is compared here are always two ways to pair some dozen neighbors, and one unit of a higher level then
outweighs whatever those can differ by below it."""

_WINDOW: Final = 8
"""How far down the line a partner is looked for at first: 256 states a place."""

_BLOCK: Final = (16, 64)
_BLOCKS: Final = 64_000
"""Pairs in a block that is matched exactly, fewest and most, and between these so many divided by the versions."""

_MOST_PASSES: Final = 12
_POLISH: Final = 300_000
"""How often all blocks are matched, and a limit to that: versions times pairs in a block. Work is limited by counting
it, as the clock would make the result depend on the machine."""

_SEARCH: Final = 120_000
"""Edges that are weighed in one search for partners of those left over."""

_MOST_ROUNDS: Final = 24
_SEARCHED: Final = 4 * _SEARCH
"""Searches end after so many, or when as many edges have been weighed."""

_MANY_LEFT: Final = 128
"""With more left over, or every fiftieth, they are spread over the line once."""

_MOST_LEFT: Final = 512
_CHUNK: Final = 16
_PARTNERS: Final = 2
"""Of those left over, so many are considered in one search, so many at once, and so many pairs are parted for each."""

_REBASE: Final = 16
_NEVER: Final = -(1 << 62)
"""Less than any sum that is compared: the differences of such are below 2 x _WINDOW weights."""


def near_best(ratings: Floats, owed: Ints, weigh: Weigh) -> list[tuple[int, int]]:
    """Pairs whose weights have a sum near the largest; of few versions, a block or less, it is the largest.

    Memory: about 2 KiB a version.

    :param ratings: (n,) where each stands on the line
    :param owed: (n,) whom each would rather be: positive White, negative Black (games as Black minus games as White)
    :returns: (smaller index, larger index), ascending; the same for the same input
    :raises OurFault: where weights take more than WORD_BITS
    """
    n = len(ratings)
    if n < 2:
        return []
    lines = _lines(ratings, owed)
    mates = _of_windows(lines, weigh)
    left = mates < 0
    if left.sum() > max(_MANY_LEFT, n // 50) and not left.all():
        mates = _better_parts(mates, _of_windows([_beside(ratings, left, ~left)], weigh), weigh)
    mates = _placed(mates, lines[0], weigh)
    mates = _polished(mates, lines, weigh)
    first = np.flatnonzero(mates > np.arange(n))
    return list(zip(first.tolist(), mates[first].tolist(), strict=True))


def _lines(ratings: Floats, owed: Ints) -> list[Ints]:
    """Orders in which good partners stand near each other: by rating; with those owed White beside those owed Black;
    half way between. Only the first where nobody is owed one of the colors."""
    line = np.argsort(ratings, kind="stable")
    white, black = owed > 0, owed < 0
    if not (white.any() and black.any()):
        return [line]
    aside = _beside(ratings, white, black)
    between = np.argsort(np.argsort(line) + np.argsort(aside), kind="stable")
    return [line, between, aside]


def _beside(ratings: Floats, one: Bools, two: Bools) -> Ints:
    """(n,) the line with the versions of one kind beside those of the other that have the same place among their own.
    A place is a share of the kind, so that what one kind is larger by spreads over the line."""
    below = []
    for kind in (one, two):
        of_kind = np.sort(ratings[kind])
        below.append((np.searchsorted(of_kind, ratings) + np.searchsorted(of_kind, ratings, "right")) / len(of_kind))
    share = np.where(one, below[0], np.where(two, below[1], (below[0] + below[1]) / 2))
    return np.lexsort((ratings, share))


# --- a start: each line by itself, then the better parts of all -----------------------------------------------------


def _of_windows(lines: Sequence[Ints], weigh: Weigh) -> Ints:
    """(n,) everybody's mate or -1: the best of what windows of all lines find, part by part."""
    n = len(lines[0])
    width = min(_WINDOW, n - 1)
    at, to = np.divmod(np.arange(n * width), width)
    to += at + 1
    inside = to < n
    at, to = at[inside], to[inside]
    ends = [_ordered(line[at], line[to]) for line in lines]
    weights = weigh(np.concatenate([i for i, _ in ends]), np.concatenate([j for _, j in ends]))
    bits = int(weights.max()).bit_length()
    if bits > WORD_BITS:
        raise OurFault(f"Weights of {bits} bits were given where {WORD_BITS} are allowed. Weigh more coarsely.")
    best = None
    for line, part in zip(lines, np.split(weights, len(lines)), strict=True):
        table = np.zeros((n, width), dtype=np.int64)
        table[at, to - at - 1] = part
        places = _window(table)
        mates = np.full(n, -1)
        paired = places >= 0
        mates[line[paired]] = line[places[paired]]
        best = mates if best is None else _better_parts(best, mates, weigh)
    assert best is not None
    return best


def _window(weights: Ints) -> Ints:
    """The best matching of places on a line none of which meets another further away than the window: exact, by
    dynamic programming over which of the next places are taken.

    :param weights: (n, w) of each place with the next one, the second next...; 0 or less: no edge
    :returns: (n,) the mate's place, or -1
    """
    n, width = weights.shape
    before = _before(width)
    states = before.shape[1]
    gains = np.zeros((n, width + 2, 1), dtype=np.int64)
    gains[:, 2:, 0] = np.where(weights > 0, weights, _NEVER // 2)
    values = np.full((n + 1, states + 1), _NEVER, dtype=np.int64)
    values[0, 0] = 0
    sums = np.empty(before.shape, dtype=np.int64)
    rows, results = list(values), list(values[1:, :states])
    for place, (row, gain, result) in enumerate(zip(rows, gains, results, strict=False)):
        row.take(before, out=sums, mode="clip")
        np.add(sums, gain, out=sums)
        np.maximum.reduce(sums, axis=0, out=result, initial=_NEVER)
        if place % _REBASE == 0:  # only differences count, and sums of all weights would not fit into a word
            result -= result.max()
    mates = np.full(n, -1)
    state = 0
    for place in range(n - 1, -1, -1):
        choice = int((rows[place][before[:, state]] + gains[place, :, 0]).argmax())
        if choice >= 2:
            mates[place], mates[place + choice - 1] = place + choice - 1, place
        state = int(before[choice, state])
    return mates


def _before(width: int) -> Ints:
    """(width + 2, 2^width) the states from which each state of the next place can come; where there is none, 2^width,
    which is no state.

    Bit k of a state: the k-th place from here is taken. Choices: the place is taken already, it stays alone, it meets
    the next one, the second next...
    """
    states = 1 << width
    after = np.arange(states)
    before = np.full((width + 2, states), states)
    before[0] = np.where(2 * after + 1 < states, 2 * after + 1, states)
    before[1] = np.where(2 * after < states, 2 * after, states)
    for k in range(width):
        other = 2 * (after & ~(1 << k))
        before[k + 2] = np.where((after >> k & 1 == 1) & (other < states), other, states)
    return before


def _better_parts(one: Ints, two: Ints, weigh: Weigh) -> Ints:
    """Two matchings together fall into paths and rings in which either may be chosen on its own: the better of both."""
    weights = [_weights(mates, weigh).tolist() for mates in (one, two)]
    pairs = list(zip(one.tolist(), two.tolist(), strict=True))
    result = one.copy()
    seen = [False] * len(pairs)
    for start in range(len(pairs)):
        if seen[start]:
            continue
        part = [start]
        seen[start] = True
        for at in part:  # grows while it is read
            for other in pairs[at]:
                if other >= 0 and not seen[other]:
                    seen[other] = True
                    part.append(other)
        if sum(weights[1][at] for at in part) > sum(weights[0][at] for at in part):
            result[part] = two[part]
    return result


# --- mending --------------------------------------------------------------------------------------------------------


def _placed(mates: Ints, line: Ints, weigh: Weigh) -> Ints:
    """Partners from further away for those left over, since a version may stand amid many that it must not meet."""
    n = len(line)
    place = np.empty(n, dtype=np.int64)
    place[line] = np.arange(n)
    searched = 0
    for _ in range(_MOST_ROUNDS):
        left = line[mates[line] < 0]
        searched += min(_SEARCH, n * len(left))
        if not len(left) or searched >= _SEARCHED:
            break
        width = min(n, max(_WINDOW, _SEARCH // len(left)))
        starts = np.clip(place[left] - width // 2, 0, n - width)
        others = line[starts[:, None] + np.arange(width)]
        i, j = _ordered(np.repeat(left, width), others.ravel())
        different = i != j
        weights = np.zeros(len(i), dtype=np.int64)
        weights[different] = weigh(i[different], j[different])
        blocks = _around(
            left, others, weights=weights.reshape(others.shape), mates=mates, current=_weights(mates, weigh)
        )
        after = _rematched(mates, blocks, weigh)
        if np.array_equal(after, mates):
            break
        mates = after
    return mates


def _around(left: Ints, others: Ints, weights: Ints, mates: Ints, current: Ints) -> list[Ints]:
    """Blocks without a common version: some of those left, partners whose pairs they could part, and those's mates.

    :param others: (m, width) whom each of those left might meet
    :param weights: (m, width)
    :param current: (n,) weights of everybody's pair
    """
    most = weights.max(axis=1)
    chosen = np.sort(np.argsort(-most, kind="stable")[:_MOST_LEFT])
    chosen = chosen[most[chosen] > 0]
    used = np.zeros(len(mates), dtype=np.bool_)
    used[left[chosen]] = True
    blocks = []
    for start in range(0, len(chosen), _CHUNK):
        chunk = chosen[start : start + _CHUNK]
        reach = np.zeros((len(chunk), len(mates)), dtype=np.int64)
        np.put_along_axis(reach, others[chunk], np.maximum(weights[chunk], 0), axis=1)
        # The mate who loses its partner may meet another of the chunk.
        most_of_each = np.partition(np.vstack([reach, np.zeros_like(reach[:1])]), -2, axis=0)
        top, second = most_of_each[-1], most_of_each[-2]
        again = np.where(reach == top, second, top)
        gains = reach - current + np.where(mates >= 0, again[:, mates], 0)
        gains[reach <= 0] = 0
        gains[:, used] = 0
        block = left[chunk].tolist()
        for at in range(len(chunk)):
            wanted = _PARTNERS
            for other in np.argsort(-gains[at], kind="stable")[: 4 * _CHUNK * _PARTNERS].tolist():
                if not wanted or gains[at, other] <= 0:
                    break
                if not used[other]:
                    wanted -= 1
                    members = [other] if mates[other] < 0 else [other, int(mates[other])]
                    used[members] = True
                    block += members
        blocks.append(np.array(sorted(block)))
    return blocks


def _polished(mates: Ints, lines: Sequence[Ints], weigh: Weigh) -> Ints:
    """The matching after exact ones of blocks of pairs that follow each other on one of the lines, on each in turn."""
    n = len(mates)
    size = min(max(_BLOCK[0], _BLOCKS // n), _BLOCK[1])
    solved: set[bytes] = set()
    for number in range(min(_MOST_PASSES, max(1, _POLISH // (n * size)))):
        line = lines[-1 - number % len(lines)]
        shift = size // 2 if number // len(lines) % 2 else 0
        blocks = [block for block in _blocks(mates, line, size, shift) if block.tobytes() not in solved]
        solved.update(block.tobytes() for block in blocks)
        mates = _rematched(mates, blocks, weigh)
    return mates


def _blocks(mates: Ints, line: Ints, size: int, shift: int) -> Iterable[Ints]:
    """The versions of each `size` pairs that follow each other by the middles of their places on the line; somebody
    alone counts as a pair. The first block holds only `shift` of them, if that is not 0."""
    n = len(line)
    place = np.empty(n, dtype=np.int64)
    place[line] = np.arange(n)
    mate = np.where(mates < 0, np.arange(n), mates)
    first = np.flatnonzero(mate >= np.arange(n))
    first = first[np.argsort(place[first] + place[mate[first]], kind="stable")]
    for part in np.split(first, range(shift or size, len(first), size)):
        yield np.unique(np.concatenate([part, mate[part]]))


def _rematched(mates: Ints, blocks: Sequence[Ints], weigh: Weigh) -> Ints:
    """The matching after an exact one inside each of the blocks, which hold whole pairs and no common version."""
    if not blocks:
        return mates
    corners = {size: np.triu_indices(size, 1) for size in {len(block) for block in blocks}}
    edges = [(block[corners[len(block)][0]], block[corners[len(block)][1]]) for block in blocks]
    weights = weigh(np.concatenate([i for i, _ in edges]), np.concatenate([j for _, j in edges]))
    result = mates.copy()
    start = 0
    for block in blocks:
        i, j = corners[len(block)]
        pairs = best(len(block), i, j, weights[start : start + len(i)])
        start += len(i)
        result[block] = -1
        if pairs:
            one, two = block[np.array(pairs)].T
            result[one], result[two] = two, one
    return result


def _weights(mates: Ints, weigh: Weigh) -> Ints:
    """(n,) what everybody's pair weighs; 0 without one."""
    paired = np.flatnonzero(mates >= 0)
    weights = np.zeros(len(mates), dtype=np.int64)
    weights[paired] = weigh(*_ordered(paired, mates[paired]))
    return weights


def _ordered(i: Ints, j: Ints) -> tuple[Ints, Ints]:
    return np.minimum(i, j), np.maximum(i, j)
