"""Tournaments: events as values, the systems that pair them, their standings, simulations and files."""
