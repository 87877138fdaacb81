"""A venue that runs: who is here, what holds whom, operators, spectators."""
