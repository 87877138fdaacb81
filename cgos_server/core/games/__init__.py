"""Games behind one small interface; see :mod:`cgos_server.core.games.base`."""
