"""cgos-protocol: what a server of game engines and its clients share, without I/O.

Games and their notation, clocks, the referee and its verdicts; the seam between a connection and a game (``session``);
the wire protocols ``lines`` (CGOS) and ``v2`` (``cgos.v2``); the messages of the ``api``; ``sgf``. Bytes and clock
readings come in as arguments, bytes and decisions go out. Must not know: sockets, tasks, databases, time of day.
"""

__version__ = "0.1.0"
