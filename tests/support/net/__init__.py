"""Wires, proxies and clients for the tests of connections."""
