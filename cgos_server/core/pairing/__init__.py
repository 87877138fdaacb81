"""Matchmakers behind one small interface; see :mod:`cgos_server.core.pairing.base`."""
