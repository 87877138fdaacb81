"""Tournaments: their files, for now; the systems are in :mod:`cgos_server.core.tournaments`."""
