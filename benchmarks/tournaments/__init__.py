"""Tournaments: how fast, and the worked examples."""
