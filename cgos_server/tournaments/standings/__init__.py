"""Standings, tie-breakers, crosstables, and how good an event was."""
