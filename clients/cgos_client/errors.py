"""What can go wrong between a bot and a server, as one tree of errors.

Every error says what happened in a sentence, names it by a stable word and says whether trying again helps. Must not
know: what is done about it.
"""

from __future__ import annotations

from cgos_protocol.errors import CgosError


class CgosClientError(CgosError):
    """Anything that this client raises on purpose. Never raised itself.

    :ivar code: a stable word for programs, such as ``wrong-password``; the server's own where the server said it
    :ivar text: what happened, for people
    :ivar fatal: True where the connection or the session ended with it
    :ivar retry_after: seconds after which another attempt makes sense, where the server named them
    """

    def __init__(self, code: str, text: str, *, fatal: bool = False, retry_after: float | None = None) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.fatal = fatal
        self.retry_after = retry_after


class CannotConnect(CgosClientError):
    """The server was not reached, or what answers there is not such a server.

    :ivar is_misdirected: True where another kind of server answers at the address
    """

    def __init__(
        self, text: str, *, code: str = "cannot-connect", retry_after: float | None = None, is_misdirected: bool = False
    ) -> None:
        super().__init__(code, text, fatal=True, retry_after=retry_after)
        self.is_misdirected = is_misdirected


class ConnectionLost(CgosClientError):
    """The connection ended."""

    def __init__(self, text: str) -> None:
        super().__init__("connection-lost", text, fatal=True)


class SignInRefused(CgosClientError):
    """The server does not let the bot in."""


class Dismissed(CgosClientError):
    """The server let the bot in and sent it away later."""


class ServerFault(CgosClientError):
    """The server broke the protocol."""

    def __init__(self, text: str) -> None:
        super().__init__("protocol", text, fatal=True)


class MoveRefused(CgosClientError):
    """A move that was not sent, since it could only do harm: no move at all, not this bot's turn, or a second move
    where another one was chosen already."""


class WatchRefused(CgosClientError):
    """The server does not show this: there is no such venue or game."""


class QuestionRefused(CgosClientError):
    """What a bot asked about itself was not taken, or the connection ended before anybody said so."""


class SessionClosed(CgosClientError):
    """The session is over, so that nothing can be asked of it any more."""

    def __init__(self) -> None:
        super().__init__("closed", "the session is closed", fatal=True)
