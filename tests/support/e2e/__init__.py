"""Real server processes, and the bots that play on them."""
