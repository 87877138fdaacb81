"""Which sweeps there are, by the words of `--study`, and what comes of them as one report.

Must not know: how sweeps are carried out, command lines.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias, get_args

from cgos_server.lab.report import Chart, Check, Report, Table
from cgos_server.lab.running import Work
from cgos_server.lab.swiss import published
from cgos_server.lab.swiss.bbp import BbpPairings
from cgos_server.lab.swiss.sweeps import (
    PLAYERS,
    ROUNDS,
    Contestant,
    Setting,
    Sweep,
    Swept,
    carried_out,
    pictures,
    tables,
)
from cgos_server.tournaments.registry import SYSTEMS
from cgos_server.tournaments.simulation.one_event import Shape

Who: TypeAlias = Callable[[Sequence[str]], tuple[Contestant, ...]]
"""From the systems of a study to all its contestants."""

MWM: Final = (*published.PUBLISHED, *published.UNPUBLISHED)
BESIDE: Final = ("tcec", "mcmahon", "swiss", "weighted")
BETA: Final = 2

TO_THE_END: Final = ("round-robin", "cup", "double-elimination", "bubble")
"""Systems that are over by themselves."""

NO_BETA: Final = 1000
"""So large that it never matters."""

SIZE: Final = f"{PLAYERS} players, {ROUNDS} rounds"
MIDDLE: Final = f"{SIZE}, strengths 1400 to 2200"

NOTES: Final = (
    "All systems meet the same players with the same ratings. Systems whose events are simulated one by one have a "
    "tenth of the events; fields of more than 32 have fewer, by the square of their size.",
    "The noise of ratings (standard deviation 150 - s/20 Elo at strength s), the first weight of MWM (minus the "
    "difference of scores) and what Random2 adds for pairs from different halves of a score group (1) are lost in the "
    "source. The noise was fitted to its table 4, the others are forms that agree with that table and with what it "
    "says of floats: agreement with these does not speak for them.",
    "McMahon, weighted, GoDraw and EPM begin with scores by rating, and rank by these; AccelRat pairs by rating, and "
    "ranks by points alone. Float pairs of all of them are counted by points.",
)


def report(study: str, events: int, given: Sequence[str], bbp: BbpPairings | None, work: Work) -> Report:
    """What came of a study, or of `all`.

    :param events: a cell; see :func:`cgos_server.lab.swiss.sweeps.carried_out`
    :param given: systems besides those that the study has
    :raises Refused: where a system cannot hold such events
    """
    who = functools.partial(contestants, given=given, bbp=bbp)
    chosen = tuple(STUDIES) if study == "all" else (study,)
    sweeps = [(word, sweep) for word in chosen for sweep in STUDIES[word](who)]
    swept, interrupted = carried_out([sweep for _, sweep in sweeps], events, work)
    made: list[Table] = []
    drawn: list[Chart] = []
    checks: list[Check] = []
    for (word, _), each in zip(sweeps, swept, strict=True):
        special = word == "tables"
        made += published.tables(each) if special else tables(each)
        drawn += published.pictures(each) if special else pictures(each)
        if word in CHECKS and not interrupted:
            checks += CHECKS[word](each)
    notes = (*(published.NOTES if "tables" in chosen else ()), *NOTES, *([about(bbp)] if bbp is not None else []))
    return Report(
        tables=tuple(made),
        checks=tuple(checks),
        pictures=tuple(each for each in drawn if each.lines),
        notes=notes,
        interrupted=interrupted,
    )


def contestants(words: Sequence[str], given: Sequence[str], bbp: BbpPairings | None) -> tuple[Contestant, ...]:
    """These systems, those asked for besides, and the program bbpPairings."""
    own = [
        Contestant(label=word, system=word, to_the_end=word in TO_THE_END) for word in dict.fromkeys((*words, *given))
    ]
    return (*own, *([program(bbp)] if bbp is not None else []))


def program(bbp: BbpPairings) -> Contestant:
    """The program, which pairs and ranks in place of `dutch`."""
    return Contestant(label=bbp.label, system="dutch", by=bbp)


def about(bbp: BbpPairings) -> str:
    """Whether it is the program that the source compares with."""
    if bbp.is_old is None:
        return f"{bbp.label} does not say which release it is. The source compares with the rules before 2025."
    whose = "those before 2025, as in the source" if bbp.is_old else "those of 2025, not those of the source"
    return f"The rules of {bbp.label} are {whose}. Standings are those of MWM, as for all systems of the source."


def _tables(who: Who) -> tuple[Sweep, ...]:
    return (
        Sweep(
            key="tables",
            title=f"{SIZE}, beta {BETA}",
            varied="strengths",
            settings=published.SETTINGS,
            contestants=who((*MWM, *BESIDE)),
            measures=("kendall",),
        ),
    )


def _floats(who: Who) -> tuple[Sweep, ...]:
    return (
        Sweep(
            key="floats",
            title=SIZE,
            varied="strengths",
            settings=published.SETTINGS,
            contestants=who((*MWM, *BESIDE)),
            measures=("float_pairs",),
        ),
    )


def _colors(who: Who) -> tuple[Sweep, ...]:
    return (
        Sweep(
            key="colors",
            title=f"{PLAYERS} players, strengths 1400 to 2200",
            varied="rounds",
            settings=tuple(Setting(label=str(rounds), x=rounds, rounds=rounds) for rounds in range(5, 10)),
            contestants=who((*MWM, *BESIDE)),
            measures=("color_difference", "largest_color_difference"),
        ),
    )


def _beta(_who: Who) -> tuple[Sweep, ...]:
    bounds = tuple(Setting(label=str(beta), beta=beta) for beta in (1, 2, 3, 4))
    return (
        Sweep(
            key="beta",
            title=MIDDLE,
            varied="beta",
            settings=(*bounds, Setting(label="none", beta=NO_BETA)),
            contestants=contestants(MWM, (), None),  # others have no beta
            measures=("kendall", "float_pairs", "color_difference", "largest_color_difference"),
        ),
    )


def _sizes(who: Who) -> tuple[Sweep, ...]:
    sizes = ((8, 5), (16, 6), (32, 7), (64, 8), (128, 9), (256, 10))
    return (
        Sweep(
            key="players",
            title="Two rounds more than the binary logarithm of players, strengths 1400 to 2200",
            varied="players",
            settings=tuple(Setting(label=str(n), x=n, players=n, rounds=rounds) for n, rounds in sizes),
            contestants=who(MWM),
            measures=("kendall", "float_pairs"),
            log_x=True,
        ),
        Sweep(
            key="rounds",
            title=f"{PLAYERS} players, strengths 1400 to 2200",
            varied="rounds",
            settings=tuple(Setting(label=str(rounds), x=rounds, rounds=rounds) for rounds in (3, 5, 7, 9, 11, 13)),
            contestants=who(MWM),
            measures=("kendall",),
        ),
    )


def _ranges(who: Who) -> tuple[Sweep, ...]:
    return (
        Sweep(
            key="widths",
            title=f"{SIZE}, middle of the strengths 1800",
            varied="width of the range (Elo)",
            settings=tuple(
                Setting(label=str(width), x=width, low=1800.0 - width / 2, high=1800.0 + width / 2)
                for width in (200, 400, 800, 1200, 1600, 2000)
            ),
            contestants=who(MWM),
            measures=("kendall", "unforeseen"),
        ),
        Sweep(
            key="centers",
            title=f"{SIZE}, width of the range 800",
            varied="middle of the strengths (Elo)",
            settings=tuple(
                Setting(label=str(middle), x=middle, low=middle - 400.0, high=middle + 400.0)
                for middle in (1000, 1400, 1800, 2200, 2600)
            ),
            contestants=who(MWM),
            measures=("kendall", "unforeseen"),
        ),
    )


def _distributions(who: Who) -> tuple[Sweep, ...]:
    return (
        Sweep(
            key="distributions",
            title=f"{SIZE}, mean and standard deviation of the range 1400 to 2200",
            varied="strengths",
            settings=tuple(Setting(label=shape, shape=shape) for shape in get_args(Shape)),
            contestants=who(MWM),
            measures=("kendall", "ndcg", "best_first"),
        ),
    )


def _systems(who: Who) -> tuple[Sweep, ...]:
    return (
        Sweep(
            key="systems",
            title=f"{MIDDLE}; {', '.join(TO_THE_END)} until they are over",
            varied="strengths",
            settings=(Setting(label="1400-2200"),),
            contestants=who(SYSTEMS),
            measures=("kendall", "ndcg", "best_first", "float_pairs", "largest_color_difference", "rounds", "games"),
        ),
    )


STUDIES: Final[Mapping[str, Callable[[Who], tuple[Sweep, ...]]]] = MappingProxyType(
    {
        "tables": _tables,
        "floats": _floats,
        "colors": _colors,
        "beta": _beta,
        "sizes": _sizes,
        "ranges": _ranges,
        "distributions": _distributions,
        "systems": _systems,
    }
)


def _within_beta(swept: Swept) -> list[Check]:
    """Nobody's colors differ by more than beta. With 1 a round may have to let go of it."""
    checks = []
    for at, setting in enumerate(swept.sweep.settings):
        if setting.beta is not None and 1 < setting.beta < NO_BETA:
            means = [swept.mean(at, each.label, "largest_color_difference") for each in swept.sweep.contestants]
            holds = all(mean is not None and mean.mean <= setting.beta for mean in means)
            checks.append(Check(claim=f"colors differ by {setting.beta} at most with that beta", holds=holds))
    return checks


CHECKS: Final[Mapping[str, Callable[[Swept], list[Check]]]] = MappingProxyType(
    {"tables": published.checks, "floats": published.float_checks, "beta": _within_beta}
)
