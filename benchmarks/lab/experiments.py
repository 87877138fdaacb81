"""Which experiments of the lab have results beside the documentation: their commands, and what their figures depend on.

Must not know: how one is carried out, where its result goes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from cgos_server.lab.ladder.kinds import KINDS
from cgos_server.lab.swiss.studies import STUDIES


class Experiment(NamedTuple):
    """:ivar words: of the command, without seed
    :ivar tiny: what is added so that it is done at once; what comes later on a command line wins
    :ivar short: what is added for a first look
    :ivar paths: what its figures depend on
    :ivar kept: whether docs/lab has its result; the others take hours, and go to dist/lab at any size
    """

    name: str
    words: tuple[str, ...]
    tiny: tuple[str, ...]
    short: tuple[str, ...]
    paths: tuple[str, ...]
    kept: bool = True


SEED: Final = "2026"

_RATING: Final = "cgos_server/core/rating"
_PAIRING: Final = "cgos_server/core/pairing"
_EVENTS: Final = "cgos_server/tournaments"
_SWISS: Final = ("cgos_server/lab/swiss", "cgos_server/lab/tournaments.py", _EVENTS)
_STUDIES: Final = ("cgos_server/lab/swiss/sweeps.py", "cgos_server/lab/swiss/studies.py", *_SWISS[1:])
_LADDER: Final = (
    "cgos_server/lab/ladder",
    *(f"cgos_server/lab/ratings/{module}.py" for module in ("draws", "matchmakers", "pools", "runs", "told")),
    _RATING,
    _PAIRING,
)

_QUESTIONS: Final = (
    "cgos_server/lab/questions",
    *(f"cgos_server/lab/ratings/{module}.py" for module in ("draws", "matchmakers", "newcomers", "pools", "runs")),
    "cgos_server/core/questions",
    "cgos_server/core/sequential",
    _RATING,
    _PAIRING,
)

_KNOWN: Final = ("ladder", "--replicates", "1", "--hours", "5")
_EVEN: Final = ("--spread", "1", "--fastest", "60")
_POLICIES: Final = (
    "information/known/rolling",
    "information/known/barrier",
    "entropy/known/rolling",
    "birk/known/rolling",
    "random/known/rolling",
)
_OVERDUE: Final = ("information,overdue=0/known/rolling", "information/known/rolling")
_PARAMETERS: Final = (
    "information/known/rolling",
    *(
        f"information,{option}/known/rolling"
        for option in (
            "fairness=0",
            "fairness=1",
            "fairness=4",
            "grace=2",
            "grace=12",
            "ease=0.1",
            "ease=0.5",
            "ease=1",
            "patience_s=3",
            "patience_s=30",
            "repeat_most=5",
        )
    ),
)


def _each(flag: str, values: Iterable[str]) -> tuple[str, ...]:
    """The option once for each value."""
    return tuple(word for value in values for word in (flag, value))


EXPERIMENTS: Final[tuple[Experiment, ...]] = (
    Experiment(
        name="birk",
        words=("birk", "--rounds", "200000"),
        tiny=("--rounds", "50", "--players", "6", "--players", "5"),
        short=("--rounds", "20000"),
        paths=("cgos_server/lab/birk", _PAIRING),
    ),
    Experiment(
        name="gor",
        words=("gor", "--replicates", "32"),
        tiny=("--replicates", "2", "--versions", "6", "--rounds", "3"),
        short=("--replicates", "4", "--rounds", "50"),
        paths=("cgos_server/lab/gor", _PAIRING, "cgos_server/core/rating/incremental"),
    ),
    Experiment(
        name="swiss",
        words=("swiss", "--events", "20000"),
        tiny=("--events", "2"),
        short=("--events", "2000"),
        paths=_SWISS,
    ),
    *(
        Experiment(
            name=f"swiss-{study}",
            words=("swiss", "--study", study, "--events", "1000"),
            tiny=("--events", "2"),
            short=("--events", "200"),
            paths=_STUDIES,
        )
        for study in STUDIES
        if study != "tables"
    ),
    Experiment(
        name="bubble",
        words=("bubble", "--events", "10"),
        tiny=("--events", "1", "--size", "12", "--scenario", "mixed"),
        short=("--events", "4", "--size", "20", "--size", "50"),
        paths=("cgos_server/lab/bubble", _EVENTS),
    ),
    Experiment(
        name="thesis",
        words=("thesis", "--events", "6"),
        tiny=("--events", "2", "--size", "12", "--rounds", "3"),
        short=("--events", "4", "--size", "34", "--size", "64"),
        paths=("cgos_server/lab/thesis", "cgos_server/lab/gor", _EVENTS, "cgos_server/core/rating/incremental"),
    ),
    Experiment(
        name="ladder",
        words=("ladder", "--hours", "72", "--until", "30", "--replicates", "20"),
        tiny=("--hours", "0.3", "--fastest", "1", "--replicates", "2", "--versions", "6"),
        short=("--hours", "6", "--replicates", "2"),
        paths=_LADDER,
    ),
    Experiment(
        name="ladder-pools",
        words=("ladder", "--hours", "48", "--until", "50", "--replicates", "2", *_each("--pool", KINDS)),
        tiny=("--hours", "0.2", "--versions", "6"),
        short=("--hours", "2"),
        paths=_LADDER,
        kept=False,
    ),
    Experiment(
        name="ladder-newcomers",
        words=("ladder", "--hours", "12", "--arrivals", "48", "--departures", "48"),
        tiny=("--hours", "0.3", "--fastest", "1", "--replicates", "1", "--versions", "6"),
        short=("--hours", "3", "--replicates", "1"),
        paths=_LADDER,
    ),
    Experiment(
        name="ladder-policies",
        words=(*_KNOWN, "--versions", "40", *_each("--row", _POLICIES)),
        tiny=("--hours", "0.5", "--replicates", "1", "--versions", "6"),
        short=("--hours", "3", "--replicates", "1"),
        paths=_LADDER,
    ),
    Experiment(
        name="ladder-parameters",
        words=(*_KNOWN, "--versions", "40", "--hours", "3", *_each("--row", _PARAMETERS)),
        tiny=("--hours", "0.2", "--replicates", "1", "--versions", "6"),
        short=("--hours", "1", "--replicates", "1"),
        paths=_LADDER,
    ),
    *(
        Experiment(
            name=f"ladder-owners-{owners.replace(',', '-')}",
            words=(*_KNOWN, *_EVEN, "--versions", versions, "--owners", owners, *_each("--row", _OVERDUE)),
            tiny=("--hours", "0.5", "--replicates", "1"),
            short=("--hours", "1", "--replicates", "1"),
            paths=_LADDER,
        )
        for versions, owners in (("10", "7"), ("10", "9"), ("12", "8,4"))
    ),
    Experiment(
        name="accuracy-systems",
        words=("accuracy", "--study", "systems", "--replicates", "24", "--pool", "normal", "--pool", "bimodal"),
        tiny=("--replicates", "1", "--pool", "normal", "--versions", "4", "--games", "5"),
        short=("--replicates", "6", "--pool", "normal", "--pool", "bimodal", "--games", "40"),
        paths=("cgos_server/lab/accuracy", "cgos_server/lab/ratings", _RATING),
    ),
    Experiment(
        name="accuracy-newcomers",
        words=("accuracy", "--study", "newcomers", "--replicates", "24"),
        tiny=("--replicates", "1", "--versions", "4", "--games", "5"),
        short=("--replicates", "1", "--versions", "16"),
        paths=("cgos_server/lab/accuracy", "cgos_server/lab/ratings", _PAIRING, _RATING),
    ),
    Experiment(
        name="accuracy-matchmakers",
        words=("accuracy", "--study", "matchmakers", "--replicates", "24"),
        tiny=("--replicates", "1", "--pool", "normal", "--method", "permuted", "--versions", "4", "--games", "5"),
        short=("--replicates", "3", "--pool", "normal", "--games", "40"),
        paths=("cgos_server/lab/accuracy", "cgos_server/lab/ratings", _PAIRING, _RATING),
        kept=False,
    ),
    Experiment(
        name="questions-errors",
        words=("questions", "--study", "errors", "--tests", "20000"),
        tiny=("--tests", "10", "--bounds", "0,200"),
        short=("--tests", "1000"),
        paths=(
            "cgos_server/lab/questions",
            "cgos_server/core/sequential",
            "cgos_server/core/rating/bayes/likelihood.py",
        ),
    ),
    Experiment(
        name="questions-leading",
        words=("questions", "--study", "leading", "--tests", "20000", "--ladders", "20"),
        tiny=("--tests", "10", "--bounds", "0,200", "--ladders", "2", "--versions", "6", "--rounds", "3"),
        short=("--tests", "1000", "--ladders", "10"),
        paths=_QUESTIONS,
    ),
    Experiment(
        name="questions-posterior",
        words=("questions", "--study", "posterior", "--ladders", "150"),
        tiny=("--ladders", "2", "--versions", "6", "--rounds", "3"),
        short=("--ladders", "20"),
        paths=_QUESTIONS,
    ),
    Experiment(
        name="questions-gauntlet",
        words=("questions", "--study", "gauntlet", "--ladders", "75"),
        tiny=("--ladders", "1", "--versions", "6", "--within", "150"),
        short=("--ladders", "10"),
        paths=_QUESTIONS,
    ),
)
