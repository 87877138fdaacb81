"""Servers for the client to meet."""
