"""What a server allows of questions, as types of the configuration.

Must not know: where values come from, what they start.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from cgos_protocol.options import Number
from cgos_server.core.questions.policy import Policy


class QuestionsConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tests, gauntlets and challenges of owners."""

    share: Annotated[
        float,
        Number(0, 1),
        "Share of a version's time that questions may take, 0 to 1; time in which the ladder has no game for it does "
        "not count. 0: nobody may ask.",
    ] = 0.5
    open_per_owner: Annotated[
        int, Number(1, 1_000, whole=True), "Questions of one account that have not ended, at most."
    ] = 10
    running_per_owner: Annotated[
        int, Number(1, 1_000, whole=True), "Those of them for which games are played at once; the others wait."
    ] = 2
    most_games: Annotated[int, Number(2, 1_000_000, whole=True), "Games of one question, at most."] = 20_000
    patience_h: Annotated[
        float, Number(0.01, 8_760), "Hours that a question waits for a bot that is not signed in, before it ends."
    ] = 24.0

    @property
    def policy(self) -> Policy:
        """The same for the live server."""
        return Policy(
            share=self.share,
            open_per_owner=self.open_per_owner,
            running_per_owner=self.running_per_owner,
            most_games=self.most_games,
            patience_ms=round(self.patience_h * 3_600_000),
        )
