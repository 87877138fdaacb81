"""The pure heart: games, clocks, verdicts, ratings and pairings. No I/O, no clock, no randomness of its own."""
