"""Competitions with an end: pairing systems, standings and measures, as pure functions of an event's record."""
