"""The tournament systems, each with its declaration."""
