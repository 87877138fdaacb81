"""The matchmakers that pair by an objective, as they are declared.

Apart from the objectives, because rustworkx, which the best round needs, takes longer to load than everything else
together. Must not know: what makes a game worth much.
"""

from __future__ import annotations

from typing import Any, Final

from cgos_protocol.options import Choice, Number
from cgos_server.core.pairing.base import Matchmaker, MatchmakerDeclaration
from cgos_server.core.pairing.constraints import Constraints
from cgos_server.core.pairing.rolling import Waiting


def _information(constraints: Constraints, waiting: Waiting, **own: Any) -> Matchmaker:
    from cgos_server.core.pairing.methods.information import Information
    from cgos_server.core.pairing.methods.optimal import Optimal

    return Optimal(Information(**own), constraints, waiting)


def _entropy(constraints: Constraints, waiting: Waiting, **own: Any) -> Matchmaker:
    from cgos_server.core.pairing.methods.entropy import Entropy
    from cgos_server.core.pairing.methods.optimal import Optimal

    return Optimal(Entropy(**own), constraints, waiting)


def _expected_change(constraints: Constraints, waiting: Waiting) -> Matchmaker:
    from cgos_server.core.pairing.methods.change import ExpectedChange
    from cgos_server.core.pairing.methods.optimal import Optimal

    return Optimal(ExpectedChange(), constraints, waiting)


INFORMATION: Final = MatchmakerDeclaration(
    name="information",
    about="those meet whose game tells most about everybody's rating",
    make=_information,
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
    make=_entropy,
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
    make=_expected_change,
)
