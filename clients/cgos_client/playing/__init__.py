"""Bots that play for weeks, by CGOS lines or `cgos.v2`."""
