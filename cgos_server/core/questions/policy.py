"""What a server allows of questions.

Must not know: who asks, where it is configured.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Limits of all questions of a server.

    :ivar share: of a version's time that questions may take, 0 to 1; 0: nobody may ask
    :ivar open_per_owner: questions of one account that have not ended, at most
    :ivar running_per_owner: those of them for which games are played at once; the others wait for their turn
    :ivar most_games: of one question
    :ivar patience_ms: how long a question waits for somebody who is not signed in
    """

    share: float = 0.5
    open_per_owner: int = 10
    running_per_owner: int = 2
    most_games: int = 20_000
    patience_ms: int = 86_400_000
