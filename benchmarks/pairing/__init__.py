"""Matchmakers: how fast, how good, and whom they let meet."""
