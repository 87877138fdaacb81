"""Rating systems behind one small interface; see :mod:`cgos_server.core.rating.base`."""
