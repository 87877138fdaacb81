"""The matchmakers that pair by an objective, as they are declared.

Apart from the objectives, because rustworkx, which the best round needs, takes longer to load than everything else
together. Must not know: what makes a game worth much.
"""

from __future__ import annotations

from functools import partial
from pkgutil import resolve_name
from typing import Any, Final

from cgos_protocol.options import Choice, Number
from cgos_server.core.pairing.base import Matchmaker, MatchmakerDeclaration
from cgos_server.core.pairing.constraints import Constraints
from cgos_server.core.pairing.rolling import Waiting

_HOME: Final = "cgos_server.core.pairing.methods."


def _optimal(objective: str, constraints: Constraints, waiting: Waiting, **own: Any) -> Matchmaker:
    """The best round by an objective.

    :param objective: its module, a colon and its name
    :param own: its options
    """
    made: Matchmaker = resolve_name(_HOME + "optimal:Optimal")(
        resolve_name(_HOME + objective)(**own), constraints, waiting
    )
    return made


INFORMATION: Final = MatchmakerDeclaration(
    name="information",
    about="those meet whose game tells most about everybody's rating",
    make=partial(_optimal, "information:Information"),
    options={
        "draw": Number(
            0.0,
            1.0,
            default=0.5,
            meaning="share of the uncertainty by which ratings are varied before each pairing pass",
        )
    },
    max_expected=0.95,
)

ENTROPY: Final = MatchmakerDeclaration(
    name="entropy",
    about="those meet whose result is least certain",
    make=partial(_optimal, "entropy:Entropy"),
    options={
        "model": Choice(
            ("gor", "venue"),
            default="gor",
            meaning="where expected scores come from: `gor` or the `venue`'s headline rating",
        )
    },
)

EXPECTED_CHANGE: Final = MatchmakerDeclaration(
    name="expected-change",
    about="those meet whose game is expected to move the ratings most",
    make=partial(_optimal, "change:ExpectedChange"),
)
