"""Games behind one small interface; see :mod:`cgos_protocol.games.base`."""
