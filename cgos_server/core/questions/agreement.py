"""Whether a bot has agreed to play in somebody's question: a test, a gauntlet or a challenge.

Must not know: whose the bot is that was asked, how it said what it accepts, what a question asks.
"""

from __future__ import annotations

from collections.abc import Collection

from cgos_protocol.names import fold
from cgos_protocol.session import EVERYBODY


def agrees(accepts: Collection[str], *, asker: str | None, bot: str) -> bool:
    """True where a bot of another owner may be given games of this question.

    An operator may arrange any match, so nobody need agree to an operator's question.

    :param accepts: what the bot and its owner said, as :attr:`cgos_protocol.session.Limits.accepts`; capitals do not
        count
    :param asker: the name of the account that asks; None: an operator
    :param bot: the name of the asker's bot that the question is about
    """
    if asker is None or EVERYBODY in accepts:
        return True
    asking = {fold(asker), fold(bot)}
    return any(fold(name) in asking for name in accepts)
